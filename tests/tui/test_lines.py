"""Lines of text that are wrapped to the width of their list."""

from textual.app import App, ComposeResult

from lrwr.app.presenters.text import StyledLine
from lrwr.tui.widgets.lists import LineList

WORDS = "one two three four"
"""As wide as the list without its padding."""


class ListApp(App[None]):
    def compose(self) -> ComposeResult:
        yield LineList(id="lines")


async def test_no_word_is_lost_if_few_lines_stand_there_for_a_moment() -> None:
    app = ListApp()
    many = [StyledLine((WORDS,))] * 9
    async with app.run_test(size=(len(WORDS) + 2, 6)) as pilot:
        lines = app.query_one(LineList)
        lines.show(many)
        await pilot.pause(0.2)
        lines.show([StyledLine(("Nothing found",))])
        lines.show(many)
        await pilot.pause()
        strips = app.screen._compositor.render_strips()
        shown = " ".join(strip.text for strip in strips).split()
        assert shown[:5] == [*WORDS.split(), "one"]
