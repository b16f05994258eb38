"""Calls of lrwr's function at Modal, and the file ledger of the ids of calls."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn
from urllib.parse import urlsplit

from lrwr.core.adapters.http.egress_log import EgressLogEntry, EgressLogger
from lrwr.core.adapters.modal import errors
from lrwr.core.model.codec import InvalidData, decode_json, encode_json
from lrwr.core.model.egress import OutboundRequest, RequestPurpose
from lrwr.core.model.errors import LrwrError, StoreProblem
from lrwr.core.ports.jobs import RunnerUnavailable
from lrwr.core.settings.library import write_private_file

if TYPE_CHECKING:
    from modal import Client, Function, FunctionCall

MODAL_URL = "https://api.modal.com"

_FALLBACK_URL = "https://api.modal2.com"
"""Modal's second address, which its client tries if the first cannot be reached."""

MODAL_FUNCTION_NAME = "read_document"
"""Name of lrwr's function in the Modal app."""

MIN_UPLOAD_BYTES_PER_SECOND = 50_000
"""Slowest upload that is waited for; larger files get more time."""

SHUTDOWN_GRACE = 5.0
"""Seconds to cancel a call, and to close the connection."""

MAX_LEDGER_ENTRY_BYTES = 10_000
MAX_CALL_ID_CHARS = 10_000


@dataclass(frozen=True, slots=True)
class ModalCallKey:
    """Identifies what a call computes; calls with equal keys have the same result.

    `document` is the document's id. `part` is "reading" for the call that splits and
    embeds it, "asking" for the one that asks a language model. `content` is the SHA-256
    of the file. `recipe` names the versions of parser, splitter and models. `place` is
    the server, the app and the wire format for which the call's id is valid.
    """

    document: str
    part: str
    content: str
    recipe: str
    place: str


@dataclass(frozen=True, slots=True)
class _LedgerEntry:
    """The JSON of one file: a digest of the call's key, and Modal's id of the call."""

    errand: str
    call: str


class ModalCallLedger:
    """Files with the ids of those calls at Modal whose results were not stored yet.

    So an ingestion that is killed pays for no call twice. For each document and `part`
    (see `ModalCallKey`), only the id of the newest call is stored. The files contain no
    text and no file name.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def find(self, key: ModalCallKey) -> str | None:
        """Return the id of the call with this key, running or finished.

        None if no such call is recorded, or if the file cannot be read.
        """
        entry = self._load(key)
        return entry.call if entry and entry.errand == _digest(key) else None

    def find_outdated(self, key: ModalCallKey) -> str | None:
        """Return the id of the recorded call for the key's document and part, if it has
        another key; else None.

        The file, the recipe or the server has changed since that call.
        """
        entry = self._load(key)
        return entry.call if entry and entry.errand != _digest(key) else None

    def store(self, key: ModalCallKey, call: str) -> None:
        """Record `call`, the id of the call with this key; it replaces the id recorded
        for the same document and part.

        Raises:
            StoreProblem: The file cannot be written.
        """
        entry = encode_json(_LedgerEntry(_digest(key), call))
        try:
            self._folder.mkdir(mode=0o700, exist_ok=True)
            write_private_file(self._path(key.document, key.part), f"{entry}\n")
        except OSError as error:
            raise StoreProblem(
                f"{self._folder} cannot be written: {error.strerror}",
                hint="Check the free disk space and the permissions of the folder.",
            ) from error

    def drop(self, document: str, part: str) -> None:
        """Delete the id recorded for a document and part ("reading" or "asking"), if
        there is one.

        No error is raised. The folder is not deleted even if it is empty: another task
        may be about to write there.
        """
        with suppress(OSError):
            self._path(document, part).unlink(missing_ok=True)

    def _load(self, key: ModalCallKey) -> _LedgerEntry | None:
        path = self._path(key.document, key.part)
        try:
            with path.open("rb") as file:
                text = file.read(MAX_LEDGER_ENTRY_BYTES)
            entry = decode_json(text, _LedgerEntry)
        except (OSError, InvalidData):
            return None
        call = entry.call
        is_valid = 0 < len(call) <= MAX_CALL_ID_CHARS
        return entry if is_valid and call.isascii() and call.isprintable() else None

    def _path(self, document: str, part: str) -> Path:
        name = sha256(f"{part}\n{document}".encode(errors="surrogatepass")).hexdigest()
        return self._folder / f"{name[:32]}.json"


def _digest(key: ModalCallKey) -> str:
    parts = encode_json([key.content, key.recipe, key.place])
    return sha256(parts.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class ModalConnection:
    """Name and server of the app at Modal, and the timing of requests to it.

    `timeout` is the number of seconds without an answer after which Modal counts as
    unreachable. A request for a result waits for `poll` seconds and is then repeated.
    """

    app: str = "lrwr"
    base_url: str = MODAL_URL
    timeout: float = 20.0
    poll: float = 10.0

    @property
    def host(self) -> str:
        """The host name of the server, without a port."""
        return urlsplit(self.base_url).hostname or ""

    @property
    def place(self) -> str:
        """Server and app as one text; ids of calls are valid only for the same text."""
        return f"{self.base_url}/{self.app}"


@dataclass(frozen=True, slots=True)
class ModalToken:
    """The two parts of an API token of Modal."""

    id: str
    secret: str


class ModalFunctionClient:
    """Calls lrwr's function at Modal.

    Nothing is imported or opened before the first call. `token` returns the API token
    and raises `ServiceUnavailable` if nothing may be sent. `ledger` stores the ids of
    calls. With a `request_logger`, requests are recorded in the send log before they
    are sent. After an error that affects all documents, every further call raises the
    same error.
    """

    def __init__(
        self,
        connection: ModalConnection,
        token: Callable[[], ModalToken],
        ledger: ModalCallLedger,
        request_logger: EgressLogger | None = None,
    ) -> None:
        self.connection = connection
        self._token = token
        self._ledger = ledger
        self._request_logger = request_logger
        self._opening = asyncio.Lock()
        self._client: Client | None = None
        self._function: Function[..., Any, Any] | None = None
        self._find_call: Callable[..., FunctionCall[Any]] | None = None
        self._error: RunnerUnavailable | None = None

    async def check(self) -> None:
        """Check that Modal accepts the token and that the function is deployed.

        Raises:
            RunnerUnavailable: The token is refused, the function is not deployed, or
                Modal cannot be reached.
        """
        await self._open_once()

    async def fetch_earlier(self, key: ModalCallKey) -> bytes | None:
        """Return the message with the result of an earlier call with this key; wait if
        the call still runs.

        None if there was no such call, or if Modal has deleted its result.

        Raises:
            RunnerUnavailable: Modal cannot be used.
            UnreadableDocument: The container failed.
        """
        call = await asyncio.to_thread(self._ledger.find, key)
        if call is None:
            return None
        await self._open_once()
        async with self._log_request(0) as entry:
            return await self._wait(
                key, self._get_call(call), entry, is_from_ledger=True
            )

    async def call(self, key: ModalCallKey, body: bytes) -> bytes:
        """Call the function with the message `body`, wait, and return the result's
        message.

        The call's id is stored meanwhile. A call for an earlier state of the document
        is cancelled.

        Raises:
            RunnerUnavailable: Modal cannot be used.
            UnreadableDocument: The container failed.
            StoreProblem: The id cannot be stored; the call was cancelled.
        """
        function = await self._open_once()
        await self._cancel_outdated(key)
        async with self._log_request(len(body)) as entry:
            upload_seconds = len(body) / MIN_UPLOAD_BYTES_PER_SECOND
            try:
                async with asyncio.timeout(self.connection.timeout + upload_seconds):
                    call = await function.spawn.aio(body)
            except Exception as error:  # noqa: BLE001 - Modal lets any error through
                self._fail(key, error, entry)
            await self._store_id(key, call)
            result = await self._wait(key, call, entry, is_from_ledger=False)
        if result is None:
            raise LookupError("Modal does not know the call that was just made")
        return result

    async def drop(self, document: str, part: str) -> None:
        """Delete the recorded id of the call for a document and part ("reading" or
        "asking").

        Do so when its result was stored, or cannot be used.
        """
        await asyncio.to_thread(self._ledger.drop, document, part)

    def stop(self, error: RunnerUnavailable) -> None:
        """Make every later call raise `error`, because it affects all documents.

        A second call of `stop` changes nothing.
        """
        self._error = self._error or error

    async def aclose(self) -> None:
        """Close the connection. Idempotent."""
        client, self._client, self._function = self._client, None, None
        if client is not None:
            await _close(client)

    @asynccontextmanager
    async def _log_request(self, size: int) -> AsyncIterator[EgressLogEntry]:
        """Yield the send log entry of a request with `size` bytes, which it records."""
        about = OutboundRequest("modal", self.connection.host, RequestPurpose.READING)
        async with aclosing(EgressLogEntry(self._request_logger, about)) as entry:
            if self._request_logger is not None:
                await entry.record_request(size)
            yield entry

    async def _open_once(self) -> "Function[..., Any, Any]":
        async with self._opening:
            if self._error is not None:
                raise self._error
            if self._function is None:
                self._function = await self._open()
            return self._function

    async def _open(self) -> "Function[..., Any, Any]":
        connection = self.connection
        token = await asyncio.to_thread(self._token)
        modal = await asyncio.to_thread(_import_modal, connection.base_url)
        self._find_call = modal.FunctionCall.from_id
        async with self._log_request(0) as entry:
            try:
                async with asyncio.timeout(connection.timeout):
                    self._client = await modal.Client.from_credentials.aio(
                        token.id, token.secret
                    )
                    function: Function[..., Any, Any] = modal.Function.from_name(
                        connection.app, MODAL_FUNCTION_NAME, client=self._client
                    )
                    await function.hydrate.aio()
            except Exception as error:  # noqa: BLE001 - Modal lets any error through
                self._fail(None, error, entry)
            entry.record_response(ok=True, is_complete=True, received=int)
        return function

    def _get_call(self, call: str) -> "FunctionCall[Any]":
        if self._find_call is None:
            raise RuntimeError("open the connection first")
        return self._find_call(call, client=self._client)

    async def _wait(
        self,
        key: ModalCallKey,
        call: "FunctionCall[Any]",
        entry: EgressLogEntry,
        *,
        is_from_ledger: bool,
    ) -> bytes | None:
        """Return a call's result; None if it is an earlier one that Modal has forgotten."""
        try:
            output = await self._poll(call)
        except asyncio.CancelledError:
            await self._cancel(key, call)
            raise
        except Exception as error:  # a container may have raised anything
            if not errors.is_unknown_call(error):
                await self._fail_waiting(key, error, entry)
            await self.drop(key.document, key.part)
            if not is_from_ledger:
                raise errors.translate_modal_document_error(
                    key.document, error
                ) from error
            entry.record_response(ok=False, is_complete=False, received=int)
            return None
        body = output if isinstance(output, bytes) else b""
        entry.record_response(ok=True, is_complete=True, received=lambda: len(body))
        return body

    async def _poll(self, call: "FunctionCall[Any]") -> object:
        """Wait for a result in requests of `poll` seconds each.

        A request that ends without a result shows that Modal is still there; one that
        does not end raises `TimeoutError`.
        """
        connection = self.connection
        while True:
            deadline = asyncio.timeout(connection.poll + connection.timeout)
            try:
                async with deadline:
                    return await call.get.aio(timeout=connection.poll)
            except TimeoutError:
                if deadline.expired():
                    raise

    async def _cancel_outdated(self, key: ModalCallKey) -> None:
        call = await asyncio.to_thread(self._ledger.find_outdated, key)
        if call is not None:
            await self._cancel(key, self._get_call(call))

    async def _store_id(self, key: ModalCallKey, call: "FunctionCall[Any]") -> None:
        """Store a call's id; cancel the call if that fails or the task is cancelled."""
        storing = asyncio.to_thread(self._ledger.store, key, call.object_id)
        try:
            await _finish(storing)
        except BaseException:
            await self._cancel(key, call)
            raise

    async def _cancel(self, key: ModalCallKey, call: "FunctionCall[Any]") -> None:
        """Cancel a call and drop its id, since its result will never come."""

        async def cancel() -> None:
            try:
                with suppress(Exception):
                    async with asyncio.timeout(SHUTDOWN_GRACE):
                        await call.cancel.aio()
            finally:
                await self.drop(key.document, key.part)

        await _finish(cancel())

    async def _fail_waiting(
        self, key: ModalCallKey, error: Exception, entry: EgressLogEntry
    ) -> NoReturn:
        # After an outage the id stays stored: the next run fetches the result.
        connection = self.connection
        outage = errors.translate_modal_outage(
            error, connection.app, connection.timeout
        )
        if outage is None:
            await self.drop(key.document, key.part)
        self._fail(key, error, entry)

    def _fail(
        self, key: ModalCallKey | None, error: Exception, entry: EgressLogEntry
    ) -> NoReturn:
        """Raise the error with a message for the user, for an error of Modal's client.

        An error that affects all documents is stored, so that later calls raise it.
        `key` is None where no document is processed yet.
        """
        connection = self.connection
        outage = errors.translate_modal_outage(
            error, connection.app, connection.timeout
        )
        if outage is None and key is not None:
            entry.record_response(ok=False, is_complete=False, received=int)
            raise errors.translate_modal_document_error(key.document, error) from error
        outage = outage or errors.build_unexpected_modal_error(error)
        self.stop(outage)
        if outage.retryable:
            entry.mark_unreachable()
        else:
            entry.record_response(ok=False, is_complete=False, received=int)
        raise outage from error


@asynccontextmanager
async def open_modal_client(
    connection: ModalConnection, token: ModalToken
) -> "AsyncIterator[Client]":
    """Inside this context, provide a client of Modal's API.

    Errors inside the context are raised again with messages for the user. The timeout
    of `connection` applies only to opening it, not to the context.

    Raises:
        RunnerUnavailable: Modal cannot be reached, or refuses.
    """
    modal = await asyncio.to_thread(_import_modal, connection.base_url)
    client: Client | None = None
    try:
        async with asyncio.timeout(connection.timeout):
            client = await modal.Client.from_credentials.aio(token.id, token.secret)
            await client.hello.aio()
        yield client
    except Exception as error:  # Modal lets errors of its libraries through
        if isinstance(error, LrwrError):
            raise
        raise errors.translate_modal_deploy_error(error, connection.timeout) from error
    finally:
        if client is not None:
            await _close(client)


async def _finish(work: Coroutine[Any, Any, None]) -> None:
    """Run `work` to its end, even if this task is cancelled; then raise the cancellation."""
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        raise cancelled from (None if task.cancelled() else task.exception())
    task.result()


async def _close(client: "Client") -> None:
    with suppress(Exception):
        async with asyncio.timeout(SHUTDOWN_GRACE):
            await client.close.aio()


def _import_modal(base_url: str) -> Any:
    """Import Modal's client, which takes half a second, configured for one server.

    It reads a file and variables of its own when it is imported. Only lrwr's settings
    and keys may decide which server is used with which token, so they are set first.
    """
    addresses = f"{MODAL_URL},{_FALLBACK_URL}" if base_url == MODAL_URL else base_url
    os.environ.setdefault("MODAL_CONFIG_PATH", os.devnull)
    os.environ["MODAL_SERVER_URL"] = addresses
    import modal

    return modal
