"""Lookup of quotes in a text, exact or tolerant of small differences."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from unicodedata import normalize

from lrwr.core.model.text import Span, is_inside_word

MIN_QUOTE_SIMILARITY = 85.0
"""Minimum similarity (0 to 100, normalized Indel) of a quote that is not verbatim."""
_MIN_PARTIAL_SIMILARITY = 75.0
"""Minimum partial similarity of a candidate before its boundaries are optimized."""
_MIN_FUZZY_LENGTH = 12
"""Minimum length, in characters, of a quote that may differ from the text."""
_MAX_BOUNDARY_SHIFT = 24
"""Maximum characters by which each boundary of a candidate is moved."""
_QUOTE_MARKS = "'\"`´‘’‚‛“”„‟«»‹›′″"
_DASHES = "-‐‑‒–—―−"
_VARIANTS = re.compile(
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
    """A normalized text and the mapping of its offsets to the original.

    Piece `i` starts at `starts[i]` in `plain` and at `origins[i]` in the original.
    `widths[i]` is the original length of replaced characters, 0 for unchanged text.
    """

    plain: str
    starts: list[int]
    origins: list[int]
    widths: list[int]

    def original(self, start: int, end: int) -> Span:
        """Return the original span of a range of `plain`."""
        return Span(self._place(start).start, self._place(end - 1).end)

    def after(self, origin: int) -> int:
        """Return the first offset in `plain` at or after an original offset."""
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
    """Return the span of the first exact occurrence of `quote` in `text`, else of the
    most similar one; () if there is none.

    Quotation marks, dashes, whitespace, emphasis and case may differ and count as
    exact. Only a quote of 12 characters or more may differ slightly in wording, too
    (see `MIN_QUOTE_SIMILARITY`). If `quote` has an ellipsis that the text lacks, the
    result has one span for each piece between ellipses, in text order, each found after
    the piece before; () if a piece is missing. Spans are of whole words.
    """
    folded = _folded(text)
    parts = [part for part in _ELLIPSIS.split(quote) if _WORD.search(part)]
    if len(parts) < 2:
        span = _find_part(quote, folded, 0)
        return (span,) if span else ()
    same = _find_exact(_fold_quote(quote), folded, 0)
    return (same,) if same else _find_sequence(parts, folded)


def _find_sequence(parts: list[str], folded: _FoldedText) -> tuple[Span, ...]:
    spans: list[Span] = []
    after = 0
    for part in parts:
        span = _find_part(part, folded, after)
        if span is None:
            return ()
        spans.append(span)
        after = folded.after(span.end)
    return tuple(spans)


def _find_part(quote: str, folded: _FoldedText, after: int) -> Span | None:
    bare = _fold_quote(quote)
    if not _WORD.search(bare):
        return None
    return _find_exact(bare, folded, after) or _find_similar(bare, folded, after)


def _fold_quote(quote: str) -> str:
    return _fold(normalize("NFC", quote)).plain.strip(" '-…")


def _find_exact(bare: str, folded: _FoldedText, after: int) -> Span | None:
    plain = folded.plain
    at = plain.find(bare, after) if bare else -1
    while at >= 0:
        end = at + len(bare)
        if not is_inside_word(plain, at) and not is_inside_word(plain, end):
            return folded.original(at, end)
        at = plain.find(bare, at + 1)
    return None


def _find_similar(bare: str, folded: _FoldedText, after: int) -> Span | None:
    from rapidfuzz import fuzz

    if len(bare) < _MIN_FUZZY_LENGTH or len(folded.plain) - after < len(bare) // 2:
        return None

    near = fuzz.partial_ratio_alignment(
        bare, folded.plain[after:], score_cutoff=_MIN_PARTIAL_SIMILARITY
    )
    if near is None:
        return None
    stretches = _boundary_candidates(
        folded.plain, after + near.dest_start, after + near.dest_end
    )
    rated = [
        (fuzz.ratio(bare, folded.plain[start:end]), start, end)
        for start, end in stretches
        if start >= after
    ]
    score, start, end = max(rated, default=(0.0, 0, 0))
    return folded.original(start, end) if score >= MIN_QUOTE_SIMILARITY else None


def _boundary_candidates(plain: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of whole words that start and end near `start` and `end`."""
    low = max(0, start - _MAX_BOUNDARY_SHIFT)
    while low > 0 and is_inside_word(plain, low):
        low -= 1
    words = list(
        _WORD.finditer(plain, low, min(len(plain), end + 2 * _MAX_BOUNDARY_SHIFT))
    )
    begins = [
        word.start()
        for word in words
        if abs(word.start() - start) <= _MAX_BOUNDARY_SHIFT
    ]
    ends = [
        word.end() for word in words if abs(word.end() - end) <= _MAX_BOUNDARY_SHIFT
    ]
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
    for odd in _VARIANTS.finditer(text):
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


_IGNORED = "*_\\\u00ad\u200b\u200c\u200d\ufeff"


def find_verbatim(quote: str, text: str) -> Span | None:
    """Return the span of the first occurrence of `quote` in `text`, as whole words;
    None if there is none.

    Only case, whitespace, emphasis and the kind of quotation marks and dashes may
    differ.
    """
    folded_quote = "".join(
        letter for letter, _ in _fold_characters(normalize("NFC", quote))
    )
    folded_quote = folded_quote.strip(" '-…")
    if not any(letter.isalnum() for letter in folded_quote):
        return None
    folded = _fold_characters(text)
    plain = "".join(letter for letter, _ in folded)
    at = plain.find(folded_quote)
    while at >= 0:
        end = at + len(folded_quote)
        if not (is_inside_word(plain, at) or is_inside_word(plain, end)):
            return Span(folded[at][1], folded[end - 1][1] + 1)
        at = plain.find(folded_quote, at + 1)
    return None


def _fold_characters(text: str) -> list[tuple[str, int]]:
    """Return the normalized characters, each with its offset in `text`."""
    letters: list[tuple[str, int]] = []
    for place, letter in enumerate(text):
        plain = _fold_character(letter)
        if plain and not (plain == " " and letters and letters[-1][0] == " "):
            letters.append((plain, place))
    return letters


def _fold_character(letter: str) -> str:
    if letter in _IGNORED:
        return ""
    if letter in _QUOTE_MARKS:
        return "'"
    if letter in _DASHES:
        return "-"
    if letter.isspace():
        return " "
    lower = letter.lower()
    return lower if len(lower) == 1 else letter
