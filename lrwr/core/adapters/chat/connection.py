"""Model servers: which one is asked, and the HTTP connection that its users share."""

import asyncio
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import urlsplit

from lrwr.core.adapters.http.egress_log import EgressLogEntry, EgressLogger
from lrwr.core.adapters.http.errors import HttpRequestInfo, ServiceCallError
from lrwr.core.adapters.http.rate_limit import Clock, RateLimit, RateLimiter
from lrwr.core.model.egress import OutboundRequest

if TYPE_CHECKING:
    from openai import AsyncOpenAI, DefaultAsyncHttpxClient

    from lrwr.core.adapters.chat.openai_sdk import EgressLoggingHttpClient


OPENAI_CHAT_URL = "https://api.openai.com/v1"

MAX_REPLY_TOKENS = 16_000
"""Tokens of a reply: a small model may otherwise never stop."""


@dataclass(frozen=True, slots=True)
class ChatConnection:
    """Which model of which server, and how it is asked.

    `timeout` is in seconds. `effort` is a reasoning effort that the model knows, empty
    to ask for none in particular. `own` says that the server is the writer's own: it is
    told no key, and no proxy is used.
    """

    name: str
    base_url: str = OPENAI_CHAT_URL
    key: str = field(default="", repr=False)
    timeout: float = 300.0
    effort: str = ""
    own: bool = False
    most_reply: int = MAX_REPLY_TOKENS

    @property
    def server(self) -> str:
        """Name the server, for the writer."""
        place = urlsplit(self.base_url)
        if self.base_url == OPENAI_CHAT_URL:
            return "OpenAI"
        return f"The model server at {place.hostname}:{place.port or 443}"

    @property
    def service(self) -> str:
        """Name the service as the setting `model.use` does."""
        return "local" if self.own else "openai"

    @property
    def host(self) -> str:
        """Name the machine that is asked."""
        return urlsplit(self.base_url).hostname or ""


_CreateClient: TypeAlias = (
    "Callable[[str, str, DefaultAsyncHttpxClient, float], AsyncOpenAI]"
)
_TranslateError = Callable[[Exception, HttpRequestInfo, float], ServiceCallError]


class ModelServerClient:
    """Connections to one server, and the pace at which it is asked.

    With `noting`, nothing is sent that was not noted before. Nothing is imported or
    opened before the first call.
    """

    def __init__(
        self,
        pace: RateLimit,
        clock: Clock | None = None,
        noting: EgressLogger | None = None,
    ) -> None:
        self.clock = clock or Clock()
        self.turnstile = RateLimiter(pace, self.clock)
        self._noting = noting
        self._opening = asyncio.Lock()
        self._http: DefaultAsyncHttpxClient | None = None
        self._noted: EgressLoggingHttpClient | None = None
        # Set when the connection is opened, with which the client is imported.
        self._create_client: _CreateClient | None = None
        self._translate: _TranslateError | None = None

    def note(self, about: OutboundRequest) -> EgressLogEntry:
        """Return the note of one request, kept if this line keeps any."""
        return EgressLogEntry(self._noting, about)

    @contextmanager
    def errand(self, note: EgressLogEntry) -> Iterator[None]:
        """Note on `note` what is sent meanwhile by this task and those it starts."""
        if self._noted is None:
            yield
            return
        with self._noted.errand(note):
            yield

    async def http(
        self, base_url: str, *, seconds: float, is_local: bool
    ) -> "DefaultAsyncHttpxClient":
        """Return the client. The first call creates it; later calls return the same one.

        A response may take `seconds`. With `is_local` no proxy is used.
        """
        async with self._opening:
            if self._http is None:
                await asyncio.to_thread(self._open, base_url, seconds, is_local)
            if self._http is None:
                raise RuntimeError("the line was closed while it was opened")
            return self._http

    def create_openai_client(
        self, base_url: str, key: str, http: "DefaultAsyncHttpxClient", timeout: float
    ) -> "AsyncOpenAI":
        """Return OpenAI's client over `http`, which `http()` gave; it does not retry."""
        if self._create_client is None:
            raise RuntimeError("a client is made after its connection")
        return self._create_client(base_url, key, http, timeout)

    def translate_error(
        self, error: Exception, http_request_info: HttpRequestInfo
    ) -> ServiceCallError:
        """Return what an error of a client over `http()` means, in the writer's words."""
        if self._translate is None:
            raise RuntimeError("a client fails after its connection was made")
        return self._translate(error, http_request_info, self.clock.today())

    async def aclose(self) -> None:
        """Let go of connections. Safe to call twice."""
        http, self._http, self._noted = self._http, None, None
        if http is not None:
            await http.aclose()

    def _open(self, base_url: str, seconds: float, is_local: bool) -> None:
        """Import the client, which takes seconds, and make it; nothing is sent."""
        from lrwr.core.adapters.chat.openai_sdk import (
            EgressLoggingHttpClient,
            create_openai_client,
            create_unlogged_http_client,
            translate_chat_error,
        )

        self._create_client = create_openai_client
        self._translate = translate_chat_error

        make = (
            create_unlogged_http_client
            if self._noting is None
            else EgressLoggingHttpClient
        )
        self._http = make(
            timeout=seconds,
            follow_redirects=False,
            trust_env=not is_local,
            verify=True
            if base_url.startswith("https:")
            else create_empty_ssl_context(),
        )
        if isinstance(self._http, EgressLoggingHttpClient):
            self._noted = self._http


def create_empty_ssl_context() -> ssl.SSLContext:
    """Return what verifies nothing that is encrypted, for where nothing is.

    Reading the certificates takes a tenth of a second; this is free.
    """
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
