"""Makes the pictures of the chat screen in docs/pictures from the sample manuscript.

Run: python -m tools.pictures. Each is an SVG without external resources.
"""

import asyncio
import re
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from textual.pilot import Pilot

from lrwr.app.container import Workspace, open_workspace
from lrwr.app.ingestion import ingest_manuscript
from lrwr.app.pending_changes import select_targets
from lrwr.core.model.errors import LrwrError
from lrwr.core.settings.loader import load_settings
from lrwr.core.settings.model import Settings
from lrwr.tui.app import WritingRoom
from lrwr.tui.scope import ChatOptions
from lrwr.tui.service_thread import ServiceThread

REPO = Path(__file__).resolve().parent.parent
SAMPLE = REPO / "examples" / "marsh-lantern"
PICTURES = REPO / "docs" / "pictures"
SIZE = (116, 34)

_FONTS = re.compile(r"@font-face\s*\{.*?\}", re.DOTALL)
_ASKED = re.compile(r"font-family:[^;]*Fira Code[^;]*;")


@dataclass(frozen=True, slots=True)
class Shot:
    """One picture to take.

    `name` is its file name without the ending. `types` are questions to enter one after
    another, `keys` the keys to press after them, in Textual's notation. `theme` is
    "dark" or "light". `edit` is a sentence to add to a chapter after it was read.
    """

    name: str
    types: Sequence[str] = ()
    keys: Sequence[str] = ()
    theme: str = "dark"
    edit: str = ""


WHO = "Who is OchraMags, and what does PurpleFrog value?"
SHOTS = (
    Shot("room", [WHO]),
    Shot("room-light", [WHO], theme="light"),
    Shot("characters", [], ["f2", "n", "e", "l", "l"]),
    Shot("horizon", [], ["f3", "down", "down", "down"]),
    Shot("threads", [WHO, "What happened on Day 720?"], ["f5"]),
    Shot("gaps", [], ["f6", "down"], theme="light"),
    Shot("people", [], ["f7"]),
    Shot("world", [], ["f8"]),
    Shot("timeline", [], ["f9"]),
    Shot("reader", [], ["alt+m"]),
    Shot("search", [], ["ctrl+f", *"lantern", "enter"]),
    Shot("check", [], ["alt+c", "down"]),
    Shot("changes", [], ["alt+d"], edit="Hob's beard was white."),
    Shot("names", [], ["alt+n"]),
    Shot("relations", [], ["alt+k"]),
    Shot("quotes", [], ["alt+q", *"nell"], theme="light"),
    Shot("recap", [], ["alt+y"]),
    Shot("commands", [], ["ctrl+p"]),
    Shot("library", [], ["ctrl+l"]),
    Shot("settings", [], ["ctrl+t"], theme="light"),
    Shot("help", [], ["f1"]),
)


async def main() -> None:
    """Take all pictures and write them to docs/pictures."""
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        read = Path(place) / "read"
        shutil.copytree(SAMPLE, read, ignore=shutil.ignore_patterns(".lrwr*"))
        await ingest(read)
        for shot in SHOTS:
            folder = Path(place) / shot.name
            shutil.copytree(read, folder)
            await ingest(folder)  # the copies count as changed files until then
            if shot.edit:
                chapter = folder / "chapters" / "02-the-reeves-offer.md"
                text = chapter.read_text(encoding="utf-8")
                chapter.write_text(f"{text}\n\n{shot.edit}\n", encoding="utf-8")
            svg = await take_picture(folder, shot)
            path = PICTURES / f"{shot.name}.svg"
            path.write_text(svg, encoding="utf-8")
            print(path.relative_to(REPO))


async def ingest(folder: Path) -> None:
    """Ingest the manuscript in `folder` without embeddings."""
    async with open_workspace(settings_in(folder, "dark")) as workspace:
        await ingest_manuscript(
            workspace, select_targets(workspace, [folder]), lambda _: None
        )


def settings_in(folder: Path, theme: str) -> Settings:
    """Return settings for a manuscript in `folder` that do not depend on this machine.

    `theme` is the theme of the screen.
    """
    asked = {"LRWR_EMBEDDING_MODEL": "off", "LRWR_SCREEN_THEME": theme}
    return load_settings(folder, asked, {}, user=folder / "nobody.toml")


async def take_picture(folder: Path, shot: Shot) -> str:
    """Return an SVG of the screen after the texts and keys of `shot` were entered."""
    settings = settings_in(folder, shot.theme)
    async with ServiceThread[Workspace](lambda: open_workspace(settings)) as stage:
        app = WritingRoom(stage, settings, ChatOptions(), _unforeseen)
        async with app.run_test(size=SIZE) as pilot:
            await wait_until_idle(pilot, stage)
            for question in shot.types:
                await pilot.press(*(_KEYS.get(one, one) for one in question), "enter")
                await wait_until_idle(pilot, stage)
            for key in shot.keys:
                await pilot.press(key)
                await wait_until_idle(pilot, stage)
            return embed_fonts(app.export_screenshot(title="lrwr chat"))


_KEYS = {" ": "space", ",": "comma", "?": "question_mark"}


async def wait_until_idle(pilot: Pilot[None], stage: ServiceThread[Workspace]) -> None:
    """Wait until no answer is streamed and no caller waits for the thread `stage`."""
    for _ in range(3):
        await pilot.pause(0.1)
        while stage.waiting or any(
            worker.group == "turn" and worker.is_running for worker in pilot.app.workers
        ):
            await pilot.pause(0.05)


def embed_fonts(svg: str) -> str:
    """Return the picture `svg` without references to fonts on the web."""
    return _ASKED.sub("font-family: monospace;", _FONTS.sub("", svg))


def _unforeseen(error: Exception) -> LrwrError:
    raise error


if __name__ == "__main__":
    asyncio.run(main())
