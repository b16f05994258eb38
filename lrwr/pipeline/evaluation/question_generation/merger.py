"""Making questions again without losing what the writer said of those made before."""

from collections.abc import Sequence

from lrwr.pipeline.evaluation.questions import WRITER_SOURCE, EvalQuestion

APPROVED = ", kept"
"""Ends what a question was made from, once the writer has said that it is good."""


def merge_questions(
    before: Sequence[EvalQuestion], new: Sequence[EvalQuestion]
) -> list[EvalQuestion]:
    """Return `new` merged with the questions in `before` that the writer has reviewed.

    A question that the writer wrote, edited, kept or dropped stays as it is, in its
    place among those that stay. Those made before that nobody touched give way to `new`. A
    new one with the id of one that stays is left out, and so is one that asks the
    same words, at the same point of the story. Doing it twice is the same as once.
    """
    reviewed = [eval_question for eval_question in before if is_reviewed(eval_question)]
    ids = {question.id for question in reviewed}
    wordings = {_words(question) for question in reviewed}
    added: list[EvalQuestion] = []
    for question in new:
        if question.id not in ids and _words(question) not in wordings:
            ids.add(question.id)
            wordings.add(_words(question))
            added.append(question)
    return [*reviewed, *added]


def is_reviewed(question: EvalQuestion) -> bool:
    """Say whether a question is the writer's: written, edited, kept or dropped."""
    return (
        question.dropped
        or question.made == WRITER_SOURCE
        or question.made.endswith(APPROVED)
    )


def _words(question: EvalQuestion) -> tuple[str, str]:
    return " ".join(question.text.split()).casefold(), question.as_of
