"""Records as a project gets them, for tests."""

import hashlib
import json
import struct
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from lrwr.core.adapters.storage.sqlite.thread_store import (
    state_to_json,
    turn_to_columns,
)
from lrwr.core.adapters.storage.supabase.records import SupabaseRecord
from lrwr.core.adapters.storage.supabase.thread_api import (
    SupabaseThreadApi,
    ThreadRecord,
    TurnReceipt,
    TurnRecord,
)
from lrwr.core.model.turns import Turn
from tests.fakes.conversations import THREAD, a_turn
from tests.fakes.hosted import Writer
from tests.fakes.postgres_server import Postgres

SPACE = "marsh-2"
HASH = hashlib.sha256(b"The sluice was shut.").hexdigest()
VECTOR = struct.pack("<2f", 0.6, 0.8)

NOWHERE = "00000000-0000-4000-8000-000000000000"
"""The id of no library."""

ODD = [
    "\0",
    "\x10\x100\x101 \x10",
    "\ud800 alone \udfff",
    "'; drop table lrwr_record; --",
    '{"a": "\\u0000"}\\',
    "Ça, naïve — “quoted” … \u200b\u202e\ufeff",
    "e\u0301 is not é; 木 🐸 𝔘",
    "\r\n\t\x7f\x80\x85\u2028",
    "%s ${x} $$ $1 :name ?",
    "",
]
"""Texts that somebody might paste."""


def a_record(
    key: str,
    told: object = "The sluice was shut.",
    *,
    kind: str = "document",
    content: str = "c1",
    texts: tuple[str, ...] = (),
) -> SupabaseRecord:
    """A record whose body tells `told`, and whose digest is right."""
    body = json.dumps(told, ensure_ascii=True)
    digest = hashlib.sha256(body.encode()).hexdigest()
    return SupabaseRecord(
        kind, key, content, digest, body, SPACE if texts else "", texts
    )


def gone(key: str, *, kind: str = "document") -> SupabaseRecord:
    """A record that deletes the stored one."""
    return SupabaseRecord(kind, key, "", "", None)


async def speak(
    threads: SupabaseThreadApi, turn: Turn | None = None, *, late: bool = False
) -> TurnReceipt:
    """Keep a turn in the project alone."""
    asked = turn or a_turn()
    whole = TurnRecord(**{**turn_to_columns(asked), "number": 1})  # type: ignore[arg-type]
    state = state_to_json(asked.output.narrative_state_delta)
    at = asked.asked_at
    thread = ThreadRecord(THREAD, "Tides", at, at, None, state, ())
    return await threads.save_turn(thread, whole, late=late)


def told_whole(thread: ThreadRecord | None) -> ThreadRecord | None:
    """A conversation with its JSON texts written in one way."""
    if thread is None:
        return None
    turns = [
        replace(one, usage=_in_order(one.usage), output=_in_order(one.output))
        for one in thread.turns
    ]
    return replace(thread, state=_in_order(thread.state), turns=tuple(turns))


def _in_order(text: str) -> str:
    return json.dumps(json.loads(text), sort_keys=True)


@contextmanager
def begun(
    postgres: Postgres, writer: Writer, library: str, record: SupabaseRecord
) -> Iterator[Callable[[], None]]:
    """Write a record in a transaction that is over when the caller says so."""
    process = subprocess.Popen(
        [postgres.programs / "psql", postgres.url, *["-X", "-q", "-A", "-t"]],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    said = ", ".join(
        f"'{one}'"
        for one in (
            *(library, "begun", record.kind, record.key, record.content),
            *(record.digest, record.body, record.space, "{}"),
        )
    )
    process.stdin.write(
        "begin;\n"
        f"select set_config('request.jwt.claim.sub', '{writer.id}', true) \\g /dev/null\n"
        "set local role authenticated;\n"
        f"select public.lrwr_put_record({said});\n"
    )
    process.stdin.flush()
    assert json.loads(process.stdout.readline())["done"]

    def end() -> None:
        process.communicate("commit;\n")
        assert process.returncode == 0

    try:
        yield end
    finally:
        process.kill()
        process.communicate()


def somebody_waits(postgres: Postgres) -> bool:
    """Return whether any transaction waits for another."""
    waiting = "select count(*) from pg_stat_activity where wait_event_type = 'Lock'"
    return postgres.run(waiting) != "0"
