"""The `openai` package as lrwr uses it: recorded requests, translated errors, model
lists.

It takes a second to import: import this module in the function that opens a connection.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import httpx2
import openai

from lrwr.core.adapters.http.egress_log import EgressLogEntry
from lrwr.core.adapters.http.errors import (
    AnswerCutOff,
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

MAX_RESPONSE_BYTES = 64 * 1024 * 1024
"""Largest response of a model server, as sent. The vectors of one request have at most
half of this."""


class _BoundedStream(httpx2.AsyncByteStream):
    """The body of a response; reading it fails after `MAX_RESPONSE_BYTES`."""

    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        received = 0
        async for part in self._stream:
            received += len(part)
            if received > MAX_RESPONSE_BYTES:
                raise AnswerCutOff(
                    "The response of the model server is larger than 64 MB",
                    hint="Check `base_url`, and what runs on the server.",
                    retryable=False,
                )
            yield part

    async def aclose(self) -> None:
        await self._stream.aclose()


async def limit_response(response: httpx2.Response) -> None:
    """Limit the size of a response whose body was not read yet.

    For the list `event_hooks["response"]` of an HTTP client.
    """
    if isinstance(response.stream, httpx2.AsyncByteStream):
        response.stream = _BoundedStream(response.stream)


class EgressLoggingHttpClient(openai.DefaultAsyncHttpxClient):
    """An HTTP client that records each request in the send log.

    Requests outside of `log_to` are refused. `options` are those of
    `httpx.AsyncClient`.
    """

    def __init__(self, **options: Any) -> None:  # options of httpx
        super().__init__(**options)
        # A context variable, because concurrent tasks share this client.
        self._entry: ContextVar[EgressLogEntry] = ContextVar("entry")

    @contextmanager
    def log_to(self, entry: EgressLogEntry) -> Iterator[None]:
        """Inside this context, record the requests of this task in `entry`.

        Requests of tasks that it starts inside the context are recorded there, too.
        """
        token = self._entry.set(entry)
        try:
            yield
        finally:
            self._entry.reset(token)

    async def send(
        self, request: httpx2.Request, *, stream: bool = False, **options: Any
    ) -> httpx2.Response:
        """Record `request` in the send log, then send it and return the response.

        With `stream`, the response's body is read later. `options` are those of
        `httpx.AsyncClient.send`.

        Raises:
            LookupError: It was called outside of `log_to`.
            ServiceUnavailable: The send log cannot be written, so nothing was sent.
        """
        entry = self._entry.get()
        await entry.record_request(len(await request.aread()))
        try:
            response = await super().send(request, stream=stream, **options)
        except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout):
            entry.mark_unreachable()
            raise
        entry.record_response(
            ok=response.is_success,
            is_complete=not stream,
            received=lambda: response.num_bytes_downloaded,
        )
        return response


def create_unlogged_http_client(**options: Any) -> openai.DefaultAsyncHttpxClient:
    """Return an HTTP client whose requests are not recorded in the send log.

    Only for a server on this machine. `options` are those of `httpx.AsyncClient`.
    """
    return openai.DefaultAsyncHttpxClient(**options)


def create_openai_client(
    base_url: str, key: str, http: openai.DefaultAsyncHttpxClient, timeout: float
) -> openai.AsyncOpenAI:
    """Return a client of the `openai` package for the server at `base_url`, over
    `http`.

    It does not retry by itself. `key` is the API key, `timeout` is in seconds.
    """
    return openai.AsyncOpenAI(
        api_key=key,
        base_url=base_url,
        http_client=http,
        timeout=timeout,
        max_retries=0,
    )


def translate_chat_error(
    error: Exception, request: HttpRequestInfo, now: float
) -> ServiceCallError:
    """Return the error with a message for the user, for an exception of the `openai`
    package or LangChain.

    `request` names server and model in the message. `now` is the time in seconds since
    1970; dates in `Retry-After` headers are compared with it.
    """
    own_error = find_service_call_error(error)
    if own_error is not None:
        return own_error
    if isinstance(error, openai.APIStatusError):
        body = error.body if isinstance(error.body, dict) else {}
        text = f"{body.get('message') or ''} {error.code or ''}"
        response = HttpErrorResponse(error.status_code, text, error.response.headers)
        return translate_http_status(response, request, now)
    if isinstance(error, openai.APITimeoutError | TimeoutError):
        return build_timeout_error(request)
    if isinstance(error, openai.APIConnectionError):
        if _was_connected(error):
            return build_interrupted_error(request)
        return build_unreachable_error(request)
    if isinstance(error, openai.APIError) or _is_http_error(error):
        return build_interrupted_error(request)
    return build_invalid_response_error(request)


def _was_connected(error: Exception) -> bool:
    return isinstance(error.__cause__, httpx2.ReadError | httpx2.RemoteProtocolError)


def _is_http_error(error: Exception) -> bool:
    """Return whether an error was raised by httpx or httpcore."""
    return type(error).__module__.startswith("http")


_LIST_REFUSED = frozenset({403, 404, 405})
"""Statuses with which the key may be valid: it may not list models, or no list exists."""

_MISSING_SCOPES = "missing scopes"
"""Part of OpenAI's message to a valid key that may not list models, with status 401."""


async def list_models(
    client: openai.AsyncOpenAI, request: HttpRequestInfo, now: float
) -> tuple[str, ...] | None:
    """Ask a server for the names of its models; None if it does not list them.

    `request` holds the timeout, and names the server in errors. `now` is the time in
    seconds since 1970; dates in `Retry-After` headers are compared with it.

    Raises:
        ServiceCallError: The server did not answer or refused the key.
    """
    try:
        async with asyncio.timeout(request.timeout):
            page = await client.models.list()
        return tuple(str(model.id) for model in page.data)
    except Exception as error:  # three libraries deep, anything may be raised
        if _is_list_refused(error):
            return None
        raise translate_chat_error(error, request, now) from error


def _is_list_refused(error: Exception) -> bool:
    if not isinstance(error, openai.APIStatusError):
        return False
    body = error.body if isinstance(error.body, Mapping) else {}
    lacks_scopes = _MISSING_SCOPES in str(body.get("message")).lower()
    return error.status_code in _LIST_REFUSED or (
        error.status_code == 401 and lacks_scopes
    )
