"""Cohere: passages in the order of how well they answer, through `cohere`."""

import asyncio
import math
import ssl
from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urlsplit

import httpx
from cohere.core.api_error import ApiError

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
from lrwr.core.model.egress import OutboundRequest, RequestPurpose
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
_PATIENCE = 6.0
"""Seconds. A search waits for the second look: not long."""
_OFF = '[rerank] model = "late-interaction"'


@dataclass(frozen=True, slots=True)
class CohereConnection:
    """Which model, where the service is, and how it is asked.

    `timeout` is in seconds and bounds one request. `own` says that the server is on
    this machine: no proxy is used.
    """

    model: str
    base_url: str = COHERE_URL
    timeout: float = 15.0
    own: bool = False

    @property
    def host(self) -> str:
        """Name the machine that is asked."""
        return urlsplit(self.base_url).hostname or ""


class CohereReranker:
    """Keeps the Reranker port over HTTP. Nothing is imported or opened before a call.

    `key` gives the key at the first question: it raises `ServiceUnavailable` where
    nothing may be sent. With `request_logger` each request is noted before it leaves.
    Passages of white space alone are never sent, and score 0.0.
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
        pace = pace or RateLimit(concurrency=2, patience=_PATIENCE)
        self._rate_limiter = RateLimiter(pace, self._clock)
        self._about = OutboundRequest(
            "cohere", connection.host, RequestPurpose.RERANKING, connection.model
        )
        self._asked = HttpRequestInfo(
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
        """Name the reranker."""
        return f"cohere/{self._connection.model}"

    async def rerank(self, question: str, passages: Sequence[str]) -> list[float]:
        """Return how well each passage answers, from 0.0 to 1.0."""
        indices = [n for n, passage in enumerate(passages) if passage.strip()]
        scores = [0.0] * len(passages)
        if not indices or not question.strip():
            return scores
        key = await asyncio.to_thread(self._key)
        texts = [passages[n] for n in indices]

        async def call() -> list[float]:
            return await self._scored(key, question, texts)

        async with self._rate_limiter.slot():
            model_scores = await self._rate_limiter.call_with_retries(call)
        for n, score in zip(indices, model_scores, strict=True):
            scores[n] = score
        return scores

    async def knows_its_model(self) -> bool:
        """Say whether Cohere has the model, and it reranks. No text is sent.

        Raises:
            ServiceUnavailable: Cohere did not answer, or refused.
        """
        key = await asyncio.to_thread(self._key)

        async def ask(client: "AsyncClientV2") -> bool:
            model = await client.models.get(self._connection.model)
            endpoints = model.endpoints
            return not isinstance(endpoints, list) or "rerank" in endpoints

        async with aclosing(EgressLogEntry(self._request_logger, self._about)) as note:
            is_known = await self._said(key, note, ask)
            note.mark_complete()
        return is_known

    async def _scored(
        self, key: str, question: str, texts: Sequence[str]
    ) -> list[float]:
        async def ask(client: "AsyncClientV2") -> "V2RerankResponse":
            return await client.rerank(
                model=self._connection.model, query=question, documents=texts
            )

        async with aclosing(EgressLogEntry(self._request_logger, self._about)) as note:
            reply = await self._said(key, note, ask)
            note.mark_complete()
            tokens = _tokens_of(reply)
            if tokens is not None:
                note.record_usage(tokens, 0)
        scores = _scores_of(reply, len(texts))
        if scores is None:
            raise build_invalid_response_error(self._asked)
        return scores

    async def _said(
        self,
        key: str,
        note: EgressLogEntry,
        ask: "Callable[[AsyncClientV2], Awaitable[T]]",
    ) -> T:
        """Return what the client returns, its errors in the writer's words."""
        about = self._connection
        http = await asyncio.to_thread(_open, about)
        if self._request_logger is not None:
            http.event_hooks["request"].append(note.on_request)
            http.event_hooks["response"].append(note.on_response)
        try:
            async with http:
                client = await asyncio.to_thread(_client, http, about, key)
                async with asyncio.timeout(about.timeout):
                    return await ask(client)
        except Exception as error:  # the client lets anything of its libraries through
            refused = _failed(error, self._asked, self._clock.today())
            if _never_left(error):
                note.mark_unreachable()
            raise refused from error


def _open(connection: CohereConnection) -> "AsyncClient":
    """Make the connection; it holds to no redirect and keeps no cookies."""
    # Reading the certificates takes a tenth of a second; what trusts nobody is free.
    nobody = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    encrypted = connection.base_url.startswith("https:")
    return httpx.AsyncClient(
        timeout=connection.timeout,
        follow_redirects=False,
        trust_env=not connection.own,
        verify=True if encrypted else nobody,
    )


def _client(
    http: "AsyncClient", connection: CohereConnection, key: str
) -> "AsyncClientV2":
    """Make Cohere's client; importing it takes a third of a second."""
    from cohere import AsyncClientV2

    return AsyncClientV2(
        api_key=key,
        base_url=connection.base_url,
        timeout=connection.timeout,
        max_retries=0,
        httpx_client=http,
        log_warning_experimental_features=False,
    )


def _failed(
    error: Exception, http_request_info: HttpRequestInfo, now: float
) -> ServiceCallError:
    """Say what an error of the client means, or of the libraries below it."""
    own_error = find_service_call_error(error)
    if own_error is not None:
        return own_error
    if isinstance(error, ApiError) and error.status_code is not None:
        if error.status_code < 300:
            return build_invalid_response_error(http_request_info)
        refusal = HttpErrorResponse(
            error.status_code, _words_of(error.body), error.headers or {}
        )
        return translate_http_status(refusal, http_request_info, now)
    if isinstance(error, TimeoutError | httpx.TimeoutException):
        return build_timeout_error(http_request_info)
    if isinstance(error, httpx.ConnectError | httpx.ProxyError):
        return build_unreachable_error(http_request_info)
    if isinstance(error, httpx.TransportError):
        return build_interrupted_error(http_request_info)
    return build_invalid_response_error(http_request_info)


def _never_left(error: Exception) -> bool:
    return isinstance(error, httpx.ConnectError | httpx.ConnectTimeout)


def _words_of(body: object) -> str:
    """Return what an error's body says, as Cohere writes it."""
    message = body.get("message") if isinstance(body, Mapping) else body
    return message if isinstance(message, str) else ""


def _scores_of(reply: "V2RerankResponse", texts: int) -> list[float] | None:
    """Return one score for each text, in order; None where the reply is none."""
    results = getattr(reply, "results", None)
    if not isinstance(results, list) or len(results) != texts:
        return None
    scores: dict[int, float] = {}
    for result in results:
        place = getattr(result, "index", None)
        score = getattr(result, "relevance_score", None)
        if not isinstance(place, int) or not isinstance(score, int | float):
            return None
        if not 0 <= place < texts or not math.isfinite(score):
            return None
        scores[place] = float(score)
    return [scores[n] for n in range(texts)] if len(scores) == texts else None


def _tokens_of(reply: "V2RerankResponse") -> int | None:
    """Return the tokens that are to be paid; None where Cohere bills by the search."""
    units = getattr(getattr(reply, "meta", None), "billed_units", None)
    for name in ("input_tokens", "total_tokens"):
        tokens = getattr(units, name, None)
        if isinstance(tokens, int | float) and math.isfinite(tokens):
            return int(tokens)
    return None


def build_cohere_connection(settings: Settings) -> CohereConnection | None:
    """Return which model of Cohere's looks again, None where that is not set.

    Raises:
        SettingsProblem: The address is none, or a downloaded one leads elsewhere.
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
    """Return who looks again elsewhere, None where nobody there does.

    What is sent is noted before it leaves, whatever the address. Nothing is sent or
    opened yet.

    Raises:
        SettingsProblem: The address is none, or a downloaded one leads elsewhere.
    """
    connection = build_cohere_connection(settings)
    return CohereReranker(connection, key, request_logger) if connection else None
