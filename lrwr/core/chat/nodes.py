"""The steps of one turn, as plain functions of what the steps before them made."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from lrwr.core.bible.values import Bible
from lrwr.core.chat.state import Question, RetrievalResult
from lrwr.core.model.text import Span
from lrwr.core.model.turns import (
    Citation,
    GapFlag,
    NarrativeState,
    Plan,
    Resolved,
    Staged,
    SupervisorOutput,
    TurnEvent,
)
from lrwr.core.retrieval.search import SearchResult

Emit = Callable[[TurnEvent], None]
"""Lets others see what happens, while it does."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What an avatar said. `unsupported` are stretches that no citation bears out.

    `model` is the one that wrote it, empty where the text speaks for itself.
    """

    text: str
    citations: tuple[Citation, ...] = ()
    gaps: tuple[GapFlag, ...] = ()
    unsupported: tuple[Span, ...] = ()
    remarks: tuple[str, ...] = ()
    model: str = ""


class Avatar(Protocol):
    """Who answers: a language model, or the text itself."""

    @property
    def model(self) -> str:
        """Name the language model; empty without one."""
        ...

    async def answer(
        self, question: Question, plan: Plan, result: RetrievalResult, emit: Emit
    ) -> Answer:
        """Answer from `result` alone, and emit each piece as it comes."""
        ...


@dataclass(frozen=True, slots=True)
class Room:
    """What the steps of a turn are lent.

    `plan` makes a plan; `search` finds passages for a question within its horizon.
    `notes` are the titles of the writer's notes within it.
    """

    plan: Callable[[Question, Bible], Coroutine[None, None, Plan]]
    search: Callable[[Question], Coroutine[None, None, SearchResult]]
    avatar: Avatar
    notes: tuple[str, ...] = ()


async def look_up(
    question: Question, bible: Bible, room: Room, emit: Emit
) -> tuple[Plan, SearchResult]:
    """Plan and search at once: neither waits for the other."""
    emit(Staged("plan", "Reading the question"))
    emit(Staged("search", "Searching the manuscript"))
    async with asyncio.TaskGroup() as group:
        planned = group.create_task(room.plan(question, bible))
        found = group.create_task(room.search(question))
    return planned.result(), found.result()


def assembled(
    question: Question,
    plan: Plan,
    resolved: Sequence[Resolved],
    bible: Bible,
    result: RetrievalResult,
    answer: Answer,
) -> SupervisorOutput:
    """Put together what the turn has come to."""
    cast = {profile.name for profile in bible.characters}
    places = [place.name for one in resolved for place in one.places]
    people = tuple(dict.fromkeys(name for name in places if name in cast))
    things = (name for name in places if any(e.name == name for e in bible.world))
    entities = dict.fromkeys((*people, *things, *question.state.entities))
    return SupervisorOutput(
        response_text=answer.text,
        intent=plan.intent,
        resolved_characters=people,
        citations=answer.citations,
        gap_flags=answer.gaps,
        narrative_state_delta=_state_after(question, tuple(entities)),
        low_confidence=result.low_confidence,
        unsupported=answer.unsupported,
        remarks=tuple(dict.fromkeys((*result.remarks, *answer.remarks))),
        model=answer.model,
    )


IN_PLAY = 8
"""Entities that a conversation keeps in mind; the one named last comes first."""


def _state_after(question: Question, entities: Sequence[str]) -> NarrativeState:
    return replace(
        question.state,
        character=question.character,
        mode=question.mode,
        witnessed=question.witnessed,
        entities=tuple(entities[:IN_PLAY]),
    )
