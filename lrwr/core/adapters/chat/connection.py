"""The connection to a model server, shared by all models of that server."""

import asyncio
import ssl
from collections.abc import Awaitable, Callable, Iterator
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import urlsplit

from lrwr.core.adapters.http.egress_log import EgressLogEntry, EgressLogger
from lrwr.core.adapters.http.errors import HttpRequestInfo, ServiceCallError
from lrwr.core.adapters.http.rate_limit import Clock, RateLimit, RateLimiter
from lrwr.core.model.egress import OutboundRequest, RequestPurpose

if TYPE_CHECKING:
    from openai import AsyncOpenAI, DefaultAsyncHttpxClient

    from lrwr.core.adapters.chat.openai_sdk import EgressLoggingHttpClient


OPENAI_CHAT_URL = "https://api.openai.com/v1"

MAX_REPLY_TOKENS = 16_000
"""Limit of tokens in a reply: a small model may otherwise never stop."""


@dataclass(frozen=True, slots=True)
class ChatConnection:
    """A language model on a server, and how to call it.

    `name` is the model's name on the server. `timeout` is the time in seconds for which
    the server may be silent, `answer_timeout` that for a whole reply. `effort` is a
    reasoning effort that the model supports; if empty, none is sent. `own` says that
    the user runs the server: it gets no key, and no proxy is used. `most_reply` is the
    maximum number of tokens of a reply.
    """

    name: str
    base_url: str = OPENAI_CHAT_URL
    key: str = field(default="", repr=False)
    timeout: float = 300.0
    effort: str = ""
    own: bool = False
    most_reply: int = MAX_REPLY_TOKENS
    answer_timeout: float = 1800.0

    @property
    def server(self) -> str:
        """The server's name in messages: "OpenAI", or one with its host and port."""
        if self.base_url == OPENAI_CHAT_URL:
            return "OpenAI"
        address = urlsplit(self.base_url)
        return f"The model server at {address.hostname}:{address.port or 443}"

    @property
    def service(self) -> str:
        """The value of `model.use` for this server: "local" or "openai"."""
        return "local" if self.own else "openai"

    @property
    def host(self) -> str:
        """The host name of the server, without a port."""
        return urlsplit(self.base_url).hostname or ""

    @property
    def request_info(self) -> HttpRequestInfo:
        """The names of server and model, and the timeout, for error messages."""
        return HttpRequestInfo(self.server, self.name, self.timeout, self.own)


_CreateClient: TypeAlias = (
    "Callable[[str, str, DefaultAsyncHttpxClient, float], AsyncOpenAI]"
)
_ListModels: TypeAlias = (
    "Callable[[AsyncOpenAI, HttpRequestInfo, float], Awaitable[tuple[str, ...] | None]]"
)
_TranslateError = Callable[[Exception, HttpRequestInfo, float], ServiceCallError]


class ModelServerClient:
    """The HTTP connections to one model server, and its rate limiter.

    With a `request_logger`, requests are recorded in the send log before they are sent.
    Nothing is imported or opened before the first call. `notify` receives a sentence
    for the user if retries take long.
    """

    def __init__(
        self,
        limit: RateLimit,
        clock: Clock | None = None,
        request_logger: EgressLogger | None = None,
        notify: Callable[[str], None] | None = None,
    ) -> None:
        self.clock = clock or Clock()
        self.rate_limiter = RateLimiter(limit, self.clock, notify)
        self._request_logger = request_logger
        self._opening = asyncio.Lock()
        self._http: DefaultAsyncHttpxClient | None = None
        self._logging_http: EgressLoggingHttpClient | None = None
        # Set when the connection is opened, which imports the `openai` package.
        self._create_client: _CreateClient | None = None
        self._translate: _TranslateError | None = None
        self._list_models: _ListModels

    def new_log_entry(self, about: OutboundRequest) -> EgressLogEntry:
        """Return a new send log entry for the request `about`.

        Without a request logger the entry writes nothing.
        """
        return EgressLogEntry(self._request_logger, about)

    @contextmanager
    def log_to(self, entry: EgressLogEntry) -> Iterator[None]:
        """Inside this context, record the requests of this task in `entry`.

        Requests of tasks that it starts inside the context are recorded there, too.
        """
        if self._logging_http is None:
            yield
            return
        with self._logging_http.log_to(entry):
            yield

    async def http(
        self, base_url: str, *, seconds: float, is_local: bool
    ) -> "DefaultAsyncHttpxClient":
        """Return the HTTP client for the server at `base_url`.

        The first call creates it; later calls return the same and ignore the arguments.
        `seconds` is the timeout of a response. If `is_local`, no proxy is used.
        """
        async with self._opening:
            if self._http is None:
                await asyncio.to_thread(self._open, base_url, seconds, is_local)
            if self._http is None:
                raise RuntimeError("the connection was closed while it was opened")
            return self._http

    def create_openai_client(
        self, base_url: str, key: str, http: "DefaultAsyncHttpxClient", timeout: float
    ) -> "AsyncOpenAI":
        """Return a client of the `openai` package for the server at `base_url`, over
        `http`.

        It does not retry by itself. `key` is the API key, `timeout` is in seconds.

        Raises:
            RuntimeError: `http()` was not called before.
        """
        if self._create_client is None:
            raise RuntimeError("create the client after its connection")
        return self._create_client(base_url, key, http, timeout)

    def translate_error(
        self, error: Exception, request: HttpRequestInfo
    ) -> ServiceCallError:
        """Return the error with a message for the user, for an exception of a client
        over `http()`.

        `request` names server and model in the message.
        """
        if self._translate is None:
            raise RuntimeError("errors are translated after the connection was opened")
        return self._translate(error, request, self.clock.today())

    async def fetch_offered_models(
        self, connection: ChatConnection
    ) -> tuple[str, ...] | None:
        """Ask the server for the names of its models; None if it does not list them.

        This is one request, without a prompt and free of charge.

        Raises:
            ServiceCallError: The server did not answer or refused the key.
        """
        timeout = connection.timeout
        http = await self.http(
            connection.base_url, seconds=timeout, is_local=connection.own
        )
        client = self.create_openai_client(
            connection.base_url, connection.key, http, timeout
        )
        purpose = RequestPurpose.ANSWERING
        about = OutboundRequest(
            connection.service, connection.host, purpose, connection.name
        )
        async with aclosing(self.new_log_entry(about)) as entry:
            with self.log_to(entry):
                names = await self._list_models(
                    client, connection.request_info, self.clock.today()
                )
            entry.record_usage(0, 0)
        return names

    async def aclose(self) -> None:
        """Close all connections. Idempotent."""
        http, self._http, self._logging_http = self._http, None, None
        if http is not None:
            await http.aclose()

    def _open(self, base_url: str, seconds: float, is_local: bool) -> None:
        """Import the `openai` package, which takes seconds, and create the client."""
        from lrwr.core.adapters.chat import openai_sdk

        self._create_client = openai_sdk.create_openai_client
        self._translate = openai_sdk.translate_chat_error
        self._list_models = openai_sdk.list_models
        create = (
            openai_sdk.create_unlogged_http_client
            if self._request_logger is None
            else openai_sdk.EgressLoggingHttpClient
        )
        is_encrypted = base_url.startswith("https:")
        self._http = create(
            timeout=seconds,
            follow_redirects=False,  # a redirect would carry the key to another host
            trust_env=not is_local,
            event_hooks={"response": [openai_sdk.limit_response]},
            verify=True if is_encrypted else create_empty_ssl_context(),
        )
        if isinstance(self._http, openai_sdk.EgressLoggingHttpClient):
            self._logging_http = self._http


def create_empty_ssl_context() -> ssl.SSLContext:
    """Return a TLS context without certificates, for connections that are not
    encrypted.

    Loading the certificates would take a tenth of a second.
    """
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
