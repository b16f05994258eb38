"""Settings of finding passages: how they are cut, compared and put in order."""

from dataclasses import dataclass
from typing import Literal

from lrwr.core.settings.schema import declare_setting

DEFAULT_EMBEDDING_MODEL = "text-embedding-3-small"
"""The model of OpenAI's that embeds where none is named."""


@dataclass(frozen=True, slots=True)
class EmbeddingSettings:
    """How passages are compared by meaning."""

    model: Literal["local", "openai", "server", "off"] = declare_setting(
        "local",
        "Who turns text into vectors: a small model on this machine; one of OpenAI's, to"
        " which your whole text is then sent; one that a server of your own runs; or"
        " nobody, and a search goes by words alone.",
    )
    name: str = declare_setting(
        "",
        "The model, as its server calls it. Empty means text-embedding-3-small with"
        " OpenAI; that of a server must be named.",
        example="text-embedding-3-small",
    )
    base_url: str = declare_setting(
        "",
        "Where the server is. Empty means OpenAI itself, or Ollama on this machine.",
        example="http://127.0.0.1:1234/v1",
    )
    dimensions: int = declare_setting(
        0,
        "How many numbers a vector has. 0 means as many as OpenAI's model gives; for a"
        " model of a server it must be set.",
        low=0,
        high=8192,
    )
    timeout: int = declare_setting(
        60, "How many seconds a server may take for one request.", low=1, high=3600
    )
    folder: str = declare_setting(
        "",
        "A folder with another local model: `model.onnx` and `tokenizer.json`. Empty"
        " means the model that comes with lrwr.",
        example="~/models/my-embedder",
    )
    threads: int = declare_setting(
        0,
        "Processor threads the local model may use; 0 means every core, at most 8.",
        low=0,
        high=64,
    )


@dataclass(frozen=True, slots=True)
class VectorSettings:
    """Who keeps what passages are compared by."""

    keeper: Literal["embedded", "qdrant"] = declare_setting(
        "embedded",
        "Who keeps the vectors of passages and compares them: lrwr itself, on this"
        " machine; or a Qdrant server, to which vectors are sent, and no text.",
    )
    url: str = declare_setting(
        "",
        "Where the Qdrant server is; without a port, 6333 is meant. Empty means this"
        " machine.",
        example="https://my-cluster.cloud.qdrant.io:6333",
    )
    timeout: int = declare_setting(
        15,
        "How many seconds the Qdrant server may take for a request.",
        low=1,
        high=300,
    )


@dataclass(frozen=True, slots=True)
class RerankSettings:
    """How the best candidates of a search are put in their final order."""

    model: Literal["late-interaction", "cohere", "off"] = declare_setting(
        "late-interaction",
        "Who looks at the best candidates once more: the local model, word by word;"
        " Cohere, to which your question and the candidates are then sent; or nobody.",
    )
    cohere_model: str = declare_setting(
        "rerank-v5.0-fast",
        "Which model of Cohere's.",
        example="rerank-english-v3.0",
    )
    candidates: int = declare_setting(
        0,
        "How many candidates are looked at once more; more is slower. 0 means 20 by the"
        " local model and 50 by Cohere.",
        low=0,
        high=100,
    )
    base_url: str = declare_setting(
        "",
        "Where Cohere's service is. Empty means Cohere itself.",
        example="http://127.0.0.1:8766",
    )
    timeout: int = declare_setting(
        15, "How many seconds Cohere may take to answer.", low=1, high=120
    )

    @property
    def looked_at(self) -> int:
        """How many candidates are looked at once more."""
        return self.candidates or (50 if self.model == "cohere" else 20)


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """What a search gives back."""

    limit: int = declare_setting(
        8, "How many passages a search shows at most.", low=1, high=100
    )


@dataclass(frozen=True, slots=True)
class ChunkSettings:
    """How the text is cut into passages."""

    size: int = declare_setting(
        500,
        "The longest passage of pipeline a, in tokens of the embedding model.",
        low=64,
        high=510,
    )
    overlap: int = declare_setting(
        50,
        "How many tokens of a passage pipeline a repeats at the start of the next; at"
        " most half of `size`.",
        low=0,
        high=255,
    )
    smallest: int = declare_setting(
        200,
        "How many tokens a passage of pipeline b should have at least; at most half of"
        " `largest`.",
        low=20,
        high=250,
    )
    largest: int = declare_setting(
        440,
        "The longest passage of pipeline b, in tokens of the embedding model.",
        low=64,
        high=440,
    )
