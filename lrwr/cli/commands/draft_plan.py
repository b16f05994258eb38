"""`lrwr draft plan`: questions about what a plan leaves open, and suggested answers."""

from typing import Annotated

import typer

from lrwr.app.container import open_workspace
from lrwr.app.drafts import ask_plan_questions, open_draft_folder
from lrwr.app.plan_proposals import (
    PlanProposal,
    PlanRequest,
    plan_suggestions,
    suggest_plan,
)
from lrwr.app.presenters.drafts import render_plan_questions
from lrwr.app.presenters.proposals import (
    describe_enough,
    plan_proposal_as_json,
    plan_request_as_json,
    render_plan_proposal,
)
from lrwr.app.presenters.text import StyledText, format_count, format_tokens_and_price
from lrwr.cli.commands.draft_proposals import (
    BudgetOption,
    DryRunOption,
    PromptOption,
    show_messages,
)
from lrwr.cli.runtime.event_loop import run_async
from lrwr.cli.runtime.options import JsonOption, check_budget, parse_choice
from lrwr.cli.runtime.output import Output, start_session
from lrwr.cli.runtime.services import (
    MODEL_SERVICES,
    announce_first_use,
    prompt_for_consent,
)
from lrwr.core.drafting.plan_questions import PlanQuestion, PlanStep
from lrwr.core.model.errors import SettingsProblem
from lrwr.core.settings.model import Settings

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
