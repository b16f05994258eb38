"""Repairs a library: rebuilds its indexes, and recovers rows of a damaged database."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from lrwr.app.maintenance.automatic_backup import list_backup_files, load_backup_rows
from lrwr.app.maintenance.damage import describe_lost_thread, discard_damage
from lrwr.app.presenters.text import format_count
from lrwr.app.presenters.threads import format_local_time
from lrwr.core.adapters.storage.sqlite.checksums import clear_damage_mark
from lrwr.core.adapters.storage.sqlite.maintenance import rebuild_database_indexes
from lrwr.core.adapters.storage.sqlite.salvage import (
    DamagedLibrary,
    SalvageCounts,
    merge_library,
    merge_unfinished_salvage,
    read_damaged_library,
    salvage_library,
)
from lrwr.core.adapters.storage.sqlite.user_rows import load_user_rows
from lrwr.core.adapters.storage.sqlite.verification import find_damaged_threads
from lrwr.core.adapters.vectors.maintenance import clear_shards
from lrwr.core.model.errors import NotFound, StoreProblem, UnreadableDocument
from lrwr.core.settings.files import FileLock
from lrwr.core.settings.library import (
    KEPT_DAYS,
    Library,
    load_ingested_paths,
    prepare_state_dir,
)

REPAIR_LOCK = "repair.lock"
_NOUNS = {
    "thread": ("thread", ""),
    "turn": ("turn", ""),
    "reply": ("reply of a language model", "replies of a language model"),
    "draft": ("decision about a draft", "decisions about drafts"),
    "draft_step": ("step of drafting", "steps of drafting"),
    "sent": ("send log entry", "send log entries"),
    "job": ("job", ""),
}
_DAY_SECONDS = 86_400.0
INGEST = "Run `lrwr ingest` now: the library has no text of your manuscript."


@dataclass(frozen=True, slots=True)
class RepairReport:
    """The steps of a repair, one sentence each, and what the user should do next.

    `remedy` is a sentence, empty if there is nothing to do. `moved` is the new path of
    a damaged database, else None. `damage` is SQLite's message about it, for bug reports.
    `recovered` counts the rows that were copied from it
    by table.
    """

    steps: tuple[str, ...]
    remedy: str = ""
    moved: Path | None = None
    recovered: Mapping[str, SalvageCounts] = field(default_factory=dict)
    damage: str = ""


def repair_library(library: Library, *, now: float) -> RepairReport:
    """Rebuild the database's indexes, and delete the vector index.

    The next search builds the vector index again. A damaged database is replaced by a
    new one with its readable threads, replies, send log and jobs; it is renamed, not
    deleted. `now` is in seconds since 1970.

    Raises:
        NotFound: There is no library.
        StoreProblem: Another process uses the library, or it is read-only.
    """
    if not (library.database.exists() or library.memory.exists()):
        raise NotFound(
            f"There is no library in {library.root}",
            hint="Run `lrwr ingest FOLDER` with the folder of your manuscript.",
        )
    with _repair_lock(library):
        return _repair(library, now)


def _repair(library: Library, now: float) -> RepairReport:
    has_database = library.database.exists()
    steps: list[str] = []
    damage = (
        rebuild_database_indexes(library.database, steps.append) if has_database else ()
    )
    expired = now - KEPT_DAYS * _DAY_SECONDS
    if not damage and merge_unfinished_salvage(
        library.database, expired_before=expired
    ):
        steps.append("Added the rows that an earlier, interrupted repair recovered.")
    report = None
    if damage:
        report = _salvage(library, damage[0], now, expired)
        if library.database.exists():
            discard_damage(library)  # rows of which the words differ
    other_steps = [*_clear_vector_index(library), *_check_folder_record(library, now)]
    if report is not None:
        return RepairReport(
            (*report.steps, *other_steps),
            report.remedy,
            report.moved,
            report.recovered,
            report.damage,
        )
    if not has_database:
        return RepairReport((*steps, *other_steps), "Run `lrwr ingest FOLDER` now.")
    done = "The database is intact. Its indexes and the word index were rebuilt."
    discarded = discard_damage(library)
    is_derived = any(not line.startswith("The thread ") for line in discarded)
    remedy = "Run `lrwr ingest` now." if is_derived else ""
    return RepairReport((done, *steps, *discarded, *other_steps), remedy)


def _salvage(library: Library, damage: str, now: float, expired: float) -> RepairReport:
    moved, counts = salvage_library(
        library.database,
        ending=f"broken-{format_file_stamp(now)}",
        expired_before=expired,
    )
    steps = (
        "The database was damaged.",
        *describe_recovery(counts),
        f"The damaged file was renamed to {moved}; nothing was deleted.",
        "Your manuscript was not changed. Ingesting it again rebuilds the rest.",
    )
    remedy = "Run `lrwr ingest` now."
    if any(count.unreadable for count in counts.values()):
        remedy = (
            f"Run `lrwr restore --latest` to add what automatic backups have. {remedy}"
        )
    return RepairReport(steps, remedy, moved, counts, damage)


def recover_from_file(library: Library, file: Path, *, now: float) -> RepairReport:
    """Add the rows of an older database of the library that the library lacks.

    `file` is such as `library.db.broken-…`, damaged or not, and is not changed. Rows of
    the library are overwritten only if damaged. Idempotent. `now` is in seconds since
    1970.

    Raises:
        NotFound: There is no such file.
        UnreadableDocument: Nothing could be read from it.
        StoreProblem: The library or the file cannot be used.
    """
    if not file.is_file():
        raise NotFound(
            f"There is no file {file}",
            hint="Name a file such as `.lrwr/library.db.broken-20261123-154500`.",
        )
    source = read_damaged_library(file)
    if source.is_empty:
        raise UnreadableDocument(
            f"{file} contains no readable data of lrwr",
            hint="Name an older database, such as `.lrwr/library.db.broken-…`; for a zip"
            " file use `lrwr restore FILE`.",
        )
    prepare_state_dir(library)
    with _repair_lock(library):
        counts = merge_library(
            library.database,
            source,
            expired_before=now - KEPT_DAYS * _DAY_SECONDS,
        )
    return RepairReport(
        (f"{file} was read.", *describe_recovery(counts)), "", None, counts
    )


def recover_from_backups(library: Library, *, now: float) -> RepairReport:
    """Add the rows of the automatic backups that the library lacks.

    All of them are read, the newest first, because a newer one may have been written
    after a loss. Rows of the library are overwritten only if damaged. Idempotent. `now` is in
    seconds since 1970. The report names the damaged threads of which no backup has a
    sound copy.

    Raises:
        NotFound: There is no automatic backup.
        StoreProblem: None can be read, or the library cannot be written.
    """
    files = list_backup_files(library)[::-1]
    if not files:
        raise NotFound(
            f"There is no automatic backup in {library.state_dir}",
            hint="`lrwr ingest` writes one a day if threads, model replies or the send"
            " log have changed.",
        )
    totals: dict[str, SalvageCounts] = {}
    read: list[str] = []
    times: list[float] = []
    failed: list[StoreProblem] = []
    with _repair_lock(library):
        for file in files:
            try:
                source = DamagedLibrary(load_backup_rows(file), {})
            except StoreProblem as error:
                failed.append(error)
                continue
            expired = now - KEPT_DAYS * _DAY_SECONDS
            counts = merge_library(library.database, source, expired_before=expired)
            totals = _add_counts(totals, counts)
            read.append(file.name.partition(".")[0])
            times.append(file.stat().st_mtime)
    if not read:
        raise failed[0]
    newest = format_local_time(max(times))
    steps = [
        f"Automatic backups of {', '.join(read)} were read. They have what was saved up"
        f" to {newest}."
    ]
    steps += [f"{error}." for error in failed]
    steps += [*describe_recovery(totals), *_describe_unhealed_threads(library)]
    remedy = INGEST if not _has_text(library) else ""
    return RepairReport(tuple(steps), remedy, None, totals)


def _describe_unhealed_threads(library: Library) -> list[str]:
    """Return a sentence for each thread that the backups could not heal."""
    damaged = find_damaged_threads(library.database)
    return [describe_lost_thread(id_, title) for id_, title in damaged.items()]


def _has_text(library: Library) -> bool:
    return bool(load_user_rows(library.database, ["processed"])["processed"])


def _add_counts(
    totals: Mapping[str, SalvageCounts], counts: Mapping[str, SalvageCounts]
) -> dict[str, SalvageCounts]:
    """Return sums of copied rows; rows already there are counted once."""
    return {
        table: SalvageCounts(
            copied=totals[table].copied + count.copied,
            present=totals[table].present,
            mended=totals[table].mended + count.mended,
            unreadable=totals[table].unreadable + count.unreadable,
            replaced=totals[table].replaced + count.replaced,
        )
        if table in totals
        else count
        for table, count in counts.items()
    }


def describe_recovery(counts: Mapping[str, SalvageCounts]) -> list[str]:
    """Return, one sentence per table, how many rows were copied and how many were not."""
    sentences = []
    for table, count in counts.items():
        if not (count.copied + count.present + count.unreadable + count.replaced):
            continue
        copied = format_count(count.copied, *_NOUNS[table])
        extras = [
            f"{number:,} {words}"
            for number, words in (
                (count.present, "already there"),
                (count.replaced, "damaged and replaced by the sound copy"),
                (count.mended, "with a damaged value replaced"),
                (count.unreadable, "unreadable"),
            )
            if number
        ]
        sentences.append(f"{copied} copied{''.join(f', {e}' for e in extras)}.")
    return sentences or ["It contains no threads, replies, send log or jobs."]


@contextmanager
def _repair_lock(library: Library) -> Iterator[None]:
    """Inside this context, no other process repairs the library.

    Raises:
        StoreProblem: Another process repairs it, or the state folder is read-only.
    """
    lock = FileLock(library.state_dir / REPAIR_LOCK)
    try:
        is_acquired = lock.acquire()
    except OSError as error:
        raise StoreProblem(
            f"{library.state_dir} cannot be written: {error.strerror}",
            hint="Check its permissions and the free disk space.",
        ) from error
    if not is_acquired:
        raise StoreProblem(
            f"Another lrwr process is repairing {library.database}",
            hint="Wait until it has finished and try again.",
        )
    try:
        yield
    finally:
        lock.release()


def rename_database_aside(database: Path, ending: str) -> Path:
    """Add `.` and `ending` to the name of a database file; return the new path.

    The files that SQLite writes beside it are renamed, too.

    Raises:
        StoreProblem: It cannot be renamed.
    """
    target = database.with_name(f"{database.name}.{ending}")
    try:
        for suffix in ("-wal", "-shm", ""):
            beside = database.with_name(database.name + suffix)
            if beside.exists():
                beside.rename(target.with_name(target.name + suffix))
        clear_damage_mark(database)
    except OSError as error:
        raise StoreProblem(
            f"{database} cannot be renamed: {error.strerror}",
            hint="Close other programs that use it, and check the permissions of its folder.",
        ) from error
    return target


def format_file_stamp(now: float) -> str:
    """Return a time for file names, such as "20261123-154500", in local time.

    `now` is in seconds since 1970.
    """
    return datetime.fromtimestamp(now).strftime("%Y%m%d-%H%M%S")


def _clear_vector_index(library: Library) -> list[str]:
    cleared = clear_shards(library.index_dir)
    steps = []
    if cleared.deleted:
        deleted = format_count(len(cleared.deleted), "shard")
        steps.append(
            f"The vector index was deleted ({deleted}). The next search rebuilds it."
        )
    if cleared.in_use:
        locked = format_count(len(cleared.in_use), "shard")
        steps.append(f"{locked} skipped, because another lrwr process is using it.")
    return steps


def _check_folder_record(library: Library, now: float) -> list[str]:
    try:
        load_ingested_paths(library)
    except StoreProblem:
        renamed = rename_database_aside(
            library.memory, f"broken-{format_file_stamp(now)}"
        )
        return [
            f"The record of your manuscript's folders was damaged. It was renamed to {renamed}.",
            "Name the folder again: `lrwr ingest FOLDER`.",
        ]
    return []
