"""The writing room as it is installed, in a real terminal."""

import signal
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.fakes.model_server import ModelServer, Refuse, Say
from tests.fakes.pty_terminal import PtyTerminal
from tests.fakes.read_books import copy_sample
from tests.fakes.room import with_model
from tests.fakes.terminal import LRWR, Terminal


def open_room(book: Terminal, *words: str, **env: str) -> PtyTerminal:
    return PtyTerminal(
        [str(LRWR), "chat", *words], folder=book.folder, env={**book.env, **env}
    )


@pytest.fixture
def book(read_sample: Terminal) -> Terminal:
    return read_sample


def test_a_day_in_the_room(book: Terminal, tmp_path: Path) -> None:
    opened, editor = tmp_path / "opened", tmp_path / "vim"
    editor.write_text(f'#!/bin/sh\necho "$@" > "{opened}"\necho Now in vim\n')
    editor.chmod(0o755)
    with open_room(book, EDITOR=str(editor)) as room:
        room.expect("Ask your manuscript")
        room.press(*"Who keeps the ledger?", "enter")
        room.expect("the analyst")
        room.expect("[1]")
        room.press("alt+1")
        room.expect("Enter open")
        room.press("enter")
        room.expect("Now in vim")
        room.expect("[1]")
        room.press("f2")
        room.expect("Type to search")
        room.press(*"ochra")
        room.expect("66 times")
        room.press("enter")
        room.expect("about OchraMags")
        room.press("f3")
        room.expect("the whole story")
        room.press("down", "down", "enter")
        room.expect("up to chapter 1")
        room.press("ctrl+q")
        assert room.leave() == 0
    assert opened.read_text().startswith("+")
    with open_room(book, "--thread", "1") as room:
        room.expect("Who keeps the ledger?")
        room.press("ctrl+q")
        assert room.leave() == 0


def test_no_key_is_lost_that_is_typed_while_the_room_starts(book: Terminal) -> None:
    question = "Who keeps the ledger of Thole?"
    with open_room(book) as room:
        room.press(*question)  # the first ones before anything is drawn
        room.expect("Help")
        room.press("enter")
        room.expect("[1]")
        room.press("ctrl+q")
        assert room.leave() == 0
    assert question in book.run("threads").out


def test_the_first_day_reads_in_the_background_stops_and_goes_on(
    empty: Terminal,
) -> None:
    copy_sample(empty.folder / "draft")
    with open_room(empty) as room:
        room.expect("Press Ctrl+L")
        room.press("ctrl+l")
        room.expect("Folder of your manuscript")
        room.press(*"draft", "enter")
        room.expect("of 27 documents")
        room.press("escape")
        room.expect("You can ask already")
        room.press("ctrl+c")
        room.expect("Press Ctrl+C again to stop reading")
        room.press("ctrl+c")
        room.expect("Stopped reading.")
        room.press("ctrl+l")
        room.expect("To go on, press r")
        room.press("r")
        room.expect("documents processed")
        room.press("ctrl+q")
        assert room.leave() == 0


@pytest.mark.parametrize("told", [signal.SIGHUP, signal.SIGTERM])
def test_a_terminal_that_is_closed_loses_nothing(
    book: Terminal, told: signal.Signals
) -> None:
    with ModelServer(key="") as server:
        server.pause = 0.05
        server.answering(
            lambda asked: Refuse(400) if asked.shape else Say(*["word "] * 2_000)
        )
        with open_room(book, **with_model(server)) as room:
            room.expect("Ask your manuscript")
            room.press(*"Who keeps the ledger?", "enter")
            room.expect("word word")
            room.tell(told)
            assert room.leave() == 0
    (talk,) = book.run("threads", "--json").json
    (turn,) = book.run("threads", "show", talk["id"], "--json").json["conversation"]
    assert turn["state"] == "stopped"
    assert turn["answer"].startswith("word word")


@pytest.mark.exhaustive
def test_an_answer_that_could_not_be_kept_is_told_of_once_the_screen_is_gone(
    book: Terminal,
) -> None:
    database = next((book.folder / ".lrwr").glob("*.db"))
    with ModelServer(key="") as server:
        server.pause = 0.05
        server.answering(
            lambda asked: Refuse(400) if asked.shape else Say(*["word "] * 2_000)
        )
        with open_room(book, **with_model(server)) as room:
            room.expect("Ask your manuscript")
            room.press(*"Who keeps the ledger?", "enter")
            room.expect("word word")
            with closing(sqlite3.connect(database)) as other:
                other.execute("begin exclusive")
                room.press("ctrl+q")
                room.expect("could not be saved:")
            assert room.leave() == 0
