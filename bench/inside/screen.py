"""Stream 3,000 tokens into the transcript and load 500 turns; prints figures."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from pathlib import Path

from textual.app import App, ComposeResult
from textual.widgets import Markdown

from lrwr.core.model.documents import DocumentId
from lrwr.core.model.text import LineRange, Span
from lrwr.core.model.turns import (
    AnswerIntent,
    AnswerSpeaker,
    Citation,
    NarrativeState,
    SupervisorOutput,
    Turn,
    TurnId,
)
from lrwr.tui.widgets.transcript import Transcript

TOKENS = 3_000
TOKENS_PER_SECOND = 200
TURNS = 500
SENTENCE = "The lamp was lit on the causeway, and nobody had gone to light it. [1] "


class OurRoom(App[None]):
    CSS_PATH = str(Path(__file__).parents[2] / "lrwr" / "tui" / "transcript.tcss")

    def compose(self) -> ComposeResult:
        yield Transcript()


class BareRoom(App[None]):
    def compose(self) -> ComposeResult:
        yield Markdown()


async def stream_ours() -> float:
    app = OurRoom()
    async with app.run_test(size=(120, 36)) as pilot:
        view = await app.query_one(Transcript).start_turn("What happened to the lamp?")
        began = time.process_time()
        async for piece in paced_pieces():
            await view.write(piece, AnswerSpeaker.AVATAR, avatar="", model="a model")
        await view.stop()
        await pilot.pause()
        return time.process_time() - began


async def stream_bare() -> float:
    app = BareRoom()
    async with app.run_test(size=(120, 36)) as pilot:
        stream = Markdown.get_stream(app.query_one(Markdown))
        began = time.process_time()
        async for piece in paced_pieces():
            await stream.write(piece)
        await stream.stop()
        await pilot.pause()
        return time.process_time() - began


async def memory() -> float:
    app = OurRoom()
    async with app.run_test(size=(120, 36)) as pilot:
        transcript = app.query_one(Transcript)
        await transcript.show([a_turn(number) for number in range(20)])
        await pilot.pause()
        before = resident()
        await transcript.show([a_turn(number) for number in range(TURNS)])
        await pilot.pause()
        return resident() - before


async def paced_pieces() -> AsyncIterator[str]:
    """Yield words at the pace of a fast model: all at once would be drawn once."""
    words = [f"{word} " for word in SENTENCE.split()]
    began = time.monotonic()
    for number in range(TOKENS):
        yield words[number % len(words)]
        due = began + number / TOKENS_PER_SECOND
        await asyncio.sleep(max(0.0, due - time.monotonic()))


def a_turn(number: int) -> Turn:
    citation = Citation(
        1, DocumentId("one.md"), Span(0, 66), LineRange(1, 1), SENTENCE * 4, 1
    )
    supervisor_output = SupervisorOutput(
        SENTENCE * 12, AnswerIntent.ANALYTICAL, (), (citation,), (), NarrativeState()
    )
    return Turn(
        TurnId(f"{number:x}"), number, 0.0, f"Question {number}?", supervisor_output
    )


def resident() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 1e6


async def main() -> None:
    ours, bare = await stream_ours(), await stream_bare()
    print(json.dumps({"ours": ours, "bare": bare, "mb": await memory()}))


if __name__ == "__main__":
    asyncio.run(main())
