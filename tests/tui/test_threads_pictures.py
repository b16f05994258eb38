"""How the list of conversations looks once there are some, long titles among them."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from lrwr.app.container import Workspace
from lrwr.core.model.choices import AnswerMode
from lrwr.core.model.turns import NarrativeState, ThreadId
from tests.fakes.conversations import a_turn
from tests.fakes.picture import check_picture
from tests.fakes.room import LOOKS, Room, a_room

EACH = pytest.mark.parametrize(("width", "size", "theme"), LOOKS)
HOUR = 3_600.0
LONG = "What does everybody on the causeway say of the night of Day 720, and who lies?"
WIDE_LETTERS = "灯台守は誰ですか、そして何を知っていますか"
NELL = NarrativeState("Nell Tallow", AnswerMode.IN_CHARACTER, as_of="ch3")


@pytest.fixture(autouse=True)
def somewhere(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A place with one time of day, wherever the test runs."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


async def three_talks(workspace: Workspace) -> None:
    """Keep three conversations, the one of the longest title last."""
    told = [
        ("Tides", NELL, ["Who rang third bell?", "And who heard it?"]),
        (WIDE_LETTERS, NarrativeState(), [WIDE_LETTERS]),
        (LONG, NarrativeState(), [LONG, *(f"And on Day 72{n}?" for n in range(8))]),
    ]
    for number, (title, state, questions) in enumerate(told):
        for later, question in enumerate(questions):
            turn = a_turn(question, asked_at=HOUR * (24 * number + later), state=state)
            thread = ThreadId(f"7f3a{number:028}")
            await workspace.threads.save_turn(thread, title, turn, state)


async def opened(room: Room) -> None:
    await room.stage.run(three_talks)
    await room.press("f5")


@EACH
async def test_a_filled_list(
    book: Path, width: str, size: tuple[int, int], theme: str
) -> None:
    async with a_room(book, size=size, LRWR_SCREEN_THEME=theme) as room:
        await opened(room)
        await check_picture(room.app, f"threads-filled-{width}-{theme}")


async def test_one_that_is_looked_for_and_one_that_is_gone(book: Path) -> None:
    async with a_room(book) as room:
        await opened(room)
        await room.press("d", "slash")
        await room.type("tid")
        await room.settle()
        await check_picture(room.app, "threads-looked-for-wide-dark")
