"""The writing room as a test uses it: the real services, and a pilot at the keys."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from textual.events import Key, Paste
from textual.pilot import Pilot

from lrwr.app.container import Workspace, open_workspace
from lrwr.cli.runtime.crash_report import report_crash
from lrwr.core.settings.loader import load_settings
from lrwr.tui.app import WritingRoom
from lrwr.tui.scope import ChatOptions
from lrwr.tui.screens.chat import ChatScreen
from lrwr.tui.service_thread import ServiceThread
from lrwr.tui.widgets.prompt import PromptInputArea
from lrwr.tui.widgets.transcript import Transcript
from tests.fakes.model_server import MODEL, ModelServer

WIDE, NARROW = (120, 36), (60, 24)
"""Columns and rows of the two screens that pictures are made of."""


ENDING = frozenset({"turn", "stopped", "read", "look", "past", "known", "context"})
"""Work that ends by itself: all other may wait for the writer, or go on for ever."""


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
        """Press keys, and wait until all that they began is done."""
        await self.pilot.press(*keys)
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
                await self.pilot.pause(0.01)

    @property
    def _is_busy(self) -> bool:
        groups = ENDING | {"load"} if self.on_top else ENDING  # it may ask for leave
        ending = (w for w in self.app.workers if w.group in groups)
        return self.stage.waiting > 0 or any(not one.is_finished for one in ending)


def with_model(server: ModelServer) -> dict[str, str]:
    """Return what turns on the language model of a loopback server, and nothing else:
    rules plan, and nothing is looked up further."""
    return {
        "LRWR_MODEL_USE": "local",
        "LRWR_MODEL_NAME": MODEL,
        "LRWR_MODEL_BASE_URL": server.base_url,
        "LRWR_MODEL_STEPS": "0",
    }


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
    async with ServiceThread(lambda: open_workspace(settings, brief=False)) as stage:
        app = WritingRoom(stage, settings, opening or ChatOptions(), report_crash)
        async with app.run_test(size=size) as pilot:
            room = Room(pilot, app, stage)
            room.screen.query_one(PromptInputArea).cursor_blink = False  # for pictures
            if settled:
                await room.settle()
            yield room
