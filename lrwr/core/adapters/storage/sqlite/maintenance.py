"""Maintenance of the library's file: inspection, repair, copies, inventory."""

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from lrwr.core.adapters.storage.sqlite.checksums import report_schema_damage
from lrwr.core.adapters.storage.sqlite.database import (
    SCHEMA_VERSION,
    NoticeCallback,
    migrate_sqlite_library,
    open_library_as_is,
    read_schema_version,
)
from lrwr.core.adapters.storage.sqlite.errors import (
    INDEX_DAMAGE,
    UNUSED_PAGE,
    check_file,
    is_corruption_error,
    is_damage,
    translate_sqlite_error,
)
from lrwr.core.adapters.storage.sqlite.fts_index import (
    check_fts_consistency,
    create_missing_fts_indexes,
    rebuild_fts_indexes,
    recreate_fts_indexes,
)
from lrwr.core.adapters.storage.sqlite.verification import (
    correct_schema_number,
    verify_sample,
)
from lrwr.core.adapters.storage.supabase.library_link import (
    LibraryLink,
    read_library_link,
)
from lrwr.core.model.choices import Pipeline
from lrwr.core.settings.library import create_private_file

MAINTENANCE_LOCK_TIMEOUT = 3.0
"""Seconds to wait for a lock of another process."""
_COUNTS = """
select
  (select count(*) from document),
  (select count(*) from chunk),
  (select count(*) from chunk where space = ''),
  (select count(*) from job where state = 'pending'),
  (select count(*) from job where state = 'running' and lease_until >= :now),
  (select count(*) from job where state = 'running' and lease_until < :now),
  (select count(*) from job j where state = 'failed' and not exists (
     select 1 from job k where k.id > j.id and k.document_id = j.document_id
       and k.pipeline = j.pipeline))
"""
_FAILED = """
select distinct document_id from job j where state = 'failed' and not exists (
  select 1 from job k where k.id > j.id and k.document_id = j.document_id
    and k.pipeline = j.pipeline)
"""
_FEED = """
select
  (select id || '.' || generation from library),
  (select coalesce(max(seq), 0) from change where pipeline = :pipeline),
  (select count(*) from chunk c where c.pipeline = :pipeline and c.space = :space
     and exists (select 1 from embedding e
       where e.space = c.space and e.text_hash = c.text_hash)),
  (select count(*) from chunk where pipeline = :pipeline and space <> :space),
  (select exists (select 1 from chunk
     where pipeline = :pipeline and space not in ('', :space)))
"""


@dataclass(frozen=True, slots=True)
class DatabaseCounts:
    """Numbers of rows in the library's file.

    `bare` counts chunks without a vector; `waiting`, `running`, `stuck` and `failed`
    count jobs. A job is stuck if its lease has ended. A failed job counts only if no
    later job exists for its document and pipeline.
    """

    documents: int
    chunks: int
    bare: int
    waiting: int
    running: int
    stuck: int
    failed: int
    failed_documents: tuple[str, ...] = ()
    """The ids of the documents of failed jobs."""


@dataclass(frozen=True, slots=True)
class DatabaseReport:
    """Result of an inspection of the library's file.

    `schema` is the version of the file, `wanted` that of this version of lrwr. `damage`
    holds the messages of SQLite's own check. `words_fit` says whether the full-text
    indexes agree with the passages; None if that was not checked. `counts` is None if
    the schema is not the wanted one or the file is damaged. `damaged_documents` are the
    ids of documents of a small random sample whose rows do not fit their checksums.
    """

    schema: int
    wanted: int
    damage: tuple[str, ...]
    words_fit: bool | None
    counts: DatabaseCounts | None
    damaged_documents: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ChangeFeedReport:
    """State of the change feed for one pipeline and embedding space.

    The feed lists added and deleted chunks for vector indexes. `epoch` is its name,
    `seq` the number of its last entry. `vectors` is the number of chunks that an
    up-to-date vector index contains, `missing` that of chunks without a vector in this
    space. `has_changed` says that some have one in another space.
    """

    epoch: str
    seq: int
    vectors: int
    missing: int = 0
    has_changed: bool = False


def inspect_database(path: Path, *, now: float) -> DatabaseReport:
    """Inspect the library's file at `path` without changing it.

    `now` is in seconds since 1970.

    Raises:
        StoreProblem: The file cannot be opened, or is too damaged to be read at all.
    """
    try:
        with open_library_as_is(path, patience=MAINTENANCE_LOCK_TIMEOUT) as connection:
            return _inspect(connection, now)
    except (sqlite3.Error, OSError) as error:
        raise translate_sqlite_error(
            error, path, patience=MAINTENANCE_LOCK_TIMEOUT
        ) from error


def inspect_change_feed(path: Path, pipeline: Pipeline, space: str) -> ChangeFeedReport:
    """Return the state of the change feed in the library's file at `path`.

    `space` names the embedding space.

    Raises:
        StoreProblem: The library cannot be read.
    """
    parameters = {"pipeline": pipeline.value, "space": space}
    try:
        with open_library_as_is(path, patience=MAINTENANCE_LOCK_TIMEOUT) as connection:
            return ChangeFeedReport(*connection.execute(_FEED, parameters).fetchone())
    except (sqlite3.Error, OSError) as error:
        raise translate_sqlite_error(
            error, path, patience=MAINTENANCE_LOCK_TIMEOUT
        ) from error


def rebuild_database_indexes(
    path: Path, say: NoticeCallback | None = None
) -> tuple[str, ...]:
    """Migrate the library's file, rebuild all its indexes, and return the damage that
    remains.

    Each message is a finding of SQLite's integrity check; there is none if the file is
    sound. If more than indexes is damaged, a copy is rebuilt, because writing to the
    file could overwrite readable rows; it replaces the file if it is sound then. `say`
    receives one sentence if the schema changes.

    Raises:
        StoreProblem: The file cannot be written, another process holds it, or its
            schema is newer than this version of lrwr knows.
    """
    say = say or _ignore_notice
    try:
        if all(
            any(words in line for words in INDEX_DAMAGE) for line in _find_damage(path)
        ):
            return _rebuild_all(path, say)
        return _rebuild_copy(path, say)
    except (sqlite3.Error, OSError) as error:
        if isinstance(error, sqlite3.Error) and is_damage(error):
            return (str(error),)
        raise translate_sqlite_error(
            error, path, patience=MAINTENANCE_LOCK_TIMEOUT
        ) from error


def _find_damage(path: Path) -> tuple[str, ...]:
    try:
        with open_library_as_is(path, patience=MAINTENANCE_LOCK_TIMEOUT) as connection:
            correct_schema_number(connection, path)
            return check_file(connection)
    except sqlite3.Error as error:
        if not is_damage(error):
            raise
        return (str(error),)


def _rebuild_all(path: Path, say: NoticeCallback) -> tuple[str, ...]:
    try:
        return _rebuild(path, rebuild_fts_indexes, say)
    except sqlite3.DatabaseError as error:
        if not _may_be_index_damage(error):
            raise
        return _rebuild(path, recreate_fts_indexes, say)


def _rebuild_copy(path: Path, say: NoticeCallback) -> tuple[str, ...]:
    """Rebuild a copy of the file, and replace the file by it if it is sound then."""
    merge_log(path)
    copy = path.with_name(f"{path.name}.repair-copy")
    try:
        shutil.copyfile(path, copy)
        copy.chmod(0o600)
        damage = _rebuild_all(copy, say)
        if not damage:
            merge_log(copy)
            copy.replace(path)
        return damage
    finally:
        for suffix in ("", "-wal", "-shm", "-journal"):
            copy.with_name(copy.name + suffix).unlink(missing_ok=True)


def merge_log(path: Path) -> None:
    """Merge the `-wal` file into the file, unless the file is too damaged for that.

    Raises:
        sqlite3.Error: Another process uses the file.
    """
    try:
        with report_schema_damage(), closing(_connect(path)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            connection.execute("PRAGMA journal_mode = DELETE").fetchone()
    except sqlite3.Error as error:
        if not is_damage(error):
            raise


def checkpoint_database(path: Path) -> None:
    """Merge the `-wal` file into the library's file, which no process may use
    meanwhile.

    A damaged file is left unchanged.

    Raises:
        StoreProblem: Another process uses the file, or it cannot be written.
    """
    try:
        merge_log(path)
    except sqlite3.Error as error:
        if not is_corruption_error(error):
            raise translate_sqlite_error(
                error, path, patience=MAINTENANCE_LOCK_TIMEOUT
            ) from error


def copy_database(source: Path, target: Path) -> None:
    """Write a consistent copy of the library to `target`, which must not exist.

    Other processes may use and change the library during the copy.

    Raises:
        StoreProblem: The library cannot be read, or the copy cannot be written.
    """
    try:
        create_private_file(target)
        with (
            open_library_as_is(source, patience=MAINTENANCE_LOCK_TIMEOUT) as connection,
            closing(sqlite3.connect(target, isolation_level=None)) as copy_connection,
        ):
            connection.backup(copy_connection)
            copy_connection.execute("PRAGMA journal_mode = DELETE").fetchone()
    except (sqlite3.Error, OSError) as error:
        path = source if is_corruption_error(error) else target
        raise translate_sqlite_error(
            error, path, patience=MAINTENANCE_LOCK_TIMEOUT
        ) from error


def _ignore_notice(sentence: str) -> None:
    del sentence


def _connect(path: Path) -> sqlite3.Connection:
    uri = f"{path.absolute().as_uri()}?mode=rw"
    return sqlite3.connect(
        uri, uri=True, timeout=MAINTENANCE_LOCK_TIMEOUT, isolation_level=None
    )


def _inspect(connection: sqlite3.Connection, now: float) -> DatabaseReport:
    schema = read_schema_version(connection)
    damage = check_file(connection, "quick_check(20)")
    fit, counts = None, None
    sampled: tuple[str, ...] = ()
    if schema == SCHEMA_VERSION and not damage:
        fit = check_fts_consistency(connection)
        failed = tuple(str(row[0]) for row in connection.execute(_FAILED))
        row = connection.execute(_COUNTS, {"now": now}).fetchone()
        counts = replace(DatabaseCounts(*row), failed_documents=failed)
        sampled = verify_sample(connection, now)
    return DatabaseReport(schema, SCHEMA_VERSION, damage, fit, counts, sampled)


def _may_be_index_damage(error: sqlite3.DatabaseError) -> bool:
    """Return whether only a full-text index may be damaged, and not the file."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return code in {sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT}


def _rebuild(
    path: Path, prepare: Callable[[sqlite3.Connection], None], say: NoticeCallback
) -> tuple[str, ...]:
    """Migrate and reindex the file after `prepare`, which repairs full-text indexes."""
    with open_library_as_is(path, patience=MAINTENANCE_LOCK_TIMEOUT) as connection:
        correct_schema_number(connection, path)
        connection.execute("BEGIN IMMEDIATE")
        try:
            prepare(connection)
            migrate_sqlite_library(connection, None, say)
            create_missing_fts_indexes(connection)
            connection.execute("REINDEX")
            connection.execute("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
            raise
        damage = check_file(connection)
        if damage and all(UNUSED_PAGE in line for line in damage):
            connection.execute("VACUUM")  # free the pages of a deleted full-text index
            damage = check_file(connection)
        return damage


_LEFT_OUT_TABLES = ("job", "turn", "thread", "draft", "draft_step", "hosted")
"""Tables that a dry run must not use: jobs, threads, and the link to a project."""


def copy_library_for_dry_run(source: Path, target: Path) -> None:
    """Copy the library to the new file `target`, without threads, drafts, jobs and the link to
    a Supabase project.

    Other processes may use and change the library during the copy.

    Raises:
        StoreProblem: The library cannot be read, or the copy cannot be written.
    """
    copy_database(source, target)
    try:
        with closing(sqlite3.connect(target)) as connection, connection:
            _delete_left_out(connection)
    except (sqlite3.Error, OSError) as error:
        raise translate_sqlite_error(
            error, target, patience=MAINTENANCE_LOCK_TIMEOUT
        ) from error


def _delete_left_out(connection: sqlite3.Connection) -> None:
    # A library of an earlier version may lack some of these tables.
    tables = connection.execute("select name from sqlite_schema").fetchall()
    for table in _LEFT_OUT_TABLES:
        if (table,) in tables:
            connection.execute(f"delete from {table}")


_SPACES = """
select space from chunk where space <> ''
union select space from embedding order by space
"""


_RECIPIENTS = """
select service, host, count(*) from sent where outcome <> 'not reached'
group by service, host order by service, host
"""


@dataclass(frozen=True, slots=True)
class EgressRecipient:
    """A service and host to which requests were sent, and their number in the
    send log.
    """

    service: str
    host: str
    requests: int


@dataclass(frozen=True, slots=True)
class LibraryInventory:
    """Numbers of things in a library's file; zero or empty for what cannot be read.

    `library` is the library's id and `spaces` are the embedding spaces of its chunks;
    both are needed to find its data at services. `hosted` links it to a library in a
    Supabase project. `conversations` counts threads, deleted ones too. `replies` counts
    cached replies of language models, `requests` the entries of the send log. `unread`
    says that the file cannot be read, so that data at services may exist although none
    is listed.
    """

    library: str = ""
    spaces: tuple[str, ...] = ()
    documents: int = 0
    passages: int = 0
    conversations: int = 0
    answers: int = 0
    replies: int = 0
    requests: int = 0
    recipients: tuple[EgressRecipient, ...] = ()
    hosted: LibraryLink | None = None
    unread: bool = False


def take_library_inventory(path: Path) -> LibraryInventory:
    """Count what the library's file at `path` contains, even if it is damaged.

    Never raises an error of the file; `unread` reports it.
    """
    try:
        with open_library_as_is(path, patience=MAINTENANCE_LOCK_TIMEOUT) as connection:
            return _count_contents(connection)
    except (sqlite3.Error, OSError):
        return LibraryInventory(unread=True)


def _count_contents(connection: sqlite3.Connection) -> LibraryInventory:
    hosted, unread = _read_link(connection)
    library_rows = _rows(connection, "select id from library")
    spaces = _rows(connection, _SPACES)
    recipients = _rows(connection, _RECIPIENTS)
    return LibraryInventory(
        library=str(library_rows[0][0]) if library_rows else "",
        spaces=tuple(str(row[0]) for row in spaces),
        documents=_count(connection, "document"),
        passages=_count(connection, "chunk"),
        conversations=_count(connection, "thread"),
        answers=_count(connection, "turn"),
        replies=_count(connection, "reply"),
        requests=_count(connection, "sent"),
        recipients=tuple(EgressRecipient(*row) for row in recipients),
        hosted=hosted,
        unread=unread,
    )


def _read_link(connection: sqlite3.Connection) -> tuple[LibraryLink | None, bool]:
    """Return the link to a library in a project, and whether it is unreadable."""
    try:
        return read_library_link(connection), False
    except sqlite3.OperationalError:
        return None, False  # a library of an earlier version lacks the table
    except sqlite3.Error:
        return None, True


def _count(connection: sqlite3.Connection, table: str) -> int:
    rows = _rows(connection, f"select count(*) from {table}")
    return int(rows[0][0]) if rows else 0


def _rows(connection: sqlite3.Connection, sql: str) -> list[tuple[str, str, int]]:
    """Return the rows; none if a table is missing or unreadable."""
    try:
        return connection.execute(sql).fetchall()
    except sqlite3.Error:
        return []
