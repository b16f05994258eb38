"""Says whether facts answer a question, and what the passages below it may lack: a
value of the kind asked for, all of a list, or an answer at all.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from lrwr.core.chat.context.conflicts import pair_conflicts, select_checked_items
from lrwr.core.chat.context.items import ContextItem, StoryFacet, is_sure
from lrwr.core.chat.extractive.answer_types import asks_for_list
from lrwr.core.chat.extractive.answer_values import (
    describe_missing_value,
    lacks_action,
    lacks_reason,
)
from lrwr.core.chat.extractive.question_parts import QuestionPart, find_speaker_names
from lrwr.core.chat.extractive.relatives import describe_unknown_relative, find_relative
from lrwr.core.chat.extractive.spoken_lines import find_words_spoken
from lrwr.core.chat.extractive.subjects import ValueQuestion
from lrwr.core.chat.extractive.writer import find_unknown_words
from lrwr.core.chat.state import RetrievalResult, TurnQuestion
from lrwr.core.model.documents import DocumentId, Horizon
from lrwr.core.model.text import SentenceSplitter
from lrwr.core.model.turns import (
    CONTRADICTORY,
    NO_CLEAR_ANSWER,
    NO_LINE,
    NOBODY_PRESENT,
    QuestionPlan,
    SourceIntention,
)
from lrwr.core.ports.stores import DocumentText
from lrwr.core.retrieval.excerpts import PassageQuote
from lrwr.core.retrieval.query_words import extract_quoted_phrases, find_substitutes
from lrwr.core.retrieval.retrievers import WordWeights

MIN_ANSWERED_COVERAGE = 0.9
"""Share of the part's term weight that a fact must cover to answer it completely."""

MIN_FACTS_FOR_DESCRIPTION = 3
"""Facts that suffice to describe a character, so that no sentences are quoted."""

KINDS_OF_VALUES = frozenset({"colour", "color", "age", "height"})
"""Words for kinds of values, which a fact answers without them: "blue"."""

PARTIAL_ANSWER = "These passages may not have all that is asked for."
"""What is said of a question with several answers."""

MIN_SHARE_NEAR = 1 / 3
"""Share of the weight of the question's words, or related ones, that must stand around
the best sentence of a passage for it to be near an answer (decision 053)."""

MIN_FROM_ONE_CHAPTER = 4
"""Passages from one chapter that show that the story tells there what is asked for. Of
five, they are seldom as many by chance (decision 055)."""

MIN_CHAPTERS = 10
"""Chapters up to a horizon from which on that does not happen by chance."""

_FOLLOW_UP = re.compile(r"^\W*(?:and|so|but)\b", re.IGNORECASE)

_LEARNING = re.compile(
    r"^\W*how\s+(?:do|does|did|has|have|had)\b.*\b(?:learns?|learnt|knows?|find\s+out|found\s+out|hear|heard"
    r"|discover(?:ed)?|reali[sz]ed?)\b",
    re.IGNORECASE,
)

_YES_OR_NO = re.compile(
    r"^\W*(?:is|are|was|were|am|does|do|did|has|have|had|can|could|will|would)\b",
    re.IGNORECASE,
)


def is_answered(part: QuestionPart, facts: Sequence[ContextItem]) -> bool:
    """Return whether facts answer a part: they cover its words, or describe its
    character.
    """
    if not part.words.weights:
        return len(facts) >= MIN_FACTS_FOR_DESCRIPTION
    return any(
        part.words.coverage(fact.label) > 0
        or part.words.coverage(fact.words) >= MIN_ANSWERED_COVERAGE
        for fact in facts
        if fact.facet not in (StoryFacet.HAPPENED, StoryFacet.LINE)
    )


def lacks_kind_only(
    parts: Sequence[QuestionPart],
    result: RetrievalResult,
    facts: Sequence[Sequence[Sequence[ContextItem]]],
) -> bool:
    """Return whether `facts` answer all parts, and the text only lacks words for the
    kind of their values, such as "colour".
    """
    unknown = find_unknown_words(result)
    items = [[item for line in lines for item in line] for lines in facts]
    return bool(unknown) and (
        KINDS_OF_VALUES.issuperset(unknown) and all(map(is_answered, parts, items))
    )


def describe_doubt(
    question: TurnQuestion,
    typed: ValueQuestion,
    quotes: Sequence[PassageQuote],
    words: WordWeights,
    sentences: SentenceSplitter,
    *,
    is_first: bool,
) -> str:
    """Return a line on what `quotes` lack or may lack; "" if that is unknown.

    `words` are those of the question. If the line `is_first`, it begins with the
    statement that no clear answer was found.
    """
    lack = ""
    missing = describe_missing_value(typed, [q.text for q in quotes], sentences)
    if missing:
        lack = f"None of these passages clearly {missing}."
    elif asks_for_list(typed.text):
        lack = PARTIAL_ANSWER
    if relative := find_relative(typed.text, question.cast):
        unknown = describe_unknown_relative(typed.text, relative)
        lack = " ".join(filter(None, (unknown, lack)))
    if not is_first:
        return lack
    if not lack:
        has_kind = missing is not None
        lack = _describe_signs(
            question, typed, quotes, words, sentences, has_kind=has_kind
        )
    if not lack:
        return ""
    so_far = " up to this point" if question.horizon is not None else ""
    return f"{NO_CLEAR_ANSWER}{so_far}. {lack}"


def _describe_signs(
    question: TurnQuestion,
    typed: ValueQuestion,
    quotes: Sequence[PassageQuote],
    words: WordWeights,
    sentences: SentenceSplitter,
    *,
    has_kind: bool,
) -> str:
    """Return what the form of the question, and its words in `quotes`, give reason to
    doubt; "" for nothing. `has_kind` says that it asks for a kind of value, and that a
    passage has one.
    """
    is_one_place = (
        _count_from_one_chapter(quotes) >= MIN_FROM_ONE_CHAPTER
        and (question.horizon is None or question.horizon.chapter >= MIN_CHAPTERS)
        and not extract_quoted_phrases(typed.text)
    )
    lack = "" if is_one_place else _describe_action(question, typed, quotes, sentences)
    if not lack and lacks_reason(typed, [q.text for q in quotes], sentences):
        return "None of these passages clearly gives a reason for it."
    if lack or has_kind or is_one_place:
        return lack
    return _describe_form(question, typed) or _describe_distance(
        quotes, words, sentences
    )


def _count_from_one_chapter(quotes: Sequence[PassageQuote]) -> int:
    """Return how many of `quotes` are from the chapter that has most of them."""
    chapters = Counter(quote.passage.chapter for quote in quotes)
    return max(chapters.values(), default=0)


def _describe_action(
    question: TurnQuestion,
    typed: ValueQuestion,
    quotes: Sequence[PassageQuote],
    sentences: SentenceSplitter,
) -> str:
    """Return a line that says that no passage has the action in question with the people
    that it names; "" if one has, or if it asks for no action.
    """
    narrators = {form for forms in question.narrators for form in forms}
    is_narrator = not narrators.isdisjoint(typed.forms)
    texts = [quote.text for quote in quotes]
    if not lacks_action(typed, texts, sentences, is_narrator=is_narrator):
        return ""
    words = " or ".join(f"“{word}”" for word in typed.topic)
    return f"No passage has {words}, or a related word, near everybody in question."


def _describe_form(question: TurnQuestion, typed: ValueQuestion) -> str:
    """Return why questions of this form often have no clear answer; "" for others."""
    if find_words_spoken(typed.text):
        return "No line of a known speaker in these passages has these words."
    if typed.text != question.text:
        return f"The question was read as “{typed.text}”."
    if _FOLLOW_UP.search(question.text):
        return "What the question continues is not clear."
    if _LEARNING.search(typed.text):
        return (
            "How somebody learns it may not stand in these passages in so many words."
        )
    if _YES_OR_NO.search(typed.text):
        return "Whether it is so may not stand in these passages in so many words."
    return ""


def _describe_distance(
    quotes: Sequence[PassageQuote], words: WordWeights, sentences: SentenceSplitter
) -> str:
    """Return a line that says that the words of the question are not near each other in
    `quotes`; "" if they are in one.
    """
    near = (_cut_around_best(quote, sentences) for quote in quotes)
    share = max(map(words.coverage_by_related, near), default=1.0)
    if share >= MIN_SHARE_NEAR:
        return ""
    return "Few words of the question stand near each other in these passages."


def _cut_around_best(quote: PassageQuote, sentences: SentenceSplitter) -> str:
    """Return the best sentence of `quote`, with the one before and the one after it."""
    spans = [span for span in sentences(quote.text) if len(span)]
    place = next((n for n, span in enumerate(spans) if quote.best.start < span.end), 0)
    if not spans:
        return quote.text
    last = min(place + 1, len(spans) - 1)
    return quote.text[spans[max(0, place - 1)].start : spans[last].end]


def describe_substitutes(
    result: RetrievalResult,
    quotes: Sequence[PassageQuote],
    sentences: SentenceSplitter,
    horizon: Horizon | None = None,
) -> str:
    """Return a line that says which words of the question stand nowhere up to
    `horizon`, and which related ones the best sentences of `quotes`, best first, have
    in their place; "" without such words.

    A related word is named only if the best of `quotes` has it.
    """
    near = [_cut_around_best(quote, sentences) for quote in quotes]
    until = f" up to {_describe_horizon(horizon)}" if horizon is not None else ""
    lines = (
        f"“{word}” is not in the text{until}{_describe_related(related[0], near)}."
        for word in result.unknown
        if (related := find_substitutes(word, near))
    )
    return " ".join(lines)


def _describe_horizon(horizon: Horizon) -> str:
    if horizon.chapter < 1 or horizon.offset is not None:
        return "this point"
    scene = f", scene {horizon.scene}" if horizon.scene else ""
    return f"chapter {horizon.chapter}{scene}"


def _describe_related(word: str, texts: Sequence[str]) -> str:
    """Return which of `texts`, best first, have a related word; "" if the best lacks it."""
    pattern = re.compile(rf"\b{re.escape(word)}\b", re.IGNORECASE)
    has_word = [bool(pattern.search(text)) for text in texts]
    if all(has_word):
        return f"; these passages have “{word}”"
    return f"; the first of these passages has “{word}”" if has_word[0] else ""


def describe_conflicting_facts(
    parts: Sequence[Sequence[Sequence[ContextItem]]],
    texts: Mapping[DocumentId, DocumentText],
) -> str:
    """Return a line that says which facts cannot both be true, or that they are several
    relatives none of whom is certain; "" for others.

    `parts` has the lines of facts for each part of the question. Only those count that
    `lrwr check` compares; `texts` are those of their documents.
    """
    facts = [item for part in parts for line in part for item in line]
    for first, second in pair_conflicts(select_checked_items(facts, texts)):
        values = f"{first.statement} and {second.statement}"
        return f"{CONTRADICTORY} {first.head}: {values}. See `lrwr check`."
    is_kin = len(facts) > 1 and all(f.facet is StoryFacet.RELATION for f in facts)
    if is_kin and not any(map(is_sure, (e for f in facts for e in f.evidence))):
        return f"{NO_CLEAR_ANSWER}. Each of these relatives is only probable."
    return ""


def has_chapter_passages(plan: QuestionPlan, result: RetrievalResult) -> bool:
    """Return whether the question names a chapter of which `result` has passages."""
    return any(p.chapter in plan.chapters for p in result.ranked_chunks)


def describe_chapter_silence(
    question: TurnQuestion, plan: QuestionPlan, result: RetrievalResult
) -> str:
    """Return a sentence that says that nobody is known to be present, or to speak, in
    the chapter that the question names; "" if somebody is, or if it asks neither.
    """
    if not has_chapter_passages(plan, result):
        return ""
    intentions = {choice.intention for choice in plan.choices}
    chapters = " or ".join(f"chapter {number}" for number in plan.chapters)
    has_sure_line = any(is_sure(line.evidence) for line in result.lines)
    if SourceIntention.DIALOGUE_OF in intentions and not has_sure_line:
        text = plan.question or question.text
        speakers = " or ".join(find_speaker_names(text, question.cast))
        degree = "known for certain" if result.lines else "known"
        return f"{NO_LINE} {speakers} in {chapters} is {degree}." if speakers else ""
    asks_who = SourceIntention.WHO_WAS_THERE in intentions
    if asks_who and not any(scene.present for scene in result.scenes):
        return f"{NOBODY_PRESENT} in {chapters}."
    return ""
