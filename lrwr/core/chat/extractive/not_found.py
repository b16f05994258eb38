"""What a text does not say, and how a writer is told so."""

from collections.abc import Iterator, Sequence
from enum import StrEnum

from lrwr.core.bible.phrases import list_gap_implications
from lrwr.core.bible.values import Gap
from lrwr.core.chat.extractive.question_parts import (
    ASPECT_WORDS,
    QuestionPart,
    extract_question_words,
)
from lrwr.core.chat.extractive.sentence_ranking import is_unanswerable_without
from lrwr.core.chat.extractive.writer import add_quotation_marks
from lrwr.core.chat.state import RetrievalResult, TurnQuestion
from lrwr.core.model.query_terms import (
    WORD_PATTERN,
    extract_capitalized_words,
    extract_content_words,
    normalize_word,
)
from lrwr.core.model.turns import GapFlag, QuestionPlan

MIN_UNKNOWN_SHARE = 0.5
"""The share of what is asked for that, never said in the text, makes it doubtful."""


MIN_UNDEFINED_SHARE = 0.9
"""The share from which on what is asked of somebody is left undefined."""


class NotFoundLevel(StrEnum):
    """How far a text is silent on a question."""

    NONE = "none"
    MAYBE = "maybe"
    """Most of the question's words are not the text's, which may use others, or the
    search is not sure of what it found."""
    UNDEFINED = "undefined"
    """What is asked of somebody known has no word of it in the text."""
    SURE = "sure"


def classify_not_found(
    question: TurnQuestion,
    parts: Sequence[QuestionPart],
    result: RetrievalResult,
    *,
    known: bool = False,
) -> NotFoundLevel:
    """Return how far nothing that was found can answer.

    Where something is `known`, how sure the search was of passages counts for nothing.
    """
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
    doubtful = least >= MIN_UNKNOWN_SHARE or (result.low_confidence and not known)
    return NotFoundLevel.MAYBE if doubtful else NotFoundLevel.NONE


def find_unknown_words(result: RetrievalResult) -> list[str]:
    """Return the question's words that the text never has, but for those that ask."""
    return [word for word in result.unknown if word not in ASPECT_WORDS]


def format_not_found(
    question: TurnQuestion,
    unheard: Sequence[str],
    silence: NotFoundLevel,
    *,
    nearest: bool,
) -> Iterator[str]:
    """Yield what is told of a silence; `nearest` says that something follows."""
    bounded = question.horizon is not None
    if unheard:
        named = extract_capitalized_words(question.text)
        who = "The story so far" if bounded else "Your text"
        asked = {
            normalize_word(word): word for word in WORD_PATTERN.findall(question.text)
        }
        told = [asked.get(word, word) if word in named else word for word in unheard]
        yield f"{who} never says {_listed(told)}."
    if silence is NotFoundLevel.NONE and nearest:
        return
    so_far = " so far" if bounded else ""
    rest = " What comes nearest:" if nearest else ""
    if silence is not NotFoundLevel.SURE and nearest:
        yield f"Your text may not say this{so_far}, or say it in other words.{rest}"
    else:
        yield f"Your text is silent on this{so_far}.{rest}"


def build_gap_from_question(
    question: TurnQuestion, result: RetrievalResult, plan: QuestionPlan | None = None
) -> GapFlag:
    """Return what `question` asks for, as something that the text leaves undefined.

    It is about the one character found, or the one entity of `plan`.
    """
    names = [profile.name for profile in result.character_profiles]
    if not names and plan is not None:
        names = [entity.name for entity in plan.entities]
    about = question.character or (names[0] if len(names) == 1 else "")
    own = extract_content_words(about)
    asked = extract_question_words(question.text, plan, result)
    words = [word for word in asked if word not in own]
    return GapFlag(about, " ".join(words) or " ".join(question.text.split()))


def build_gap_from_ledger(gap: Gap) -> GapFlag:
    """Return a gap of the ledger, as an answer has it."""
    implied = "; ".join(list_gap_implications(gap))
    return GapFlag(gap.about, gap.attribute, implied, "".join(gap.suggestions[:1]))


def _listed(words: Sequence[str]) -> str:
    told = [add_quotation_marks(word) for word in words]
    first = f"{', '.join(told[:-1])} or " if len(told) > 1 else ""
    return first + told[-1]
