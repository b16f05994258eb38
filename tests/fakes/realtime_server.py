"""Supabase Realtime on this machine, as far as lrwr speaks with it: Phoenix over JSON.

It tells of a change when a test says that there was one. With `behind` all that is not
Realtime's goes to another server, as in a project, where one address has everything.
"""

import asyncio
import json
import logging
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, TypeAlias
from urllib.parse import parse_qs, urlsplit

from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

Json: TypeAlias = Any

PATH = "/realtime/v1/websocket"


@dataclass
class RealtimeServer:
    """A Realtime. `key` is asked for unless it is empty; `tokens`, if any, are let in.

    A `status` answers every attempt to connect, with `location` if there is one. While
    it is `silent` nothing that comes is answered.
    """

    key: str = ""
    tokens: frozenset[str] = frozenset()
    status: int = 0
    location: str = ""
    silent: bool = False
    paths: list[str] = field(default_factory=list)
    _came: "defaultdict[str, asyncio.Queue[Json]]" = field(
        default_factory=lambda: defaultdict(asyncio.Queue), init=False
    )
    _listening: dict[ServerConnection, Json] = field(default_factory=dict, init=False)
    _server: Server | None = field(default=None, init=False)
    _port: int = field(default=0, init=False)

    @property
    def url(self) -> str:
        """The address of the project that it is of."""
        return f"http://127.0.0.1:{self._port}"

    @property
    def port(self) -> int:
        """Where it is; the same again after a pause."""
        return self._port

    async def start(self) -> None:
        """Take connections."""
        self._server = await serve(
            self._talk,
            "127.0.0.1",
            self._port,
            process_request=self._let_in,
            logger=logging.Logger("realtime", logging.CRITICAL + 1),
        )
        self._port = next(iter(self._server.sockets)).getsockname()[1]

    async def stop(self) -> None:
        """Take none, and end those that are open."""
        if self._server is not None:
            self._server.close()
            await self._server.wait_closed()

    async def asked(self, event: str) -> Json:
        """Return the next message of that kind, once it comes."""
        return await self._came[event].get()

    def was_asked(self, event: str) -> bool:
        """Say whether a message of that kind waits."""
        return not self._came[event].empty()

    async def changed(self, library: str) -> None:
        """Tell those who asked for it that a library's row was changed."""
        for connection, join in list(self._listening.items()):
            (wanted,) = join["payload"]["config"]["postgres_changes"]
            if wanted["filter"] == f"id=eq.{library}":
                row = {"type": "UPDATE", "record": {"id": library, "version": 1}}
                told = {"ids": [1], "data": {**wanted, **row}}
                await _send(connection, join["topic"], "postgres_changes", told)

    async def tell(self, event: str, payload: Json) -> None:
        """Tell those who listen something else of what they listen to."""
        for connection, join in list(self._listening.items()):
            await _send(connection, join["topic"], event, payload)

    async def say(self, frame: str | bytes) -> None:
        """Send those who listen a frame as it is."""
        for connection in list(self._listening):
            await connection.send(frame)

    async def _let_in(
        self, connection: ServerConnection, request: Request
    ) -> Response | None:
        self.paths.append(request.path)
        asked = parse_qs(urlsplit(request.path).query)
        right = not self.key or asked.get("apikey") == [self.key]
        status = self.status or (0 if right else HTTPStatus.UNAUTHORIZED)
        if not status:
            return None
        response = connection.respond(HTTPStatus(status), "no\n")
        if self.location:
            response.headers["Location"] = self.location
        return response

    async def _talk(self, connection: ServerConnection) -> None:
        with suppress(ConnectionClosed):
            async for frame in connection:
                message = json.loads(frame)
                if not self.silent:
                    await self._answer(connection, message)
                self._came[message["event"]].put_nowait(message)
        self._listening.pop(connection, None)

    async def _answer(self, connection: ServerConnection, message: Json) -> None:
        topic, ref = message["topic"], message["ref"]
        if message["event"] not in ("phx_join", "heartbeat"):
            return
        answer: Json = {"status": "ok", "response": {}}
        if message["event"] == "phx_join":
            if self.tokens and message["payload"]["access_token"] not in self.tokens:
                answer = {"status": "error", "response": {"reason": "InvalidJWTToken"}}
            else:
                self._listening[connection] = message
        await _send(connection, topic, "phx_reply", answer, ref)


async def _send(
    connection: ServerConnection,
    topic: str,
    event: str,
    payload: Json,
    ref: str | None = None,
) -> None:
    message = {"topic": topic, "event": event, "payload": payload, "ref": ref}
    await connection.send(json.dumps(message))


@asynccontextmanager
async def realtime_server(key: str = "") -> AsyncIterator[RealtimeServer]:
    """Run a Realtime."""
    server = RealtimeServer(key)
    await server.start()
    try:
        yield server
    finally:
        await server.stop()


@asynccontextmanager
async def one_project(rest: str, realtime: RealtimeServer) -> AsyncIterator[str]:
    """Put what is at `rest` and a Realtime behind one address, and return that."""
    other = urlsplit(rest).port
    assert other is not None

    async def passed(
        reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        head = await reader.readline()
        port = realtime.port if PATH.encode() in head else other
        back, forth = await asyncio.open_connection("127.0.0.1", port)
        forth.write(head)
        async with asyncio.TaskGroup() as group:
            group.create_task(_pour(reader, forth))
            group.create_task(_pour(back, writer))

    async with _listening_socket(passed) as port:
        yield f"http://127.0.0.1:{port}"


@asynccontextmanager
async def a_proxy() -> AsyncIterator[tuple[str, "asyncio.Queue[str]"]]:
    """A proxy that refuses, and the first line of each request to it."""
    came: asyncio.Queue[str] = asyncio.Queue()

    async def refuse(
        reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        came.put_nowait((await reader.readline()).decode().strip())
        writer.write(b"HTTP/1.1 403 no\r\ncontent-length: 0\r\n\r\n")
        await writer.drain()
        writer.close()

    async with _listening_socket(refuse) as port:
        yield f"http://127.0.0.1:{port}", came


@asynccontextmanager
async def mute_server() -> AsyncIterator[tuple[str, asyncio.Event]]:
    """A server that takes a connection and never says anything, and whether one came."""
    came = asyncio.Event()

    async def hold(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        came.set()
        while await reader.read(4096):
            pass
        writer.close()

    async with _listening_socket(hold) as port:
        yield f"http://127.0.0.1:{port}", came


Talk: TypeAlias = Callable[
    [asyncio.StreamReader, asyncio.StreamWriter], Coroutine[Any, Any, None]
]


@asynccontextmanager
async def _listening_socket(talk: Talk) -> AsyncIterator[int]:
    under_way: set[asyncio.Task[None]] = set()

    async def taken(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        under_way.add(task)
        try:
            with suppress(OSError, ExceptionGroup):
                await talk(reader, writer)
        finally:
            under_way.discard(task)
            writer.close()

    server = await asyncio.start_server(taken, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for task in under_way:
            task.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)


async def _pour(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    while some := await source.read(65_536):
        sink.write(some)
        await sink.drain()
    sink.close()
