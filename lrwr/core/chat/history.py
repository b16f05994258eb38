"""Which turns of a conversation a new question goes on from."""

from collections.abc import Sequence

from lrwr.core.chat.answering.checking import without_marks
from lrwr.core.model.story import Horizon
from lrwr.core.model.turns import Turn
from lrwr.core.retrieval.story import StoryOrder, stands_before

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


def fitting(
    turns: Sequence[Turn], budget: int = BUDGET
) -> tuple[tuple[Turn, ...], str]:
    """Return the newest turns that fit, oldest first, and in short what was before.

    What was before are questions and how their answers begin, cut: nothing is made up.
    """
    kept: list[Turn] = []
    left = budget
    for turn in reversed(turns):
        left -= estimated_tokens(turn.question + turn.output.response_text)
        if left < 0:
            break
        kept.append(turn)
    older = turns[: len(turns) - len(kept)]
    lines = [_in_short(turn) for turn in older[-OLDER:]]
    before = "\n".join(["Earlier the writer asked:", *lines]) if lines else ""
    return tuple(reversed(kept)), before


def _in_short(turn: Turn) -> str:
    answered = _short(without_marks(turn.output.response_text))
    asked = f"- {_short(turn.question)}"
    return f"{asked} Answered: {answered}" if answered else asked


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= SHORT else f"{line[: SHORT - 1].rstrip()}…"
