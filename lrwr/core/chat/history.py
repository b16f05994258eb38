"""Which turns of a conversation a new question goes on from."""

from collections.abc import Sequence

from lrwr.core.model.errors import NotFound
from lrwr.core.model.story import Horizon
from lrwr.core.model.turns import Turn
from lrwr.core.retrieval.story import StoryOrder, parse_horizon

BUDGET = 2_000
"""Tokens of earlier turns that are told in full, by `estimated_tokens`."""

SHORT = 90
"""Characters of an older question that are told."""

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
    return [turn for turn in turns if _is_before(turn, horizon, order)]


def _is_before(turn: Turn, horizon: Horizon, order: StoryOrder) -> bool:
    as_of = turn.output.narrative_state_delta.as_of
    if not as_of:
        return False
    try:
        asked = parse_horizon(as_of, order)
    except NotFound:
        return False
    if asked.chapter != horizon.chapter:
        return asked.chapter < horizon.chapter
    if horizon.scene is None:
        return True
    return asked.scene is not None and asked.scene <= horizon.scene


def fitting(
    turns: Sequence[Turn], budget: int = BUDGET
) -> tuple[tuple[Turn, ...], str]:
    """Return the newest turns that fit, oldest first, and in short what was before.

    What was before is the questions alone, cut: nothing is made up about answers.
    """
    kept: list[Turn] = []
    left = budget
    for turn in reversed(turns):
        left -= estimated_tokens(turn.question + turn.output.response_text)
        if left < 0:
            break
        kept.append(turn)
    older = turns[: len(turns) - len(kept)]
    lines = [f"- {_short(turn.question)}" for turn in older[-12:]]
    before = "\n".join(["Earlier the writer asked:", *lines]) if lines else ""
    return tuple(reversed(kept)), before


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= SHORT else f"{line[: SHORT - 1].rstrip()}…"
