"""Embedding spaces: the shipped model's and servers', and what a server is sent at once."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

SHIPPED_SPACE = "all-minilm-l6-v2-int8"
"""The space of the model that lrwr ships."""

MINILM_DIMENSIONS = 384
"""The length of its vectors."""

OPENAI_EMBEDDING_URL = "https://api.openai.com/v1"

MAX_EMBEDDED_TEXT_BYTES = 8_000
"""Bytes of a text that are sent: a token has at least one, and OpenAI's models take
8,192 tokens."""


@dataclass(frozen=True, slots=True)
class EmbeddingBatchLimit:
    """What one request may hold: tokens as they are counted here, and texts.

    Half of what OpenAI takes: its own tokens are somewhat more.
    """

    tokens: int = 100_000
    texts: int = 512


@dataclass(frozen=True, slots=True)
class EmbeddingConnection:
    """Which model of which server, and how it is asked.

    `dimensions` is the length of a vector; it is asked for where `shorter` says that it
    is not what the model gives by itself. `timeout` is in seconds and bounds a request.
    `own` says that the server is the writer's own: no proxy is used.
    """

    name: str
    dimensions: int
    base_url: str = OPENAI_EMBEDDING_URL
    shorter: bool = False
    timeout: float = 60.0
    own: bool = False
    budget: EmbeddingBatchLimit = field(default_factory=EmbeddingBatchLimit)

    @property
    def server(self) -> str:
        """Name the server, for the writer."""
        if self.base_url == OPENAI_EMBEDDING_URL:
            return "OpenAI"
        return f"The embedding server at {self.place}"

    @property
    def place(self) -> str:
        """Name the machine that is asked, and its port where it is not the usual one."""
        return urlsplit(self.base_url).netloc.rpartition("@")[2]

    @property
    def host(self) -> str:
        """Name the machine that is asked."""
        return urlsplit(self.base_url).hostname or ""

    @property
    def space(self) -> str:
        """Name the embedding space: server, model, length of a vector."""
        whose = "openai" if self.base_url == OPENAI_EMBEDDING_URL else self.place
        return f"{whose}/{self.name}/{self.dimensions}"


def plan_embedding_batches(
    counts: Sequence[int], budget: EmbeddingBatchLimit
) -> list[list[int]]:
    """Return the places of texts that go together, each once, the shortest first.

    `counts` are their tokens. A batch that is over the budget has one text.
    """
    parts: list[list[int]] = []
    batch_tokens = 0
    for place in sorted(range(len(counts)), key=lambda n: (counts[n], n)):
        count = max(1, counts[place])
        full = not parts or len(parts[-1]) >= budget.texts
        if full or batch_tokens + count > budget.tokens:
            parts.append([])
            batch_tokens = 0
        parts[-1].append(place)
        batch_tokens += count
    return parts


def truncate_for_embedding(text: str) -> str:
    """Return a text that no model finds too long: its beginning, if need be."""
    encoded = text.encode("utf-8", errors="replace")
    if len(encoded) <= MAX_EMBEDDED_TEXT_BYTES:
        return encoded.decode("utf-8")
    return encoded[:MAX_EMBEDDED_TEXT_BYTES].decode("utf-8", errors="ignore")
