"""Finds what somebody says that a text says, and gives the place of the very words."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from unicodedata import normalize

from lrwr.core.model.text import Span

MIN_QUOTE_SIMILARITY = 85.0
"""How alike a quote and the words of the text must be, of 100, when they differ."""
_WORTH_A_LOOK = 75.0
"""How alike a stretch of the text must be before its ends are moved to fit better."""
_MAY_DIFFER = 12
"""Characters of a quote, at least, that may differ from the text at all."""
_SLACK = 24
"""Characters by which the ends of a stretch are moved at most."""
_QUOTE_MARKS = "'\"`´‘’‚‛“”„‟«»‹›′″"
_DASHES = "-‐‑‒–—―−"
_ODD = re.compile(
    rf"(?P<mark>[{_QUOTE_MARKS}]+)"
    rf"|(?P<dash>\s*[{_DASHES}]+\s*)"
    r"|(?P<dots>…|\.\s?\.\s?\.)"
    r"|(?P<gap>\s+)"
    r"|(?P<nothing>[*_\\\u00ad\u200b\u200c\u200d\ufeff]+)"
)
_PLAIN = {"mark": "'", "dash": "-", "dots": "…", "gap": " ", "nothing": ""}
_ELLIPSIS = re.compile(r"[\[(]?(?:…|\.\s?\.\s?\.)\.?[\])]?")
_WORD = re.compile(r"\w+(?:['-]\w+)*")


@dataclass(frozen=True, slots=True)
class _FoldedText:
    """A text without what people and models change when they copy it.

    It is made of pieces: `starts` in `plain`, `origins` in the text, both ascending.
    `widths` are lengths in the text of what was replaced, 0 for letters as they are.
    """

    plain: str
    starts: list[int]
    origins: list[int]
    widths: list[int]

    def original(self, start: int, end: int) -> Span:
        """Return where a stretch of `plain` stands in the text."""
        return Span(self._place(start).start, self._place(end - 1).end)

    def after(self, origin: int) -> int:
        """Return the first place in `plain` at or behind a place of the text."""
        piece = bisect_right(self.origins, origin) - 1
        if piece < 0:
            return 0
        inside = origin - self.origins[piece]
        return self.starts[piece] + (bool(inside) if self.widths[piece] else inside)

    def _place(self, at: int) -> Span:
        piece = bisect_right(self.starts, at) - 1
        start, width = self.origins[piece], self.widths[piece]
        if width:
            return Span(start, start + width)
        start += at - self.starts[piece]
        return Span(start, start + 1)


def find_fuzzy_quote(quote: str, text: str) -> tuple[Span, ...]:
    """Return where `text` has the words of `quote`, in order; nothing if it has not.

    Quotation marks, dashes, white space, emphasis and capitals may differ. Words may
    differ a little too, if the quote is long enough: what is returned are the words of
    the text, whole. A quote with an ellipsis that the text has not gives one span for
    each of its parts, which must follow one another.
    """
    folded = _folded(text)
    parts = [part for part in _ELLIPSIS.split(quote) if _WORD.search(part)]
    if len(parts) < 2:
        span = _find(quote, folded, 0)
        return (span,) if span else ()
    same = _same_words(_bare(quote), folded, 0)
    return (same,) if same else _one_after_another(parts, folded)


def _one_after_another(parts: list[str], folded: _FoldedText) -> tuple[Span, ...]:
    spans: list[Span] = []
    after = 0
    for part in parts:
        span = _find(part, folded, after)
        if span is None:
            return ()
        spans.append(span)
        after = folded.after(span.end)
    return tuple(spans)


def _find(quote: str, folded: _FoldedText, after: int) -> Span | None:
    bare = _bare(quote)
    if not _WORD.search(bare):
        return None
    return _same_words(bare, folded, after) or _like_words(bare, folded, after)


def _bare(quote: str) -> str:
    return _fold(normalize("NFC", quote)).plain.strip(" '-…")


def _same_words(bare: str, folded: _FoldedText, after: int) -> Span | None:
    plain = folded.plain
    at = plain.find(bare, after) if bare else -1
    while at >= 0:
        end = at + len(bare)
        if not _inside_word(plain, at) and not _inside_word(plain, end):
            return folded.original(at, end)
        at = plain.find(bare, at + 1)
    return None


def _inside_word(plain: str, at: int) -> bool:
    return 0 < at < len(plain) and plain[at - 1].isalnum() and plain[at].isalnum()


def _like_words(bare: str, folded: _FoldedText, after: int) -> Span | None:
    from rapidfuzz import fuzz

    if len(bare) < _MAY_DIFFER or len(folded.plain) - after < len(bare) // 2:
        return None

    near = fuzz.partial_ratio_alignment(
        bare, folded.plain[after:], score_cutoff=_WORTH_A_LOOK
    )
    if near is None:
        return None
    stretches = _stretches(folded.plain, after + near.dest_start, after + near.dest_end)
    rated = [
        (fuzz.ratio(bare, folded.plain[start:end]), start, end)
        for start, end in stretches
        if start >= after
    ]
    score, start, end = max(rated, default=(0.0, 0, 0))
    return folded.original(start, end) if score >= MIN_QUOTE_SIMILARITY else None


def _stretches(plain: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield stretches of whole words that begin and end near the ones given."""
    low = max(0, start - _SLACK)
    while low > 0 and _inside_word(plain, low):
        low -= 1
    words = list(_WORD.finditer(plain, low, min(len(plain), end + 2 * _SLACK)))
    begins = [word.start() for word in words if abs(word.start() - start) <= _SLACK]
    ends = [word.end() for word in words if abs(word.end() - end) <= _SLACK]
    return ((begin, right) for begin in begins for right in ends if begin < right)


@lru_cache(maxsize=4)
def _folded(text: str) -> _FoldedText:
    return _fold(text)


def _fold(text: str) -> _FoldedText:
    pieces: list[str] = []
    starts: list[int] = []
    origins: list[int] = []
    widths: list[int] = []
    length = 0
    for piece, origin, width in _pieces(text):
        pieces.append(piece)
        starts.append(length)
        origins.append(origin)
        widths.append(width)
        length += len(piece)
    return _FoldedText("".join(pieces), starts, origins, widths)


def _pieces(text: str) -> Iterator[tuple[str, int, int]]:
    at = 0
    for odd in _ODD.finditer(text):
        if odd.start() > at:
            yield _lower(text[at : odd.start()]), at, 0
        replaced = _PLAIN[odd.lastgroup or "nothing"]
        if replaced:
            yield replaced, odd.start(), odd.end() - odd.start()
        at = odd.end()
    if at < len(text):
        yield _lower(text[at:]), at, 0


def _lower(text: str) -> str:
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(
        character if len(character.lower()) != 1 else character.lower()
        for character in text
    )


_MARKS = "'\"`´‘’‚‛“”„‟«»‹›′″"
_QUOTE_LOOKUP_DASHES = "-‐‑‒–—―−"
_NOTHING = "*_\\\u00ad\u200b\u200c\u200d\ufeff"


def find_verbatim(quote: str, text: str) -> Span | None:
    """Return where `text` has the words of `quote`, whole; None if it has not.

    Only what is typed in several ways may differ: capitals, kinds of quotation marks
    and dashes, white space, and the marks of emphasis.
    """
    folded_quote = "".join(
        letter for letter, _ in _quote_lookup_folded(normalize("NFC", quote))
    )
    folded_quote = folded_quote.strip(" '-…")
    if not any(letter.isalnum() for letter in folded_quote):
        return None
    folded = _quote_lookup_folded(text)
    plain = "".join(letter for letter, _ in folded)
    at = plain.find(folded_quote)
    while at >= 0:
        end = at + len(folded_quote)
        if not (
            _quote_lookup_inside_word(plain, at)
            or _quote_lookup_inside_word(plain, end)
        ):
            return Span(folded[at][1], folded[end - 1][1] + 1)
        at = plain.find(folded_quote, at + 1)
    return None


def _quote_lookup_folded(text: str) -> list[tuple[str, int]]:
    """Return the normalized letters, each with its index in `text`."""
    letters: list[tuple[str, int]] = []
    for place, letter in enumerate(text):
        plain = _plain(letter)
        if plain and not (plain == " " and letters and letters[-1][0] == " "):
            letters.append((plain, place))
    return letters


def _plain(letter: str) -> str:
    if letter in _NOTHING:
        return ""
    if letter in _MARKS:
        return "'"
    if letter in _QUOTE_LOOKUP_DASHES:
        return "-"
    if letter.isspace():
        return " "
    lower = letter.lower()
    return lower if len(lower) == 1 else letter


def _quote_lookup_inside_word(text: str, at: int) -> bool:
    return 0 < at < len(text) and text[at - 1].isalnum() and text[at].isalnum()
