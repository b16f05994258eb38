"""The line over the conversation."""

from textual.content import Content
from textual.widgets import Static

from lrwr.app.presenters.text import sanitize_text
from lrwr.tui.scope import ChatScope

BETWEEN = "  ·  "

FEWEST = 12
"""Columns of a title that are shown whatever else there is to say."""


class RoomHeader(Static):
    """Says what is talked about, and how; a long title makes way for the rest."""

    def __init__(self, sitting: ChatScope) -> None:
        self._sitting = sitting
        super().__init__(self._told(0), id="placard")

    def say(self, sitting: ChatScope) -> None:
        """Say how things stand now."""
        self._sitting = sitting
        self.update(self._told(self.content_size.width))

    def on_resize(self) -> None:
        """Cut the title anew."""
        self.update(self._told(self.content_size.width))

    def _told(self, width: int) -> Content:
        """Return what is said in so many columns; 0 where that is not known."""
        sitting = self._sitting
        title = Content(
            " ".join(sanitize_text(sitting.title).split()) or "A new conversation"
        )
        rest = Content(BETWEEN + sanitize_text(BETWEEN.join(_how(sitting))))
        if width:
            most = max(FEWEST, width - rest.cell_length)
            title = title.truncate(most, ellipsis=True)
        return title + rest


def _how(sitting: ChatScope) -> list[str]:
    told = [f"{sitting.speaker or 'the analyst'} answers"]
    if sitting.character and not sitting.speaker:
        told.append(f"about {sitting.character}")
    if sitting.as_of:
        told.append(f"as of {sitting.as_of}")
    if sitting.witnessed:
        told.append("witnessed only")
    return told
