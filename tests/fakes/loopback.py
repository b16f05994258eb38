"""What every loopback server stands on: a port, a thread, and its connections."""

import socket
import threading
from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

LAST_WORDS = 2.0
"""Seconds that a connection gets to end when its server is closed."""


@dataclass
class Loopback(ABC):
    """A server on a port of its own while it is entered."""

    _closing: threading.Event = field(default_factory=threading.Event, init=False)
    _http: "_Http | None" = field(default=None, init=False)

    def __enter__(self) -> Self:
        self._http = _Http(self)
        self._http.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        if self._http is not None:
            self._http.close()

    @property
    def origin(self) -> str:
        """Where the server is."""
        assert self._http is not None
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def until_closed(self) -> None:
        """Wait for the end."""
        self._closing.wait(60)

    @abstractmethod
    def serve(self, line: "Line") -> None:
        """Deal with the request that a connection has read the head of."""


class Line(BaseHTTPRequestHandler):
    """One connection; that its client goes away is no fault."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: "_Http"

    def handle(self) -> None:
        """Serve until either side has enough."""
        try:
            super().handle()
        except (ConnectionError, TimeoutError, ValueError):
            self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - inherited
        """Say nothing."""

    def _serve(self) -> None:
        self.server.loopback.serve(self)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = _serve  # noqa: N815

    def received(self) -> bytes:
        """Return the body of the request."""
        return self.rfile.read(int(self.headers.get("content-length") or 0))

    def send(
        self, status: int, body: bytes, headers: Mapping[str, str], promised: int = 0
    ) -> None:
        """Answer; headers without a value are left out.

        `promised` is the length that is told, if it is not that of the body.
        """
        self.begin(status, {**headers, "content-length": str(promised or len(body))})
        if self.command != "HEAD":
            self.wfile.write(body)

    def begin(self, status: int, headers: Mapping[str, str]) -> None:
        """Send what comes before a body."""
        self.send_response(status)
        for name, value in headers.items():
            if value:
                self.send_header(name, value)
        self.end_headers()


class _Http(ThreadingHTTPServer):
    """Takes connections until it is closed, and closes those that are open then."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, loopback: Loopback) -> None:
        super().__init__(("127.0.0.1", 0), Line)
        self.loopback = loopback
        self.thread = threading.Thread(target=self._take_connections, daemon=True)
        self._ended = False
        self._open: set[socket.socket] = set()
        self._fewer = threading.Condition()

    def close(self) -> None:
        """Take no more connections, and end what is under way."""
        self._ended = True
        with suppress(OSError):  # so that it looks up
            socket.create_connection(("127.0.0.1", self.server_port)).close()
        self.thread.join()
        self.server_close()
        with self._fewer:
            for connection in self._open:
                with suppress(OSError):  # it has ended already
                    connection.shutdown(socket.SHUT_RDWR)
            self._fewer.wait_for(lambda: not self._open, LAST_WORDS)

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._fewer:
            self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        super().shutdown_request(request)
        with self._fewer:
            self._open.discard(request)
            self._fewer.notify_all()

    def verify_request(self, request: object, client_address: object) -> bool:
        return not self._ended

    def _take_connections(self) -> None:
        while not self._ended:
            self.handle_request()
