"""Checks an answer sentence by sentence against the words it cites."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from pathlib import PurePosixPath
from types import MappingProxyType

from lrwr.core.attribution.answer_sentences import (
    AnswerSentence,
    iter_answer_sentences,
    states_nothing,
)
from lrwr.core.attribution.citations import ANY_MARK, drop_unknown_numbers
from lrwr.core.attribution.details import (
    find_chapter_numbers,
    find_denial,
    find_missing_names,
    find_missing_negation,
    find_missing_numbers,
    find_numbers,
    has_negation,
    has_negation_near,
    loses_negation,
    stem_words,
)
from lrwr.core.attribution.quotations import (
    find_misquotations,
    list_numbers,
    occurs_in,
    renumber_quotations,
    repeats_words,
)
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.text import WORD_PATTERN, SentenceSplitter, Span, normalize_word
from lrwr.core.model.turns import AnswerMode, Citation, WebCitation
from lrwr.core.ports.stores import DocumentText
from lrwr.core.web.citations import normalize_web_marks

MIN_SUPPORT_SHARE = 0.25
"""Share of the content words of a sentence, without names, that must occur within
`WINDOW_SENTENCES` of what it cites, or for a sentence without number, of anything that
the answer cites. At least two words must, or half of fewer than four."""

MIN_SUMMARY_SHARE = 0.4
"""Share that suffices in a sentence of at least `MIN_SUMMARY_WORDS` content words if they
are spread over all passages that it may rest on, as those of a summary are."""

MIN_SUMMARY_WORDS = 5
MIN_WEB_SHARE = 0.3
WINDOW_SENTENCES = 3

_SPOKEN = re.compile(r"“[^”]*(?:”|$)|^[^“”]*”")
"""Speech within a sentence, which may end or begin in another one."""

OPENING_WORDS = 4
"""Words by which the sentence is found in which a longer quotation begins."""

ANTECEDENT_CHARS = 200
"""Characters before cited words that may name who "she" is in them."""

SURROUNDING_CHARS = 1_000
"""Characters before and after cited words in which a number may stand."""

MAX_SHOWN_WORDS = 5

_COMMON_WORDS = (
    "before after under over again still out down off back away just also very more most"
    " all some other one two now once only even never said say says tell tells told ask"
    " asks asked answer answers make makes made take takes took come comes came go goes"
    " went get gets got give gives gave see sees saw know knows knew look looks looked"
    " put puts thing things here like own first last every nothing because while much"
    " many keep keeps kept find finds found chapter chapters scene scenes reader story"
    " book text passage note notes line lines novel later earlier end beginning"
)
"""Words so common that sharing them supports nothing."""

_NO_NOTES: Mapping[int, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class CitationFinding:
    """A part of an answer that its citations do not support.

    `span` is a sentence or a quotation of the answer. `words` are those that the cited
    text lacks, in the order of the answer; empty if none in particular.
    """

    span: Span
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CheckedAnswer:
    """An answer with corrected citation numbers, the citations that it uses in the order
    of their numbers, and the findings, in text order.
    """

    text: str
    citations: tuple[Citation, ...]
    findings: tuple[CitationFinding, ...]


@dataclass(frozen=True, slots=True)
class StoryContext:
    """What a check knows of the story beside the cited words.

    `cast` has for each character all forms of its name. `name_words` are the normalized
    words of the names of which no web page can tell. `texts` are the texts of the cited
    documents. `chapters` are the chapters that an answer may name without citing them,
    such as that of the horizon.
    """

    cast: tuple[tuple[str, ...], ...] = ()
    name_words: frozenset[str] = frozenset()
    texts: Mapping[DocumentId, DocumentText] = field(default_factory=dict)
    chapters: frozenset[int] = frozenset()


def check_citations(
    answer: str,
    citations: Sequence[Citation],
    sentences: SentenceSplitter,
    *,
    mode: AnswerMode = AnswerMode.ANALYTICAL,
    question: str = "",
    notes: Mapping[int, str] = _NO_NOTES,
    decided: Sequence[str] = (),
    web: Sequence[WebCitation] = (),
    story: StoryContext | None = None,
) -> CheckedAnswer:
    """Check an answer against the words it cites.

    Citation numbers that do not exist are removed, and a quotation that stands in
    another of `citations` gets its number. A quotation of at least `MIN_QUOTED_WORDS`
    words must occur in the cited words. A sentence, with its whole quotations, is
    compared with the texts of its numbers; one without numbers with everything cited,
    with `decided`, the user's decisions, and with the question. `notes` are texts that
    count with a number. Numbers, names and negations must occur there, and a share of
    the other words. A lead sentence, a suggestion, and a statement that the text says
    nothing need no words in common; questions, headings and verbatim quotations need no
    support. In character only quotations, and the numbers and names of sentences with a
    citation are checked.

    Sentences marked as from the `web` must be supported by those pages. If they also
    cite the manuscript, some words must come from there alone; if not, they must
    contain no name of the story.
    """
    by_number = {citation.number: citation for citation in citations}
    pages = {page.number: page for page in web}
    text = drop_unknown_numbers(
        normalize_web_marks(answer, frozenset(pages)), frozenset(by_number)
    )
    text = renumber_quotations(text, citations)
    cited = tuple(by_number[number] for number in sorted(list_numbers(text)))
    sources = _Sources(
        cited, sentences, question, notes, tuple(decided), story or StoryContext()
    )
    findings = [
        CitationFinding(span, words[:MAX_SHOWN_WORDS])
        for span, words in find_misquotations(text, cited, pages, question)
    ]
    misquoted = [finding.span for finding in findings]
    for sentence in iter_answer_sentences(text, sentences):
        if any(sentence.span.holds(span) for span in misquoted):
            continue
        if sentence.web:
            words = _check_web_sentence(text, sentence, sources, pages, mode)
        else:
            words = _check_sentence(text, sentence, sources, mode)
        if words is not None:
            findings.append(CitationFinding(sentence.span, words[:MAX_SHOWN_WORDS]))
    ordered = sorted(findings, key=lambda finding: finding.span)
    return CheckedAnswer(text, cited, tuple(ordered))


@dataclass(frozen=True)
class _Source:
    """The text that a sentence is compared with.

    `for_names` and `for_numbers` also have what may be named or counted around the
    cited words; `chapters` are the chapters of the passages.
    """

    text: str
    for_names: str
    for_numbers: str
    chapters: frozenset[int]
    split: SentenceSplitter = field(repr=False)

    @cached_property
    def sentences(self) -> list[str]:
        """The sentences of the text."""
        return [self.text[span.start : span.end] for span in self.split(self.text)]

    def find_quoted(self, quotation: str) -> list[str]:
        """Return the sentences that have a quotation, or its first words."""
        first_words = " ".join(quotation.split()[:OPENING_WORDS])
        pairs = zip(self.sentences, self.sentences[1:], strict=False)
        return (
            [s for s in self.sentences if occurs_in(quotation, [s])]
            or [s for s in self.sentences if occurs_in(first_words, [s])]
            or [f"{s} {t}" for s, t in pairs if occurs_in(first_words, [f"{s} {t}"])]
        )

    def supports(self, stems: frozenset[str]) -> bool:
        """Return whether neighbouring sentences have enough of `stems`."""
        sentence_stems = [stem_words(sentence) for sentence in self.sentences]
        windows = (
            frozenset().union(*sentence_stems[at : at + WINDOW_SENTENCES])
            for at in range(len(sentence_stems))
        )
        wanted = max(1, min(2, len(stems) // 2), MIN_SUPPORT_SHARE * len(stems))
        return any(len(stems & window) >= wanted for window in windows)


@dataclass(frozen=True)
class _Sources:
    """What the sentences of one answer may rest on; see `check_citations`."""

    cited: tuple[Citation, ...]
    split: SentenceSplitter
    question: str
    notes: Mapping[int, str]
    decided: tuple[str, ...]
    story: StoryContext

    def select(self, numbers: Collection[int]) -> _Source:
        """Return the source of a sentence with these numbers; without any, all."""
        citations = [c for c in self.cited if not numbers or c.number in numbers]
        texts = [c.text for c in citations]
        texts += [self.notes[c.number] for c in citations if c.number in self.notes]
        if not numbers:
            texts += [*self.decided, self.question]
        text = "\n".join(texts)
        titles = (PurePosixPath(c.document).stem.replace("-", " ") for c in citations)
        before = (self._around(c, ANTECEDENT_CHARS, 0) for c in citations)
        around = (
            self._around(c, SURROUNDING_CHARS, SURROUNDING_CHARS) for c in citations
        )
        return _Source(
            text,
            "\n".join((text, *before, *titles, self.question)),
            "\n".join((text, *around, self.question)),
            frozenset(c.chapter for c in citations if c.chapter is not None),
            self.split,
        )

    def _around(self, citation: Citation, before: int, after: int) -> str:
        """Return up to so many characters before and after cited words, in whole
        words.
        """
        document = self.story.texts.get(citation.document)
        if document is None:
            return ""
        start, end = citation.span.start, citation.span.end
        # Spaces mark the ends of the text, so that only cut words are dropped.
        text = f" {document.text} "
        head = text[max(0, start + 1 - before) : start + 1].partition(" ")[2]
        tail = text[end + 1 : end + 1 + after].rpartition(" ")[0]
        return f"{head}\n{tail}"

    @cached_property
    def name_stems(self) -> frozenset[str]:
        """The stems of all names of the cast."""
        return stem_words(" ".join(form for forms in self.story.cast for form in forms))

    def select_sums(self, text: str) -> frozenset[int]:
        """Return the sums and differences of the cited numbers in the answer `text`."""
        known = {n for c in self.cited for n, _ in find_numbers(c.text)}
        known |= {c.chapter for c in self.cited if c.chapter is not None}
        stated = {n for n, _ in find_numbers(ANY_MARK.sub(" ", text))} & known
        pairs = list(combinations(stated, 2))
        return frozenset({a + b for a, b in pairs} | {abs(a - b) for a, b in pairs})


def _check_sentence(
    text: str, sentence: AnswerSentence, sources: _Sources, mode: AnswerMode
) -> tuple[str, ...] | None:
    """Return the words of a sentence that its source lacks; None if it is supported, ()
    if nothing of it is.
    """
    in_character = mode is AnswerMode.IN_CHARACTER
    if states_nothing(text, sentence) or (in_character and not sentence.numbers):
        return None
    source = sources.select(sentence.numbers)
    lacking = (
        *find_missing_names(sentence.own_text, source.for_names, sources.story.cast),
        *_find_missing_numbers(text, sentence, sources, source),
    )
    if in_character:
        return lacking or None
    lacking = lacking or _find_missing_negation(text, sentence, source)
    if lacking:
        return lacking
    if not sentence.is_opinion and loses_negation(sentence.own_text, source.sentences):
        return ()
    return None if _is_supported(sentence, sources, source) else ()


def _find_missing_numbers(
    text: str, sentence: AnswerSentence, sources: _Sources, source: _Source
) -> tuple[str, ...]:
    statement = sentence.own_text
    chapters = find_chapter_numbers(statement)
    missing_chapters = chapters - source.chapters - sources.story.chapters
    missing_chapters -= find_chapter_numbers(sources.question)
    if source.chapters and missing_chapters:
        return tuple(f"chapter {number}" for number in sorted(missing_chapters))
    also = {len(sentence.quotations), *chapters}
    quoted = {n for q in sentence.quotations for n, _ in find_numbers(q.text)}
    also |= {n + 1 for n in quoted} | {n - 1 for n in quoted}
    if not sentence.numbers:
        also |= sources.select_sums(text)
    return find_missing_numbers(statement, source.for_numbers, also)


def _find_missing_negation(
    text: str, sentence: AnswerSentence, source: _Source
) -> tuple[str, ...]:
    """Return a negation that the source lacks, of its words or of a quotation that it
    simply states.
    """
    if sentence.is_opinion or not has_negation(sentence.claim):
        return ()
    missing = find_missing_negation(sentence.claim, source.sentences)
    for quotation in () if missing else sentence.quotations:
        negation = find_denial(text, quotation.span)
        saying = source.find_quoted(quotation.text) if negation else []
        if saying and not any(has_negation_near(s, quotation.text) for s in saying):
            return (negation,)
    return missing


def _is_supported(sentence: AnswerSentence, sources: _Sources, source: _Source) -> bool:
    """Return whether a source supports a sentence apart from its details."""
    stems = stem_words(sentence.claim) - stem_words(_COMMON_WORDS) - sources.name_stems
    texts = [c.text for c in sources.cited if c.number in sentence.numbers]
    texts = texts or [c.text for c in sources.cited]
    if any(occurs_in(q.text, texts) for q in sentence.quotations):
        return True
    if not stems or source.supports(stems):
        return bool(sources.cited or sources.decided or sentence.is_abstention)
    shared = len(stems & stem_words(source.text))
    is_summary = len(stems) >= MIN_SUMMARY_WORDS and shared >= MIN_SUMMARY_SHARE * len(
        stems
    )
    if sentence.numbers:
        return is_summary
    if sources.cited and (sentence.is_lead or sentence.is_opinion):
        return True
    return (
        sentence.is_abstention or is_summary or repeats_words(sentence.own_text, texts)
    )


def _check_web_sentence(
    text: str,
    sentence: AnswerSentence,
    sources: _Sources,
    pages: Mapping[int, WebCitation],
    mode: AnswerMode,
) -> tuple[str, ...] | None:
    """Return () unless the cited pages support a sentence, and the manuscript its own
    share; None if they do.
    """
    if mode is not AnswerMode.ANALYTICAL:
        return None
    words = text[sentence.span.start : sentence.span.end]
    stems = stem_words(ANY_MARK.sub(" ", words))
    own: frozenset[str] = frozenset()
    if sentence.numbers:
        own = stem_words(sources.select(sentence.numbers).text)
    page_texts = (f"{pages[n].title}\n{pages[n].text}" for n in sentence.web)
    outside = stem_words("\n".join(page_texts))
    if sentence.numbers and stems.isdisjoint(own - outside):
        return ()
    if not sentence.numbers and _has_story_name(words, sources.story):
        return ()
    is_supported = len(stems & (own | outside)) >= MIN_WEB_SHARE * len(stems)
    return None if is_supported else ()


def _has_story_name(words: str, story: StoryContext) -> bool:
    return any(
        word[0].isupper() and normalize_word(word) in story.name_words
        for word in WORD_PATTERN.findall(words)
    )
