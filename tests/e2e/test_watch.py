"""`lrwr watch` as it is typed, beside other commands on one folder."""

import json
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lrwr.core.model.errors import ExitCode
from tests.fakes.terminal import LRWR, Terminal, check_refusal

GREY = "# One\n\nNell Tallow's eyes were grey. Nell Tallow sang.\n"
BROWN = GREY.replace("grey", "brown")
HOOK = "import os, sys; print('HOOK', sys.argv[1:], os.environ['LRWR_CHANGED'])"


class Watch:
    """A `lrwr watch --json` that runs, and what it says."""

    def __init__(self, terminal: Terminal, *words: str) -> None:
        self.errors = terminal.folder.parent / "watch-errors"
        with self.errors.open("wb") as errors:
            self.process = subprocess.Popen(
                [str(LRWR), "watch", "--json", *words],
                cwd=terminal.folder,
                env=terminal.env,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                encoding="utf-8",
            )
        self._lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._listen, daemon=True).start()

    def hear(self, event: str) -> dict[str, Any]:
        """Return the next event, which must be this one."""
        row: dict[str, Any] = json.loads(self._lines.get(timeout=50))
        assert row["event"] == event, row
        return row

    def begun(self) -> "Watch":
        """Wait for the first sweep."""
        self.hear("saved")
        self.hear("watching")
        return self

    def stop(self, how: int = signal.SIGINT) -> str:
        """End it, which must be a good end, and return what it said on the side."""
        self.process.send_signal(how)
        assert self.process.wait(timeout=30) == 0
        said = self.errors.read_text(encoding="utf-8")
        assert "Traceback" not in said
        return said

    def _listen(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line)


@pytest.fixture
def book(empty: Terminal) -> Terminal:
    folder = empty.folder / "book"
    folder.mkdir()
    (folder / "1.md").write_text(GREY, encoding="utf-8")
    (folder / "2.md").write_text("# Two\n\nThe frog sat still.\n", encoding="utf-8")
    return empty


@pytest.fixture
def started() -> Iterator[list[Watch]]:
    watches: list[Watch] = []
    yield watches
    for watch in watches:
        if watch.process.poll() is None:
            watch.process.kill()
        watch.process.communicate()


def names(saved: dict[str, Any]) -> list[str]:
    return [one["document"] for one in saved["documents"]]


def swap(path: Path, text: str) -> None:
    fresh = path.with_name(f"{path.name}.tmp")
    fresh.write_text(text, encoding="utf-8")
    fresh.replace(path)


def test_saves_renames_and_deletions_are_followed(
    book: Terminal, started: list[Watch]
) -> None:
    watch = Watch(book, "book")
    started.append(watch)
    watch.begun()
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
    book: Terminal, started: list[Watch]
) -> None:
    watch = Watch(book, "book")
    started.append(watch)
    watch.begun()
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
    book: Terminal, started: list[Watch]
) -> None:
    watch = Watch(book, ".")
    started.append(watch)
    watch.begun()
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
    book: Terminal, started: list[Watch]
) -> None:
    assert book.run("ingest", "book").code == 0
    command = f'"{sys.executable}" -c "{HOOK}" "$(touch hacked)"'
    watch = Watch(book, "--exec", command)
    started.append(watch)
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
    book: Terminal, started: list[Watch]
) -> None:
    watch = Watch(book, "book", "--exec", "no-such-command-at-all")
    started.append(watch)
    watch.begun()
    swap(book.folder / "book/1.md", BROWN)
    watch.hear("saved")
    assert "no-such-command-at-all cannot be run" in watch.stop()


def test_once_looks_once(book: Terminal) -> None:
    ran = book.run("watch", "book", "--once")
    assert ran.code == 0
    assert ran.out.startswith("book/1.md, book/2.md read: 2 passages new")
    assert book.run("watch", "--once").out == ""
    swap(book.folder / "book/1.md", BROWN)
    again = book.run("watch", "--once")
    assert "Nell Tallow's eyes: grey -> brown" in again.out
    (book.folder / "book/bad.docx").write_bytes(b"no zip")
    bad = book.run("watch", "--once")
    assert (bad.code, bad.out) == (ExitCode.PARTIAL, "")
    assert "bad.docx" in bad.err


def test_what_cannot_be_watched_is_refused(book: Terminal) -> None:
    check_refusal(book.run("watch"), ExitCode.NOT_FOUND, "where your manuscript is")
    check_refusal(book.run("watch", "none"), ExitCode.NOT_FOUND, "none")
    check_refusal(
        book.run("watch", "book", "--exec", "'open"), ExitCode.SETTINGS, "--exec"
    )
    assert [path.name for path in book.folder.iterdir()] == ["book"]


def test_a_save_that_contradicts_what_was_said_before_is_told(
    book: Terminal, started: list[Watch]
) -> None:
    note = book.folder / "book" / "characters" / "Nell Tallow.md"
    note.parent.mkdir()
    note.write_text("# Nell Tallow\n\n- Eyes: grey\n", encoding="utf-8")
    watch = Watch(book, "book")
    started.append(watch)
    watch.begun()
    later = book.folder / "book" / "9.md"
    later.write_text("# Nine\n\nNell Tallow's eyes were green.\n", encoding="utf-8")
    watch.hear("saved")
    slip = watch.hear("contradiction")
    assert (slip["about"], slip["attribute"]) == ("Nell Tallow", "eyes")
    assert {slip["canon"]["value"], slip["found"]["value"]} == {"grey", "green"}
    later.write_text("# Nine\n\nNell Tallow's eyes were grey.\n", encoding="utf-8")
    watch.hear("saved")
    watch.stop()
