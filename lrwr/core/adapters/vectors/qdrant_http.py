"""Requests to a Qdrant server: recorded in the send log, limited in time and retried.

Also names, lists and deletes the collections that lrwr creates there.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import aclosing, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import httpx

from lrwr.core.adapters.chat.connection import create_empty_ssl_context
from lrwr.core.adapters.http.egress_log import EgressLogEntry, EgressLogger
from lrwr.core.adapters.http.errors import ServiceCallError, parse_retry_after
from lrwr.core.adapters.http.rate_limit import Clock, RateLimit, RateLimiter
from lrwr.core.model.choices import Pipeline
from lrwr.core.model.egress import OutboundRequest, RequestPurpose
from lrwr.core.model.errors import ServiceUnavailable
from lrwr.core.model.text import format_seconds
from lrwr.core.settings.model import Settings
from lrwr.core.settings.service_access import (
    QDRANT_URL,
    find_key,
    is_loopback_host,
    parse_host,
    resolve_address,
)

if TYPE_CHECKING:
    from qdrant_client import AsyncQdrantClient

_RETRYABLE_STATUSES = frozenset({408, 429, 500, 502, 503, 504})
"""HTTP statuses after which a retry may help."""
_OR_EMBEDDED = 'or set [vectors] keeper = "embedded"'


class CollectionNotFound(ServiceCallError):
    """The Qdrant server does not have the collection."""


def translate_qdrant_status(
    status: int, server: str, after: float | None
) -> ServiceCallError:
    """Return the error with a message for the user, for an HTTP status of a Qdrant
    server.

    `server` is the server's name in the message; `after` is the number of seconds that
    it asks to wait, None if it does not say.
    """
    if status in _RETRYABLE_STATUSES:
        reason = "received too many requests" if status == 429 else "failed"
        return ServiceCallError(
            f"{server} {reason} (HTTP {status})",
            hint="Search again later.",
            retryable=True,
            after=after,
        )
    if status == 404:
        return CollectionNotFound(
            f"{server} does not have the collection (HTTP {status})",
            hint=f"Check `vectors.url`, {_OR_EMBEDDED}.",
            retryable=False,
        )
    message, hint = _describe_permanent_status(status)
    return ServiceCallError(
        f"{server} {message} (HTTP {status})", hint=hint, retryable=False
    )


def translate_qdrant_error(
    error: Exception, timeout: float, server: str
) -> ServiceUnavailable:
    """Return the error with a message for the user, for an exception of Qdrant's client
    or of the libraries below it.

    `timeout` is in seconds; `server` is the server's name in the message.
    """
    for cause in _causes(error):
        if isinstance(cause, ServiceUnavailable):
            return _copy_error(cause)
        if isinstance(cause, TimeoutError | httpx.TimeoutException):
            return ServiceCallError(
                f"{server} did not answer within {format_seconds(timeout)}",
                hint="Search again, or raise `vectors.timeout`.",
                retryable=True,
            )
        if isinstance(cause, httpx.ConnectError | httpx.ProxyError):
            return ServiceCallError(
                f"{server} cannot be reached",
                hint=f"Start the server, correct `vectors.url`, {_OR_EMBEDDED}.",
                retryable=True,
            )
        if isinstance(cause, httpx.TransportError):
            return ServiceCallError(
                f"{server} stopped in the middle of its answer",
                hint="Search again.",
                retryable=True,
            )
    return build_qdrant_response_error(server)


def build_qdrant_response_error(server: str) -> ServiceCallError:
    """Return the error for a response that a Qdrant server cannot have sent.

    `server` is the server's name in the message.
    """
    return ServiceCallError(
        f"{server} sent an answer that lrwr does not understand",
        hint=f"Check `vectors.url`, {_OR_EMBEDDED}.",
        retryable=False,
    )


def is_connection_failure(error: Exception) -> bool:
    """Return whether `error` means that the request never reached a server."""
    never = httpx.ConnectError | httpx.ConnectTimeout | httpx.PoolTimeout
    return any(isinstance(cause, never) for cause in _causes(error))


def _describe_permanent_status(status: int) -> tuple[str, str]:
    match status:
        case 401:
            hint = "Set the key again with `lrwr config set-key qdrant`."
            return "does not accept the key", hint
        case 403:
            hint = "Set a key that may write with `lrwr config set-key qdrant`."
            return "does not allow this operation with this key", hint
        case 413:
            hint = f"Raise the server's limit for requests, {_OR_EMBEDDED}."
            return "does not accept requests of this size", hint
        case _ if status < 400:
            hint = "Set `vectors.url` to the final address of the server."
            return "redirects requests to another address", hint
        case _:
            return "refused the request", f"Check `vectors.url`, {_OR_EMBEDDED}."


def _copy_error(error: ServiceUnavailable) -> ServiceUnavailable:
    """Return a copy of our own error, to be raised above Qdrant's client."""
    if isinstance(error, ServiceCallError):
        return type(error)(
            str(error), hint=error.hint, retryable=error.retryable, after=error.after
        )
    return ServiceUnavailable(str(error), hint=error.hint)


def _causes(error: Exception) -> Iterator[BaseException]:
    """Yield an error and its causes; the client wraps the errors of its libraries."""
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        source = getattr(cause, "source", None)
        cause = source if isinstance(source, BaseException) else cause.__cause__


REMOTE_RETRY_SECONDS = 10.0
LOCAL_RETRY_SECONDS = 2.0
"""Seconds after which a failed request is not retried: a search waits for it, and this
machine can compare the vectors itself."""
_CONCURRENCY = 4
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class QdrantConnection:
    """A Qdrant server and its key, which may be empty.

    `timeout` is in seconds, per request. `own` says that the server is on this machine;
    no proxy is used then.
    """

    url: str = QDRANT_URL
    key: str = field(default="", repr=False)
    timeout: float = 15.0
    own: bool = True

    @property
    def host(self) -> str:
        """The server's host name, without a port."""
        return parse_host(self.url)


@dataclass(frozen=True, slots=True)
class QdrantCursor:
    """How far a collection follows the library's change feed.

    `mark` is a random text that tells which library's folder the collection belongs to,
    `epoch` the name of the feed, and `seq` the number of the last change applied.
    """

    mark: str
    epoch: str
    seq: int


class QdrantHttpClient:
    """Client of one Qdrant server, with retries.

    With a `request_logger`, every request is recorded in the send log before it is
    sent. Nothing is imported or opened before the first request. `connect` creates
    Qdrant's own client; it is called in a thread, and tests replace it.
    """

    def __init__(
        self,
        connection: QdrantConnection,
        *,
        request_logger: EgressLogger | None = None,
        clock: Clock | None = None,
        connect: Callable[[], "AsyncQdrantClient"] | None = None,
    ) -> None:
        self.connection = connection
        self.clock = clock or Clock()
        self._request_logger = request_logger
        self._connect = connect or self._create_client
        patience = LOCAL_RETRY_SECONDS if connection.own else REMOTE_RETRY_SECONDS
        self._rate_limiter = RateLimiter(
            RateLimit(_CONCURRENCY, patience=patience), self.clock
        )
        self._note: ContextVar[EgressLogEntry] = ContextVar("note")
        self._opening = asyncio.Lock()
        self._client: AsyncQdrantClient | None = None

    async def ask(self, call: Callable[["AsyncQdrantClient"], Awaitable[T]]) -> T:
        """Return the result of `call`, which makes one request with Qdrant's own
        client.

        It is called again after an error that a retry may solve.

        Raises:
            ServiceCallError: The server cannot be reached, refused, or sent an invalid
                reply.
            ServiceUnavailable: The request could not be recorded in the send log, and
                was not sent.
        """
        async with self._rate_limiter.slot():
            return await self._rate_limiter.call_with_retries(
                partial(self._ask_once, call)
            )

    async def aclose(self) -> None:
        """Close all connections. Idempotent."""
        async with self._opening:
            client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def _ask_once(self, call: Callable[["AsyncQdrantClient"], Awaitable[T]]) -> T:
        client = await self._open()
        about = OutboundRequest("qdrant", self.connection.host, RequestPurpose.VECTORS)
        async with aclosing(EgressLogEntry(self._request_logger, about)) as note:
            token = self._note.set(note)
            try:
                async with asyncio.timeout(self.connection.timeout):
                    answer = await call(client)
            except Exception as error:  # the client passes on errors of its libraries
                if is_connection_failure(error):
                    note.mark_unreachable()
                raise translate_qdrant_error(
                    error, self.connection.timeout, self._server_name
                ) from error
            finally:
                self._note.reset(token)
            note.mark_complete()
            return answer

    @property
    def _server_name(self) -> str:
        return "Your Qdrant server" if self.connection.own else "Qdrant"

    async def _open(self) -> "AsyncQdrantClient":
        async with self._opening:
            if self._client is None:
                self._client = await asyncio.to_thread(self._connect)
            return self._client

    def _create_client(self) -> "AsyncQdrantClient":
        """Import Qdrant's client, which takes a second, and create it; sends nothing.

        The key is sent as a header of our own: the client would warn about addresses
        without https, which `resolve_address` has checked already.
        """
        connection = self.connection
        from qdrant_client import AsyncQdrantClient

        return AsyncQdrantClient(
            url=connection.url,
            timeout=ceil(connection.timeout),
            headers={"api-key": connection.key} if connection.key else {},
            check_compatibility=False,
            event_hooks={
                "request": [self._on_request],
                "response": [self._on_response],
            },
            follow_redirects=False,
            trust_env=not connection.own,
            verify=True
            if connection.url.startswith("https:")
            else create_empty_ssl_context(),
        )

    async def _on_request(self, request: httpx.Request) -> None:
        if self._request_logger is not None:
            await self._note.get().on_request(request)

    async def _on_response(self, response: httpx.Response) -> None:
        """Raise for an error status; the client would drop part of the response."""
        await self._note.get().on_response(response)
        if not response.is_success:
            after = parse_retry_after(response.headers, now=self.clock.today())
            raise translate_qdrant_status(
                response.status_code, self._server_name, after
            )


MARK_FILE_NAME = "mark"
"""File in a collection's folder on this machine that holds its mark."""

QDRANT_KEY_VARIABLE = "QDRANT_API_KEY"


def build_qdrant_connection(
    settings: Settings, env: Mapping[str, str]
) -> QdrantConnection | None:
    """Return the Qdrant server in `settings`; None unless `vectors.keeper` is "qdrant".

    `env` are the environment variables; one of them may hold the key. A key alone turns
    nothing on, and a server may need no key.

    Raises:
        SettingsProblem: `vectors.url` is not an address, or may not be used.
        ServiceUnavailable: The system keyring is locked.
    """
    if settings.vectors.keeper != "qdrant":
        return None
    key = find_key(QDRANT_KEY_VARIABLE, env) or ""
    address = resolve_address(settings, "vectors.url", QDRANT_URL, secret=bool(key))
    is_local = is_loopback_host(parse_host(address))
    return QdrantConnection(address, key, float(settings.vectors.timeout), is_local)


def build_library_key(root: Path, library: str) -> str:
    """Return a text that identifies the library with the id `library` in the folder
    `root`.

    A copy of the library in another folder has the same id, but another key.
    """
    return f"{root}\0{library}"


def build_collection_name(library: str, pipeline: Pipeline, space: str) -> str:
    """Return the name of the collection of one library, pipeline and embedding space.

    `library` is a text of `build_library_key`; the name reveals nothing of it.
    """
    digest = sha256(f"{library}\0{space}".encode()).hexdigest()[:24]
    return f"lrwr-{pipeline.value}-{digest}"


def read_local_mark(index: Path, name: str) -> str:
    """Return the mark, a random text, that this library has stored for the collection
    `name`.

    A collection with another mark is not this library's. `index` is the library's
    folder for indexes. Empty if no mark was stored.
    """
    try:
        return (index / name / MARK_FILE_NAME).read_text(encoding="ascii")[:64]
    except (OSError, UnicodeError):
        return ""


def is_lrwr_collection(name: str) -> bool:
    """Return whether `name` has the form of a collection's name by lrwr, for any
    library.
    """
    return any(name.startswith(f"lrwr-{pipeline.value}-") for pipeline in Pipeline)


async def list_lrwr_collections(http: QdrantHttpClient) -> list[str]:
    """Return the names of all collections on the server that lrwr has created, sorted.

    Raises:
        ServiceUnavailable: The server did not answer, or refused the key.
    """
    listed = await http.ask(lambda client: client.get_collections())
    names = (collection.name for collection in listed.collections)
    return sorted(name for name in names if is_lrwr_collection(name))


async def fetch_collection_mark(http: QdrantHttpClient, name: str) -> tuple[str, str]:
    """Return the mark stored in the collection `name`, and the id of its library.

    The mark is a random text; the library whose local folder has the same one owns the
    collection. Both are empty if the collection does not exist or has no mark.

    Raises:
        ServiceUnavailable: The server did not answer.
    """
    with suppress(CollectionNotFound):
        points = await http.ask(
            lambda client: client.retrieve(
                name, [0], with_payload=True, with_vectors=False
            )
        )
        payload = (points[0].payload or {}) if points else {}
        match payload.get("mark"), payload.get("epoch"):
            case str() as mark, str() as epoch:
                return mark, epoch.rpartition(".")[0]
    return "", ""


async def delete_collection(http: QdrantHttpClient, name: str) -> bool:
    """Delete the collection `name`; return False if it did not exist.

    Raises:
        ServiceUnavailable: The server did not answer or refused.
    """
    if not await http.ask(lambda client: client.collection_exists(name)):
        return False
    with suppress(CollectionNotFound):
        await http.ask(lambda client: client.delete_collection(name))
    return True
