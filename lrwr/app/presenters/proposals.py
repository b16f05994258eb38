"""Proposals for scenes as text and JSON."""

from collections.abc import Iterator, Sequence

from lrwr.app.draft_prompts import PromptState
from lrwr.app.plan_proposals import PlanProposal, PlanRequest
from lrwr.app.presenters.drafts import checked_scene_as_json, render_checked_scene
from lrwr.app.presenters.text import (
    LinePiece,
    StyledLine,
    StyledTable,
    StyledText,
    format_count,
    format_tokens_and_price,
    sanitize_line,
    shorten_excerpt,
    styled_line,
)
from lrwr.app.proposals import ProposalPlan, WrittenProposal
from lrwr.core.drafting.model_steps import StepPrompt, spell_dollars
from lrwr.core.model.language_model import Usage


def render_written_proposal(written: WrittenProposal) -> Iterator[StyledLine]:
    """Yield the files that were written, the edits, and the check of the last one."""
    for path in written.paths:
        yield styled_line(StyledText(sanitize_line(path), "place"))
    if not written.paths:
        yield styled_line("No edit: nothing was written.")
    for revised in written.result.edits:
        yield styled_line(f"Edited for: {sanitize_line(revised.issue.text)}")
        before = shorten_excerpt(revised.edit.find)
        after = shorten_excerpt(revised.edit.replace) or "(nothing)"
        yield styled_line(StyledText(f"- {before}", "bad"), indent=2)
        yield styled_line(StyledText(f"+ {after}", "good"), indent=2)
    for entry in written.result.refused:
        yield styled_line(f"Not edited: {sanitize_line(entry.issue.text)}")
        yield styled_line(f"{written.model}: {sanitize_line(entry.why)}", indent=2)
    yield styled_line()
    yield from render_checked_scene(written.checked)


def written_proposal_as_json(written: WrittenProposal) -> dict[str, object]:
    """Return proposals as JSON: the files, edits, remarks, usage and the `check`."""
    result = written.result
    return {
        "scene": written.card.id,
        "files": written.paths,
        "edits": [
            {
                "finding": entry.issue.text,
                "find": entry.edit.find,
                "replace": entry.edit.replace,
            }
            for entry in result.edits
        ],
        "refused": [
            {"finding": entry.issue.text, "why": entry.why} for entry in result.refused
        ],
        "remarks": result.remarks,
        "model": written.model,
        "calls": written.usage.calls,
        "stored": written.usage.cached,
        "prompt_tokens": written.usage.prompt_tokens,
        "completion_tokens": written.usage.completion_tokens,
        "cost": written.cost,
        "check": checked_scene_as_json(written.checked),
    }


def describe_writing_cost(written: WrittenProposal) -> str:
    """Return what the language model took, as a sentence."""
    usage = written.usage
    calls = format_count(usage.calls, "call")
    stored = f", {format_count(usage.cached, 'reply', 'replies')} stored before"
    spent = format_tokens_and_price(usage, written.cost, about=False)
    return f"{written.model}, {calls}{stored if usage.cached else ''}: {spent}."


def render_proposal_plan(plan: ProposalPlan) -> Iterator[StyledLine | StyledTable]:
    """Yield a table of the calls, and their sum."""
    rows = [
        [step, f"{usage.prompt_tokens:,}", f"{usage.completion_tokens:,}"]
        for step, usage in plan.steps
    ]
    headings = ["Call", "Tokens sent", "Received"]
    yield StyledTable(headings, [*rows], right={"Tokens sent", "Received"})
    cost = format_tokens_and_price(plan.usage, plan.cost, about=True)
    calls = format_count(plan.usage.calls, "call")
    yield styled_line(f"{plan.model}, at most {calls}: {cost}.")
    if plan.enough:
        yield styled_line(describe_enough(plan.enough))
    if plan.stored:
        yield styled_line("The first reply is stored: repeating it costs nothing.")


def describe_enough(dollars: float) -> str:
    """Return a sentence about a budget that is enough, in US dollars."""
    budget = spell_dollars(dollars).removeprefix("$")
    return (
        f"`--budget {budget}` is enough however the model counts tokens, unless replies"
        " cannot be used."
    )


def proposal_plan_as_json(
    plan: ProposalPlan, *, shows_prompts: bool
) -> dict[str, object]:
    """Return what writing would take as JSON, with the first prompts if asked for."""
    value: dict[str, object] = {
        "scene": plan.card.id,
        "model": plan.model,
        "calls": plan.usage.calls,
        "stored": plan.stored,
        "prompt_tokens": plan.usage.prompt_tokens,
        "completion_tokens": plan.usage.completion_tokens,
        "cost": plan.cost,
        "enough": plan.enough,
        "steps": [
            {
                "step": step,
                "prompt_tokens": usage.prompt_tokens,
                "completion_tokens": usage.completion_tokens,
            }
            for step, usage in plan.steps
        ],
    }
    if shows_prompts:
        value["prompts"] = [_step_prompt_as_json(prompt) for prompt in plan.prompts]
    return value


def _step_prompt_as_json(prompt: StepPrompt) -> dict[str, object]:
    messages = [
        {"role": message.role, "text": message.text}
        for message in prompt.build_messages()
    ]
    return {"step": prompt.step, "messages": messages}


def render_prompts(states: Sequence[PromptState]) -> Iterator[StyledTable]:
    """Yield a table of the prompts."""
    rows: list[list[LinePiece]] = [
        [
            state.name,
            "changed" if state.is_changed else "default",
            ", ".join(f"${name}" for name in state.names),
            StyledText(sanitize_line(state.file), "place"),
        ]
        for state in states
    ]
    yield StyledTable(["Prompt", "Text", "Names", "File"], rows)


def prompt_as_json(state: PromptState) -> dict[str, object]:
    """Return a prompt as JSON, without its text."""
    return {
        "prompt": state.name,
        "is_changed": state.is_changed,
        "names": state.names,
        "file": state.file or None,
    }


def render_plan_proposal(proposal: PlanProposal) -> Iterator[StyledLine]:
    """Yield what was inserted into a plan, with its places."""
    for insertion in proposal.insertions:
        place = f"{sanitize_line(insertion.path)}:{insertion.line}"
        yield styled_line(StyledText(place, "place"))
        for line in insertion.text.split("\n"):
            yield styled_line(StyledText(f"+ {sanitize_line(line)}", "good"), indent=2)
    if not proposal.insertions:
        yield styled_line("Nothing was inserted.")
    if proposal.open_questions:
        count = format_count(proposal.open_questions, "question")
        yield styled_line(f"{count} without a suggestion: only you can know.")


def plan_proposal_as_json(proposal: PlanProposal) -> dict[str, object]:
    """Return what was inserted into a plan as JSON, with the usage."""
    return {
        "insertions": [
            {"file": i.path, "line": i.line, "text": i.text}
            for i in proposal.insertions
        ],
        "open": proposal.open_questions,
        "model": proposal.model,
        "calls": proposal.usage.calls,
        "stored": proposal.usage.cached,
        "prompt_tokens": proposal.usage.prompt_tokens,
        "completion_tokens": proposal.usage.completion_tokens,
        "cost": proposal.cost,
    }


def plan_request_as_json(
    request: PlanRequest, *, shows_prompt: bool
) -> dict[str, object]:
    """Return what a language model would be asked as JSON."""
    usage = request.prompt.estimate() if request.prompt else Usage()
    value: dict[str, object] = {
        "questions": len(request.questions),
        "model": request.model,
        "calls": usage.calls,
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "cost": request.cost,
        "enough": request.enough,
    }
    if shows_prompt and request.prompt:
        value["prompts"] = [_step_prompt_as_json(request.prompt)]
    return value
