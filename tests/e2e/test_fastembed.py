"""Models of fastembed: downloaded by one command after consent, and never by another."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from lrwr.core.model.errors import ExitCode
from tests.fakes.fastembed_path import hide_fastembed, put_fastembed_on_the_path
from tests.fakes.terminal import Terminal

MODEL = "BAAI/bge-small-en-v1.5"


class Mirror:
    """A server that has every model, and counts the requests."""

    def __init__(self) -> None:
        self.paths: list[str] = []
        paths = self.paths

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                paths.append(self.path)
                self.send_response(200)
                self.end_headers()
                self.wfile.write(b"weights")

            def log_message(self, *args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def mirror() -> Iterator[Mirror]:
    opened = Mirror()
    yield opened
    opened.close()


@pytest.fixture
def book(tmp_path: Path) -> Path:
    folder = tmp_path / "book"
    folder.mkdir()
    text = "# One\n\nThe lamp must never go out, said Nell Tallow to Corin.\n"
    (folder / "1.md").write_text(text, encoding="utf-8")
    return folder


def terminal(book: Path, mirror: Mirror, **env: str) -> Terminal:
    variables = {
        "LRWR_EMBEDDING_MODEL": "fastembed",
        "LRWR_EMBEDDING_BASE_URL": mirror.address,
        **env,
    }
    return Terminal(book, home=book.parent / "home", **variables)


def test_a_model_is_downloaded_and_used(
    book: Path, mirror: Mirror, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_fastembed_on_the_path(monkeypatch)
    lrwr = terminal(book, mirror)
    ran = lrwr.run("config", "download-model")
    assert ran.code == 0, ran.err
    assert f"Stored {MODEL} in " in ran.out
    assert "lrwr sends this to 127.0.0.1: the name of an embedding model" in ran.err
    assert mirror.paths == [f"/{MODEL}"]
    (total,) = lrwr.run("privacy", "--json").json["totals"]
    assert total["service"] == "huggingface"
    assert total["purpose"] == "model download"
    assert lrwr.run("ingest", ".").code == 0
    assert "1 passage (1 embedded)" in lrwr.run("status").out
    found = lrwr.run("search", "lamp", "--json").json
    assert found["remarks"] == []
    from fastembed import TextEmbedding  # type: ignore[import-not-found]

    prefix = "Represent this sentence for searching relevant passages: "
    assert f"{prefix}lamp" in TextEmbedding.embedded
    doctor = lrwr.run("doctor", "--json").json
    assert f"{MODEL}, by fastembed on this machine: 48 dimensions." in str(doctor)
    assert len(mirror.paths) == 1


def test_no_other_command_downloads_a_model(
    book: Path, mirror: Mirror, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_fastembed_on_the_path(monkeypatch)
    lrwr = terminal(book, mirror)
    ingested = lrwr.run("ingest", ".")
    assert f"The embedding model {MODEL} is not on this machine" in ingested.out
    assert "lrwr config download-model" in ingested.out
    searched = lrwr.run("search", "lamp")
    assert searched.code == 0
    assert "never go out" in searched.out
    assert "lrwr config download-model" in lrwr.run("doctor").out
    assert mirror.paths == []


def test_a_search_without_the_model_uses_words_and_says_what_to_run(
    book: Path, mirror: Mirror, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_fastembed_on_the_path(monkeypatch)
    lrwr = terminal(book, mirror)
    assert lrwr.run("config", "download-model").code == 0
    assert lrwr.run("ingest", ".").code == 0
    (model,) = (book.parent / "home").rglob(MODEL.replace("/", "--"))
    model.unlink()
    searched = lrwr.run("search", "lamp")
    assert searched.code == 0
    assert "never go out" in searched.out
    assert "lrwr config download-model" in searched.out + searched.err
    assert len(mirror.paths) == 1


def test_the_folder_cannot_cause_a_download_without_consent(
    book: Path, mirror: Mirror, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_fastembed_on_the_path(monkeypatch)
    text = f'embedding.model = "fastembed"\nembedding.base_url = "{mirror.address}"\n'
    (book / "lrwr.toml").write_text(text, encoding="utf-8")
    lrwr = Terminal(book, home=book.parent / "home")
    refused = lrwr.run("config", "download-model")
    assert refused.code == ExitCode.SETTINGS
    assert "lrwr privacy allow huggingface" in refused.err
    assert mirror.paths == []
    assert lrwr.run("privacy", "allow", "huggingface").code == 0
    assert lrwr.run("config", "download-model").code == 0
    assert mirror.paths == [f"/{MODEL}"]


def test_a_missing_package_is_named(
    book: Path, mirror: Mirror, monkeypatch: pytest.MonkeyPatch
) -> None:
    hide_fastembed(monkeypatch)
    ran = terminal(book, mirror).run("config", "download-model")
    assert ran.code == ExitCode.SERVICE
    assert 'pip install "lrwr[fastembed]"' in ran.err
    assert mirror.paths == []


@pytest.mark.parametrize(
    ("env", "message"),
    [
        ({"LRWR_EMBEDDING_NAME": "no/such"}, "fastembed has no embedding model called"),
        ({"LRWR_EMBEDDING_MODEL": "local"}, "is local, which downloads nothing"),
    ],
)
def test_settings_that_name_no_model_are_refused(
    book: Path,
    mirror: Mirror,
    monkeypatch: pytest.MonkeyPatch,
    env: dict[str, str],
    message: str,
) -> None:
    put_fastembed_on_the_path(monkeypatch)
    ran = terminal(book, mirror, **env).run("config", "download-model")
    assert ran.code == ExitCode.SETTINGS
    assert message in ran.err
    assert mirror.paths == []
