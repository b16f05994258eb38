"""Words that are held back until it is clear how they are to be shown."""

from lrwr.app.presenters.answers import UNFINISHED_LINK, strip_links
from lrwr.app.presenters.text import sanitize_text


class LinkBuffer:
    """Keeps back the beginning of what may be a link until the rest of it comes."""

    def __init__(self) -> None:
        self._text = ""

    def take(self, text: str) -> str:
        """Return what may be shown."""
        text = strip_links(self._text + sanitize_text(text))
        begun = UNFINISHED_LINK.search(text)
        shown = text[: begun.start()] if begun else text
        self._text = text[len(shown) :]
        return shown

    def rest(self) -> str:
        """Return what was kept back."""
        rest, self._text = self._text, ""
        return rest
