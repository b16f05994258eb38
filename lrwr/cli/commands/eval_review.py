"""`lrwr eval review`: review the questions of an evaluation."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from lrwr.cli.presenters.question_review import (
    QuestionReview,
    load_manuscript_texts,
    resolve_question_file,
)
from lrwr.cli.runtime.event_loop import run_async
from lrwr.cli.runtime.options import JsonOption
from lrwr.cli.runtime.output import start_session
from lrwr.core.model.errors import SettingsProblem
from lrwr.pipeline.evaluation.questions import EvalQuestion
from lrwr.pipeline.evaluation.review import drop_question, edit_question, keep_question

EPILOG = (
    "Examples: lrwr eval review · lrwr eval review --drop fact-3f2a · lrwr eval review"
    ' --edit fact-3f2a --question "Who lights the lantern?" · lrwr eval review --undo'
)


QuestionsFileOption = Annotated[
    Path | None,
    typer.Option(
        "--questions",
        metavar="FILE.jsonl",
        help="File of questions. Default: the library's own.",
    ),
]
KeepOption = Annotated[
    list[str] | None,
    typer.Option(
        "--keep", metavar="ID", help="Keep a question in the set. Repeatable."
    ),
]
DropOption = Annotated[
    list[str] | None,
    typer.Option("--drop", metavar="ID", help="Drop a question. Repeatable."),
]
EditOption = Annotated[
    str | None,
    typer.Option("--edit", metavar="ID", help="Edit a question."),
]
TextOption = Annotated[
    str,
    typer.Option("--question", metavar="TEXT", help="With --edit: the new question."),
]
AnswerOption = Annotated[
    str, typer.Option("--answer", metavar="TEXT", help="With --edit: the new answer.")
]
UndoOption = Annotated[bool, typer.Option("--undo", help="Undo the last change.")]
EveryOption = Annotated[
    bool,
    typer.Option(
        "--all",
        help="Show every question: also dropped ones and, on a terminal, reviewed ones.",
    ),
]


def eval_review_command(
    context: typer.Context,
    questions: QuestionsFileOption = None,
    keep: KeepOption = None,
    drop: DropOption = None,
    edit: EditOption = None,
    text: TextOption = "",
    answer: AnswerOption = "",
    undo: UndoOption = False,
    every: EveryOption = False,
    as_json: JsonOption = False,
) -> None:
    """Review the questions of evaluations: keep, drop or edit them.

    On a terminal they are shown one by one, otherwise as a list.
    """
    settings, output = start_session(context)
    changes = _changes(keep, drop, edit, text, answer, undo=undo)
    book = run_async(load_manuscript_texts(settings, output))
    session = QuestionReview(resolve_question_file(settings, questions), book, output)
    if undo:
        session.undo()
    elif changes:
        session.change(changes)
    elif as_json or not session.interactive:
        session.show(every=every, as_json=as_json)
        return
    else:
        session.review(every=every)
    session.show_progress(as_json=as_json)


def _changes(
    keep: list[str] | None,
    drop: list[str] | None,
    edit: str | None,
    text: str,
    answer: str,
    *,
    undo: bool,
) -> list[tuple[str, Callable[[EvalQuestion], EvalQuestion]]]:
    """Return pairs of a question id and the change to apply to it.

    Raises:
        SettingsProblem: The options cannot be combined.
    """
    if bool(text or answer) != (edit is not None):
        raise SettingsProblem(
            "`--edit ID` needs `--question` or `--answer`, and they need `--edit ID`",
            hint='Run `lrwr eval review --edit ID --question "…"`.',
        )
    changes: list[tuple[str, Callable[[EvalQuestion], EvalQuestion]]] = []
    changes += [(id_, keep_question) for id_ in keep or ()]
    changes += [(id_, drop_question) for id_ in drop or ()]
    if edit is not None:
        changes.append((edit, partial(edit_question, text=text, answer=answer)))
    if undo and changes:
        raise SettingsProblem(
            "`--undo` cannot be combined with other changes",
            hint="Run `lrwr eval review --undo` first.",
        )
    return changes
