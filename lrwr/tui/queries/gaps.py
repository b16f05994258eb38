"""What the writer says to what is left open. Runs in the service thread."""

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lrwr.core.bible.values import Bible, Gap, GapState
from lrwr.core.canon.decision import Decision, GapAnswered, GapDeclined, format_decision
from lrwr.core.model.turns import ThreadId
from lrwr.tui.queries.story import load_story

if TYPE_CHECKING:
    from lrwr.app.container import Workspace


@dataclass(frozen=True, slots=True)
class OpenGaps:
    """What the story leaves open as of a place; `asked` are the gaps, by id, that this
    conversation came upon."""

    bible: Bible
    open: "tuple[Gap, ...]"
    asked: frozenset[str]


async def load_open_gaps(
    workspace: "Workspace", as_of: str, thread: "ThreadId | None"
) -> OpenGaps:
    """Return the open gaps as of a point of the story.

    Raises:
        NotFound: Nothing was read, or there is no such place.
    """
    bible = await load_story(workspace, as_of)
    open_gaps = tuple(gap for gap in bible.gaps if gap.state is GapState.OPEN)
    turns = await workspace.threads.turns(thread) if thread else []
    flags = [flag for turn in turns for flag in turn.output.gap_flags]
    flagged = {(_plain(f.about), _plain(f.undefined_attribute)) for f in flags}
    flagged_ids = (gap.id for gap in open_gaps if _asked(gap) in flagged)
    return OpenGaps(bible, open_gaps, frozenset(flagged_ids))


async def decide_gap(
    workspace: "Workspace", gap: Gap, answer: str | None
) -> "Decision | None":
    """Answer a gap, or mark it as intentional if there is no answer.

    Returns the decision; None if the same was decided already.

    Raises:
        SettingsProblem: The file of the writer's decisions is broken.
        StoreProblem: It cannot be written.
    """
    gaps_by_id = {
        known_gap.id: known_gap for known_gap in (await workspace.bible().read()).gaps
    }
    question = gaps_by_id.get(gap.id, gap).asked  # a horizon may hide under what name
    decision: Decision = (
        GapDeclined(question.about, question.attribute)
        if answer is None
        else GapAnswered(question.about, question.attribute, answer)
    )
    change = await asyncio.to_thread(workspace.canon.decide, decision)
    return decision if change else None


async def undo_gap_decision(workspace: "Workspace", last: Decision) -> str:
    """Undo the last decision made on this screen, and return its description.

    Empty if another decision was made elsewhere since: that one is not undone.

    Raises:
        SettingsProblem: The file was changed by hand since.
        StoreProblem: It cannot be written.
    """
    active_entries = [
        entry
        for entry in await asyncio.to_thread(workspace.canon.history)
        if not entry.undone
    ]
    if not active_entries or active_entries[-1].decision != last:
        return ""
    undone = await asyncio.to_thread(workspace.canon.undo)
    return format_decision(undone) if undone else ""


def _asked(gap: Gap) -> tuple[str, str]:
    return _plain(gap.about), _plain(gap.attribute)


def _plain(text: str) -> str:
    return " ".join(text.replace("_", " ").split()).casefold()
