"""`lrwr draft`: the board of scenes, the brief of a scene, the check of a draft, and what
becomes of it.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from lrwr.app.container import open_workspace
from lrwr.app.draft_check import CheckedScene, check_scene, find_draft_subject
from lrwr.app.draft_decisions import Draft, DraftDesk, LedgerRow
from lrwr.app.drafts import (
    SceneStatus,
    brief_scene,
    create_board_from_text,
    describe_misplaced_file,
    find_tidy_hints,
    list_scene_states,
    load_placed_board,
    open_draft_folder,
    write_board,
)
from lrwr.app.presenters.drafts import (
    brief_as_json,
    checked_scene_as_json,
    ledger_row_as_json,
    render_board_status,
    render_checked_scene,
    render_ledger,
    render_tidy_hints,
    scene_status_as_json,
)
from lrwr.app.presenters.text import format_count
from lrwr.cli.commands import draft_plan, draft_proposals
from lrwr.cli.runtime.event_loop import run_async, run_with_cleanup
from lrwr.cli.runtime.options import JsonOption
from lrwr.cli.runtime.output import Output, start_session
from lrwr.cli.runtime.services import (
    create_progress_listener,
    open_story_services,
)
from lrwr.core.drafting.board import Board, render_board
from lrwr.core.drafting.brief import (
    DEFAULT_BRIEF_TOKENS,
    LEAST_BRIEF_TOKENS,
    Brief,
    render_brief,
)
from lrwr.core.drafting.tidiness import TidyHint
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.drafts import DraftEntry
from lrwr.core.model.errors import ExitCode, SettingsProblem
from lrwr.core.settings.model import Settings

EPILOG = (
    "Examples: lrwr draft · lrwr draft board --from-text · lrwr draft brief ch11-s1"
    " --tokens 3000 · lrwr draft check ch11-s1. Plans and drafts are in a folder of their own, which is never read"
    " as manuscript."
)
BOARD_EPILOG = (
    "Examples: lrwr draft board · lrwr draft board --from-text ·"
    " lrwr draft board --from-text --print"
)
BRIEF_EPILOG = (
    "Examples: lrwr draft brief ch11-s1 · lrwr draft brief ch11-s1 --tokens 1500 ·"
    ' lrwr draft brief "The tide bell" --json'
)

CHECK_EPILOG = (
    "Examples: lrwr draft check ch11-s1 · lrwr draft check ch11-s1 2 · lrwr draft check"
    " chapter.md · lrwr draft check ch11-s1 --to chapters/11.md --json · lrwr"
    " draft check ch11-s1 --model"
)

ACCEPT_EPILOG = (
    "Examples: lrwr draft accept ch11-s1 --to chapters/11.md · lrwr draft accept"
    " ch11-s1 2 · lrwr draft accept Perdita --to notes/characters/Perdita.md. To undo"
    " it: lrwr draft undo"
)
REJECT_EPILOG = "Examples: lrwr draft reject ch11-s1 · lrwr draft reject ch11-s1 2"
UNDO_EPILOG = "Examples: lrwr draft undo · lrwr draft undo ch11-s1"
SHOW_EPILOG = "Examples: lrwr draft show ch11-s1 · lrwr draft show ch11-s1 2 --diff"
TIDY_EPILOG = "Examples: lrwr draft tidy · lrwr draft tidy --json"
LEDGER_EPILOG = "Examples: lrwr draft ledger · lrwr draft ledger --json"

app = typer.Typer(
    name="draft",
    help="Plan scenes on a board, and check and accept drafts of them.",
    invoke_without_command=True,
    epilog=EPILOG,
)

SceneArgument = Annotated[
    str,
    typer.Argument(metavar="SCENE", help="The id that `lrwr draft` shows, or a title."),
]


@app.callback()
def draft_command(
    context: typer.Context,
    as_json: JsonOption = False,  # noqa: ARG001 - `start_session` reads it
) -> None:
    """Show where each scene of your board stands.

    The board is `board.md` in the folder of drafts: headings for parts, chapters, scenes
    and beats, which you edit. Only `lrwr draft accept` adds a file to your manuscript.
    """
    if context.invoked_subcommand is None:
        settings, output = start_session(context)
        _show_board(run_async(_read_states(settings, output)), output)


@app.command("board", epilog=BOARD_EPILOG)
def draft_board_command(
    context: typer.Context,
    from_text: Annotated[
        bool,
        typer.Option("--from-text", help="Make the board of your ingested manuscript."),
    ] = False,
    print_only: Annotated[
        bool, typer.Option("--print", help="Print the board instead of writing it.")
    ] = False,
    as_json: JsonOption = False,  # noqa: ARG001 - `start_session` reads it
) -> None:
    """Show the board, or make that of an existing book.

    With --from-text, each scene of your text gets a card: its point of view, people,
    place, length, key sentence, file and lines. A board that you changed is not
    overwritten.
    """
    settings, output = start_session(context)
    if print_only and not from_text:
        hint = "Add `--from-text`."
        raise SettingsProblem("`--print` needs `--from-text`", hint=hint)
    if not from_text:
        _show_board(run_async(_read_states(settings, output)), output)
        return
    board, path = run_async(_make_board(settings, output, write=not print_only))
    if path:
        scenes = format_count(len(board.cards), "scene")
        output.info(f"{scenes} written to {path}.")
        if output.as_json:
            output.json({"file": path, "scenes": len(board.cards)})
    elif output.as_json:
        output.json({"file": None, "board": render_board(board)})
    else:
        output.write_piece(render_board(board))
        output.end_pieces()


@app.command("brief", epilog=BRIEF_EPILOG)
def draft_brief_command(
    context: typer.Context,
    scene: SceneArgument,
    tokens: Annotated[
        int,
        typer.Option(
            min=LEAST_BRIEF_TOKENS,
            max=200_000,
            metavar="N",
            help="Use at most N tokens, of about four characters each.",
        ),
    ] = DEFAULT_BRIEF_TOKENS,
    as_json: JsonOption = False,  # noqa: ARG001 - `start_session` reads it
) -> None:
    """Show what a scene needs, numbered, with file and line.

    Everything is from the story before the scene: for each person facts, relations, last
    scene and lines; the place, rules, open questions, the end of the scene before, and
    passages that show how your text sounds. Nothing is sent to any service.
    """
    settings, output = start_session(context)
    brief = run_async(_read_brief(settings, output, scene, tokens))
    if output.as_json:
        output.json(brief_as_json(brief))
        return
    with output.paged():
        for line in render_brief(brief).rstrip("\n").split("\n"):
            output.answer(line)
    if brief.left_out:
        entries = format_count(brief.left_out, "entry", "entries")
        output.notice(f"{entries} left out: they do not fit into {tokens:,} tokens.")


NumberArgument = Annotated[
    int | None,
    typer.Argument(
        metavar="[N]", min=1, help="The number of the proposal; the latest if left out."
    ),
]


@app.command("check", epilog=CHECK_EPILOG)
def draft_check_command(
    context: typer.Context,
    scene: Annotated[
        str,
        typer.Argument(metavar="SCENE|FILE", help="A scene of the board, or a file."),
    ],
    number: NumberArgument = None,
    to: Annotated[
        Path | None,
        typer.Option("--to", metavar="FILE", help="The file that it is to become."),
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help="Show everything that it would make known.")
    ] = False,
    model: Annotated[
        bool,
        typer.Option(
            "--model",
            help="Let the language model compare it with the card's beats and the brief.",
        ),
    ] = False,
    as_json: JsonOption = False,  # noqa: ARG001 - `start_session` reads it
) -> None:
    """Check a draft, at its place in the story, before it is part of it.

    Shows contradictions, names and facts that the story tells only later, what the card
    asks for and the draft lacks, repeated words, abrupt relations, what readers would
    learn, and how far it is from how you write. The draft is read in a temporary copy of
    the library; nothing is changed, nor sent without --model. The exit code is 9 if there is a finding.
    """
    settings, output = start_session(context)
    if model and to is not None:
        raise SettingsProblem(
            "`--model` is for scenes of the board, `--to` for other files",
            hint="Leave out one of them.",
        )
    # The folder is deleted after the event loop has ended: until then a thread of an
    # interrupted check may still write to it.
    with TemporaryDirectory(prefix="lrwr-draft-", ignore_cleanup_errors=True) as name:
        place = Path(name)
        checked = run_with_cleanup(
            draft_proposals.check_with_model(settings, output, scene, number, place)
            if model
            else _check_draft(settings, output, scene, number, to, place)
        )
    if output.as_json:
        output.json(checked_scene_as_json(checked))
    else:
        with output.paged():
            output.show(render_checked_scene(checked, every=every))
    if checked.needs_author:
        raise typer.Exit(int(ExitCode.CONTRADICTIONS))


DraftArgument = Annotated[
    str,
    typer.Argument(
        metavar="SCENE|SHEET", help="A scene of the board, or a sheet's name."
    ),
]


@app.command("accept", epilog=ACCEPT_EPILOG)
def draft_accept_command(
    context: typer.Context,
    scene: DraftArgument,
    number: NumberArgument = None,
    to: Annotated[
        Path | None,
        typer.Option(
            "--to", metavar="FILE", help="The new file; that of the card if left out."
        ),
    ] = None,
    as_json: JsonOption = False,  # noqa: ARG001 - `start_session` reads it
) -> None:
    """Make a draft a new file of your manuscript.

    This is the only command that writes into the manuscript's folder: it creates a file
    that does not exist yet, whole or not at all, and never changes one. Run `lrwr
    ingest` afterwards.
    """
    settings, output = start_session(context)
    entry = run_async(_accept(settings, output, scene, number, to))
    output.info(f"{entry.file} created. Run `lrwr ingest` to read it.")
    if output.as_json:
        output.json(ledger_row_as_json(LedgerRow(entry, 1.0)))


@app.command("reject", epilog=REJECT_EPILOG)
def draft_reject_command(
    context: typer.Context, scene: DraftArgument, number: NumberArgument = None
) -> None:
    """Record that a draft is rejected; commands then use an earlier one.

    The draft's file stays in the folder of drafts.
    """
    settings, output = start_session(context)
    entry = run_async(_reject(settings, output, scene, number))
    output.info(f"{entry.key} is rejected.")


@app.command("undo", epilog=UNDO_EPILOG)
def draft_undo_command(
    context: typer.Context,
    scene: Annotated[
        str,
        typer.Argument(
            metavar="[SCENE]", help="The scene; the last accepted if left out."
        ),
    ] = "",
) -> None:
    """Remove the file of an accepted draft, unless you changed it; the draft stays."""
    settings, output = start_session(context)
    entry = run_async(_undo(settings, output, scene))
    output.info(f"{entry.file} removed. Run `lrwr ingest` to update the library.")


@app.command("show", epilog=SHOW_EPILOG)
def draft_show_command(
    context: typer.Context,
    scene: DraftArgument,
    number: NumberArgument = None,
    diff: Annotated[
        bool,
        typer.Option(
            "--diff", help="Compare with the draft before, or with the accepted file."
        ),
    ] = False,
    as_json: JsonOption = False,  # noqa: ARG001 - `start_session` reads it
) -> None:
    """Print a draft, or what differs from the one before."""
    settings, output = start_session(context)
    draft, lines = run_async(_show(settings, output, scene, number, diff=diff))
    if output.as_json:
        output.json({"file": draft.file.path, "lines": lines})
        return
    with output.paged():
        for line in lines:
            output.answer(line)


@app.command("ledger", epilog=LEDGER_EPILOG)
def draft_ledger_command(
    context: typer.Context,
    as_json: JsonOption = False,  # noqa: ARG001 - `start_session` reads it
) -> None:
    """List what became of each draft, who wrote it, and how much of it still stands.

    Drafts of scenes about which you have not decided are at the end.
    """
    settings, output = start_session(context)
    rows = run_async(_list_ledger(settings, output))
    if output.as_json:
        output.json([ledger_row_as_json(row) for row in rows])
        return
    if not rows:
        output.info("There are no drafts.")
        return
    with output.paged():
        output.show(render_ledger(rows))


@app.command("tidy", epilog=TIDY_EPILOG)
def draft_tidy_command(
    context: typer.Context,
    as_json: JsonOption = False,  # noqa: ARG001 - `start_session` reads it
) -> None:
    """List names that may be one person, people of whom nothing is known, and plans that
    belong to nothing; each with the command or file to tidy it up. Nothing is changed.
    """
    settings, output = start_session(context)
    hints = run_async(_find_hints(settings, output))
    if output.as_json:
        output.json(hints)
        return
    with output.paged():
        output.show(render_tidy_hints(hints))


app.command("write", epilog=draft_proposals.WRITE_EPILOG)(
    draft_proposals.draft_write_command
)
app.command("revise", epilog=draft_proposals.REVISE_EPILOG)(
    draft_proposals.draft_revise_command
)
app.command("plan", epilog=draft_plan.PLAN_EPILOG)(draft_plan.draft_plan_command)
app.add_typer(draft_proposals.prompts_app)


async def _find_hints(settings: Settings, output: Output) -> list[TidyHint]:
    async with open_story_services(settings, output) as workspace:
        return await find_tidy_hints(workspace, open_draft_folder(workspace))


@asynccontextmanager
async def _open_desk(settings: Settings, output: Output) -> AsyncIterator[DraftDesk]:
    async with open_workspace(settings, say=output.info) as workspace:
        yield DraftDesk(workspace, open_draft_folder(workspace))


async def _accept(
    settings: Settings, output: Output, scene: str, number: int | None, to: Path | None
) -> DraftEntry:
    async with open_workspace(settings, say=output.info) as workspace:
        folder = open_draft_folder(workspace)
        desk = DraftDesk(workspace, folder)
        draft = await desk.find(scene, number)
        entry = await desk.accept(draft, to)
        file = DocumentId(entry.file)
        remark = await describe_misplaced_file(workspace, folder, draft, file)
    if remark:
        output.warn(remark)
    return entry


async def _reject(
    settings: Settings, output: Output, scene: str, number: int | None
) -> DraftEntry:
    async with _open_desk(settings, output) as desk:
        return await desk.reject(await desk.find(scene, number))


async def _undo(settings: Settings, output: Output, scene: str) -> DraftEntry:
    async with _open_desk(settings, output) as desk:
        return await desk.undo(scene)


async def _show(
    settings: Settings, output: Output, scene: str, number: int | None, *, diff: bool
) -> tuple[Draft, list[str]]:
    async with _open_desk(settings, output) as desk:
        draft = await desk.find(scene, number)
        lines = await desk.compare(draft) if diff else draft.file.text.splitlines()
        return draft, lines


async def _list_ledger(settings: Settings, output: Output) -> list[LedgerRow]:
    async with _open_desk(settings, output) as desk:
        return await desk.list_ledger()


async def _check_draft(
    settings: Settings,
    output: Output,
    scene: str,
    number: int | None,
    to: Path | None,
    place: Path,
) -> CheckedScene:
    async with open_story_services(settings, output) as workspace:
        folder = open_draft_folder(workspace)
        subject = await find_draft_subject(workspace, folder, scene, number, to)
        with output.progress("Checking", None) as advance:
            emit = create_progress_listener(advance, output)
            return await check_scene(workspace, subject, place, emit)


async def _read_states(settings: Settings, output: Output) -> list[SceneStatus]:
    async with open_workspace(settings, say=output.info) as workspace:
        folder = open_draft_folder(workspace)
        board = await load_placed_board(workspace, folder)
        return await list_scene_states(workspace, folder, board)


async def _make_board(
    settings: Settings, output: Output, *, write: bool
) -> tuple[Board, str]:
    async with open_story_services(settings, output) as workspace:
        board = await create_board_from_text(workspace)
        folder = open_draft_folder(workspace)
        return board, write_board(folder, board) if write else ""


async def _read_brief(
    settings: Settings, output: Output, scene: str, tokens: int
) -> Brief:
    async with open_story_services(settings, output) as workspace:
        folder = open_draft_folder(workspace)
        return await brief_scene(workspace, folder, scene, tokens)


def _show_board(statuses: list[SceneStatus], output: Output) -> None:
    if output.as_json:
        output.json([scene_status_as_json(status) for status in statuses])
        return
    with output.paged():
        output.show(render_board_status(statuses))
