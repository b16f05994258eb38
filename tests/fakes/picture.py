"""What a screen shows, as text that can be read in a diff: its words, then its colours.

Set LRWR_PICTURES=write to make the pictures anew, and look at what changed.
"""

import asyncio
import os
from difflib import unified_diff
from itertools import groupby
from pathlib import Path

from textual._context import visible_screen_stack
from textual.app import App
from textual.widgets import Input, TextArea

BETWEEN = 0.05
"""Seconds between two looks at a screen that is still being drawn."""

LOOKS, STAYS = 200, 10
"""Looks until a picture is given up, and looks for which one at rest stays as it is."""

PICTURES = Path(__file__).parents[1] / "tui" / "pictures"


def picture(app: App[None]) -> str:
    """Return the screen's lines, and under them each line's stretches of one style.

    What blinks is there.
    """
    if isinstance(app.focused, Input | TextArea):
        app.focused.cursor_blink = False
    # As Textual does before it draws: else a dialog would be drawn over nothing.
    visible_screen_stack.set(app._background_screens)
    lines: list[str] = []
    styles: list[str] = []
    width = app.size.width
    for number, strip in enumerate(app.screen._compositor.render_strips()):
        cropped = strip.crop(0, width)
        lines.append("".join(one.text for one in cropped).rstrip())
        runs = groupby(cropped, key=lambda one: str(one.style or ""))
        told = [
            f"{style or '-'}*{sum(s.cell_length for s in run)}" for style, run in runs
        ]
        styles.append(f"{number + 1:>3} {' | '.join(told)}")
    return "\n".join([*lines, "", *_folded(styles), ""])


async def check_picture(app: App[None], name: str) -> None:
    """Wait until the screen is the picture of that name; say how it differs if never."""
    path = PICTURES / f"{name}.txt"
    if os.environ.get("LRWR_PICTURES") == "write":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(await _at_rest(app), encoding="utf-8")
    assert path.exists(), f"there is no picture {path.name}: LRWR_PICTURES=write"
    wanted, looks = path.read_text(encoding="utf-8"), LOOKS
    while (shown := picture(app)) != wanted:
        if not looks:
            break
        await asyncio.sleep(BETWEEN)
        looks -= 1
    told = unified_diff(wanted.splitlines(), shown.splitlines(), lineterm="", n=0)
    assert shown == wanted, "\n".join(told)


async def _at_rest(app: App[None]) -> str:
    """Return the picture once it has stayed the same for a while."""
    shown, same = picture(app), 0
    while same < STAYS:
        await asyncio.sleep(BETWEEN)
        now = picture(app)
        shown, same = now, same + 1 if now == shown else 0
    return shown


def _folded(styles: list[str]) -> list[str]:
    """Tell equal neighbours once."""
    told: list[str] = []
    before = ""
    for line in styles:
        same = line[4:] == before
        before = line[4:]
        if not same:
            told.append(line)
    return told
