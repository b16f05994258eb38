"""What a writer does to questions: keep them, drop them, put them in other words."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from lrwr.core.model.errors import NotFound, SettingsProblem
from lrwr.pipeline.evaluation.questions import WRITER_SOURCE, EvalQuestion

APPROVED = ", kept"
"""Ends what a question was made from, once the writer has said that it is good."""


@dataclass(frozen=True, slots=True)
class ReviewProgress:
    """How far a review has come: how many were kept or edited, dropped, and are left."""

    kept: int
    dropped: int
    waiting: int


def keep_question(question: EvalQuestion) -> EvalQuestion:
    """Return a question that the writer says is good; one that was dropped is back."""
    if question.made == WRITER_SOURCE or question.made.endswith(APPROVED):
        return replace(question, dropped=False)
    return replace(question, made=f"{question.made}{APPROVED}", dropped=False)


def drop_question(question: EvalQuestion) -> EvalQuestion:
    """Return a question that the writer does not want asked."""
    return replace(question, dropped=True)


def edit_question(
    question: EvalQuestion, *, text: str = "", answer: str = ""
) -> EvalQuestion:
    """Return a question with the writer's text and answer; empty ones stay unchanged.

    Its id stays, so that making questions again does not bring it back as it was. It
    counts as the writer's from then on.

    Raises:
        SettingsProblem: Neither text nor answer changes.
    """
    new_text = " ".join(text.split()) or question.text
    new_answer = " ".join(answer.split()) or question.answer
    if (new_text, new_answer) == (question.text, question.answer):
        raise SettingsProblem(
            f"Nothing is changed in {question.id}",
            hint="Give other words for the question, or for its answer.",
        )
    return replace(
        question, text=new_text, answer=new_answer, made=WRITER_SOURCE, dropped=False
    )


def change_question(
    questions: Sequence[EvalQuestion],
    id_: str,
    change: Callable[[EvalQuestion], EvalQuestion],
) -> list[EvalQuestion]:
    """Return all questions in their order, one of them changed.

    Raises:
        NotFound: No question, or more than one, is called `id_`.
        SettingsProblem: The change says so.
    """
    question = find_question(id_, questions)
    return [change(other) if other is question else other for other in questions]


def find_question(id_: str, questions: Sequence[EvalQuestion]) -> EvalQuestion:
    """Return the question whose id is `id_`, or begins or ends with it.

    Raises:
        NotFound: None is called so, or several are.
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
        raise NotFound(f"Several questions are called {id_}: {names}", hint="Say more.")
    raise NotFound(
        f"No question is called {id_}", hint="`lrwr eval review` lists them all."
    )


def list_unreviewed_questions(questions: Sequence[EvalQuestion]) -> list[EvalQuestion]:
    """Return the questions that the writer has not looked at, in order."""
    return [question for question in questions if not is_reviewed(question)]


def count_review_progress(questions: Sequence[EvalQuestion]) -> ReviewProgress:
    """Return how many questions are kept or edited, dropped and unreviewed."""
    gone = sum(question.dropped for question in questions)
    unreviewed = len(list_unreviewed_questions(questions))
    return ReviewProgress(len(questions) - gone - unreviewed, gone, unreviewed)


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
