"""Makes the results of a web search safe to display and to send to a language model."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import urlsplit

from lrwr.core.model.text import SentenceSplitter
from lrwr.core.ports.sources import MAX_PAGE_TEXT_CHARS, WebPage

_MAX_TITLE_CHARS = 160
_MAX_URL_CHARS = 600
_MAX_DATE_CHARS = 40

_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]?|\][^\x07\x1b\n]*(?:\x07|\x1b\\)?)")
"""A terminal escape sequence, such as a colour, a window title or a link."""


def parse_web_pages(
    results: Iterable[object], limit: int, sentences: SentenceSplitter
) -> list[WebPage]:
    """Return at most `limit` pages of a service's `results`, in their order.

    Of results with the same address, only the first is returned. Results without a
    usable web address or without text are skipped. Texts longer than
    `MAX_PAGE_TEXT_CHARS` are cut after a sentence; `sentences` finds the ends.
    """
    pages_by_address: dict[str, WebPage] = {}
    for page in _iterate_pages(results, sentences):
        pages_by_address.setdefault(page.url.partition("#")[0].rstrip("/"), page)
    return list(pages_by_address.values())[:limit]


def _iterate_pages(
    results: Iterable[object], sentences: SentenceSplitter
) -> Iterator[WebPage]:
    for result in results:
        if not isinstance(result, Mapping):
            continue
        url = _address(_field(result, "url"))
        text = _cut_after_sentence(_field(result, "content"), sentences)
        if url and text:
            title = _cut(_field(result, "title"), _MAX_TITLE_CHARS)
            date = _field(result, "published_date")[:_MAX_DATE_CHARS]
            yield WebPage(title or urlsplit(url).netloc, url, text, date)


def _field(result: "Mapping[object, object]", name: str) -> str:
    value = result.get(name)
    return flatten_page_text(value) if isinstance(value, str) else ""


def flatten_page_text(text: str) -> str:
    """Return `text` on one line, without control characters and terminal escapes."""
    text = _ESCAPE.sub("", text)
    letters = (
        " " if character.isspace() else character
        for character in text
        if character.isspace() or not unicodedata.category(character).startswith("C")
    )
    return " ".join("".join(letters).split())


def _address(url: str) -> str:
    """Return a web address; empty for another scheme or a misleading address."""
    try:
        parts = urlsplit(url)
        usable = (
            parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
        )
    except ValueError:
        return ""
    # A name before "@" looks like the host, but is not.
    misleads = "@" in parts.netloc or " " in url or len(url) > _MAX_URL_CHARS
    return url if usable and not misleads else ""


def _cut_after_sentence(text: str, sentences: SentenceSplitter) -> str:
    """Return whole sentences of `text`, at most `MAX_PAGE_TEXT_CHARS` characters."""
    if len(text) <= MAX_PAGE_TEXT_CHARS:
        return text
    fitting = [sentence.end for sentence in sentences(text[: MAX_PAGE_TEXT_CHARS + 1])][
        :-1
    ]
    return text[: fitting[-1]] if fitting else _cut(text, MAX_PAGE_TEXT_CHARS)


def _cut(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    return f"{text[: limit - 1].rpartition(' ')[0] or text[: limit - 1]}…"
