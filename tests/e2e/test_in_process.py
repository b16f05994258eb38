"""A command in the tests' own process is what it is in one of its own."""

import gc
import logging
import os
import signal
import sys
import warnings
from pathlib import Path

import pytest

from lrwr.core.model.errors import ExitCode
from tests.fakes.terminal import Terminal, check_refusal

WORDS = (
    ["config", "show"],
    ["ingest"],
    ["search", "x", "--limt", "3"],
    ["login", "--help"],
    ["chat", "--plain"],
)


@pytest.mark.parametrize("words", WORDS, ids=" ".join)
def test_it_says_the_same(empty: Terminal, words: list[str]) -> None:
    (empty.folder / "1.md").write_text("# One\n\nThe frog “sang”.", encoding="utf-8")
    said = "Who sang?\n" if words[0] == "chat" else ""
    assert empty.run(*words, given=said) == empty.process(*words, given=said)


def held() -> list[object]:
    """Return what a process has for itself."""
    return [
        dict(os.environ),
        Path.cwd(),
        (sys.stdin, sys.stdout, sys.stderr, sys.argv),
        [os.fstat(number).st_ino for number in range(3)],
        [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)],
        list(logging.getLogger().handlers),
        list(warnings.filters),
        gc.isenabled(),
    ]


@pytest.mark.parametrize("words", [["chat"], ["--help"], ["serch"], ["ingest", "no"]])
def test_nothing_of_it_stays(empty: Terminal, words: list[str]) -> None:
    before = held()
    empty.run(*words, given="/help\n", COLUMNS="40", LRWR_SEARCH_LIMIT="3")
    assert held() == before


async def test_it_runs_beside_a_loop(empty: Terminal) -> None:
    check_refusal(empty.run("ingest"), ExitCode.NOT_FOUND, "lrwr ingest")
