"""Stored values that were changed by a fault: noticed, never shown, and rebuilt."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from lrwr.core.adapters.storage.sqlite.database import SCHEMA_VERSION
from tests.fakes.read_books import ReadBooks, copy_sample
from tests.fakes.terminal import Terminal

READERS = ("characters", "quotes", "timeline")
DAMAGE = {
    "an unknown certainty": "update quotation set certainty = 'verifiee'"
    " where n = (select min(n) from quotation where certainty = 'verified')",
    "a changed letter": "update document set text = replace(text, 'Nine', 'Ninf')"
    " where id = 'chapters/01-lighting-up.md'",
    "text that is not UTF-8": "update chunk set text = cast(x'ff41' as text)"
    " where n = (select min(n) from chunk)",
    "a fact of another document": "update fact set document_id = 'chapters/0q.md'"
    " where n = (select min(n) from fact)",
    "names that are not JSON": "update reading set evidence = '{' where document_id ="
    " (select min(document_id) from reading)",
    "a shifted quotation": "update quotation set spans = '[[3, 9]]'"
    " where n = (select min(n) from quotation)",
    "a cast that is not one": "update story set \"cast\" = '[]'",
    "a changed vector": "update embedding set vector = zeroblob(length(vector))"
    " where rowid = (select min(rowid) from embedding)",
    "chapters without spans": "update document set chapters = '[{}]'"
    " where id = (select min(id) from document)",
}


@pytest.fixture
def book(books: ReadBooks, tmp_path: Path) -> Terminal:
    """A copy of the ingested sample, to change."""
    return books.copy("marsh", copy_sample, tmp_path)


def change(terminal: Terminal, sql: str) -> None:
    database = terminal.folder / ".lrwr" / "library.db"
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        assert connection.execute(sql).rowcount == 1


def told(terminal: Terminal) -> dict[str, object]:
    return {words: terminal.run(words, "--json").json for words in READERS}


def state_of(terminal: Terminal, part: str, *words: str) -> tuple[str, str]:
    findings = terminal.run("doctor", "--json", *words).json["findings"]
    (found,) = [finding for finding in findings if finding["part"] == part]
    return found["state"], found["detail"]


@pytest.mark.parametrize("sql", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_value_ends_no_command_and_is_rebuilt(
    book: Terminal, sql: str
) -> None:
    whole = told(book)
    change(book, sql)
    for words in (*READERS, "search Nine", "check", "gaps"):
        assert book.run(*words.split(), "--json").code in (0, 9), words
    state, detail = state_of(book, "stored data", "--verify")
    assert (state, "Damaged:" in detail) == ("broken", True)
    assert book.run("ingest", "--verify").code == 0
    assert state_of(book, "stored data", "--verify")[0] == "ok"
    assert told(book) == whole


def test_a_changed_quotation_is_withheld_and_that_is_said_once(book: Terminal) -> None:
    change(book, DAMAGE["a changed letter"])
    ran = book.run("quotes")
    assert "Ninf" not in ran.out
    assert ran.err.count("lrwr ingest --verify") == 1
    assert "Ninf" not in book.run("search", "Nine").out
    assert "Ninf" not in book.run("ask", "Who lights the lamps?").out


def test_repair_deletes_what_does_not_fit_and_the_next_ingest_stores_it(
    book: Terminal,
) -> None:
    whole = told(book)
    change(book, DAMAGE["an unknown certainty"])
    repaired = book.run("repair", "--json").json
    assert any("(quotations)" in step for step in repaired["steps"])
    assert "lrwr ingest" in repaired["remedy"]
    assert book.run("ingest").code == 0
    assert told(book) == whole


DAMAGED_ANSWER = "This saved answer was damaged on disk"
CHANGED_ANSWERS = {
    "an answer": "update turn set answer = answer || ' Twemve'",
    "a question": "update turn set question = replace(question, 'lamps', 'lanps')",
    "citations": "update turn set output = '{\"citations\": 3}'",
}


@pytest.mark.parametrize("sql", CHANGED_ANSWERS.values(), ids=CHANGED_ANSWERS)
def test_a_damaged_turn_is_marked_until_restore_brings_the_sound_copy(
    book: Terminal, sql: str
) -> None:
    book.run("ask", "Who lights the lamps?")
    whole = book.run("threads", "show", "1").out
    back_up(book)
    change(book, sql)
    book.run("ingest", "--verify")
    for words in ("show 1", "export 1", "search lights"):
        assert book.run("threads", *words.split()).out.count(DAMAGED_ANSWER) == 1
    (turn,) = book.run("threads", "show", "1", "--json").json["conversation"]
    assert DAMAGED_ANSWER in turn["remarks"][0]
    restored = book.run("restore", "--latest")
    assert "1 damaged and replaced by the sound copy" in restored.out
    assert book.run("threads", "show", "1").out == whole
    assert state_of(book, "stored data", "--verify")[0] == "ok"
    assert "Who lights" in book.run("threads", "search", "lamps").out


@pytest.mark.parametrize("command", ["ingest --verify", "repair"])
def test_verification_names_a_damaged_thread_and_does_not_certify_it(
    book: Terminal, command: str
) -> None:
    book.run("ask", "Who lights the lamps?")
    change(book, CHANGED_ANSWERS["an answer"])
    ran = book.run(*command.split())
    name = "The thread “Who lights the lamps?” ("
    assert name in ran.out + ran.err
    assert "No automatic backup has a sound copy" in ran.out + ran.err
    assert state_of(book, "stored data", "--verify")[0] == "broken"
    detail = state_of(book, "stored data", "--verify")[1]
    assert "“Who lights the lamps?”" in detail
    book.run("threads", "delete", "1")
    assert state_of(book, "stored data", "--verify")[0] == "ok"


def test_a_damaged_title_is_marked_and_restored(book: Terminal) -> None:
    book.run("ask", "Who lights the lamps?")
    back_up(book)
    change(book, "update thread set title = 'Who lights the lanps?'")
    remark = "The title, the state or an answer of this thread was damaged on disk."
    assert book.run("threads", "show", "1").out.count(remark) == 1
    assert book.run("threads", "export", "1").out.count(remark) == 1
    for words in ("threads", "threads search lights"):
        assert "Who lights the lanps? (damaged)" in book.run(*words.split()).out
    assert remark in book.run("threads").out
    assert book.run("threads", "--json").json[0]["damaged"]
    book.run("threads", "rename", "1", "Lamps")
    assert state_of(book, "stored data", "--verify")[0] == "broken"
    assert "Lamps (damaged)" in book.run("threads").out
    book.run("restore", "--latest")
    assert "# Who lights the lamps?" in book.run("threads", "export", "1").out


def test_a_library_that_is_gone_names_its_backup(book: Terminal) -> None:
    book.run("ask", "Who lights the lamps?")
    back_up(book)
    (book.folder / ".lrwr" / "library.db").unlink()
    for words in ("status", "ask Who?", "threads", "ingest", "threads"):
        ran = book.run(*words.split())
        assert (ran.out + ran.err).count("lrwr restore --latest") == 1, words
        assert "aved conversations" in ran.out + ran.err
    book.run("restore", "--latest")
    assert "lamps" in book.run("threads").out
    assert "Saved conversations of " not in book.run("ingest").err


def back_up(terminal: Terminal) -> None:
    """Write an automatic backup, as if none had been written today."""
    for file in (terminal.folder / ".lrwr" / "backups").glob("*"):
        file.unlink()
    assert terminal.run("ingest").code == 0
    assert list((terminal.folder / ".lrwr" / "backups").glob("*"))


def test_a_library_without_checksums_gets_them_at_the_next_ingest(
    book: Terminal,
) -> None:
    whole = told(book)
    change_all = (
        "update quotation set crc = null",
        "update processed set crc = null, rows = null, recipe = recipe || '/unchecked'",
        "update woven set crc = null, rows = null",
    )
    database = Path(book.folder / ".lrwr" / "library.db")
    with closing(sqlite3.connect(database)) as connection, connection:
        for sql in change_all:
            connection.execute(sql)
    assert told(book) == whole
    assert state_of(book, "stored data", "--verify")[0] == "warning"
    assert json.loads(book.run("ingest", "--json").out)["processed"] > 0
    assert state_of(book, "stored data", "--verify")[0] == "ok"
    assert told(book) == whole


def test_lists_name_the_damaged_files_once_before_the_answer(book: Terminal) -> None:
    change(book, DAMAGE["a changed letter"])
    for words in (*READERS, "search Nine", "recap", "check", "gaps", "export bible"):
        ran = book.run(*words.split())
        assert ran.code in (0, 9), words
        assert ran.err.startswith(
            "Part of the library is damaged and was left out:"
            " chapters/01-lighting-up.md. Run `lrwr ingest --verify`"
        ), words
        assert (ran.out + ran.err).count("is damaged") == 1, words
        assert "was deleted" not in ran.out + ran.err


def test_of_many_damaged_files_three_are_named(book: Terminal) -> None:
    database = book.folder / ".lrwr" / "library.db"
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute(
            "update document set text = text || '.' where id < 'chapters/08'"
        )
    said = book.run("quotes").err
    assert (
        "chapters/02-the-reeves-offer.md, chapters/03-the-ledger-house.md and 4 more. Run"
        in said
    )


def set_schema(book: Terminal, number: int) -> None:
    with closing(sqlite3.connect(book.folder / ".lrwr" / "library.db")) as connection:
        connection.execute(f"PRAGMA user_version = {number}")


@pytest.mark.parametrize("number", [SCHEMA_VERSION ^ 64, SCHEMA_VERSION ^ 2**24, -2])
def test_a_damaged_schema_number_is_repaired_without_a_loss(
    book: Terminal, number: int
) -> None:
    book.run("ask", "Who lights the lamps?")
    whole = told(book), book.run("threads", "show", "1").out
    set_schema(book, number)
    for words in ("status", "search lamp", "threads"):
        ran = book.run(*words.split())
        assert ran.code == 5
        assert "may be damaged" in ran.err
        assert "`lrwr repair`" in ran.err
        assert "pgrade" not in ran.err
    state, detail = state_of(book, "database")
    assert (state, "may be damaged" in detail) == ("broken", True)
    assert book.run("repair").code == 0
    assert (told(book), book.run("threads", "show", "1").out) == whole


def test_a_newer_schema_asks_for_an_upgrade(book: Terminal) -> None:
    set_schema(book, SCHEMA_VERSION + 1)
    for words in ("status", "repair"):
        assert "Upgrade lrwr" in book.run(*words.split()).err


def test_messages_about_a_damaged_file_have_no_terms_of_the_database(
    book: Terminal,
) -> None:
    database = book.folder / ".lrwr" / "library.db"
    with database.open("r+b") as file:
        file.seek(20 * 4096)
        file.write(bytes(12 * 4096))
    said = ""
    for words in ("doctor", "doctor --verify", "backup", "search lamp", "repair"):
        ran = book.run(*words.split())
        said += ran.out + ran.err
    assert "damaged" in said
    for term in ("btree", "malformed", "Page ", "Tree ", "disk image", "error code"):
        assert term not in said, term


def test_doctor_says_what_is_left_of_a_library_without_its_database(
    book: Terminal,
) -> None:
    book.run("ask", "Who lights the lamps?")
    back_up(book)
    (book.folder / ".lrwr" / "library.db").unlink()
    findings = book.run("doctor", "--json").json["findings"]
    found = next(f for f in findings if f["part"] == "database")
    assert found["state"] == "warning"
    assert "library.db is missing" in found["detail"]
    assert "lrwr restore --latest" in found["remedy"]
    for file in (book.folder / ".lrwr" / "backups").glob("*"):
        file.unlink()
    findings = book.run("doctor", "--json").json["findings"]
    found = next(f for f in findings if f["part"] == "database")
    assert "library.db is missing" in found["detail"]
    assert "lrwr ingest" in found["remedy"]


@pytest.mark.parametrize("column", ["crc", "rows"])
def test_a_checksum_that_became_a_text_stops_no_command(
    book: Terminal, column: str
) -> None:
    database = book.folder / ".lrwr" / "library.db"
    set_sql = "update sqlite_schema set sql = ? where name = 'processed'"
    with closing(sqlite3.connect(database)) as connection, connection:
        (sql,) = connection.execute(
            "select sql from sqlite_schema where name = 'processed'"
        ).fetchone()
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute(set_sql, (sql.replace(") strict,", ")"),))
    change(
        book,
        f"update processed set {column} = 'x' where document_id ="
        " (select min(document_id) from processed)",
    )
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute(set_sql, (sql,))
    for file in (book.folder / "chapters").glob("*"):
        file.touch()
    for words in ("diff", "ingest", "status", "ingest --verify"):
        assert book.run(*words.split()).code == 0, words
    assert state_of(book, "stored data", "--verify")[0] == "ok"
