"""What a search service sends, made into pages that are safe to show and to read."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import urlsplit

from lrwr.core.model.text import SentenceSplitter
from lrwr.core.ports.sources import MAX_PAGE_TEXT_CHARS, WebPage

_MOST_TITLE = 160
_MOST_URL = 600
_MOST_DATE = 40

_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]?|\][^\x07\x1b\n]*(?:\x07|\x1b\\)?)")
"""An escape sequence of a terminal: colours, titles, links."""


def parse_web_pages(
    results: Iterable[object], limit: int, sentences: SentenceSplitter
) -> list[WebPage]:
    """Return at most `limit` pages of a service's `results`, each address once.

    What has no address of the web, or no text, is left out.
    """
    pages_by_address: dict[str, WebPage] = {}
    for page in _read(results, sentences):
        pages_by_address.setdefault(page.url.partition("#")[0].rstrip("/"), page)
    return list(pages_by_address.values())[:limit]


def _read(results: Iterable[object], sentences: SentenceSplitter) -> Iterator[WebPage]:
    for result in results:
        if not isinstance(result, Mapping):
            continue
        url = _address(_field(result, "url"))
        text = _shortened(_field(result, "content"), sentences)
        if url and text:
            title = _cut(_field(result, "title"), _MOST_TITLE)
            date = _field(result, "published_date")[:_MOST_DATE]
            yield WebPage(title or urlsplit(url).netloc, url, text, date)


def _field(result: "Mapping[object, object]", name: str) -> str:
    value = result.get(name)
    return flatten_page_text(value) if isinstance(value, str) else ""


def flatten_page_text(text: str) -> str:
    """Return `text` in one line, with nothing in it that a terminal would obey."""
    text = _ESCAPE.sub("", text)
    letters = (
        " " if character.isspace() else character
        for character in text
        if character.isspace() or not unicodedata.category(character).startswith("C")
    )
    return " ".join("".join(letters).split())


def _address(url: str) -> str:
    """Return an address of the web; empty for any other, and for one that misleads."""
    try:
        place = urlsplit(url)
        usable = (
            place.scheme in {"http", "https"} and place.hostname and place.port != 0
        )
    except ValueError:
        return ""
    misleads = "@" in place.netloc or " " in url or len(url) > _MOST_URL
    return url if usable and not misleads else ""


def _shortened(text: str, sentences: SentenceSplitter) -> str:
    """Return whole sentences of at most `MAX_PAGE_TEXT_CHARS` characters.

    A long one is cut.
    """
    if len(text) <= MAX_PAGE_TEXT_CHARS:
        return text
    fitting = [planted.end for planted in sentences(text[: MAX_PAGE_TEXT_CHARS + 1])][
        :-1
    ]
    return text[: fitting[-1]] if fitting else _cut(text, MAX_PAGE_TEXT_CHARS)


def _cut(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    return f"{text[: most - 1].rpartition(' ')[0] or text[: most - 1]}…"
