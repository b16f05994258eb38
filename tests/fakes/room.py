"""The writing room as a test uses it: the real services, and a pilot at the keys."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, chdir
from dataclasses import dataclass
from pathlib import Path

import pytest
from textual.events import Key, Paste
from textual.pilot import Pilot
from textual.timer import Timer
from typer.testing import CliRunner

from lrwr.app.container import Workspace, open_workspace
from lrwr.cli.main import app as commands
from lrwr.cli.runtime.failures import report_crash
from lrwr.core.settings.loader import load_settings
from lrwr.tui.app import WritingRoom
from lrwr.tui.scope import ChatOptions
from lrwr.tui.screens.chat import ChatScreen
from lrwr.tui.service_thread import ServiceThread
from lrwr.tui.widgets.prompt import PromptInputArea
from lrwr.tui.widgets.transcript import Transcript
from tests.fakes.model_server import MODEL, ModelServer

WIDE, NARROW = (120, 36), (60, 24)
"""Columns and rows of a usual and of a small terminal."""

MEDIUM, BROAD = (100, 30), (160, 45)
"""Columns and rows of the other two terminals that pictures are made of."""

LOOKS = [
    ("medium", MEDIUM, "dark"),
    ("narrow", NARROW, "light"),
    pytest.param("medium", MEDIUM, "light", marks=pytest.mark.exhaustive),
    pytest.param("narrow", NARROW, "dark", marks=pytest.mark.exhaustive),
    pytest.param("broad", BROAD, "dark", marks=pytest.mark.exhaustive),
    pytest.param("broad", BROAD, "light", marks=pytest.mark.exhaustive),
]
"""60, 100 and 160 columns in both themes; the fast suite has two of them."""


ENDING = frozenset({"turn", "stopped", "read", "look", "past", "known", "context"})
"""Work that ends by itself: all other may wait for the writer, or go on for ever."""

SOON = 0.2
"""Seconds until what a test waits for begins."""


@dataclass(frozen=True, slots=True)
class Room:
    """An open writing room."""

    pilot: Pilot[None]
    app: WritingRoom
    stage: ServiceThread[Workspace]

    @property
    def screen(self) -> ChatScreen:
        """The conversation's screen, whatever lies on top of it."""
        found = next(
            one for one in self.app.screen_stack if isinstance(one, ChatScreen)
        )
        assert isinstance(found, ChatScreen)
        return found

    @property
    def on_top(self) -> bool:
        """Whether nothing lies on the conversation's screen."""
        return self.app.screen is self.screen

    @property
    def transcript(self) -> Transcript:
        """The conversation."""
        return self.screen.query_one(Transcript)

    async def press(self, *keys: str) -> None:
        """Press keys one by one, and wait until all that each began is done."""
        for key in keys:
            await self.app._press_keys([key])
            await self.settle()

    async def hit(self, *keys: str) -> None:
        """Press keys faster than any can be dealt with, then wait for what they do."""
        for key in keys:
            self.app.post_message(Key(key, key if len(key) == 1 else None))
        await self.settle()

    async def type(self, text: str) -> None:
        """Write into whatever has the focus, as somebody types."""
        names = {" ": "space", "\n": "alt+enter"}
        await self.pilot.press(*(names.get(one, one) for one in text))

    async def ask(self, text: str) -> None:
        """Paste a question, send it, and wait for the answer."""
        self.screen.query_one(PromptInputArea).post_message(Paste(text))
        await self.press("enter")

    async def settle(self) -> None:
        """Wait until nothing is under way but what waits for the writer."""
        for _ in range(3):
            await self.pilot.pause()
            while self._is_busy:
                await breathe()

    @property
    def _is_busy(self) -> bool:
        groups = ENDING | {"load"} if self.on_top else ENDING  # it may ask for leave
        ending = (w for w in self.app.workers if w.group in groups)
        if not self.app.key_queue.is_empty or self.stage.waiting > 0:
            return True
        first = self.app.screen_stack[0]
        if isinstance(first, ChatScreen) and not first._is_complete.is_set():
            return True  # it mounts the transcript, and loads the library then
        if any(not one.is_finished for one in ending):
            return True
        nodes = list(self.app._registry)
        return any(_is_due(timer) for node in nodes for timer in list(node._timers))


async def breathe() -> None:
    """Let others work for a moment."""
    await asyncio.sleep(0.005)


def _is_due(timer: Timer) -> bool:
    """Whether something begins soon, and once."""
    if timer._repeat is None or timer._interval > SOON or timer._task is None:
        return False
    return timer._active.is_set() and not timer._task.done()


def with_model(server: ModelServer) -> dict[str, str]:
    """Return what turns on the language model of a loopback server, and nothing else:
    rules plan, and nothing is looked up further."""
    return {
        "LRWR_MODEL_USE": "local",
        "LRWR_MODEL_NAME": MODEL,
        "LRWR_MODEL_BASE_URL": server.base_url,
        "LRWR_MODEL_STEPS": "0",
    }


def look_again(folder: Path) -> None:
    """Bring the library of a folder up to date, by words alone, in this process."""
    with chdir(folder):
        ran = CliRunner().invoke(
            commands,
            ["ingest"],
            env={"LRWR_EMBEDDING_MODEL": "off"},
            catch_exceptions=False,
        )
    assert ran.exit_code == 0, ran.output


@asynccontextmanager
async def a_room(
    folder: Path,
    *,
    size: tuple[int, int] = WIDE,
    opening: ChatOptions | None = None,
    model: ModelServer | None = None,
    settled: bool = True,
    **env: str,
) -> AsyncIterator[Room]:
    """Open the room of a library, by words alone unless `env` says otherwise."""
    asked = with_model(model) if model is not None else {}
    variables = {"LRWR_EMBEDDING_MODEL": "off", **asked, **env}
    settings = load_settings(folder, variables, {}, user=folder / "nobody.toml")
    async with ServiceThread(lambda: open_workspace(settings)) as stage:
        app = WritingRoom(stage, settings, opening or ChatOptions(), report_crash)
        async with app.run_test(size=size) as pilot:
            room = Room(pilot, app, stage)
            room.screen.query_one(PromptInputArea).cursor_blink = False  # for pictures
            if settled:
                await room.settle()
            yield room
