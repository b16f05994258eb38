"""Numbers citations, finds cited words in the current text, and reads citation marks."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from lrwr.core.bible.values import TextEvidence
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.text import WORD_PATTERN, LineRange, SentenceSplitter, Span
from lrwr.core.model.turns import Citation
from lrwr.core.nlp.dialogue.quote_lookup import find_fuzzy_quote
from lrwr.core.ports.stores import DocumentText
from lrwr.core.web.citations import WEB_MARK

MAX_EVIDENCE_CHARS = 400
"""Maximum length in characters of the words cited for one fact, unless a single sentence
is longer. Some evidence spans cover a whole passage, which would be too much to cite."""

CITATION_MARK = re.compile(r"\[\s*(\d+(?:\s*[,;–-]\s*\d+)*)\s*\]")
"""One or several citation numbers in an answer: [3], [1, 4], [2-5]."""

ANY_MARK = re.compile(rf"{CITATION_MARK.pattern}|{WEB_MARK.pattern}")
"""A mark of the manuscript or of the web, as `normalize_web_marks` writes it."""

_MARK_AND_SPACE = re.compile(r"([^\S\n]*)" + CITATION_MARK.pattern)
_ANY_MARK_AND_SPACE = re.compile(rf"[^\S\n]*(?:{ANY_MARK.pattern})")


_UNFINISHED_MARK = re.compile(r"(?<![^\S\n])[^\S\n]*(?:\[[\d\s,;–-]{0,80})?\Z")


class CitationNumbering:
    """Assigns one number, from 1, to each cited span of a document.

    `texts` are the current texts of the documents. Citations of one span share a
    number.
    """

    def __init__(self, texts: Mapping[DocumentId, DocumentText]) -> None:
        self.texts = texts
        self._by_span: dict[tuple[DocumentId, Span], Citation] = {}

    @property
    def citations(self) -> tuple[Citation, ...]:
        """All numbered citations, in the order of their numbers."""
        return tuple(self._by_span.values())

    def locate(
        self, document: DocumentId, span: Span, text: str, chapter: int | None
    ) -> Citation | None:
        """Return a citation of `text` at its current location in `document`, with
        number 0.

        `span` is where the words were when they were indexed: of several occurrences
        the nearest is cited. `chapter` is their chapter in story order, None for a
        note. None if the words or the document are gone.
        """
        document_text = self.texts.get(document)
        if document_text is None:
            return None
        nowhere = LineRange(1, 1)
        return reanchor_citation(
            Citation(0, document, span, nowhere, text, chapter), document_text
        )

    def span(self, first: Citation, last: Citation) -> Citation | None:
        """Return a citation from the beginning of `first` to the end of `last`; None if
        they are not on one line of one document.
        """
        text = self.texts.get(first.document)
        if text is None or first.document != last.document or first.lines != last.lines:
            return None
        start = min(first.span.start, last.span.start)
        end = max(first.span.end, last.span.end)
        return replace(first, span=Span(start, end), text=text.text[start:end])

    def has_number(self, citation: Citation) -> bool:
        """Return whether the cited span of `citation` has a number already."""
        return (citation.document, citation.span) in self._by_span

    def number(self, citation: Citation) -> Citation:
        """Return the citation with the number of its span.

        A new span gets the next number; for a known one the first citation of it is
        returned.
        """
        place = (citation.document, citation.span)
        numbered = replace(citation, number=len(self._by_span) + 1)
        return self._by_span.setdefault(place, numbered)


def iter_evidence_spans(evidence: TextEvidence) -> Iterator[tuple[Span, str]]:
    """Yield each span of `evidence` with its words, in the order of the text."""
    spans, text = evidence.spans, evidence.text
    # The words of several spans are joined by separators of one length, which is not
    # stored: it follows from the characters that the spans do not account for.
    spare = len(text) - sum(map(len, spans))
    joint = spare // max(1, len(spans) - 1)
    at = 0
    for span in spans:
        yield span, text[at : at + len(span)]
        at += len(span) + joint


def reanchor_citation(citation: Citation, text: DocumentText) -> Citation | None:
    """Return `citation` at the current location of its words in `text`; None if they
    are gone.

    The old offset is tried first, then the nearest exact occurrence, then one that
    differs only in typography; the citation then quotes the current text.
    """
    span = _find_cited_span(citation, text.text)
    if span is None:
        return None
    words = text.text[span.start : span.end]
    best = citation.best if words == citation.text else None
    lines = text.lines.lines_of(span)
    return replace(citation, span=span, lines=lines, text=words, best=best)


def differs_only_in_typography(text: str, other: str) -> bool:
    """Return whether two texts have the same words in the same order, ignoring case and
    punctuation.
    """
    return list_plain_words(text) == list_plain_words(other)


def list_plain_words(text: str) -> list[str]:
    """Return the words of `text` in lower case, without emphasis and split at
    apostrophes.
    """
    plain = text.replace("_", "").replace("’", "'").casefold()
    return [part for word in WORD_PATTERN.findall(plain) for part in word.split("'")]


def _find_cited_span(citation: Citation, text: str) -> Span | None:
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
    """Yield a citation, with number 0, for each span of `evidence` in the current text.

    Each has whole sentences of at most `MAX_EVIDENCE_CHARS` characters, unless its
    first sentence is longer. Words that are gone are skipped.
    """
    for span, text in iter_evidence_spans(evidence):
        end = fit_whole_sentences(text, sentences, MAX_EVIDENCE_CHARS)
        short = Span(span.start, span.start + end)
        citation = numbering.locate(
            evidence.document, short, text[:end], evidence.chapter
        )
        if citation is not None:
            yield citation


def fit_whole_sentences(text: str, sentences: SentenceSplitter, limit: int) -> int:
    """Return the length of the beginning of `text` that consists of the whole sentences
    which fit into `limit` characters.

    The first sentence is always included. `sentences` splits a text into the spans of
    its sentences.
    """
    if len(text) <= limit:
        return len(text)
    ends = [span.end for span in sentences(text)]
    fitting = [end for end in ends if end <= limit]
    return fitting[-1] if fitting else next(iter(ends), len(text))


def strip_answer_citation_marks(answer: str) -> str:
    """Return `answer` without its citation marks, which are valid for one turn only."""
    return _ANY_MARK_AND_SPACE.sub("", answer)


def drop_unknown_numbers(answer: str, numbers_of_citations: frozenset[int]) -> str:
    """Return `answer` without citation numbers that are not in `numbers_of_citations`.

    Ranges are written out: [1-3] becomes [1, 2, 3]. A mark without numbers is removed.
    """

    def keep_known_numbers(mark: re.Match[str]) -> str:
        numbers = _expand_numbers(mark[2], numbers_of_citations)
        if numbers == parse_numbers(mark[2]):
            return mark[0]
        listed_numbers = ", ".join(str(number) for number in numbers)
        return f"{mark[1]}[{listed_numbers}]" if listed_numbers else ""

    before = ""
    while before != answer:  # removing a mark may create another one: "[[9]8]"
        before, answer = answer, _MARK_AND_SPACE.sub(keep_known_numbers, answer)
    return answer


def split_unfinished_mark(text: str) -> tuple[str, str]:
    """Return a part of a streamed answer without the beginning of a citation mark at its
    end, and that beginning.
    """
    start = _UNFINISHED_MARK.search(text)
    end = start.start() if start else len(text)
    return text[:end], text[end:]


def list_unknown_numbers(
    answer: str, numbers_of_citations: frozenset[int]
) -> tuple[int, ...]:
    """Return the single citation numbers of `answer` that are not in
    `numbers_of_citations`, each once, in its order.
    """
    numbers = (
        int(part)
        for mark in CITATION_MARK.finditer(answer)
        for part in re.split(r"\s*[,;]\s*", mark[1])
        if part.isdecimal()
    )
    return tuple(dict.fromkeys(n for n in numbers if n not in numbers_of_citations))


def format_unknown_numbers(numbers: Sequence[int]) -> tuple[str, ...]:
    """Return the remark on citation numbers that do not exist; empty without any."""
    if not numbers:
        return ()
    marks = ", ".join(f"[{number}]" for number in numbers)
    if len(numbers) == 1:
        return (f"There is no passage {marks}: the number was removed.",)
    return (f"There are no passages {marks}: the numbers were removed.",)


def parse_numbers(mark_text: str) -> list[int]:
    """Return the numbers in the text between the brackets of a citation mark."""
    return [int(number) for number in re.findall(r"\d{1,6}", mark_text)]


def _expand_numbers(mark_text: str, numbers_of_citations: frozenset[int]) -> list[int]:
    """Return the existing numbers that `mark_text` lists, with ranges expanded."""
    numbers: list[int] = []
    for part in re.split(r"\s*[,;]\s*", mark_text):
        ends = [int(end) for end in re.findall(r"\d{1,6}(?!\d)", part)]
        if not ends or len(ends) != len(re.findall(r"\d+", part)):
            continue  # a number with more digits than any citation has
        low, high = ends[0], ends[-1]
        numbers += sorted(
            number for number in numbers_of_citations if low <= number <= high
        )
    return list(dict.fromkeys(numbers))
