"""Which server the settings ask for embeddings, and where it may be."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from lrwr.core.adapters.chat.connection import ModelServerClient
from lrwr.core.adapters.http.egress_log import EgressLogger
from lrwr.core.adapters.http.rate_limit import RateLimit
from lrwr.core.model.errors import SettingsProblem
from lrwr.core.settings.model import DEFAULT_EMBEDDING_MODEL, Settings
from lrwr.core.settings.service_access import (
    is_loopback_host,
    parse_host,
    resolve_address,
)

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


OLLAMA_EMBEDDING_URL = "http://127.0.0.1:11434/v1"
OPENAI_DIMENSIONS: Mapping[str, int] = {
    "text-embedding-3-small": 1536,
    "text-embedding-3-large": 3072,
    "text-embedding-ada-002": 1536,
}
"""How many numbers a vector of OpenAI's models has."""
_SHORTER = "text-embedding-3"
"""How the names of models begin that give shorter vectors if they are asked to."""


def build_embedding_connection(settings: Settings) -> EmbeddingConnection | None:
    """Return which model of which server embeds; None where no server does.

    Raises:
        SettingsProblem: A setting is missing, or a downloaded one leads elsewhere.
    """
    match settings.embedding.model:
        case "openai":
            return _of_openai(settings)
        case "server":
            return _of_a_server(settings)
        case _:
            return None


def create_embedding_server_client(
    settings: Settings, request_logger: EgressLogger
) -> ModelServerClient:
    """Return the line to the server; nothing is opened yet. Whatever leaves is noted.

    Raises:
        SettingsProblem: The address is none, or a downloaded one leads elsewhere.
    """
    afar = settings.embedding.model == "openai"
    pace = RateLimit(4, patience=120.0) if afar else RateLimit(1, patience=10.0)
    return ModelServerClient(
        pace, request_logger=request_logger if is_embedding_remote(settings) else None
    )


def is_embedding_remote(settings: Settings) -> bool:
    """Say whether what is embedded leaves this machine.

    To OpenAI it does, whatever its address; to a server of the writer's own it does
    unless that is on this machine.

    Raises:
        SettingsProblem: The address is none, or a downloaded one leads elsewhere.
    """
    match settings.embedding.model:
        case "openai":
            return True
        case "server":
            return not is_loopback_host(
                parse_host(_address(settings, OLLAMA_EMBEDDING_URL))
            )
        case _:
            return False


def _of_openai(settings: Settings) -> EmbeddingConnection:
    embedding = settings.embedding
    name = embedding.name or DEFAULT_EMBEDDING_MODEL
    usual = OPENAI_DIMENSIONS.get(name, 0)
    return EmbeddingConnection(
        name,
        _dimensions(embedding.dimensions or usual, name),
        _address(settings, OPENAI_EMBEDDING_URL),
        shorter=name.startswith(_SHORTER) and embedding.dimensions not in (0, usual),
        timeout=float(embedding.timeout),
    )


def _of_a_server(settings: Settings) -> EmbeddingConnection:
    embedding = settings.embedding
    if not embedding.name:
        raise SettingsProblem(
            "`embedding.model` is server, and `embedding.name` is empty",
            hint="See what is there with `lrwr doctor --servers`, and set"
            " `embedding.name`.",
        )
    return EmbeddingConnection(
        embedding.name,
        _dimensions(embedding.dimensions, embedding.name),
        _address(settings, OLLAMA_EMBEDDING_URL),
        timeout=float(embedding.timeout),
        own=True,
        budget=EmbeddingBatchLimit(tokens=8_000, texts=32),  # mostly a small machine
    )


def _dimensions(configured: int, name: str) -> int:
    if configured:
        return configured
    raise SettingsProblem(
        f"It is not known how many numbers a vector of {name} has",
        hint="Set `embedding.dimensions`; `lrwr doctor` says what the server gives.",
    )


def _address(settings: Settings, default: str) -> str:
    secret = settings.embedding.model == "openai"
    return resolve_address(settings, "embedding.base_url", default, secret=secret)
