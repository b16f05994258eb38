"""Libraries with conversations, and damage done to their files."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from random import Random

from lrwr.core.adapters.storage.sqlite.checksums import seal_sql
from lrwr.core.adapters.storage.sqlite.database import open_sqlite_library
from lrwr.core.adapters.storage.sqlite.thread_store import (
    state_to_json,
    turn_to_columns,
)
from lrwr.core.model.turns import NarrativeState
from tests.fakes.conversations import a_turn

PAGE = 4096
TABLES = {"thread": "id", "turn": "id", "reply": "key", "sent": "n", "job": "id"}
"""The tables that cannot be derived, with their keys."""

Rows = dict[str, dict[object, tuple[object, ...]]]


def a_talkative_library(path: Path, threads: int = 6, turns: int = 12) -> None:
    """Create a library with threads, replies, a send log, jobs and a document.

    Some answers are longer than a page.
    """
    dice = Random(7)
    with closing(
        open_sqlite_library(path, patience=1.0, say=lambda _: None).connection
    ) as connection:
        connection.execute("begin")
        _fill(connection, dice, threads, turns)
        connection.execute("commit")
        connection.execute("pragma wal_checkpoint(truncate)")


def _fill(
    connection: sqlite3.Connection, dice: Random, threads: int, turns: int
) -> None:
    connection.execute(
        "insert into document values ('1.md', 'md', 'scene', 'One', 1.0, 9, 1.0, '[]',"
        " '[]', '', ?)",
        ("The lamp burned. " * 900,),
    )
    for thread in range(threads):
        connection.execute(
            "insert into thread (id, title, created_at, updated_at, state)"
            " values (?, ?, ?, ?, ?)",
            (f"{thread:032}", f"Thread {thread}", 1e6, 1e6 + thread, _STATE),
        )
    for number in range(threads * turns):
        text = "Nell shut the sluice [1]. " * dice.choice((1, 3, 20, 400))
        columns = turn_to_columns(a_turn(f"Who? {number}", text, asked_at=1e6 + number))
        connection.execute(
            "insert into turn (id, asked_at, state, price, usage, question, answer,"
            " output, thread_id, number) values (:id, :asked_at, :state, :price, :usage,"
            " :question, :answer, :output, :thread, :number)",
            {
                **columns,
                "thread": f"{number % threads:032}",
                "number": 1 + number // threads,
            },
        )
        connection.execute(
            "insert into reply (key, made, prompt_tokens, completion_tokens, finding)"
            " values (?, ?, 9, 3, ?)",
            (f"{dice.getrandbits(256):064x}", 1e6, '["grey eyes"]' + " " * 99),
        )
        connection.execute(
            "insert into sent (at, service, host, purpose, model, sent_bytes, outcome)"
            " values (?, 'openai', 'api.openai.com', 'answering', 'm', 99, 'answered')",
            (1e6 + number,),
        )
        connection.executemany(
            "insert into job (kind, document_id, pipeline, state, created_at,"
            " updated_at) values ('process', '1.md', 'b', 'complete', 1e6, 1e6)",
            [()] * 5,
        )
    for table in ("thread", "turn", "reply"):
        connection.execute(seal_sql(table, "true"))


_STATE = state_to_json(NarrativeState())


def read_plainly(path: Path) -> Rows:
    """Read the rows with plain SQL, one by one, skipping those that fail."""
    with closing(sqlite3.connect(path)) as connection:
        return {
            table: {
                row[_COLUMNS[table].index(key)]: row for row in _rows(connection, table)
            }
            for table, key in TABLES.items()
        }


def _rows(connection: sqlite3.Connection, table: str) -> list[tuple[object, ...]]:
    names = ", ".join(_COLUMNS[table])
    return connection.execute(f"select {names} from {table}").fetchall()


_COLUMNS = {
    "thread": ["id", "title", "created_at", "updated_at", "deleted_at", "state"],
    "turn": [
        "id",
        "thread_id",
        "number",
        "asked_at",
        "state",
        "price",
        "usage",
        "question",
        "answer",
        "output",
    ],
    "reply": ["key", "made", "prompt_tokens", "completion_tokens", "finding"],
    "sent": [
        *("n", "at", "service", "host", "purpose", "model", "sent_bytes"),
        *("received_bytes", "prompt_tokens", "completion_tokens", "price", "outcome"),
    ],
    "job": [
        *("id", "kind", "document_id", "pipeline", "state", "stage", "worker"),
        *("lease_until", "attempts", "error", "hint", "created_at", "updated_at"),
    ],
}


def read_still_readable(path: Path, original: Rows) -> Rows:
    """Return the rows of `original` that plain SQL still reads unchanged from `path`."""
    with closing(sqlite3.connect(path)) as connection:
        return {table: _still_readable(connection, original, table) for table in TABLES}


def _still_readable(
    connection: sqlite3.Connection, original: Rows, table: str
) -> dict[object, tuple[object, ...]]:
    key, names = TABLES[table], ", ".join(_COLUMNS[table])
    readable: dict[object, tuple[object, ...]] = {}
    for value, row in original[table].items():
        sql = f"select {names} from {table} where {key} = ?"
        with suppress(sqlite3.Error, UnicodeDecodeError):
            if connection.execute(sql, (value,)).fetchone() == row:
                readable[value] = row
    # A damaged index hides rows that a scan of the table finds.
    column = "key" if table == "reply" else "rowid"
    for order in ("asc", "desc"):
        sql = f"select {names} from {table} order by {column} {order}"
        for row in _iterate(connection, sql):
            value = row[_COLUMNS[table].index(key)]
            if original[table].get(value) == row:
                readable[value] = row
    return readable


def _iterate(connection: sqlite3.Connection, sql: str) -> Iterator[tuple[object, ...]]:
    with suppress(sqlite3.Error, UnicodeDecodeError):
        yield from connection.execute(sql)


def zero_page(path: Path, number: int) -> None:
    """Overwrite page `number` (from 1) with zeros."""
    with path.open("r+b") as file:
        file.seek((number - 1) * PAGE)
        file.write(bytes(PAGE))


def flip_bit(path: Path, at: int, bit: int) -> None:
    """Flip a bit of the byte at the offset `at`."""
    content = bytearray(path.read_bytes())
    content[at] ^= 1 << bit
    path.write_bytes(content)


def truncate(path: Path, pages: int) -> None:
    """Cut the file after `pages` pages."""
    truncate_bytes(path, pages * PAGE)


def truncate_bytes(path: Path, length: int) -> None:
    """Cut the file after `length` bytes."""
    with path.open("r+b") as file:
        file.truncate(length)


def count_pages(path: Path) -> int:
    """Return the number of pages of the file."""
    return path.stat().st_size // PAGE


def find_root(path: Path, name: str) -> int:
    """Return the first page of a table or index."""
    with closing(sqlite3.connect(path)) as connection:
        sql = "select rootpage from sqlite_schema where name = ?"
        return int(connection.execute(sql, (name,)).fetchone()[0])
