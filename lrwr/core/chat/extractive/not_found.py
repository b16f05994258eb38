"""What a text does not say, and how a writer is told so."""

from collections.abc import Iterator, Sequence
from enum import StrEnum

from lrwr.core.bible.phrases import implied_by
from lrwr.core.bible.values import Gap
from lrwr.core.chat.extractive.question_parts import ASKING, Part, asked_for
from lrwr.core.chat.extractive.sentence_ranking import says_nothing
from lrwr.core.chat.extractive.writer import quoted
from lrwr.core.chat.state import Question, RetrievalResult
from lrwr.core.model.query_terms import WORD, content_words, names, plain_word
from lrwr.core.model.turns import GapFlag, Plan

UNHEARD = 0.5
"""The share of what is asked for that, never said in the text, makes it doubtful."""


UNDEFINED = 0.9
"""The share from which on what is asked of somebody is left undefined."""


class Silence(StrEnum):
    """How far a text is silent on a question."""

    NONE = "none"
    MAYBE = "maybe"
    """Most of the question's words are not the text's, which may use others, or the
    search is not sure of what it found."""
    UNDEFINED = "undefined"
    """What is asked of somebody known has no word of it in the text."""
    SURE = "sure"


def silence_of(
    question: Question,
    parts: Sequence[Part],
    result: RetrievalResult,
    *,
    known: bool = False,
) -> Silence:
    """Return how far nothing that was found can answer.

    Where something is `known`, how sure the search was of passages counts for nothing.
    """
    unknown = unheard_in(result)
    if says_nothing(question.text, unknown):
        return Silence.SURE
    shares = [
        sum(part.words.weights.get(word, 0.0) for word in unknown) for part in parts
    ]
    least = min(shares, default=0.0)
    unnamed = not all(part.is_of_something for part in parts)
    enough = UNHEARD if question.horizon is not None else UNDEFINED
    if least >= enough and not (unnamed and enough == UNDEFINED):
        return Silence.UNDEFINED
    doubtful = least >= UNHEARD or (result.low_confidence and not known)
    return Silence.MAYBE if doubtful else Silence.NONE


def unheard_in(result: RetrievalResult) -> list[str]:
    """Return the question's words that the text never has, but for those that ask."""
    return [word for word in result.unknown if word not in ASKING]


def silence_in_words(
    question: Question, unheard: Sequence[str], silence: Silence, *, nearest: bool
) -> Iterator[str]:
    """Yield what is told of a silence; `nearest` says that something follows."""
    bounded = question.horizon is not None
    if unheard:
        named = names(question.text)
        who = "The story so far" if bounded else "Your text"
        asked = {plain_word(word): word for word in WORD.findall(question.text)}
        told = [asked.get(word, word) if word in named else word for word in unheard]
        yield f"{who} never says {_listed(told)}."
    if silence is Silence.NONE and nearest:
        return
    so_far = " so far" if bounded else ""
    rest = " What comes nearest:" if nearest else ""
    if silence is not Silence.SURE and nearest:
        yield f"Your text may not say this{so_far}, or say it in other words.{rest}"
    else:
        yield f"Your text is silent on this{so_far}.{rest}"


def gap_asked(
    question: Question, result: RetrievalResult, plan: Plan | None = None
) -> GapFlag:
    """Return what `question` asks for, as something that the text leaves undefined.

    It is about the one character found, or the one entity of `plan`.
    """
    names = [profile.name for profile in result.character_profiles]
    if not names and plan is not None:
        names = [entity.name for entity in plan.entities]
    about = question.character or (names[0] if len(names) == 1 else "")
    own = content_words(about)
    asked = asked_for(question.text, plan, result)
    words = [word for word in asked if word not in own]
    return GapFlag(about, " ".join(words) or " ".join(question.text.split()))


def gap_known(gap: Gap) -> GapFlag:
    """Return a gap of the ledger, as an answer has it."""
    implied = "; ".join(implied_by(gap))
    return GapFlag(gap.about, gap.attribute, implied, "".join(gap.suggestions[:1]))


def _listed(words: Sequence[str]) -> str:
    told = [quoted(word) for word in words]
    first = f"{', '.join(told[:-1])} or " if len(told) > 1 else ""
    return first + told[-1]
