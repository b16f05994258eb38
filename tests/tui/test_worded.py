"""Numbers of passages in a model's Markdown lead to the passages, wherever they stand."""

from dataclasses import replace

import pytest
from textual.pilot import Pilot
from textual.widget import Widget
from textual.widgets import Static

from lrwr.core.model.turns import AnswerSpeaker, Citation
from lrwr.tui.widgets.markdown import MarkdownReply
from tests.fakes.conversations import QUOTED, a_turn
from tests.fakes.desk_app import DeskApp, a_desk, settle
from tests.fakes.picture import check_picture
from tests.fakes.suite import sampled

CITED = tuple(replace(QUOTED, number=number) for number in range(1, 8))
ANSWER = """# The sluice [1]

She shut it **by night** [2].

### And then

1. She ran [3].
   - into the reeds [4]
2. She slept.

> Nobody thanked her [5].

| Who | What |
| --- | --- |
| Nell [6] | [bold]shut[/bold] it |
| OchraMags | wrote it down [7] |

```
not a passage [1]
```
"""


def marks(app: DeskApp) -> dict[str, tuple[Widget, int, int]]:
    """Return where each number can be clicked: in what, and at which column and row."""
    found: dict[str, tuple[Widget, int, int]] = {}
    screen = app.screen
    for y in range(screen.size.height):
        for x in range(screen.size.width):
            click = screen.get_style_at(x, y).meta.get("@click")
            if isinstance(click, str) and click.startswith("jump"):
                widget, _ = screen.get_widget_at(x, y)
                found.setdefault(click.split("'")[1], (widget, x, y))
    return found


async def clicked(app: DeskApp, pilot: Pilot[None], number: str) -> str:
    """Click a number, and return which passage is chosen then."""
    _, x, y = marks(app)[number]
    await pilot.click(offset=(x + 1, y))
    await settle(app, pilot)
    chosen = app.desk.sources.chosen
    return chosen.number if chosen else ""


@pytest.mark.parametrize("number", sampled([str(one.number) for one in CITED]))
async def test_a_number_in_any_part_of_an_answer_opens_its_passage(
    number: str,
) -> None:
    turn = a_turn(answer=ANSWER, citations=CITED)
    said = replace(turn.output, model="a-model")
    async with a_desk((120, 45)) as (app, pilot):
        await app.desk.show([replace(turn, output=said)])
        await settle(app, pilot)
        assert sorted(marks(app)) == [str(one.number) for one in CITED]
        assert await clicked(app, pilot, number) == number


async def streamed(app: DeskApp, pilot: Pilot[None], cited: Citation) -> None:
    """Have an answer come letter by letter."""
    view = await app.desk.start_turn("Who shut it?")
    await app.desk.add_citation(view, cited)
    for letter in ANSWER:
        await view.write(letter, AnswerSpeaker.AVATAR, avatar="", model="a-model")
        if letter in "|\n":
            await view.query_one(MarkdownReply)._flush()
    await view.query_one(MarkdownReply).finish()
    await settle(app, pilot)


async def test_a_number_that_came_late_into_a_table_opens_its_passage() -> None:
    async with a_desk((120, 45)) as (app, pilot):
        await streamed(app, pilot, CITED[6])
        assert sorted(marks(app)) == [str(one.number) for one in CITED]
        assert await clicked(app, pilot, "7") == "7"
        cells = [str(one.render()) for one in app.query(".cell").results(Static)]
        assert cells == ["Nell [6]", "[bold]shut[/bold] it", "OchraMags", cells[3]]
        assert cells[3] == "wrote it down [7]"


@pytest.mark.parametrize("theme", ["little-red-dark", "little-red-light"])
async def test_how_it_looks(theme: str) -> None:
    turn = a_turn(answer=ANSWER, citations=CITED[:1])
    said = replace(turn.output, model="a-model")
    async with a_desk((120, 36), theme=theme) as (app, pilot):
        await app.desk.show([replace(turn, output=said)])
        await settle(app, pilot)
        await check_picture(app, f"reading-worded-wide-{theme.rpartition('-')[2]}")
