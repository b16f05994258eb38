"""The sentences of an answer, with their quotations and citation marks."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from lrwr.core.attribution.citations import ANY_MARK
from lrwr.core.attribution.quotations import (
    QUOTED,
    AnswerQuotation,
    find_answer_quotations,
    list_numbers,
)
from lrwr.core.model.text import WORD_PATTERN, SentenceSplitter, Span
from lrwr.core.web.citations import parse_web_marks

_LINE = re.compile(r"[^\n]+")
_PARAGRAPH_END = re.compile(r"\n[^\S\n]*\n")
_QUOTED_END = re.compile(rf"[.!?…][”\"]\s*(?:(?:{ANY_MARK.pattern})\s*)+(?=[A-Z])")
"""The end of a sentence that ends in a quotation, with its marks."""

MAX_HEAD_WORDS = 6
"""Words up to which the first sentence of a list item may be its name."""

_BULLET = re.compile(r"\s*(?:[-*•>#]+|\d+[.)])\s+")
_READ_PART = r"(?:what|all|part)(?: that)? (?:has been|you(?:['’]ve| have)) read"
_SOURCE = (
    r"\b(?:text|story|manuscript|novel|book|pages?|passages?|excerpts?|material|canon"
    rf"|{_READ_PART})\b"
)
_NOTHING = r"\b(?:not|never|nothing|nobody|nowhere|no|unknown)\b"
_TELLING = (
    r"(?:sa(?:y|id)|tell|told|nam|mention|stat|giv|show|explain|settl|describ|defin|record"
    r"|reveal|specif|know|decid|answer|cover|includ|contain|spell|mak|go|ha[sv]|there"
    r"|anything|more|word|clue)\w*"
)
_SHOWN = (
    r"(?:described|explained|given|mentioned|named|recorded|said|settled|shown|specified"
    r"|stated)\b"
)
_GIVES = r"(?:gives?|mentions?|names?|says?|sees?|shows?|states?|tells?)\b"
_ASKED = r"\b(?:names?|how|what|when|where|whether|which|who|whom|whose|why)\b"
_ABSTENTION = re.compile(
    rf"{_SOURCE}[^.!?]*\b(?:silent|leaves?|unknown|few|nothing|nobody|nowhere|no|neither)\b"
    rf"|{_SOURCE}[^.!?]*\b(?:not|never)\b(?:\W+\w+){{0,2}}?\W+{_TELLING}"
    rf"|{_NOTHING}[^.!?]*{_SOURCE}|n['’]t (?:say|tell|know|mention)"
    rf"|\b(?:is|are|was|were|been) (?:not|never) (?:\w+ ){{0,2}}?{_SHOWN}"
    rf"|\bno\b[^.!?]{{0,40}}\b(?:is|are|was|were) (?:ever )?{_SHOWN}"
    rf"|\b(?:not|never) (?:\w+ )?{_GIVES}[^.!?]*{_ASKED}"
    rf"|\b(?:nothing|none)\b[^.!?]{{0,40}}\bfound\b",
    re.IGNORECASE,
)
_OF_ANSWER = re.compile(
    r"\bI(?:['’](?:ve|d|m|ll))? (?:am|can|cannot|could|did|do|find|found|had|have|may|might"
    r"|read|see|take|would)\b"
    r"|\b[Mm]y (?:conclusion|guess|impression|inference|reading|suggestions?|view)\b"
)
"""The analyst's own words about the answer."""

_OPINION = re.compile(
    r"(?:suggestions?|what it implies|one way|another way|unknown|what looks|my view"
    r"|in my (?:view|opinion)|i would|you could|you might|i have only"
    r"|(?:that|this|which) (?!is\b|was\b)\w+s)\b",
    re.IGNORECASE,
)


_CLAUSE_END = re.compile(r"[:;]|--|[–—]|,? but\b")

_SOURCE = (
    r"(?:text|story|manuscript|novel|book|chapters?|pages?|passages?|excerpts?|material"
    rf"|{_READ_PART})"
)
_TELLS = (
    r"(?:says?|tells?|states?|mentions?|defines?|names?|gives?|specif(?:y|ies)|reveals?"
    r"|explains?|describes?|shows?|settles?|decides?|answers?)"
)
_SILENCE = re.compile(
    rf"\b{_SOURCE}\b[^.!?]{{0,40}}?\b(?:silent|(?:does|do|did|has|have)(?: not|n['’]t)"
    rf"|never|nowhere|{_TELLS} neither)\b"
    rf"|\b(?:nothing|nowhere|none|no {_SOURCE})\b[^.!?]{{0,40}}?\b(?:{_SOURCE}|{_TELLS})\b"
    r"|\b(?:is|are|was|were|been) (?:not|never) (?:yet )?(?:said|told|stated|mentioned|defined|named|given"
    r"|specified|revealed|explained|described|settled|decided)\b",
    re.IGNORECASE,
)
"""A sentence that says that the text does not say what is asked."""


@dataclass(frozen=True, slots=True)
class AnswerSentence:
    """A sentence of an answer.

    `span` includes its quotations; `own_text` is its text without quotations and
    marks. `numbers` cite the manuscript, `web` web pages. `is_lead` says that it opens
    a paragraph with citations, or an answer with citations.
    """

    span: Span
    own_text: str
    quotations: tuple[AnswerQuotation, ...]
    numbers: tuple[int, ...]
    web: tuple[int, ...]
    is_lead: bool = False

    @property
    def is_abstention(self) -> bool:
        """Whether it says that the text says nothing, which nothing can support."""
        return _ABSTENTION.search(self.own_text) is not None

    @property
    def is_of_answer(self) -> bool:
        """Whether the analyst says what they have read, found or think."""
        return _OF_ANSWER.search(self.own_text) is not None

    @property
    def is_opinion(self) -> bool:
        """Whether it begins as a suggestion, a judgement or a comment does."""
        return _OPINION.match(self.own_text) is not None

    @property
    def claim(self) -> str:
        """The text without the clauses that say that the text says nothing, or speak of
        the answer.
        """
        clauses = re.split(r"[;:,]", self.own_text)
        return ", ".join(
            clause
            for clause in clauses
            if not _ABSTENTION.search(clause) and not _OF_ANSWER.search(clause)
        )


def iter_answer_sentences(
    text: str, split: SentenceSplitter
) -> Iterator[AnswerSentence]:
    """Yield the sentences of an answer, in text order.

    A sentence is not divided within a quotation. A mark belongs to the words before it;
    at the beginning of a line, to those after it.
    """
    quotations = find_answer_quotations(text)
    bodies: list[tuple[int, Span]] = []
    for line in _LINE.finditer(text):
        first = True
        for span in _split_line(line, split, quotations):
            if len(body := _strip_leading_marks(text, span)):
                bodies.append((line.start() if first else body.start, body))
                first = False
    ends = [*(since for since, _ in bodies[1:]), len(text)]
    sentences = [
        _build_sentence(text, body, Span(since, until), quotations)
        for (since, body), until in zip(bodies, ends, strict=False)
    ]
    yield from _mark_leads(text, sentences)


def states_silence(text: str, split: SentenceSplitter) -> bool:
    """Return whether the answer `text` begins by saying that the text does not say what
    is asked: in its first sentence, or, if that cites something, in the clause before.
    """
    first = next(iter_answer_sentences(text, split), None)
    if first is None:
        return False
    if not first.quotations and not first.numbers:
        return _SILENCE.search(first.own_text) is not None
    clause, *rest = _CLAUSE_END.split(text[first.span.start : first.span.end], 1)
    cites = ANY_MARK.search(clause) or QUOTED.search(clause)
    return bool(rest) and not cites and _SILENCE.search(clause) is not None


def states_nothing(text: str, sentence: AnswerSentence) -> bool:
    """Return whether a sentence of the answer `text` makes no statement of its own.

    So are questions, headings, lines before a list, suggestions, and quotations alone.
    """
    whole = text[sentence.span.start : sentence.span.end].rstrip()
    line = text[text.rfind("\n", 0, sentence.span.start) + 1 : sentence.span.end]
    return (
        not WORD_PATTERN.search(sentence.own_text)
        or whole.endswith(("?", ":"))
        or line.lstrip().startswith("#")
        or re.fullmatch(r"\s*\*\*[^*]+\*\*", line) is not None
        or _is_list_head(text, sentence, line)
        or re.match(r"suggestions?\b", sentence.own_text, re.IGNORECASE) is not None
    )


def _is_list_head(text: str, sentence: AnswerSentence, line: str) -> bool:
    """Return whether a sentence is the name of a list item: a few words of its own
    before what is said of it.
    """
    bullet = _BULLET.match(line)
    rest = text[sentence.span.end :].partition("\n")[0]
    return (
        bullet is not None
        and bullet.end() == len(line) - len(sentence.span)
        and bool(WORD_PATTERN.search(rest))
        and not sentence.numbers
        and not sentence.quotations
        and len(sentence.own_text.split()) <= MAX_HEAD_WORDS
    )


def count_list_items(text: str) -> int:
    """Return how many lines of an answer are items of a list."""
    return sum(_BULLET.match(line[0]) is not None for line in _LINE.finditer(text))


def _split_line(
    line: re.Match[str], split: SentenceSplitter, quotations: Sequence[AnswerQuotation]
) -> list[Span]:
    """Return the sentences of a line, joined where a quotation was divided, or where
    the rest after a quotation does not begin a sentence.
    """
    spans: list[Span] = []
    for part in _split_after_quotations(line[0], split(line[0])):
        span = Span(line.start() + part.start, line.start() + part.end)
        inside = any(q.span.start < span.start < q.span.end for q in quotations)
        rest = ANY_MARK.sub("", line.string[span.start : span.end]).lstrip()
        if spans and (inside or rest[:1] in ",;" or rest[:1].islower()):
            spans[-1] = Span(spans[-1].start, span.end)
        else:
            spans.append(span)
    return spans


def _split_after_quotations(line: str, spans: Sequence[Span]) -> Iterator[Span]:
    ends = [match.end() for match in _QUOTED_END.finditer(line)]
    for span in spans:
        start = span.start
        for end in ends:
            if start < end < span.end:
                yield Span(start, end)
                start = end
        yield Span(start, span.end)


def _build_sentence(
    text: str, body: Span, with_marks: Span, quotations: Sequence[AnswerQuotation]
) -> AnswerSentence:
    marked = text[with_marks.start : with_marks.end]
    own_text = ANY_MARK.sub(" ", QUOTED.sub(" ", text[body.start : body.end]))
    return AnswerSentence(
        body,
        own_text.strip(),
        tuple(q for q in quotations if body.holds(q.span)),
        tuple(sorted(list_numbers(marked))),
        tuple(parse_web_marks(marked)),
    )


def _mark_leads(
    text: str, sentences: Sequence[AnswerSentence]
) -> Iterator[AnswerSentence]:
    breaks = [match.start() for match in _PARAGRAPH_END.finditer(text)]
    paragraphs = [
        sum(at <= sentence.span.start for at in breaks) for sentence in sentences
    ]
    cited = {
        paragraph
        for paragraph, sentence in zip(paragraphs, sentences, strict=True)
        if sentence.numbers or sentence.web
    }
    previous = -1
    for paragraph, sentence in zip(paragraphs, sentences, strict=True):
        has_citations = paragraph in cited or (bool(cited) and paragraph == 0)
        yield replace(sentence, is_lead=paragraph != previous and has_citations)
        previous = paragraph


def _strip_leading_marks(text: str, span: Span) -> Span:
    """Return the span of a sentence without citation marks and a bullet before it."""
    start = span.start
    while match := (
        ANY_MARK.match(text, start, span.end) or _BULLET.match(text, start, span.end)
    ):
        start = match.end()
    while start < span.end and text[start].isspace():
        start += 1
    return Span(start, span.end)
