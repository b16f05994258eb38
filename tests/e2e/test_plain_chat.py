"""A conversation line by line: piped in, and typed on a terminal."""

import codecs
import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from lrwr.app.presenters.answers import NO_MODEL
from lrwr.core.model.errors import ExitCode
from tests.fakes.model_server import MODEL, ModelServer, Nonsense, Say
from tests.fakes.terminal import LRWR, Ran, Terminal, check_refusal

LEDGER = "Who keeps the ledger?"


@pytest.fixture
def book(read_sample: Terminal) -> Terminal:
    return read_sample


def chat(book: Terminal, *lines: str, **env: str) -> Ran:
    given = "".join(f"{line}\n" for line in lines)
    return book.run("chat", "--plain", given=given, **env)


def test_lines_are_answered_in_one_conversation_that_is_kept(book: Terminal) -> None:
    ran = chat(book, LEDGER, "", "What does Nell know of it?")
    assert ran.code == 0
    assert "[1] " in ran.out
    assert "> " not in ran.out
    (thread,) = book.run("threads", "--json").json
    assert (thread["title"], thread["turns"]) == (LEDGER, 2)


def test_a_pipe_needs_no_flag_and_is_told_so(book: Terminal) -> None:
    ran = book.run("chat", given=f"{LEDGER}\n")
    assert ran.code == 0
    assert "using `--plain`" in ran.err
    assert "[1] " in ran.out


def test_an_answer_is_what_ask_prints(book: Terminal) -> None:
    asked = book.run("ask", LEDGER)
    answer = asked.out.removesuffix(f"{NO_MODEL}\n")
    assert chat(book, LEDGER).out == f"{NO_MODEL}\n{answer}\n"


def test_a_backslash_goes_on_with_the_next_line(book: Terminal) -> None:
    chat(book, "Who keeps \\", "the ledger?")
    (thread,) = book.run("threads", "--json").json
    shown = book.run("threads", "show", thread["id"], "--json").json
    assert [one["question"] for one in shown["conversation"]] == [
        "Who keeps \nthe ledger?"
    ]


def test_the_writer_chooses_whom_and_when(book: Terminal) -> None:
    lines = ["/character nell", "/mode in-character", "/asof ch7", "/witnessed", LEDGER]
    ran = chat(book, *lines)
    assert "Nell Tallow answers, up to chapter 7, only what was witnessed." in ran.err
    (thread,) = book.run("threads", "--json").json
    assert (thread["character"], thread["as_of"]) == ("Nell Tallow", "ch7")
    assert (thread["mode"], thread["witnessed"]) == ("in_character", True)


def test_a_character_whom_the_story_does_not_know_yet_is_let_go(book: Terminal) -> None:
    ran = chat(book, "/character Dorothea Pell", "/asof ch1", "/asof all")
    assert "Dorothea Pell does not appear up to that point" in ran.err
    assert ran.err.rstrip().endswith("the analyst answers, whole story.")


def test_conversations_are_listed_begun_renamed_written_and_taken_up(
    book: Terminal,
) -> None:
    file = book.folder.parent / "talk.md"
    ran = chat(
        book,
        LEDGER,
        "/rename The ledger",
        f"/export {file}",
        f"/export {file}",
        "/new",
        "Who is Nell?",
        "/threads",
        "/threads The ledger",
        "And why?",
    )
    assert "Renamed this thread to “The ledger”." in ran.out
    assert file.read_text(encoding="utf-8").startswith("# The ledger")
    assert f"{file} already exists" in ran.err
    kept = {one["title"]: one["turns"] for one in book.run("threads", "--json").json}
    assert kept == {"The ledger": 2, "Nell": 1}


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("/people", "Nell Tallow"),
        ("/characters nell", "Nell Tallow"),
        ("/character", "OchraMags"),
        ("/world", "Half House"),
        ("/world half house", "Half House"),
        ("/timeline", "Chapter 1"),
        ("/timeline nell", "Nell"),
        ("/asof", "ch1  Chapter One"),
        ("/help", "/open NUMBER|NAME  Open a passage"),
    ],
)
def test_the_story_can_be_looked_up(book: Terminal, command: str, shown: str) -> None:
    ran = chat(book, command)
    assert ran.code == 0
    assert shown in ran.out


def test_gaps_are_told(book: Terminal) -> None:
    assert "No open questions found" in chat(book, "/gaps", "/gaps nell").out


def test_a_passage_is_named_with_its_file_and_line(book: Terminal) -> None:
    ran = chat(book, LEDGER, "/open 1", "/open 99", "/open")
    place = ran.out.splitlines()[-1]
    file, _, line = place.rpartition(":")
    assert Path(file).is_file()
    assert line.isdigit()
    assert "The last answer has no citation 99" in ran.err
    assert "hint: Choose from: 1, 2" in ran.err


def test_what_goes_wrong_is_told_and_the_conversation_goes_on(book: Terminal) -> None:
    ran = chat(
        book,
        "/charcter Nell",
        "/character Zebedee",
        "/asof ch99",
        "/mode sideways",
        "/rename x",
        "/witnessed",
        "/quit smoking?",
        "x" * 4_001,
        " /quit is a word?",
        LEDGER,
    )
    assert ran.code == 0
    assert "Did you mean /character?" in ran.err
    assert "is called Zebedee" in ran.err
    assert "This thread has no turns yet" in ran.err
    assert "No character is chosen" in ran.err
    assert "/quit takes no argument" in ran.err
    assert "the limit is 4,000" in ran.err
    assert "[1] " in ran.out


def test_quit_ends_it(book: Terminal) -> None:
    ran = chat(book, "/quit", LEDGER)
    assert (ran.out, ran.code) == (f"{NO_MODEL}\n", 0)


def test_a_text_of_the_manuscript_steers_nothing(book: Terminal) -> None:
    ran = chat(book, "Who is \x1b[31m[bold]red[/bold]?", "/\x1b[2J")
    assert ran.code == 0


def test_where_nothing_was_read_it_says_so_at_once(empty: Terminal) -> None:
    check_refusal(chat(empty, LEDGER), ExitCode.NOT_FOUND, "lrwr ingest")


class Typed:
    """Somebody at a terminal. `seen` is all that was shown."""

    def __init__(self, book: Terminal, **env: str) -> None:
        self.seen = ""
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._at = 0
        self._ours, theirs = os.openpty()
        self._running = subprocess.Popen(
            [LRWR, "chat", "--plain"],
            cwd=book.folder,
            env={**book.env, "TERM": "xterm", "NO_COLOR": "1", **env},
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )
        os.close(theirs)

    def __enter__(self) -> "Typed":
        return self

    def __exit__(self, *_: object) -> None:
        self._running.kill()
        self._running.wait()
        os.close(self._ours)

    def type(self, text: str) -> None:
        os.write(self._ours, text.encode())

    def interrupt(self) -> None:
        """Stop what is under way.

        A signal that comes just before somebody waits for a key is heard with the next
        one: here an empty line.
        """
        self._running.send_signal(signal.SIGINT)
        self.type("\n")

    def until(self, text: str) -> None:
        """Wait until `text` is shown after what was waited for before."""
        while (found := self.seen.find(text, self._at)) < 0:
            self.seen += self._decoder.decode(os.read(self._ours, 1_024))
        self._at = found + len(text)

    def end(self) -> int:
        with contextlib.suppress(OSError):  # the terminal is gone with its last user
            while part := os.read(self._ours, 1_024):
                self.seen += part.decode()
        return self._running.wait()


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(key="") as found:
        yield found


needs_a_terminal = pytest.mark.skipif(
    not hasattr(os, "openpty"), reason="there are no such terminals here"
)


@needs_a_terminal
def test_on_a_terminal_it_asks_for_lines_and_ctrl_d_ends_it(book: Terminal) -> None:
    chat(book, "Who is Nell?")
    with Typed(book) as typed:
        typed.until("> ")
        typed.type(f"{LEDGER}\n")
        typed.until("[1] ")
        typed.until("\n> ")
        assert "\x1b" not in typed.seen
        typed.type("\x1b[A\x1b[A\n")  # Up, twice: what was asked in former times
        typed.until("\n> ")
        typed.type("\x04")
        assert typed.end() == 0
    newest, _ = book.run("threads", "--json").json
    shown = book.run("threads", "show", newest["id"], "--json").json
    asked = [one["question"] for one in shown["conversation"]]
    assert asked == [LEDGER, "Who is Nell?"]


@needs_a_terminal
def test_a_passage_is_opened_in_the_editor(book: Terminal, tmp_path: Path) -> None:
    (tmp_path / "vi").write_text('#!/bin/sh\necho "opened $1 of $2"\n')
    (tmp_path / "vi").chmod(0o755)
    with Typed(book, EDITOR=str(tmp_path / "vi")) as typed:
        typed.until("> ")
        typed.type(f"{LEDGER}\n")
        typed.until("\n> ")
        typed.type("/open 2\n")
        typed.until("opened +")
        typed.until("\n> ")
        typed.type("/quit\n")
        assert typed.end() == 0


@needs_a_terminal
def test_ctrl_c_stops_an_answer_and_a_second_one_ends_it(
    book: Terminal, server: ModelServer
) -> None:
    server.pause = 60.0
    answer = Say("Nell says ", "nothing more.")
    server.answering(lambda asked: Nonsense() if asked.shape else answer)
    model = {
        "LRWR_MODEL_USE": "local",
        "LRWR_MODEL_NAME": MODEL,
        "LRWR_MODEL_BASE_URL": server.base_url,
    }
    with Typed(book, **model) as typed:
        typed.until("> ")
        typed.type(f"{LEDGER}\n")
        typed.until("Nell says")
        typed.interrupt()
        typed.until("Stopped. The answer so far is saved")
        typed.until("> ")
        typed.interrupt()
        assert typed.end() == 0
    (thread,) = book.run("threads", "--json").json
    shown = book.run("threads", "show", thread["id"], "--json").json
    (turn,) = shown["conversation"]
    assert (turn["state"], turn["answer"]) == ("stopped", "Nell says ")


@needs_a_terminal
@pytest.mark.exhaustive
def test_after_a_stop_the_conversation_goes_on(
    book: Terminal, server: ModelServer
) -> None:
    server.pause = 60.0
    answer = Say("Nell says ", "nothing more.")
    server.answering(lambda asked: Nonsense() if asked.shape else answer)
    model = {
        "LRWR_MODEL_USE": "local",
        "LRWR_MODEL_NAME": MODEL,
        "LRWR_MODEL_BASE_URL": server.base_url,
    }
    with Typed(book, **model) as typed:
        typed.until("> ")
        typed.type(f"{LEDGER}\n")
        typed.until("Nell says")
        typed.interrupt()
        typed.until("\n> ")
        typed.type("/rename Stopped\n")
        typed.until("Renamed this thread to “Stopped”")
        typed.until("\n> ")
        typed.interrupt()
        typed.until("Ctrl-C again")
        typed.until("> ")
        typed.interrupt()
        assert typed.end() == 0
    (thread,) = book.run("threads", "--json").json
    assert thread["title"] == "Stopped"


def test_the_screens_have_commands_of_the_same_names(book: Terminal) -> None:
    ran = chat(
        book,
        "/check",
        "/search ledger",
        "/search ledger ch1-ch2",
        "/timeline ch2",
        "/characters ch2",
        "/relations Nell",
        "/quotes Nell",
        "/recap ch1",
        "/review",
        "/read ch2",
        "/diff",
        "/ingest",
        "/library",
        "/settings search.limit",
    )
    assert "eyes: brown in ch2" in ran.out
    assert "chapters/" in ran.out
    assert "to " in ran.out
    assert "Chapter 1" in ran.out
    assert "last ingest -> now: no changes." in ran.out
    assert "0 documents processed" in ran.out
    assert "The library is up to date" in ran.out
    assert "search.limit" in ran.out
    assert "There is no command" not in ran.err
