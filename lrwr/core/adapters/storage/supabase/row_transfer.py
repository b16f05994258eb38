"""Rows that go to a project and come from it as they are: replies, conversations."""

import json
from dataclasses import asdict, dataclass, field

from lrwr.core.adapters.storage.supabase.postgres_text import PostgresJson


@dataclass(frozen=True, slots=True)
class ModelReplyRow:
    """What a model found, and what it cost; `made` in seconds since 1970, UTC."""

    key: str
    made: float
    prompt_tokens: int
    completion_tokens: int
    finding: str


@dataclass(frozen=True, slots=True)
class TurnRecord:
    """A turn's row; `usage` and `output` are JSON texts."""

    id: str
    number: int
    asked_at: float
    state: str
    price: float | None
    usage: str
    question: str
    answer: str
    output: str


@dataclass(frozen=True, slots=True)
class ThreadRecord:
    """A conversation's row with its turns in order; `state` is a JSON text.

    Times are seconds since 1970, UTC. `digest` is the project's, and empty where a file
    tells it: it changes with whatever else does.
    """

    id: str
    title: str
    created_at: float
    updated_at: float
    deleted_at: float | None
    state: str
    turns: tuple[TurnRecord, ...]
    digest: str = field(default="", compare=False)


def parse_model_reply_row(row: PostgresJson) -> ModelReplyRow:
    """Return the reply that a row tells."""
    return ModelReplyRow(
        key=row["key"],
        made=float(row["made"]),
        prompt_tokens=row["prompt_tokens"],
        completion_tokens=row["completion_tokens"],
        finding=row["finding"],
    )


def parse_thread_record(row: PostgresJson) -> ThreadRecord:
    """Return the conversation that a project tells."""
    return ThreadRecord(
        id=row["id"],
        title=row["title"],
        created_at=float(row["created_at"]),
        updated_at=float(row["updated_at"]),
        deleted_at=_number(row["deleted_at"]),
        state=_json(row["state"]),
        turns=tuple(_turn(turn) for turn in row["turns"]),
        digest=row["digest"],
    )


def thread_record_to_json(thread: ThreadRecord) -> PostgresJson:
    """Return what a project is told of a conversation."""
    turns = [turn_record_to_json(turn) for turn in thread.turns]
    return {**asdict(thread), "state": json.loads(thread.state), "turns": turns}


def turn_record_to_json(turn: TurnRecord) -> PostgresJson:
    """Return what a project is told of a turn."""
    usage, output = json.loads(turn.usage), json.loads(turn.output)
    return {**asdict(turn), "usage": usage, "output": output}


def _turn(row: PostgresJson) -> TurnRecord:
    return TurnRecord(
        id=row["id"],
        number=row["number"],
        asked_at=float(row["asked_at"]),
        state=row["state"],
        price=_number(row["price"]),
        usage=_json(row["usage"]),
        question=row["question"],
        answer=row["answer"],
        output=_json(row["output"]),
    )


def _number(value: PostgresJson) -> float | None:
    return None if value is None else float(value)


def _json(value: PostgresJson) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
