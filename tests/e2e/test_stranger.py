"""Somebody else's book is opened: nothing runs, nothing outside it is touched."""

import json
import os
import sqlite3
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from lrwr.core.model.errors import ExitCode
from lrwr.core.settings.consent import HOSTED_SERVICES
from tests.fakes import guarded
from tests.fakes.terminal import Ran, Terminal, each_of

if os.name == "nt":
    pytest.skip("needs links", allow_module_level=True)

SECRET = "The combination of the safe is heron, heron, crane."

KEY = "sk-heron-0123456789"

COMMANDS = (
    ("ingest",),
    ("ingest", "."),
    ("search", "combination", "--json"),
    ("status",),
    (),
    ("canon",),
    ("canon", "check"),
    ("canon", "type", "1.md", "scene"),
    ("canon", "undo"),
    ("search", "combination", "--as-of", "../outside/diary.md"),
)

ASKING = (("ask", "What sang in the frog opera by Aristophanes?"), ("privacy",))
"""Importing a graph under guard takes seconds: asked where it may lead anywhere."""


class Stranger:
    """A downloaded folder, `book`, beside the writer's own things, `outside`."""

    def __init__(self, place: Path) -> None:
        self.book, self.outside = place / "book", place / "outside"
        self.book.mkdir()
        self.outside.mkdir()
        (self.book / "1.md").write_text("# One\n\nThe frog sang.", encoding="utf-8")
        (self.outside / "diary.md").write_text(f"# I\n\n{SECRET}", encoding="utf-8")
        (self.outside / "profile").write_text("export A=1\n", encoding="utf-8")
        self._terminal = Terminal(
            self.book,
            home=place / "home",
            LRWR_EMBEDDING_MODEL="off",
            **{hosted.key: KEY for hosted in HOSTED_SERVICES.values() if hosted.key},
        )

    def run(self, *words: str, forbidden: str = "") -> Ran:
        (ran,) = self.run_all([words], forbidden)
        return ran

    def run_all(
        self, commands: Sequence[Sequence[str]], forbidden: str = ""
    ) -> list[Ran]:
        """Run commands in one process; what the guard stops is the last."""
        folder = str(self.outside / forbidden)
        asked = [sys.executable, guarded.__file__, folder, json.dumps(commands)]
        whole = self._terminal.command(asked)
        if whole.code == guarded.CAUGHT:
            return [whole]
        return each_of(whole)

    def settings(self, text: str) -> None:
        (self.book / "lrwr.toml").write_text(text, encoding="utf-8")

    def things(self) -> dict[str, bytes]:
        found = sorted(self.outside.rglob("*"))
        return {str(p): p.read_bytes() if p.is_file() else b"" for p in found}


@pytest.fixture
def stranger(tmp_path: Path) -> Stranger:
    return Stranger(tmp_path)


def state_at_the_top(stranger: Stranger) -> None:
    stranger.settings('state_dir = "/"\n')


def state_of_my_library(stranger: Stranger) -> None:
    (stranger.outside / ".lrwr").mkdir()
    (stranger.outside / ".lrwr/library.json").write_text('{"folders": ["."]}')
    stranger.settings('state_dir = "../outside/.lrwr"\n')


def folders_outside(stranger: Stranger) -> None:
    stranger.settings('[manuscript]\nfolders = ["../../etc", "../outside"]\n')


def folders_through_a_link(stranger: Stranger) -> None:
    (stranger.book / "chapters").symlink_to(stranger.outside)
    stranger.settings('[manuscript]\nfolders = ["chapters"]\n')


def folders_remembered(stranger: Stranger) -> None:
    (stranger.book / ".lrwr").mkdir()
    memory = {"folders": [str(stranger.outside), "."], "folder": 1}
    (stranger.book / ".lrwr/library.json").write_text(json.dumps(memory))


def foreign_library(stranger: Stranger) -> None:
    (stranger.book / ".lrwr").mkdir()
    foreign = stranger.book / ".lrwr/library.db"
    with closing(sqlite3.connect(foreign)) as connection:
        connection.executescript(
            "CREATE TABLE chunk (a, b); CREATE TRIGGER t AFTER INSERT ON chunk BEGIN"
            " SELECT load_extension('evil'); END; PRAGMA user_version = 1;"
        )


def library_that_is_no_database(stranger: Stranger) -> None:
    (stranger.book / ".lrwr").mkdir()
    (stranger.book / ".lrwr/library.db").write_bytes(b"#!/bin/sh\ntouch pwned\n" * 99)


def state_that_is_a_link(stranger: Stranger) -> None:
    (stranger.outside / "state").mkdir()
    (stranger.book / ".lrwr").symlink_to(stranger.outside / "state")


def library_that_is_a_link(stranger: Stranger) -> None:
    (stranger.book / ".lrwr").mkdir()
    (stranger.book / ".lrwr/library.db").symlink_to(stranger.outside / "new.db")


def history_that_is_a_link(stranger: Stranger) -> None:
    (stranger.book / ".lrwr").mkdir()
    history = stranger.book / ".lrwr/canon-history.jsonl"
    history.symlink_to(stranger.outside / "profile")
    (stranger.book / "lrwr.canon.toml").write_text('[names.merged]\n"$(id)" = ["x"]\n')


def links_out_of_the_folder(stranger: Stranger) -> None:
    (stranger.book / "2.md").symlink_to(stranger.outside / "diary.md")
    (stranger.book / "all").symlink_to(stranger.outside)
    (stranger.book / ".lrwrignore").symlink_to(stranger.outside / "profile")


def malicious_decisions(stranger: Stranger) -> None:
    (stranger.book / "lrwr.canon.toml").write_text(
        '[types]\n"../outside/diary.md" = "scene"\n[order]\n'
        'story = ["../outside/diary.md", "1.md"]\n[pov]\n"../outside" = "$(id)"\n'
    )


def decisions_that_are_a_link(stranger: Stranger) -> None:
    link = stranger.book / "lrwr.canon.toml"
    link.symlink_to(stranger.outside / "profile")


def code_that_python_would_find(stranger: Stranger) -> None:
    for name in ("lrwr", "typer", "sitecustomize", "conftest", "json"):
        text = "import os; os._exit(99)\n"
        (stranger.book / f"{name}.py").write_text(text, encoding="utf-8")


def a_model_and_the_web_turned_on(stranger: Stranger) -> None:
    stranger.settings('[model]\nuse = "openai"\n[web]\nuse = "tavily"\n')


TRICKS = (
    state_at_the_top, state_of_my_library, folders_outside,
    folders_through_a_link, folders_remembered, foreign_library,
    library_that_is_no_database, state_that_is_a_link, library_that_is_a_link,
    history_that_is_a_link, links_out_of_the_folder, malicious_decisions,
    decisions_that_are_a_link, code_that_python_would_find,
    a_model_and_the_web_turned_on,
)  # fmt: skip


MAY_ASK = (a_model_and_the_web_turned_on, malicious_decisions, links_out_of_the_folder)


@pytest.mark.parametrize("trick", TRICKS, ids=lambda trick: trick.__name__)
def test_a_stranger_s_folder_reaches_nothing_outside_it(
    stranger: Stranger, trick: Callable[[Stranger], None]
) -> None:
    trick(stranger)
    before = stranger.things()
    commands = (*COMMANDS, *(ASKING if trick in MAY_ASK else ()))
    for words, ran in zip(commands, stranger.run_all(commands), strict=True):
        assert ran.code in (0, 1, 2, 3, 5, 7), (words, ran)
        assert SECRET not in ran.out
        assert KEY not in ran.out + ran.err
        is_explained = "\nhint: " in ran.err or '"hint": "' in ran.out
        assert ran.code in (0, 7) or is_explained or words[:1] == ("canon",)
    assert stranger.things() == before


def test_the_guard_catches_what_it_should(stranger: Stranger) -> None:
    assert stranger.run("ingest", "../outside").code == guarded.CAUGHT


def test_a_folder_of_mine_does_not_become_the_state_folder(stranger: Stranger) -> None:
    stranger.settings('state_dir = "../outside"\n')
    before = stranger.things()
    ran = stranger.run("ingest", ".", forbidden="diary.md")
    assert ran.code == ExitCode.STORE
    assert "contains files that lrwr did not write" in ran.err
    assert stranger.things() == before


def test_what_leads_out_is_refused_with_the_way_to_allow_it(
    stranger: Stranger,
) -> None:
    folders_outside(stranger)
    refused = stranger.run("ingest")
    assert refused.code == ExitCode.SETTINGS
    assert "lrwr.toml:2: `manuscript.folders` names a folder outside" in refused.err
    assert "run `lrwr ingest` with its path" in refused.err
    assert stranger.run("ingest", ".").code == ExitCode.OK


def test_a_pipe_in_place_of_patterns_does_not_stop_the_reading(
    stranger: Stranger,
) -> None:
    os.mkfifo(stranger.book / ".lrwrignore")
    ran = stranger.run("ingest", ".")
    assert ran.code == ExitCode.OK
    assert "Skipped .lrwrignore: not a regular file" in ran.out
