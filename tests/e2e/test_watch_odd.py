"""`lrwr watch` in the odd hours of a folder's life."""

import os
import pty
import re
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing

import pytest

from lrwr.core.model.errors import ExitCode
from tests.fakes import hardship
from tests.fakes.terminal import LRWR, Terminal
from tests.fakes.watch_process import Watch, swap

GREY = "# One\n\nNell Tallow's eyes were grey. Nell Tallow sang.\n"
BROWN = GREY.replace("grey", "brown")
FROG = "# Two\n\nThe frog sat still.\n"
STORM = 5_000
QUIT = b"\x11"


@pytest.fixture
def book(empty: Terminal) -> Terminal:
    folder = empty.folder / "book"
    folder.mkdir()
    (folder / "1.md").write_text(GREY, encoding="utf-8")
    (folder / "2.md").write_text(FROG, encoding="utf-8")
    return empty


@pytest.fixture
def started() -> Iterator[list[Watch]]:
    watches: list[Watch] = []
    yield watches
    for watch in watches:
        if watch.process.poll() is None:
            watch.process.kill()
        watch.process.communicate()


def test_a_folder_that_another_takes_the_place_of_is_read_as_it_is_now(
    book: Terminal, started: list[Watch]
) -> None:
    watch = Watch(book, "book")
    started.append(watch)
    watch.begun()
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
    book: Terminal, started: list[Watch]
) -> None:
    watch = Watch(book, "book")
    started.append(watch)
    watch.begun()
    (book.folder / ".lrwr").rename(book.folder / ".lrwr-old")
    assert book.run("ingest", "book").code == 0
    swap(book.folder / "book" / "1.md", BROWN)
    code, said = watch.end()
    assert code == ExitCode.STORE
    assert "another is in its place" in said
    assert "Start `lrwr watch` again" in said
    assert "Traceback" not in said


@pytest.mark.skipif(sys.platform == "win32", reason="rights are another matter there")
def test_a_library_that_may_not_be_written_meanwhile_is_told_and_made_good(
    book: Terminal, started: list[Watch]
) -> None:
    want = [sys.executable, hardship.__file__, "no-rights"]
    assert book.run("ingest", "book").code == 0
    state = book.folder / ".lrwr"
    rights = {path: path.stat().st_mode for path in (state, *state.iterdir())}
    for path in rights:
        path.chmod(0o555 if path == state else 0o444)
    swap(book.folder / "book" / "1.md", BROWN)
    refused = Watch(book, before=want)
    started.append(refused)
    code, said = refused.end()
    assert (code, said.count("\n")) == (ExitCode.STORE, 2)
    assert "may not be written" in said
    for path, mode in rights.items():
        path.chmod(mode)
    watch = Watch(book, before=want)
    started.append(watch)
    watch.begun()
    watch.stop()
    assert "brown" in book.run("search", "brown").out


def test_a_storm_of_temporary_files_is_no_save(
    book: Terminal, started: list[Watch]
) -> None:
    watch = Watch(book, "book")
    started.append(watch)
    watch.begun()
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


class Chat:
    """`lrwr chat` in a terminal of its own, and all that it draws."""

    def __init__(self, terminal: Terminal) -> None:
        self._keys, screen = pty.openpty()
        env = {
            **terminal.env,
            "TERM": "xterm-256color",
            "COLUMNS": "120",
            "LINES": "40",
        }
        self.process = subprocess.Popen(
            [str(LRWR), "chat"],
            cwd=terminal.folder,
            env=env,
            stdin=screen,
            stdout=screen,
            stderr=screen,
            start_new_session=True,
        )
        os.close(screen)
        self.drawn = b""
        self._more = threading.Condition()
        threading.Thread(target=self._look, daemon=True).start()

    def see(self, words: bytes) -> None:
        """Wait until these words have been drawn."""
        with self._more:
            seen = self._more.wait_for(lambda: words in self.drawn, timeout=50)
        assert seen, re.sub(rb"\x1b\[[0-9;?]*[a-zA-Z]", b"", self.drawn)[-2_000:]

    def ask(self, question: bytes) -> None:
        """Type a question, and Enter after it, once."""
        self.press(question)
        self.press(b"\r")

    def press(self, keys: bytes) -> None:
        """Type these keys."""
        os.write(self._keys, keys)

    def _look(self) -> None:
        while True:
            try:
                drawn = os.read(self._keys, 65_536)
            except OSError:  # it has ended
                return
            with self._more:
                self.drawn += drawn
                self._more.notify_all()


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
def test_two_watches_and_a_conversation_keep_out_of_each_others_way(
    book: Terminal, started: list[Watch]
) -> None:
    started += [Watch(book, "book"), Watch(book, "book")]
    for watch in started:
        watch.until("watching")
    chat = Chat(book)
    try:
        chat.see(b"sk your manuscript")
        chat.ask(b"What colour are Nell Tallow's eyes?")  # nothing is loaded yet
        chat.see(b"eyes were grey")
        swap(book.folder / "book" / "1.md", BROWN)
        wait_until_read(book, "book/1.md", "brown")
        chat.ask(b"And what colour are Nell Tallow's eyes now?")
        chat.see(b"eyes were brown")
        swap(book.folder / "book" / "2.md", "# Two\n\nThe toad sat.\n")
        wait_until_read(book, "book/2.md", "toad")
        chat.press(QUIT)
        assert chat.process.wait(timeout=30) == 0
    finally:
        chat.process.kill()
        chat.process.wait()
    for watch in started:
        said = watch.stop()
        assert "lrwr: " not in said
        assert "locked" not in said
