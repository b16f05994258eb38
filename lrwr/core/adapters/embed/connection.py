"""Embedding models on servers: connection, batches, and names of embedding spaces.

An embedding space is the set of vectors that may be compared with each other: those of
one model, of one server, with one length. Each space has a name.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from lrwr.core.adapters.chat.connection import ModelServerClient
from lrwr.core.adapters.embed.profile import EmbeddingProfile, resolve_profile
from lrwr.core.adapters.http.egress_log import EgressLogger
from lrwr.core.adapters.http.rate_limit import RateLimit
from lrwr.core.model.errors import SettingsProblem
from lrwr.core.settings.model import (
    DEFAULT_EMBEDDING_MODEL,
    Settings,
)
from lrwr.core.settings.service_access import (
    OLLAMA_URL,
    is_loopback_host,
    parse_host,
    resolve_address,
)

OPENAI_EMBEDDING_URL = "https://api.openai.com/v1"
MAX_EMBEDDED_TEXT_BYTES = 8_000
"""Bytes of the longest text that is sent. A token has at least one byte, and OpenAI's
models accept 8,192 tokens."""


@dataclass(frozen=True, slots=True)
class EmbeddingBatchLimit:
    """The maximum number of tokens and of texts in one request.

    Tokens are those of the local tokenizer. The default stays well below what OpenAI
    accepts, because OpenAI counts somewhat more tokens.
    """

    tokens: int = 100_000
    texts: int = 512


@dataclass(frozen=True, slots=True)
class EmbeddingConnection:
    """An embedding model on a server, and how to call it.

    `name` is the model's name on the server. `dimensions` is the length of its vectors;
    `shorter` says that this is not the model's default and must be requested. `timeout`
    is in seconds, per request. `own` says that the user runs the server; no proxy is
    used then. `profile` is how the model expects its texts.
    """

    name: str
    dimensions: int
    base_url: str = OPENAI_EMBEDDING_URL
    shorter: bool = False
    timeout: float = 60.0
    own: bool = False
    budget: EmbeddingBatchLimit = field(default_factory=EmbeddingBatchLimit)
    profile: EmbeddingProfile = field(default_factory=EmbeddingProfile)

    @property
    def server(self) -> str:
        """The server's name in messages: "OpenAI", or one with its host and port."""
        if self.base_url == OPENAI_EMBEDDING_URL:
            return "OpenAI"
        return f"The embedding server at {self.netloc}"

    @property
    def netloc(self) -> str:
        """The server's host name, followed by the port if the address has one."""
        return urlsplit(self.base_url).netloc.rpartition("@")[2]

    @property
    def host(self) -> str:
        """The server's host name, without a port."""
        return urlsplit(self.base_url).hostname or ""

    @property
    def space(self) -> str:
        """The name of the embedding space: server, model, length of vectors, profile."""
        server = "openai" if self.base_url == OPENAI_EMBEDDING_URL else self.netloc
        return f"{server}/{self.name}/{self.dimensions}{self.profile.tag}"


def plan_embedding_batches(
    counts: Sequence[int], budget: EmbeddingBatchLimit
) -> list[list[int]]:
    """Return batches of indices of texts, each index once, the shortest texts first.

    `counts` are the numbers of tokens of the texts. No batch exceeds `budget`, except
    that a longer text is a batch of its own.
    """
    parts: list[list[int]] = []
    batch_tokens = 0
    for index in sorted(range(len(counts)), key=lambda n: (counts[n], n)):
        count = max(1, counts[index])
        full = not parts or len(parts[-1]) >= budget.texts
        if full or batch_tokens + count > budget.tokens:
            parts.append([])
            batch_tokens = 0
        parts[-1].append(index)
        batch_tokens += count
    return parts


def truncate_for_embedding(text: str) -> str:
    """Return the start of `text`, at most `MAX_EMBEDDED_TEXT_BYTES` bytes of UTF-8."""
    encoded = text.encode("utf-8", errors="replace")
    if len(encoded) <= MAX_EMBEDDED_TEXT_BYTES:
        return encoded.decode("utf-8")
    return encoded[:MAX_EMBEDDED_TEXT_BYTES].decode("utf-8", errors="ignore")


OPENAI_DIMENSIONS: Mapping[str, int] = {
    "text-embedding-3-small": 1536,
    "text-embedding-3-large": 3072,
    "text-embedding-ada-002": 1536,
}
"""Default length of the vectors of OpenAI's models."""
_SHORTENABLE_PREFIX = "text-embedding-3"
"""Prefix of the names of models that can return shorter vectors."""


def build_embedding_connection(settings: Settings) -> EmbeddingConnection | None:
    """Return the embedding model on a server that `settings` select.

    None if they select the local model.

    Raises:
        SettingsProblem: A setting is missing, or the address is not allowed.
    """
    match settings.embedding.model:
        case "openai":
            return _openai_connection(settings)
        case "server":
            return _server_connection(settings)
        case _:
            return None


def create_embedding_server_client(
    settings: Settings, request_logger: EgressLogger
) -> ModelServerClient:
    """Return the client of the embedding server in `settings`; nothing is opened yet.

    Requests that leave this machine are recorded in the send log by `request_logger`.

    Raises:
        SettingsProblem: The address is invalid or not allowed.
    """
    is_openai = settings.embedding.model == "openai"
    pace = RateLimit(4, patience=120.0) if is_openai else RateLimit(1, patience=10.0)
    return ModelServerClient(
        pace, request_logger=request_logger if is_embedding_remote(settings) else None
    )


def is_embedding_remote(settings: Settings) -> bool:
    """Return whether texts leave this machine to be embedded.

    With OpenAI they do, whatever the address is; with the user's own server unless it
    runs on this machine; with the local model they do not.

    Raises:
        SettingsProblem: The address is invalid or not allowed.
    """
    match settings.embedding.model:
        case "openai":
            return True
        case "server":
            return not is_loopback_host(parse_host(_address(settings, OLLAMA_URL)))
        case _:
            return False


def _openai_connection(settings: Settings) -> EmbeddingConnection:
    embedding = settings.embedding
    name = embedding.name or DEFAULT_EMBEDDING_MODEL
    usual = OPENAI_DIMENSIONS.get(name, 0)
    return EmbeddingConnection(
        name,
        _require_dimensions(embedding.dimensions or usual, name),
        _address(settings, OPENAI_EMBEDDING_URL),
        shorter=name.startswith(_SHORTENABLE_PREFIX)
        and embedding.dimensions not in (0, usual),
        timeout=float(embedding.timeout),
    )


def _server_connection(settings: Settings) -> EmbeddingConnection:
    embedding = settings.embedding
    if not embedding.name:
        raise SettingsProblem(
            "`embedding.model` is server, but `embedding.name` is empty",
            hint="Run `lrwr doctor --servers` to list the models, and set"
            " `embedding.name`.",
        )
    return EmbeddingConnection(
        embedding.name,
        _require_dimensions(embedding.dimensions, embedding.name),
        _address(settings, OLLAMA_URL),
        timeout=float(embedding.timeout),
        own=True,
        budget=EmbeddingBatchLimit(tokens=8_000, texts=32),  # often a small machine
        profile=resolve_profile(embedding, is_folder=False),
    )


def _require_dimensions(configured: int, name: str) -> int:
    if configured:
        return configured
    raise SettingsProblem(
        f"The length of the vectors of {name} is unknown",
        hint="Set `embedding.dimensions`; `lrwr doctor` shows the length.",
    )


def _address(settings: Settings, default: str) -> str:
    secret = settings.embedding.model == "openai"
    return resolve_address(settings, "embedding.base_url", default, secret=secret)
