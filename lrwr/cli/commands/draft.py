"""`lrwr draft`: the board of scenes, and the brief of a scene."""

from typing import Annotated

import typer

from lrwr.app.container import open_workspace
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
    render_board_status,
    scene_status_as_json,
)
from lrwr.app.presenters.text import format_count
from lrwr.cli.runtime.options import JsonOption
from lrwr.cli.runtime.output import Output, start_session
from lrwr.cli.runtime.services import open_story_services, run_async
from lrwr.core.drafting.board import Board, render_board
from lrwr.core.drafting.brief import (
    DEFAULT_BRIEF_TOKENS,
    LEAST_BRIEF_TOKENS,
    Brief,
    render_brief,
)
from lrwr.core.model.errors import SettingsProblem
from lrwr.core.settings.model import Settings

EPILOG = (
    "Examples: lrwr draft · lrwr draft board --from-text · lrwr draft brief ch11-s1"
    " --tokens 3000. Plans and drafts are in a folder of their own, which is never read"
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

app = typer.Typer(
    name="draft",
    help="Plan scenes on a board, and get the brief of a scene.",
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
