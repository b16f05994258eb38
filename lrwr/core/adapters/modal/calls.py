"""Calls of the function that is deployed at Modal: made once, waited for, taken up."""

import asyncio
import json
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
from lrwr.core.model.egress import OutboundRequest, RequestPurpose
from lrwr.core.model.errors import LrwrError, StoreProblem
from lrwr.core.ports.jobs import RunnerUnavailable
from lrwr.core.settings.library import write_private_file

if TYPE_CHECKING:
    from modal import Client, Function, FunctionCall

MAX_LEDGER_ENTRY_BYTES = 10_000
"""Bytes of an entry that is read: ours are shorter."""
MAX_CALL_ID_CHARS = 10_000
"""Characters of an id that is believed."""


@dataclass(frozen=True, slots=True)
class ModalCallKey:
    """What a call is for. Another `content`, `recipe` or `place` is another errand.

    `part` tells apart what is asked of one document. `place` names the server and the
    app: an id means something there alone.
    """

    document: str
    part: str
    content: str
    recipe: str
    place: str


class ModalCallLedger:
    """Keeps the ids of calls, a file each, in a folder of the library's own.

    One call is kept for each part of each document, by its newest errand. No word of
    the manuscript is in it, and no name of a file.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def find(self, errand: ModalCallKey) -> str | None:
        """Return the call that is under way, or was made, for just this errand."""
        call, mark = self._kept(errand)
        return call if mark == _mark(errand) else None

    def outdated(self, errand: ModalCallKey) -> str | None:
        """Return the call for what the document was before, if any."""
        call, mark = self._kept(errand)
        return call if mark and mark != _mark(errand) else None

    def keep(self, errand: ModalCallKey, call: str) -> None:
        """Note a call, in place of the one that is noted.

        Raises:
            StoreProblem: It cannot be noted.
        """
        entry = json.dumps({"errand": _mark(errand), "call": call})
        try:
            self._folder.mkdir(mode=0o700, exist_ok=True)
            write_private_file(self._path(errand.document, errand.part), f"{entry}\n")
        except OSError as error:
            raise StoreProblem(
                f"{self._folder} cannot be used: {error.strerror}",
                hint="Check the disk and your rights there.",
            ) from error

    def drop(self, document: str, part: str) -> None:
        """Forget the call of a part of a document.

        The folder stays, also when it is empty: another task may be about to write.
        """
        with suppress(OSError):
            self._path(document, part).unlink(missing_ok=True)

    def _kept(self, errand: ModalCallKey) -> tuple[str, str]:
        path = self._path(errand.document, errand.part)
        entry: object = None
        with suppress(OSError, ValueError, RecursionError), path.open("rb") as file:
            entry = json.loads(file.read(MAX_LEDGER_ENTRY_BYTES))
        if not isinstance(entry, dict):
            return "", ""
        call, mark = entry.get("call"), entry.get("errand")
        if not isinstance(call, str) or not isinstance(mark, str):
            return "", ""
        believed = (
            0 < len(call) <= MAX_CALL_ID_CHARS and call.isascii() and call.isprintable()
        )
        return (call, mark) if believed else ("", "")

    def _path(self, document: str, part: str) -> Path:
        name = sha256(f"{part}\n{document}".encode(errors="surrogatepass")).hexdigest()
        return self._folder / f"{name[:32]}.json"


def _mark(errand: ModalCallKey) -> str:
    parts = [errand.content, errand.recipe, errand.place]
    return sha256(json.dumps(parts).encode()).hexdigest()


MODAL_URL = "https://api.modal.com"
_SPARE = "https://api.modal2.com"
"""Modal's other address, which its client tries where the first cannot be reached."""
MODAL_FUNCTION_NAME = "read_document"
"""What the app's function is called."""
MIN_UPLOAD_BYTES_PER_SECOND = 50_000
"""Bytes a second that a file is sent with at least."""
SHUTDOWN_GRACE = 5.0
"""Seconds that calls have to be cancelled, and the connection to be closed."""


@dataclass(frozen=True, slots=True)
class ModalConnection:
    """Which app, where Modal is, and how long it may be silent, in seconds.

    One request for a result waits for it for `poll` seconds; then the next one does.
    """

    app: str = "lrwr"
    base_url: str = MODAL_URL
    timeout: float = 20.0
    poll: float = 10.0

    @property
    def host(self) -> str:
        """Name the machine that is asked."""
        return urlsplit(self.base_url).hostname or ""

    @property
    def place(self) -> str:
        """Name where an id of a call means something."""
        return f"{self.base_url}/{self.app}"


@dataclass(frozen=True, slots=True)
class ModalToken:
    """Both parts of a token of Modal's."""

    id: str
    secret: str


class ModalFunctionClient:
    """Calls the function. Nothing is imported or opened before the first call.

    `token` gives the token when it is needed, and raises `ServiceUnavailable` where
    nothing may be sent. With `request_logger` each call is noted before it leaves. Once Modal
    itself fails, nothing more is tried.
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
        self._away: RunnerUnavailable | None = None

    async def look(self) -> None:
        """See whether the token is taken, and the function is there.

        Raises:
            RunnerUnavailable: It is not.
        """
        await self._opened()

    async def taken_up(self, errand: ModalCallKey) -> bytes | None:
        """Return what an earlier call for this errand gave, waiting if it must.

        None where there was none, or Modal does not know it any more.

        Raises:
            RunnerUnavailable: Modal cannot be asked.
            UnreadableDocument: The container failed.
        """
        call = await asyncio.to_thread(self._ledger.find, errand)
        if call is None:
            return None
        await self._opened()
        async with self._noted(0) as note:
            return await self._waited(
                errand, self._call_named(call), note, is_known=True
            )

    async def made(self, errand: ModalCallKey, body: bytes) -> bytes:
        """Make a call, keep its id, wait for it, and return what it gave.

        Raises:
            RunnerUnavailable: Modal cannot be asked.
            UnreadableDocument: The container failed.
            StoreProblem: The id cannot be kept; the call is cancelled.
        """
        function = await self._opened()
        await self._cancel_outdated(errand)
        async with self._noted(len(body)) as note:
            patience = self.connection.timeout + len(body) / MIN_UPLOAD_BYTES_PER_SECOND
            try:
                async with asyncio.timeout(patience):
                    call = await function.spawn.aio(body)
            except Exception as error:  # noqa: BLE001 - the client lets anything through
                self._fail(errand, error, note)
            await self._keep(errand, call)
            waited = await self._waited(errand, call, note, is_known=False)
        if waited is None:
            raise LookupError("a call that was just made is not known")
        return waited

    async def drop(self, document: str, part: str) -> None:
        """Forget the call of a part of a document: what it gave is kept, or useless."""
        await asyncio.to_thread(self._ledger.drop, document, part)

    def give_up(self, error: RunnerUnavailable) -> None:
        """Try nothing more: no document can be read there."""
        self._away = self._away or error

    async def aclose(self) -> None:
        """Close the connection."""
        client, self._client, self._function = self._client, None, None
        if client is not None:
            await _closed(client)

    @asynccontextmanager
    async def _noted(self, size: int) -> AsyncIterator[EgressLogEntry]:
        """Lend out the note of what is about to leave.

        Raises:
            ServiceUnavailable: It cannot be noted: nothing must leave.
        """
        about = OutboundRequest("modal", self.connection.host, RequestPurpose.READING)
        async with aclosing(EgressLogEntry(self._request_logger, about)) as note:
            if self._request_logger is not None:
                await note.record_request(size)
            yield note

    async def _opened(self) -> "Function[..., Any, Any]":
        """Return the function, found out at the first call.

        Raises:
            RunnerUnavailable: Modal cannot be asked.
        """
        async with self._opening:
            if self._away is not None:
                raise self._away
            if self._function is None:
                self._function = await self._open()
            return self._function

    async def _open(self) -> "Function[..., Any, Any]":
        about = self.connection
        token = await asyncio.to_thread(self._token)
        modal = await asyncio.to_thread(_modal, about.base_url)
        self._find_call = modal.FunctionCall.from_id
        async with self._noted(0) as note:
            try:
                async with asyncio.timeout(about.timeout):
                    first, second = token.id, token.secret
                    self._client = await modal.Client.from_credentials.aio(
                        first, second
                    )
                    function: Function[..., Any, Any] = modal.Function.from_name(
                        about.app, MODAL_FUNCTION_NAME, client=self._client
                    )
                    await function.hydrate.aio()
            except Exception as error:  # noqa: BLE001 - the client lets anything through
                self._fail(None, error, note)
            note.record_response(ok=True, is_complete=True, received=int)
        return function

    def _call_named(self, call: str) -> "FunctionCall[Any]":
        if self._find_call is None:
            raise RuntimeError("a call is looked for after the connection is opened")
        return self._find_call(call, client=self._client)

    async def _waited(
        self,
        errand: ModalCallKey,
        call: "FunctionCall[Any]",
        note: EgressLogEntry,
        *,
        is_known: bool,
    ) -> bytes | None:
        """Return what a call gives; None where it is one of a time ago, and unknown."""
        try:
            output = await self._polled(call)
        except asyncio.CancelledError:
            await self._stop(errand, call)
            raise
        except Exception as error:  # what a container raised is anything
            if not errors.is_unknown_call(error):
                await self._fail_waiting(errand, error, note)
            await self.drop(errand.document, errand.part)
            if not is_known:
                raise errors.translate_modal_document_error(
                    errand.document, error
                ) from error
            note.record_response(ok=False, is_complete=False, received=int)
            return None
        body = output if isinstance(output, bytes) else b""
        note.record_response(ok=True, is_complete=True, received=lambda: len(body))
        return body

    async def _polled(self, call: "FunctionCall[Any]") -> object:
        about = self.connection
        while True:
            patience = asyncio.timeout(about.poll + about.timeout)
            try:
                async with patience:
                    return await call.get.aio(timeout=about.poll)
            except TimeoutError:
                if patience.expired():
                    raise

    async def _cancel_outdated(self, errand: ModalCallKey) -> None:
        """Stop the call for what the document was before: nobody waits for it."""
        call = await asyncio.to_thread(self._ledger.outdated, errand)
        if call is not None:
            await self._stop(errand, self._call_named(call))

    async def _keep(self, errand: ModalCallKey, call: "FunctionCall[Any]") -> None:
        """Note a call; one that is not noted, or not wanted by then, is stopped."""
        request_logger = asyncio.to_thread(self._ledger.keep, errand, call.object_id)
        try:
            await _to_its_end(request_logger)
        except BaseException:
            await self._stop(errand, call)
            raise

    async def _stop(self, errand: ModalCallKey, call: "FunctionCall[Any]") -> None:
        """Cancel a call and forget it: who took it up would wait for nothing."""

        async def stop() -> None:
            try:
                with suppress(Exception):
                    async with asyncio.timeout(SHUTDOWN_GRACE):
                        await call.cancel.aio()
            finally:
                await self.drop(errand.document, errand.part)

        await _to_its_end(stop())

    async def _fail_waiting(
        self, errand: ModalCallKey, error: Exception, note: EgressLogEntry
    ) -> NoReturn:
        if (
            errors.translate_modal_outage(
                error, self.connection.app, self.connection.timeout
            )
            is None
        ):
            await self.drop(errand.document, errand.part)
        self._fail(errand, error, note)

    def _fail(
        self, errand: ModalCallKey | None, error: Exception, note: EgressLogEntry
    ) -> NoReturn:
        """Raise what an error of Modal's client means, and remember one for all."""
        about = self.connection
        refused = errors.translate_modal_outage(error, about.app, about.timeout)
        if refused is None and errand is not None:
            note.record_response(ok=False, is_complete=False, received=int)
            raise errors.translate_modal_document_error(
                errand.document, error
            ) from error
        refused = refused or errors.build_unexpected_modal_error(error)
        self._away = self._away or refused
        if refused.retryable:
            note.mark_unreachable()
        else:
            note.record_response(ok=False, is_complete=False, received=int)
        raise refused from error


@asynccontextmanager
async def open_modal_client(
    connection: ModalConnection, token: ModalToken
) -> "AsyncIterator[Client]":
    """Lend out a connection, and say what goes wrong meanwhile in the writer's words.

    Only its opening is bounded in time.

    Raises:
        RunnerUnavailable: Modal cannot be asked, or refuses.
    """
    modal = await asyncio.to_thread(_modal, connection.base_url)
    client: Client | None = None
    try:
        async with asyncio.timeout(connection.timeout):
            client = await modal.Client.from_credentials.aio(token.id, token.secret)
            await client.hello.aio()
        yield client
    except Exception as error:  # the client lets anything of its libraries through
        if isinstance(error, LrwrError):
            raise
        raise errors.translate_modal_deploy_error(error, connection.timeout) from error
    finally:
        if client is not None:
            await _closed(client)


async def _to_its_end(work: Coroutine[Any, Any, None]) -> None:
    """Wait until something is done; a cancellation meanwhile holds after that."""
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


async def _closed(client: "Client") -> None:
    with suppress(Exception):
        async with asyncio.timeout(SHUTDOWN_GRACE):
            await client.close.aio()


def _modal(base_url: str) -> Any:
    """Import Modal's client, which takes half a second, for this server and no other.

    It reads variables and a file of its own when it is imported; which server it asks
    and with what token is told by lrwr's settings and keys alone.
    """
    address = f"{MODAL_URL},{_SPARE}" if base_url == MODAL_URL else base_url
    os.environ.setdefault("MODAL_CONFIG_PATH", os.devnull)
    os.environ["MODAL_SERVER_URL"] = address
    import modal

    return modal
