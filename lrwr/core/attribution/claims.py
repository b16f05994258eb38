"""Checks an answer sentence by sentence against the words it cites."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from types import MappingProxyType

from lrwr.core.attribution.answer_sentences import (
    AnswerSentence,
    count_list_items,
    iter_answer_sentences,
    states_nothing,
)
from lrwr.core.attribution.citations import (
    ANY_MARK,
    drop_unknown_numbers,
    format_unknown_numbers,
    list_unknown_numbers,
)
from lrwr.core.attribution.concrete_words import (
    find_changed_words,
    group_equivalents,
)
from lrwr.core.attribution.details import (
    count_listed,
    denies_existence,
    denies_saying,
    find_chapter_numbers,
    find_denial,
    find_missing_negation,
    find_missing_numbers,
    find_numbers,
    has_denial,
    has_negation,
    has_negation_near,
    loses_negation,
    stem_words,
)
from lrwr.core.attribution.names import (
    find_missing_names,
    list_named_characters,
)
from lrwr.core.attribution.quotations import (
    AnswerQuotation,
    FitsCitation,
    MovedQuotation,
    find_misplaced_quotations,
    find_misquotations,
    list_numbers,
    occurs_in,
    renumber_quotations,
    repeats_words,
)
from lrwr.core.attribution.sources import AnswerSources, CitedSource, StoryContext
from lrwr.core.model.choices import AnswerMode
from lrwr.core.model.text import WORD_PATTERN, SentenceSplitter, Span, normalize_word
from lrwr.core.model.turns import Citation, WebCitation
from lrwr.core.web.citations import normalize_web_marks

MIN_SUMMARY_SHARE = 0.4
"""Share that suffices in a sentence of at least `MIN_SUMMARY_WORDS` content words if they
are spread over all passages that it may rest on, as those of a summary are."""

MIN_SUMMARY_WORDS = 5
MIN_WEB_SHARE = 0.3

_SPOKEN = re.compile(r"“[^”]*(?:”|$)|^[^“”]*”")
"""Speech within a sentence, which may end or begin in another one."""


MAX_SHOWN_WORDS = 5

MAX_ANSWERING_WORDS = 15
"""Words up to which a quotation with a negation supports one beside it."""

INFERRED_WORDS = 3
"""Words before a colon in which a negation is inferred from the quotation after it."""

COMMON_WORDS = (
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
    of their numbers, and the findings, in text order. `moved` are the quotations that
    got another number, `unknown` the citation numbers that do not exist.
    """

    text: str
    citations: tuple[Citation, ...]
    findings: tuple[CitationFinding, ...]
    moved: tuple[MovedQuotation, ...] = field(default=(), compare=False)
    unknown: tuple[int, ...] = field(default=(), compare=False)

    @property
    def remarks(self) -> tuple[str, ...]:
        """Sentences that say which citation numbers were changed or removed."""
        moved = (quotation.remark for quotation in self.moved)
        return (*moved, *format_unknown_numbers(self.unknown))


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
    marked = normalize_web_marks(answer, frozenset(pages))
    text = drop_unknown_numbers(marked, frozenset(by_number))
    unknown = list_unknown_numbers(marked, frozenset(by_number))
    every = AnswerSources(
        tuple(citations),
        sentences,
        question,
        notes,
        tuple(decided),
        story or StoryContext(),
    )
    text, moved = renumber_quotations(text, citations, _match_people(text, every))
    cited = tuple(by_number[number] for number in sorted(list_numbers(text)))
    sources = replace(every, cited=cited)
    wrong_quotations = {
        **dict(find_misplaced_quotations(text, citations)),
        **dict(find_misquotations(text, cited, pages, question)),
    }
    findings = [
        *_check_sentences(text, sources, pages, mode, wrong_quotations),
        *(
            CitationFinding(span, words[:MAX_SHOWN_WORDS])
            for span, words in wrong_quotations.items()
        ),
    ]
    ordered = sorted(findings, key=lambda finding: finding.span)
    return CheckedAnswer(text, cited, tuple(ordered), moved, unknown)


def _check_sentences(
    text: str,
    sources: AnswerSources,
    pages: Mapping[int, WebCitation],
    mode: AnswerMode,
    misquoted: Collection[Span],
) -> Iterator[CitationFinding]:
    """Yield a finding for each sentence of the answer `text` that its sources do not
    support, except those with one of the quotations `misquoted`.
    """
    before = ""
    for sentence in iter_answer_sentences(text, sources.split):
        if any(sentence.span.holds(span) for span in misquoted):
            continue
        if sentence.web:
            words = _check_web_sentence(text, sentence, sources, pages, mode)
        else:
            words = _check_sentence(text, sentence, before, sources, mode)
        if words is not None:
            yield CitationFinding(sentence.span, words[:MAX_SHOWN_WORDS])
        before = text[sentence.span.start : sentence.span.end]


def _match_people(text: str, sources: AnswerSources) -> FitsCitation:
    """Return whether a passage is of somebody of whom a quotation of `text` is: whom its
    sentence names, else the sentences before, else the question.
    """
    answer = list(iter_answer_sentences(text, sources.split))
    cast = sources.story.cast

    def fits(quotation: AnswerQuotation, citation: Citation) -> bool:
        until = [s for s in answer if s.span.start <= quotation.span.start]
        statements = (*(s.own_text for s in reversed(until)), sources.question)
        named = (list_named_characters(statement, cast) for statement in statements)
        people = next((people for people in named if people), ())
        return sources.names_any(citation.number, people)

    return fits


def _check_sentence(
    text: str,
    sentence: AnswerSentence,
    before: str,
    sources: AnswerSources,
    mode: AnswerMode,
) -> tuple[str, ...] | None:
    """Return the words of a sentence that its source lacks; None if it is supported, ()
    if nothing of it is.
    """
    in_character = mode is AnswerMode.IN_CHARACTER
    if states_nothing(text, sentence) or (in_character and not sentence.numbers):
        return None
    source = sources.select(sentence.numbers)
    lacking = (
        *_find_missing_names(sentence, before, sources, source),
        *_find_missing_numbers(text, sentence, before, sources, source),
    )
    if in_character or lacking:
        return lacking or None
    is_remark = sentence.is_of_answer and not sentence.numbers
    if is_remark or not WORD_PATTERN.search(sentence.claim):
        return None
    lacking = _find_missing_negation(text, sentence, source)
    if sentence.numbers and not sentence.is_opinion:
        quotations = (q.text for q in sentence.quotations)
        known = "\n".join((source.for_numbers, source.for_names, *quotations))
        lacking += find_changed_words(sentence.claim, source.sentences, known)
    if lacking:
        return lacking
    if not sentence.is_opinion and loses_negation(sentence.own_text, source.sentences):
        return ()
    return None if _is_supported(sentence, sources, source) else ()


def _find_missing_names(
    sentence: AnswerSentence, before: str, sources: AnswerSources, source: CitedSource
) -> tuple[str, ...]:
    """Return the names in a sentence that its source lacks.

    A person may be named elsewhere in the chapter of cited words that call them "he",
    or that they say or write, unless these words name somebody whom the sentence does
    not. So may anything, beside a verbatim quotation.
    """
    cast = sources.story.cast
    # The narration calls its narrator "I".
    narrators = () if sentence.numbers else chain(*sources.story.narrators)
    names_source = "\n".join((source.for_names, sources.question, *narrators))
    missing = find_missing_names(sentence.claim, names_source, cast)
    if not missing:
        return ()
    is_verbatim = _quotes_verbatim(sentence, sources)
    if not sentence.numbers and not is_verbatim:
        return tuple(name.text for name in missing)
    quotations = (q.text for q in sentence.quotations)
    whole = "\n".join((before, sentence.own_text, *quotations, sources.question))
    named = list_named_characters(whole, cast)
    quoting = "\n".join(source.find_narration(q.text) for q in sentence.quotations)
    fitting = quoting if is_verbatim else source.find_fitting(sentence.own_text)
    others = [
        forms
        for forms in list_named_characters(fitting, cast)
        if not any(forms & known for known in named)
    ]
    return tuple(
        name.text
        for name in missing
        if not (
            not source.recent.isdisjoint(name.forms) and not others
            if name.forms
            else is_verbatim
            and not find_missing_names(name.text, source.neighbourhood, ())
        )
    )


def _quotes_verbatim(sentence: AnswerSentence, sources: AnswerSources) -> bool:
    """Return whether a sentence quotes what it cites word for word."""
    texts = [c.text for c in sources.cited if c.number in sentence.numbers]
    texts = texts or [c.text for c in sources.cited]
    return any(occurs_in(q.text, texts) for q in sentence.quotations)


def _find_missing_numbers(
    text: str,
    sentence: AnswerSentence,
    before: str,
    sources: AnswerSources,
    source: CitedSource,
) -> tuple[str, ...]:
    statement = sentence.own_text
    chapters = find_chapter_numbers(statement)
    missing_chapters = chapters - source.chapters - sources.story.chapters
    missing_chapters -= find_chapter_numbers(sources.question)
    if source.chapters and missing_chapters:
        return tuple(f"chapter {number}" for number in sorted(missing_chapters))
    also = {len(sentence.quotations), count_list_items(text), *chapters}
    also |= count_listed(statement)
    # "Four are named [1]. Jack is counted with them, which makes five."
    also |= {n + 1 for n, _ in find_numbers(before)}
    quoted = {n for q in sentence.quotations for n, _ in find_numbers(q.text)}
    also |= {n + 1 for n in quoted} | {n - 1 for n in quoted}
    if not sentence.numbers:
        also |= sources.select_sums(text)
    if sentence.is_lead and not sentence.numbers:
        also |= set(range(2, count_list_items(text)))
    return find_missing_numbers(statement, source.for_numbers, also)


def _find_missing_negation(
    text: str, sentence: AnswerSentence, source: CitedSource
) -> tuple[str, ...]:
    """Return a negation that the source lacks, of its words or of a quotation that it
    simply states.
    """
    if sentence.is_opinion or not has_negation(sentence.claim):
        return ()
    if _is_evidenced(text, sentence, source):
        return ()
    is_answered = any(
        has_denial(q.text) and len(q.text.split()) <= MAX_ANSWERING_WORDS
        for q in sentence.quotations
    )
    missing: tuple[str, ...] = ()
    is_silence = sentence.is_abstention or denies_existence(sentence.claim)
    is_settled = is_silence and not sentence.numbers
    if not (is_answered or is_settled):
        missing = find_missing_negation(sentence.claim, source.sentences)
    for quotation in () if missing else sentence.quotations:
        other = stem_words(sentence.own_text).isdisjoint(stem_words(quotation.text))
        is_parallel = has_negation(quotation.text) or (
            other and has_denial(quotation.text)
        )
        if is_answered and is_parallel and not denies_saying(text, quotation.span):
            continue
        negation = find_denial(text, quotation.span)
        saying = source.find_quoted(quotation.text) if negation else []
        if saying and not any(has_negation_near(s, quotation.text) for s in saying):
            return (negation,)
    return missing


def _is_evidenced(text: str, sentence: AnswerSentence, source: CitedSource) -> bool:
    """Return whether a negation is followed by a colon and what it is inferred from, as
    in "He cannot tell: “I think I was out.”": a quotation in other words.
    """
    for quotation in sentence.quotations:
        start, end = quotation.span.start, quotation.span.end
        before = text[sentence.span.start : start].rstrip("“\"' ")
        after = text[end : sentence.span.end]
        last_words = " ".join(before.split()[-INFERRED_WORDS:])
        is_inferred = before.endswith(":") and has_negation(last_words)
        is_inferred = is_inferred and not has_negation(after)
        if not is_inferred or denies_saying(text, quotation.span):
            continue
        in_other_words = stem_words(before).isdisjoint(stem_words(quotation.text))
        if in_other_words and source.find_quoted(quotation.text):
            return True
    return False


def _is_supported(
    sentence: AnswerSentence, sources: AnswerSources, source: CitedSource
) -> bool:
    """Return whether a source supports a sentence apart from its details."""
    stems = stem_words(sentence.claim) - stem_words(COMMON_WORDS) - sources.name_stems
    if _quotes_verbatim(sentence, sources):
        return True
    texts = [c.text for c in sources.cited if c.number in sentence.numbers]
    texts = texts or [c.text for c in sources.cited]
    words = add_equivalents(sentence.claim, stems)
    if not sources.cited:  # the words of the question alone support nothing
        is_decided = bool(stems) and sources.decisions.supports(words)
        return is_decided or sentence.is_abstention
    if not stems or source.supports(words):
        return True
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


def add_equivalents(claim: str, stems: frozenset[str]) -> Mapping[str, frozenset[str]]:
    """Return for each of `stems`, which are of `claim`, those that count for it: its own,
    and those of words that say nearly the same, such as "married" for "wedding".
    """
    counting, groups = {stem: frozenset({stem}) for stem in stems}, group_equivalents()
    for word in map(normalize_word, WORD_PATTERN.findall(claim)):
        for stem in stem_words(word) & stems:
            counting[stem] |= stem_words(" ".join(groups.get(word, ())))
    return counting


def _check_web_sentence(
    text: str,
    sentence: AnswerSentence,
    sources: AnswerSources,
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
