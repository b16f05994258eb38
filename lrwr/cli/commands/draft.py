"""`lrwr draft`: the board of scenes, the brief of a scene, the check of a draft, and what
becomes of it.
"""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from lrwr.app.container import open_workspace
from lrwr.app.draft_check import CheckedScene, check_scene, find_draft_subject
from lrwr.app.drafts import (
    SceneStatus,
    ask_plan_questions,
    brief_scene,
    create_board_from_text,
    find_tidy_hints,
    list_scene_states,
    load_placed_board,
    open_draft_folder,
    write_board,
)
from lrwr.app.plan_proposals import (
    PlanProposal,
    PlanRequest,
    plan_suggestions,
    suggest_plan,
)
from lrwr.app.presenters.drafts import (
    brief_as_json,
    checked_scene_as_json,
    render_board_status,
    render_checked_scene,
    render_plan_questions,
    render_tidy_hints,
    scene_status_as_json,
)
from lrwr.app.presenters.proposals import (
    describe_enough,
    plan_proposal_as_json,
    plan_request_as_json,
    render_plan_proposal,
)
from lrwr.app.presenters.text import StyledText, format_count, format_tokens_and_price
from lrwr.cli.commands import draft_decisions, draft_proposals
from lrwr.cli.commands.draft_proposals import (
    BudgetOption,
    DryRunOption,
    PromptOption,
    ProposalArgument,
    show_messages,
)
from lrwr.cli.runtime.event_loop import run_async, run_with_cleanup
from lrwr.cli.runtime.options import JsonOption, check_budget, parse_choice
from lrwr.cli.runtime.output import Output, start_session
from lrwr.cli.runtime.services import (
    MODEL_SERVICES,
    announce_first_use,
    create_progress_listener,
    open_story_services,
    prompt_for_consent,
)
from lrwr.core.drafting.board import Board, render_board
from lrwr.core.drafting.brief import (
    DEFAULT_BRIEF_TOKENS,
    LEAST_BRIEF_TOKENS,
    Brief,
    render_brief,
)
from lrwr.core.drafting.plan_questions import PlanQuestion, PlanStep, TidyHint
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

TIDY_EPILOG = "Examples: lrwr draft tidy · lrwr draft tidy --json"


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


@app.command("check", epilog=CHECK_EPILOG)
def draft_check_command(
    context: typer.Context,
    scene: Annotated[
        str,
        typer.Argument(metavar="SCENE|FILE", help="A scene of the board, or a file."),
    ],
    number: ProposalArgument = None,
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


app.command("accept", epilog=draft_decisions.ACCEPT_EPILOG)(
    draft_decisions.draft_accept_command
)
app.command("reject", epilog=draft_decisions.REJECT_EPILOG)(
    draft_decisions.draft_reject_command
)
app.command("undo", epilog=draft_decisions.UNDO_EPILOG)(
    draft_decisions.draft_undo_command
)
app.command("show", epilog=draft_decisions.SHOW_EPILOG)(
    draft_decisions.draft_show_command
)
app.command("ledger", epilog=draft_decisions.LEDGER_EPILOG)(
    draft_decisions.draft_ledger_command
)
app.command("write", epilog=draft_proposals.WRITE_EPILOG)(
    draft_proposals.draft_write_command
)
app.command("revise", epilog=draft_proposals.REVISE_EPILOG)(
    draft_proposals.draft_revise_command
)
app.add_typer(draft_proposals.prompts_app)


async def _find_hints(settings: Settings, output: Output) -> list[TidyHint]:
    async with open_story_services(settings, output) as workspace:
        return await find_tidy_hints(workspace, open_draft_folder(workspace))


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


PLAN_EPILOG = (
    "Examples: lrwr draft plan intent · lrwr draft plan scenes --json · lrwr draft plan"
    " scenes --suggest --dry-run · lrwr draft plan scenes --suggest"
)


def draft_plan_command(
    context: typer.Context,
    step: Annotated[
        str,
        typer.Argument(
            metavar="STEP", help="intent, sheets, parts, chapters or scenes."
        ),
    ],
    suggest: Annotated[
        bool,
        typer.Option("--suggest", help="Let the language model suggest answers."),
    ] = False,
    dry_run: DryRunOption = False,
    budget: BudgetOption = None,
    show_prompt: PromptOption = False,
    as_json: JsonOption = False,  # noqa: ARG001 - `start_session` reads it
) -> None:
    """List what your plan leaves open, as questions with the place for the answer.

    They are about scenes that are not in the manuscript yet. Nothing is written or sent,
    unless with --suggest: then a language model answers, and its answers are inserted
    at these places. What your files say stays.
    """
    settings, output = start_session(context, {"model.budget": check_budget(budget)})
    chosen = parse_choice(PlanStep, step, "STEP")
    if not suggest:
        if dry_run or show_prompt:
            raise SettingsProblem(
                "These options need `--suggest`", hint="Add `--suggest`."
            )
        _show_questions(run_async(_ask_questions(settings, output, chosen)), output)
    elif dry_run or show_prompt:
        request = run_async(_plan(settings, output, chosen))
        _show_request(request, output, shows_prompt=show_prompt)
    else:
        _show_proposal(run_async(_suggest(settings, output, chosen)), output)


def _show_questions(questions: list[PlanQuestion], output: Output) -> None:
    if output.as_json:
        output.json(questions)
        return
    with output.paged():
        output.show(render_plan_questions(questions))


def _show_request(request: PlanRequest, output: Output, *, shows_prompt: bool) -> None:
    if output.as_json:
        output.json(plan_request_as_json(request, shows_prompt=shows_prompt))
    elif request.prompt is None:
        output.answer("Nothing is open.")
    elif shows_prompt:
        show_messages([request.prompt], output)
    else:
        count = format_count(len(request.questions), "question")
        usage = request.prompt.estimate()
        cost = format_tokens_and_price(usage, request.cost, about=True)
        output.answer(f"{request.model}, one call about {count}: {cost}.")
        if request.enough:
            output.answer(describe_enough(request.enough))


def _show_proposal(proposal: PlanProposal, output: Output) -> None:
    if output.as_json:
        output.json(plan_proposal_as_json(proposal))
    else:
        with output.paged():
            output.show(render_plan_proposal(proposal))
    calls = format_count(proposal.usage.calls, "call")
    cost = format_tokens_and_price(proposal.usage, proposal.cost, about=False)
    output.info(StyledText(f"{proposal.model}, {calls}: {cost}.", "faint"))


async def _ask_questions(
    settings: Settings, output: Output, step: PlanStep
) -> list[PlanQuestion]:
    async with open_workspace(settings, say=output.info) as workspace:
        return await ask_plan_questions(workspace, open_draft_folder(workspace), step)


async def _plan(settings: Settings, output: Output, step: PlanStep) -> PlanRequest:
    async with open_workspace(settings, say=output.info) as workspace:
        return await plan_suggestions(workspace, open_draft_folder(workspace), step)


async def _suggest(settings: Settings, output: Output, step: PlanStep) -> PlanProposal:
    async with open_workspace(settings, say=output.info) as workspace:
        prompt_for_consent(workspace, output, *MODEL_SERVICES, as_json=output.as_json)
        announce_first_use(workspace, output, *MODEL_SERVICES)
        folder = open_draft_folder(workspace)
        return await suggest_plan(workspace, folder, step, output.info)


app.command("plan", epilog=PLAN_EPILOG)(draft_plan_command)
