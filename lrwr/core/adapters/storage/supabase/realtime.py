"""Hearing from Supabase Realtime that a library has changed: a wake-up, and no more.

What an event says is never used, only that one came: what has changed is then asked for
as ever. Nothing needs Realtime. A project that has none, refuses or falls silent is left
in peace for longer and longer, and working copies look every few seconds, as ever.

Supabase's own client is not used: it has no say in which proxy is taken, follows a
redirect with the token, gives up for good after five attempts, takes a silent server
for a living one, and writes what it hears to the log, which is the writer's screen.
Of the protocol four messages are needed:
https://supabase.com/docs/guides/realtime/protocol.
"""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from contextlib import aclosing, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx

from lrwr.core.adapters.auth.project import SupabaseConnection
from lrwr.core.adapters.http.egress_log import EgressLogEntry, EgressLogger
from lrwr.core.model.egress import OutboundRequest, RequestPurpose

if TYPE_CHECKING:
    from websockets.asyncio.client import connect
    from websockets.asyncio.connection import Connection

HEARTBEAT_INTERVAL = 25.0
"""Seconds between two signs of life, as Realtime asks for; the server answers each."""

FIRST_RECONNECT_DELAY = 1.0
"""Seconds before a connection that was lost is sought again; then twice as many."""

MAX_RECONNECT_DELAY = 600.0
"""Seconds after which it is sought again at the latest."""

CLOSE_TIMEOUT = 0.5
"""Seconds that saying goodbye may take."""

_JOIN = "1"
"""Names the request to join, so that its reply is known."""

SleepFunction = Callable[[float], Awaitable[None]]
"""Waits so many seconds."""


class ChangeSignal:
    """That something has changed elsewhere, for whoever waits for that."""

    def __init__(self) -> None:
        self._came = asyncio.Event()

    def came(self) -> None:
        """Say that something has changed."""
        self._came.set()

    async def wait(self, least: float, most: float) -> None:
        """Wait until something has changed since the last wait, or `most` seconds.

        Never less than `least` seconds, however often something changes.
        """
        await asyncio.sleep(least)
        with suppress(TimeoutError):
            async with asyncio.timeout(most - least):
                await self._came.wait()
        self._came.clear()


@dataclass(frozen=True, slots=True)
class RealtimeMessage:
    """One message of the protocol; its fields are empty where it says nothing there."""

    event: str = ""
    ref: str = ""
    status: str = ""


class RealtimeUnavailable(Exception):
    """Realtime does not tell what it is asked for, or not any more."""


class RealtimeListener:
    """Calls `on_change` whenever Realtime reports a change of a library's row.

    Nothing is done before `begin`. `token` is asked anew for each connection and at
    each beat; no `request_logger` where nothing is noted. Nothing is raised, and nothing said.
    """

    def __init__(
        self,
        project: SupabaseConnection,
        library: str,
        token: Callable[[], Awaitable[str]],
        on_change: Callable[[], None],
        *,
        request_logger: EgressLogger | None = None,
        sleep: SleepFunction = asyncio.sleep,
    ) -> None:
        self._project = project
        self._library = library
        self._topic = f"realtime:lrwr-{library}"
        self._token = token
        self._came = on_change
        self._request_logger = None if project.own else request_logger
        self._rest = sleep
        self._task: asyncio.Task[None] | None = None
        self._pause = FIRST_RECONNECT_DELAY
        self._heard = False
        self._beats = 0

    def begin(self) -> None:
        """Listen from now on, in the running loop. Safe to call again."""
        if self._task is None:
            self._task = asyncio.create_task(self._listen())

    async def aclose(self) -> None:
        """Stop listening. Safe to call twice."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task], timeout=2 * CLOSE_TIMEOUT)

    async def _listen(self) -> None:
        """Connect again and again."""
        while True:
            with suppress(Exception):  # whatever it is, copies look by themselves
                await self._connection()
            await self._rest(self._pause)
            self._pause = min(2 * self._pause, MAX_RECONNECT_DELAY)

    async def _connection(self) -> None:
        """Listen on one connection, until it is lost."""
        token = await self._token()
        dialled = await asyncio.to_thread(_dialled, self._project)
        join = self._joining(token)
        about = OutboundRequest("supabase", self._project.host, RequestPurpose.RECORDS)
        async with aclosing(EgressLogEntry(self._request_logger, about)) as note:
            if self._request_logger is not None:
                await note.record_request(len(join.encode()))
            try:
                reached = await dialled
            except Exception:
                note.mark_unreachable()
                raise
            async with reached as socket:
                async with asyncio.timeout(self._project.timeout):
                    await self._join(socket, join, note)
                await note.aclose()  # it is answered, and goes on for hours
                async with asyncio.TaskGroup() as group:
                    group.create_task(self._hear(socket))
                    group.create_task(self._beat(socket, token))

    async def _join(
        self, socket: "Connection", join: str, note: EgressLogEntry
    ) -> None:
        """Ask for what is to be told, and wait until it is promised."""
        await socket.send(join)
        joined, size = await self._reply(socket)
        note.record_response(ok=joined, is_complete=True, received=lambda: size)
        _insist(joined)
        self._heard = True

    async def _reply(self, socket: "Connection") -> tuple[bool, int]:
        """Return whether it is promised, and how many bytes that took."""
        received = 0
        while True:
            frame = await socket.recv(decode=False)
            received += len(frame)
            realtime_message = self._told(frame)
            if _is_over(realtime_message) or (
                realtime_message.event == "phx_reply" and realtime_message.ref == _JOIN
            ):
                return realtime_message.status == "ok", received

    async def _hear(self, socket: "Connection") -> None:
        async for frame in socket:
            self._heard = True
            realtime_message = self._told(frame)
            _insist(not _is_over(realtime_message))
            if realtime_message.event == "postgres_changes":
                self._came()
        raise RealtimeUnavailable

    async def _beat(self, socket: "Connection", token: str) -> None:
        """Say that somebody listens, and who; end it where nobody answers."""
        while True:
            await self._rest(HEARTBEAT_INTERVAL)
            _insist(self._heard)
            self._heard = False
            newest = await self._token()
            if newest != token:
                token = newest
                payload = {"access_token": token}
                await socket.send(self._message("access_token", payload))
            self._beats += 1
            await socket.send(_written("phoenix", "heartbeat", {}, f"b{self._beats}"))
            self._pause = FIRST_RECONNECT_DELAY  # it has held for a while

    def _joining(self, token: str) -> str:
        row = {
            "event": "*",
            "schema": "public",
            "table": "lrwr_library",
            "filter": f"id=eq.{self._library}",
        }
        config = {
            "broadcast": {"ack": False, "self": False},
            "presence": {"enabled": False, "key": ""},
            "postgres_changes": [row],
            "private": False,
        }
        payload = {"config": config, "access_token": token}
        return self._message("phx_join", payload)

    def _message(self, event: str, payload: dict[str, Any]) -> str:
        return _written(self._topic, event, payload, _JOIN)

    def _told(self, frame: str | bytes) -> RealtimeMessage:
        """Return what a frame says of the library; nothing, where it makes no sense."""
        try:
            message = json.loads(frame)
        except (ValueError, RecursionError):
            return RealtimeMessage()
        if not isinstance(message, dict) or message.get("topic") != self._topic:
            return RealtimeMessage()
        payload = message.get("payload")
        status = payload.get("status") if isinstance(payload, dict) else ""
        return RealtimeMessage(
            str(message.get("event")), str(message.get("ref")), str(status)
        )


def _is_over(message: RealtimeMessage) -> bool:
    """Say whether a message means that no change will be told."""
    if message.event == "system":
        return message.status == "error"
    return message.event in ("phx_error", "phx_close")


def _insist(holds: bool) -> None:
    if not holds:
        raise RealtimeUnavailable


def _written(topic: str, event: str, payload: dict[str, Any], ref: str) -> str:
    message = {"topic": topic, "event": event, "payload": payload, "ref": ref}
    if topic != "phoenix":
        message["join_ref"] = _JOIN
    return json.dumps(message)


def _dialled(project: SupabaseConnection) -> "connect":
    """Prepare a connection; importing what it needs takes a tenth of a second."""
    from websockets.asyncio.client import connect

    class Straight(connect):
        def process_redirect(self, exc: Exception) -> Exception:
            return exc  # what is sent is for one server

    trust = not project.own
    secure = project.url.startswith("https:")
    query = urlencode({"apikey": project.key, "vsn": "1.0.0"})
    return Straight(
        f"ws{project.url.removeprefix('http')}/realtime/v1/websocket?{query}",
        ssl=httpx.create_ssl_context(trust_env=trust) if secure else None,
        proxy=_proxy(project.url) if trust else None,
        user_agent_header="lrwr",
        compression=None,
        open_timeout=project.timeout,
        close_timeout=CLOSE_TIMEOUT,
        ping_interval=None,  # the protocol has a beat of its own
        logger=logging.Logger("lrwr.waking", logging.CRITICAL + 1),
    )


def _proxy(url: str) -> str | None:
    """Return the proxy that a request of that address would take."""
    parts = urlsplit(url)
    if proxy_bypass(parts.netloc):
        return None
    proxies = getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    return f"http://{proxy}" if proxy and "://" not in proxy else proxy
