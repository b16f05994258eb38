"""Threads as a Supabase project stores them."""

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
    """A cached reply of a language model, with its tokens.

    `key` is a SHA-256 that identifies the request, `made` the time of the reply in
    seconds since 1970, and `finding` the reply.
    """

    key: str
    made: float
    prompt_tokens: int
    completion_tokens: int
    finding: str


@dataclass(frozen=True, slots=True)
class TurnRecord:
    """A row of the table `turn`; `usage` and `output` are JSON texts.

    `number` is the turn's position in its thread, from 1. `asked_at` is in seconds
    since 1970, `price` in US dollars, None if unknown.
    """

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
    """A thread with all its turns, oldest first; `state` is a JSON text.

    Times are in seconds since 1970; `deleted_at` is None unless the thread is deleted.
    `digest` identifies the thread's version in the Supabase project and is empty if the
    thread comes from a local file.
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
    """Return the thread in a JSON value that a database function returned."""
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
    """Return a thread as the JSON value that the database functions expect."""
    turns = [turn_record_to_json(turn) for turn in thread.turns]
    return {**encode_value(thread), "state": json.loads(thread.state), "turns": turns}


def turn_record_to_json(turn: TurnRecord) -> PostgresJson:
    """Return a turn as the JSON value that the database functions expect."""
    usage, output = json.loads(turn.usage), json.loads(turn.output)
    return {**encode_value(turn), "usage": usage, "output": output}


@dataclass(frozen=True, slots=True)
class TurnReceipt:
    """The answer of the Supabase project to a new turn.

    `count` is the library's count of thread changes, and `digest` that of the thread,
    both after the turn.
    """

    count: int
    digest: str


class SupabaseThreadApi:
    """Reads and writes threads of one library in a Supabase project.

    `library` is its id. The Supabase project counts every change of a thread. Every
    method raises LrwrError if the Supabase project does not answer or refuses.
    """

    def __init__(self, rpc: SupabaseRpc, library: str) -> None:
        self._rpc = rpc
        self._library = library

    async def digests(self) -> dict[str, str]:
        """Return the digest of each thread's version by the thread's id, for deleted
        ones too.

        Raises:
            LrwrError: The Supabase project does not answer or refuses.
        """
        rpc_json = await self._call("thread_marks")
        with self._rpc.decoding():
            return {row["id"]: row["digest"] for row in rpc_json}

    async def load(self, thread: str) -> ThreadRecord | None:
        """Return the thread with this id and all its turns, even if it is deleted.

        None if it does not exist.

        Raises:
            LrwrError: The Supabase project does not answer or refuses.
        """
        rpc_json = await self._call("thread_whole", thread=thread)
        with self._rpc.decoding():
            return None if rpc_json is None else parse_thread_record(rpc_json)

    async def put(self, thread: ThreadRecord) -> None:
        """Merge a complete local thread into the thread in the Supabase project.

        Turns that only the Supabase project has remain. A new turn gets its local
        number, or the next free one if that is taken. Title, state and deletion are
        those of the version that changed later; `thread` wins a tie.

        Raises:
            LrwrError: The Supabase project does not answer or refuses.
        """
        row = encode_postgres_json(thread_record_to_json(thread))
        rpc_json = await self._call("put_thread", thread=row)
        with self._rpc.decoding():
            if rpc_json is not True:
                raise ValueError("the result is not true")

    async def save_turn(
        self, thread: ThreadRecord, turn: TurnRecord, *, late: bool = False
    ) -> TurnReceipt:
        """Append `turn` to a thread, and set the thread's state. Idempotent.

        A thread that does not exist is created with its title; a deleted one is
        restored. `late` means that the turn is sent some time after it was asked: then
        a thread that was deleted after the question stays deleted, and a state set by a
        newer turn stays.

        Raises:
            LrwrError: The Supabase project does not answer or refuses.
        """
        rpc_json = await self._call(
            "keep_turn",
            thread=thread.id,
            title=thread.title,
            state=encode_postgres_json(thread_record_to_json(thread)["state"]),
            turn=encode_postgres_json(turn_record_to_json(turn)),
            late=late,
        )
        with self._rpc.decoding():
            return TurnReceipt(int(rpc_json["spoken"]), str(rpc_json["digest"]))

    async def rename(self, thread: str, title: str) -> bool:
        """Set the title of the thread with this id; False if it does not exist.

        Raises:
            LrwrError: The Supabase project does not answer or refuses.
        """
        return bool(await self._call("rename_thread", thread=thread, title=title))

    async def delete(self, thread: str, at: float) -> bool:
        """Mark a thread as deleted at the time `at`, in seconds since 1970.

        False if it does not exist.

        Raises:
            LrwrError: The Supabase project does not answer or refuses.
        """
        return bool(await self._call("delete_thread", thread=thread, at=at))

    async def restore(self) -> str | None:
        """Restore the thread that was deleted last, and return its id; None if none is
        deleted.

        Raises:
            LrwrError: The Supabase project does not answer or refuses.
        """
        back = await self._call("restore_thread")
        return None if back is None else str(back)

    async def purge(self, before: float) -> int:
        """Remove for good the deleted threads whose deletion was earlier than `before`.

        Returns their number. `before` is in seconds since 1970.

        Raises:
            LrwrError: The Supabase project does not answer or refuses.
        """
        count = await self._call("purge_threads", before=before)
        with self._rpc.decoding():
            return int(count)

    async def _call(self, function: str, **arguments: RpcJson) -> RpcJson:
        return await self._rpc.call(function, library=self._library, **arguments)
