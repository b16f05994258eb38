"""The line above the conversation."""

from textual.content import Content
from textual.widgets import Static

from lrwr.app.presenters.text import sanitize_text
from lrwr.tui.scope import ChatScope

SEPARATOR = "  ·  "

MIN_TITLE_WIDTH = 12
"""Columns of the title that are always shown."""


class RoomHeader(Static):
    """Shows the title and the scope; a long title is cut to make room for the rest."""

    def __init__(self, scope: ChatScope) -> None:
        self._scope = scope
        super().__init__(self._build_content(0), id="placard")

    def show_scope(self, scope: ChatScope) -> None:
        """Show who answers about whom, and how far the story has come."""
        self._scope = scope
        self.update(self._build_content(self.content_size.width))

    def on_resize(self) -> None:
        """Cut the title to the new width."""
        self.update(self._build_content(self.content_size.width))

    def _build_content(self, width: int) -> Content:
        """Return the line cut to `width` columns; 0 if the width is not known yet."""
        scope = self._scope
        title = Content(
            " ".join(sanitize_text(scope.title).split()) or "A new conversation"
        )
        rest = Content(
            SEPARATOR + sanitize_text(SEPARATOR.join(_describe_scope(scope)))
        )
        if width:
            title_width = max(MIN_TITLE_WIDTH, width - rest.cell_length)
            title = title.truncate(title_width, ellipsis=True)
        return title + rest


def _describe_scope(scope: ChatScope) -> list[str]:
    parts = [f"{scope.speaker or 'the analyst'} answers"]
    if scope.character and not scope.speaker:
        parts.append(f"about {scope.character}")
    if scope.as_of:
        parts.append(f"as of {scope.as_of}")
    if scope.witnessed:
        parts.append("witnessed only")
    return parts
