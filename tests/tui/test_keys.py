"""The writer's own keys."""

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from textual._xterm_parser import XTermParser
from textual.binding import Binding
from textual.events import Key

from lrwr.tui.actions.keys_and_commands import ROOM_ACTIONS
from lrwr.tui.input.keymap import (
    ALL_ACTIONS,
    enable_alt_enter_key,
    format_key,
    normalize_key,
    parse_keymap,
    resolve_keys,
)
from lrwr.tui.screens.chat import OPENS_SCREEN
from lrwr.tui.screens.help import HelpScreen
from tests.fakes.room import a_room

NEED_MORE = {"room.rename", "room.export"}
"""Actions whose screen opens only in a thread."""


@pytest.mark.parametrize(
    ("lines", "keymap"),
    [
        (["room.characters ctrl+o"], {"room.characters": "ctrl+o"}),
        (["room.characters  Ctrl+O , f2"], {"room.characters": "ctrl+o,f2"}),
        (["room.side shift+Alt+X"], {"room.side": "alt+shift+x"}),
        (["room.side option+pgup"], {"room.side": "alt+pageup"}),
        (["room.side alt+."], {"room.side": "alt+full_stop"}),
        (["place.copy y"], {"place.copy": "y"}),
        (
            ["room.people f8", "room.world f7"],
            {"room.people": "f8", "room.world": "f7"},
        ),
        (
            ["room.characters ctrl+o", "room.side f2"],
            {"room.characters": "ctrl+o", "room.side": "f2"},
        ),
    ],
)
def test_a_line_gives_an_action_other_keys(
    lines: list[str], keymap: dict[str, str]
) -> None:
    assert parse_keymap(lines) == (keymap, ())


@pytest.mark.parametrize(
    ("lines", "keymap", "told"),
    [
        (["room.charcters f2"], {}, "Did you mean room.characters?"),
        (["room.side"], {}, "has no key"),
        (["room.side ,"], {}, "has no key"),
        (["room.side knob"], {}, "“knob” is not a valid key"),
        (["room.side ctrl+"], {}, "“ctrl+” is not a valid key"),
        (["room.side knob,f12"], {"room.side": "f12"}, "“knob” is not a valid key"),
        (["room.side x"], {}, "“x” types a character"),
        (["room.side 7"], {}, "“7” types a character"),
        (["room.side space"], {}, "types a character"),
        (["room.side shift+x"], {}, "types a character"),
        (["room.side f2"], {}, "F2 cannot be assigned to room.side: room.characters"),
        (["room.side ctrl+m"], {}, "prompt.ask (“Ask”) uses it"),
        (["room.side alt+3"], {}, "That key is fixed."),
        (
            ["room.side f12", "room.copy f12"],
            {"room.side": "f12"},
            "F12 cannot be assigned to room.copy: room.side",
        ),
    ],
)
def test_a_line_that_makes_no_sense_is_told(
    lines: list[str], keymap: dict[str, str], told: str
) -> None:
    found, (problem,) = parse_keymap(lines)
    assert found == keymap
    assert told in problem


@given(
    st.lists(st.text() | st.sampled_from([f"{one.id} f2,x," for one in ALL_ACTIONS]))
)
def test_no_line_takes_the_last_key_from_anything(lines: list[str]) -> None:
    keymap, _ = parse_keymap(lines)
    pressed = [
        (action.id.partition(".")[0], key)
        for action in ALL_ACTIONS
        for key in resolve_keys(action, keymap)
    ]
    assert len(pressed) == len(set(pressed))
    for keys in keymap.values():
        list(Binding.make_bindings([Binding(keys, "anything")]))


@given(st.text())
@example("+\r0")
def test_a_key_has_one_name(key: str) -> None:
    assert normalize_key(normalize_key(key)) == normalize_key(key)


@pytest.mark.parametrize(
    ("key", "read"),
    [("ctrl+o", "Ctrl+O"), ("f2", "F2"), ("alt+enter", "Alt+Enter"), ("?", "?")],
)
def test_a_key_is_shown_as_it_stands_on_the_board(key: str, read: str) -> None:
    assert format_key(key) == read


async def test_own_keys_do_it_and_the_former_ones_do_not(book: Path) -> None:
    async with a_room(book, LRWR_SCREEN_KEYS="room.help ctrl+o:room.side f1") as room:
        await room.pilot.press("f1")
        assert not isinstance(room.app.screen, HelpScreen)
        await room.pilot.press("ctrl+o")
        await room.pilot.pause()
        assert isinstance(room.app.screen, HelpScreen)
        await room.press("escape")


async def test_a_bad_line_is_told_and_the_room_opens_all_the_same(book: Path) -> None:
    (book / "lrwr.toml").write_text(
        '[screen]\nkeys = ["room.help ctrl+", "room.help ,", "room.nothing f1"]\n',
        encoding="utf-8",
    )
    async with a_room(book) as room:
        told = [one.message for one in room.app._notifications]
        assert len(told) == 3
        await room.pilot.press("f1")
        await room.pilot.pause()
        assert isinstance(room.app.screen, HelpScreen)
        await room.press("escape")


LETTER_KEYS = sorted(
    (action.id, key)
    for action in ALL_ACTIONS
    for key in resolve_keys(action, {})
    if key.startswith("alt+") and len(key) == len("alt+x")
)


@pytest.mark.parametrize(("name", "key"), LETTER_KEYS)
def test_an_advertised_alt_key_is_heard_as_terminals_send_it(
    name: str, key: str
) -> None:
    parser = XTermParser()
    events = [*parser.feed(f"\x1b{key[-1]}"), *parser.feed("")]
    assert [event.key for event in events if isinstance(event, Key)] == [key], name


async def test_every_key_that_opens_a_screen_does_so_from_the_prompt(
    book: Path,
) -> None:
    opens = [a for a in ROOM_ACTIONS if a.handler_name in OPENS_SCREEN]
    unopened = []
    async with a_room(book) as room:
        for action in opens:
            assert room.app.focused is room.screen.query_one("#prompt")
            await room.press(resolve_keys(action, {})[0])
            unopened += [action.id] if room.on_top else []
            await room.press("escape")
            if not room.on_top:
                await room.press("escape")
    assert not set(unopened) - NEED_MORE


@pytest.mark.parametrize("sent", ["\x1b\r", "\x1b\n", "\n", "\x1b[13;3u"])
def test_alt_enter_is_heard_however_a_terminal_sends_it(sent: str) -> None:
    enable_alt_enter_key()
    (action,) = (one for one in ALL_ACTIONS if one.id == "prompt.newline")
    (event,) = XTermParser().feed(sent)
    assert isinstance(event, Key)
    assert event.key in resolve_keys(action, {})
