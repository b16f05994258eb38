"""Finds words in a text again, the very same or what is most alike. Pure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from lrwr.core.model.text import Span

NEIGHBOURHOOD_CHARS = 1_500
"""Characters to either side of the old place that are its neighbourhood."""

MIN_ALIGNED_QUOTE_CHARS = 12
"""Characters that a quote must have to be told from others that are like it."""

COMMON_PHRASE_CHARS = 24
"""Characters below which the same words may well be others: “Yes,” she said."""

_LONGEST_END = 200
"""Characters by which a passage grows at most until its sentence is whole."""

_SLACK = 24
"""Characters by which the ends of a passage are moved at most to fit better."""

_ALIKE = ((60, 65.0, 60.0), (40, 75.0, 68.0), (MIN_ALIGNED_QUOTE_CHARS, 85.0, 75.0))
"""From so many characters on: how alike, of 100, anywhere, and near the old place.

Measured by taking sentences out of a novella: what is most alike in the rest reaches
61 for those of 60 characters and more, 76 from 40 on; shorter ones always find a twin.
"""

_MARKS = "'\"`´‘’‚‛“”„‟«»‹›′″"
_DASHES = "-‐‑‒–—―−"
_SPACES = "\n\r\t\u00a0\u202f"
_LETTER_FOR_LETTER = str.maketrans(
    _MARKS + _DASHES + _SPACES,
    "'" * len(_MARKS) + "-" * len(_DASHES) + " " * len(_SPACES),
)
_NO_WORD = re.compile(r"[\s*_\\\u00ad\u200b-\u200d\ufeff]+")
_RUN_OF_DASHES = re.compile(r"-{2,}")
_DOTS = re.compile(r"\.\.\.")
_WORD = re.compile(r"\w+(?:['’\-]\w+)*")
_CLOSING = r"['\"´’”»›′″)\]*_]*"
_SENTENCE_END = re.compile(rf"[.!?…]+{_CLOSING}(?=\s|\Z)")
_ENDED = re.compile(rf"[.!?…]+{_CLOSING}\s*\Z")
_SIGNS = re.compile(r"[^\w\s]+")
_PARAGRAPH = re.compile(r"\n[ \t]*\n")


@dataclass(frozen=True, slots=True)
class SimilarSpan:
    """A stretch of a text, and how alike it is to what was looked for, 0.0 to 1.0."""

    span: Span
    similarity: float


def has_quote_at(quote: str, text: str, start: int) -> bool:
    """Say whether `text` has `quote` at `start`, and no word goes on beyond its ends."""
    return text.startswith(quote, start) and not _is_cut(text, start, len(quote))


def find_nearest_quote(quote: str, text: str, near: int) -> int | None:
    """Return where `text` has `quote` in whole words nearest to `near`; None if nowhere.

    Of two that are equally near the former counts.
    """
    if not quote:
        return None
    size = len(quote)
    start_before = text.rfind(quote, 0, near + size)
    while start_before >= 0 and _is_cut(text, start_before, size):
        start_before = text.rfind(quote, 0, start_before + size - 1)
    start_after = text.find(quote, near + 1)
    while start_after >= 0 and _is_cut(text, start_after, size):
        start_after = text.find(quote, start_after + 1)
    starts = [start for start in (start_before, start_after) if start >= 0]
    return min(starts, key=lambda start: abs(start - near), default=None)


def is_same_wording(quote: str, other: str) -> bool:
    """Say whether two texts differ in line ends, emphasis and shapes of marks alone."""
    return _bare(quote) == _bare(other)


def find_most_similar_span(
    quote: str, text: str, near: int, *, reach: int
) -> SimilarSpan | None:
    """Return the passage of `text` that is most alike to `quote`; None if none is.

    Near the old place less will do. `reach` bounds the characters of the text that are
    aligned, around that place; the neighbourhood is aligned in any case. The passage is
    made of whole words, and of whole sentences where the quote is.
    """
    bare_quote = quote.strip()
    needed = next(((a, b) for size, a, b in _ALIKE if len(bare_quote) >= size), None)
    if needed is None or not text:
        return None
    anywhere, close = needed
    similar_span = _aligned(
        bare_quote,
        text,
        _around(text, near, NEIGHBOURHOOD_CHARS + len(bare_quote)),
        close,
    )
    if similar_span is None or similar_span.similarity < anywhere / 100:
        span = _around(text, near, reach // 2)
        similar_span = _aligned(bare_quote, text, span, anywhere) or similar_span
    if similar_span is None:
        return None
    return SimilarSpan(
        _whole_sentences(bare_quote, text, similar_span.span), similar_span.similarity
    )


def _aligned(quote: str, text: str, within: Span, needed: float) -> SimilarSpan | None:
    from rapidfuzz import fuzz

    plain = _plain(text)[within.start : within.end]
    folded_quote = quote.translate(_LETTER_FOR_LETTER)
    alignment = fuzz.partial_ratio_alignment(
        folded_quote, plain, score_cutoff=needed - 10
    )
    if alignment is None:
        return None
    start, end = alignment.dest_start, alignment.dest_end
    start = max(
        _begins(plain, start, end),
        key=lambda position: fuzz.ratio(folded_quote, plain[position:end]),
    )
    end = max(
        _ends(plain, start, end),
        key=lambda position: fuzz.ratio(folded_quote, plain[start:position]),
    )
    score = fuzz.ratio(folded_quote, plain[start:end])
    if score < needed:
        return None
    return SimilarSpan(Span(within.start + start, within.start + end), score / 100)


@lru_cache(maxsize=4)
def _plain(text: str) -> str:
    """Return `text` letter for letter, with one sign for all that look alike."""
    return text.translate(_LETTER_FOR_LETTER)


def _begins(plain: str, start: int, end: int) -> Iterator[int]:
    """Yield where words begin near `start`, and the marks before them; or `start`."""
    yielded = False
    for word in _WORD.finditer(plain, max(0, start - _SLACK), end):
        at = word.start()
        if at > start + _SLACK:
            break
        if not _inside_word(plain, at):
            yielded = True
            yield at
            yield at - _signs(plain[max(0, at - _SLACK) : at][::-1])
    if not yielded:
        yield start


def _ends(plain: str, start: int, end: int) -> Iterator[int]:
    """Yield where words end near `end`, and the marks behind them; or `end`."""
    yielded = False
    for word in _WORD.finditer(plain, max(start, end - _SLACK)):
        at = word.end()
        if at > end + _SLACK:
            break
        yielded = True
        yield at
        yield at + _signs(plain[at : at + _SLACK])
    if not yielded:
        yield end


def _signs(text: str) -> int:
    """Return how many signs that are neither letters nor white space `text` begins with."""
    match = _SIGNS.match(text)
    return match.end() if match else 0


def _whole_sentences(quote: str, text: str, span: Span) -> Span:
    """Let a passage grow to the ends of its sentences, if the quote is whole ones."""
    start, end = span.start, span.end
    if _ENDED.search(quote) and not _ENDED.search(text[start:end]):
        end += _to_sentence_end(text[end : end + _LONGEST_END])
    first = _WORD.search(quote)
    if first and not first[0][:1].islower():
        start -= _to_sentence_start(text[max(0, start - _LONGEST_END) : start])
    return Span(start, end)


def _to_sentence_end(after: str) -> int:
    paragraph = _PARAGRAPH.search(after)
    rest = after[: paragraph.start()] if paragraph else after
    match = _SENTENCE_END.search(rest)
    if match:
        return match.end()
    return len(rest.rstrip()) if paragraph or len(after) < _LONGEST_END else 0


def _to_sentence_start(before: str) -> int:
    """Return how many characters of `before` belong to a sentence that goes on."""
    is_short = len(before) < _LONGEST_END
    breaks = [match.end() for match in _PARAGRAPH.finditer(before)]
    breaks += [match.end() for match in _SENTENCE_END.finditer(before)]
    if not breaks and not is_short:
        return 0
    return len(before[max(breaks, default=0) :].lstrip())


def _around(text: str, near: int, reach: int) -> Span:
    middle = min(max(0, near), len(text))
    return Span(max(0, middle - reach), min(len(text), middle + reach))


def _is_cut(text: str, start: int, size: int) -> bool:
    return _inside_word(text, start) or _inside_word(text, start + size)


def _inside_word(text: str, at: int) -> bool:
    """Say whether a word goes on across `at`, in a script that parts its words."""
    if not 0 < at < len(text):
        return False
    return _is_letter(text[at - 1]) and _is_letter(text[at])


def _is_letter(letter: str) -> bool:
    return letter.isdigit() or letter.lower() != letter.upper()


def _bare(text: str) -> str:
    plain = _NO_WORD.sub("", text.translate(_LETTER_FOR_LETTER))
    return _DOTS.sub("…", _RUN_OF_DASHES.sub("-", plain))
