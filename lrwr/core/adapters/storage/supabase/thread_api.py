"""Conversations, as the project keeps them."""

import json
from dataclasses import dataclass, field

from lrwr.core.adapters.storage.supabase.rpc import (
    PostgresJson,
    RpcJson,
    SupabaseRpc,
    encode_postgres_json,
)
from lrwr.core.model.codec import decode_value, encode_json, encode_value


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


def parse_thread_record(row: PostgresJson) -> ThreadRecord:
    """Return the conversation that a project tells."""
    turns = [
        {
            **turn,
            "usage": encode_json(turn["usage"]),
            "output": encode_json(turn["output"]),
        }
        for turn in row["turns"]
    ]
    state = encode_json(row["state"])
    return decode_value({**row, "state": state, "turns": turns}, ThreadRecord)


def thread_record_to_json(thread: ThreadRecord) -> PostgresJson:
    """Return what a project is told of a conversation."""
    turns = [turn_record_to_json(turn) for turn in thread.turns]
    return {**encode_value(thread), "state": json.loads(thread.state), "turns": turns}


def turn_record_to_json(turn: TurnRecord) -> PostgresJson:
    """Return what a project is told of a turn."""
    usage, output = json.loads(turn.usage), json.loads(turn.output)
    return {**encode_value(turn), "usage": usage, "output": output}


@dataclass(frozen=True, slots=True)
class TurnReceipt:
    """What a turn made of the library: it was the `count`-th change of a conversation.

    `digest` is the conversation's since.
    """

    count: int
    digest: str


class SupabaseThreadApi:
    """Conversations of one library, whole. Each change of one is counted.

    Every function raises an LrwrError where the project cannot be asked or refuses.
    """

    def __init__(self, hosted: SupabaseRpc, library: str) -> None:
        self._hosted = hosted
        self._library = library

    async def marks(self) -> dict[str, str]:
        """Return the digest of each conversation by its id, of deleted ones too."""
        rpc_json = await self._call("thread_marks")
        with self._hosted.reading():
            return {row["id"]: row["digest"] for row in rpc_json}

    async def whole(self, thread: str) -> ThreadRecord | None:
        """Return a conversation with all its turns, a deleted one too."""
        rpc_json = await self._call("thread_whole", thread=thread)
        with self._hosted.reading():
            return None if rpc_json is None else parse_thread_record(rpc_json)

    async def put(self, thread: ThreadRecord) -> None:
        """Write a conversation whole, and keep the turns that only the project has.

        A new turn keeps its number unless another turn has it; then it gets the next
        free one. Title, state and deletion are those of whichever was changed later,
        and of `thread` where both were changed at the same time.
        """
        row = encode_postgres_json(thread_record_to_json(thread))
        rpc_json = await self._call("put_thread", thread=row)
        with self._hosted.reading():
            if rpc_json is not True:
                raise ValueError("it does not say that it is kept")

    async def save_turn(
        self, thread: ThreadRecord, turn: TurnRecord, *, late: bool = False
    ) -> TurnReceipt:
        """Keep a turn as the last of a conversation, with the state and for a new one
        the title that `thread` has; kept twice, it is there once.

        A deleted conversation is back. If it is told `late`, it is not where it was
        deleted after the turn was asked, and the state after a newer turn stays.
        """
        rpc_json = await self._call(
            "keep_turn",
            thread=thread.id,
            title=thread.title,
            state=encode_postgres_json(thread_record_to_json(thread)["state"]),
            turn=encode_postgres_json(turn_record_to_json(turn)),
            late=late,
        )
        with self._hosted.reading():
            return TurnReceipt(int(rpc_json["spoken"]), str(rpc_json["digest"]))

    async def rename(self, thread: str, title: str) -> bool:
        """Give a conversation another title; False where there is none."""
        return bool(await self._call("rename_thread", thread=thread, title=title))

    async def delete(self, thread: str, at: float) -> bool:
        """Put a conversation away; False where there is none."""
        return bool(await self._call("delete_thread", thread=thread, at=at))

    async def restore(self) -> str | None:
        """Bring back what was deleted last, and return its id."""
        back = await self._call("restore_thread")
        return None if back is None else str(back)

    async def purge(self, before: float) -> int:
        """Forget for good what was deleted before a time; return how many."""
        count = await self._call("purge_threads", before=before)
        with self._hosted.reading():
            return int(count)

    async def _call(self, function: str, **arguments: RpcJson) -> RpcJson:
        return await self._hosted.call(function, library=self._library, **arguments)
