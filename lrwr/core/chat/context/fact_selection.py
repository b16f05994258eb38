"""Selects the facts that fit a question: whole statements, each once."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from lrwr.core.chat.context.items import (
    UNNAMED,
    ContextItem,
    StoryFacet,
    collect_context_items,
    is_sure,
    map_intentions_to_facets,
)
from lrwr.core.chat.extractive.question_parts import (
    extract_question_words,
    map_words_to_labels,
)
from lrwr.core.chat.state import (
    RetrievalResult,
    TurnQuestion,
    find_answering_character,
)
from lrwr.core.model.text import WORD_PATTERN, normalize_words, stem_lightly, stem_word
from lrwr.core.model.turns import AnswerIntent, QuestionPlan, SourceIntention

MAX_FACT_CHARS = 300
"""Characters of a fact and of each quotation with it; longer statements are read in
their passage."""

MAX_CHARACTER_LINES = 6
"""Dialogue lines of a character at most; enough to imitate a voice."""

MIN_STATEMENT_WORDS = 4
"""Words below which a sentence is a fragment."""

MIN_VOICE_WORDS = 4
"""Words of a dialogue line that shows how somebody talks."""

_BROAD_INTENTIONS = frozenset(
    {
        SourceIntention.TRAITS, SourceIntention.ARC, SourceIntention.AUTHOR_INTENT,
        SourceIntention.WHAT_HAPPENED, SourceIntention.WHEN, SourceIntention.BEFORE_AFTER,
        SourceIntention.SETTING, SourceIntention.TECHNOLOGY, SourceIntention.FACTION,
        SourceIntention.ARTIFACT, SourceIntention.RULE,
    }
)  # fmt: skip
"""Intentions that say too little: facts must also share a word with the question."""

_PERSONAL_FACETS = frozenset({StoryFacet.CHARACTER, StoryFacet.VOICE, StoryFacet.NAME})
"""What a character who answers needs whatever the question is."""

_PRONOUN = re.compile(r"(?:he|she|they|his|her|their|its?)\b", re.IGNORECASE)
_INSTRUCTION = re.compile(
    r"(?:please |never |always |do not |don['’]t )*"
    r"(?:leave|keep|make|give|let|remember|check|decide|fix|add|cut|move|avoid|write"
    r"|reveal|show|mention|use|name|say|tell|explain|do|don['’]t|never|no|todo|tbd)\b",
    re.IGNORECASE,
)
"""The beginning of what an author tells themselves in a note."""


@dataclass(frozen=True, slots=True)
class MaterialFocus:
    """What the facts in a prompt must fit.

    `asked_stems` are the stems of the words that say what is asked, not about whom; with none,
    every fact fits. `facets` are aspects that the plan asks for. `speaker` is the
    character who answers, empty for none.
    """

    asked_stems: frozenset[str] = frozenset()
    facets: frozenset[StoryFacet] = frozenset()
    speaker: str = ""

    @classmethod
    def of(
        cls, question: TurnQuestion, plan: QuestionPlan, result: RetrievalResult
    ) -> "MaterialFocus":
        """Return the focus of `question`; names in `plan` and `result` are no words
        that say what is asked.
        """
        words = extract_question_words(plan.question or question.text, plan, result)
        labels = map_words_to_labels(words)
        intentions = {choice.intention for choice in plan.choices}
        facets = map_intentions_to_facets(intentions - _BROAD_INTENTIONS)
        if plan.intent is AnswerIntent.GAP_PROBE:
            facets |= {StoryFacet.GAP}
        stems = frozenset(stem_lightly(word) for word in (*words, *labels))
        return cls(stems, facets, find_answering_character(question, plan))

    def count_shared(self, item: ContextItem) -> int:
        """Return how many of the asked words `item` contains."""
        words = {stem_word(word) for word in WORD_PATTERN.findall(item.words)}
        return len(self.asked_stems & words)

    def fits(self, item: ContextItem) -> bool:
        """Return whether the aspect of `item` is asked for."""
        if item.decided or item.facet in self.facets or not self.asked_stems:
            return True
        if self.speaker and item.facet in _PERSONAL_FACETS:
            return item.about == self.speaker
        return bool(self.count_shared(item))


def select_facts(result: RetrievalResult, focus: MaterialFocus) -> list[ContextItem]:
    """Return the facts and dialogue lines of `result` that fit `focus`, best first,
    decisions of the user before all.

    Each is a whole statement of at most `MAX_FACT_CHARS` characters and occurs once.
    """
    items = [
        item
        for item in _drop_repeated(collect_context_items(result))
        if item.facet is not StoryFacet.LINE
        and (item.decided or is_whole_statement(item))
        and focus.fits(item)
    ]
    items.sort(key=lambda item: (not item.decided, -focus.count_shared(item)))
    return [*items, *_select_lines(result, focus)]


def is_whole_statement(item: ContextItem) -> bool:
    """Return whether `item` says something by itself: no fragment of a note, no
    instruction of the author, and short enough.
    """
    evidence_lengths = (len(evidence.text) for evidence in item.evidence)
    if max(len(item.line), *evidence_lengths, 0) > MAX_FACT_CHARS:
        return False
    if not item.statement or not _is_sentence(item):
        return True
    words = item.statement.split()
    if len(words) < MIN_STATEMENT_WORDS or _INSTRUCTION.match(item.statement):
        return False
    subject = set(normalize_words(item.about))
    named = set(normalize_words(item.statement))
    return not subject.isdisjoint(named) or bool(_PRONOUN.match(item.statement))


def _is_sentence(item: ContextItem) -> bool:
    """Return whether the statement of `item` is prose, not the value of an attribute."""
    return item.label in ("", UNNAMED) and item.facet in (
        StoryFacet.LOOK,
        StoryFacet.CHARACTER,
        StoryFacet.WORLD,
    )


def _drop_repeated(items: Iterable[ContextItem]) -> Iterator[ContextItem]:
    """Yield the items without those that say the same of the same subject again."""
    known_keys: set[tuple[str, str, str]] = set()
    for item in items:
        statement = " ".join(item.statement.casefold().strip(" .").split())
        quoted = "" if statement else " ".join(e.text for e in item.evidence)
        key = (item.about, item.label.casefold(), statement or quoted)
        if key not in known_keys:
            known_keys.add(key)
            yield item


def _select_lines(result: RetrievalResult, focus: MaterialFocus) -> list[ContextItem]:
    """Return the dialogue lines closest to the question, then those of sure speakers.

    A character who answers also gets longer lines of their own, which show the voice.
    """
    lines = [
        item
        for item in _drop_repeated(collect_context_items(result))
        if item.facet is StoryFacet.LINE and is_whole_statement(item)
    ]
    voices = bool(focus.speaker) or StoryFacet.VOICE in focus.facets

    def is_short(line: ContextItem) -> bool:
        return len(line.words.split()) < MIN_VOICE_WORDS

    def rank(line: ContextItem) -> tuple[int, bool, bool]:
        is_certain = all(map(is_sure, line.evidence))
        return -focus.count_shared(line), not is_certain, is_short(line)

    fitting = [
        line
        for line in lines
        if not focus.asked_stems
        or focus.count_shared(line)
        or (voices and not is_short(line))
    ]
    return sorted(fitting, key=rank)[:MAX_CHARACTER_LINES]
