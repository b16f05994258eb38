"""The servers that answer, embed, look again, search and keep traces: whether they do.

They are asked only where a setting turned them on, and the writer has allowed it.
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
    pluralize,
)
from lrwr.app.maintenance.checks.models import LanguageModelStatus, check_language_model
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
from lrwr.core.settings.consent import HOSTED_SERVICES, ConsentState
from lrwr.core.settings.model import Settings

REMOTE_EMBEDDING_MODELS = ("openai", "server")
"""Values of `embedding.model` with which a server embeds."""
WORD = "lrwr"
"""What an embedding server is given to try it: nothing of the writer's."""
_LONGEST = 10.0
"""Seconds that a server is given to answer."""
_UNKNOWN = 1
"""Numbers of a vector, where the setting does not say how many: the server will."""


class _Timed(Protocol):
    """A connection: a dataclass that says how many seconds it may take."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def timeout(self) -> float: ...


Connected = TypeVar("Connected", bound=_Timed)


@dataclass(frozen=True, slots=True)
class ServerEmbeddingSpace:
    """The embedding space that the settings name, and the length of its vectors."""

    space: str
    dimensions: int


def resolve_server_space(settings: Settings) -> ServerEmbeddingSpace | None:
    """Return the space of a server; None where none is set or it is not known."""
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
    """Ask the server that embeds for the vector of one word.

    Without `request_logger` nothing is noted: there is no library yet.
    """
    part = "embedding"
    try:
        connection = _embedding_of(settings)
        leaving = request_logger if embedding.is_embedding_remote(settings) else None
        line = ModelServerClient(_single_request_limit(), request_logger=leaving)
        key = str if connection.own else partial(keyring.key, "openai-embeddings")
        embedder = OpenAIEmbedder(connection, line, key, _count_one_each)
        try:
            await embedder.embed([WORD])
        finally:
            await embedder.aclose()
    except VectorLengthMismatch as wrong:
        dimensions = settings.embedding.dimensions
        says = f"says {dimensions}" if dimensions else "is not set"
        detail = f"{wrong.server} gives vectors of {wrong.gives} numbers, and"
        detail += f" `embedding.dimensions` {says}."
        return HealthFinding(part, HealthState.BROKEN, detail, wrong.hint)
    except LrwrError as error:
        return _failed(part, error, keyring, "openai-embeddings")
    detail = f"{connection.server} answers, and has {connection.name}:"
    return HealthFinding(
        part, HealthState.OK, f"{detail} {connection.dimensions} numbers a text."
    )


async def check_cohere(
    settings: Settings, keyring: Keyring, request_logger: EgressLogger | None
) -> HealthFinding:
    """Ask Cohere whether it has the model. No text is sent."""
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
        detail = f"Cohere has {connection.model}, and it does not rerank."
        remedy = "Set `rerank.cohere_model` to a model that does."
        return HealthFinding(part, HealthState.BROKEN, detail, remedy)
    candidates = pluralize(settings.rerank.candidate_count, "candidate")
    detail = f"Cohere answers, and has {connection.model}; {candidates}."
    return HealthFinding(part, HealthState.OK, detail)


async def check_langsmith(
    settings: Settings, keyring: Keyring, request_logger: EgressLogger | None
) -> HealthFinding:
    """Ask LangSmith whether it takes the key. Nothing of a trace is sent."""
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
        texts = "without your texts: `traces.texts` does not count in a folder's file."
    return HealthFinding(part, HealthState.OK, f"{detail} {texts}")


async def check_openai(
    settings: Settings, keyring: Keyring, request_logger: EgressLogger | None
) -> HealthFinding:
    """Ask OpenAI which models it has for the key. No model is asked: nothing is paid."""
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
    names = tuple(chatting.list_chat_models(settings).values())
    return check_language_model(LanguageModelStatus(connection, True, offered, names))


async def check_web(
    settings: Settings, keyring: Keyring, request_logger: EgressLogger | None
) -> HealthFinding:
    """Ask Tavily what the account has used. Nothing is searched for: nothing is paid."""
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
        return HealthFinding(part, HealthState.OK, "Tavily takes the key.")
    used = (
        f"{tavily_credits.used:,} of the plan's {tavily_credits.of:,} credits are used"
    )
    return HealthFinding(part, HealthState.OK, f"Tavily takes the key; {used}.")


def describe_outgoing_data(
    settings: Settings, leave: Callable[[str], ConsentState]
) -> list[str]:
    """Return, a sentence each, what leaves this machine besides a language model's."""
    sentences = [
        f"{hosted.title} is sent {hosted.describe_sent(settings)}."
        for name, hosted in HOSTED_SERVICES.items()
        if hosted.setting != "model.use" and leave(name).allows_sending
    ]
    if settings.embedding.model == "server" and embedding.is_embedding_remote(settings):
        connection = _embedding_of(settings)
        sentences.append(
            f"Your whole text is sent to {connection.host}, to be embedded."
        )
    return sentences


def _embedding_of(settings: Settings) -> EmbeddingConnection:
    """Return who embeds, asked quickly; with a guess where the length is not known."""
    embedding_settings = settings.embedding
    if (
        embedding_settings.model == "server"
        and embedding_settings.name
        and not embedding_settings.dimensions
    ):
        embedding_settings = replace(embedding_settings, dimensions=_UNKNOWN)
    return _with_short_timeout(
        embedding.build_embedding_connection(
            replace(settings, embedding=embedding_settings)
        )
    )


def _with_short_timeout(connection: Connected | None) -> Connected:
    """Return a connection that is not waited for long; that there is one is known."""
    if connection is None:
        raise LookupError("a service was asked that is not turned on")
    return replace(connection, timeout=min(connection.timeout, _LONGEST))


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
    """Return the pace of one who is asked once, and not waited for."""
    return RateLimit(concurrency=1, patience=0.0)


def _count_one_each(texts: Sequence[str]) -> list[int]:
    return [1] * len(texts)


PART = "ingestion"


async def check_modal(
    settings: Settings, keyring: Keyring, request_logger: EgressLogger | None
) -> HealthFinding:
    """Ask Modal whether it takes the token and has the app. No text is sent.

    Without `request_logger` nothing is noted: there is no library yet.
    """
    try:
        connection = find_modal_connection(settings)
        if connection is None:
            raise LookupError("Modal is not turned on")
        select_remote_settings(settings)
        library, token = keyring.library, keyring.modal_token
        async with aclosing(
            create_modal_function_client(connection, library, token, request_logger)
        ) as calls:
            await calls.check()
    except LrwrError as error:
        return finding_from_error(PART, error)
    containers = pluralize(settings.ingest.containers, "container")
    detail = f"Modal answers, and has {connection.app}; at most {containers}."
    return HealthFinding(PART, HealthState.OK, detail)
