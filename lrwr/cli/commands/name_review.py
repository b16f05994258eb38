"""`lrwr characters review`: decide which names are one character, and which are two."""

from collections.abc import Sequence

import typer
from click import getchar

from lrwr.app.container import open_workspace
from lrwr.app.presenters.text import StyledText, sanitize_line
from lrwr.cli.commands.canon import make_decision
from lrwr.cli.runtime.event_loop import run_async
from lrwr.cli.runtime.options import JsonOption
from lrwr.cli.runtime.output import Output, start_session
from lrwr.cli.runtime.services import open_story_services
from lrwr.core.bible.name_review import NameProposal, review_names
from lrwr.core.canon.decision import Decision
from lrwr.core.settings.model import Settings

REVIEW_EPILOG = (
    "Examples: lrwr characters review · lrwr characters review --json. Keys: y accepts,"
    " n declines, s skips, u undoes, q quits. A declined proposal is not made again."
)
_KEYS = "y accept, n decline, s skip, u undo, q quit"


def characters_review_command(
    context: typer.Context, as_json: JsonOption = False
) -> None:
    """Review names that may be one character, or two, one key each.

    On a terminal the proposals are shown one by one, otherwise as a list.
    """
    settings, output = start_session(context)
    proposals = run_async(_load_proposals(settings, output))
    if as_json:
        output.json([_proposal_as_json(proposal) for proposal in proposals])
    elif not proposals:
        output.answer("No names to review.")
    elif output.interactive:
        _review(proposals, settings, output)
    else:
        for proposal in proposals:
            print_proposal(proposal, output)


async def _load_proposals(settings: Settings, output: Output) -> list[NameProposal]:
    async with open_story_services(settings, output) as workspace:
        return await review_names(workspace.bible())


def _review(
    proposals: Sequence[NameProposal], settings: Settings, output: Output
) -> None:
    """Show one proposal after another, and store what the user decides.

    `u` undoes the decision on the proposal before, and shows that one again.
    """
    decided: list[bool] = []
    while len(decided) < len(proposals):
        proposal = proposals[len(decided)]
        count = f"{len(decided) + 1} of {len(proposals)}"
        output.answer(StyledText(f"{count}  ({_KEYS})", "faint"))
        print_proposal(proposal, output)
        key = getchar().lower()
        if key in ("q", "\x03", "\x04", ""):
            return
        if key == "u" and decided:
            if decided.pop():
                run_async(_undo(settings))
        elif key in ("y", "n"):
            decision = proposal.accepted if key == "y" else proposal.declined
            _decide(decision, settings, output)
            decided.append(True)
        elif key == "s":
            decided.append(False)
    output.info("Decisions take effect with the next `lrwr ingest`.")


def _decide(decision: Decision, settings: Settings, output: Output) -> None:
    run_async(make_decision(settings, output, lambda _: decision))


async def _undo(settings: Settings) -> None:
    async with open_workspace(settings) as workspace:
        workspace.canon.undo()


def _proposal_as_json(proposal: NameProposal) -> dict[str, object]:
    return {
        "kind": proposal.kind,
        "first": proposal.first,
        "second": proposal.second,
        "reason": proposal.reason,
        "mentions": proposal.mentions,
        "lines": [
            {"file": line.document, "line": line.line, "text": line.text}
            for line in proposal.lines
        ],
    }


def print_proposal(proposal: NameProposal, output: Output) -> None:
    """Print the question of a proposal, its reason and lines of the text."""
    output.answer(StyledText(sanitize_line(proposal.question), "strong"))
    output.answer(f"{sanitize_line(proposal.reason)}.", indent=2)
    for line in proposal.lines:
        place = StyledText(sanitize_line(f"{line.document}:{line.line}"), "place")
        output.answer(place, f"  {sanitize_line(line.text)}", indent=2)
    output.answer()
