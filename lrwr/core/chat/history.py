"""Which turns of a conversation a new question goes on from."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from lrwr.core.attribution.citation_check import without_marks
from lrwr.core.model.chunks import ChunkKind
from lrwr.core.model.story import Horizon
from lrwr.core.model.turns import Turn, TurnId
from lrwr.core.retrieval.anchors import Anchored
from lrwr.core.retrieval.freshness import FreshnessService
from lrwr.core.retrieval.story import StoryOrder, scope_of, stands_before

BUDGET = 2_000
"""Tokens of earlier turns that are told in full, by `estimated_tokens`."""
SHORT = 90
"""Characters of an older question that are told, and as many of its answer."""
OLDER = 12
"""Older turns that are told in short."""
_CHARACTERS_A_TOKEN = 4


def estimated_tokens(text: str) -> int:
    """Return about how many tokens a text has: English has four characters each."""
    return len(text) // _CHARACTERS_A_TOKEN + 1


def within_horizon(
    turns: Sequence[Turn], horizon: Horizon | None, order: StoryOrder
) -> list[Turn]:
    """Return the turns that were asked at `horizon` or before it in the story.

    A turn whose place is there no more counts as later.
    """
    if horizon is None:
        return list(turns)
    return [
        turn
        for turn in turns
        if stands_before(turn.output.narrative_state_delta.as_of, horizon, order)
    ]


def in_sight(
    places: Sequence[Anchored], horizon: Horizon | None, order: StoryOrder
) -> bool:
    """Say whether all words that an answer rests on still stand before `horizon`.

    Words that were moved behind it come later now, and so does what was said of them.
    What stands outside of the story comes neither before nor after.
    """
    if horizon is None:
        return True
    kinds = frozenset(ChunkKind)
    seen = scope_of(order, types=(), horizon=horizon, kinds=kinds)
    told = [one.now for one in places if one.now and one.now.document in order.numbers]
    return all(
        seen.documents is not None
        and now.document in seen.documents
        and now.span.end <= seen.until.get(now.document, now.span.end)
        for now in told
    )


def recalled(turns: Sequence[Turn], budget: int = BUDGET) -> Sequence[Turn]:
    """Return the turns that can be told at all, in full or in short, oldest first."""
    return turns[-(len(_newest(turns, budget)) + OLDER) :]


def fitting(
    turns: Sequence[Turn],
    budget: int = BUDGET,
    *,
    outdated: Collection[TurnId] = (),
) -> tuple[tuple[Turn, ...], str]:
    """Return the newest turns that fit, oldest first, and in short what was before.

    What was before are questions and how their answers begin, cut: nothing is made up.
    An answer that is `outdated` is left out of it.
    """
    kept = _newest(turns, budget)
    older = turns[: len(turns) - len(kept)]
    lines = [_in_short(turn, turn.id in outdated) for turn in older[-OLDER:]]
    before = "\n".join(["Earlier the writer asked:", *lines]) if lines else ""
    return kept, before


def remark_on(places: Sequence[Anchored]) -> str:
    """Say that the answer before rests on what was changed; empty where it does not."""
    changed = sum(one.changed for one in places)
    if not changed:
        return ""
    if len(places) == 1:
        return "The passage that the answer before rests on was changed since."
    verb = "was" if changed == 1 else "were"
    return (
        f"{changed} of the {len(places)} passages that the answer before rests on"
        f" {verb} changed since."
    )


def _newest(turns: Sequence[Turn], budget: int) -> tuple[Turn, ...]:
    kept: list[Turn] = []
    left = budget
    for turn in reversed(turns):
        left -= estimated_tokens(turn.question + turn.output.response_text)
        if left < 0:
            break
        kept.append(turn)
    return tuple(reversed(kept))


def _in_short(turn: Turn, outdated: bool) -> str:
    answered = "" if outdated else _short(without_marks(turn.output.response_text))
    asked = f"- {_short(turn.question)}"
    return f"{asked} Answered: {answered}" if answered else asked


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= SHORT else f"{line[: SHORT - 1].rstrip()}…"


@dataclass(frozen=True, slots=True)
class Recalled:
    """Earlier turns, as `Question` wants them."""

    history: tuple[Turn, ...]
    before: str
    outdated: frozenset[TurnId]


async def recall(
    turns: Sequence[Turn],
    horizon: Horizon | None,
    order: StoryOrder,
    freshness: FreshnessService,
) -> Recalled:
    """Return what fits of the turns that were asked before `horizon`.

    A turn that rests on words which stand behind it now is left out. Of the present
    text nothing is told, only which answers rest on what it has no more.
    """
    told = recalled(within_horizon(turns, horizon, order))
    places = await freshness.of_turns(told)
    seen = [turn for turn in told if in_sight(places[turn.id], horizon, order)]
    changed = (turn for turn in seen if any(one.changed for one in places[turn.id]))
    outdated = frozenset(turn.id for turn in changed)
    history, before = fitting(seen, outdated=outdated)
    return Recalled(history, before, outdated)
