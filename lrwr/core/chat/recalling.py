"""What a new question is told of its conversation, as the text stands now."""

from collections.abc import Sequence
from dataclasses import dataclass

from lrwr.core.chat.history import fitting, in_sight, recalled, within_horizon
from lrwr.core.model.story import Horizon
from lrwr.core.model.turns import Turn, TurnId
from lrwr.core.retrieval.freshness import FreshnessService
from lrwr.core.retrieval.story import StoryOrder


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
