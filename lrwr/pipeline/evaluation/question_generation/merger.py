"""Making questions again without losing what the writer said of those made before."""

from collections.abc import Sequence

from lrwr.pipeline.evaluation.questions import WRITER_SOURCE, EvalQuestion

APPROVED = ", kept"
"""Ends what a question was made from, once the writer has said that it is good."""


def merge_questions(
    before: Sequence[EvalQuestion], new: Sequence[EvalQuestion]
) -> list[EvalQuestion]:
    """Return `new` with what the writer did to `before`; none of their work is lost.

    A question that the writer wrote, edited, kept or dropped stays as it is, in its
    place among those that stay. Those made before that nobody touched give way to `new`. A
    new one with the id of one that stays is left out, and so is one that asks the
    same words, at the same point of the story. Doing it twice is the same as once.
    """
    kept = [eval_question for eval_question in before if is_reviewed(eval_question)]
    ids = {one.id for one in kept}
    asked = {_words(one) for one in kept}
    added: list[EvalQuestion] = []
    for one in new:
        if one.id not in ids and _words(one) not in asked:
            ids.add(one.id)
            asked.add(_words(one))
            added.append(one)
    return [*kept, *added]


def is_reviewed(question: EvalQuestion) -> bool:
    """Say whether a question is the writer's: written, edited, kept or dropped."""
    return (
        question.dropped
        or question.made == WRITER_SOURCE
        or question.made.endswith(APPROVED)
    )


def _words(question: EvalQuestion) -> tuple[str, str]:
    return " ".join(question.text.split()).casefold(), question.as_of
