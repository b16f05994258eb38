"""Killed while a draft is accepted: its file is whole or missing, and a repeat completes it."""

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.e2e.test_draft import add_plan, manuscript
from tests.fakes.suite import is_whole
from tests.fakes.terminal import Terminal

TARGET = "chapters/11-the-tide-bell.md"
TEXT = "# The Tide Bell\n\n" + "Nell Tallow rang it twice.\n" * 400
KILLS = 100
LONGEST = 0.04
"""Seconds from the start of an acceptance to the latest kill; most take less."""

ACCEPT = f"""
import asyncio, os, sys
from pathlib import Path
from lrwr.app.container import open_workspace
from lrwr.app.draft_decisions import DraftDesk
from lrwr.app.drafts import open_draft_folder
from lrwr.core.settings.loader import load_settings

async def accept():
    settings = load_settings(Path.cwd(), os.environ, {{}})
    async with open_workspace(settings) as workspace:
        desk = DraftDesk(workspace, open_draft_folder(workspace))
        draft = await desk.find("bell")
        print("ready", flush=True)
        await desk.accept(draft, Path({TARGET!r}))

asyncio.run(accept())
"""


@pytest.fixture
def desk(read_sample: Terminal) -> Terminal:
    assert read_sample.run("draft", "board", "--from-text").code == 0
    add_plan(read_sample, after="ch10-s4", plan="\n\n#### The tide bell ^bell\n")
    folder = read_sample.folder / "drafts" / "scenes" / "bell"
    folder.mkdir(parents=True)
    (folder / "1.md").write_text(TEXT, encoding="utf-8")
    return read_sample


def kill_acceptance(desk: Terminal, seconds: float) -> None:
    """Start to accept the draft, and kill the process `seconds` later."""
    with subprocess.Popen(
        [sys.executable, "-c", ACCEPT],
        cwd=desk.folder,
        env={**desk.env, "PYTHONPATH": str(Path(__file__).parents[2])},
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        time.sleep(seconds)
        process.kill()


@pytest.mark.exhaustive
@pytest.mark.timeout(1_800)
def test_a_killed_acceptance_leaves_no_part_of_a_file(desk: Terminal) -> None:
    dice, before = random.Random(1), manuscript(desk.folder)
    target = desk.folder / TARGET
    outcomes = set()
    for _ in range(KILLS if is_whole() else KILLS // 5):
        kill_acceptance(desk, dice.uniform(0, LONGEST))
        after = manuscript(desk.folder)
        created = after.pop(str(target), None)
        assert created in (None, TEXT.encode())
        assert after == before
        outcomes.add(created is None)
        done = desk.run("draft", "accept", "bell", "--to", TARGET, "--yes")
        assert done.code == 0, done.err
        assert target.read_bytes() == TEXT.encode()
        assert list((desk.folder / "drafts").glob(".lrwr-new-*")) == []
        rows = desk.run("draft", "ledger", "--json").json
        assert [row["state"] for row in rows] == ["accepted"]
        assert desk.run("draft", "undo").code == 0
        assert manuscript(desk.folder) == before
    assert outcomes == {True, False}
