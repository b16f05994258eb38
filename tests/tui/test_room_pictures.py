"""How the room looks, at both sizes and in both themes."""

from pathlib import Path

import pytest

from tests.fakes.picture import check_picture
from tests.fakes.room import LOOKS, Room, a_room

EACH = pytest.mark.parametrize(("width", "size", "theme"), LOOKS)
LEDGER = "Who keeps the ledger?"


@EACH
async def test_the_room_before_anything_is_asked(
    book: Path, width: str, size: tuple[int, int], theme: str
) -> None:
    async with a_room(book, size=size, LRWR_SCREEN_THEME=theme) as room:
        await check_picture(room.app, f"room-greeting-{width}-{theme}")


@EACH
async def test_the_room_where_nothing_is_read(
    unread: Path, width: str, size: tuple[int, int], theme: str
) -> None:
    async with a_room(unread, size=size, LRWR_SCREEN_THEME=theme) as room:
        await check_picture(room.app, f"room-unread-{width}-{theme}")


@EACH
async def test_the_room_with_an_answer(
    book: Path, width: str, size: tuple[int, int], theme: str
) -> None:
    async with a_room(book, size=size, LRWR_SCREEN_THEME=theme) as room:
        await room.ask(LEDGER)
        await check_picture(room.app, f"room-answer-{width}-{theme}")


@EACH
async def test_the_library(
    book: Path, width: str, size: tuple[int, int], theme: str
) -> None:
    async with a_room(book, size=size, LRWR_SCREEN_THEME=theme) as room:
        await room.press("ctrl+l")
        await check_picture(room.app, f"library-{width}-{theme}")


@EACH
async def test_the_settings(
    book: Path, width: str, size: tuple[int, int], theme: str
) -> None:
    async with a_room(book, size=size, LRWR_SCREEN_THEME=theme) as room:
        await room.press("ctrl+t")
        await room.type("watch.")
        await check_picture(room.app, f"settings-{width}-{theme}")


@EACH
async def test_the_writer_s_leave(
    book: Path, width: str, size: tuple[int, int], theme: str
) -> None:
    (book / "lrwr.toml").write_text('[web]\nuse = "tavily"\n')
    async with a_room(book, size=size, LRWR_SCREEN_THEME=theme) as room:
        await check_picture(room.app, f"leave-{width}-{theme}")


async def test_without_colours_nothing_has_one(
    book: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with a_room(book) as room:
        await room.ask(LEDGER)
        await check_picture(room.app, "room-answer-no-color")


def words(room: Room) -> str:
    strips = room.app.screen._compositor.render_strips()
    return "\n".join("".join(one.text for one in strip) for strip in strips)


async def test_any_width_shows_what_was_asked_and_where_to_ask(book: Path) -> None:
    async with a_room(book) as room:
        await room.ask(LEDGER)
        for columns, rows in ((60, 24), (250, 60), (99, 24), (100, 24), (60, 15)):
            await room.pilot.resize_terminal(columns, rows)
            await room.settle()
            assert LEDGER in words(room)
            assert "Ask your manuscript" in words(room)
