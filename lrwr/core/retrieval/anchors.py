"""Finds the words of a citation in the current text: unchanged, moved or edited.

Pure functions. Edited words are found by fuzzy alignment (RapidFuzz).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING

from lrwr.core.model.documents import DocumentId
from lrwr.core.model.text import LineRange, Span
from lrwr.core.model.turns import Citation

if TYPE_CHECKING:
    from lrwr.core.ports.stores import DocumentText

NEIGHBOURHOOD_CHARS = 1_500
"""Characters before and after the old offset in which less similarity is required."""

MIN_ALIGNED_QUOTE_CHARS = 12
"""Characters below which a quote is too short to be told from similar ones."""

COMMON_PHRASE_CHARS = 24
"""Characters below which equal words may be a coincidence: “Yes,” she said."""

_MAX_SENTENCE_EXTENSION = 200
"""Characters by which a span is extended at most to complete its sentence."""

_BOUNDARY_SLACK = 24
"""Characters by which the ends of an alignment are moved at most to word boundaries."""

_MIN_SIMILARITY = (
    (60, 65.0, 60.0),
    (40, 75.0, 68.0),
    (MIN_ALIGNED_QUOTE_CHARS, 85.0, 75.0),
)
"""Quote length in characters, and the similarity from 0 to 100 that is required
anywhere in the text and near the old offset.

Measured by deleting sentences from a novella: the most similar sentence among the rest
scores up to 61 for quotes of 60 characters and more, up to 76 from 40 characters on,
and nearly 100 for shorter ones. So everything above these values is a real match.
"""

_MARKS = "'\"`´‘’‚‛“”„‟«»‹›′″"
_DASHES = "-‐‑‒–—―−"
_SPACES = "\n\r\t\u00a0\u202f"
_LOOKALIKES = str.maketrans(
    _MARKS + _DASHES + _SPACES,
    "'" * len(_MARKS) + "-" * len(_DASHES) + " " * len(_SPACES),
)
_IGNORED = re.compile(r"[\s*_\\\u00ad\u200b-\u200d\ufeff]+")
_RUN_OF_DASHES = re.compile(r"-{2,}")
_DOTS = re.compile(r"\.\.\.")
_WORD = re.compile(r"\w+(?:['’\-]\w+)*")
_CLOSING = r"['\"´’”»›′″)\]*_]*"
_SENTENCE_END = re.compile(rf"[.!?…]+{_CLOSING}(?=\s|\Z)")
_ENDS_WITH_SENTENCE = re.compile(rf"[.!?…]+{_CLOSING}\s*\Z")
_PUNCTUATION = re.compile(r"[^\w\s]+")
_PARAGRAPH = re.compile(r"\n[ \t]*\n")

MAX_ALIGNMENT_WORK = 1_000_000_000
"""Upper bound of quote length times text length, summed over all alignments of a call.

This takes at most about a second. Missing quotes share it equally; with many of them
in a very long text, only the neighbourhood of the old offset is aligned.
"""


@dataclass(frozen=True, slots=True)
class SimilarSpan:
    """A span of a text and its similarity to a quotation, from 0.0 to 1.0 (equal)."""

    span: Span
    similarity: float


def has_quote_at(quote: str, text: str, start: int) -> bool:
    """Return whether `quote` occurs in `text` at the offset `start`, as whole words."""
    return text.startswith(quote, start) and not _cuts_word(text, start, len(quote))


def find_nearest_quote(quote: str, text: str, near: int) -> int | None:
    """Return the offset of the whole-word occurrence of `quote` in `text` that is
    nearest to the offset `near`.

    None if there is none. Of two equally near ones the earlier is returned.
    """
    if not quote:
        return None
    size = len(quote)
    start_before = text.rfind(quote, 0, near + size)
    while start_before >= 0 and _cuts_word(text, start_before, size):
        start_before = text.rfind(quote, 0, start_before + size - 1)
    start_after = text.find(quote, near + 1)
    while start_after >= 0 and _cuts_word(text, start_after, size):
        start_after = text.find(quote, start_after + 1)
    starts = [start for start in (start_before, start_after) if start >= 0]
    return min(starts, key=lambda start: abs(start - near), default=None)


def is_same_wording(quote: str, other: str) -> bool:
    """Return whether two texts are equal except for white space, emphasis marks, and
    the shape of quotation marks, dashes and ellipses.

    Case and other punctuation count.
    """
    return _strip_typography(quote) == _strip_typography(other)


def find_most_similar_span(
    quote: str, text: str, near: int, *, reach: int
) -> SimilarSpan | None:
    """Return the span of `text` that is most similar to `quote`; None if none is
    similar enough.

    The required similarity is 0.6 to 0.85: higher for short quotes, lower within
    `NEIGHBOURHOOD_CHARS` of the offset `near`. Besides this neighbourhood, the `reach`
    characters around `near` are searched. The span consists of whole words, and of
    whole sentences if the quote does. None for very short quotes.
    """
    bare_quote = quote.strip()
    needed = next(
        ((a, b) for size, a, b in _MIN_SIMILARITY if len(bare_quote) >= size), None
    )
    if needed is None or not text:
        return None
    anywhere, close = needed
    similar_span = _align(
        bare_quote,
        text,
        _build_window(text, near, NEIGHBOURHOOD_CHARS + len(bare_quote)),
        close,
    )
    if similar_span is None or similar_span.similarity < anywhere / 100:
        span = _build_window(text, near, reach // 2)
        similar_span = _align(bare_quote, text, span, anywhere) or similar_span
    if similar_span is None:
        return None
    return SimilarSpan(
        _extend_to_sentences(bare_quote, text, similar_span.span),
        similar_span.similarity,
    )


def _align(quote: str, text: str, within: Span, needed: float) -> SimilarSpan | None:
    from rapidfuzz import fuzz

    plain = _fold_lookalikes(text)[within.start : within.end]
    folded_quote = quote.translate(_LOOKALIKES)
    # The cutoff is 10 points lower because an alignment can cut words in half; it
    # scores higher once its ends are moved to word boundaries below.
    alignment = fuzz.partial_ratio_alignment(
        folded_quote, plain, score_cutoff=needed - 10
    )
    if alignment is None:
        return None
    start, end = alignment.dest_start, alignment.dest_end
    start = max(
        _iter_word_starts(plain, start, end),
        key=lambda position: fuzz.ratio(folded_quote, plain[position:end]),
    )
    end = max(
        _iter_word_ends(plain, start, end),
        key=lambda position: fuzz.ratio(folded_quote, plain[start:position]),
    )
    score = fuzz.ratio(folded_quote, plain[start:end])
    if score < needed:
        return None
    return SimilarSpan(Span(within.start + start, within.start + end), score / 100)


@lru_cache(maxsize=4)
def _fold_lookalikes(text: str) -> str:
    """Replace every character that has lookalikes by one representative; offsets stay."""
    return text.translate(_LOOKALIKES)


def _iter_word_starts(plain: str, start: int, end: int) -> Iterator[int]:
    """Yield the word starts near `start`, and those of punctuation before them; else
    `start`.
    """
    yielded = False
    for word in _WORD.finditer(plain, max(0, start - _BOUNDARY_SLACK), end):
        at = word.start()
        if at > start + _BOUNDARY_SLACK:
            break
        if not _inside_word(plain, at):
            yielded = True
            yield at
            yield at - _count_punctuation(
                plain[max(0, at - _BOUNDARY_SLACK) : at][::-1]
            )
    if not yielded:
        yield start


def _iter_word_ends(plain: str, start: int, end: int) -> Iterator[int]:
    """Yield the word ends near `end`, and those of punctuation after them; else `end`."""
    yielded = False
    for word in _WORD.finditer(plain, max(start, end - _BOUNDARY_SLACK)):
        at = word.end()
        if at > end + _BOUNDARY_SLACK:
            break
        yielded = True
        yield at
        yield at + _count_punctuation(plain[at : at + _BOUNDARY_SLACK])
    if not yielded:
        yield end


def _count_punctuation(text: str) -> int:
    """Return the length of the punctuation that `text` begins with."""
    match = _PUNCTUATION.match(text)
    return match.end() if match else 0


def _extend_to_sentences(quote: str, text: str, span: Span) -> Span:
    """Extend a span to sentence boundaries if the quote begins or ends at one."""
    start, end = span.start, span.end
    if _ENDS_WITH_SENTENCE.search(quote) and not _ENDS_WITH_SENTENCE.search(
        text[start:end]
    ):
        end += _to_sentence_end(text[end : end + _MAX_SENTENCE_EXTENSION])
    first = _WORD.search(quote)
    if first and not first[0][:1].islower():
        start -= _to_sentence_start(
            text[max(0, start - _MAX_SENTENCE_EXTENSION) : start]
        )
    return Span(start, end)


def _to_sentence_end(after: str) -> int:
    paragraph = _PARAGRAPH.search(after)
    rest = after[: paragraph.start()] if paragraph else after
    match = _SENTENCE_END.search(rest)
    if match:
        return match.end()
    return (
        len(rest.rstrip()) if paragraph or len(after) < _MAX_SENTENCE_EXTENSION else 0
    )


def _to_sentence_start(before: str) -> int:
    """Return how many characters at the end of `before` belong to an unfinished
    sentence.
    """
    is_short = len(before) < _MAX_SENTENCE_EXTENSION
    breaks = [match.end() for match in _PARAGRAPH.finditer(before)]
    breaks += [match.end() for match in _SENTENCE_END.finditer(before)]
    if not breaks and not is_short:
        return 0
    return len(before[max(breaks, default=0) :].lstrip())


def _build_window(text: str, near: int, reach: int) -> Span:
    middle = min(max(0, near), len(text))
    return Span(max(0, middle - reach), min(len(text), middle + reach))


def _cuts_word(text: str, start: int, size: int) -> bool:
    return _inside_word(text, start) or _inside_word(text, start + size)


def _inside_word(text: str, at: int) -> bool:
    """Return whether a word continues across `at`, in scripts that separate words."""
    if not 0 < at < len(text):
        return False
    return _is_letter(text[at - 1]) and _is_letter(text[at])


def _is_letter(letter: str) -> bool:
    return letter.isdigit() or letter.lower() != letter.upper()


def _strip_typography(text: str) -> str:
    plain = _IGNORED.sub("", text.translate(_LOOKALIKES))
    return _DOTS.sub("…", _RUN_OF_DASHES.sub("-", plain))


class Freshness(StrEnum):
    """State of cited words in the text as it was last ingested.

    `CURRENT`: unchanged, possibly at another location. `EDITED`: similar words are
    there. `GONE`: nothing similar is there. `NOT_EVALUATED`: the text could not be
    read, or the stored answer is damaged. `DAMAGED`: the stored text is.
    """

    CURRENT = "current"
    """The words are in the text unchanged, possibly at another location."""
    EDITED = "edited"
    """Similar words are in the text."""
    GONE = "gone"
    """Nothing similar was found."""
    NOT_EVALUATED = "not evaluated"
    """The text could not be read, or the stored answer is damaged."""
    DAMAGED = "damaged"
    """The stored text of the cited document is damaged, or must be stored again."""


@dataclass(frozen=True, slots=True)
class QuoteLocation:
    """Where cited words are now: `text` is the text of `document` at `span`, on
    `lines`.
    """

    document: DocumentId
    span: Span
    lines: LineRange
    text: str


@dataclass(frozen=True, slots=True)
class AnchoredCitation:
    """A citation and the current state of its words.

    The text of `citation` is the old wording, which may no longer exist. `now` locates
    the words, or what is most similar to them; None if they are gone or were not
    compared. `similarity` compares old and current wording, from 0.0 to 1.0; 0.0 if
    there is none.
    """

    citation: Citation
    freshness: Freshness
    now: QuoteLocation | None = None
    similarity: float = 0.0

    @property
    def changed(self) -> bool:
        """Whether the cited words were edited or deleted.

        False if they are only at another location, or were not evaluated.
        """
        return self.freshness in (Freshness.EDITED, Freshness.GONE)

    @property
    def moved(self) -> bool:
        """Whether the words are unchanged but on other lines or in another file."""
        if self.now is None or self.freshness is not Freshness.CURRENT:
            return False
        old_citation = self.citation
        return (self.now.document, self.now.lines) != (
            old_citation.document,
            old_citation.lines,
        )


def mark_unevaluated(citation: Citation) -> AnchoredCitation:
    """Return `citation` with the state `NOT_EVALUATED`, for a library that cannot be
    read.
    """
    return AnchoredCitation(citation, Freshness.NOT_EVALUATED)


def find_citation_in_place(
    citation: Citation, texts: "Mapping[DocumentId, DocumentText]"
) -> AnchoredCitation | None:
    """Locate the exact words of `citation` in the cited document.

    `texts` are the current texts. None if the document or the words are missing. The
    old offset is tried first, then the nearest whole-word occurrence; of two equally
    near ones the earlier.
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
    return _build_current(citation, _locate(citation.document, document_text, span))


def anchor_citations(
    citations: Sequence[Citation], texts: "Mapping[DocumentId, DocumentText]"
) -> list[AnchoredCitation]:
    """Return the current state of each citation, in the order of `citations`.

    `texts` are the texts of the whole library. The exact words are searched in the
    cited document, then in the others, because files are renamed and passages moved; a
    short common phrase counts in another document only at its old offset. Otherwise the
    most similar span of the cited document is the edited version, or of any document if
    that one was deleted. Differences in line ends, emphasis, quotation marks and dashes
    are ignored.
    """
    anchored_citations = [
        find_citation_in_place(citation, texts) for citation in citations
    ]
    share = MAX_ALIGNMENT_WORK // max(1, anchored_citations.count(None))
    return [
        anchored_citation or _find_elsewhere_or_similar(citation, texts, share)
        for citation, anchored_citation in zip(
            citations, anchored_citations, strict=True
        )
    ]


def _find_elsewhere_or_similar(
    citation: Citation, texts: "Mapping[DocumentId, DocumentText]", share: int
) -> AnchoredCitation:
    own_text = texts.get(citation.document)
    anchored_citation = _find_most_similar(
        citation, {citation.document: own_text} if own_text else {}, share
    )
    if anchored_citation and anchored_citation.freshness is Freshness.CURRENT:
        return anchored_citation
    others = {
        name: document_text
        for name, document_text in texts.items()
        if name != citation.document
    }
    if moved := _find_in_other_documents(
        citation,
        others,
        least=COMMON_PHRASE_CHARS if own_text else MIN_ALIGNED_QUOTE_CHARS,
    ):
        return moved
    similar_citation = (
        anchored_citation if own_text else _find_most_similar(citation, others, share)
    )
    return similar_citation or AnchoredCitation(citation, Freshness.GONE)


def _find_in_other_documents(
    citation: Citation, others: "Mapping[DocumentId, DocumentText]", *, least: int
) -> AnchoredCitation | None:
    """Find the exact words in another document, as near as possible to the old offset.

    A quote of fewer than `least` characters must be at exactly that offset.
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
    return _build_current(citation, _locate(document, others[document], span))


def _find_most_similar(
    citation: Citation, texts: "Mapping[DocumentId, DocumentText]", share: int
) -> AnchoredCitation | None:
    """Find the most similar span in `texts`; of equally similar ones, by document name."""
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
    now = _locate(where, texts[where], best.span)
    if is_same_wording(quote, now.text):
        return _build_current(citation, now)
    return AnchoredCitation(citation, Freshness.EDITED, now, best.similarity)


def _build_current(citation: Citation, now: QuoteLocation) -> AnchoredCitation:
    return AnchoredCitation(citation, Freshness.CURRENT, now, 1.0)


def _locate(
    document: DocumentId, document_text: "DocumentText", span: Span
) -> QuoteLocation:
    text = document_text.text[span.start : span.end]
    return QuoteLocation(document, span, document_text.lines.lines_of(span), text)
