"""Formats the lines of an extractive answer: facts, quotations, citations, and messages
about what was not found.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum

from lrwr.core.attribution.citations import (
    CitationNumbering,
    cite_evidence,
    differs_only_in_typography,
)
from lrwr.core.bible.values import TextEvidence
from lrwr.core.chat.context.items import (
    AGE_LABEL,
    PROBABLY,
    UNNAMED,
    ContextItem,
    StoryFacet,
    is_sure,
)
from lrwr.core.chat.extractive.question_parts import QuestionPart, is_unneeded_word
from lrwr.core.chat.state import RetrievalResult, TurnQuestion
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.text import (
    WORD_PATTERN,
    SentenceSplitter,
    extract_capitalized_words,
    extract_content_words,
    normalize_word,
)
from lrwr.core.model.turns import (
    NO_CLEAR_ANSWER,
    NOT_MENTIONED,
    AnswerSpeaker,
    AnswerToken,
    Citation,
    PassageCited,
    WebPageCited,
)
from lrwr.core.nlp.facts.note_layout import strip_note_markdown
from lrwr.core.ports.sources import WebPage
from lrwr.core.ports.stores import DocumentText
from lrwr.core.retrieval.excerpts import PassageQuote, list_quotable_texts
from lrwr.core.retrieval.query_words import find_substitutes
from lrwr.core.retrieval.retrievers import WordWeights, select_excerpt
from lrwr.core.web.citations import WEB_HEAD, number_web_pages

MAX_SHOWN_EVIDENCE_CHARS = 240
"""Characters of evidence up to which it is quoted beside a fact."""

MAX_LABEL_WORDS = 4
"""Words of a label at most; a longer one is a sentence from the author's notes."""

_ASSERTED = frozenset({StoryFacet.LOOK, StoryFacet.RELATION})
"""What is marked as probable if no evidence of it is sure."""

_POSSESSIVE = re.compile(r"['’]s?$")
_CONTRACTION = re.compile(r"(?:n['’]t|['’](?:re|ve|ll|d|m|s))$")
_QUOTATION = re.compile(r"^[ \t]*(?:>[ \t]?)+", re.MULTILINE)
_BOLD_LABEL = re.compile(
    r"\A\W*\*\*[^*\n]{1,60}:[ \t]*\*\*[ \t]*|\A\W*\*\*[^*\n]{1,60}\*\*:"
)
"""The bold label at the beginning of a line of notes: `- **Values:**`."""

AnswerPieces = Iterator[AnswerToken | PassageCited]
"""Pieces of an answer; each citation precedes the line that cites it."""

MAX_QUOTED_PAGES = 3
"""Web pages quoted at most."""

MAX_WEB_QUOTE_CHARS = 320
"""Characters quoted of one web page, unless a single sentence is longer."""

MIN_UNKNOWN_SHARE = 0.5
"""Share of a part's term weight in unknown words from which an answer is doubtful."""

MIN_UNDEFINED_SHARE = 0.9
"""Share of unknown term weight from which what is asked counts as undefined."""


def format_item(item: ContextItem, citations: Sequence[Citation]) -> str:
    """Return an item as "subject, label: statement", without citation numbers.

    The words of `citations` follow in quotation marks if they say more than the
    statement. Links and emphasis of Markdown are removed, except in quotations.
    """
    parts = (format_item_subject(item), format_item_body(item, citations))
    return ": ".join(filter(None, parts))


def format_item_subject(item: ContextItem) -> str:
    """Return whom or what an item is about and its attribute, such as "Nell, eyes".

    The long label of a gap is left out. Markdown and final periods and colons are
    removed.
    """
    if item.facet is StoryFacet.GAP and len(item.label.split()) > MAX_LABEL_WORDS:
        return strip_note_markdown(item.about).rstrip(" .:")
    subject_parts = (item.about, "" if item.label == UNNAMED else item.label)
    return strip_note_markdown(", ".join(filter(None, subject_parts))).rstrip(" .:")


def format_item_body(item: ContextItem, citations: Sequence[Citation]) -> str:
    """Return the statement of an item; the words of `citations` in quotation marks; or
    both.

    The words replace a statement that is empty or contains nothing else. They follow it
    if they say more and have at most `MAX_SHOWN_EVIDENCE_CHARS` characters. An age has its chapter.
    """
    words = join_cited_words(citations)
    if item.facet is StoryFacet.PRESENT:
        return strip_note_markdown(item.statement)
    if item.facet is StoryFacet.GAP and len(item.label.split()) > MAX_LABEL_WORDS:
        return f"{strip_note_markdown(item.label).rstrip(' .')} ({strip_note_markdown(item.statement)})"
    if not item.statement:
        return add_quotation_marks(words) if words else ""
    note_markdown = strip_note_markdown(item.statement)
    if item.facet in _ASSERTED and not any(map(is_sure, item.evidence)):
        note_markdown = f"{note_markdown}, {PROBABLY}"
    if item.label == AGE_LABEL and item.evidence and item.evidence[0].chapter:
        note_markdown = f"{note_markdown}, in chapter {item.evidence[0].chapter}"
    if not words or len(words) > MAX_SHOWN_EVIDENCE_CHARS or _repeats_item(item, words):
        return note_markdown
    if _is_covered_by(item.statement, words):
        return add_quotation_marks(words)
    return f"{note_markdown} ({add_quotation_marks(words)})"


def join_cited_words(citations: Sequence[Citation]) -> str:
    """Return the words of all citations on one line, joined by " … "."""
    return " … ".join(flatten_markdown_quote(citation.text) for citation in citations)


def add_quotation_marks(text: str) -> str:
    """Return `text` in double quotation marks; in single ones if it contains double
    ones.
    """
    return f"‘{text}’" if set('“”"').intersection(text) else f"“{text}”"


def flatten_markdown_quote(text: str) -> str:
    """Return `text` on one line, without the `>` of Markdown block quotes."""
    return " ".join(_QUOTATION.sub("", text).split())


def _repeats_item(item: ContextItem, words: str) -> bool:
    """Return whether words, with or without a label before them, only repeat an item."""
    label = strip_note_markdown(item.label)
    evidence_texts = (
        strip_note_markdown(item.statement),
        label,
        f"{label}: {strip_note_markdown(item.statement)}",
    )
    bare_texts = (
        strip_note_markdown(words),
        strip_note_markdown(_BOLD_LABEL.sub("", words)),
    )
    return any(
        differs_only_in_typography(candidate, other)
        for candidate in bare_texts
        for other in evidence_texts
    )


def _is_covered_by(statement: str, words: str) -> bool:
    """Return whether a statement contains every content word of its evidence."""
    return set(extract_content_words(words)) <= set(extract_content_words(statement))


class AnswerWriter:
    """Formats the lines of one answer and numbers its citations with `numbering`.

    `lines` counts the lines written so far. A line that is not the first begins with an
    empty line.
    """

    def __init__(
        self, numbering: CitationNumbering, sentences: SentenceSplitter
    ) -> None:
        self._numbering = numbering
        self._sentences = sentences
        self.lines = 0

    @property
    def texts(self) -> Mapping[DocumentId, DocumentText]:
        """The current texts of the documents that may be cited."""
        return self._numbering.texts

    def say(self, text: str) -> AnswerToken:
        """Return `text` as a line without citation, such as a heading or a message."""
        self.lines += 1
        return AnswerToken(
            text if self.lines == 1 else f"\n\n{text}", AnswerSpeaker.AVATAR
        )

    def facts(self, item_group: Sequence[ContextItem]) -> AnswerPieces:
        """Yield one line with all items of `item_group`, preceded by its new citations.

        Items whose evidence is no longer in the text are left out; without items there
        is no line.
        """
        located = [
            (context_item, self._locate_item(context_item))
            for context_item in item_group
        ]
        located = [
            (item, citations)
            for item, citations in located
            if citations or item.is_uncited
        ]
        if not located:
            return
        numbered = []
        for item, citations in located:
            joined = self._join_line(citations)
            yield from self._iter_new_citations(joined)
            marks = _format_marks([self._numbering.number(place) for place in joined])
            numbered.append((item, citations, marks))
        if len(numbered) == 1:
            ((item, citations, marks),) = numbered
            yield self.say(f"{format_item(item, citations)} {marks}".rstrip())
            return
        heads = {format_item_subject(item) for item, *_ in numbered}
        if len(heads) > 1:
            statements = (
                f"{item.label}: {format_item_body(item, citations)} {marks}".rstrip()
                for item, citations, marks in numbered
            )
            yield self.say(
                f"{strip_note_markdown(item_group[0].about)}, {'; '.join(statements)}"
            )
            return
        bodies = [(format_item_body(i, c), marks) for i, c, marks in numbered]
        yield self.say(f"{heads.pop()}: {_join_statements(bodies)}")

    def quote_line(self, line: ContextItem) -> AnswerPieces:
        """Yield a dialogue line in quotation marks, then the citation numbers.

        Nothing if its words are no longer in the text. New citations precede the line.
        """
        if citations := self._locate_item(line):
            quotation = add_quotation_marks(join_cited_words(citations))
            yield from self._cited_line(quotation, citations)

    def decision(self, text: str, evidence: Sequence[TextEvidence]) -> AnswerPieces:
        """Yield `text` as a line, with a citation of the first of `evidence` if it is
        still in the text.
        """
        citations = [citation for e in evidence[:1] for citation in self._cite(e)]
        yield from self._cited_line(text, citations)

    def _cited_line(self, text: str, citations: Sequence[Citation]) -> AnswerPieces:
        joined = self._join_line(citations)
        yield from self._iter_new_citations(joined)
        numbered = [self._numbering.number(place) for place in joined]
        yield self.say(f"{text} {_format_marks(numbered)}".rstrip())

    def get_shown_words(self, item: ContextItem) -> str:
        """Return the words of `item` that a line with it would quote."""
        return join_cited_words(self._locate_item(item))

    def passages(
        self, quotes: Sequence[PassageQuote], heading: str, *, limit: int
    ) -> AnswerPieces:
        """Yield a citation of each of the first `limit` of `quotes`, then one line:
        `heading` and their numbers.

        A passage is left out if at least half of its characters are cited already, or
        if it is no longer in the text. Without passages there is no line.
        """
        numbered: list[Citation] = []
        for quote in quotes:
            document, chapter = quote.passage.chunk.document, quote.passage.chapter
            place = self._numbering.locate(document, quote.span, quote.text, chapter)
            if place is None or self._is_mostly_cited(place):
                continue
            best = quote.best if place.text == quote.text else None
            numbered.append(self._numbering.number(replace(place, best=best)))
            yield PassageCited(numbered[-1])
            if len(numbered) == limit:
                break
        if numbered:
            yield self.say(f"{heading} {_format_marks(numbered)}")

    def _join_line(self, citations: Sequence[Citation]) -> list[Citation]:
        """Return `citations`; those of one line of a document become one, with the words
        between them.
        """
        joined: list[Citation] = []
        for citation in citations:
            before = joined[-1] if joined else None
            whole = before and self._numbering.span(before, citation)
            if whole is None:
                joined.append(citation)
            else:
                joined[-1] = whole
        return joined

    def _locate_item(self, item: ContextItem) -> list[Citation]:
        if item.facet is not StoryFacet.PRESENT:
            evidence = item.surest[:1]
            return [citation for e in evidence for citation in self._cite(e)]
        first = (next(self._cite(evidence), None) for evidence in item.evidence)
        return [citation for citation in first if citation is not None]

    def _cite(self, evidence: TextEvidence) -> Iterator[Citation]:
        return cite_evidence(evidence, self._numbering, self._sentences)

    def _iter_new_citations(
        self, citations: Sequence[Citation]
    ) -> Iterator[PassageCited]:
        for citation in citations:
            if not self._numbering.has_number(citation):
                yield PassageCited(self._numbering.number(citation))

    def _is_mostly_cited(self, candidate: Citation) -> bool:
        cited_places = {
            at
            for citation in self._numbering.citations
            if citation.document == candidate.document
            for at in range(citation.span.start, citation.span.end)
        }
        overlap = cited_places.intersection(
            range(candidate.span.start, candidate.span.end)
        )
        return 2 * len(overlap) >= len(candidate.span)


def _join_statements(bodies: Sequence[tuple[str, str]]) -> str:
    """Join statements; one that is no complete sentence ends with a semicolon."""
    joined = ""
    for body, marks in bodies:
        is_sentence = body.rstrip("”’\"'*_)").endswith((".", "!", "?", "…"))
        joined += f"{body} {marks}".rstrip() + (" " if is_sentence else "; ")
    return joined.rstrip(" ;")


def _format_marks(citations: Sequence[Citation]) -> str:
    numbers = dict.fromkeys(citation.number for citation in citations)
    return "".join(f"[{number}]" for number in numbers)


def quote_web_pages(
    pages: Sequence[WebPage], words: WordWeights, sentences: SentenceSplitter
) -> Iterator[WebPageCited | AnswerToken]:
    """Yield a line for each of the first `MAX_QUOTED_PAGES` pages: its title, its best
    sentences verbatim, and its number, as in [w1].

    A heading comes first, so that nobody takes them for the manuscript. `words` are the
    weighted words of the web query; pages with none of them are skipped if another page
    has some.
    """
    covered = [words.coverage(f"{page.title} {page.text}") for page in pages]
    has_match = max(covered, default=0.0) > 0
    best_pages = [
        citation
        for citation, share in zip(number_web_pages(pages), covered, strict=True)
        if share > 0 or not has_match
    ][:MAX_QUOTED_PAGES]
    if best_pages:
        yield _build_line(WEB_HEAD)
    for citation in best_pages:
        start, end = select_excerpt(
            citation.text, words, sentences, limit=MAX_WEB_QUOTE_CHARS
        )
        quotation = add_quotation_marks(" ".join(citation.text[start:end].split()))
        yield WebPageCited(citation)
        yield _build_line(f"{citation.title}: {quotation} [w{citation.number}]")


def _build_line(text: str) -> AnswerToken:
    return AnswerToken(f"\n\n{text}", AnswerSpeaker.AVATAR)


def is_unanswerable_without(question: str, unknown: Sequence[str]) -> bool:
    """Return whether a text that lacks the words `unknown` cannot answer `question`.

    `unknown` are in lower case, without possessive endings. True if they include all
    content words of the question, or one that it capitalizes, such as a name.
    """
    missing = set(unknown)
    return set(extract_content_words(question)) <= missing or not missing.isdisjoint(
        extract_capitalized_words(question)
    )


class NotFoundLevel(StrEnum):
    """How certain it is that the text does not answer a question, in ascending order."""

    NONE = "none"
    """It may well answer it."""
    MAYBE = "maybe"
    """Most words of the question do not occur, but synonyms may."""
    UNDEFINED = "undefined"
    """A known character is asked about, and no word of what is asked occurs."""
    SURE = "sure"
    """A name in the question, or every content word, does not occur."""


def classify_not_found(
    question: TurnQuestion,
    parts: Sequence[QuestionPart],
    result: RetrievalResult,
) -> NotFoundLevel:
    """Return how certain it is that nothing in `result` answers the question.

    It depends on the weight of words that the text never uses. If meaning was left out
    of the search, the result is `MAYBE` at most.
    """
    level = _classify_by_words(question, parts, result)
    if result.by_words_only and level is not NotFoundLevel.NONE:
        return NotFoundLevel.MAYBE
    return level


def _classify_by_words(
    question: TurnQuestion,
    parts: Sequence[QuestionPart],
    result: RetrievalResult,
) -> NotFoundLevel:
    unknown = find_unknown_words(result)
    if is_unanswerable_without(question.text, unknown):
        return NotFoundLevel.SURE
    shares = [
        sum(part.words.weights.get(word, 0.0) for word in unknown) for part in parts
    ]
    least = min(shares, default=0.0)
    unnamed = not all(part.is_of_something for part in parts)
    enough = MIN_UNKNOWN_SHARE if question.horizon is not None else MIN_UNDEFINED_SHARE
    if least >= enough and not (unnamed and enough == MIN_UNDEFINED_SHARE):
        return NotFoundLevel.UNDEFINED
    is_doubtful = least >= MIN_UNKNOWN_SHARE
    return NotFoundLevel.MAYBE if is_doubtful else NotFoundLevel.NONE


def find_unknown_words(result: RetrievalResult) -> list[str]:
    """Return the words of the question that the text never uses, in the order of the
    question.

    They are in lower case, without possessive endings. Words that only name what to
    report, such as "surname", contractions, such as "didn't", and words of which the
    best passages have a related one, are left out.
    """
    return [
        word
        for word in result.unknown
        if not is_unneeded_word(word)
        and not _CONTRACTION.search(word)
        and not find_substitutes(word, list_quotable_texts(result.ranked_chunks))
    ]


def format_not_found(
    question: TurnQuestion,
    unknown_words: Sequence[str],
    silence: NotFoundLevel,
    *,
    nearest: bool,
    similar_names: Sequence[str] = (),
    phrases: Sequence[str] = (),
) -> Iterator[str]:
    """Yield the sentences that say what was not found.

    `unknown_words` are the words that the text never uses, `similar_names` those that a
    misspelled one may mean, and `phrases` quoted phrases that stand nowhere; `silence` says how certain
    it is that it holds no answer. `nearest` means that the closest passages follow.
    Nothing is yielded if no words are unknown, `silence`
    is `NONE` and passages follow. Only `SURE` and `UNDEFINED` yield that the text does
    not mention it.
    """
    bounded = question.horizon is not None
    if unknown_words or phrases:
        capitalized_words = extract_capitalized_words(question.text)
        searched = "the story up to this point" if bounded else "the text"
        words_in_question = {
            normalize_word(word): _POSSESSIVE.sub("", word)
            for word in WORD_PATTERN.findall(question.text)
        }
        unheard_words = [
            words_in_question.get(word, word) if word in capitalized_words else word
            for word in unknown_words
            if not any(word in phrase.lower() for phrase in phrases)
        ]
        missing = ", ".join(map(add_quotation_marks, (*phrases, *unheard_words)))
        names = " or ".join(similar_names)
        offer = f" Did you mean {names}?" if names else ""
        yield f"Not found in {searched}: {missing}.{offer}"
    if silence is NotFoundLevel.NONE and nearest:
        return
    so_far = " up to this point" if bounded else ""
    unsure = NotFoundLevel.NONE, NotFoundLevel.MAYBE
    if silence in unsure or (silence is not NotFoundLevel.SURE and nearest):
        yield f"{NO_CLEAR_ANSWER}{so_far}."
    else:
        yield f"{NOT_MENTIONED}{so_far}."
