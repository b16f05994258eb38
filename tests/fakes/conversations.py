"""Conversations as a store gets them, for tests."""

from dataclasses import replace
from uuid import uuid4

from lrwr.core.model.text import LineRange, Span
from lrwr.core.model.turns import (
    AnswerIntent,
    Citation,
    GapFlag,
    NarrativeState,
    SupervisorOutput,
    ThreadId,
    Turn,
    TurnId,
)
from tests.fakes.records import ONE

THREAD = ThreadId("7f3a0000000040008000000000000001")
OTHER = ThreadId("7f3b0000000040008000000000000002")

QUOTED = Citation(
    number=1,
    document=ONE,
    span=Span(20, 41),
    lines=LineRange(3, 4),
    text="The sluice was shut.",
    chapter=2,
)


def a_turn(
    question: str = "Who shut the sluice?",
    answer: str = "Nell did [1].",
    *,
    asked_at: float = 1_000.0,
    state: NarrativeState | None = None,
    citations: tuple[Citation, ...] = (QUOTED,),
    gaps: tuple[GapFlag, ...] = (),
) -> Turn:
    """A turn with an id of its own, and a number that no store gives."""
    return Turn(
        id=TurnId(uuid4().hex),
        number=-1,
        asked_at=asked_at,
        question=question,
        output=SupervisorOutput(
            response_text=answer,
            intent=AnswerIntent.ANALYTICAL,
            resolved_characters=("Nell Tallow",),
            citations=citations,
            gap_flags=gaps,
            narrative_state_delta=state or NarrativeState(),
        ),
    )


def some_turns(count: int) -> list[Turn]:
    """Turns that were asked a second apart."""
    return [a_turn(f"Question {n}?", asked_at=1_000.0 + n) for n in range(count)]


def numbered(turn: Turn, number: int) -> Turn:
    """The turn as a store gives it back."""
    return replace(turn, number=number)
