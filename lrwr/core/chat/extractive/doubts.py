"""Says what the passages below a question may lack: a value of the kind asked for, all
of a list, or an answer at all.
"""

import re
from collections.abc import Sequence

from lrwr.core.chat.context.conflicts import pair_conflicts
from lrwr.core.chat.context.items import ContextItem, is_sure
from lrwr.core.chat.extractive.answer_types import asks_for_list
from lrwr.core.chat.extractive.answer_values import (
    ValueQuestion,
    describe_missing_value,
)
from lrwr.core.chat.extractive.question_parts import find_speaker_names
from lrwr.core.chat.state import RetrievalResult, TurnQuestion
from lrwr.core.model.text import SentenceSplitter
from lrwr.core.model.turns import (
    CONTRADICTORY,
    NO_CLEAR_ANSWER,
    NO_LINE,
    NOBODY_PRESENT,
    QuestionPlan,
    SourceIntention,
)
from lrwr.core.retrieval.excerpts import PassageQuote

PARTIAL_ANSWER = "These passages may not have all that is asked for."
"""What is said of a question with several answers."""

_BASE_DOUBT = 0.21
_RATING_WEIGHT = -0.42
_DOUBT_BY_FORM = (
    (re.compile(r"^\W*(?:and|so|but)\b", re.IGNORECASE), 0.59),
    (
        re.compile(
            r"\bwhere(?:abouts)?\b(?!\s+(?:do|did|have)\s+I\b)"
            r"|\b(?:what|which)\s+(?:part|town|city|street|house|place)\b",
            re.IGNORECASE,
        ),
        0.95,
    ),
    (re.compile(r"\bwho(?:m|se)?\b", re.IGNORECASE), -0.38),
)
"""How much the form of a question adds to the doubt that the passages answer it.

Ridge logistic regression on 180 questions about four novels with known answers. A
question that continues another one, or asks for a place, is answered less often by the
passages shown; one that asks who, more often. Fitted on three novels and tested on the
fourth, .57 of the questions without an answer among the passages are doubted, and .23
of the others (decision 050)."""

_USUAL_RATING = 0.6
"""The rating of the best sentence of most first passages; used if nothing was rated."""


def is_doubtful(question: str, quotes: Sequence[PassageQuote]) -> bool:
    """Return whether `quotes`, best first, rather lack the answer to `question`.

    It depends on how well the best sentence of the first one fits, and on the form of
    the question.
    """
    rating = quotes[0].rating if quotes else None
    fit = _USUAL_RATING if rating is None else rating
    form = sum(weight for form, weight in _DOUBT_BY_FORM if form.search(question))
    return _BASE_DOUBT + _RATING_WEIGHT * fit + form > 0


def describe_doubt(
    question: TurnQuestion,
    typed: ValueQuestion,
    quotes: Sequence[PassageQuote],
    sentences: SentenceSplitter,
    *,
    is_first: bool,
) -> str:
    """Return a line on what `quotes` lack or may lack; "" if that is unknown.

    If it `is_first`, it begins with the statement that no clear answer was found.
    """
    lack = ""
    if missing := describe_missing_value(typed, [q.text for q in quotes], sentences):
        lack = f"None of these passages clearly {missing}."
    elif asks_for_list(typed.text):
        lack = PARTIAL_ANSWER
    if not is_first or not (lack or is_doubtful(question.text, quotes)):
        return lack
    so_far = " up to this point" if question.horizon is not None else ""
    return f"{NO_CLEAR_ANSWER}{so_far}. {lack}".rstrip()


def describe_conflicting_facts(facts: Sequence[ContextItem]) -> str:
    """Return a line that says which of `facts` cannot both be true; "" if all can."""
    if len(facts) < 2:
        return ""
    for first, second in pair_conflicts(facts):
        values = f"{first.statement} and {second.statement}"
        return f"{CONTRADICTORY} {first.head}: {values}. See `lrwr check`."
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
