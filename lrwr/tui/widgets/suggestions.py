"""How a command may go on, above the prompt."""

from collections.abc import Sequence
from typing import ClassVar

from textual import on
from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from lrwr.app.presenters.text import clean
from lrwr.tui.input.commands import Offer


class Offers(OptionList, can_focus=False):
    """A list that the prompt's keys walk through; a click takes a line of it."""

    DEFAULT_CSS: ClassVar[str] = """
    Offers {
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
        self._shown: tuple[Offer, ...] = ()

    def show(self, offers: tuple[Offer, ...], chosen: int | None) -> None:
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


def _lines(offers: Sequence[Offer]) -> list[Option]:
    labels = [" ".join(clean(one.label).split()) for one in offers]
    width = max((len(label) for label in labels), default=0)
    return [
        Option(
            Content.assemble(
                (label.ljust(min(width, 38)), "bold"), "  ", (clean(one.help), "dim")
            )
        )
        for label, one in zip(labels, offers, strict=True)
    ]
