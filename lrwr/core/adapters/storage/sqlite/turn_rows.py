"""Turns and the state of a conversation, as rows and as JSON."""

import json
from dataclasses import asdict
from typing import Any

from lrwr.core.model.documents import DocumentId
from lrwr.core.model.text import LineRange, Span
from lrwr.core.model.turns import (
    AnswerIntent,
    AnswerMode,
    Citation,
    GapFlag,
    NarrativeState,
    SupervisorOutput,
    Thread,
    ThreadId,
    Turn,
    TurnId,
    TurnState,
    WebCitation,
)
from lrwr.core.model.usage import Usage

THREAD_COLUMNS = """
  thread.id, thread.title, thread.created_at, thread.updated_at,
  (select count(*) from turn of_it where of_it.thread_id = thread.id), thread.state
"""
"""What `parse_thread_row` reads."""

TURN_COLUMNS = """
  turn.id, turn.number, turn.asked_at, turn.state, turn.price, turn.usage,
  turn.question, turn.answer, turn.output
"""
"""What `parse_turn_row` reads, and `turn_to_columns` makes without the number."""

ThreadRow = tuple[str, str, float, float, int, str]
TurnRow = tuple[str, int, float, str, float | None, str, str, str, str]


def parse_thread_row(row: ThreadRow) -> Thread:
    """Return the conversation that a row holds."""
    id_, title, created_at, updated_at, turns, state = row
    return Thread(
        id=ThreadId(id_),
        title=title,
        created_at=created_at,
        updated_at=updated_at,
        turns=turns,
        state=_state(json.loads(state)),
    )


def parse_turn_row(row: TurnRow) -> Turn:
    """Return the turn that a row holds."""
    id_, number, asked_at, state, price, usage, question, answer, output = row
    return Turn(
        id=TurnId(id_),
        number=number,
        asked_at=asked_at,
        question=question,
        output=_output(answer, json.loads(output)),
        state=TurnState(state),
        usage=Usage(**json.loads(usage)),
        price=price,
    )


def turn_to_columns(turn: Turn) -> dict[str, object]:
    """Return a turn's columns by name; the store gives the number."""
    rest = asdict(turn.output)
    answer = rest.pop("response_text")
    return {
        "id": turn.id,
        "asked_at": turn.asked_at,
        "state": turn.state.value,
        "price": turn.price,
        "usage": _json(asdict(turn.usage)),
        "question": replace_surrogates(turn.question),
        "answer": replace_surrogates(answer),
        "output": _json(rest),
    }


def state_to_json(state: NarrativeState) -> str:
    """Return a conversation's state as JSON."""
    return _json(asdict(state))


def gaps_from_json(flags: str) -> list[GapFlag]:
    """Return the gaps that a row's output holds."""
    return [GapFlag(**one) for one in json.loads(flags)]


def citations_from_json(cited: str) -> tuple[Citation, ...]:
    """Return the citations that a row's output holds, in the order of their numbers."""
    found = (_citation(one) for one in json.loads(cited))
    return tuple(sorted(found, key=lambda one: one.number))


def replace_surrogates(text: str) -> str:
    """Return `text` with a `?` for each character that is not Unicode.

    No answer is lost because a terminal sent a broken letter; places stay the same.
    """
    return text.encode("utf-8", "replace").decode("utf-8")


def _json(value: object) -> str:
    return replace_surrogates(
        json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    )


def _output(answer: str, rest: dict[str, Any]) -> SupervisorOutput:
    return SupervisorOutput(
        response_text=answer,
        intent=AnswerIntent(rest["intent"]),
        resolved_characters=tuple(rest["resolved_characters"]),
        citations=tuple(_citation(one) for one in rest["citations"]),
        gap_flags=tuple(GapFlag(**one) for one in rest["gap_flags"]),
        narrative_state_delta=_state(rest["narrative_state_delta"]),
        tavily_used=rest["tavily_used"],
        low_confidence=rest["low_confidence"],
        unsupported=tuple(Span(**one) for one in rest["unsupported"]),
        remarks=tuple(rest["remarks"]),
        model=rest["model"],
        web=tuple(WebCitation(**one) for one in rest.get("web", ())),
        web_query=rest.get("web_query", ""),
    )


def _citation(one: dict[str, Any]) -> Citation:
    return Citation(
        number=one["number"],
        document=DocumentId(one["document"]),
        span=Span(**one["span"]),
        lines=LineRange(**one["lines"]),
        text=one["text"],
        chapter=one["chapter"],
    )


def _state(kept: dict[str, Any]) -> NarrativeState:
    return NarrativeState(
        character=kept["character"],
        mode=AnswerMode(kept["mode"]),
        as_of=kept["as_of"],
        witnessed=kept["witnessed"],
        entities=tuple(kept["entities"]),
        assumptions=tuple(kept["assumptions"]),
    )
