"""Which server the settings ask for embeddings, and where it may be."""

from collections.abc import Mapping

from lrwr.core.adapters.chat.connection import ModelServerClient
from lrwr.core.adapters.embed.spaces import (
    OPENAI_EMBEDDING_URL,
    EmbeddingBatchLimit,
    EmbeddingConnection,
)
from lrwr.core.adapters.http.egress_log import EgressLogger
from lrwr.core.adapters.http.rate_limit import RateLimit
from lrwr.core.model.errors import SettingsProblem
from lrwr.core.settings.addresses import is_loopback_host, parse_host, resolve_address
from lrwr.core.settings.model import Settings
from lrwr.core.settings.model_retrieval import DEFAULT_EMBEDDING_MODEL

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
    settings: Settings, noting: EgressLogger
) -> ModelServerClient:
    """Return the line to the server; nothing is opened yet. Whatever leaves is noted.

    Raises:
        SettingsProblem: The address is none, or a downloaded one leads elsewhere.
    """
    afar = settings.embedding.model == "openai"
    pace = RateLimit(4, patience=120.0) if afar else RateLimit(1, patience=10.0)
    return ModelServerClient(
        pace, noting=noting if is_embedding_remote(settings) else None
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
