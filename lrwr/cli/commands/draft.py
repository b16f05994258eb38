"""`lrwr draft`: the board of scenes, the brief of a scene, and the check of a draft."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from lrwr.app.container import open_workspace
from lrwr.app.draft_check import CheckedScene, check_scene, find_draft_subject
from lrwr.app.drafts import (
    SceneStatus,
    brief_scene,
    create_board_from_text,
    list_scene_states,
    load_board,
    open_draft_folder,
    write_board,
)
from lrwr.app.presenters.drafts import (
    brief_as_json,
    checked_scene_as_json,
    render_board_status,
    render_checked_scene,
    scene_status_as_json,
)
from lrwr.app.presenters.text import format_count
from lrwr.cli.runtime.options import JsonOption
from lrwr.cli.runtime.output import Output, start_session
from lrwr.cli.runtime.services import (
    create_progress_listener,
    open_story_services,
    run_async,
    run_with_cleanup,
)
from lrwr.core.drafting.board import Board, render_board
from lrwr.core.drafting.brief import (
    DEFAULT_BRIEF_TOKENS,
    LEAST_BRIEF_TOKENS,
    Brief,
    render_brief,
)
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
    " chapter.md · lrwr draft check ch11-s1 --to chapters/11.md --json"
)

app = typer.Typer(
    name="draft",
    help="Plan scenes on a board, get the brief of a scene, and check a draft.",
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
    and beats, which you edit. lrwr never writes into your manuscript.
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
    as_json: JsonOption = False,  # noqa: ARG001 - `start_session` reads it
) -> None:
    """Check a draft, at its place in the story, before it is part of it.

    Shows contradictions, names and facts that the story tells only later, what the card
    asks for and the draft lacks, repeated words, abrupt relations, what readers would
    learn, and how far it is from how you write. The draft is read in a temporary copy of
    the library; nothing is changed or sent. The exit code is 9 if there is a finding.
    """
    settings, output = start_session(context)
    # The folder is deleted after the event loop has ended: until then a thread of an
    # interrupted check may still write to it.
    with TemporaryDirectory(prefix="lrwr-draft-", ignore_cleanup_errors=True) as name:
        checked = run_with_cleanup(
            _check_draft(settings, output, scene, number, to, Path(name))
        )
    if output.as_json:
        output.json(checked_scene_as_json(checked))
    else:
        with output.paged():
            output.show(render_checked_scene(checked, every=every))
    if checked.needs_author:
        raise typer.Exit(int(ExitCode.CONTRADICTIONS))


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
        return await list_scene_states(workspace, folder, load_board(folder))


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
