"""`lrwr canon`: record, show, undo and check the user's decisions."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from shlex import join
from typing import Annotated

import typer

from lrwr.app.container import Workspace, open_workspace
from lrwr.app.presenters.canon import (
    decisions_as_json,
    describe_change,
    describe_next_step,
    list_story_order,
    render_decisions,
    render_points_of_view,
    story_order_as_json,
)
from lrwr.app.presenters.text import StyledText
from lrwr.cli.runtime.event_loop import run_async
from lrwr.cli.runtime.names import find_most_mentioned_name
from lrwr.cli.runtime.options import JsonOption, parse_choice
from lrwr.cli.runtime.output import Output, start_session
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
from lrwr.core.canon.model import (
    Canon,
    ManuscriptLocation,
    normalize_canon_name,
    normalize_canon_path,
)
from lrwr.core.canon.resolver import (
    OrphanedDecisions,
    find_orphaned_decisions,
    resolve_decided_document,
    resolve_document,
)
from lrwr.core.canon.service import CanonService
from lrwr.core.model.documents import DocumentId, DocumentType
from lrwr.core.model.errors import ExitCode, NotFound, SettingsProblem
from lrwr.core.retrieval.locations import (
    find_orphaned_locations,
    merge_document_order,
    parse_manuscript_location,
)
from lrwr.core.retrieval.story import StoryOrder, build_story_order
from lrwr.core.settings.library import SETTINGS_FILE_NAME, resolve_library
from lrwr.core.settings.model import Settings

EPILOG = (
    "Examples: lrwr canon · lrwr canon type notes/mill.md setting ·"
    ' lrwr canon merge "Nell Tallow" Wren · lrwr canon undo. Decisions are stored in'
    " lrwr.canon.toml, which you can also edit."
)
TYPE_EPILOG = "Example: lrwr canon type notes/mill.md setting"
ORDER_EPILOG = (
    "Examples: lrwr canon order prologue.md ch2.md ch1.md · lrwr canon order --show."
    " Only the files that you name are reordered; the others stay where they are."
)
POV_EPILOG = (
    "Examples: lrwr canon pov ch5 Nell · lrwr canon pov ch5:s2 OchraMags ·"
    ' lrwr canon pov 06-fog.md Nell · lrwr canon pov "book.md#The Mill" Nell'
)
MERGE_EPILOG = (
    'Examples: lrwr canon merge "Nell Tallow" Nell Wren ·'
    ' lrwr canon merge Nell Wren --as "Nell Tallow"'
)
SPLIT_EPILOG = "Example: lrwr canon split Mags Maggie"
RENAME_EPILOG = 'Example: lrwr canon rename "the narrator" "Nell Tallow"'
IGNORE_EPILOG = "Example: lrwr canon ignore Monday"
MOVE_EPILOG = "Example: lrwr canon move notes/mill.md places/mill.md"
UNDO_EPILOG = "Example: lrwr canon undo"
REDO_EPILOG = "Example: lrwr canon redo"
CHECK_EPILOG = "Examples: lrwr canon check · lrwr canon check --json"

FileArgument = Annotated[
    str, typer.Argument(metavar="FILE", help="A file of the manuscript.")
]
CanonNameArgument = Annotated[
    str, typer.Argument(metavar="NAME", help="A name as it appears in the text.")
]
OtherArgument = Annotated[str, typer.Argument(metavar="NAME", help="The other name.")]


@dataclass(frozen=True, slots=True)
class DecisionContext:
    """The decisions so far, and the documents that new ones can refer to.

    `service` records decisions. `root` is the library's folder. `order` is empty before
    the first ingest.
    """

    service: CanonService
    root: Path
    canon: Canon
    order: StoryOrder

    @property
    def known(self) -> list[DocumentId]:
        """The ids of all documents of the library, spelled as in decisions (Unicode
        NFC).
        """
        return [normalize_canon_path(document) for document in self.order.outlines]

    def document(self, text: str) -> DocumentId:
        """Return the document that `text` names: its id, its path, or the path's end.

        Relative paths start from the working directory. An existing file that was not
        ingested is accepted.

        Raises:
            NotFound: There is no such document, or more than one; the hint suggests
                some.
        """
        return resolve_document(
            text, document_ids=self.known, root=self.root, working_directory=Path.cwd()
        )

    def has(self, document: DocumentId) -> bool:
        """Return whether the file of `document` exists.

        False for a file outside of the library's folder that was not ingested.
        """
        spelled = {
            normalize_canon_path(outline): outline for outline in self.order.outlines
        }
        path = self.root / spelled.get(document, document)
        is_in_root = path.resolve().is_relative_to(self.root)
        return (is_in_root or document in spelled) and path.exists()


@asynccontextmanager
async def open_decision_context(settings: Settings) -> AsyncIterator[DecisionContext]:
    """Yield the decisions and the documents of the library; close it on exit.

    Raises:
        SettingsProblem: `lrwr.canon.toml` cannot be parsed.
        StoreProblem: The library cannot be read.
    """
    async with open_workspace(settings) as workspace:
        canon = workspace.canon.load()
        order = await _load_story_order(workspace, canon)
        yield DecisionContext(workspace.canon, workspace.library.root, canon, order)


async def make_decision(
    settings: Settings,
    output: Output,
    choose: Callable[[DecisionContext], Decision],
) -> None:
    """Store the decision that `choose` returns, and print what changed.

    Errors of `choose` are passed on.

    Raises:
        NotFound: The working directory is not in a library.
    """
    async with open_decision_context(settings) as decision_context:
        _require_library(decision_context, settings)
        decision = choose(decision_context)
        change = decision_context.service.decide(decision)
    if not change:
        output.answer("This was already decided; nothing changed.")
        return
    output.answer(
        describe_change(decision, change),
        StyledText(" To undo it: `lrwr canon undo`.", "faint"),
    )


app = typer.Typer(name="canon", invoke_without_command=True, epilog=EPILOG)


@app.callback()
def canon_command(context: typer.Context, as_json: JsonOption = False) -> None:
    """Show or record your decisions. They override lrwr's guesses."""
    if context.invoked_subcommand is not None:
        return
    settings, output = start_session(context)

    async def show() -> None:
        async with open_decision_context(settings) as decision_context:
            canon, service = decision_context.canon, decision_context.service
            if as_json:
                output.json(decisions_as_json(canon, service))
            else:
                with output.paged():
                    output.show(render_decisions(canon, service))

    run_async(show())


@app.command("type", epilog=TYPE_EPILOG)
def canon_type_command(
    context: typer.Context,
    file: FileArgument,
    kind: Annotated[
        str,
        typer.Argument(
            metavar="TYPE", help="One of scene, character, setting, worldbuilding."
        ),
    ],
) -> None:
    """Set the type of a file, overriding its front matter and its folder."""
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
        typer.Argument(
            metavar="[FILE]...", help="Files in story order, first to last."
        ),
    ] = None,
    show: Annotated[
        bool, typer.Option("--show", help="Show the current order.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Set the order of the story's files, or show it."""
    if files and not show:
        _decide(context, lambda decision_context: _new_order(decision_context, files))
        return
    settings, output = start_session(context)

    async def present() -> None:
        async with open_decision_context(settings) as decision_context:
            order = decision_context.order
        if as_json:
            output.json(story_order_as_json(order))
        elif order.story:
            with output.paged():
                output.show([list_story_order(order)])
        else:
            output.answer("No story files found. Run `lrwr ingest` first.")

    run_async(present())


@app.command("pov", epilog=POV_EPILOG)
def canon_pov_command(
    context: typer.Context,
    place: Annotated[
        str,
        typer.Argument(
            metavar="[CHAPTER|FILE]", help='ch12, ch12:s2, a file, or "FILE#Heading".'
        ),
    ] = "",
    name: Annotated[
        str, typer.Argument(metavar="[NAME]", help="The point-of-view character.")
    ] = "",
) -> None:
    """Set the point-of-view character of a chapter, a scene or a file.

    Without arguments, list the points of view that are known.
    """
    if place and not name:
        raise typer.BadParameter("Name the point-of-view character, too.")
    if not place:
        _list_points_of_view(context)
        return
    _decide(
        context,
        lambda decision_context: PointOfViewSet(
            parse_manuscript_location(
                place, decision_context.order, decision_context.document
            ),
            normalize_canon_name(name),
        ),
    )


def _list_points_of_view(context: typer.Context) -> None:
    settings, output = start_session(context)

    async def present() -> None:
        async with open_workspace(settings) as workspace:
            bible = await workspace.bible().read()
        with output.paged():
            output.show(render_points_of_view(bible.scenes))

    run_async(present())


@app.command("merge", epilog=MERGE_EPILOG)
def canon_merge_command(
    context: typer.Context,
    names: Annotated[
        list[str],
        typer.Argument(metavar="NAME NAME...", help="Names of one character."),
    ],
    known_as: Annotated[
        str,
        typer.Option(
            "--as",
            metavar="NAME",
            help="The name to use. Default: the one most mentioned in the text.",
        ),
    ] = "",
) -> None:
    """Treat several names as one character."""
    settings, output = start_session(context)

    async def merge() -> None:
        main = known_as or await find_most_mentioned_name(settings, output, names)
        await make_decision(settings, output, lambda _: NamesMerged(tuple(names), main))

    run_async(merge())


@app.command("split", epilog=SPLIT_EPILOG)
def canon_split_command(
    context: typer.Context, one: CanonNameArgument, other: OtherArgument
) -> None:
    """Treat two names as different characters."""
    _decide(context, lambda _: NamesSplit(one, other))


@app.command("rename", epilog=RENAME_EPILOG)
def canon_rename_command(
    context: typer.Context,
    old: Annotated[str, typer.Argument(metavar="OLD", help="The current name.")],
    new: Annotated[str, typer.Argument(metavar="NEW", help="The new name.")],
) -> None:
    """Change the name that lrwr uses for a character. Your text is not changed."""
    _decide(context, lambda _: NameRenamed(old, new))


@app.command("ignore", epilog=IGNORE_EPILOG)
def canon_ignore_command(context: typer.Context, name: CanonNameArgument) -> None:
    """Declare that a word is not a character's name."""
    _decide(context, lambda _: NameIgnored(name))


@app.command("move", epilog=MOVE_EPILOG)
def canon_move_command(
    context: typer.Context,
    old: Annotated[str, typer.Argument(metavar="OLD", help="The old path.")],
    new: Annotated[str, typer.Argument(metavar="NEW", help="The new path.")],
) -> None:
    """Move the decisions about a file to its new path."""

    def choose(decision_context: DecisionContext) -> Decision:
        return DocumentMoved(
            resolve_decided_document(decision_context.canon, old),
            decision_context.document(new),
        )

    _decide(context, choose)


@app.command("undo", epilog=UNDO_EPILOG)
def canon_undo_command(context: typer.Context) -> None:
    """Undo the last decision; in `characters`, `gaps` and `check` only one of theirs."""
    _undo_or_redo(context, back=True)


@app.command("redo", epilog=REDO_EPILOG)
def canon_redo_command(context: typer.Context) -> None:
    """Redo the decision that was undone last."""
    _undo_or_redo(context, back=False)


@app.command("check", epilog=CHECK_EPILOG)
def canon_check_command(context: typer.Context, as_json: JsonOption = False) -> None:
    """List decisions about files, chapters and scenes that do not exist."""
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
            "An order needs at least two files",
            hint="Name them first to last; `lrwr canon order --show` lists all.",
        )
    for outline in decision_context.order.outlines.values():
        if outline.id in documents and outline.type is not DocumentType.SCENE:
            raise SettingsProblem(
                f"{outline.id} is a {outline.type} document, not part of the story text",
                hint=f"Make it a scene first: `lrwr canon type {outline.id} scene`.",
            )
    return StoryOrderSet(
        merge_document_order(
            decision_context.order.story, decision_context.canon.order, documents
        )
    )


def _undo_or_redo(context: typer.Context, *, back: bool) -> None:
    settings, output = start_session(context)
    group = context.parent.info_name or "" if context.parent else ""

    async def turn() -> Decision | None:
        async with open_workspace(settings) as workspace:
            return workspace.canon.undo(group) if back else workspace.canon.redo()

    decision = run_async(turn())
    outcome, opposite = ("Undone", "redo") if back else ("Redone", "undo")
    if decision is None:
        output.answer(f"There is nothing to {'undo' if back else 'redo'}.")
        return
    output.answer(
        f"{outcome}: {format_decision(decision)}{describe_next_step(decision)}",
        StyledText(f" To {opposite} it: `lrwr canon {opposite}`.", "faint"),
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
            f"  does not exist ({words}).",
        )
        if orphaned_decisions.perhaps:
            paths = join([orphaned_decisions.document, orphaned_decisions.perhaps])
            output.answer(f"If it was renamed: lrwr canon move {paths}", indent=4)
    for place in places:
        output.answer(
            StyledText(str(place), "place"), "  is not a chapter or scene of that file."
        )
    if orphaned_documents or places:
        output.info(
            "The decisions are still stored. Edit `lrwr.canon.toml`, or run the commands"
            " above."
        )
    else:
        output.answer("All files and chapters in your decisions exist.")


async def _load_story_order(workspace: Workspace, canon: Canon) -> StoryOrder:
    if not workspace.library.database.exists():
        return build_story_order([], [], canon)
    outlines = await workspace.passages.outlines()
    return build_story_order(outlines, workspace.settings.manuscript.order, canon)


def _require_library(decision_context: DecisionContext, settings: Settings) -> None:
    # Without this check, a decision in a wrong folder would create a canon file there.
    settings_file = decision_context.root / SETTINGS_FILE_NAME
    state_dir = resolve_library(settings).state_dir
    paths = (settings_file, decision_context.service.path, state_dir)
    if not any(path.exists() for path in paths):
        raise NotFound(
            f"There is no library in {decision_context.root}",
            hint="Run `lrwr ingest FOLDER` in the folder of your manuscript.",
        )
