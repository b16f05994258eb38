from pathlib import Path

import pytest

from tests.fakes.read_books import BY_WORDS
from tests.fakes.terminal import Terminal

pytest.importorskip("fcntl")

from tests.fakes.pty_output import on_a_terminal, show

PAGER = "sed s/^/PAGED/"


def test_an_answer_longer_than_the_terminal_goes_to_the_pager(tmp_path: Path) -> None:
    shown = on_a_terminal(tmp_path, "config", "show", lines=5, PAGER=PAGER)
    assert "PAGEDpipeline" in shown.replace("\x1b[0m", "")


@pytest.mark.parametrize("own", [None, "-Rj3"])
def test_the_pager_says_how_to_leave_it(tmp_path: Path, own: str | None) -> None:
    show_options = "sh -c 'cat > /dev/null; echo OPTIONS $LESS'"
    env = {"PAGER": show_options} | ({"LESS": own} if own else {})
    words = ("config", "show")
    shown = on_a_terminal(tmp_path, *words, lines=5, columns=100, **env)
    options = own or "-RFX"
    assert f"OPTIONS -PsSpace shows more, q leaves this list$ {options}" in shown


def test_an_answer_that_fits_does_not(tmp_path: Path) -> None:
    shown = on_a_terminal(tmp_path, "config", "show", lines=200, PAGER=PAGER)
    assert "pipeline" in shown
    assert "PAGED" not in shown


def test_the_pager_can_be_turned_off(tmp_path: Path) -> None:
    shown = on_a_terminal(
        tmp_path, "config", "show", lines=5, PAGER=PAGER, LRWR_OUTPUT_PAGER="false"
    )
    assert "pipeline" in shown
    assert "PAGED" not in shown


@pytest.mark.parametrize("pager", ["", "cat", " "])
def test_no_pager_is_started_if_the_variable_names_none(
    tmp_path: Path, pager: str
) -> None:
    shown = on_a_terminal(tmp_path, "config", "show", lines=5, PAGER=pager)
    assert "pipeline" in shown


def test_an_option_turns_the_pager_off(tmp_path: Path) -> None:
    words = ("--no-pager", "config", "show")
    shown = on_a_terminal(tmp_path, *words, lines=5, PAGER=PAGER)
    assert "pipeline" in shown
    assert "PAGED" not in shown


def test_a_pager_of_manual_pages_is_not_used(tmp_path: Path) -> None:
    shown = on_a_terminal(
        tmp_path, "config", "show", lines=5, PAGER=PAGER, MANPAGER="sed s/^/MAN/"
    )
    assert "PAGED" in shown
    assert "MANpipeline" not in shown


@pytest.mark.timeout(30)
def test_without_a_keyboard_nothing_waits_for_a_key(tmp_path: Path) -> None:
    shown = show(tmp_path, ["config", "show"], (5, 100), {}, None)
    assert "pipeline" in shown
    assert "Space shows more" not in shown


def test_an_answer_is_wrapped_at_words(read_sample: Terminal) -> None:
    question = "Who keeps the ledger?"
    read_sample.run("ask", question)  # the first answer has advice about models
    whole = read_sample.run("ask", question).out
    shown = on_a_terminal(
        read_sample.folder, "ask", question, lines=50, columns=80, NO_COLOR="1",
        **BY_WORDS,
    )  # fmt: skip
    lines = shown.replace("\r\n", "\n").split("\n")
    assert all(len(line) <= 80 for line in lines)
    assert " ".join(whole.split()) in " ".join(" ".join(lines).split())
