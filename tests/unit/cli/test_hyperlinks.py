"""Locations are hyperlinks in terminals that show them, and nowhere else."""

import io
import re
import socket
from collections.abc import Mapping
from pathlib import Path

import pytest

from lrwr.app.presenters.text import StyledText
from lrwr.cli.runtime.hyperlinks import (
    FileLinks,
    HyperlinkMode,
    shows_hyperlinks,
    strip_hyperlinks,
)
from lrwr.cli.runtime.output import Output

KNOWN = {"TERM": "xterm-256color", "VTE_VERSION": "7600"}
LINK = re.compile(r"\x1b\]8;[^;]*;([^\x1b]+)\x1b\\(.*?)\x1b\]8;;\x1b\\")


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def novel(tmp_path: Path) -> Path:
    (tmp_path / "chapters").mkdir()
    (tmp_path / "chapters" / "03 – ebb.md").write_text("Water.\n", encoding="utf-8")
    return tmp_path


def printed(
    novel: Path,
    location: str,
    env: Mapping[str, str] = KNOWN,
    mode: HyperlinkMode = "auto",
) -> str:
    stdout = Screen()
    output = Output(root=novel, hyperlinks=mode, env=env, stdout=stdout)
    output.answer(StyledText(location, "place"), "  a line")
    output.table(["Where"], [[StyledText(location, "place")]])
    return stdout.getvalue()


def test_a_location_links_to_its_file(novel: Path) -> None:
    location = "chapters/03 – ebb.md:15-17"
    links = LINK.findall(printed(novel, location))
    address = (novel / "chapters" / "03 – ebb.md").as_uri()
    host = f"file://{socket.gethostname()}"
    assert [to for to, _ in links] == [address.replace("file://", host)] * 2
    assert all(location in text for _, text in links)


def test_terminals_that_read_the_line_get_it(novel: Path) -> None:
    kitty = {"TERM": "xterm-kitty", "KITTY_WINDOW_ID": "1"}
    links = LINK.findall(printed(novel, "chapters/03 – ebb.md:15-17", kitty))
    assert links[0][0].endswith(".md#15")


@pytest.mark.parametrize("location", ["bdfk", "ch3", "chapters/04.md:3", "a: b.md"])
def test_what_is_no_file_is_no_link(novel: Path, location: str) -> None:
    assert "\x1b]8" not in printed(novel, location)


@pytest.mark.parametrize(
    "env",
    [
        {**KNOWN, "NO_COLOR": "1"},
        {**KNOWN, "TERM": "dumb"},
        {**KNOWN, "TMUX": "yes"},
        {**KNOWN, "FORCE_HYPERLINK": "0"},
        {"TERM": "xterm"},
        {"TERM": "xterm", "VTE_VERSION": "4402"},
    ],
)
def test_other_terminals_get_none(novel: Path, env: dict[str, str]) -> None:
    assert "\x1b]8" not in printed(novel, "chapters/03 – ebb.md:15", env)


def test_the_setting_decides(novel: Path) -> None:
    location = "chapters/03 – ebb.md:15"
    assert "\x1b]8" not in printed(novel, location, KNOWN, "never")
    assert "\x1b]8" in printed(novel, location, {"TERM": "xterm"}, "always")


def test_a_pipe_gets_none(novel: Path) -> None:
    stdout = io.StringIO()
    output = Output(
        color="always", root=novel, hyperlinks="always", env=KNOWN, stdout=stdout
    )
    output.answer(StyledText("chapters/03 – ebb.md:15", "place"))
    assert "\x1b]8" not in stdout.getvalue()


@pytest.mark.parametrize(
    "env",
    [
        {"WT_SESSION": "1"},
        {"TERM_PROGRAM": "iTerm.app"},
        {"TERM": "alacritty-direct"},
        {"KONSOLE_VERSION": "230800"},
        {"FORCE_HYPERLINK": "1", "TMUX": "yes"},
    ],
)
def test_terminals_are_known_by_what_they_set(env: dict[str, str]) -> None:
    assert shows_hyperlinks(env)


def test_a_file_is_looked_up_once(novel: Path) -> None:
    links = FileLinks(novel, lines=False)
    first = links.find("chapters/03 – ebb.md:1")
    (novel / "chapters" / "03 – ebb.md").unlink()
    assert links.find("chapters/03 – ebb.md:9") == first != ""


def test_links_are_taken_out_for_the_pager(novel: Path) -> None:
    text = printed(novel, "chapters/03 – ebb.md:15")
    assert "\x1b]8" not in strip_hyperlinks(text)
    assert LINK.sub(r"\2", text) == strip_hyperlinks(text)
