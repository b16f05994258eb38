"""Searching with a Qdrant server, and without it when it goes away."""

import json
from pathlib import Path

import pytest

from lrwr.core.model.errors import ExitCode
from tests.fakes.qdrant_server import KEY, QdrantServer
from tests.fakes.terminal import Terminal

PAGES = {
    "1.md": "# One\n\nNell Tallow oiled the hinge of the sluice before the tide came.\n",
    "2.md": "# Two\n\nCorin Vale counted the herons on the weir and found eleven.\n",
}
QUESTION = "Which birds were there?"
SECRETS = ("Nell", "Corin", "sluice", "heron", "1.md")


@pytest.fixture
def book(tmp_path: Path) -> Terminal:
    folder = tmp_path / "book"
    folder.mkdir()
    for name, text in PAGES.items():
        (folder / name).write_text(text, encoding="utf-8")
    terminal = Terminal(folder, home=tmp_path / "home")
    assert terminal.run("ingest", ".").code == ExitCode.OK
    return terminal


def found(ran_out: str) -> list[tuple[str, float]]:
    passages = json.loads(ran_out)["passages"]
    return [(one["text"], one["score"]) for one in passages]


def test_a_server_finds_the_same_and_is_told_no_word_of_the_book(
    book: Terminal, tmp_path: Path
) -> None:
    here = found(book.run("search", QUESTION, "--json").out)
    with QdrantServer(key=KEY) as server:
        env = {"LRWR_VECTORS_KEEPER": "qdrant", "LRWR_VECTORS_URL": server.url}
        asking = Terminal(
            tmp_path / "book", home=tmp_path / "home", QDRANT_API_KEY=KEY, **env
        )
        ran = asking.run("search", QUESTION, "--json")
        assert (ran.code, ran.err) == (ExitCode.OK, "")
        assert found(ran.out) == here
        assert any(path.endswith("/points/query") for path in server.paths)
        sent = repr([(one.path, one.body) for one in server.asked])
        assert not [word for word in (*SECRETS, "birds", KEY) if word in sent]
    gone = asking.run("search", QUESTION, "--json")
    assert gone.code == ExitCode.OK
    assert found(gone.out) == here
    assert "Compared on this machine, without Qdrant." in gone.out
    assert "cannot be reached" in gone.out
    assert KEY not in gone.err + gone.out + ran.out


def test_a_server_elsewhere_is_not_asked_where_a_folder_alone_turns_it_on(
    book: Terminal, tmp_path: Path
) -> None:
    (tmp_path / "book" / "lrwr.toml").write_text('[vectors]\nkeeper = "qdrant"\n')
    asking = Terminal(
        tmp_path / "book",
        home=tmp_path / "home",
        LRWR_VECTORS_URL="https://qdrant.invalid:6333",
    )
    ran = asking.run("search", QUESTION)
    assert ran.code == ExitCode.OK
    assert "lrwr privacy allow qdrant" in ran.out
    assert "Nothing was sent from this machine." in asking.run("privacy").out
