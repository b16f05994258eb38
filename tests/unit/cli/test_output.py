"""stdout is the answer, stderr the story, and no text steers a terminal."""

import io
import json
import subprocess
import sys
from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from lrwr.app.presenters.text import LinePiece, StyledTable, StyledText, sanitize_text
from lrwr.cli.runtime.output import ColorMode, Output
from lrwr.cli.runtime.services import create_progress_listener
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.errors import LrwrError
from lrwr.core.model.jobs import (
    ChunksEmbedded,
    DocumentFinished,
    IngestPlanned,
    JobStage,
    StageStarted,
)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Gone(io.StringIO):
    def write(self, text: str) -> int:
        raise BrokenPipeError


@dataclass(frozen=True, slots=True)
class Streams:
    output: Output
    stdout: io.StringIO
    stderr: io.StringIO

    @property
    def answer(self) -> str:
        return self.stdout.getvalue()

    @property
    def story(self) -> str:
        return self.stderr.getvalue()


def piped(color: ColorMode = "auto", **env: str) -> Streams:
    stdout, stderr = io.StringIO(), io.StringIO()
    output = Output(color=color, env=env, stdout=stdout, stderr=stderr)
    return Streams(output, stdout, stderr)


def on_terminal(
    color: ColorMode = "auto", progress: bool = True, **env: str
) -> Streams:
    stdout, stderr = Terminal(), Terminal()
    env = {"TERM": "xterm-256color", **env}
    output = Output(
        color=color, progress=progress, env=env, stdout=stdout, stderr=stderr
    )
    return Streams(output, stdout, stderr)


def test_the_answer_goes_to_stdout_and_the_story_to_stderr() -> None:
    streams = piped()
    streams.output.answer("Found ", StyledText("chapter 3", "place"))
    streams.output.info("reading…")
    assert (streams.answer, streams.story) == ("Found chapter 3\n", "reading…\n")


def test_a_problem_shows_what_happened_and_what_to_try() -> None:
    streams = piped()
    streams.output.error(LrwrError("It broke", hint="Try again."))
    streams.output.error(LrwrError("No idea"))
    assert streams.story == "lrwr: It broke\nhint: Try again.\nlrwr: No idea\n"
    assert streams.answer == ""


@pytest.mark.parametrize(
    ("streams", "colored"),
    [
        (on_terminal(), True),
        (on_terminal("never"), False),
        (on_terminal(NO_COLOR="1"), False),
        (on_terminal(NO_COLOR=""), True),
        (on_terminal("always", NO_COLOR="1"), True),
        (on_terminal(TERM="dumb"), False),
        (piped(), False),
        (piped("always"), True),
        (piped("always", NO_COLOR="1"), True),
    ],
)
def test_color_appears_only_where_it_is_wanted(streams: Streams, colored: bool) -> None:
    streams.output.answer(StyledText("x", "bad"))
    assert ("\x1b[" in streams.answer) is colored
    assert "x" in streams.answer


def test_text_is_never_markup() -> None:
    for streams in (piped(), on_terminal("never"), piped("always")):
        streams.output.answer("[bold]x[/bold] :smile: [link=http://e]y[/link]")
        assert streams.answer == "[bold]x[/bold] :smile: [link=http://e]y[/link]\n"


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("a\x1b[31mb\x1b[0mc", "abc"),
        ("a\x1b]0;title\x07b", "ab"),
        ("a\x1b]8;;http://evil\x1b\\b\x1b]8;;\x1b\\c", "abc"),
        ("a\x1b]52;c;c2VjcmV0\x07b", "ab"),
        ("a\x1b]0;never ended\nb", "a\nb"),
        ("a\x9b2Jb\x9d0;t\x9cc", "abc"),
        ("a\x1bcb\x1b(Bc", "abc"),
        ("over\rwritten\x08\x07\x00", "overwritten"),
        ("one\r\ntwo\tthree\n", "one\ntwo\tthree\n"),
        ("a\u202egnp.exe\u2066b", "agnp.exeb"),
        ("“Café” — 東京 👩‍👩‍👧 \u200fשלום", "“Café” — 東京 👩‍👩‍👧 \u200fשלום"),
    ],
)
def test_clean_takes_out_what_steers_a_terminal(text: str, kept: str) -> None:
    assert sanitize_text(text) == kept


@given(st.text(st.sampled_from("ab\x1b[]\\;0m\x07\x9b\x9c\r\n\t\u202e")))
def test_what_is_clean_holds_no_control_and_stays_as_it_is(text: str) -> None:
    once = sanitize_text(text)
    assert not set(once) - set("ab[]\\;0m\n\t")
    assert sanitize_text(once) == once


@given(st.text())
def test_any_text_can_be_printed_anywhere(text: str) -> None:
    for streams in (piped(), piped("always"), on_terminal(COLUMNS="20")):
        streams.output.answer(text, StyledText(text, "strong"), indent=3)
        streams.output.table(["One", "Two"], [[text, StyledText(text, "good")]])
        streams.output.json({text: text})


def test_a_character_the_stream_cannot_show_becomes_a_question_mark() -> None:
    raw = io.BytesIO()
    stdout = io.TextIOWrapper(raw, encoding="ascii")
    Output(env={}, stdout=stdout, stderr=io.StringIO()).answer("café \udce9")
    assert raw.getvalue() == b"caf? ?\n"


def test_a_pipe_gets_long_lines_whole_and_a_terminal_gets_them_wrapped() -> None:
    text = "word " * 10 + "end"
    pipe, terminal = piped(), on_terminal(COLUMNS="24")
    for streams in (pipe, terminal):
        streams.output.answer(text, indent=4)
    assert pipe.answer == f"    {text}\n"
    lines = terminal.answer.splitlines()
    assert len(lines) == 3
    assert all(line.startswith("    word") and len(line) <= 24 for line in lines)


@given(
    st.lists(st.sampled_from(["a", "word", " ", "  ", "\n", "ladder.", "灯", "x" * 30]))
)
def test_a_streamed_answer_is_wrapped_at_words(parts: list[str]) -> None:
    text = "".join(parts)
    in_parts, at_once = on_terminal(COLUMNS="24"), on_terminal(COLUMNS="24")
    for part in parts:
        in_parts.output.write_piece(part)
    at_once.output.write_piece(text)
    for streams in (in_parts, at_once):
        streams.output.end_pieces()
    assert in_parts.answer == at_once.answer
    assert in_parts.answer.split() == text.split()
    for line in in_parts.answer.split("\n"):
        assert cell_len(line.rstrip()) <= 24 or len(line.split()) == 1


def test_a_line_after_a_streamed_answer_begins_at_the_margin() -> None:
    streams = on_terminal(COLUMNS="24")
    streams.output.write_piece("PurpleFrog lights")
    streams.output.answer()
    streams.output.write_piece("the marsh lantern.")
    streams.output.end_pieces()
    assert streams.answer == "PurpleFrog lights\nthe marsh lantern."


def test_indented_paragraphs_keep_their_empty_lines_and_spaces() -> None:
    for streams in (piped(), on_terminal()):
        streams.output.answer("one\n\n  two", indent=2)
        assert streams.answer == "  one\n\n    two\n"


def test_the_width_falls_back_to_80() -> None:
    assert piped(COLUMNS="200").output.width == 80
    assert on_terminal().output.width == 80
    assert on_terminal(COLUMNS="100").output.width == 100
    assert on_terminal(COLUMNS="0").output.width == 80


ROWS: list[list[LinePiece]] = [["Ash", "12"], ["Purple\nFrog", StyledText("3", "good")]]


def test_a_table_in_a_pipe_is_one_line_a_row() -> None:
    streams = piped()
    streams.output.table(["Name", "Lines"], ROWS, right=["Lines"])
    assert (
        streams.answer == "Name         Lines\nAsh             12\nPurple Frog      3\n"
    )


def test_a_table_without_rows_shows_its_headings() -> None:
    streams = piped()
    streams.output.table(["Name", "Lines"], [])
    assert streams.answer == "Name  Lines\n"


def test_a_table_on_a_narrow_terminal_folds_and_loses_nothing() -> None:
    streams = on_terminal("never", COLUMNS="20")
    where = f"{'abcdefghij' * 3}/{'abcdefghij' * 3}"
    streams.output.table(["Name", "Where"], [["Ash", where]])
    assert all(len(line) <= 20 for line in streams.answer.splitlines())
    assert sorted("".join(streams.answer.split())) == sorted(f"NameWhereAsh{where}")


@pytest.mark.parametrize("width", ["80", "60"])
def test_a_narrow_table_divides_locations_only_behind_slashes(width: str) -> None:
    place = StyledText("part-one/chapters/01-lighting-up.md:10", "place")
    streams = on_terminal("never", COLUMNS=width)
    streams.output.table(
        ["Name", "Also called", "First seen", "Certainty"],
        [["PurpleFrog", "Frog, the keeper, PURPLEFROG", place, "confirmed"]],
    )
    lines = streams.answer.splitlines()
    assert all(len(line.rstrip()) <= int(width) for line in lines)
    shown = [part for line in lines for part in line.split() if "/" in part]
    assert all(part.endswith("/") for part in shown)
    assert sum("01-lighting-up.md:10" in line for line in lines) == 1


def test_a_narrower_table_divides_locations_behind_hyphens_before_words() -> None:
    place = StyledText("chapters/01-lighting-up.md:10", "place")
    streams = on_terminal("never", COLUMNS="40")
    streams.output.table(
        ["Name", "First seen", "Certainty"], [["PurpleFrog", place, "confirmed"]]
    )
    lines = [line.split() for line in streams.answer.splitlines()]
    assert lines == [
        ["Name", "First", "seen", "Certainty"],
        ["PurpleFrog", "chapters/", "confirmed"],
        ["01-lighting-"],
        ["up.md:10"],
    ]


def test_a_narrow_table_leaves_out_optional_columns_until_every_word_fits() -> None:
    row: list[LinePiece] = [
        "PurpleFrog",
        "unknown",
        StyledText("chapters/01.md:10", "place"),
        "sure",
    ]
    table = StyledTable(
        ["Name", "Gender", "First seen", "Certainty"],
        [row],
        optional=("Certainty", "First seen"),
    )

    def show(width: str) -> list[list[str]]:
        streams = on_terminal("never", COLUMNS=width)
        streams.output.show([table])
        return [line.split() for line in streams.answer.splitlines()]

    assert show("80")[0] == ["Name", "Gender", "First", "seen", "Certainty"]
    assert show("40")[0] == ["Name", "Gender", "First", "seen"]
    assert show("25") == [["Name", "Gender"], ["PurpleFrog", "unknown"]]


class Kind(StrEnum):
    PROSE = "prose"


@dataclass(frozen=True)
class Found:
    kind: Kind
    path: PurePosixPath
    names: frozenset[str]
    lines: tuple[int, int]


def test_json_is_made_from_our_own_values() -> None:
    streams = piped()
    found = Found(Kind.PROSE, PurePosixPath("a/b"), frozenset("ba"), (1, 2))
    streams.output.json({"found": found, "score": None})
    assert json.loads(streams.answer) == {
        "found": {"kind": "prose", "path": "a/b", "names": ["a", "b"], "lines": [1, 2]},
        "score": None,
    }


@given(st.text())
def test_json_keeps_every_text_and_shows_no_control(text: str) -> None:
    streams = piped()
    streams.output.json([text])
    assert json.loads(streams.answer) == [text]
    assert sanitize_text(streams.answer) == streams.answer


def test_a_reader_who_left_ends_the_command_quietly() -> None:
    output = Output(env={}, stdout=Gone(), stderr=io.StringIO())
    with pytest.raises(SystemExit) as caught:
        output.answer("x")
    assert caught.value.code == 0


def test_a_closed_pipe_leaves_no_traceback() -> None:
    code = (
        "from lrwr.cli.runtime.output import Output\n"
        "output = Output()\n"
        "for _ in range(100_000): output.answer('x' * 100)"
    )
    command = [sys.executable, "-c", code]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        child.stdout.readline()
        child.stdout.close()
        assert child.stderr.read() == b""
    assert child.returncode == 0


def test_progress_is_shown_on_a_terminal_and_lets_the_story_through() -> None:
    streams = on_terminal()
    with streams.output.progress("embedding", total=2) as advance:
        advance(1)
        streams.output.info("half way")
        advance(1)
    assert "embedding" in streams.story
    assert "half way\n" in streams.story
    assert streams.answer == ""


@pytest.mark.parametrize("streams", [piped(), on_terminal(progress=False)])
def test_progress_is_silent_where_nobody_wants_it(streams: Streams) -> None:
    with streams.output.progress("embedding", total=None) as advance:
        advance(1)
    assert streams.story == ""


def test_the_progress_of_a_single_document_counts_its_embedded_passages() -> None:
    calls: list[tuple[int, int | None, str]] = []

    def advance(steps: int, total: int | None = None, label: str = "") -> None:
        calls.append((steps, total, label))

    book = DocumentId("book.epub")
    listen = create_progress_listener(advance, piped().output)
    for event in (
        IngestPlanned(process=1, forget=0),
        StageStarted(book, JobStage.READ),
        StageStarted(book, JobStage.EMBED, 32),
        ChunksEmbedded(16),
        ChunksEmbedded(16),
        DocumentFinished(book),
    ):
        listen(event)
    assert calls == [
        (0, None, ""),
        (0, None, "Reading"),
        (0, 32, "Embedding passages"),
        (16, None, ""),
        (16, None, ""),
        (0, None, "Finding characters and speakers"),
    ]


def test_the_progress_of_several_documents_counts_documents() -> None:
    calls: list[tuple[int, int | None]] = []

    def advance(steps: int, total: int | None = None, label: str = "") -> None:
        calls.append((steps, total))

    listen = create_progress_listener(advance, piped().output)
    listen(IngestPlanned(process=2, forget=1))
    listen(StageStarted(DocumentId("a.md"), JobStage.EMBED, 32))
    listen(ChunksEmbedded(16))
    listen(DocumentFinished(DocumentId("a.md")))
    assert calls == [(0, 3), (1, None)]
