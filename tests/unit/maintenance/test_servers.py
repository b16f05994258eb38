import socket
from threading import Thread

import pytest

from lrwr.core.adapters.chat.local_servers import (
    LocalServer,
    LocalServerModels,
    fetch_server_models,
    probe_local_server,
)
from tests.fakes.listing import serving


def test_the_models_of_a_server_are_listed_with_one_request() -> None:
    with serving(b'{"data": [{"id": "qwen3:4b"}, {"id": "nomic"}]}') as (server, paths):
        answered = probe_local_server(server)
    assert answered == LocalServerModels(server, ("qwen3:4b", "nomic"))
    assert paths == ["/v1/models"]


@pytest.mark.parametrize("status", [301, 302, 307, 401, 404, 500])
def test_no_redirect_is_followed_and_a_refusal_lists_nothing(status: int) -> None:
    with serving(b'{"data": [{"id": "x"}]}', status) as (server, paths):
        assert probe_local_server(server) == LocalServerModels(server, None)
    assert paths == ["/v1/models"]


@pytest.mark.parametrize(
    "content",
    [b"", b"<html>", b"[1]", b'{"data": 5}', b'{"data": [{}]}', b"[" * 100_000],
)
def test_what_serves_no_models_is_told_from_what_does(content: bytes) -> None:
    with serving(content) as (server, _):
        assert probe_local_server(server) == LocalServerModels(server, None)


def test_a_server_without_models_lists_none() -> None:
    with serving(b'{"data": []}') as (server, _):
        assert probe_local_server(server) == LocalServerModels(server, ())


def test_an_answer_without_end_is_cut() -> None:
    with serving(b"x" * 3_000_000) as (server, _):
        assert probe_local_server(server) == LocalServerModels(server, None)


def test_nobody_there_is_nobody() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    assert probe_local_server(LocalServer("Test", port)) is None


def test_a_program_that_speaks_no_http_lists_nothing() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def greet() -> None:
            peer, _ = listening.accept()
            peer.sendall(b"220 mail.example.org ready\r\n")
            peer.close()

        thread = Thread(target=greet)
        thread.start()
        server = LocalServer("Test", listening.getsockname()[1])
        assert probe_local_server(server) == LocalServerModels(server, None)
        thread.join()


def test_the_server_that_is_set_is_asked_where_it_is_and_without_a_key() -> None:
    with serving(b'{"data": [{"id": "qwen3"}]}') as (server, paths):
        assert fetch_server_models(f"http://127.0.0.1:{server.port}/api/v1") == (
            "qwen3",
        )
    assert paths == ["/api/v1/models"]
    with serving(b"<html>", 404) as (server, _):
        assert fetch_server_models(f"http://localhost:{server.port}/v1") is None
    with pytest.raises(OSError, match="refused"):
        fetch_server_models(f"http://127.0.0.1:{server.port}/v1")
