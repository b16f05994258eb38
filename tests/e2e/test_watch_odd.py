"""`lrwr watch` in the odd hours of a folder's life."""

import sqlite3
import sys
import time
from collections.abc import Iterator
from contextlib import closing

import pytest

from lrwr.core.model.errors import ExitCode
from tests.fakes import restricted_process
from tests.fakes.pty_terminal import PtyTerminal
from tests.fakes.terminal import LRWR, Terminal
from tests.fakes.watch_process import BROWN, Watches, swap, write_book

STORM = 5_000


@pytest.fixture
def book(empty: Terminal) -> Terminal:
    write_book(empty)
    return empty


@pytest.fixture
def watches(book: Terminal) -> Iterator[Watches]:
    with Watches(book) as opened:
        yield opened


@pytest.mark.exhaustive
def test_a_folder_that_another_takes_the_place_of_is_read_as_it_is_now(
    book: Terminal, watches: Watches
) -> None:
    watch = watches.start("book").begun()
    folder = book.folder / "book"
    other = book.folder / "other"
    other.mkdir()
    (other / "1.md").write_text(BROWN, encoding="utf-8")
    (other / "3.md").write_text("# Three\n\nThe eel bit.\n", encoding="utf-8")
    folder.rename(book.folder / "away")
    other.rename(folder)
    *_, saved = watch.until("saved")
    changed = {one["document"]: one["gone"] for one in saved["documents"]}
    assert changed == {"book/1.md": False, "book/2.md": True, "book/3.md": False}
    swap(folder / "3.md", "# Three\n\nThe eel sang.\n")
    *_, saved = watch.until("saved")  # that it was away may be told before
    assert [one["document"] for one in saved["documents"]] == ["book/3.md"]
    watch.stop()
    assert book.run("status", "--json").json["documents"] == 2


def test_another_library_in_the_place_of_ours_ends_the_watch_in_one_sentence(
    book: Terminal, watches: Watches
) -> None:
    watch = watches.start("book").begun()
    (book.folder / ".lrwr").rename(book.folder / ".lrwr-old")
    assert book.run("ingest", "book").code == 0
    swap(book.folder / "book" / "1.md", BROWN)
    code, said = watch.end()
    assert code == ExitCode.STORE
    assert "deleted or replaced" in said
    assert "Start `lrwr watch` again" in said
    assert "Traceback" not in said


@pytest.mark.skipif(sys.platform == "win32", reason="rights are another matter there")
def test_a_library_that_may_not_be_written_meanwhile_is_told_and_made_good(
    book: Terminal, watches: Watches
) -> None:
    want = [sys.executable, restricted_process.__file__, "no-rights"]
    assert book.run("ingest", "book").code == 0
    state = book.folder / ".lrwr"
    rights = {path: path.stat().st_mode for path in (state, *state.iterdir())}
    for path in rights:
        path.chmod(0o555 if path == state else 0o444)
    swap(book.folder / "book" / "1.md", BROWN)
    refused = watches.start(before=want)
    code, said = refused.end()
    assert (code, said.count("\n")) == (ExitCode.STORE, 2)
    assert "is not writable" in said
    for path, mode in rights.items():
        path.chmod(mode)
    watch = watches.start(before=want).begun()
    watch.stop()
    assert "brown" in book.run("search", "brown").out


def test_a_storm_of_temporary_files_is_no_save(
    book: Terminal, watches: Watches
) -> None:
    watch = watches.start("book").begun()
    folder = book.folder / "book"
    for number in range(STORM):
        path = folder / (f".1.md.{number}.swp", f"{number}.tmp", "4913")[number % 3]
        path.write_bytes(b"x")
        path.unlink()
    swap(folder / "1.md", BROWN)
    assert [one["document"] for one in watch.hear("saved")["documents"]] == [
        "book/1.md"
    ]
    swap(folder / "2.md", "# Two\n\nThe toad sat.\n")
    assert [one["document"] for one in watch.hear("saved")["documents"]] == [
        "book/2.md"
    ]
    watch.stop()
    assert book.run("status", "--json").json["documents"] == 2


def wait_until_read(terminal: Terminal, document: str, word: str) -> None:
    """Wait until the library has what a file says now."""
    text = ""
    while word not in text:
        time.sleep(0.05)
        with closing(sqlite3.connect(terminal.folder / ".lrwr/library.db")) as library:
            sql = "select text from document where id = ?"
            (text,) = library.execute(sql, (document,)).fetchone()


@pytest.mark.skipif(sys.platform == "win32", reason="it has no such terminals")
@pytest.mark.timeout(180)
@pytest.mark.exhaustive
def test_two_watches_and_a_conversation_keep_out_of_each_others_way(
    book: Terminal, watches: Watches
) -> None:
    for _ in range(2):
        watches.start("book").until("watching")
    with PtyTerminal([str(LRWR), "chat"], folder=book.folder, env=book.env) as chat:
        chat.expect("sk your manuscript")
        chat.press("What colour are Nell Tallow's eyes?", "enter")
        chat.expect("eyes were grey")  # nothing was loaded before
        swap(book.folder / "book" / "1.md", BROWN)
        wait_until_read(book, "book/1.md", "brown")
        chat.press("And what colour are Nell Tallow's eyes now?", "enter")
        chat.expect("eyes were brown")
        swap(book.folder / "book" / "2.md", "# Two\n\nThe toad sat.\n")
        wait_until_read(book, "book/2.md", "toad")
        chat.press("ctrl+q")
        assert chat.leave() == 0
    for watch in watches.started:
        said = watch.stop()
        assert "lrwr: " not in said
        assert "locked" not in said
