"""What status, doctor and check say of files that the library does not match."""

import shutil

import pytest

from lrwr.core.model.errors import ExitCode
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
    assert "Not checked: 1 document changed" in check


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
