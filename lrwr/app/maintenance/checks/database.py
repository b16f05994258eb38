"""Checks of the database, the vector index on this machine, and the manuscript."""

from collections.abc import Sequence
from datetime import date
from pathlib import Path

from lrwr.app.maintenance.check_result import HealthFinding, HealthState
from lrwr.app.maintenance.damage import (
    RESTORE_LATEST,
    describe_damage,
    describe_damaged_threads,
)
from lrwr.app.presenters.text import format_count
from lrwr.core.adapters.storage.sqlite.errors import is_healable, is_schema_plausible
from lrwr.core.adapters.storage.sqlite.maintenance import (
    ChangeFeedReport,
    DatabaseCounts,
    DatabaseReport,
)
from lrwr.core.adapters.storage.sqlite.verification import VerificationReport
from lrwr.core.adapters.vectors.maintenance import ShardReport, ShardState
from lrwr.core.canon.file import CANON_HISTORY_FILE_NAME
from lrwr.core.settings.library import MOVED_HINT, Library
from lrwr.pipeline.changes import DocumentChanges, name_conflicted_documents

REPAIR = "Run `lrwr repair`."


def check_missing_database(
    library: Library, newest_backup: date | None = None
) -> HealthFinding:
    """Return the finding for a library without a database, as before the first ingest.

    If other files of the library are there, the database was deleted or lost.
    `newest_backup` is the day of the newest automatic backup; None if there is none.
    """
    part, name = "database", library.database.name
    history = library.state_dir / CANON_HISTORY_FILE_NAME
    if newest_backup is not None:
        detail = (
            f"{name} is missing; the newest automatic backup, with your saved"
            f" conversations, is of {newest_backup}."
        )
        remedy = "Run `lrwr restore --latest`, then `lrwr ingest`."
        return HealthFinding(part, HealthState.WARNING, detail, remedy)
    if library.memory.exists() or history.exists():
        detail = f"{name} is missing, though something was ingested here before."
        remedy = (
            "Run `lrwr restore FILE` if you have a backup; `lrwr ingest` reads the"
            " manuscript again."
        )
        return HealthFinding(part, HealthState.WARNING, detail, remedy)
    detail, remedy = "Nothing has been ingested yet.", "Run `lrwr ingest FOLDER`."
    return HealthFinding(part, HealthState.OFF, detail, remedy)


def check_database(
    facts: DatabaseReport, newest_backup: date | None = None
) -> HealthFinding:
    """Check the report on a database: it must be intact and have the current schema.

    `newest_backup` is the day of the newest automatic backup; None if there is none.
    """
    part = "database"
    if facts.damage:
        detail = "The file is damaged."
        if newest_backup is not None:
            detail += f" The newest automatic backup is of {newest_backup}."
        technical = facts.damage[0]
        remedy = INGEST_VERIFY if all(map(is_healable, facts.damage)) else REPAIR
        return HealthFinding(part, HealthState.BROKEN, detail, remedy, technical)
    if not is_schema_plausible(facts.schema, facts.wanted):
        detail = (
            "The file may be damaged: no version of lrwr uses its schema number"
            f" ({facts.schema})."
        )
        return HealthFinding(part, HealthState.BROKEN, detail, REPAIR)
    if facts.schema > facts.wanted:
        detail = (
            "It was made by a newer version of lrwr (schema"
            f" {facts.schema}; this version uses {facts.wanted})."
        )
        return HealthFinding(part, HealthState.BROKEN, detail, "Upgrade lrwr.")
    if facts.schema < facts.wanted:
        detail = f"It has schema {facts.schema}; lrwr uses {facts.wanted}."
        remedy = "Run any command: lrwr then updates the database."
        return HealthFinding(part, HealthState.WARNING, detail, remedy)
    counts = facts.counts
    detail = "A quick test of the file found no fault"
    if counts is not None:
        documents = format_count(counts.documents, "document")
        detail += f". It has {documents}, {format_count(counts.chunks, 'passage')}"
    if newest_backup is not None:
        detail += f". The newest automatic backup is of {newest_backup}"
    return HealthFinding(part, HealthState.OK, f"{detail}.")


STORED = "stored data"
INGEST_VERIFY = "Run `lrwr ingest --verify` to rebuild it from your manuscript."


def check_sample(facts: DatabaseReport, *, is_marked: bool = False) -> HealthFinding:
    """Check the sample of documents that was compared with its checksums.

    `is_marked` says that a command has read damaged rows since the last verification.
    """
    if facts.damaged_documents:
        names = ", ".join(facts.damaged_documents)
        detail = f"It does not match its checksums: {names}."
        return HealthFinding(STORED, HealthState.BROKEN, detail, INGEST_VERIFY)
    if is_marked:
        detail = "A command has met damaged data."
        return HealthFinding(STORED, HealthState.BROKEN, detail, INGEST_VERIFY)
    detail = (
        "A sample of it matches its checksums; `lrwr doctor --verify` checks all of it."
    )
    return HealthFinding(STORED, HealthState.OK, detail)


def check_verification(
    report: VerificationReport,
    *,
    is_log_damaged: bool = False,
    thread_advice: str = RESTORE_LATEST,
) -> HealthFinding:
    """Check that everything stored fits its checksums.

    Damage is `BROKEN`. Documents without checksums are a `WARNING`. `is_log_damaged`
    says that SQLite has ignored part of the `-wal` file. `thread_advice` is what to do
    about damaged threads.
    """
    if is_log_damaged:
        detail = "The database's `-wal` file was damaged: what was stored last is lost."
        remedy = "Run `lrwr ingest --verify`; `lrwr restore --latest` may have threads."
        return HealthFinding(STORED, HealthState.BROKEN, detail, remedy)
    if report.damage:
        detail, technical = "The file is damaged.", report.damage[0]
        remedy = REPAIR if report.needs_repair else INGEST_VERIFY
        return HealthFinding(STORED, HealthState.BROKEN, detail, remedy, technical)
    if not report.is_sound:
        derived, threads = describe_damage(report), describe_damaged_threads(report)
        detail = f"Damaged: {'; '.join([*derived, *threads])}."
        remedies = [INGEST_VERIFY] if derived else []
        remedies += [thread_advice] if threads else []
        return HealthFinding(STORED, HealthState.BROKEN, detail, " ".join(remedies))
    if report.unchecked:
        documents = format_count(report.unchecked, "document")
        detail = f"{documents} stored by an earlier version of lrwr, without checksums."
        remedy = "Run `lrwr ingest --verify` to store them again."
        return HealthFinding(STORED, HealthState.WARNING, detail, remedy)
    return HealthFinding(STORED, HealthState.OK, "All of it matches its checksums.")


def check_word_index(facts: DatabaseReport) -> HealthFinding:
    """Check that the full-text index matches the stored passages, facts and threads.

    `BROKEN` if it does not; `NOT_CHECKED` if the database could not be examined.
    """
    part = "word index"
    if facts.words_fit is False:
        detail = "It does not match the passages, facts or threads."
        return HealthFinding(part, HealthState.BROKEN, detail, INGEST_VERIFY)
    if facts.words_fit is None:
        detail = "The database is in use, read-only or damaged."
        return HealthFinding(part, HealthState.NOT_CHECKED, detail)
    return HealthFinding(part, HealthState.OK, "It matches the passages.")


def check_jobs(counts: DatabaseCounts) -> HealthFinding:
    """Check whether documents failed, or wait although no process works on them.

    Either is a `WARNING`. `counts` has the numbers of jobs by state.
    """
    part, ingest = "jobs", "Run `lrwr ingest`."
    running = format_count(counts.running, "document")
    if counts.failed:
        detail = f"{format_count(counts.failed, 'document')} could not be processed."
        remedy = "Run `lrwr jobs --state failed` to see why."
        return HealthFinding(part, HealthState.WARNING, detail, remedy)
    if counts.stuck:
        jobs = format_count(counts.stuck, "job")
        detail = f"{jobs} unfinished: the lrwr process that ran them has ended."
        return HealthFinding(part, HealthState.WARNING, detail, ingest)
    if counts.waiting and not counts.running:
        detail = f"{format_count(counts.waiting, 'job')} waiting."
        return HealthFinding(part, HealthState.WARNING, detail, ingest)
    if counts.running:
        return HealthFinding(
            part, HealthState.OK, f"Another lrwr process is working on {running}."
        )
    return HealthFinding(part, HealthState.OK, "No jobs are waiting or failed.")


def check_unembedded_passages(
    counts: DatabaseCounts,
    *,
    expects_vectors: bool,
    feed: ChangeFeedReport | None = None,
) -> HealthFinding:
    """Check whether passages lack an embedding.

    `expects_vectors` says that an embedding model is configured; `feed` is the state of
    the change feed for its embedding space, None if that is unknown.
    """
    part = "vectors"
    if not expects_vectors:
        return HealthFinding(part, HealthState.OFF, "`[embedding] model` is off.")
    if feed is not None and feed.has_changed:
        missing = format_count(feed.missing, "passage")
        are = "is" if feed.missing == 1 else "are"
        detail = (
            f"The embedding model changed; {missing} {are} not embedded with it yet."
        )
        return HealthFinding(part, HealthState.WARNING, detail, "Run `lrwr ingest`.")
    if counts.bare:
        bare = f"{counts.bare:,} of {format_count(counts.chunks, 'passage')}"
        detail = f"{bare} have no vector, so search finds them only by their words."
        return HealthFinding(part, HealthState.WARNING, detail, "Run `lrwr ingest`.")
    return HealthFinding(
        part, HealthState.OK, f"{format_count(counts.chunks, 'passage')} embedded."
    )


def check_index(
    feed: ChangeFeedReport, shard: ShardReport, leftover: int, *, large: bool
) -> HealthFinding:
    """Check the vector index on this machine.

    If the library is `large`, the index is a folder of Qdrant Edge (a shard), which
    must match the database's list of changes, `feed`; otherwise vectors are compared in
    memory. `leftover` is the number of unused shards on disk.
    """
    if large:
        finding = _check_shard(feed, shard)
    else:
        detail = f"{format_count(feed.vectors, 'vector')}, compared in memory."
        leftover += shard.state is not ShardState.MISSING
        finding = HealthFinding("vector index", HealthState.OK, detail)
    if not leftover or finding.state is HealthState.BROKEN:
        return finding
    old = f"{format_count(leftover, 'unused shard')}."
    remedy = f"{finding.remedy} `lrwr repair` deletes them.".strip()
    return HealthFinding(
        finding.part, HealthState.WARNING, f"{finding.detail} On disk: {old}", remedy
    )


def _check_shard(feed: ChangeFeedReport, shard: ShardReport) -> HealthFinding:
    part = "vector index"
    rebuild = "The next search rebuilds it."
    if shard.state is ShardState.HELD:
        detail = "Another lrwr process is using the shard, or the folder is read-only."
        return HealthFinding(part, HealthState.NOT_CHECKED, detail)
    if shard.state is ShardState.MISSING:
        return HealthFinding(
            part, HealthState.OK, f"Qdrant Edge; no shard yet. {rebuild}"
        )
    if shard.state is ShardState.BROKEN or shard.cursor is None:
        return HealthFinding(
            part, HealthState.WARNING, f"The shard is damaged. {rebuild}", REPAIR
        )
    if shard.state is ShardState.DIFFERENT:
        detail = "The shard has other vectors than the database."
        return HealthFinding(part, HealthState.BROKEN, detail, REPAIR)
    if shard.cursor.epoch != feed.epoch:
        return HealthFinding(
            part, HealthState.OK, f"Qdrant Edge; the shard is outdated. {rebuild}"
        )
    pending_changes = feed.seq - shard.cursor.seq
    if pending_changes > 0:
        detail = f"Qdrant Edge; {format_count(pending_changes, 'change')} behind."
        return HealthFinding(
            part, HealthState.OK, f"{detail} The next search updates it."
        )
    if shard.cursor.points != feed.vectors:
        vector_counts = (
            f"{shard.cursor.points:,} vectors, the database contains {feed.vectors:,}."
        )
        return HealthFinding(
            part, HealthState.BROKEN, f"The shard contains {vector_counts}", REPAIR
        )
    detail = (
        f"Qdrant Edge; {format_count(feed.vectors, 'vector')}, matching the database."
    )
    return HealthFinding(part, HealthState.OK, detail)


PART = "manuscript"
INGEST = "Run `lrwr ingest`."
MISSING = (
    "Bring the missing files back, or run `lrwr ingest --forget-missing` to remove them"
    " from the library."
)


RESOLVE = "Resolve the conflict and save the file."


def check_folders(folders: Sequence[Path]) -> HealthFinding | None:
    """Return a finding if no manuscript is known or one of `folders` is missing.

    `folders` are the manuscript's, empty if none is known. None if all exist.
    """
    if not folders:
        detail = "No manuscript has been ingested yet."
        return HealthFinding(PART, HealthState.OFF, detail, "Run `lrwr ingest FOLDER`.")
    missing = [str(folder) for folder in folders if not folder.exists()]
    if missing:
        detail = (
            f"Not found: {', '.join(missing)}. The library still contains its text."
        )
        return HealthFinding(PART, HealthState.WARNING, detail, MOVED_HINT)
    return None


def check_changes(folders: Sequence[Path], changes: DocumentChanges) -> HealthFinding:
    """Check whether the last ingestion is up to date.

    `changes` are the differences between the files in `folders` and the library. New,
    changed, deleted and missing documents, documents with git conflict markers, and
    documents ingested with other settings, are a `WARNING`.
    """
    folder_names = ", ".join(str(folder) for folder in folders)
    differences = [
        f"{len(documents):,} {label}"
        for documents, label in (
            (changes.changed, "new or changed since the last ingest"),
            (changes.stale, "ingested with other settings or another version of lrwr"),
            (changes.gone, "without a file, which the next ingest deletes"),
        )
        if documents
    ]
    if changes.missing:
        differences.append(f"{len(changes.missing):,} missing and not deleted")
    if changes.conflicted:
        differences.append(name_conflicted_documents(changes.conflicted))
    if differences:
        detail = f"{folder_names}: {', '.join(differences)}."
        can_ingest = changes.changed or changes.stale or changes.gone
        remedies = [MISSING] if changes.missing else [INGEST] if can_ingest else []
        remedy = " ".join([*remedies, *([RESOLVE] if changes.conflicted else [])])
        return HealthFinding(PART, HealthState.WARNING, detail, remedy)
    document_count = format_count(len(changes.unchanged), "document")
    return HealthFinding(
        PART,
        HealthState.OK,
        f"{folder_names}: {document_count}, all unchanged since the last ingest.",
    )
