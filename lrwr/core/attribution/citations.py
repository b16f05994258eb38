"""Numbers for the words that an answer rests on, and those words found again."""

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


CITATION_MARK = re.compile(r"\[\s*(\d+(?:\s*[,;–-]\s*\d+)*)\s*\]")
"""The number of a citation in an answer, or several: [3], [1, 4], [2-5]."""
_MARK_AND_SPACE = re.compile(r"([^\S\n]*)" + CITATION_MARK.pattern)
_ANY_MARK = re.compile(rf"{CITATION_MARK.pattern}|{WEB_MARK.pattern}")
_ANY_MARK_AND_SPACE = re.compile(rf"[^\S\n]*(?:{_ANY_MARK.pattern})")
MIN_SUPPORT_SHARE = 0.3
"""The share of a sentence's content words that must stand in what it cites. Fair
paraphrase keeps at least its names and nouns, about every third word; less than that
is shared by any two sentences about one person."""
MIN_QUOTED_WORDS = 4
"""Words from which on quotation marks claim that somebody said just that: fewer may
be a title, a name or irony."""
_QUOTED = re.compile(r"“(?P<curly>[^“”]+)”|\"(?P<straight>[^\"\n]+)\"")
_MARKS = re.compile(rf"(?:(?:{CITATION_MARK.pattern}|{WEB_MARK.pattern})[^\S\n]*)+")
_ELLIPSIS = re.compile(r"[\[(]?(?:…|\.\s?\.\s?\.)[\])]?")
_LINE = re.compile(r"[^\n]+")
_BULLET = re.compile(r"\s*(?:[-*•>#]+|\d+[.)])\s+")
_SILENT = re.compile(
    r"\b(?:text|story|manuscript|novel|book|pages?|passages?|excerpts?|material|canon)\b"
    r"[^.!?]*\b(?:not|never|nothing|nobody|nowhere|no|silent|leaves?|unknown)\b"
    r"|\b(?:not|never|nothing|nobody|nowhere|no|unknown)\b"
    r"[^.!?]*\b(?:text|story|manuscript|novel|book|pages?|passages?|excerpts?|material"
    r"|canon)\b|n['’]t (?:say|tell|know|mention)",
    re.IGNORECASE,
)
"""Saying that the text is silent rests on no words of it."""
_NO_NOTES: Mapping[int, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class _AnswerSentence:
    """A sentence of an answer without its marks' numbers, and those numbers.

    `web` are those of the web's marks.
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
    """Return the answer, what it cites, and the stretches that nothing bears out.

    A number that does not exist is taken out of the text; spans are of the text that
    is returned, in order. A quotation of `MIN_QUOTED_WORDS` words or more must stand in
    the cited words. So must, in an analytical answer, enough of each sentence;
    `notes` are what the material says beside a number, and count with it. A sentence
    without a number may rest on what the writer has `decided`. Questions, headings,
    the cited words themselves and sentences that call the text silent need none.
    What is marked as from the `web` must stand there; beside a number of the text, the
    text must have its share in it, and without one it may have no name that is the
    book's `story_names`: the words of such names, plain.
    """
    by_number = {citation.number: citation for citation in citations}
    pages = {page.number: page for page in web}
    text = _without_strange_numbers(
        normalize_web_marks(answer, frozenset(pages)), frozenset(by_number)
    )
    answer_sentences = list(_sentences(text, sentences))
    used_numbers = {
        n for mark in CITATION_MARK.finditer(text) for n in _plain_numbers(mark[1])
    }
    cited = tuple(by_number[number] for number in sorted(used_numbers))
    doubtful_spans = set(_misquoted(text, cited, pages))
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
                _is_from_web(answer_sentence, support, outside)
                and (
                    answer_sentence.numbers
                    or not _names(answer_sentence, text, story_names)
                )
                if answer_sentence.web
                else _is_borne(answer_sentence, support, text)
                or _is_quoted(answer_sentence, text, cited)
            )
        )
    return text, cited, tuple(sorted(doubtful_spans))


def strip_answer_citation_marks(answer: str) -> str:
    """Return an answer without its numbers: those of one turn mean nothing to another."""
    return _ANY_MARK_AND_SPACE.sub("", answer)


def _without_strange_numbers(answer: str, numbers_of_citations: frozenset[int]) -> str:
    def kept(mark: re.Match[str]) -> str:
        numbers = _listed(mark[2], numbers_of_citations)
        if numbers == _plain_numbers(mark[2]):
            return mark[0]
        listed_numbers = ", ".join(str(number) for number in numbers)
        return f"{mark[1]}[{listed_numbers}]" if listed_numbers else ""

    before = ""
    while before != answer:  # what is taken out may leave a new mark: "[[9]8]"
        before, answer = answer, _MARK_AND_SPACE.sub(kept, answer)
    return answer


def _plain_numbers(mark_text: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d{1,6}", mark_text)]


def _listed(mark_text: str, numbers_of_citations: frozenset[int]) -> list[int]:
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


def _sentences(text: str, split: SentenceSplitter) -> Iterator[_AnswerSentence]:
    """Yield what is said, line by line.

    A mark belongs to the words before it; to those after it at a line's beginning.
    """
    bodies: list[tuple[int, Span]] = []
    for line in _LINE.finditer(text):
        first = True
        for span in split(line[0]):
            sentence_span = Span(line.start() + span.start, line.start() + span.end)
            if len(body := _body(text, sentence_span)):
                bodies.append((line.start() if first else body.start, body))
                first = False
    ends = [*(since for since, _ in bodies[1:]), len(text)]
    for (since, body), until in zip(bodies, ends, strict=False):
        marks = CITATION_MARK.finditer(text, since, until)
        numbers = {number for mark in marks for number in _plain_numbers(mark[1])}
        words = _stems(_ANY_MARK.sub(" ", text[body.start : body.end]))
        web = tuple(parse_web_marks(text[since:until]))
        yield _AnswerSentence(body, words, tuple(sorted(numbers)), web)


def _body(text: str, span: Span) -> Span:
    """Return a sentence without marks and a bullet before it."""
    start = span.start
    while match := (
        _ANY_MARK.match(text, start, span.end) or _BULLET.match(text, start, span.end)
    ):
        start = match.end()
    while start < span.end and text[start].isspace():
        start += 1
    return Span(start, span.end)


def _is_borne(
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
    return not answer_sentence.numbers and _SILENT.search(sentence_text) is not None


def _is_from_web(
    answer_sentence: _AnswerSentence,
    support: Mapping[int, frozenset[str]],
    outside: Mapping[int, frozenset[str]],
) -> bool:
    """Say whether the pages named bear a sentence out, and the text its share of it."""
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


def _names(
    answer_sentence: _AnswerSentence, text: str, story_names: Collection[str]
) -> bool:
    words = WORD_PATTERN.findall(
        text[answer_sentence.span.start : answer_sentence.span.end]
    )
    return any(
        word[0].isupper() and normalize_word(word) in story_names for word in words
    )


def _is_quoted(
    answer_sentence: _AnswerSentence, text: str, citations: Sequence[Citation]
) -> bool:
    """Say whether a sentence is itself a quotation of the cited words."""
    sentence_text = _ANY_MARK.sub(
        "", text[answer_sentence.span.start : answer_sentence.span.end]
    )
    words = [citation.text for citation in citations]
    return len(WORD_PATTERN.findall(sentence_text)) >= MIN_QUOTED_WORDS and _stands(
        sentence_text, words
    )


def _is_heading(text: str, span: Span) -> bool:
    line = text[text.rfind("\n", 0, span.start) + 1 : span.end]
    return (
        line.lstrip().startswith("#")
        or re.fullmatch(r"\s*\*\*[^*]+\*\*", line) is not None
    )


def _misquoted(
    text: str, citations: Sequence[Citation], pages: Mapping[int, WebCitation]
) -> Iterator[Span]:
    for match in _QUOTED.finditer(text):
        quote = _ANY_MARK.sub("", match["curly"] or match["straight"])
        if len(WORD_PATTERN.findall(quote)) < MIN_QUOTED_WORDS:
            continue
        sources = _attributed(text, match.end(), citations, pages)
        if not _stands(quote, [source.text for source in sources]):
            yield Span(match.start(), match.end())


def _attributed(
    text: str, end: int, citations: Sequence[Citation], pages: Mapping[int, WebCitation]
) -> Sequence[Citation | WebCitation]:
    """Return what a quotation that ends at `end` says it is from: the web, where the
    next mark of its line is the web's; else the text."""
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


def _stands(quote: str, texts: Sequence[str]) -> bool:
    """Say whether cited words hold a quote, whole or between what it leaves out."""
    if any(_holds(text, quote) for text in texts):
        return True
    parts = [part for part in _ELLIPSIS.split(quote) if WORD_PATTERN.search(part)]
    return len(parts) > 1 and all(
        any(_holds(text, part) for text in texts) for part in parts
    )


def _holds(text: str, quote: str) -> bool:
    words = " ".join(
        text[span.start : span.end] for span in find_fuzzy_quote(quote, text)
    )
    return bool(words) and differs_only_in_typography(words, quote)


def _stems(text: str) -> frozenset[str]:
    words = (normalize_word(word) for word in WORD_PATTERN.findall(text))
    return frozenset(stem_lightly(word) for word in words if word not in STOP_WORDS)
