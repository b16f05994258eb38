"""Checks of the services that embed, rerank, answer, search, trace and process
documents.

A service is contacted only if it is configured and the user allows it. No text of the
user is sent. Requests are recorded with `request_logger`, None without a library.
"""

from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Protocol, TypeVar

from lrwr.app.egress import Keyring
from lrwr.app.maintenance.check_result import (
    HealthFinding,
    HealthState,
    end_with_full_stop,
    finding_from_error,
)
from lrwr.app.maintenance.checks.models import LanguageModelStatus, check_language_model
from lrwr.app.presenters.text import format_count
from lrwr.core.adapters.chat import factory as chatting
from lrwr.core.adapters.chat.connection import ModelServerClient
from lrwr.core.adapters.embed import connection as embedding
from lrwr.core.adapters.embed.connection import EmbeddingConnection
from lrwr.core.adapters.embed.openai import OpenAIEmbedder, VectorLengthMismatch
from lrwr.core.adapters.http.egress_log import EgressLogger
from lrwr.core.adapters.http.rate_limit import RateLimit
from lrwr.core.adapters.modal.factory import (
    create_modal_function_client,
    find_modal_connection,
    select_remote_settings,
)
from lrwr.core.adapters.rerank import cohere as reranking
from lrwr.core.adapters.rerank.cohere import CohereReranker
from lrwr.core.adapters.source.text import find_sentence_spans
from lrwr.core.adapters.traces.http import build_langsmith_connection
from lrwr.core.adapters.traces.langsmith import LangSmithTracer
from lrwr.core.adapters.web import tavily as searching
from lrwr.core.adapters.web.tavily import CreditsUnavailable, TavilySearch
from lrwr.core.model.errors import LrwrError, ServiceUnavailable, SettingsProblem
from lrwr.core.settings.chat_models import list_chat_models
from lrwr.core.settings.consent import (
    EMBEDDING_SERVER,
    HOSTED_SERVICES,
    ConsentState,
)
from lrwr.core.settings.model import Settings

REMOTE_EMBEDDING_MODELS = ("openai", "server")
"""Values of `embedding.model` with which a server computes embeddings."""
WORD = "lrwr"
"""The text that is embedded as a test."""
_TIMEOUT = 10.0
"""Seconds to wait for an answer, if the settings do not say less."""
_UNKNOWN_DIMENSIONS = 1
"""Stands for a vector length that is not configured: the answer shows the real one."""


class _Timed(Protocol):
    """A connection: a dataclass with a timeout in seconds."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def timeout(self) -> float: ...


Connected = TypeVar("Connected", bound=_Timed)


@dataclass(frozen=True, slots=True)
class ServerEmbeddingSpace:
    """The embedding space of another model than that in a folder, such as one on a
    server, and the length of its vectors.
    """

    space: str
    dimensions: int


def resolve_server_space(settings: Settings) -> ServerEmbeddingSpace | None:
    """Return the vector space of the configured embedding server's model.

    None if no server is configured, or its settings are invalid.
    """
    try:
        connection = embedding.build_embedding_connection(settings)
    except SettingsProblem:
        return None
    return (
        ServerEmbeddingSpace(connection.space, connection.dimensions)
        if connection
        else None
    )


async def check_embeddings(
    settings: Settings, keyring: Keyring, request_logger: EgressLogger | None
) -> HealthFinding:
    """Ask the embedding server for the vector of one word, and check its length.

    The request is recorded with `request_logger`; None records nothing.
    """
    part = "embedding"
    try:
        connection = _embedding_of(settings)
        leaving = request_logger if embedding.is_embedding_remote(settings) else None
        line = ModelServerClient(_single_request_limit(), request_logger=leaving)
        key = partial(keyring.key, _embedding_service(settings))
        embedder = OpenAIEmbedder(connection, line, key, _count_one_each)
        try:
            await embedder.embed([WORD])
        finally:
            await embedder.aclose()
    except VectorLengthMismatch as wrong:
        dimensions = settings.embedding.dimensions
        says = f"says {dimensions}" if dimensions else "is not set"
        detail = f"{wrong.server} returns vectors with {wrong.gives} dimensions, but"
        detail += f" `embedding.dimensions` {says}."
        return HealthFinding(part, HealthState.BROKEN, detail, wrong.hint)
    except LrwrError as error:
        return _failed(part, error, keyring, _embedding_service(settings))
    detail = f"{connection.server} answers and has {connection.name}:"
    return HealthFinding(
        part, HealthState.OK, f"{detail} {connection.dimensions} dimensions."
    )


async def check_cohere(
    settings: Settings, keyring: Keyring, request_logger: EgressLogger | None
) -> HealthFinding:
    """Ask Cohere whether the configured model exists and can rerank.

    The request is recorded with `request_logger`; None records nothing.
    """
    part = "reranker"
    try:
        connection = _with_short_timeout(reranking.build_cohere_connection(settings))
        key = partial(keyring.key, "cohere")
        cohere_reranker = CohereReranker(
            connection, key, request_logger, pace=_single_request_limit()
        )
        reranks = await cohere_reranker.has_model()
    except LrwrError as error:
        return _failed(part, error, keyring, "cohere")
    if not reranks:
        detail = f"Cohere's model {connection.model} cannot rerank."
        remedy = "Set `rerank.cohere_model` to a model that can."
        return HealthFinding(part, HealthState.BROKEN, detail, remedy)
    candidates = format_count(settings.rerank.candidate_count, "candidate")
    detail = f"Cohere answers and has {connection.model}; {candidates}."
    return HealthFinding(part, HealthState.OK, detail)


async def check_langsmith(
    settings: Settings, keyring: Keyring, request_logger: EgressLogger | None
) -> HealthFinding:
    """Ask LangSmith whether it accepts the API key. No trace is sent.

    The request is recorded with `request_logger`; None records nothing.
    """
    part = "traces"
    try:
        connection = _with_short_timeout(build_langsmith_connection(settings))
        key = partial(keyring.key, "langsmith")
        await LangSmithTracer(connection, key, request_logger).check_key()
    except LrwrError as error:
        return _failed(part, error, keyring, "langsmith")
    detail = f"LangSmith answers; project {connection.project},"
    texts = "with your texts." if connection.texts else "without your texts."
    if settings.traces.texts and not connection.texts:
        texts = (
            "without your texts (`traces.texts` is ignored in a library's lrwr.toml)."
        )
    return HealthFinding(part, HealthState.OK, f"{detail} {texts}")


async def check_openai(
    settings: Settings, keyring: Keyring, request_logger: EgressLogger | None
) -> HealthFinding:
    """Ask OpenAI which models the API key may use. This is free of charge.

    The request is recorded with `request_logger`; None records nothing.
    """
    part = "language model"
    refusal = keyring.consent_refusal("openai")
    if refusal is not None:
        return HealthFinding(
            part, HealthState.OFF, end_with_full_stop(str(refusal)), refusal.hint
        )
    try:
        connection = _with_short_timeout(
            chatting.build_chat_connection(settings, keyring.env)
        )
        async with aclosing(
            ModelServerClient(_single_request_limit(), request_logger=request_logger)
        ) as line:
            offered = await line.fetch_offered_models(connection)
    except LrwrError as error:
        return _failed(part, error, keyring, "openai")
    names = tuple(list_chat_models(settings).values())
    return check_language_model(LanguageModelStatus(connection, True, offered, names))


async def check_web(
    settings: Settings, keyring: Keyring, request_logger: EgressLogger | None
) -> HealthFinding:
    """Ask Tavily, which searches the web, how much the account has used.

    This is free of charge. The request is recorded with `request_logger`; None records
    nothing.
    """
    part = "web search"
    refusal = keyring.consent_refusal("tavily")
    if refusal is not None:
        return HealthFinding(
            part, HealthState.OFF, end_with_full_stop(str(refusal)), refusal.hint
        )
    try:
        connection = _with_short_timeout(
            searching.build_tavily_connection(settings, keyring.env)
        )
        tavily_search = TavilySearch(
            connection, find_sentence_spans, request_logger=request_logger
        )
        tavily_credits = await tavily_search.check_key()
    except CreditsUnavailable as error:
        return HealthFinding(
            part, HealthState.NOT_CHECKED, end_with_full_stop(str(error)), error.hint
        )
    except LrwrError as error:
        return _failed(part, error, keyring, "tavily")
    if tavily_credits is None:
        return HealthFinding(part, HealthState.OK, "Tavily accepts the key.")
    used = (
        f"{tavily_credits.used:,} of the plan's {tavily_credits.of:,} credits are used"
    )
    return HealthFinding(part, HealthState.OK, f"Tavily accepts the key; {used}.")


def describe_outgoing_data(
    settings: Settings, leave: Callable[[str], ConsentState]
) -> list[str]:
    """Return a sentence on each service, except language models, that receives data.

    `leave` returns the user's consent to a service, a key of `HOSTED_SERVICES`.
    """
    sentences = [
        f"{hosted.title} receives {hosted.describe_sent(settings)}."
        for name, hosted in HOSTED_SERVICES.items()
        if hosted.setting != "model.use" and leave(name).allows_sending
    ]
    if settings.embedding.model == "server" and embedding.is_embedding_remote(settings):
        connection = _embedding_of(settings)
        sentences.append(f"Your whole text is sent to {connection.host} for embedding.")
    return sentences


def _embedding_of(settings: Settings) -> EmbeddingConnection:
    """Return the embedding connection with a short timeout and some vector length."""
    embedding_settings = settings.embedding
    if (
        embedding_settings.model == "server"
        and embedding_settings.name
        and not embedding_settings.dimensions
    ):
        embedding_settings = replace(embedding_settings, dimensions=_UNKNOWN_DIMENSIONS)
    return _with_short_timeout(
        embedding.build_embedding_connection(
            replace(settings, embedding=embedding_settings)
        )
    )


def _embedding_service(settings: Settings) -> str:
    """Return the name of the service that the setting `embedding.model` selects."""
    is_own = settings.embedding.model == "server"
    return EMBEDDING_SERVER if is_own else "openai-embeddings"


def _with_short_timeout(connection: Connected | None) -> Connected:
    """Return a connection that waits at most `_TIMEOUT` seconds."""
    if connection is None:
        raise LookupError("the service is not configured")
    return replace(connection, timeout=min(connection.timeout, _TIMEOUT))


def _failed(
    part: str, error: LrwrError, keyring: Keyring, service: str
) -> HealthFinding:
    if keyring.consent_refusal(service) is not None:
        return HealthFinding(
            part, HealthState.OFF, end_with_full_stop(str(error)), error.hint
        )
    if isinstance(error, ServiceUnavailable) and error.retryable:
        return HealthFinding(
            part, HealthState.WARNING, end_with_full_stop(str(error)), error.hint
        )
    return finding_from_error(part, error)


def _single_request_limit() -> RateLimit:
    """Return the limit for a single request without retries."""
    return RateLimit(concurrency=1, patience=0.0)


def _count_one_each(texts: Sequence[str]) -> list[int]:
    return [1] * len(texts)


PART = "ingestion"


async def check_modal(
    settings: Settings, keyring: Keyring, request_logger: EgressLogger | None
) -> HealthFinding:
    """Ask Modal whether it accepts the token and has lrwr's app.

    The request is recorded with `request_logger`; None records nothing.
    """
    try:
        connection = find_modal_connection(settings)
        if connection is None:
            raise LookupError("Modal is not configured")
        select_remote_settings(settings)
        library, token = keyring.library, keyring.modal_token
        async with aclosing(
            create_modal_function_client(connection, library, token, request_logger)
        ) as calls:
            await calls.check()
    except LrwrError as error:
        return finding_from_error(PART, error)
    containers = format_count(settings.ingest.containers, "container")
    detail = f"Modal answers and has the app {connection.app}; at most {containers}."
    return HealthFinding(PART, HealthState.OK, detail)
