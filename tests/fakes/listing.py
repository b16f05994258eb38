"""A server on this machine that answers every question with one text."""

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import ClassVar

from lrwr.core.adapters.chat.local_servers import LocalServer


class Handler(BaseHTTPRequestHandler):
    """Answers with `content` and records the requests."""

    status: ClassVar[int] = 200
    content: ClassVar[bytes] = b""
    asked: ClassVar[list[tuple[str, str]]] = []

    def do_GET(self) -> None:
        """Answer one question."""
        self.asked.append((self.path, self.headers.get("Authorization", "")))
        self.send_response(self.status)
        self.send_header("Location", "http://127.0.0.1:1/elsewhere")
        self.end_headers()
        self.wfile.write(self.content)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing."""
        del format, args


@contextmanager
def serving(
    content: bytes, status: int = 200
) -> Iterator[tuple[LocalServer, list[str]]]:
    """Lend out a server; the paths it was asked for are listed once it is gone.

    Nobody may have sent it a key.
    """
    asked: list[tuple[str, str]] = []
    kind = type("H", (Handler,), {"status": status, "content": content, "asked": asked})
    server = HTTPServer(("127.0.0.1", 0), kind)
    thread = Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    paths: list[str] = []
    try:
        yield LocalServer("Test", server.server_port), paths
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
        paths += [path for path, _ in asked]
        assert all(key == "" for _, key in asked)
