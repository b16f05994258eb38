"""The footer with the keys of a screen, in two lines where one is too narrow."""

from typing import ClassVar

from textual.geometry import Offset, Size
from textual.layout import ArrangeResult, Layout
from textual.layouts.horizontal import HorizontalLayout
from textual.widget import Widget
from textual.widgets import Footer

MAX_LINES = 2
"""Lines of the footer at most; keys that have no room in them are left out."""


class _WrappingLayout(HorizontalLayout):
    """Places widgets of one line each from left to right, in as many lines as needed."""

    def arrange(
        self, parent: Widget, children: list[Widget], size: Size, greedy: bool = True
    ) -> ArrangeResult:
        """Return the places of `children`; a wider widget than `size` is cut."""
        placements = super().arrange(parent, children, size, greedy)
        start = line = 0
        wrapped: ArrangeResult = []
        for placement in placements:
            region = placement.region
            if region.right - start > size.width and region.x > start:
                start, line = region.x, line + 1
            place = region.at_offset(Offset(region.x - start, line))
            wrapped.append(placement._replace(region=place))
        return [p for p in wrapped if p.region.y < MAX_LINES]


class KeyFooter(Footer):
    """Shows the keys of a screen, most needed first, each with its whole label."""

    DEFAULT_CSS: ClassVar[str] = f"""
    KeyFooter {{ height: auto; min-height: 1; max-height: {MAX_LINES}; }}
    """

    def __init__(self) -> None:
        super().__init__(show_command_palette=False, compact=True)
        self._layout = _WrappingLayout()

    @property
    def layout(self) -> Layout:
        """The layout that wraps, which no style names."""
        return self._layout
