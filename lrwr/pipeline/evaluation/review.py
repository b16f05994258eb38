"""The user's review of questions: keep, drop, edit, and merge with new ones."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from lrwr.core.model.errors import NotFound, SettingsProblem
from lrwr.pipeline.evaluation.questions import WRITER_SOURCE, EvalQuestion

APPROVED = ", kept"
"""Suffix of a question's source once the user has approved it."""


@dataclass(frozen=True, slots=True)
class ReviewProgress:
    """How many questions are kept or edited (`kept`), dropped, and not reviewed
    (`waiting`).
    """

    kept: int
    dropped: int
    waiting: int


def keep_question(question: EvalQuestion) -> EvalQuestion:
    """Return a question marked as approved by the user and no longer dropped."""
    if question.made == WRITER_SOURCE or question.made.endswith(APPROVED):
        return replace(question, dropped=False)
    return replace(question, made=f"{question.made}{APPROVED}", dropped=False)


def drop_question(question: EvalQuestion) -> EvalQuestion:
    """Return a question marked as dropped: it stays in the file but is not asked any
    more.
    """
    return replace(question, dropped=True)


def edit_question(
    question: EvalQuestion, *, text: str = "", answer: str = ""
) -> EvalQuestion:
    """Return a question with a new text or answer; empty arguments change nothing.

    The id stays, so that a later generation does not add the old question again. The
    question then counts as written by the user and is no longer dropped.

    Raises:
        SettingsProblem: Neither text nor answer changes.
    """
    new_text = " ".join(text.split()) or question.text
    new_answer = " ".join(answer.split()) or question.answer
    if (new_text, new_answer) == (question.text, question.answer):
        raise SettingsProblem(
            f"The edit does not change {question.id}",
            hint="Give a new question or a new answer.",
        )
    return replace(
        question, text=new_text, answer=new_answer, made=WRITER_SOURCE, dropped=False
    )


def change_question(
    questions: Sequence[EvalQuestion],
    id_: str,
    change: Callable[[EvalQuestion], EvalQuestion],
) -> list[EvalQuestion]:
    """Return all questions in their order, with `change` applied to the one called
    `id_`.

    `id_` is an id, or an unambiguous beginning or end of one.

    Raises:
        NotFound: No question, or more than one, matches `id_`.
        SettingsProblem: `change` raises it.
    """
    question = find_question(id_, questions)
    return [change(other) if other is question else other for other in questions]


def find_question(id_: str, questions: Sequence[EvalQuestion]) -> EvalQuestion:
    """Return the question with the id `id_`, or else the one whose id begins or ends
    with it.

    Case is ignored.

    Raises:
        NotFound: No question matches, or several do.
    """
    query = id_.strip().casefold()
    exact_matches = [
        question for question in questions if question.id.casefold() == query
    ]
    partial_matches = [
        question
        for question in questions
        if (query and question.id.casefold().startswith(query))
        or (query and question.id.casefold().endswith(query))
    ]
    matches = exact_matches or partial_matches
    if len(matches) == 1:
        return matches[0]
    if matches:
        names = ", ".join(fit.id for fit in matches[:4])
        raise NotFound(
            f"Several questions match {id_}: {names}", hint="Give more of the id."
        )
    raise NotFound(
        f"No question matches {id_}", hint="Run `lrwr eval review` to list them."
    )


def list_unreviewed_questions(questions: Sequence[EvalQuestion]) -> list[EvalQuestion]:
    """Return the questions that the user has not reviewed, in the order of
    `questions`.
    """
    return [question for question in questions if not is_reviewed(question)]


def count_review_progress(questions: Sequence[EvalQuestion]) -> ReviewProgress:
    """Count the questions that are kept or edited, dropped, and not reviewed."""
    gone = sum(question.dropped for question in questions)
    unreviewed = len(list_unreviewed_questions(questions))
    return ReviewProgress(len(questions) - gone - unreviewed, gone, unreviewed)


def merge_questions(
    before: Sequence[EvalQuestion], new: Sequence[EvalQuestion]
) -> list[EvalQuestion]:
    """Return the reviewed questions of `before`, followed by those of `new`.

    Questions that the user wrote, edited, kept or dropped stay unchanged; generated
    ones that were not reviewed are left out. A question of `new` is skipped if its id,
    or its text (ignoring case and white space) with the same horizon, exists already.
    Idempotent.
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
    """Return whether the user wrote, edited, kept or dropped a question."""
    return (
        question.dropped
        or question.made == WRITER_SOURCE
        or question.made.endswith(APPROVED)
    )


def _words(question: EvalQuestion) -> tuple[str, str]:
    return " ".join(question.text.split()).casefold(), question.as_of
