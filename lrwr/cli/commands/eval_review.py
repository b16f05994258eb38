"""`lrwr eval review`: the questions that lrwr is judged by, shown and put right."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lrwr.cli.runtime.options import Json

if TYPE_CHECKING:
    from collections.abc import Callable

    from lrwr.pipeline.evaluation.questions import Question

EPILOG = (
    "Examples: lrwr eval review · lrwr eval review --drop fact-3f2a · lrwr eval review"
    ' --edit fact-3f2a --question "Who lights the lantern?" · lrwr eval review --undo'
)


QuestionsFile = Annotated[
    Path | None,
    typer.Option(
        "--questions",
        metavar="FILE.jsonl",
        help="The file of questions; else the library's own.",
    ),
]
Keep = Annotated[
    list[str] | None,
    typer.Option("--keep", metavar="ID", help="Keep a question; may be repeated."),
]
Drop = Annotated[
    list[str] | None,
    typer.Option("--drop", metavar="ID", help="Drop a question; may be repeated."),
]
Edit = Annotated[
    str | None,
    typer.Option("--edit", metavar="ID", help="Change a question's words."),
]
Text = Annotated[
    str, typer.Option("--question", metavar="TEXT", help="With --edit: as asked.")
]
Answer = Annotated[
    str, typer.Option("--answer", metavar="TEXT", help="With --edit: its answer.")
]
Undo = Annotated[bool, typer.Option("--undo", help="Take the last change back.")]
Every = Annotated[
    bool, typer.Option("--all", help="Show dropped and reviewed ones, too.")
]


def review(
    context: typer.Context,
    questions: QuestionsFile = None,
    keep: Keep = None,
    drop: Drop = None,
    edit: Edit = None,
    text: Text = "",
    answer: Answer = "",
    undo: Undo = False,
    every: Every = False,
    as_json: Json = False,
) -> None:
    """Go through the questions that lrwr is judged by, and keep, drop or edit them.

    On a terminal they come one by one; elsewhere they are listed.
    """
    from lrwr.cli.presenters.question_review import Review, book_of, file_of
    from lrwr.cli.runtime.async_runner import run_async
    from lrwr.cli.runtime.session import begin

    settings, output = begin(context)
    changes = _changes(keep, drop, edit, text, answer, undo=undo)
    book = run_async(book_of(settings, output))
    session = Review(file_of(settings, questions), book, output)
    if undo:
        session.take_back()
    elif changes:
        session.change(changes)
    elif as_json or not session.interactive:
        session.show(every=every, as_json=as_json)
        return
    else:
        session.ask(every=every)
    session.sum_up(as_json=as_json)


def _changes(
    keep: list[str] | None,
    drop: list[str] | None,
    edit: str | None,
    text: str,
    answer: str,
    *,
    undo: bool,
) -> "list[tuple[str, Callable[[Question], Question]]]":
    """Return what to do to which question.

    Raises:
        SettingsProblem: The options do not fit each other.
    """
    from functools import partial

    from lrwr.core.model.errors import SettingsProblem
    from lrwr.pipeline.evaluation.review import dropped, edited, kept

    if bool(text or answer) != (edit is not None):
        raise SettingsProblem(
            "--edit needs --question or --answer, and they need --edit",
            hint='Try: lrwr eval review --edit ID --question "…"',
        )
    changes: list[tuple[str, Callable[[Question], Question]]] = []
    changes += [(id_, kept) for id_ in keep or ()]
    changes += [(id_, dropped) for id_ in drop or ()]
    if edit is not None:
        changes.append((edit, partial(edited, text=text, answer=answer)))
    if undo and changes:
        raise SettingsProblem(
            "--undo goes alone", hint="Take the last change back first: --undo."
        )
    return changes
