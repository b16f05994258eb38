"""What all screens share that lie on the conversation as one sheet."""

from typing import ClassVar, TypeVar

from textual.screen import ModalScreen

SIDE_BY_SIDE = 90
"""Columns from which there is room for two things beside each other."""

Result = TypeVar("Result")


class ModalSheet(ModalScreen[Result]):
    """A framed sheet in the middle; its title is at the top, and what keys do below."""

    DEFAULT_CSS: ClassVar[str] = """
    ModalSheet {
        align: center middle;
        & > Vertical {
            width: 90%;
            height: 90%;
            padding: 1 2;
            background: $surface;
            border: round $primary;
        }
        .title { text-style: bold; color: $primary; height: 1; }
        .hint { height: auto; color: $text-muted; }
    }
    """
