"""How a command may go on, above the prompt."""

from collections.abc import Sequence
from typing import ClassVar

from textual import on
from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from lrwr.app.presenters.text import sanitize_text
from lrwr.tui.input.commands import Suggestion


class SuggestionList(OptionList, can_focus=False):
    """A list that the prompt's keys walk through; a click takes a line of it."""

    DEFAULT_CSS: ClassVar[str] = """
    SuggestionList {
        height: auto;
        max-height: 8;
        margin: 0 1;
        padding: 0 1;
        border: none;
        background: $surface;
        scrollbar-size-vertical: 1;
        text-wrap: nowrap;
        text-overflow: ellipsis;
    }
    """

    class Taken(Message):
        """The writer takes the offer of that number, from 0."""

        def __init__(self, index: int) -> None:
            super().__init__()
            self.index = index

    def __init__(self) -> None:
        super().__init__(id="offers", markup=False)
        self.display = False
        self._shown: tuple[Suggestion, ...] = ()

    def show(self, offers: tuple[Suggestion, ...], chosen: int | None) -> None:
        """Show `offers`, the chosen one marked."""
        if offers != self._shown:
            self._shown = offers
            self.set_options(_lines(offers))
            self.display = bool(offers)
        self.highlighted = chosen

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.post_message(self.Taken(event.option_index))


def _lines(offers: Sequence[Suggestion]) -> list[Option]:
    labels = [" ".join(sanitize_text(one.label).split()) for one in offers]
    width = max((len(label) for label in labels), default=0)
    return [
        Option(
            Content.assemble(
                (label.ljust(min(width, 38)), "bold"),
                "  ",
                (sanitize_text(one.help), "dim"),
            )
        )
        for label, one in zip(labels, offers, strict=True)
    ]
