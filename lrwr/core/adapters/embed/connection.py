"""Embedding models on servers: connection, batches, and names of embedding spaces.

An embedding space is the set of vectors that may be compared with each other: those of
one model, of one server, with one length. Each space has a name.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import PurePath
from typing import Literal
from urllib.parse import urlsplit

from lrwr.core.adapters.chat.connection import ModelServerClient
from lrwr.core.adapters.http.egress_log import EgressLogger
from lrwr.core.adapters.http.rate_limit import RateLimit
from lrwr.core.model.errors import SettingsProblem
from lrwr.core.ports.models import EmbeddingRole
from lrwr.core.settings.model import (
    DEFAULT_EMBEDDING_MODEL,
    EmbeddingSettings,
    Settings,
)
from lrwr.core.settings.service_access import (
    OLLAMA_URL,
    is_loopback_host,
    parse_host,
    resolve_address,
)

SHIPPED_SPACE = "all-minilm-l6-v2-int8"
"""Name of the embedding space of the model that comes with lrwr."""

MINILM_DIMENSIONS = 384
"""Length of the vectors of the model that comes with lrwr."""

OPENAI_EMBEDDING_URL = "https://api.openai.com/v1"
MAX_EMBEDDED_TEXT_BYTES = 8_000
"""Bytes of the longest text that is sent. A token has at least one byte, and OpenAI's
models accept 8,192 tokens."""


DEFAULT_MAX_TOKENS = 512
"""Tokens that a model in a folder reads at once, including its two markers."""


@dataclass(frozen=True, slots=True)
class EmbeddingProfile:
    """How an embedding model expects its texts, and how it makes vectors of tokens.

    `query` and `passage` are put before a text. `pooling` is how the states of a text's
    tokens become one vector: their mean, the first (cls) or the last; a server does
    this itself. `max_tokens` is how many tokens the model reads, 0 for the default.
    """

    query: str = ""
    passage: str = ""
    pooling: Literal["mean", "cls", "last"] = "mean"
    max_tokens: int = 0

    def add_prefix(self, text: str, role: EmbeddingRole) -> str:
        """Return `text` as the model expects it for `role`."""
        return f"{self.query if role == 'query' else self.passage}{text}"

    @property
    def tag(self) -> str:
        """The end of an embedding space's name; empty for the default profile.

        It is made of all fields, so that a change embeds everything again.
        """
        if self == DEFAULT_PROFILE:
            return ""
        fields = [self.query, self.passage, self.pooling, self.max_tokens]
        return f"+{sha256(json.dumps(fields).encode()).hexdigest()[:8]}"


DEFAULT_PROFILE = EmbeddingProfile()
"""The profile of the model that comes with lrwr, and of unknown models."""

_WEB_SEARCH = (
    "Instruct: Given a web search query, retrieve relevant passages that answer the"
    " query\nQuery:"
)
_SEARCH_SENTENCE = "Represent this sentence for searching relevant passages: "
KNOWN_PROFILES: Mapping[str, EmbeddingProfile] = {
    "nomic-embed-text": EmbeddingProfile(
        "search_query: ", "search_document: ", "mean", 2048
    ),
    "bge-m3": EmbeddingProfile("", "", "cls", 8192),
    "bge": EmbeddingProfile(_SEARCH_SENTENCE, "", "cls", 512),
    "e5-mistral": EmbeddingProfile(f"{_WEB_SEARCH} ", "", "last", 4096),
    "e5-large-instruct": EmbeddingProfile(f"{_WEB_SEARCH} ", "", "mean", 512),
    "e5": EmbeddingProfile("query: ", "passage: ", "mean", 512),
    "mxbai-embed": EmbeddingProfile(_SEARCH_SENTENCE, "", "cls", 512),
    "qwen3-embedding": EmbeddingProfile(_WEB_SEARCH, "", "last", 8192),
    "embeddinggemma": EmbeddingProfile(
        "task: search result | query: ", "title: none | text: ", "mean", 2048
    ),
}
"""Profiles by a part of the model's name; the first part that fits counts.

From the model cards of nomic-ai/nomic-embed-text-v1.5, BAAI/bge-m3,
BAAI/bge-large-en-v1.5, intfloat/e5-mistral-7b-instruct,
intfloat/multilingual-e5-large-instruct, intfloat/e5-large-v2,
mixedbread-ai/mxbai-embed-large-v1, Qwen/Qwen3-Embedding-0.6B and
google/embeddinggemma-300m on Hugging Face. nomic-embed-text reads 8,192 tokens, but
servers such as Ollama set 2,048; Qwen3 reads 32,768, and its card uses 8,192.
"""


def find_known_profile(name: str) -> EmbeddingProfile:
    """Return the profile that is known for the model `name`, else the default."""
    normalized = name.casefold().replace("_", "-").replace(" ", "-")
    for part, profile in KNOWN_PROFILES.items():
        # "e5" must be a word of its own: "base5" is another model.
        if f"-{part}" in f"-{normalized.replace('/', '-').replace(':', '-')}":
            return profile
    return DEFAULT_PROFILE


def resolve_profile(
    embedding: EmbeddingSettings, *, is_folder: bool
) -> EmbeddingProfile:
    """Return the profile of the model in `embedding.folder` or on the user's server.

    With `is_folder` the folder's name identifies the model, else `embedding.name`.
    Settings replace the known values. The model that comes with lrwr has the default
    profile: without a folder none of the settings applies to it.
    """
    name = PurePath(embedding.folder).name if is_folder else embedding.name
    if is_folder and not embedding.folder:
        return DEFAULT_PROFILE
    profile = find_known_profile(name)
    if embedding.query_prefix != "auto":
        profile = replace(profile, query=embedding.query_prefix)
    if embedding.passage_prefix != "auto":
        profile = replace(profile, passage=embedding.passage_prefix)
    if embedding.pooling != "auto":
        profile = replace(profile, pooling=embedding.pooling)
    return replace(profile, max_tokens=embedding.max_tokens or profile.max_tokens)


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
