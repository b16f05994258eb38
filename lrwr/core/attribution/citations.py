"""Numbers for the words that an answer rests on, and those words found again."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from lrwr.core.bible.values import TextEvidence
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.text import WORD_PATTERN, LineRange, SentenceSplitter, Span
from lrwr.core.model.turns import Citation
from lrwr.core.nlp.dialogue.quote_lookup import find_fuzzy_quote
from lrwr.core.ports.stores import DocumentText

MAX_EVIDENCE_CHARS = 400
"""Characters of the words that one fact rests on, unless a sentence alone is longer:
what is merely marked as somewhere in a passage would bring the whole passage."""


class CitationNumbering:
    """Gives each stretch of a document one number, from 1. `texts` are the present."""

    def __init__(self, texts: Mapping[DocumentId, DocumentText]) -> None:
        self._texts = texts
        self._made: dict[tuple[DocumentId, Span], Citation] = {}

    @property
    def citations(self) -> tuple[Citation, ...]:
        """Everything that has a number, in their order."""
        return tuple(self._made.values())

    def stands(
        self, document: DocumentId, span: Span, text: str, chapter: int | None
    ) -> Citation | None:
        """Return an unnumbered citation of `text` in the current document, else None."""
        document_text = self._texts.get(document)
        if document_text is None:
            return None
        nowhere = LineRange(1, 1)
        return reanchor_citation(
            Citation(0, document, span, nowhere, text, chapter), document_text
        )

    def knows(self, citation: Citation) -> bool:
        """Say whether that stretch has a number already."""
        return (citation.document, citation.span) in self._made

    def number(self, citation: Citation) -> Citation:
        """Return it with its number: a new one, or the one that the stretch has."""
        place = (citation.document, citation.span)
        numbered = replace(citation, number=len(self._made) + 1)
        return self._made.setdefault(place, numbered)


def iter_evidence_spans(evidence: TextEvidence) -> Iterator[tuple[Span, str]]:
    """Yield each stretch of what something rests on, and its words."""
    spans, text = evidence.spans, evidence.text
    spare = len(text) - sum(map(len, spans))
    joint = spare // max(1, len(spans) - 1)
    at = 0
    for span in spans:
        yield span, text[at : at + len(span)]
        at += len(span) + joint


def reanchor_citation(citation: Citation, text: DocumentText) -> Citation | None:
    """Return where the cited words stand in the present text; None if nowhere.

    Where they stood, else nearest to it, else in other typography: the citation then
    has the words as the text has them.
    """
    span = _found(citation, text.text)
    if span is None:
        return None
    words = text.text[span.start : span.end]
    return replace(citation, span=span, lines=text.lines.lines_of(span), text=words)


def differs_only_in_typography(text: str, other: str) -> bool:
    """Say whether two texts differ in typography alone: marks, space and capitals."""
    return _plain_words(text) == _plain_words(other)


def _plain_words(text: str) -> list[str]:
    plain = text.replace("_", "").replace("’", "'").casefold()
    return [part for word in WORD_PATTERN.findall(plain) for part in word.split("'")]


def _found(citation: Citation, text: str) -> Span | None:
    if not citation.text.strip():
        return None
    if text[citation.span.start : citation.span.end] == citation.text:
        return citation.span
    exact = rf"(?<!\w){re.escape(citation.text)}(?!\w)"
    places = [match.start() for match in re.finditer(exact, text)]
    if places:
        start = min(places, key=lambda at: abs(at - citation.span.start))
        return Span(start, start + len(citation.text))
    fuzzy_quote = find_fuzzy_quote(citation.text, text)
    if len(fuzzy_quote) != 1:
        return None
    words = text[fuzzy_quote[0].start : fuzzy_quote[0].end]
    return fuzzy_quote[0] if differs_only_in_typography(words, citation.text) else None


def cite_evidence(
    evidence: TextEvidence, numbering: CitationNumbering, sentences: SentenceSplitter
) -> Iterator[Citation]:
    """Yield the words of `evidence` as they stand now, unnumbered, none too long."""
    for span, text in iter_evidence_spans(evidence):
        end = fit_whole_sentences(text, sentences, MAX_EVIDENCE_CHARS)
        short = Span(span.start, span.start + end)
        citation = numbering.stands(
            evidence.document, short, text[:end], evidence.chapter
        )
        if citation is not None:
            yield citation


def fit_whole_sentences(text: str, sentences: SentenceSplitter, limit: int) -> int:
    """Return where the first sentences of `text` end that fit in `limit` characters.

    The first sentence is whole, however long it is.
    """
    if len(text) <= limit:
        return len(text)
    ends = [span.end for span in sentences(text)]
    fitting = [end for end in ends if end <= limit]
    return fitting[-1] if fitting else next(iter(ends), len(text))
