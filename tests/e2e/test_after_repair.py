"""Commands on a library that was damaged or repaired, before the next ingestion."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.fakes.read_books import BY_WORDS, ReadBooks, copy_sample
from tests.fakes.terminal import Terminal

FIRST = "chapters/01-lighting-up.md"
IN_FIRST = f"where id = '{FIRST}'"
READERS = (
    "ask How_old_is_Nell?",
    "search rungs",
    "check",
    "characters",
    "quotes",
    "export bible",
    "diff",
)


@pytest.fixture
def book(books: ReadBooks, tmp_path: Path) -> Terminal:
    """A copy of the ingested sample, to change."""
    return books.copy("sample", copy_sample, tmp_path, **BY_WORDS)


def change(book: Terminal, *statements: str) -> None:
    file = book.folder / ".lrwr" / "library.db"
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("PRAGMA foreign_keys = ON")
        for sql in statements:
            assert connection.execute(sql).rowcount, sql


def run(book: Terminal, words: str) -> str:
    """Run a command, in which `_` stands for a space; return what it printed."""
    ran = book.run(*(word.replace("_", " ") for word in words.split()))
    return ran.out + ran.err


def lose_the_text(book: Terminal) -> None:
    """Leave only the conversations in the library, as a salvage does."""
    book.run("ask", "Who lights the lamps?")
    change(book, "delete from document")


@pytest.mark.parametrize("words", READERS)
def test_without_text_no_command_speaks_of_it(book: Terminal, words: str) -> None:
    lose_the_text(book)
    ran = book.run(*(word.replace("_", " ") for word in words.split()))
    assert ran.code == 3
    assert "lrwr ingest" in ran.err
    assert "Not found" not in ran.out
    assert len(book.run("threads", "--json").json) == 1


def test_threads_stay_readable_without_text_and_nothing_is_blamed(
    book: Terminal,
) -> None:
    lose_the_text(book)
    shown = run(book, "threads show 1")
    assert "lamps" in shown
    assert "no longer in the text" not in shown
    assert "changed since" not in shown
    assert "lrwr ingest" in shown


@pytest.mark.parametrize(
    "sql",
    [
        f"update document set text = replace(text, 'Nine', 'Ninf') {IN_FIRST}",
        f"update document set title = title || 'x' {IN_FIRST}",
    ],
    ids=["text", "outline"],
)
def test_after_a_repair_chapters_keep_their_numbers_and_missing_text_is_said(
    book: Terminal, sql: str
) -> None:
    before = {words: run(book, f"{words} --json") for words in READERS[1:5]}
    numbers = chapters(book)
    change(book, sql)
    book.run("repair")
    for words in READERS:
        said = run(book, words)
        assert said.count("1 document must be ingested again") == 1, words
    if "text" in sql:
        assert chapters(book) == numbers
    assert FIRST not in book.run("search", "rungs").out
    assert book.run("doctor", "--verify", "--json").code == 0
    book.run("ingest")
    assert {words: run(book, f"{words} --json") for words in READERS[1:5]} == before


def chapters(book: Terminal) -> set[tuple[str, int]]:
    """Return file and chapter number of what a search finds after chapter 1."""
    found = book.run("search", "fog on the causeway", "--limit", "30", "--json").json
    return {
        (passage["file"], passage["chapter"])
        for passage in found["passages"]
        if passage["file"] != FIRST and passage["file"].startswith("chapters/")
    }


def test_damage_of_the_text_is_not_blamed_on_the_manuscript(book: Terminal) -> None:
    book.run("ask", "Who lights the lamps?")
    (turn,) = book.run("threads", "show", "1", "--json").json["conversation"]
    cited = turn["citations"][0]["file"]
    word = turn["citations"][0]["text"].split()[0]
    change(
        book,
        f"update document set text = replace(text, '{word}', 'Xx') where id = '{cited}'",
    )
    for repaired in (False, True):
        if repaired:
            book.run("repair")
        shown = run(book, "threads show 1")
        assert "no longer in the text" not in shown
        assert "edited since" not in shown
        assert "changed since" not in shown
        assert "stored data is damaged or missing. Run `lrwr ingest --verify`" in shown
        (turn,) = book.run("threads", "show", "1", "--json").json["conversation"]
        assert turn["citations"][0]["freshness"] == "damaged"
    book.run("ingest")
    (turn,) = book.run("threads", "show", "1", "--json").json["conversation"]
    assert turn["citations"][0]["freshness"] == "current"


def test_damage_of_an_answer_is_not_blamed_on_the_manuscript(book: Terminal) -> None:
    book.run("ask", "Who lights the lamps?")
    (turn,) = book.run("threads", "show", "1", "--json").json["conversation"]
    text = turn["citations"][0]["text"]
    changed = text.replace("e", "i", 1)
    change(book, f"update turn set output = replace(output, '{text}', '{changed}')")
    ran = book.run("threads", "show", "1")
    assert "was edited since" not in ran.out
    assert "has changed since" not in ran.out
    assert f"“{changed}”" not in ran.out
    assert "damaged on disk" in ran.out
