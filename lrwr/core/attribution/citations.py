"""Numbers citations, finds cited words in the current text, and checks answers against
what they cite.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from lrwr.core.bible.values import TextEvidence
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.text import (
    STOP_WORDS,
    WORD_PATTERN,
    LineRange,
    SentenceSplitter,
    Span,
    normalize_word,
    stem_lightly,
)
from lrwr.core.model.turns import AnswerMode, Citation, WebCitation
from lrwr.core.nlp.dialogue.quote_lookup import find_fuzzy_quote
from lrwr.core.ports.stores import DocumentText
from lrwr.core.web.citations import WEB_MARK, normalize_web_marks, parse_web_marks

MAX_EVIDENCE_CHARS = 400
"""Maximum length in characters of the words cited for one fact, unless a single sentence
is longer. Some evidence spans cover a whole passage, which would be too much to cite."""

CITATION_MARK = re.compile(r"\[\s*(\d+(?:\s*[,;–-]\s*\d+)*)\s*\]")
"""One or several citation numbers in an answer: [3], [1, 4], [2-5]."""

_MARK_AND_SPACE = re.compile(r"([^\S\n]*)" + CITATION_MARK.pattern)
_ANY_MARK = re.compile(rf"{CITATION_MARK.pattern}|{WEB_MARK.pattern}")
_ANY_MARK_AND_SPACE = re.compile(rf"[^\S\n]*(?:{_ANY_MARK.pattern})")
MIN_SUPPORT_SHARE = 0.3
"""Share of a sentence's content words that must occur in what it cites. A fair
paraphrase keeps at least names and nouns, about every third word; any two sentences
about one person share less."""

MIN_QUOTED_WORDS = 4
"""Words from which on quotation marks count as a verbatim quotation; fewer may be a
title, a name or irony."""

_QUOTED = re.compile(r"“(?P<curly>[^“”]+)”|\"(?P<straight>[^\"\n]+)\"")
_MARKS = re.compile(rf"(?:(?:{CITATION_MARK.pattern}|{WEB_MARK.pattern})[^\S\n]*)+")
_ELLIPSIS = re.compile(r"[\[(]?(?:…|\.\s?\.\s?\.)[\])]?")
_LINE = re.compile(r"[^\n]+")
_BULLET = re.compile(r"\s*(?:[-*•>#]+|\d+[.)])\s+")
_ABSTENTION = re.compile(
    r"\b(?:text|story|manuscript|novel|book|pages?|passages?|excerpts?|material|canon)\b"
    r"[^.!?]*\b(?:not|never|nothing|nobody|nowhere|no|silent|leaves?|unknown)\b"
    r"|\b(?:not|never|nothing|nobody|nowhere|no|unknown)\b"
    r"[^.!?]*\b(?:text|story|manuscript|novel|book|pages?|passages?|excerpts?|material"
    r"|canon)\b|n['’]t (?:say|tell|know|mention)",
    re.IGNORECASE,
)
"""A statement that the text says nothing, which no citation can support."""

_NO_NOTES: Mapping[int, str] = MappingProxyType({})


class CitationNumbering:
    """Assigns one number, from 1, to each cited span of a document.

    `texts` are the current texts of the documents. Citations of one span share a
    number.
    """

    def __init__(self, texts: Mapping[DocumentId, DocumentText]) -> None:
        self._texts = texts
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
        document_text = self._texts.get(document)
        if document_text is None:
            return None
        nowhere = LineRange(1, 1)
        return reanchor_citation(
            Citation(0, document, span, nowhere, text, chapter), document_text
        )

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
    return replace(citation, span=span, lines=text.lines.lines_of(span), text=words)


def differs_only_in_typography(text: str, other: str) -> bool:
    """Return whether two texts have the same words in the same order, ignoring case and
    punctuation.
    """
    return _plain_words(text) == _plain_words(other)


def _plain_words(text: str) -> list[str]:
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


@dataclass(frozen=True, slots=True)
class _AnswerSentence:
    """A sentence of an answer, with the stems of its words and its citation numbers.

    `numbers` cite the manuscript, `web` web pages.
    """

    span: Span
    words: frozenset[str]
    numbers: tuple[int, ...]
    web: tuple[int, ...]


def check_citations(
    answer: str,
    citations: Sequence[Citation],
    sentences: SentenceSplitter,
    *,
    mode: AnswerMode = AnswerMode.ANALYTICAL,
    notes: Mapping[int, str] = _NO_NOTES,
    decided: Sequence[str] = (),
    web: Sequence[WebCitation] = (),
    story_names: Collection[str] = (),
) -> tuple[str, tuple[Citation, ...], tuple[Span, ...]]:
    """Check an answer against the words it cites.

    Returns the answer without citation numbers that do not exist, the citations it uses
    in the order of their numbers, and the spans of the returned answer that are not
    supported, in text order. A quotation of at least `MIN_QUOTED_WORDS` words must
    occur in the cited words. In an analytical answer each sentence must share
    `MIN_SUPPORT_SHARE` of its content words with what it cites; `notes` are texts that
    count with a number, and a sentence without a number is compared with `decided`, the
    user's decisions. Questions, headings, verbatim quotations and statements that the
    text says nothing need no support.

    Sentences marked as from the `web` must be supported by those pages. If they also
    cite the manuscript, some words must come from there alone; if not, they must
    contain no word of `story_names` (normalized words of the story's names).
    """
    by_number = {citation.number: citation for citation in citations}
    pages = {page.number: page for page in web}
    text = _drop_unknown_numbers(
        normalize_web_marks(answer, frozenset(pages)), frozenset(by_number)
    )
    answer_sentences = list(_iter_answer_sentences(text, sentences))
    used_numbers = {
        n for mark in CITATION_MARK.finditer(text) for n in _parse_numbers(mark[1])
    }
    cited = tuple(by_number[number] for number in sorted(used_numbers))
    doubtful_spans = set(_iter_misquotations(text, cited, pages))
    if mode is AnswerMode.ANALYTICAL:
        support = {
            n: _stems(f"{by_number[n].text}\n{notes.get(n, '')}") for n in used_numbers
        }
        support[0] = _stems("\n".join(decided))
        outside = {n: _stems(f"{page.title}\n{page.text}") for n, page in pages.items()}
        doubtful_spans.update(
            answer_sentence.span
            for answer_sentence in answer_sentences
            if not (
                _is_supported_by_web(answer_sentence, support, outside)
                and (
                    answer_sentence.numbers
                    or not _has_story_name(answer_sentence, text, story_names)
                )
                if answer_sentence.web
                else _is_supported(answer_sentence, support, text)
                or _is_verbatim(answer_sentence, text, cited)
            )
        )
    return text, cited, tuple(sorted(doubtful_spans))


def strip_answer_citation_marks(answer: str) -> str:
    """Return `answer` without its citation marks, which are valid for one turn only."""
    return _ANY_MARK_AND_SPACE.sub("", answer)


def _drop_unknown_numbers(answer: str, numbers_of_citations: frozenset[int]) -> str:
    def keep_known_numbers(mark: re.Match[str]) -> str:
        numbers = _expand_numbers(mark[2], numbers_of_citations)
        if numbers == _parse_numbers(mark[2]):
            return mark[0]
        listed_numbers = ", ".join(str(number) for number in numbers)
        return f"{mark[1]}[{listed_numbers}]" if listed_numbers else ""

    before = ""
    while before != answer:  # removing a mark may create another one: "[[9]8]"
        before, answer = answer, _MARK_AND_SPACE.sub(keep_known_numbers, answer)
    return answer


def _parse_numbers(mark_text: str) -> list[int]:
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


def _iter_answer_sentences(
    text: str, split: SentenceSplitter
) -> Iterator[_AnswerSentence]:
    """Yield the sentences of an answer with the citation marks that belong to them.

    A mark belongs to the words before it; at the beginning of a line, to those after
    it.
    """
    bodies: list[tuple[int, Span]] = []
    for line in _LINE.finditer(text):
        first = True
        for span in split(line[0]):
            sentence_span = Span(line.start() + span.start, line.start() + span.end)
            if len(body := _strip_leading_marks(text, sentence_span)):
                bodies.append((line.start() if first else body.start, body))
                first = False
    ends = [*(since for since, _ in bodies[1:]), len(text)]
    for (since, body), until in zip(bodies, ends, strict=False):
        marks = CITATION_MARK.finditer(text, since, until)
        numbers = {number for mark in marks for number in _parse_numbers(mark[1])}
        words = _stems(_ANY_MARK.sub(" ", text[body.start : body.end]))
        web = tuple(parse_web_marks(text[since:until]))
        yield _AnswerSentence(body, words, tuple(sorted(numbers)), web)


def _strip_leading_marks(text: str, span: Span) -> Span:
    """Return the span of a sentence without citation marks and a bullet before it."""
    start = span.start
    while match := (
        _ANY_MARK.match(text, start, span.end) or _BULLET.match(text, start, span.end)
    ):
        start = match.end()
    while start < span.end and text[start].isspace():
        start += 1
    return Span(start, span.end)


def _is_supported(
    answer_sentence: _AnswerSentence, support: Mapping[int, frozenset[str]], text: str
) -> bool:
    sentence_text = text[answer_sentence.span.start : answer_sentence.span.end].rstrip()
    if (
        not answer_sentence.words
        or sentence_text.endswith(("?", ":"))
        or _is_heading(text, answer_sentence.span)
    ):
        return True
    nothing: frozenset[str] = frozenset()
    words = nothing.union(
        *(support[number] for number in answer_sentence.numbers or (0,))
    )
    if len(answer_sentence.words & words) >= MIN_SUPPORT_SHARE * len(
        answer_sentence.words
    ):
        return True
    return not answer_sentence.numbers and _ABSTENTION.search(sentence_text) is not None


def _is_supported_by_web(
    answer_sentence: _AnswerSentence,
    support: Mapping[int, frozenset[str]],
    outside: Mapping[int, frozenset[str]],
) -> bool:
    """Return whether the cited pages support a sentence, and the manuscript its own
    share.
    """
    nothing: frozenset[str] = frozenset()
    support_stems = nothing.union(
        *(support[number] for number in answer_sentence.numbers)
    )
    web_stems = nothing.union(*(outside[number] for number in answer_sentence.web))
    if answer_sentence.numbers and answer_sentence.words.isdisjoint(
        support_stems - web_stems
    ):
        return False
    return len(
        answer_sentence.words & (support_stems | web_stems)
    ) >= MIN_SUPPORT_SHARE * len(answer_sentence.words)


def _has_story_name(
    answer_sentence: _AnswerSentence, text: str, story_names: Collection[str]
) -> bool:
    words = WORD_PATTERN.findall(
        text[answer_sentence.span.start : answer_sentence.span.end]
    )
    return any(
        word[0].isupper() and normalize_word(word) in story_names for word in words
    )


def _is_verbatim(
    answer_sentence: _AnswerSentence, text: str, citations: Sequence[Citation]
) -> bool:
    """Return whether a sentence is itself a quotation of the cited words."""
    sentence_text = _ANY_MARK.sub(
        "", text[answer_sentence.span.start : answer_sentence.span.end]
    )
    words = [citation.text for citation in citations]
    return len(WORD_PATTERN.findall(sentence_text)) >= MIN_QUOTED_WORDS and _occurs_in(
        sentence_text, words
    )


def _is_heading(text: str, span: Span) -> bool:
    line = text[text.rfind("\n", 0, span.start) + 1 : span.end]
    return (
        line.lstrip().startswith("#")
        or re.fullmatch(r"\s*\*\*[^*]+\*\*", line) is not None
    )


def _iter_misquotations(
    text: str, citations: Sequence[Citation], pages: Mapping[int, WebCitation]
) -> Iterator[Span]:
    for match in _QUOTED.finditer(text):
        quote = _ANY_MARK.sub("", match["curly"] or match["straight"])
        if len(WORD_PATTERN.findall(quote)) < MIN_QUOTED_WORDS:
            continue
        sources = _find_quotation_sources(text, match.end(), citations, pages)
        if not _occurs_in(quote, [source.text for source in sources]):
            yield Span(match.start(), match.end())


def _find_quotation_sources(
    text: str, end: int, citations: Sequence[Citation], pages: Mapping[int, WebCitation]
) -> Sequence[Citation | WebCitation]:
    """Return what a quotation that ends at `end` cites: the web pages of the next mark
    on its line, or the manuscript.
    """
    line = text[end:].partition("\n")[0]
    before_next = line[: quote.start()] if (quote := _QUOTED.search(line)) else line
    mark = _ANY_MARK.search(before_next) or _ANY_MARK.search(line)
    group = _MARKS.match(line, mark.start()) if mark else None
    page_numbers = parse_web_marks(group[0]) if group else []
    own_citations = (
        citations
        if not page_numbers or CITATION_MARK.search(group[0] if group else "")
        else ()
    )
    return [*own_citations, *(pages[number] for number in page_numbers)]


def _occurs_in(quote: str, texts: Sequence[str]) -> bool:
    """Return whether one of `texts` contains a quotation, whole or in parts between
    ellipses.
    """
    if any(_contains(text, quote) for text in texts):
        return True
    parts = [part for part in _ELLIPSIS.split(quote) if WORD_PATTERN.search(part)]
    return len(parts) > 1 and all(
        any(_contains(text, part) for text in texts) for part in parts
    )


def _contains(text: str, quote: str) -> bool:
    words = " ".join(
        text[span.start : span.end] for span in find_fuzzy_quote(quote, text)
    )
    return bool(words) and differs_only_in_typography(words, quote)


def _stems(text: str) -> frozenset[str]:
    words = (normalize_word(word) for word in WORD_PATTERN.findall(text))
    return frozenset(stem_lightly(word) for word in words if word not in STOP_WORDS)
