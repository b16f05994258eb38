"""Where the words that an answer rests on stand now, or what became of them. Pure."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from lrwr.core.model.documents import DocumentId
from lrwr.core.model.text import LineRange, Span
from lrwr.core.model.turns import Citation
from lrwr.core.ports.stores import DocumentText

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


MAX_ALIGNMENT_WORK = 1_000_000_000
"""Characters of quotes times characters of texts that are aligned in one comparison.

A second of work or less. Quotes that are edited or gone share it evenly: with many of
them, and in a very long text, no more is aligned than lies around the old place.
"""


class Freshness(StrEnum):
    """What became of words that were cited."""

    CURRENT = "current"
    """They stand in the text, there or elsewhere."""
    EDITED = "edited"
    """Something like them stands there."""
    GONE = "gone"
    """Nothing like them was found."""
    NOT_EVALUATED = "not evaluated"
    """The text could not be read."""


@dataclass(frozen=True, slots=True)
class QuoteLocation:
    """Words of the present text: `text` is verbatim at `span`."""

    document: DocumentId
    span: Span
    lines: LineRange
    text: str


@dataclass(frozen=True, slots=True)
class AnchoredCitation:
    """A citation, and what became of its words.

    `now` is where they stand, or what stands in their stead if they were edited; None
    if they are gone or nobody could look. `similarity` says how alike both are, from
    0.0 to 1.0. The citation's own text is the old wording and may stand nowhere.
    """

    citation: Citation
    freshness: Freshness
    now: QuoteLocation | None = None
    similarity: float = 0.0

    @property
    def changed(self) -> bool:
        """Say whether the words that the answer rests on are there no more."""
        return self.freshness in (Freshness.EDITED, Freshness.GONE)

    @property
    def moved(self) -> bool:
        """Say whether the same words are now on other lines, or in another file."""
        if self.now is None or self.freshness is not Freshness.CURRENT:
            return False
        old_citation = self.citation
        return (self.now.document, self.now.lines) != (
            old_citation.document,
            old_citation.lines,
        )


def mark_unevaluated(citation: Citation) -> AnchoredCitation:
    """Return a citation whose text nobody could look at."""
    return AnchoredCitation(citation, Freshness.NOT_EVALUATED)


def find_citation_in_place(
    citation: Citation, texts: Mapping[DocumentId, DocumentText]
) -> AnchoredCitation | None:
    """Find a citation's very words in its own document; None if they are not there.

    Where the text is what it was, that is one comparison of the words at the old
    place. Else the nearest occurrence of whole words counts, and of two that are
    equally near the former.
    """
    document_text = texts.get(citation.document)
    if document_text is None:
        return None
    start = citation.span.start
    if not has_quote_at(citation.text, document_text.text, start):
        nearest_quote = find_nearest_quote(citation.text, document_text.text, start)
        if nearest_quote is None:
            return None
        start = nearest_quote
    span = Span(start, start + len(citation.text))
    return _current(citation, _placed(citation.document, document_text, span))


def anchor_citations(
    citations: Sequence[Citation], texts: Mapping[DocumentId, DocumentText]
) -> list[AnchoredCitation]:
    """Say of each citation what became of its words, in the order given.

    `texts` are those of the whole library. The very words count first: in their own
    document, then in another, as when a file was renamed or a passage moved; a few
    common words count elsewhere only at the same place, as in a renamed file. Then comes
    the passage that is most alike: in the same document, or in any if that is gone.
    Words that differ in nothing but line ends, emphasis and the shape of quotation
    marks and dashes are the same words.
    """
    anchored_citations = [
        find_citation_in_place(citation, texts) for citation in citations
    ]
    share = MAX_ALIGNMENT_WORK // max(1, anchored_citations.count(None))
    return [
        anchored_citation or _sought(citation, texts, share)
        for citation, anchored_citation in zip(
            citations, anchored_citations, strict=True
        )
    ]


def _sought(
    citation: Citation, texts: Mapping[DocumentId, DocumentText], share: int
) -> AnchoredCitation:
    own_text = texts.get(citation.document)
    anchored_citation = _alike(
        citation, {citation.document: own_text} if own_text else {}, share
    )
    if anchored_citation and anchored_citation.freshness is Freshness.CURRENT:
        return anchored_citation
    others = {
        name: document_text
        for name, document_text in texts.items()
        if name != citation.document
    }
    if moved := _elsewhere(
        citation,
        others,
        least=COMMON_PHRASE_CHARS if own_text else MIN_ALIGNED_QUOTE_CHARS,
    ):
        return moved
    similar_citation = (
        anchored_citation if own_text else _alike(citation, others, share)
    )
    return similar_citation or AnchoredCitation(citation, Freshness.GONE)


def _elsewhere(
    citation: Citation, others: Mapping[DocumentId, DocumentText], *, least: int
) -> AnchoredCitation | None:
    """Find the very words in another document: the nearest to the same place there.

    A quote of fewer than `least` characters must stand at that very place.
    """
    quote, at = citation.text, citation.span.start
    common = len(quote.strip()) < least
    candidates: list[tuple[int, DocumentId, int]] = []
    for document, document_text in others.items():
        start = find_nearest_quote(quote, document_text.text, at)
        if start is not None and (start == at or not common):
            candidates.append((abs(start - at), document, start))
    if not candidates:
        return None
    _, document, start = min(candidates)
    span = Span(start, start + len(quote))
    return _current(citation, _placed(document, others[document], span))


def _alike(
    citation: Citation, texts: Mapping[DocumentId, DocumentText], share: int
) -> AnchoredCitation | None:
    """Find what is most alike in `texts`; of two that are equally so the first by name."""
    quote, best, where = citation.text, SimilarSpan(Span(0, 0), 0.0), None
    reach = share // max(1, len(texts)) // max(1, len(quote))
    for document in sorted(texts):
        text = texts[document].text
        most_similar_span = find_most_similar_span(
            quote, text, citation.span.start, reach=reach
        )
        if most_similar_span and most_similar_span.similarity > best.similarity:
            best, where = most_similar_span, document
    if where is None:
        return None
    now = _placed(where, texts[where], best.span)
    if is_same_wording(quote, now.text):
        return _current(citation, now)
    return AnchoredCitation(citation, Freshness.EDITED, now, best.similarity)


def _current(citation: Citation, now: QuoteLocation) -> AnchoredCitation:
    return AnchoredCitation(citation, Freshness.CURRENT, now, 1.0)


def _placed(
    document: DocumentId, document_text: DocumentText, span: Span
) -> QuoteLocation:
    text = document_text.text[span.start : span.end]
    return QuoteLocation(document, span, document_text.lines.lines_of(span), text)
