"""Merging of rows that cannot be derived from the manuscript into a library.

Each row is checked and, if it is damaged, mended or rejected.
"""

import json
import math
import sqlite3
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from lrwr.core.adapters.storage.sqlite.checksums import (
    CHECKED_COLUMNS,
    fits_sql,
    seal_sql,
)
from lrwr.core.adapters.storage.sqlite.row_replacement import (
    fits_own_checksum,
    is_damaged_row,
    replace_damaged_row,
)
from lrwr.core.adapters.storage.sqlite.thread_store import (
    state_to_json,
    turn_to_columns,
)
from lrwr.core.adapters.storage.sqlite.user_rows import (
    USER_TABLES,
    Column,
    Row,
    UserRows,
    find_expired_threads,
    is_time,
    list_columns,
)
from lrwr.core.model.codec import decode_json, decode_value
from lrwr.core.model.egress import RequestOutcome, RequestPurpose
from lrwr.core.model.language_model import Usage
from lrwr.core.model.text import replace_surrogates
from lrwr.core.model.turns import (
    AnswerIntent,
    NarrativeState,
    SupervisorOutput,
    Turn,
    TurnId,
    TurnState,
)

_MAX_NUMBER = 2**53
"""Up to which a whole number is accepted; none is counted so far."""
_TIMES = frozenset(
    {"created_at", "updated_at", "deleted_at", "asked_at", "made", "at", "lease_until"}
)
_TYPES: Mapping[str, type] = {"TEXT": str, "INTEGER": int, "REAL": float}
_SENT_IDENTITY = ("at", "service", "host", "purpose", "model", "sent_bytes")
_REQUIRED: Mapping[str, set[str]] = {
    "thread": {"id", "title", "created_at", "updated_at", "state"},
    "turn": {"id", "thread_id", "number", "asked_at", "question"},
    "reply": {"key"},
    "draft": {"key", "state", "model", "file", "text", "at"},
    "draft_step": {"key", "scene", "step", "model", "reply", "at"},
    "sent": set(_SENT_IDENTITY),
    "sent_since": {"at"},
    "job": {"id"},
    "library": {"id", "created", "generation"},
    "hosted": {"project", "account", "library", "name"},
}
"""Columns without which a row is of no use."""
_KEYS = frozenset({"id", "thread_id", "key"})
_MAX_TITLE_CHARS = 80
_CLEARED_SECONDS = 5.0
"""A send log that begins later after its library was created was cleared meanwhile."""
_UPDATE_THREAD = """
update thread set title = :title, updated_at = :updated_at, state = :state
where id = :id and updated_at < :updated_at
"""
_FITTING = f"select id from turn where thread_id = ? and {fits_sql('turn')}"


@dataclass(frozen=True, slots=True)
class MergeCounts:
    """Numbers of rows of one table: `added` to the library, already `present` in it,
    and `rejected` because they are damaged.

    `mended` counts added rows of which a damaged value was replaced. `replaced` counts
    rows of the library that were damaged and became the sound row.
    """

    added: int = 0
    present: int = 0
    rejected: int = 0
    mended: int = 0
    replaced: int = 0


def merge_user_rows(
    connection: sqlite3.Connection, rows: UserRows, *, expired_before: float
) -> dict[str, MergeCounts]:
    """Add the rows that the library lacks. A thread or turn of the library is only
    overwritten if it does not fit its checksum, and the one in `rows` does.

    Must be called inside a transaction. A thread of the library gets title and state of
    `rows` only if it was used later there. Threads that were deleted before
    `expired_before`, in seconds since 1970, are left out with their turns. Jobs are
    added only if they are older than all jobs of the library. Damaged rows are
    rejected. Idempotent.
    """
    merger = _UserRowMerger(connection)
    expired = find_expired_threads(rows, expired_before)
    threads = [row for row in rows.get("thread", ()) if row.get("id") not in expired]
    turns = [row for row in rows.get("turn", ()) if row.get("thread_id") not in expired]
    counts = {
        "thread": merger.merge_threads(threads),
        "turn": merger.merge_turns(turns),
        "reply": merger.merge_by_key("reply", "key", rows.get("reply", ())),
        "draft": merger.merge_by_key("draft", "key", rows.get("draft", ())),
        "draft_step": merger.merge_by_key(
            "draft_step", "key", rows.get("draft_step", ())
        ),
        "sent": merger.merge_send_log(rows.get("sent", ()), rows.get("sent_since", ())),
        "job": merger.merge_jobs(rows.get("job", ())),
    }
    return {table: MergeCounts(**count) for table, count in counts.items()}


class _UserRowMerger:
    """Merges rows into the library of an open transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._columns = {
            table: list_columns(connection, table) for table in USER_TABLES
        }

    def merge_threads(self, rows: Sequence[Row]) -> Counter[str]:
        """Add threads; update those that were used later in `rows`."""
        counts: Counter[str] = Counter()
        for row in rows:
            cleaned = clean_row("thread", row, self._columns["thread"])
            if cleaned is not None and self._is_usable("thread", cleaned[0]):
                self._update_thread(cleaned[0])
            counts.update(self._merge_cleaned("thread", "id", cleaned))
        return counts

    def merge_turns(self, rows: Sequence[Row]) -> Counter[str]:
        """Add turns; create the threads that could not be read."""
        counts: Counter[str] = Counter()
        disordered: set[object] = set()
        for row in rows:
            cleaned = clean_row("turn", row, self._columns["turn"])
            if cleaned is not None and not self._exists("turn", "id", row["id"]):
                turn = cleaned[0]
                if not self._exists("thread", "id", turn["thread_id"]):
                    self._create_thread_of(turn)
                is_sound = fits_own_checksum(self._connection, "turn", turn)
                if self._assign_number(turn):
                    disordered.add(turn["thread_id"])
                    # The checksum of a damaged turn stays one that does not fit.
                    turn["crc"] = None if is_sound else turn.get("crc")
                turn.pop("n", None)
            counts.update(self._merge_cleaned("turn", "id", cleaned))
        for thread in disordered:
            self._number_by_time(thread)
        return counts

    def merge_by_key(self, table: str, key: str, rows: Sequence[Row]) -> Counter[str]:
        """Add the rows whose value in the column `key` the table lacks."""
        counts: Counter[str] = Counter()
        for row in rows:
            cleaned = clean_row(table, row, self._columns[table])
            counts.update(self._merge_cleaned(table, key, cleaned))
        return counts

    def merge_send_log(self, rows: Sequence[Row], since: Sequence[Row]) -> Counter[str]:
        """Add entries of the send log, but none from before it was cleared."""
        cleared = self._find_clearing()
        names = ", ".join(_SENT_IDENTITY)
        stored = Counter(self._connection.execute(f"select {names} from sent"))
        counts: Counter[str] = Counter()
        times = [float(str(row["at"])) for row in since if is_time(row.get("at"))]
        for row in rows:
            cleaned = clean_row("sent", row, self._columns["sent"])
            if cleaned is None:
                counts["rejected"] += 1
                continue
            entry, _ = cleaned
            identity = tuple(entry[name] for name in _SENT_IDENTITY)
            at = float(str(entry["at"]))
            if stored[identity] or at < cleared:
                stored[identity] -= bool(stored[identity])
                counts["present"] += 1
                continue
            if self._exists("sent", "n", entry.get("n")):
                entry.pop("n")
            counts.update(self._insert("sent", entry, is_mended=False))
            times.append(at)
        if times and not cleared:
            sql = "update sent_since set at = min(at, ?)"
            self._connection.execute(sql, (min(times),))
        return counts

    def merge_jobs(self, rows: Sequence[Row]) -> Counter[str]:
        """Add jobs that are older than all jobs of the library."""
        sql = "select min(id) from job"
        (first,) = self._connection.execute(sql).fetchone()
        limit = math.inf if first is None else first
        older = [
            row
            for row in rows
            if not isinstance(row.get("id"), int) or float(str(row["id"])) < limit
        ]
        counts = self.merge_by_key("job", "id", older)
        counts["present"] += len(rows) - len(older)
        return counts

    def _find_clearing(self) -> float:
        """Return when the send log was cleared; 0 if it never was."""
        sql = "select created, (select max(at) from sent_since) from library"
        created, began = self._connection.execute(sql).fetchone() or (0.0, None)
        is_cleared = began is not None and began > created + _CLEARED_SECONDS
        return float(str(began)) if is_cleared else 0.0

    def _merge_cleaned(
        self, table: str, key: str, cleaned: "tuple[Row, bool] | None"
    ) -> Counter[str]:
        if cleaned is None:
            return Counter(rejected=1)
        row, is_mended = cleaned
        if self._exists(table, key, row.get(key)):
            is_replaced = table in ("thread", "turn") and replace_damaged_row(
                self._connection, table, row
            )
            return Counter(replaced=1) if is_replaced else Counter(present=1)
        return self._insert(table, row, is_mended=is_mended)

    def _exists(self, table: str, key: str, value: object) -> bool:
        sql = f"select 1 from {table} where {key} = ?"
        return self._connection.execute(sql, (value,)).fetchone() is not None

    def _insert(self, table: str, row: Row, *, is_mended: bool) -> Counter[str]:
        names, marks = ", ".join(row), ", ".join(f":{name}" for name in row)
        sql = f"insert into {table} ({names}) values ({marks})"
        try:
            self._connection.execute(sql, row)
        except (sqlite3.IntegrityError, OverflowError):  # the transaction continues
            return Counter(rejected=1)
        if table == "reply" and not self._fits_checksum(row):
            self._connection.execute("delete from reply where key = :key", row)
            return Counter(rejected=1)
        if is_mended and table in CHECKED_COLUMNS:
            seal = seal_sql(table, "id = :id and crc is null")
            self._connection.execute(seal, {"id": row["id"]})
        return Counter(added=1, mended=int(is_mended))

    def _is_usable(self, table: str, row: Row) -> bool:
        """Return whether a row fits its checksum, or was stored without one."""
        is_unchecked = row.get("crc") is None
        return is_unchecked or fits_own_checksum(self._connection, table, row)

    def _update_thread(self, row: Row) -> None:
        """Set title and state of a sound thread that was used later in `row`."""
        if is_damaged_row(self._connection, "thread", row["id"]):
            return
        if self._connection.execute(_UPDATE_THREAD, row).rowcount:
            seal = seal_sql("thread", "id = :id")
            self._connection.execute(seal, {"id": row["id"]})

    def _fits_checksum(self, reply: Row) -> bool:
        sql = f"select {fits_sql('reply')} from reply where key = :key"
        return bool(self._connection.execute(sql, reply).fetchone()[0])

    def _create_thread_of(self, turn: Row) -> None:
        """Create the thread of a turn whose thread could not be read."""
        row: Row = {
            "id": turn["thread_id"],
            "title": str(turn["question"])[:_MAX_TITLE_CHARS],
            "created_at": turn["asked_at"],
            "updated_at": turn["asked_at"],
            "state": state_to_json(NarrativeState()),
        }
        self._insert("thread", row, is_mended=True)

    def _assign_number(self, turn: Row) -> bool:
        """Give a turn whose number is taken the next one; return whether it was."""
        number = int(str(turn["number"]))
        taken, last = self._connection.execute(
            "select coalesce(sum(number = ?), 0), coalesce(max(number), 0) from turn"
            " where thread_id = ?",
            (number, turn["thread_id"]),
        ).fetchone()
        if not taken and number > 0:
            return False
        turn["number"] = last + 1
        return True

    def _number_by_time(self, thread: object) -> None:
        """Number the turns of a thread in the order in which they were asked."""
        turns = self._connection.execute(
            "select id, number from turn where thread_id = ? order by asked_at, number",
            (thread,),
        ).fetchall()
        sealed = self._connection.execute(_FITTING, (thread,)).fetchall()
        # Numbers are unique, so all are moved away before they are assigned.
        beyond = len(turns) + max((number for _, number in turns), default=0)
        self._connection.execute(
            "update turn set number = number + ? where thread_id = ?", (beyond, thread)
        )
        numbered = [(number, id_) for number, (id_, _) in enumerate(turns, start=1)]
        sql = "update turn set number = ? where id = ?"
        self._connection.executemany(sql, numbered)
        self._connection.executemany(seal_sql("turn", "id = ?"), sealed)


def clean_row(
    table: str, row: Row, columns: Sequence[Column]
) -> tuple[Row, bool] | None:
    """Return a row whose values can be decoded, and whether one had to be replaced.

    Damaged values of threads and turns are replaced if the texts can be read without
    them. None if the row cannot be used. Values of unknown columns are dropped.
    """
    if not _REQUIRED[table] <= row.keys():
        return None
    cleaned: Row = {}
    for column in columns:
        if column.name not in row:
            continue  # the database has a default for it
        value = _to_storable(column, row[column.name])
        if not _is_valid(table, column, value):
            if (table, column.name) not in _replacements():
                return None
            value = _replacements()[table, column.name]
        cleaned[column.name] = value
    is_mended = any(row[name] != value for name, value in cleaned.items())
    if (cleaned.get("deleted_at") is None) != (cleaned.get("deletion") is None):
        cleaned |= {"deleted_at": None, "deletion": None}
        is_mended = True
    return cleaned, is_mended


def _to_storable(column: Column, value: object) -> object:
    """Return a value as its column stores it; in a text, "?" for what is not Unicode."""
    if column.type == "REAL" and isinstance(value, int):
        return float(value)  # SQLite stores a whole number as an integer
    return replace_surrogates(value) if isinstance(value, str) else value


def _is_valid(table: str, column: Column, value: object) -> bool:
    if value is None:
        is_key = column.name in _KEYS and not column.is_row_number
        return column.is_row_number or (column.nullable and not is_key)
    if not isinstance(value, _TYPES[column.type]):
        return False
    if column.name in _TIMES or isinstance(value, float):
        return is_time(value)
    if not isinstance(value, str):
        return not isinstance(value, int) or 0 <= value < _MAX_NUMBER
    if column.name in _KEYS and "\ufffd" in value:
        return False
    decode = _DECODERS.get((table, column.name))
    return decode is None or _can_decode(decode, value)


def _can_decode(decode: Callable[[str], object], text: str) -> bool:
    try:
        decode(text)
    except (ValueError, TypeError, RecursionError):
        return False
    return True


def _decode_output(text: str) -> object:
    output = decode_json(text, dict)
    return decode_value({**output, "response_text": ""}, SupervisorOutput)


_DECODERS: Mapping[tuple[str, str], Callable[[str], object]] = {
    ("thread", "state"): lambda text: decode_json(text, NarrativeState),
    ("turn", "state"): TurnState,
    ("turn", "usage"): lambda text: decode_json(text, Usage),
    ("turn", "output"): _decode_output,
    ("reply", "finding"): json.loads,
    ("sent", "purpose"): RequestPurpose,
    ("sent", "outcome"): RequestOutcome,
}


@cache
def _replacements() -> Mapping[tuple[str, str], object]:
    """Return what replaces a damaged value, so that the texts of a thread survive."""
    output = SupervisorOutput("", AnswerIntent.ANALYTICAL, (), (), (), NarrativeState())
    empty = turn_to_columns(Turn(TurnId(""), 1, 0.0, "", output))
    return {
        ("thread", "title"): "",
        ("thread", "created_at"): 0.0,
        ("thread", "updated_at"): 0.0,
        ("thread", "deleted_at"): None,
        ("thread", "deletion"): None,
        ("thread", "state"): state_to_json(NarrativeState()),
        ("turn", "number"): 0,
        ("turn", "asked_at"): 0.0,
        ("turn", "state"): empty["state"],
        ("turn", "price"): None,
        ("turn", "usage"): empty["usage"],
        ("turn", "output"): empty["output"],
    }
