"""The list of suggestions above the prompt."""

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
    """A list that the prompt's keys move through; a click accepts a suggestion."""

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

    class Accepted(Message):
        """The suggestion of that index, counted from 0, was clicked."""

        def __init__(self, index: int) -> None:
            super().__init__()
            self.index = index

    def __init__(self) -> None:
        super().__init__(id="offers", markup=False)
        self.display = False
        self._shown: tuple[Suggestion, ...] = ()

    def show(self, suggestions: tuple[Suggestion, ...], chosen: int | None) -> None:
        """Show suggestions; the one of index `chosen` is highlighted."""
        if suggestions != self._shown:
            self._shown = suggestions
            self.set_options(_build_options(suggestions))
            self.display = bool(suggestions)
        self.highlighted = chosen

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.post_message(self.Accepted(event.option_index))


def _build_options(suggestions: Sequence[Suggestion]) -> list[Option]:
    labels = [" ".join(sanitize_text(s.label).split()) for s in suggestions]
    width = max((len(label) for label in labels), default=0)
    return [
        Option(
            Content.assemble(
                (label.ljust(min(width, 38)), "bold"),
                "  ",
                (sanitize_text(suggestion.help), "dim"),
            )
        )
        for label, suggestion in zip(labels, suggestions, strict=True)
    ]
