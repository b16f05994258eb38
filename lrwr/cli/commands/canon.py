"""`lrwr canon`: what the writer decides, and every guess gives way to."""

from collections.abc import Callable, Sequence
from shlex import join
from typing import Annotated

import typer

from lrwr.app.container import open_workspace
from lrwr.app.presenters.text import StyledText
from lrwr.cli.presenters.canon import (
    DecisionContext,
    decisions_as_json,
    make_decision,
    open_decision_context,
    show_decisions,
)
from lrwr.cli.runtime.async_runner import run_async
from lrwr.cli.runtime.options import parse_choice
from lrwr.cli.runtime.output import Output
from lrwr.cli.runtime.session import start_session
from lrwr.core.canon.decision import (
    Decision,
    DocumentMoved,
    DocumentTypeSet,
    NameIgnored,
    NameRenamed,
    NamesMerged,
    NamesSplit,
    PointOfViewSet,
    StoryOrderSet,
    format_decision,
)
from lrwr.core.canon.model import ManuscriptLocation, normalize_canon_name
from lrwr.core.canon.resolver import (
    OrphanedDecisions,
    find_orphaned_decisions,
    resolve_decided_document,
)
from lrwr.core.model.documents import DocumentId, DocumentType
from lrwr.core.model.errors import ExitCode, SettingsProblem
from lrwr.core.retrieval.locations import (
    find_orphaned_locations,
    parse_manuscript_location,
)
from lrwr.core.retrieval.story import StoryOrder, merge_document_order
from lrwr.core.settings.model import Settings

EPILOG = (
    "Examples: lrwr canon · lrwr canon type notes/mill.md setting ·"
    ' lrwr canon merge "Nell Tallow" Wren · lrwr canon undo. All of it is kept in'
    " lrwr.canon.toml, which is yours to edit."
)
TYPE_EPILOG = "Example: lrwr canon type notes/mill.md setting"
ORDER_EPILOG = (
    "Examples: lrwr canon order prologue.md ch2.md ch1.md · lrwr canon order --show."
    " The files named trade places among themselves; all others stay where they are."
)
POV_EPILOG = (
    "Examples: lrwr canon pov ch5 Nell · lrwr canon pov ch5:s2 OchraMags ·"
    ' lrwr canon pov chapters/05.md Nell · lrwr canon pov "book.md#The Mill" Nell'
)
MERGE_EPILOG = (
    'Examples: lrwr canon merge "Nell Tallow" Nell Wren ·'
    ' lrwr canon merge Nell Wren --as "Nell Tallow"'
)
SPLIT_EPILOG = "Example: lrwr canon split Mags Maggie"
RENAME_EPILOG = 'Example: lrwr canon rename "the narrator" "Nell Tallow"'
IGNORE_EPILOG = "Example: lrwr canon ignore Monday"
MOVE_EPILOG = "Example: lrwr canon move notes/mill.md places/mill.md"

CanonJsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
FileArgument = Annotated[
    str, typer.Argument(metavar="FILE", help="A file of the manuscript.")
]
CanonNameArgument = Annotated[
    str, typer.Argument(metavar="NAME", help="A name as the text has it.")
]
OtherArgument = Annotated[str, typer.Argument(metavar="NAME", help="The other name.")]


app = typer.Typer(name="canon", invoke_without_command=True, epilog=EPILOG)


@app.callback()
def canon_command(context: typer.Context, as_json: CanonJsonOption = False) -> None:
    """Show what you have decided, or decide: every guess gives way to it."""
    if context.invoked_subcommand is not None:
        return

    settings, output = start_session(context)

    async def show() -> None:
        async with open_decision_context(settings) as decision_context:
            if as_json:
                output.json(
                    decisions_as_json(decision_context.canon, decision_context.service)
                )
            else:
                show_decisions(decision_context.canon, decision_context.service, output)

    run_async(show())


@app.command("type", epilog=TYPE_EPILOG)
def canon_type_command(
    context: typer.Context,
    file: FileArgument,
    kind: Annotated[
        str,
        typer.Argument(
            metavar="TYPE", help="scene, character, setting or worldbuilding."
        ),
    ],
) -> None:
    """Say what a file is, whatever its front matter and its folder say."""
    choice = parse_choice(DocumentType, kind, "TYPE")
    _decide(
        context,
        lambda decision_context: DocumentTypeSet(
            decision_context.document(file), choice
        ),
    )


@app.command("order", epilog=ORDER_EPILOG)
def canon_order_command(
    context: typer.Context,
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="[FILE]...", help="Files, first to last."),
    ] = None,
    show: Annotated[
        bool, typer.Option("--show", help="Show the present order.")
    ] = False,
    as_json: CanonJsonOption = False,
) -> None:
    """Say in what order the story is told, or show it."""
    if files and not show:
        _decide(context, lambda decision_context: _new_order(decision_context, files))
        return
    settings, output = start_session(context)

    async def present() -> None:
        async with open_decision_context(settings) as decision_context:
            rows = _list_story_order(decision_context.order)
        if as_json:
            output.json(
                [
                    {"file": d, "chapters": chapters, "title": title}
                    for d, chapters, title in rows
                ]
            )
            return
        if not rows:
            output.story("No file of the story is known; run `lrwr ingest` first.")
            return
        cells = [[_numbers(chapters), title, d] for d, chapters, title in rows]
        output.table(["Chapter", "Title", "File"], cells, right={"Chapter"})

    run_async(present())


@app.command("pov", epilog=POV_EPILOG)
def canon_pov_command(
    context: typer.Context,
    place: Annotated[
        str,
        typer.Argument(
            metavar="CHAPTER|FILE", help='ch12, ch12:s2, a file, or "FILE#Heading".'
        ),
    ],
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="The character who sees it.")
    ],
) -> None:
    """Say from whose point of view a chapter, a scene or a file is told."""
    _decide(
        context,
        lambda decision_context: PointOfViewSet(
            parse_manuscript_location(
                place, decision_context.order, decision_context.document
            ),
            normalize_canon_name(name),
        ),
    )


@app.command("merge", epilog=MERGE_EPILOG)
def canon_merge_command(
    context: typer.Context,
    names: Annotated[
        list[str], typer.Argument(metavar="NAME NAME...", help="Names of one person.")
    ],
    known_as: Annotated[
        str,
        typer.Option(
            "--as", metavar="NAME", help="What to call that person; else the first."
        ),
    ] = "",
) -> None:
    """Say that these names are one person."""
    _decide(context, lambda _: NamesMerged(tuple(names), known_as))


@app.command("split", epilog=SPLIT_EPILOG)
def canon_split_command(
    context: typer.Context, one: CanonNameArgument, other: OtherArgument
) -> None:
    """Say that these two names are two people."""
    _decide(context, lambda _: NamesSplit(one, other))


@app.command("rename", epilog=RENAME_EPILOG)
def canon_rename_command(
    context: typer.Context,
    old: Annotated[str, typer.Argument(metavar="OLD", help="The name until now.")],
    new: Annotated[str, typer.Argument(metavar="NEW", help="The name from now on.")],
) -> None:
    """Say what to call a person. Your text stays as it is."""
    _decide(context, lambda _: NameRenamed(old, new))


@app.command("ignore", epilog=IGNORE_EPILOG)
def canon_ignore_command(context: typer.Context, name: CanonNameArgument) -> None:
    """Say that a word names nobody, though it looks like a name."""
    _decide(context, lambda _: NameIgnored(name))


@app.command("move", epilog=MOVE_EPILOG)
def canon_move_command(
    context: typer.Context,
    old: Annotated[str, typer.Argument(metavar="OLD", help="The path it had.")],
    new: Annotated[str, typer.Argument(metavar="NEW", help="The file it is now.")],
) -> None:
    """Carry what was decided about a file over to its new name."""

    def choose(decision_context: DecisionContext) -> Decision:
        return DocumentMoved(
            resolve_decided_document(decision_context.canon, old),
            decision_context.document(new),
        )

    _decide(context, choose)


@app.command("undo")
def canon_undo_command(context: typer.Context) -> None:
    """Take the last decision back."""
    _undo_or_redo(context, back=True)


@app.command("redo")
def canon_redo_command(context: typer.Context) -> None:
    """Make the decision that was taken back last again."""
    _undo_or_redo(context, back=False)


@app.command("check")
def canon_check_command(
    context: typer.Context, as_json: CanonJsonOption = False
) -> None:
    """List decisions about files, chapters and scenes that are not there."""
    settings, output = start_session(context)
    if run_async(_check(settings, output, as_json=as_json)):
        raise typer.Exit(int(ExitCode.NOT_FOUND))


def _decide(
    context: typer.Context, choose: Callable[[DecisionContext], Decision]
) -> None:
    settings, output = start_session(context)
    run_async(make_decision(settings, output, choose))


def _new_order(decision_context: DecisionContext, files: Sequence[str]) -> Decision:
    documents = list(dict.fromkeys(decision_context.document(file) for file in files))
    if len(documents) < 2:
        raise SettingsProblem(
            "One file alone has no order",
            hint="Name two or more, first to last; `lrwr canon order --show` shows all.",
        )
    for outline in decision_context.order.outlines.values():
        if outline.id in documents and outline.type is not DocumentType.SCENE:
            raise SettingsProblem(
                f"{outline.id} is a {outline.type} document and has no place in the story",
                hint=f"Say first that it is a scene: lrwr canon type {outline.id} scene",
            )
    return StoryOrderSet(
        merge_document_order(
            decision_context.order.story, decision_context.canon.order, documents
        )
    )


def _list_story_order(order: StoryOrder) -> list[tuple[DocumentId, list[int], str]]:
    return [
        (document, sorted(set(order.numbers[document])), order.outlines[document].title)
        for document in order.story
    ]


def _numbers(chapters: Sequence[int]) -> str:
    if not chapters:
        return ""
    first, last = chapters[0], chapters[-1]
    return str(first) if first == last else f"{first}-{last}"


def _undo_or_redo(context: typer.Context, *, back: bool) -> None:
    settings, output = start_session(context)

    async def turn() -> Decision | None:
        async with open_workspace(settings) as workspace:
            return workspace.canon.undo() if back else workspace.canon.redo()

    decision = run_async(turn())
    outcome, opposite = ("Undone", "redo") if back else ("Decided again", "undo")
    if decision is None:
        output.story(f"There is nothing to {'undo' if back else 'redo'}.")
        return
    reversal = "Bring it back" if back else "Take it back"
    output.answer(
        f"{outcome}: {format_decision(decision)}",
        StyledText(f" {reversal}: lrwr canon {opposite}", "faint"),
    )


async def _check(settings: Settings, output: Output, *, as_json: bool) -> bool:
    async with open_decision_context(settings) as decision_context:
        orphaned_documents = find_orphaned_decisions(
            decision_context.canon,
            document_ids=decision_context.known,
            is_there=decision_context.has,
        )
        places = find_orphaned_locations(decision_context.canon, decision_context.order)
    if as_json:
        output.json(
            {"files": orphaned_documents, "places": [str(place) for place in places]}
        )
    else:
        _show_orphaned(orphaned_documents, places, output)
    return bool(orphaned_documents or places)


def _show_orphaned(
    orphaned_documents: Sequence[OrphanedDecisions],
    places: Sequence[ManuscriptLocation],
    output: Output,
) -> None:
    for orphaned_decisions in orphaned_documents:
        words = ", ".join(orphaned_decisions.decisions)
        output.answer(
            StyledText(orphaned_decisions.document, "place"),
            f"  is not there ({words}).",
        )
        if orphaned_decisions.perhaps:
            paths = join([orphaned_decisions.document, orphaned_decisions.perhaps])
            output.answer(f"lrwr canon move {paths}", indent=4)
    for place in places:
        output.answer(
            StyledText(str(place), "place"), "  names no chapter or scene of that file."
        )
    if orphaned_documents or places:
        output.story("Nothing was forgotten: mend lrwr.canon.toml, or move as offered.")
    else:
        output.answer("Every file and chapter that you decided about is there.")
