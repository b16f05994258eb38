"""What status, doctor and check say of files that the library does not match."""

import shutil
import sqlite3
from contextlib import closing

import pytest

from lrwr.core.model.errors import ExitCode
from lrwr.core.model.jobs import STOPPED_ERROR
from tests.fakes.terminal import Terminal

TEXTS = {
    f"{number}.md": f"# Chapter {number}\n\nNell lit lamp number {number}.\n"
    for number in range(1, 5)
}
CONFLICT = "<<<<<<< HEAD\nNell ran.\n=======\nNell walked.\n>>>>>>> other\n"


@pytest.fixture
def book(empty: Terminal) -> Terminal:
    """Four ingested chapters."""
    for name, text in TEXTS.items():
        (empty.folder / name).write_text(text, encoding="utf-8")
    assert empty.run("ingest", ".").code == 0
    return empty


def pending(book: Terminal) -> tuple[int, str, str, str]:
    """The number of changed files by status, and what three commands say."""
    status = book.run("status", "--json").json
    findings = book.run("doctor", "--json").json["findings"]
    detail = next(f["detail"] for f in findings if f["part"] == "manuscript")
    checked = book.run("check").out
    return status["changed"], book.run("status").out, detail, checked


def test_files_that_were_copied_with_the_same_text_are_not_changed(
    book: Terminal,
) -> None:
    copy = book.folder.parent / "copy"
    shutil.copytree(book.folder, copy)
    shutil.rmtree(book.folder)
    copy.rename(book.folder)
    changed, status, doctor, check = pending(book)
    assert changed == 0
    assert "up to date" in status
    assert "4 documents, all unchanged" in doctor
    assert "Not checked" not in check
    (book.folder / "2.md").write_text(
        TEXTS["2.md"].replace("Nell", "Mags"), encoding="utf-8"
    )
    changed, status, doctor, check = pending(book)
    assert changed == 1
    assert "To ingest: 1 document" in status
    assert "1 new or changed" in doctor
    assert "Not checked: 1 document new or changed" in check


@pytest.mark.parametrize("ingest_first", [False, True])
def test_conflict_markers_are_named_and_an_ingest_is_not_advised(
    book: Terminal, ingest_first: bool
) -> None:
    chapter = book.folder / "2.md"
    chapter.write_text(f"{TEXTS['2.md']}{CONFLICT}", encoding="utf-8")
    if ingest_first:
        assert book.run("ingest").code == ExitCode.PARTIAL
    changed, *answers = pending(book)
    assert changed == 0
    assert book.run("status", "--json").json["conflicted"] == ["2.md"]
    answers += [book.run().out, book.run("diff").out]
    for said in answers:
        assert "2.md has git conflict markers" in said
        assert "Run `lrwr ingest`" not in said
        assert "process what changed" not in said
    assert "up to date" not in answers[0]
    checked = book.run("check").out
    assert "Only the earlier version was checked: 2.md has git conflict" in checked
    (book.folder / "9.md").write_text(CONFLICT, encoding="utf-8")
    assert "Not checked: 9.md has git conflict markers" in book.run("check").out
    findings = book.run("doctor", "--json").json["findings"]
    found = next(f for f in findings if f["part"] == "manuscript")
    assert found["state"] == "warning"
    assert "Resolve" in found["remedy"]


@pytest.mark.parametrize("resolved", ["Nell ran.\n", ""])
def test_a_resolved_conflict_is_no_failed_job(book: Terminal, resolved: str) -> None:
    chapter = book.folder / "2.md"
    chapter.write_text(f"{TEXTS['2.md']}{CONFLICT}", encoding="utf-8")
    assert book.run("ingest").code == ExitCode.PARTIAL
    assert len(book.run("jobs", "--state", "failed", "--json").json) == 1
    chapter.write_text(f"{TEXTS['2.md']}{resolved}", encoding="utf-8")
    ran = book.run("ingest")
    assert ran.code == 0
    unchanged = 3 if resolved else 4
    assert f"{unchanged} unchanged" in ran.out
    assert book.run("jobs", "--state", "failed", "--json").json == []
    findings = book.run("doctor", "--json").json["findings"]
    assert next(f["state"] for f in findings if f["part"] == "jobs") == "ok"
    again = book.run("ingest", "--json").json
    assert (again["processed"], again["unchanged"]) == (0, 4)
    assert len(book.run("jobs", "--json").json) == 6


def stop_before_last(book: Terminal) -> None:
    """Leave the library as an ingestion does that was stopped with one document begun
    and one waiting.
    """
    with closing(sqlite3.connect(book.folder / ".lrwr/library.db")) as library, library:
        library.execute("PRAGMA foreign_keys = ON")
        library.execute("delete from document where id in ('3.md', '4.md')")
        library.execute("update job set state = 'pending' where document_id = '3.md'")
        library.execute(
            "update job set state = 'failed', error = ? where document_id = '4.md'",
            (STOPPED_ERROR,),
        )


def test_after_a_stop_every_command_names_the_same_number_of_documents(
    book: Terminal,
) -> None:
    stop_before_last(book)
    changed, status, _, check = pending(book)
    assert changed == 2
    assert "To ingest: 2 documents" in status
    assert "Not checked: 2 documents" in check
    for words in (("ask", "Who lit it?"), ("search", "lamp"), ("characters",)):
        assert "2 documents not ingested yet" in book.run(*words).err, words
    book.run("ingest")
    assert "not ingested yet" not in book.run("search", "lamp").err


def test_a_file_that_was_deleted_after_a_stop_is_no_longer_waited_for(
    book: Terminal,
) -> None:
    stop_before_last(book)
    (book.folder / "3.md").unlink()
    (book.folder / "4.md").unlink()
    book.run("ingest")
    assert "up to date" in book.run("status").out
    assert "not ingested yet" not in book.run("search", "lamp").err


def test_changed_deleted_and_unreadable_files_are_told_apart(book: Terminal) -> None:
    (book.folder / "1.md").write_text("# Chapter 1\n\nNell slept.\n", encoding="utf-8")
    (book.folder / "2.md").unlink()
    (book.folder / "5.md").write_text("# Chapter 5\n\nNell sang.\n", encoding="utf-8")
    _, status, _, check = pending(book)
    assert "To ingest: 2 documents" in status
    assert "It deletes 1 document" in status
    assert "Not checked: 2 documents new or changed since the last ingest." in check
    assert "Checked although deleted: 1 document without a file." in check
