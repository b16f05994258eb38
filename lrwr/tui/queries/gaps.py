"""What the writer says to what is left open. All of it runs backstage."""

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lrwr.core.bible.values import Bible, Gap, GapState
from lrwr.core.canon.decision import Decision, GapAnswered, GapDeclined
from lrwr.core.canon.phrases import format_decision
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
    """Return what is left open, as far as the story has come.

    Raises:
        NotFound: Nothing was read, or there is no such place.
    """
    bible = await load_story(workspace, as_of)
    found = tuple(gap for gap in bible.gaps if gap.state is GapState.OPEN)
    turns = await workspace.threads.turns(thread) if thread else []
    flags = [flag for turn in turns for flag in turn.output.gap_flags]
    came = {(_plain(f.about), _plain(f.undefined_attribute)) for f in flags}
    asked = (gap.id for gap in found if _asked(gap) in came)
    return OpenGaps(bible, found, frozenset(asked))


async def decide_gap(
    workspace: "Workspace", gap: Gap, answer: str | None
) -> "Decision | None":
    """Define what is left open, or leave it so on purpose where there is no answer.

    Returns what was decided; None where that was decided already.

    Raises:
        SettingsProblem: The file of the writer's decisions is broken.
        StoreProblem: It cannot be written.
    """
    known = {one.id: one for one in (await workspace.bible().read()).gaps}
    asked = known.get(gap.id, gap).asked  # a horizon may hide under what name
    decision: Decision = (
        GapDeclined(asked.about, asked.attribute)
        if answer is None
        else GapAnswered(asked.about, asked.attribute, answer)
    )
    change = await asyncio.to_thread(workspace.canon.decide, decision)
    return decision if change else None


async def undo_gap_decision(workspace: "Workspace", last: Decision) -> str:
    """Take back the decision that was made here last; return what it was, in words.

    Empty where something else was decided since, elsewhere: that is left alone.

    Raises:
        SettingsProblem: The file was changed by hand since.
        StoreProblem: It cannot be written.
    """
    held = [
        one
        for one in await asyncio.to_thread(workspace.canon.history)
        if not one.undone
    ]
    if not held or held[-1].decision != last:
        return ""
    undone = await asyncio.to_thread(workspace.canon.undo)
    return format_decision(undone) if undone else ""


def _asked(gap: Gap) -> tuple[str, str]:
    return _plain(gap.about), _plain(gap.attribute)


def _plain(text: str) -> str:
    return " ".join(text.replace("_", " ").split()).casefold()
