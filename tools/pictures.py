"""Makes the pictures of the screens in docs/pictures from the sample manuscript.

Run: python -m tools.pictures. Each is an SVG without external resources.
"""

import asyncio
import html
import io
import os
import re
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from textual.pilot import Pilot

from lrwr.app.books import add_book, build_book_settings, open_bookshelf
from lrwr.app.container import Workspace, open_workspace
from lrwr.app.ingestion import ingest_manuscript
from lrwr.app.pending_changes import select_targets
from lrwr.core.model.errors import LrwrError
from lrwr.core.settings.loader import load_settings
from lrwr.core.settings.model import Settings
from lrwr.tui.app import WritingRoom
from lrwr.tui.book_app import BookApp
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
    "dark" or "light". `edit` is a sentence to add to a chapter after it was read. If
    `is_book`, the sample is shown as an e-book.
    """

    name: str
    types: Sequence[str] = ()
    keys: Sequence[str] = ()
    theme: str = "dark"
    edit: str = ""
    is_book: bool = False


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
    Shot(
        "book",
        [],
        [
            *("space", "space", "down", "1", "down", "right", "4", "a"),
            *("H", "o", "w", "space", *"old", "space", "i", "s", "space", *"Hob"),
            *("question_mark", "enter"),
        ],
        is_book=True,
    ),
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
            take = take_book_picture if shot.is_book else take_picture
            svg = await take(folder, shot)
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
    return await take_app_picture(
        settings,
        shot,
        lambda stage: WritingRoom(stage, settings, ChatOptions(), _unforeseen),
        "lrwr chat",
    )


async def take_book_picture(folder: Path, shot: Shot) -> str:
    """Return an SVG of the reading screen with the sample, as `take_picture`."""
    os.environ["XDG_DATA_HOME"] = str(folder / "data")
    file, shelf = folder / "marsh-lantern.epub", open_bookshelf()
    file.write_bytes(build_book(sorted((folder / "chapters").glob("*.md"))))
    settings = settings_in(folder, shot.theme)
    record = await add_book(shelf, settings, file, now=0.0, say=lambda _: None)
    settings = build_book_settings(settings, shelf.folder_of(record.id))
    return await take_app_picture(
        settings,
        shot,
        lambda stage: BookApp(stage, settings, record, _unforeseen),
        "lrwr read",
    )


def build_book(chapters: Sequence[Path]) -> bytes:
    """Return an EPUB file with these Markdown files as chapters."""
    content, items, spine = io.BytesIO(), "", ""
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("mimetype", "application/epub+zip")
        archive.writestr(
            "META-INF/container.xml",
            '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"'
            ' version="1.0"><rootfiles><rootfile full-path="book.opf" media-type='
            '"application/oebps-package+xml"/></rootfiles></container>',
        )
        for number, chapter in enumerate(chapters, 1):
            text = chapter.read_text(encoding="utf-8").rpartition("---\n\n")[2]
            body = "".join(map(_format_paragraph, text.split("\n\n")))
            page = (
                f'<html xmlns="http://www.w3.org/1999/xhtml"><body>{body}</body></html>'
            )
            archive.writestr(f"{number}.xhtml", page)
            kind = "application/xhtml+xml"
            items += f'<item id="c{number}" href="{number}.xhtml" media-type="{kind}"/>'
            spine += f'<itemref idref="c{number}"/>'
        metadata = "<dc:title>The Marsh Lantern</dc:title><dc:language>en</dc:language>"
        archive.writestr(
            "book.opf",
            '<package xmlns="http://www.idpf.org/2007/opf" version="3.0"'
            ' xmlns:dc="http://purl.org/dc/elements/1.1/">'
            f"<metadata>{metadata}</metadata><manifest>{items}</manifest>"
            f"<spine>{spine}</spine></package>",
        )
    return content.getvalue()


def _format_paragraph(text: str) -> str:
    words = html.escape(" ".join(text.split()))
    level = len(words) - len(words.lstrip("#"))
    if level:
        return f"<h{level}>{words.lstrip('# ')}</h{level}>"
    return f"<p>{words}</p>" if words else ""


async def take_app_picture(
    settings: Settings,
    shot: Shot,
    create: Callable[[ServiceThread[Workspace]], WritingRoom],
    title: str,
) -> str:
    """Return an SVG of an application after the texts and keys of `shot` were entered."""
    async with ServiceThread[Workspace](lambda: open_workspace(settings)) as stage:
        app = create(stage)
        async with app.run_test(size=SIZE) as pilot:
            await wait_until_idle(pilot, stage)
            for question in shot.types:
                await pilot.press(*(_KEYS.get(one, one) for one in question), "enter")
                await wait_until_idle(pilot, stage)
            for key in shot.keys:
                await pilot.press(key)
                await wait_until_idle(pilot, stage)
            return embed_fonts(app.export_screenshot(title=title))


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
