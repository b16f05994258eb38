"""Reranking by Cohere, through its `cohere` package."""

import asyncio
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urlsplit

import httpx
from cohere.core.api_error import ApiError

from lrwr.core.adapters.chat.connection import create_empty_ssl_context
from lrwr.core.adapters.http.egress_log import EgressLogEntry, EgressLogger
from lrwr.core.adapters.http.errors import (
    ErrorHints,
    HttpErrorResponse,
    HttpRequestInfo,
    ServiceCallError,
    build_interrupted_error,
    build_invalid_response_error,
    build_timeout_error,
    build_unreachable_error,
    find_service_call_error,
    translate_http_status,
)
from lrwr.core.adapters.http.rate_limit import Clock, RateLimit, RateLimiter
from lrwr.core.model.chunks import TextHash
from lrwr.core.model.egress import OutboundRequest, RequestPurpose
from lrwr.core.ports.models import SentenceRating
from lrwr.core.settings.model import Settings
from lrwr.core.settings.service_access import (
    is_loopback_host,
    parse_host,
    resolve_address,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from cohere import AsyncClientV2, V2RerankResponse
    from httpx import AsyncClient

T = TypeVar("T")
COHERE_URL = "https://api.cohere.com"
_RETRY_SECONDS = 6.0
"""Seconds after which a failed request is not retried: a search waits for it."""
_OFF = '[rerank] model = "late-interaction"'


@dataclass(frozen=True, slots=True)
class CohereConnection:
    """A rerank model of Cohere and its server.

    `timeout` is in seconds, per request. `own` says that the server is on this machine;
    no proxy is used then.
    """

    model: str
    base_url: str = COHERE_URL
    timeout: float = 15.0
    own: bool = False

    @property
    def host(self) -> str:
        """The server's host name, without a port."""
        return urlsplit(self.base_url).hostname or ""


class CohereReranker:
    """The `Reranker` port over HTTP; opens nothing before the first call.

    `key` returns the API key; it is called for each question and raises
    `ServiceUnavailable` if nothing may be sent. With a `request_logger`, each request
    is recorded in the send log before it is sent. `pace` limits the requests; the
    default is 2 at once, and retries for 6 seconds. Passages of white space are never
    sent; their score is 0.0.
    """

    def __init__(
        self,
        connection: CohereConnection,
        key: Callable[[], str],
        request_logger: EgressLogger | None = None,
        clock: Clock | None = None,
        pace: RateLimit | None = None,
    ) -> None:
        self._connection = connection
        self._key = key
        self._request_logger = request_logger
        self._clock = clock or Clock()
        pace = pace or RateLimit(concurrency=2, patience=_RETRY_SECONDS)
        self._rate_limiter = RateLimiter(pace, self._clock)
        self._about = OutboundRequest(
            "cohere", connection.host, RequestPurpose.RERANKING, connection.model
        )
        self._request = HttpRequestInfo(
            server="Cohere",
            model=connection.model,
            timeout=connection.timeout,
            is_local=False,
            hints=ErrorHints(
                section="rerank",
                model="rerank.cohere_model",
                key="cohere",
                overload=f"Try again in a minute, or set {_OFF}.",
                request="`rerank.cohere_model` and `rerank.base_url`",
                base_url_note=f", or set {_OFF}",
            ),
        )

    @property
    def name(self) -> str:
        """The reranker's name: `cohere/` and the model's name."""
        return f"cohere/{self._connection.model}"

    async def rerank(
        self, question: str, passages: Sequence[str], stored: Sequence[TextHash] = ()
    ) -> list[float]:
        """Return the relevance of each passage to `question`, from 0.0 to 1.0, in the
        order of `passages`; `stored` is not used.

        Raises:
            ServiceUnavailable: Cohere did not answer, refused, or sent an invalid
                reply.
        """
        del stored
        indices = [n for n, passage in enumerate(passages) if passage.strip()]
        scores = [0.0] * len(passages)
        if not indices or not question.strip():
            return scores
        key = await asyncio.to_thread(self._key)
        texts = [passages[n] for n in indices]

        async def call() -> list[float]:
            return await self._score(key, question, texts)

        async with self._rate_limiter.slot():
            model_scores = await self._rate_limiter.call_with_retries(call)
        for n, score in zip(indices, model_scores, strict=True):
            scores[n] = score
        return scores

    async def rate_sentences(
        self, question: str, passages: Sequence[str], stored: Sequence[TextHash]
    ) -> list[list[SentenceRating]]:
        """Return no ratings: each would be a further request."""
        del question, stored
        return [[] for _ in passages]

    async def has_model(self) -> bool:
        """Return whether the configured model is one that can rerank. No text is sent.

        Raises:
            ServiceUnavailable: Cohere did not answer, refused the key, or has no such
                model.
        """
        key = await asyncio.to_thread(self._key)

        async def ask(client: "AsyncClientV2") -> bool:
            model = await client.models.get(self._connection.model)
            endpoints = model.endpoints
            return not isinstance(endpoints, list) or "rerank" in endpoints

        async with aclosing(EgressLogEntry(self._request_logger, self._about)) as note:
            is_known = await self._call(key, note, ask)
            note.mark_complete()
        return is_known

    async def _score(
        self, key: str, question: str, texts: Sequence[str]
    ) -> list[float]:
        async def ask(client: "AsyncClientV2") -> "V2RerankResponse":
            return await client.rerank(
                model=self._connection.model, query=question, documents=texts
            )

        async with aclosing(EgressLogEntry(self._request_logger, self._about)) as note:
            reply = await self._call(key, note, ask)
            note.mark_complete()
            tokens = _parse_billed_tokens(reply)
            if tokens is not None:
                note.record_usage(tokens, 0)
        scores = _parse_scores(reply, len(texts))
        if scores is None:
            raise build_invalid_response_error(self._request)
        return scores

    async def _call(
        self,
        key: str,
        note: EgressLogEntry,
        ask: "Callable[[AsyncClientV2], Awaitable[T]]",
    ) -> T:
        """Return the result of a call of Cohere's client, with its errors translated."""
        about = self._connection
        http = await asyncio.to_thread(_open_http, about)
        if self._request_logger is not None:
            http.event_hooks["request"].append(note.on_request)
            http.event_hooks["response"].append(note.on_response)
        try:
            async with http:
                client = await asyncio.to_thread(_create_client, http, about, key)
                async with asyncio.timeout(about.timeout):
                    return await ask(client)
        except Exception as error:  # the client passes on errors of its libraries
            refused = _translate_error(error, self._request, self._clock.today())
            if _is_unreachable(error):
                note.mark_unreachable()
            raise refused from error


def _open_http(connection: CohereConnection) -> "AsyncClient":
    """Create the HTTP client; it follows no redirects."""
    encrypted = connection.base_url.startswith("https:")
    return httpx.AsyncClient(
        timeout=connection.timeout,
        follow_redirects=False,
        trust_env=not connection.own,
        verify=True if encrypted else create_empty_ssl_context(),
    )


def _create_client(
    http: "AsyncClient", connection: CohereConnection, key: str
) -> "AsyncClientV2":
    """Create Cohere's client; importing it takes a third of a second."""
    from cohere import AsyncClientV2

    return AsyncClientV2(
        api_key=key,
        base_url=connection.base_url,
        timeout=connection.timeout,
        max_retries=0,
        httpx_client=http,
        log_warning_experimental_features=False,
    )


def _translate_error(
    error: Exception, http_request_info: HttpRequestInfo, now: float
) -> ServiceCallError:
    """Translate an error of Cohere's client or of the libraries below it."""
    own_error = find_service_call_error(error)
    if own_error is not None:
        return own_error
    if isinstance(error, ApiError) and error.status_code is not None:
        if error.status_code < 300:
            return build_invalid_response_error(http_request_info)
        refusal = HttpErrorResponse(
            error.status_code, _message_of(error.body), error.headers or {}
        )
        return translate_http_status(refusal, http_request_info, now)
    if isinstance(error, TimeoutError | httpx.TimeoutException):
        return build_timeout_error(http_request_info)
    if isinstance(error, httpx.ConnectError | httpx.ProxyError):
        return build_unreachable_error(http_request_info)
    if isinstance(error, httpx.TransportError):
        return build_interrupted_error(http_request_info)
    return build_invalid_response_error(http_request_info)


def _is_unreachable(error: Exception) -> bool:
    return isinstance(error, httpx.ConnectError | httpx.ConnectTimeout)


def _message_of(body: object) -> str:
    """Return the message in the body of an error."""
    message = body.get("message") if isinstance(body, Mapping) else body
    return message if isinstance(message, str) else ""


def _parse_scores(reply: "V2RerankResponse", texts: int) -> list[float] | None:
    """Return one score per text, in order; None if the reply is invalid."""
    results = getattr(reply, "results", None)
    if not isinstance(results, list) or len(results) != texts:
        return None
    scores: dict[int, float] = {}
    for result in results:
        index = getattr(result, "index", None)
        score = getattr(result, "relevance_score", None)
        if not isinstance(index, int) or not isinstance(score, int | float):
            return None
        if not 0 <= index < texts or not math.isfinite(score):
            return None
        scores[index] = float(score)
    return [scores[n] for n in range(texts)] if len(scores) == texts else None


def _parse_billed_tokens(reply: "V2RerankResponse") -> int | None:
    """Return the billed tokens; None if Cohere bills by the search."""
    units = getattr(getattr(reply, "meta", None), "billed_units", None)
    for name in ("input_tokens", "total_tokens"):
        tokens = getattr(units, name, None)
        if isinstance(tokens, int | float) and math.isfinite(tokens):
            return int(tokens)
    return None


def build_cohere_connection(settings: Settings) -> CohereConnection | None:
    """Return the Cohere model in `settings`; None unless `rerank.model` is "cohere".

    Raises:
        SettingsProblem: The address is invalid or not allowed.
    """
    rerank = settings.rerank
    if rerank.model != "cohere":
        return None
    address = resolve_address(settings, "rerank.base_url", COHERE_URL, secret=True)
    is_local = is_loopback_host(parse_host(address))
    return CohereConnection(
        rerank.cohere_model, address, float(rerank.timeout), is_local
    )


def create_cohere_reranker(
    settings: Settings, key: Callable[[], str], request_logger: EgressLogger
) -> CohereReranker | None:
    """Return the Cohere reranker in `settings`; None unless `rerank.model` is "cohere".

    Nothing is sent or opened yet. Every later request is recorded in the send log,
    whatever the address. `key` returns the API key, or raises `ServiceUnavailable`.

    Raises:
        SettingsProblem: The address is invalid or not allowed.
    """
    connection = build_cohere_connection(settings)
    return CohereReranker(connection, key, request_logger) if connection else None
