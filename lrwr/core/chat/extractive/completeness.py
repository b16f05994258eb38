"""Says whether facts answer the parts of a question, so that few or no passages follow."""

from collections.abc import Sequence

from lrwr.core.chat.context.items import ContextItem, StoryFacet
from lrwr.core.chat.extractive.question_parts import QuestionPart
from lrwr.core.chat.extractive.writer import find_unknown_words
from lrwr.core.chat.state import RetrievalResult

MIN_ANSWERED_COVERAGE = 0.9
"""Share of the part's term weight that a fact must cover to answer it completely."""

MIN_FACTS_FOR_DESCRIPTION = 3
"""Facts that suffice to describe a character, so that no sentences are quoted."""

KINDS_OF_VALUES = frozenset({"colour", "color", "age", "height"})
"""Words for kinds of values, which a fact answers without them: "blue"."""


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
