"""`lrwr draft write` and `revise`: proposals for scenes by a language model."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from lrwr.app.container import open_workspace
from lrwr.app.draft_check import CheckedScene
from lrwr.app.draft_prompts import (
    PromptState,
    create_prompt_file,
    list_prompts,
    reset_prompt,
)
from lrwr.app.drafts import open_draft_folder
from lrwr.app.presenters.proposals import (
    describe_writing_cost,
    prompt_as_json,
    proposal_plan_as_json,
    render_prompts,
    render_proposal_plan,
    render_written_proposal,
    written_proposal_as_json,
)
from lrwr.app.presenters.text import StyledText
from lrwr.app.proposals import (
    ProposalOrder,
    ProposalPlan,
    ProposalWriter,
    WrittenProposal,
)
from lrwr.cli.runtime.editor import open_file_location
from lrwr.cli.runtime.event_loop import run_async, run_with_cleanup
from lrwr.cli.runtime.options import JsonOption, check_budget, parse_choice
from lrwr.cli.runtime.output import Output, start_session
from lrwr.cli.runtime.services import (
    MODEL_SERVICES,
    announce_first_use,
    open_story_services,
    prompt_for_consent,
)
from lrwr.core.drafting.brief import DEFAULT_BRIEF_TOKENS, LEAST_BRIEF_TOKENS
from lrwr.core.drafting.model_steps import StepPrompt
from lrwr.core.drafting.prompts import PromptName
from lrwr.core.drafting.steps import MAX_ROUNDS
from lrwr.core.model.errors import ExitCode
from lrwr.core.settings.model import Settings
from lrwr.tui.queries.passages import FileLocation

WRITE_EPILOG = (
    "Examples: lrwr draft write ch11-s1 --dry-run · lrwr draft write ch11-s1 · lrwr draft"
    " write ch11-s1 --again --budget 0.20 · lrwr draft write ch11-s1 --show-prompt"
)
REVISE_EPILOG = (
    "Examples: lrwr draft revise ch11-s1 · lrwr draft revise ch11-s1 2 --rounds 2 · lrwr"
    " draft revise ch11-s1 --dry-run"
)


PROMPTS_EPILOG = (
    "Examples: lrwr draft prompts · lrwr draft prompts show write · lrwr draft prompts"
    " edit write · lrwr draft prompts reset write"
)
SHOW_EPILOG = (
    "Examples: lrwr draft prompts show write · lrwr draft prompts show review --json"
)
EDIT_EPILOG = "Example: lrwr draft prompts edit write"
RESET_EPILOG = "Example: lrwr draft prompts reset write"

prompts_app = typer.Typer(
    name="prompts",
    help="Show and change the prompts of `draft write` and `draft revise`.",
    invoke_without_command=True,
    epilog=PROMPTS_EPILOG,
)


class Stride(StrEnum):
    """How much of a scene is written with one call."""

    SCENE = "scene"
    BEAT = "beat"


SceneArgument = Annotated[
    str,
    typer.Argument(metavar="SCENE", help="The id that `lrwr draft` shows, or a title."),
]
ProposalArgument = Annotated[
    int | None,
    typer.Argument(
        metavar="[N]", min=1, help="The number of the proposal; the latest if left out."
    ),
]
BriefTokensOption = Annotated[
    int,
    typer.Option(
        "--tokens",
        min=LEAST_BRIEF_TOKENS,
        max=200_000,
        metavar="N",
        help="Send a brief of at most N tokens.",
    ),
]
RoundsOption = Annotated[
    int | None,
    typer.Option(
        "--rounds",
        min=0,
        max=MAX_ROUNDS,
        metavar="N",
        help="Revise it N times at most; `draft.rounds` if left out.",
    ),
]
StrideOption = Annotated[
    str | None,
    typer.Option(
        "--stride",
        metavar="STRIDE",
        help="Write a whole scene or a beat with each call; `draft.stride` if left"
        " out.",
    ),
]
DryRunOption = Annotated[
    bool,
    typer.Option("--dry-run", help="Show calls, tokens and price; send nothing."),
]
PromptOption = Annotated[
    bool, typer.Option("--show-prompt", help="Show the first prompt, and send nothing.")
]
BudgetOption = Annotated[
    float | None,
    typer.Option("--budget", metavar="USD", help="The cost limit for the model."),
]


@dataclass(frozen=True, slots=True)
class _ProposalTask:
    """What to do with an order: carry it out, or only show something of it."""

    order: ProposalOrder
    revises: bool = False
    number: int | None = None
    plans_only: bool = False
    shows_prompt: bool = False


def draft_write_command(
    context: typer.Context,
    scene: SceneArgument,
    tokens: BriefTokensOption = DEFAULT_BRIEF_TOKENS,
    rounds: RoundsOption = None,
    stride: StrideOption = None,
    again: Annotated[
        bool, typer.Option("--again", help="Write another text from the same brief.")
    ] = False,
    dry_run: DryRunOption = False,
    budget: BudgetOption = None,
    show_prompt: PromptOption = False,
    as_json: JsonOption = False,  # noqa: ARG001 - `start_session` reads it
) -> None:
    """Let the language model propose a text for a scene, check it and revise it.

    It gets the brief of the scene. Each text is a file in the folder of drafts; your
    manuscript is not changed. Repeating the command continues where it stopped, and
    pays for nothing twice. The exit code is 9 if the last check has a finding.
    """
    settings, output = start_session(context, {"model.budget": check_budget(budget)})
    by_beats = None
    if stride is not None:
        by_beats = parse_choice(Stride, stride, "--stride") is Stride.BEAT
    order = ProposalOrder(scene, tokens, again, rounds, by_beats)
    task = _ProposalTask(order, plans_only=dry_run, shows_prompt=show_prompt)
    _carry_out(settings, output, task)


def draft_revise_command(
    context: typer.Context,
    scene: SceneArgument,
    number: ProposalArgument = None,
    tokens: BriefTokensOption = DEFAULT_BRIEF_TOKENS,
    rounds: RoundsOption = None,
    dry_run: DryRunOption = False,
    budget: BudgetOption = None,
    as_json: JsonOption = False,  # noqa: ARG001 - `start_session` reads it
) -> None:
    """Check a proposal, also one of yours, and let the language model edit what is found.

    Each edit replaces words that stand in it once, for one finding; the result is the
    next proposal, and the one before stays. The exit code is 9 if a finding is left.
    """
    settings, output = start_session(context, {"model.budget": check_budget(budget)})
    order = ProposalOrder(scene, tokens, rounds=rounds)
    task = _ProposalTask(order, revises=True, number=number, plans_only=dry_run)
    _carry_out(settings, output, task)


def _carry_out(settings: Settings, output: Output, task: _ProposalTask) -> None:
    if task.plans_only or task.shows_prompt:
        _show_plan(run_async(_plan(settings, output, task)), output, task)
        return
    # Deleted after the event loop has ended: until then a thread of an interrupted check
    # may still write to it.
    with TemporaryDirectory(prefix="lrwr-draft-", ignore_cleanup_errors=True) as name:
        written = run_with_cleanup(_run(settings, output, task, Path(name)))
    if output.as_json:
        output.json(written_proposal_as_json(written))
    else:
        with output.paged():
            output.show(render_written_proposal(written))
    for remark in written.result.remarks:
        output.notice_warning(remark)
    output.info(describe_writing_cost(written))
    if written.checked.needs_author:
        raise typer.Exit(int(ExitCode.CONTRADICTIONS))


async def _run(
    settings: Settings, output: Output, task: _ProposalTask, place: Path
) -> WrittenProposal:
    async with open_story_services(settings, output) as workspace:
        prompt_for_consent(workspace, output, *MODEL_SERVICES, as_json=output.as_json)
        announce_first_use(workspace, output, *MODEL_SERVICES)
        emit: Callable[[str], None] = output.info
        writer = ProposalWriter(workspace, open_draft_folder(workspace), emit)
        if task.revises:
            return await writer.revise(task.order, task.number, place)
        return await writer.write(task.order, place)


async def check_with_model(
    settings: Settings, output: Output, scene: str, number: int | None, place: Path
) -> CheckedScene:
    """Return the check of a proposal, in which a language model compares it with beats and
    brief.
    """
    async with open_story_services(settings, output) as workspace:
        prompt_for_consent(workspace, output, *MODEL_SERVICES, as_json=output.as_json)
        announce_first_use(workspace, output, *MODEL_SERVICES)
        writer = ProposalWriter(workspace, open_draft_folder(workspace), output.info)
        checked, remarks = await writer.check(scene, number, place)
        for remark in remarks:
            output.warn(remark)
        return checked


async def _plan(
    settings: Settings, output: Output, task: _ProposalTask
) -> ProposalPlan:
    async with open_story_services(settings, output) as workspace:
        writer = ProposalWriter(workspace, open_draft_folder(workspace))
        return await writer.plan(task.order, task.number, revises=task.revises)


def _show_plan(plan: ProposalPlan, output: Output, task: _ProposalTask) -> None:
    if output.as_json:
        output.json(proposal_plan_as_json(plan, shows_prompts=task.shows_prompt))
    elif not task.shows_prompt:
        output.show(render_proposal_plan(plan))
    else:
        show_messages(plan.prompts, output)


def show_messages(prompts: Sequence[StepPrompt], output: Output) -> None:
    """Print the messages of prompts."""
    for message in (m for prompt in prompts for m in prompt.build_messages()):
        output.answer(StyledText(f"{message.role}:", "strong"))
        output.answer(message.text)
        output.answer()


PromptArgument = Annotated[
    str,
    typer.Argument(metavar="PROMPT", help=f"One of: {', '.join(PromptName)}."),
]


@prompts_app.callback()
def draft_prompts_command(
    context: typer.Context,
    as_json: JsonOption = False,  # noqa: ARG001 - `start_session` reads it
) -> None:
    """List the prompts, and which of them you changed."""
    if context.invoked_subcommand is not None:
        return
    settings, output = start_session(context)
    states = run_async(_list_prompts(settings, output))
    if output.as_json:
        output.json([prompt_as_json(state) for state in states])
        return
    output.show(render_prompts(states))


@prompts_app.command("show", epilog=SHOW_EPILOG)
def draft_prompts_show_command(
    context: typer.Context,
    prompt: PromptArgument,
    as_json: JsonOption = False,  # noqa: ARG001 - `start_session` reads it
) -> None:
    """Print the prompt in use; the names that it may contain are on stderr."""
    settings, output = start_session(context)
    name = parse_choice(PromptName, prompt, "PROMPT")
    states = run_async(_list_prompts(settings, output))
    state = next(state for state in states if state.name is name)
    if output.as_json:
        output.json({**prompt_as_json(state), "text": state.text})
        return
    for line in state.text.rstrip("\n").split("\n"):
        output.answer(line)
    names = ", ".join(f"${name}" for name in state.names)
    output.info(f"It may contain {names}.")


@prompts_app.command("edit", epilog=EDIT_EPILOG)
def draft_prompts_edit_command(context: typer.Context, prompt: PromptArgument) -> None:
    """Copy a prompt into the folder of drafts, unless it is there, and open it in your
    editor.
    """
    settings, output = start_session(context)
    name = parse_choice(PromptName, prompt, "PROMPT")
    run_async(_edit_prompt(settings, output, name))


@prompts_app.command("reset", epilog=RESET_EPILOG)
def draft_prompts_reset_command(context: typer.Context, prompt: PromptArgument) -> None:
    """Use the default of a prompt again; your text stays under another name."""
    settings, output = start_session(context)
    name = parse_choice(PromptName, prompt, "PROMPT")
    backup = run_async(_reset_prompt(settings, output, name))
    stays = f" Your text is in {backup}." if backup else ""
    output.info(f"The default of {name} is used.{stays}")


async def _list_prompts(settings: Settings, output: Output) -> list[PromptState]:
    async with open_workspace(settings, say=output.info) as workspace:
        return list_prompts(open_draft_folder(workspace))


async def _edit_prompt(settings: Settings, output: Output, name: PromptName) -> None:
    async with open_workspace(settings, say=output.info) as workspace:
        folder = open_draft_folder(workspace)
        file = create_prompt_file(folder, name)
    await open_file_location(FileLocation(file, 1, paragraphs=False), output)


async def _reset_prompt(settings: Settings, output: Output, name: PromptName) -> str:
    async with open_workspace(settings, say=output.info) as workspace:
        return reset_prompt(open_draft_folder(workspace), name)
