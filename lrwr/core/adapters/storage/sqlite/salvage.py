"""Recovery of a damaged library: its readable rows are copied into a new file.

Only rows that cannot be derived from the manuscript are copied; see `USER_TABLES`.
"""

import re
import shutil
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path

from lrwr.core.adapters.storage.sqlite.checksums import (
    CHECKED_COLUMNS,
    register_row_checksum,
)
from lrwr.core.adapters.storage.sqlite.database import (
    SCHEMA_VERSION,
    migrate_sqlite_library,
    open_sqlite_library,
)
from lrwr.core.adapters.storage.sqlite.errors import (
    build_unknown_schema_error,
    is_schema_plausible,
    translate_sqlite_error,
)
from lrwr.core.adapters.storage.sqlite.maintenance import merge_log
from lrwr.core.adapters.storage.sqlite.pages import (
    DatabasePages,
    SchemaEntry,
    StoredRow,
    TreeScan,
)
from lrwr.core.adapters.storage.sqlite.row_replacement import fits_own_checksum
from lrwr.core.adapters.storage.sqlite.user_row_merge import (
    MergeCounts,
    clean_row,
    merge_user_rows,
)
from lrwr.core.adapters.storage.sqlite.user_rows import (
    USER_TABLES,
    Column,
    Row,
    UserRows,
    list_columns,
    list_index_columns,
)
from lrwr.core.adapters.storage.supabase.library_link import (
    create_library_link,
    store_library_link,
)

LOCK_TIMEOUT = 3.0
"""Seconds to wait for a lock of another process."""
_LIBRARY_TABLES = ("library", "hosted")
_KEYS = {
    "thread": "id",
    "turn": "id",
    "reply": "key",
    "draft": "key",
    "draft_step": "key",
    "sent": "n",
    "job": "id",
    "library": "id",
    "hosted": "id",
}
_ROWLESS = frozenset({"reply"})
"""Tables without rowids, whose rows are stored in the order of their keys."""
_NEW_FILES = (".repaired", ".repairing")
"""Endings of the new file: when it is complete, and while it is written."""
_MAX_GENERATION = 2**60
_ID_COLUMNS = frozenset({"id", "thread_id"})
_ID = re.compile(r"[0-9a-f-]+")
_ID_CHARS = 36
"""Length of a library's id."""


@dataclass(frozen=True, slots=True)
class DamagedLibrary:
    """What could be read of a library's file.

    `rows` are the readable rows by table. `unreadable` counts damaged rows by table,
    as far as the file still says how many there were.
    """

    rows: UserRows
    unreadable: Mapping[str, int]

    @property
    def is_empty(self) -> bool:
        """Whether nothing was read."""
        return not any(self.rows.values())


@dataclass(frozen=True, slots=True)
class SalvageCounts:
    """Numbers of rows of one table that were copied from a damaged file.

    `copied` rows were added and `present` rows were in the library already. Of the
    copied ones, `mended` had a damaged value that was replaced. `unreadable` rows are
    lost. `replaced` rows of the library were damaged and became the sound copy.
    """

    copied: int
    present: int
    mended: int
    unreadable: int
    replaced: int = 0


def read_damaged_library(path: Path) -> DamagedLibrary:
    """Read what can be read of the library's file at `path`, which is not changed.

    Raises:
        StoreProblem: The file cannot be opened, or its schema is newer than this
            version of lrwr knows.
    """
    try:
        pages = DatabasePages(path)
    except OSError as error:
        raise translate_sqlite_error(error, path, patience=LOCK_TIMEOUT) from error
    schema = pages.read_schema()
    is_library = any(entry.name == "library" for entry in schema)
    version = pages.schema_version
    is_newer = is_schema_plausible(version, SCHEMA_VERSION) and version > SCHEMA_VERSION
    if is_library and is_newer:
        raise build_unknown_schema_error(path, version, SCHEMA_VERSION)
    reader = _TableReader(pages, schema)
    rows, unreadable = {}, {}
    for table in (*USER_TABLES, *_LIBRARY_TABLES):
        rows[table], unreadable[table] = reader.read(table)
    return DamagedLibrary(rows, unreadable)


def rebuild_library(
    sources: Sequence[DamagedLibrary], target: Path, *, expired_before: float
) -> dict[str, SalvageCounts]:
    """Write the rows of `sources` to a new library at `target`, which must not exist.

    The new library keeps the id of the first source and its link to a Supabase project.
    The file is complete on disk when this returns. Returns the counts of the first
    source by table. `expired_before` is as in `merge_user_rows`.

    Raises:
        StoreProblem: The file cannot be written.
    """
    try:
        target.touch(mode=0o600, exist_ok=False)
        with closing(sqlite3.connect(target, isolation_level=None)) as connection:
            register_row_checksum(connection)
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("BEGIN IMMEDIATE")
            migrate_sqlite_library(connection, None, _ignore_notice)
            merged = [
                merge_user_rows(connection, source.rows, expired_before=expired_before)
                for source in sources
            ]
            _store_identity(connection, sources[0])
            connection.execute("COMMIT")
    except (sqlite3.Error, OSError) as error:
        raise translate_sqlite_error(error, target, patience=LOCK_TIMEOUT) from error
    return _count(sources[0], merged[0])


def salvage_library(
    path: Path, *, ending: str, expired_before: float
) -> tuple[Path, dict[str, SalvageCounts]]:
    """Replace the damaged library at `path` by a new one with its readable rows.

    The damaged file gets the name of the library with `.` and `ending`. If the process
    is killed, `path` is either the damaged file or the complete new one; what a killed
    call had written is merged by the next one. If nothing can be read, there is no new
    file. Returns the damaged file's new path and
    counts by table. `expired_before` is as in `merge_user_rows`.

    Raises:
        StoreProblem: Another process uses the library, or a file cannot be written.
    """
    finished, unfinished = (path.with_name(path.name + end) for end in _NEW_FILES)
    aside = path.with_name(f"{path.name}.{ending}")
    try:
        merge_log(path)
        sources = [read_damaged_library(path)]
        if finished.exists():
            sources.append(read_damaged_library(finished))
        unfinished.unlink(missing_ok=True)
        unfinished.with_name(f"{unfinished.name}-journal").unlink(missing_ok=True)
        counts = rebuild_library(sources, unfinished, expired_before=expired_before)
        unfinished.replace(finished)
        _copy_aside(path, aside)
        for suffix in ("-wal", "-shm"):
            path.with_name(path.name + suffix).unlink(missing_ok=True)
        if all(source.is_empty for source in sources):
            path.unlink()
            finished.unlink()
        else:
            finished.replace(path)
    except (sqlite3.Error, OSError) as error:
        raise translate_sqlite_error(error, path, patience=LOCK_TIMEOUT) from error
    return aside, counts


def merge_unfinished_salvage(path: Path, *, expired_before: float) -> bool:
    """Merge into the library at `path` what a killed `salvage_library` had written.

    Return whether there was anything. `expired_before` is as in `merge_user_rows`.

    Raises:
        StoreProblem: The library cannot be written.
    """
    finished, unfinished = (path.with_name(path.name + end) for end in _NEW_FILES)
    unfinished.unlink(missing_ok=True)
    if not finished.exists():
        return False
    source = read_damaged_library(finished)
    merge_library(path, source, expired_before=expired_before)
    finished.unlink()
    return True


def _copy_aside(path: Path, aside: Path) -> None:
    """Give the file and its `-wal` a second name, or copy them where that is impossible."""
    for suffix in ("-wal", ""):
        source = path.with_name(path.name + suffix)
        target = aside.with_name(aside.name + suffix)
        if not source.exists() or (target.exists() and target.samefile(source)):
            continue
        try:
            target.hardlink_to(source)
        except OSError:  # the file system has no hard links
            shutil.copyfile(source, target)


def merge_library(
    path: Path, source: DamagedLibrary, *, expired_before: float
) -> dict[str, SalvageCounts]:
    """Add the rows of `source` that the library at `path` lacks, in one transaction.

    The library is created if it does not exist. Returns counts by table.
    `expired_before` is as in `merge_user_rows`.

    Raises:
        StoreProblem: The library cannot be written.
    """
    try:
        opened = open_sqlite_library(path, patience=LOCK_TIMEOUT, say=_ignore_notice)
        with closing(opened.connection) as connection:
            if opened.why_read_only is not None:
                raise opened.why_read_only
            connection.execute("BEGIN IMMEDIATE")
            merged = merge_user_rows(
                connection, source.rows, expired_before=expired_before
            )
            connection.execute("COMMIT")
    except (sqlite3.Error, OSError) as error:
        raise translate_sqlite_error(error, path, patience=LOCK_TIMEOUT) from error
    return _count(source, merged)


def _count(
    source: DamagedLibrary, merged: Mapping[str, MergeCounts]
) -> dict[str, SalvageCounts]:
    return {
        table: SalvageCounts(
            counts.added,
            counts.present,
            counts.mended,
            counts.rejected + source.unreadable.get(table, 0),
            counts.replaced,
        )
        for table, counts in merged.items()
    }


def _ignore_notice(sentence: str) -> None:
    del sentence


class _CurrentSchema:
    """The columns and indexes of the tables in the current schema."""

    def __init__(self) -> None:
        tables = (*USER_TABLES, *_LIBRARY_TABLES)
        with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
            migrate_sqlite_library(connection, None, _ignore_notice)
            self.columns = {t: list_columns(connection, t) for t in tables}
            self.indexes = {t: list_index_columns(connection, t) for t in tables}


class _TableReader:
    """Reads the rows of tables from the pages of a damaged file."""

    def __init__(self, pages: DatabasePages, schema: Sequence[SchemaEntry]) -> None:
        current = _CurrentSchema()
        self._pages = pages
        self._schema = schema
        self._columns: Mapping[str, list[Column]] = current.columns
        self._indexes = current.indexes
        self._stray_rows: list[StoredRow] | None = None

    def read(self, table: str) -> tuple[list[Row], int]:
        """Return the readable rows of a table, and the number of unreadable ones."""
        scans = self._scan("table", table)
        indexed, keys = self._read_indexes(table)
        undecodable = sum(scan.bad_rows for scan in scans)
        by_key: dict[object, Row] = {}
        key = _KEYS.get(table)
        for stored in (row for scan in scans for row in correct_row_numbers(scan.rows)):
            row = self._to_row(table, stored, keys.get(stored.rowid, {}))
            if row is None:
                undecodable += 1
            else:
                by_key.setdefault(row[key] if key else id(row), row)
        if key and (not scans or any(scan.bad_pages for scan in scans)):
            for row in self._find_stray_rows(table):
                by_key.setdefault(row[key], row)
        return list(by_key.values()), max(undecodable, indexed - len(by_key))

    def _scan(self, kind: str, table: str) -> list[TreeScan]:
        return [
            self._pages.scan(entry.root)
            for entry in self._schema
            if entry.kind == kind and entry.name == table
        ]

    def _read_indexes(self, table: str) -> tuple[int, dict[int, Row]]:
        """Return the number of rows that the indexes list, and their ids by rowid."""
        most, keys = 0, dict[int, Row]()
        scans = [
            (scan, columns)
            for name, columns in self._indexes[table].items()
            for scan in self._scan("index", name)
        ]
        for scan, columns in scans:
            is_whole = not scan.bad_pages and not scan.bad_rows
            most = max(most, len(scan.rows) if is_whole else 0)
            for row in scan.rows:
                rowid = row.values[-1] if row.values else None
                if isinstance(rowid, int) and len(row.values) == len(columns) + 1:
                    found = zip(columns, row.values, strict=False)
                    ids = {name: value for name, value in found if name in _ID_COLUMNS}
                    keys.setdefault(rowid, {}).update(ids)
        return most, keys

    def _to_row(self, table: str, stored: StoredRow, ids: Row) -> Row | None:
        """Return a row by column name; None if it is not one of `table`.

        `ids` are the row's ids in the indexes, which replace damaged ones.
        """
        columns = self._columns[table]
        if not 0 < len(stored.values) <= len(columns):
            return None
        row: Row = {}
        for column, value in zip(columns, stored.values, strict=False):
            if column.is_row_number and table not in _ROWLESS:
                row[column.name] = stored.rowid
            elif column.type == "REAL" and isinstance(value, int):
                row[column.name] = float(value)  # whole numbers are stored as integers
            else:
                row[column.name] = value
        row |= {name: id_ for name, id_ in ids.items() if _is_better_id(id_, row[name])}
        indexed = {**row, **ids}
        if indexed != row and _fits_checksum(indexed, table):
            row = indexed
        return row if clean_row(table, row, columns) else None

    def _find_stray_rows(self, table: str) -> Iterator[Row]:
        """Yield the rows of a table on pages that no readable page leads to.

        They are recognized by the number, types and values of their columns.
        """
        columns = self._columns[table]
        # A row that was stored before checksums lacks the last column.
        lengths = {len(columns), len(columns) - (columns[-1].name == "crc")}
        for stored in self._list_stray_rows():
            is_rowless = table in _ROWLESS
            if len(stored.values) in lengths and is_rowless == (not stored.rowid):
                row = self._to_row(table, stored, {})
                cleaned = row and clean_row(table, row, columns)
                if row and cleaned and not cleaned[1] and self._is_numbered(row, table):
                    yield row

    def _is_numbered(self, row: Row, table: str) -> bool:
        return all(
            row[column.name] for column in self._columns[table] if column.is_row_number
        )

    def _list_stray_rows(self) -> list[StoredRow]:
        if self._stray_rows is None:
            reached = self._pages.list_free_pages() or set()
            for entry in self._schema:
                reached |= self._pages.list_pages(entry.root)
            self._stray_rows = [
                row
                for number in range(2, self._pages.count + 1)
                if number not in reached
                for row in self._pages.scan_page(number).rows
            ]
        return self._stray_rows


def correct_row_numbers(rows: Sequence[StoredRow]) -> list[StoredRow]:
    """Return the rows of a table, in stored order, with damaged numbers replaced.

    Numbers ascend. One that does not is replaced if a single number is free between its
    neighbours.
    """
    corrected: list[StoredRow] = []
    for row, following in zip_longest(rows, rows[1:]):
        after = following.rowid if following else None
        before = corrected[-1].rowid if corrected else 0
        if after == before + 2 and row.rowid != before + 1:
            row = replace(row, rowid=before + 1)
        corrected.append(row)
    return corrected


def _is_better_id(id_: object, other: object) -> bool:
    """Return whether `id_` looks like an id of lrwr and `other` does not."""
    is_id, is_other = (
        isinstance(text, str) and _ID.fullmatch(text) for text in (id_, other)
    )
    return bool(is_id and not is_other)


def _fits_checksum(row: Row, table: str) -> bool:
    with closing(sqlite3.connect(":memory:")) as connection:
        register_row_checksum(connection)
        return table in CHECKED_COLUMNS and fits_own_checksum(connection, table, row)


def _store_identity(connection: sqlite3.Connection, source: DamagedLibrary) -> None:
    """Give a new library the id of the damaged one, and its link to a project.

    Vector indexes follow the id with its generation, so that a new generation makes
    them start again. The link starts again, too: the new file has nothing of the
    project's library.
    """
    for row in source.rows.get("library", ())[:1]:
        if len(str(row["id"])) == _ID_CHARS:
            connection.execute(
                "update library set id = :id, created = :created,"
                " generation = min(:generation, :most) + 1",
                {**row, "most": _MAX_GENERATION},
            )
    for row in source.rows.get("hosted", ())[:1]:
        names = (str(row[n]) for n in ("project", "account", "library", "name"))
        store_library_link(connection, create_library_link(*names))
