"""Commands on a library that was damaged or repaired, before the next ingestion."""

import re
import sqlite3
from contextlib import closing
from datetime import datetime
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
        assert said.count("1 document not ingested yet") == 1, words
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
    (text, *_) = re.findall(r"[a-z][a-z ]{15,}", turn["citations"][0]["text"])
    changed = text.replace("e", "i", 1)
    change(book, f"update turn set output = replace(output, '{text}', '{changed}')")
    ran = book.run("threads", "show", "1")
    assert "was edited since" not in ran.out
    assert "has changed since" not in ran.out
    assert f"“{changed}”" not in ran.out
    assert "damaged on disk" in ran.out


def back_up(book: Terminal) -> None:
    """Write an automatic backup, as if none had been written today."""
    for file in (book.folder / ".lrwr" / "backups").glob("*"):
        file.unlink()
    assert book.run("ingest").code == 0


@pytest.mark.parametrize(
    "changed",
    ["answer || ' Twemve'", "cast(cast(answer as blob) || x'ff' as text)"],
    ids=["words", "no UTF-8"],
)
def test_a_thread_that_no_backup_holds_leads_to_a_command_that_helps(
    book: Terminal, changed: str
) -> None:
    book.run("ask", "Who keeps the ledger?")
    back_up(book)
    book.run("ask", "Who lights the lamps?")
    question = "Who lights the lamps?"
    change(book, f"update turn set answer = {changed} where question = '{question}'")
    (id_,) = (
        thread["id"]
        for thread in book.run("threads", "--json").json
        if "lamps" in thread["title"]
    )
    advice = f"`lrwr threads delete {id_[:6]}`"
    commands = (
        "threads show 1",
        "doctor --verify",
        "ingest --verify",
        "repair",
        "restore --latest",
    )
    for words in commands:
        said = " ".join(run(book, words).split())
        assert "No automatic backup has a sound copy of" in said, words
        assert advice in said, words
        assert (
            "Run `lrwr restore --latest` to put back the copy in your automatic backups."
            not in said
        ), words
    assert question in book.run("threads", "show", "1").out
    book.run("threads", "delete", id_[:6])
    assert book.run("doctor", "--verify").code == 0


def damage_the_answer_of(book: Terminal, question: str) -> None:
    change(
        book,
        f"update turn set answer = answer || ' Twemve' where question = '{question}'",
    )


def test_a_thread_in_a_backup_is_restored_and_nothing_else_is_advised(
    book: Terminal,
) -> None:
    book.run("ask", "Who lights the lamps?")
    back_up(book)
    damage_the_answer_of(book, "Who lights the lamps?")
    assert "lrwr threads delete" not in run(book, "threads show 1")
    assert "lrwr restore --latest" in run(book, "doctor --verify")
    assert "No automatic backup" not in run(book, "restore --latest")
    assert "Twemve" not in run(book, "threads show 1")


def test_restore_says_up_to_when_and_what_to_do_next(book: Terminal) -> None:
    book.run("ask", "Who lights the lamps?")
    back_up(book)
    (file,) = (book.folder / ".lrwr" / "backups").glob("*.jsonl.*")
    at = datetime.fromtimestamp(file.stat().st_mtime)
    assert "lrwr ingest" not in run(book, "restore --latest")
    (book.folder / ".lrwr" / "library.db").unlink()
    said = run(book, "restore --latest")
    assert f"{at:%Y-%m-%d %H:%M}" in said
    assert "Run `lrwr ingest` now" in said


def test_threads_without_turns_are_marked(book: Terminal) -> None:
    book.run("ask", "Who lights the lamps?")
    change(book, "delete from turn")
    for words in ("threads", "threads show 1"):
        assert "were lost with a damaged library" in run(book, words), words
    assert "Who lights the lamps? (turns lost)" in run(book, "threads")
    (thread,) = book.run("threads", "--json").json
    assert (thread["turns"], thread["turns_lost"]) == (0, True)


def test_damage_that_a_command_has_met_is_not_passed_over_by_ingest(
    book: Terminal,
) -> None:
    change(book, f"update document set text = replace(text, 'Nine', 'Ninf') {IN_FIRST}")
    assert "is damaged" in book.run("search", "rungs").err
    for words in ("ingest", "doctor"):
        said = run(book, words)
        assert "lrwr ingest --verify" in said, words
        assert "lrwr repair" not in said, words
    book.run("ingest", "--verify")
    for words in ("ingest", "doctor"):
        assert "lrwr ingest --verify" not in run(book, words), words


def test_a_damaged_word_index_leads_to_ingest_verify(book: Terminal) -> None:
    change(book, "update chunk set text = 'x' || text where pipeline = 'b' and n = 1")
    file = book.folder / ".lrwr" / "library.db"
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("delete from chunk_fts_b_docsize where id = 2")
    said = run(book, "doctor")
    assert "lrwr ingest --verify" in said
    assert "lrwr repair" not in said
    book.run("ingest", "--verify")
    assert book.run("doctor").code == 0
    assert book.run("doctor", "--verify").code == 0


def test_a_passage_that_is_left_out_does_not_count_towards_the_limit(
    book: Terminal,
) -> None:
    question = ("search", "nineteen rungs ladder", "--limit")
    first, second = (
        passage["file"]
        for passage in book.run(*question, "2", "--json").json["passages"]
    )
    assert first != second
    change(book, f"update document set text = text || 'x' where id = '{first}'")
    (passage,) = book.run(*question, "1", "--json").json["passages"]
    assert passage["file"] == second


def test_of_a_file_with_a_damaged_passage_only_some_are_said_to_be_left_out(
    book: Terminal,
) -> None:
    change(book, f"update chunk set text = text || 'x' where document_id = '{FIRST}'")
    said = book.run("search", "rungs").err
    assert f"left out: some passages or story data of {FIRST}. Run" in said


def test_ingest_notices_damage_in_a_sample_of_what_is_unchanged(book: Terminal) -> None:
    change(book, "update document set text = text || 'x'")
    said = run(book, "ingest")
    assert "Some stored data is damaged" in said
    assert "lrwr ingest --verify" in said


def test_an_interrupted_ingest_after_a_repair_is_said(book: Terminal) -> None:
    change(
        book,
        "delete from document where id like 'chapters/0%'",
        "update job set state = 'pending' where document_id like 'chapters/0%'",
    )
    for words in READERS:
        assert run(book, words).count("9 documents not ingested yet") == 1, words
    book.run("ingest")
    assert "not ingested yet" not in run(book, "search rungs")
