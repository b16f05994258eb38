"""OpenAI's client as lrwr uses it: requests are logged, errors translated.

Importing this module imports the `openai` package, which takes a second: import it
inside the function that opens a connection.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import httpx2
import openai

from lrwr.core.adapters.http.egress_log import EgressLogEntry
from lrwr.core.adapters.http.errors import (
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


class EgressLoggingHttpClient(openai.DefaultAsyncHttpxClient):
    """Sends nothing outside of `errand`, and nothing that could not be noted."""

    def __init__(self, **options: Any) -> None:  # the library's own options
        super().__init__(**options)
        self._note: ContextVar[EgressLogEntry] = ContextVar("note")

    @contextmanager
    def errand(self, note: EgressLogEntry) -> Iterator[None]:
        """Note on `note` what is sent meanwhile by this task and those it starts."""
        token = self._note.set(note)
        try:
            yield
        finally:
            self._note.reset(token)

    async def send(
        self, request: httpx2.Request, *, stream: bool = False, **options: Any
    ) -> httpx2.Response:
        """Note a request, then send it.

        Raises:
            LookupError: Nobody said what it is for.
            ServiceUnavailable: It cannot be noted.
        """
        note = self._note.get()
        await note.leaving(len(await request.aread()))
        try:
            response = await super().send(request, stream=stream, **options)
        except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout):
            note.unreached()
            raise
        note.came(
            ok=response.is_success,
            is_complete=not stream,
            received=lambda: response.num_bytes_downloaded,
        )
        return response


def create_unlogged_http_client(**options: Any) -> openai.DefaultAsyncHttpxClient:
    """Return a client that notes nothing, for a server on this machine."""
    return openai.DefaultAsyncHttpxClient(**options)


def create_openai_client(
    base_url: str, key: str, http: openai.DefaultAsyncHttpxClient, timeout: float
) -> openai.AsyncOpenAI:
    """Return OpenAI's client over `http`; it does not retry."""
    return openai.AsyncOpenAI(
        api_key=key,
        base_url=base_url,
        http_client=http,
        timeout=timeout,
        max_retries=0,
    )


def translate_chat_error(
    error: Exception, http_request_info: HttpRequestInfo, now: float
) -> ServiceCallError:
    """Say what an error of the client means; `now` is the time of day, for dates."""
    own_error = find_service_call_error(error)
    if own_error is not None:
        return own_error
    if isinstance(error, openai.APIStatusError):
        body = error.body if isinstance(error.body, dict) else {}
        error_text = f"{body.get('message') or ''} {error.code or ''}"
        headers = error.response.headers
        return translate_http_status(
            HttpErrorResponse(error.status_code, error_text, headers),
            http_request_info,
            now,
        )
    if isinstance(error, openai.APITimeoutError | TimeoutError):
        return build_timeout_error(http_request_info)
    if isinstance(error, openai.APIConnectionError):
        return (
            build_interrupted_error(http_request_info)
            if _began(error)
            else build_unreachable_error(http_request_info)
        )
    return (
        build_interrupted_error(http_request_info)
        if _cut(error)
        else build_invalid_response_error(http_request_info)
    )


def _began(error: Exception) -> bool:
    """Say whether a connection that failed had been there."""
    return isinstance(error.__cause__, httpx2.ReadError | httpx2.RemoteProtocolError)


def _cut(error: Exception) -> bool:
    return isinstance(error, openai.APIError) or type(error).__module__.startswith(
        "http"
    )
