"""`lrwr watch` as it is typed, beside other commands on one folder."""

import signal
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from lrwr.core.model.errors import ExitCode
from tests.fakes.terminal import Terminal, check_refusal
from tests.fakes.watch_process import BROWN, Watches, swap, write_book

HOOK = "import os, sys; print('HOOK', sys.argv[1:], os.environ['LRWR_CHANGED'])"


@pytest.fixture
def book(empty: Terminal) -> Terminal:
    write_book(empty)
    return empty


@pytest.fixture
def watches(book: Terminal) -> Iterator[Watches]:
    with Watches(book) as opened:
        yield opened


def names(saved: dict[str, Any]) -> list[str]:
    return [one["document"] for one in saved["documents"]]


def test_saves_renames_and_deletions_are_followed(
    book: Terminal, watches: Watches
) -> None:
    watch = watches.start("book").begun()
    folder = book.folder / "book"
    (folder / "3.md").write_text("# Three\n\nThe eel bit.\n", encoding="utf-8")
    assert names(watch.hear("saved")) == ["book/3.md"]
    assert "eel" in book.run("search", "eel").out
    swap(folder / "1.md", BROWN)
    saved = watch.hear("saved")
    (shift,) = saved["facts"]["changed"]
    assert (shift["before"], shift["after"]) == ("grey", "brown")
    (folder / "3.md").rename(folder / "4.md")
    saved = watch.hear("saved")
    assert saved["documents"][0]["was"] == "book/3.md"
    (folder / "2.md").unlink()
    (folder / "2.md").write_text("# Two\n\nThe toad sat.\n", encoding="utf-8")
    (saved,) = [watch.hear("saved")]
    assert (names(saved), saved["documents"][0]["gone"]) == (["book/2.md"], False)
    assert book.run("ingest").code == 0
    (folder / "4.md").unlink()
    assert watch.hear("saved")["documents"][0]["gone"]
    watch.stop()
    assert book.run("status", "--json").json["documents"] == 2


def test_a_folder_that_goes_and_returns_is_waited_for(
    book: Terminal, watches: Watches
) -> None:
    watch = watches.start("book").begun()
    folder = book.folder / "book"
    folder.rename(book.folder / "away")
    watch.hear("away")
    assert "grey" in book.run("search", "grey").out
    swap(book.folder / "away/1.md", BROWN)
    (book.folder / "away").rename(folder)
    assert names(watch.hear("saved")) == ["book/1.md"]
    watch.hear("returned")
    swap(folder / "2.md", "# Two\n\nThe toad sat.\n")
    assert names(watch.hear("saved")) == ["book/2.md"]
    watch.stop(signal.SIGTERM)
    assert book.run("status", "--json").json["documents"] == 2


def test_a_whole_library_that_goes_and_returns_is_not_made_anew(
    book: Terminal, watches: Watches
) -> None:
    watch = watches.start(".").begun()
    away = book.folder.with_name("away")
    book.folder.rename(away)
    watch.hear("away")
    assert not book.folder.exists()
    away.rename(book.folder)
    watch.hear("returned")
    swap(book.folder / "book/1.md", BROWN)
    assert watch.hear("saved")["facts"]["changed"]
    watch.stop()


def test_a_command_is_run_with_the_names_and_through_no_shell(
    book: Terminal, watches: Watches
) -> None:
    assert book.run("ingest", "book").code == 0
    command = f'"{sys.executable}" -c "{HOOK}" "$(touch hacked)"'
    watch = watches.start("--exec", command)
    watch.hear("watching")
    odd = "; touch hacked #.md"
    swap(book.folder / "book" / odd, BROWN)
    watch.hear("saved")
    swap(book.folder / "book" / "2.md", BROWN)
    watch.hear("saved")
    (book.folder / "book" / "5.md").write_text(BROWN, encoding="utf-8")
    watch.hear("saved")
    said = watch.stop()
    assert f"HOOK ['$(touch hacked)', 'book/{odd}'] book/{odd}\n" in said
    assert not list(book.folder.rglob("hacked"))


def test_a_command_that_fails_is_told_and_the_watch_goes_on(
    book: Terminal, watches: Watches
) -> None:
    watch = watches.start("book", "--exec", "no-such-command-at-all").begun()
    swap(book.folder / "book/1.md", BROWN)
    watch.hear("saved")
    assert "Cannot run no-such-command-at-all" in watch.stop()


def test_once_looks_once(book: Terminal) -> None:
    ran = book.run("watch", "book", "--once")
    assert ran.code == 0
    assert ran.out.startswith("book/1.md, book/2.md processed: 2 passages new")
    assert book.run("watch", "--once").out == "Nothing changed.\n"
    swap(book.folder / "book/1.md", BROWN)
    again = book.run("watch", "--once")
    assert "Nell Tallow's eyes: grey -> brown" in again.out
    (book.folder / "book/bad.docx").write_bytes(b"no zip")
    bad = book.run("watch", "--once")
    assert bad.code == ExitCode.PARTIAL
    assert bad.out.startswith("warning: book/bad.docx")


def test_what_cannot_be_watched_is_refused(book: Terminal) -> None:
    check_refusal(book.run("watch"), ExitCode.NOT_FOUND, "No manuscript folder")
    check_refusal(book.run("watch", "none"), ExitCode.NOT_FOUND, "none")
    check_refusal(
        book.run("watch", "book", "--exec", "'open"), ExitCode.SETTINGS, "--exec"
    )
    assert [path.name for path in book.folder.iterdir()] == ["book"]


def test_a_save_that_contradicts_what_was_said_before_is_told(
    book: Terminal, watches: Watches
) -> None:
    note = book.folder / "book" / "characters" / "Nell Tallow.md"
    note.parent.mkdir()
    note.write_text("# Nell Tallow\n\n- Eyes: grey\n", encoding="utf-8")
    watch = watches.start("book").begun()
    later = book.folder / "book" / "9.md"
    later.write_text("# Nine\n\nNell Tallow's eyes were green.\n", encoding="utf-8")
    watch.hear("saved")
    slip = watch.hear("contradiction")
    assert (slip["about"], slip["attribute"]) == ("Nell Tallow", "eyes")
    assert {slip["canon"]["value"], slip["found"]["value"]} == {"grey", "green"}
    later.write_text("# Nine\n\nNell Tallow's eyes were grey.\n", encoding="utf-8")
    watch.hear("saved")
    watch.stop()
