"""Opening a passage in an editor, and copying it: what is run, and with what."""

import asyncio
import sys
from pathlib import Path

import pytest
from textual.drivers.headless_driver import HeadlessDriver

from lrwr.app.presenters.answers import strip_links
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.turns import Citation
from lrwr.tui.screens.scope import CharactersScreen
from lrwr.tui.widgets.sources import Sources
from tests.fakes.room import Room, a_room

LEDGER = "Who keeps the ledger?"

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="scripts of a shell")


@pytest.fixture
def terminal_is_lent(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal without a screen can be lent to an editor, too."""
    monkeypatch.setattr(HeadlessDriver, "can_suspend", True)


def an_editor(folder: Path, name: str, *, code: int = 0) -> tuple[str, Path]:
    """A program of that name that writes down its arguments, one a line."""
    folder.mkdir(exist_ok=True)
    noted = folder / "arguments"
    program = folder / name
    program.write_text(
        f'#!/bin/sh\nprintf "%s\\n" "$@" > "{noted}"\nexit {code}\n', encoding="utf-8"
    )
    program.chmod(0o755)
    return f'"{program}"', noted


def notices(room: Room) -> str:
    return "\n".join(one.message for one in room.app._notifications)


async def cited(room: Room) -> Citation:
    await room.ask(LEDGER)
    await room.press("alt+1")
    turn = room.transcript.last
    assert turn is not None
    return turn.output.citations[0]


@pytest.mark.usefixtures("terminal_is_lent")
async def test_enter_opens_the_passage_at_its_line(
    book: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    editor, noted = an_editor(tmp_path / "bin", "vim")
    monkeypatch.setenv("EDITOR", editor)
    async with a_room(book) as room:
        one = await cited(room)
        await room.press("enter")
        said = noted.read_text(encoding="utf-8").splitlines()
        assert said == [f"+{one.lines.first}", str(book / one.document)]


@pytest.mark.usefixtures("terminal_is_lent")
async def test_a_passage_opens_though_another_key_is_pressed_at_once(
    book: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    editor, noted = an_editor(tmp_path / "bin", "vim")
    monkeypatch.setenv("EDITOR", editor)
    async with a_room(book) as room:
        await cited(room)
        room.screen.action_do("open")
        await asyncio.sleep(0)
        room.screen.action_do("characters")
        await room.settle()
        assert isinstance(room.app.screen, CharactersScreen)
        assert noted.exists()


async def test_the_line_is_that_of_the_file_as_it_is_saved_now(
    book: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    editor, noted = an_editor(tmp_path / "bin", "code")
    monkeypatch.setenv("VISUAL", editor)
    async with a_room(book) as room:
        one = await cited(room)
        file = book / one.document
        text = file.read_text(encoding="utf-8")
        file.write_text(f"One more.\r\n\r\nAnd more.\r\n{text}", encoding="utf-8")
        await room.press("enter")
        said = noted.read_text(encoding="utf-8").splitlines()
        assert said == ["--goto", f"{file}:{one.lines.first + 3}"]


async def test_an_editor_that_fails_is_a_line(
    book: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    editor, _ = an_editor(tmp_path / "bin", "code", code=3)
    async with a_room(book) as room:
        one = await cited(room)
        for written, told in (
            (editor, "code exited with code 3"),
            ("no-such-editor", "The editor `no-such-editor` is not installed"),
            ("'vim", "The editor command is invalid"),
        ):
            monkeypatch.setenv("EDITOR", written)
            await room.press("enter")
            assert told in notices(room)
        monkeypatch.setenv("PATH", str(tmp_path))
        monkeypatch.delenv("EDITOR")
        await room.press("enter")
        place = f"{book / one.document}:{one.lines.first}"
        assert f"No editor is set. The passage is at {place}" in notices(room)


async def test_a_file_that_is_gone_is_a_line(book: Path) -> None:
    async with a_room(book) as room:
        one = await cited(room)
        (book / one.document).unlink()
        await room.press("enter")
        assert f"{one.document} no longer exists" in notices(room)


async def test_a_docx_is_opened_by_the_system_with_a_word_where_to_look(
    book: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lrwr.tui.actions.citations import open_document_at_line

    for name in ("open", "xdg-open"):
        _, noted = an_editor(tmp_path / "bin", name)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=":")
    async with a_room(book) as room:
        document = DocumentId("chapters/04-six-strokes.docx")
        await open_document_at_line(room.screen, document, 12)
        assert noted.read_text(encoding="utf-8").strip() == str(book / document)
        assert "The passage is in paragraph 12 of 04-six-strokes.docx" in notices(room)


async def test_the_answer_and_the_chosen_passage_can_be_copied(
    book: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VTE_VERSION", "7200")
    async with a_room(book) as room:
        one = await cited(room)
        await room.press("c")
        assert room.app.clipboard.startswith(one.text[:20])
        lines = f"{one.lines.first}-{one.lines.last}"
        assert room.app.clipboard.endswith(f"— {one.document}:{lines}")
        assert "hold Shift" in notices(room)
        await room.press("ctrl+r")
        turn = room.transcript.last
        assert turn is not None
        said = strip_links(turn.output.response_text)
        assert room.app.clipboard == said.strip()


async def test_nothing_to_copy_is_a_line(book: Path) -> None:
    async with a_room(book) as room:
        await room.press("ctrl+r")
        assert "There is no answer to copy yet" in notices(room)
        assert room.screen.query_one(Sources).chosen is None


async def test_enter_opens_the_line_of_a_quote(
    book: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    editor, noted = an_editor(tmp_path / "bin", "code")
    monkeypatch.setenv("VISUAL", editor)
    async with a_room(book) as room:
        await room.press("alt+q")
        await room.type("nell ch2")
        await room.press("down", "enter")
        await room.settle()
        opened = noted.read_text(encoding="utf-8").splitlines()
        assert opened[0] == "--goto"
        assert opened[1].startswith(f"{book}/chapters/02-")
