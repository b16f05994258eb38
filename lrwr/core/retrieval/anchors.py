"""Where the words that an answer rests on stand now, or what became of them. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from lrwr.core.model.documents import DocumentId
from lrwr.core.model.text import LineRange, Span
from lrwr.core.model.turns import Citation
from lrwr.core.ports.stores import DocumentText
from lrwr.core.retrieval.alignment import (
    COMMON_PHRASE_CHARS,
    MIN_ALIGNED_QUOTE_CHARS,
    SimilarSpan,
    find_most_similar_span,
    find_nearest_quote,
    has_quote_at,
    is_same_wording,
)

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
