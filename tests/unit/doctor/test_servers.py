import socket
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import ClassVar

import pytest

from lrwr.core.adapters.servers.loopback import Answered, Server, ask_server


class Handler(BaseHTTPRequestHandler):
    status: ClassVar[int] = 200
    content: ClassVar[bytes] = b""
    asked: ClassVar[list[tuple[str, str]]] = []

    def do_GET(self) -> None:
        self.asked.append((self.path, self.headers.get("Authorization", "")))
        self.send_response(self.status)
        self.send_header("Location", "http://127.0.0.1:1/elsewhere")
        self.end_headers()
        self.wfile.write(self.content)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        del format, args


@contextmanager
def serving(content: bytes, status: int = 200) -> Iterator[tuple[Server, list[str]]]:
    asked: list[tuple[str, str]] = []
    kind = type("H", (Handler,), {"status": status, "content": content, "asked": asked})
    server = HTTPServer(("127.0.0.1", 0), kind)
    thread = Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    paths: list[str] = []
    try:
        yield Server("Test", server.server_port), paths
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
        paths += [path for path, _ in asked]
        assert all(key == "" for _, key in asked)


def test_the_models_of_a_server_are_listed_with_one_request() -> None:
    with serving(b'{"data": [{"id": "qwen3:4b"}, {"id": "nomic"}]}') as (server, paths):
        answered = ask_server(server)
    assert answered == Answered(server, ("qwen3:4b", "nomic"))
    assert paths == ["/v1/models"]


@pytest.mark.parametrize("status", [301, 302, 307, 401, 404, 500])
def test_no_redirect_is_followed_and_a_refusal_lists_nothing(status: int) -> None:
    with serving(b'{"data": [{"id": "x"}]}', status) as (server, paths):
        assert ask_server(server) == Answered(server, None)
    assert paths == ["/v1/models"]


@pytest.mark.parametrize(
    "content",
    [b"", b"<html>", b"[1]", b'{"data": 5}', b'{"data": [{}]}', b"[" * 100_000],
)
def test_what_serves_no_models_is_told_from_what_does(content: bytes) -> None:
    with serving(content) as (server, _):
        assert ask_server(server) == Answered(server, None)


def test_a_server_without_models_lists_none() -> None:
    with serving(b'{"data": []}') as (server, _):
        assert ask_server(server) == Answered(server, ())


def test_an_answer_without_end_is_cut() -> None:
    with serving(b"x" * 3_000_000) as (server, _):
        assert ask_server(server) == Answered(server, None)


def test_nobody_there_is_nobody() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    assert ask_server(Server("Test", port)) is None


def test_a_program_that_speaks_no_http_lists_nothing() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def greet() -> None:
            peer, _ = listening.accept()
            peer.sendall(b"220 mail.example.org ready\r\n")
            peer.close()

        thread = Thread(target=greet)
        thread.start()
        server = Server("Test", listening.getsockname()[1])
        assert ask_server(server) == Answered(server, None)
        thread.join()
