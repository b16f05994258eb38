"""The database, and the vector index that follows it."""

from collections.abc import Sequence
from pathlib import Path

from lrwr.app.maintenance.check_result import HealthFinding, HealthState, pluralize
from lrwr.core.adapters.storage.sqlite.maintenance import (
    ChangeFeedReport,
    DatabaseCounts,
    DatabaseReport,
)
from lrwr.core.adapters.vectors.maintenance import ShardReport, ShardState
from lrwr.pipeline.changes import DocumentChanges

REPAIR = "Run `lrwr repair`."


def check_database(facts: DatabaseReport) -> HealthFinding:
    """Say whether the file of the records is whole and of this schema."""
    part = "database"
    if facts.damage:
        detail = f"It is damaged: {facts.damage[0]}."
        return HealthFinding(part, HealthState.BROKEN, detail, REPAIR)
    if facts.schema > facts.wanted:
        detail = f"A newer lrwr made it: schema {facts.schema}, not {facts.wanted}."
        return HealthFinding(part, HealthState.BROKEN, detail, "Upgrade lrwr.")
    if facts.schema < facts.wanted:
        detail = f"It is of schema {facts.schema}; lrwr is at {facts.wanted}."
        remedy = "Run any command: the library is brought up to date by itself."
        return HealthFinding(part, HealthState.WARNING, detail, remedy)
    counts = facts.counts
    detail = f"Whole, schema {facts.schema}"
    if counts is not None:
        documents = pluralize(counts.documents, "document")
        detail += f": {documents}, {pluralize(counts.chunks, 'passage')}"
    return HealthFinding(part, HealthState.OK, f"{detail}.")


def check_word_index(facts: DatabaseReport) -> HealthFinding:
    """Say whether the word index matches the passages."""
    part = "word index"
    if facts.words_fit is False:
        detail = "It does not match the passages, facts or conversations."
        return HealthFinding(part, HealthState.BROKEN, detail, REPAIR)
    if facts.words_fit is None:
        detail = "The database is busy, may only be read, or is not in order."
        return HealthFinding(part, HealthState.NOT_CHECKED, detail)
    return HealthFinding(part, HealthState.OK, "It matches the passages.")


def check_jobs(counts: DatabaseCounts) -> HealthFinding:
    """Say whether any work waits, hangs or failed."""
    part, ingest = "jobs", "Run `lrwr ingest`."
    running = f"{pluralize(counts.running, 'document')} in work"
    if counts.failed:
        detail = f"{pluralize(counts.failed, 'document')} could not be read or stored."
        remedy = "Run `lrwr jobs --state failed` to see why."
        return HealthFinding(part, HealthState.WARNING, detail, remedy)
    if counts.stuck:
        jobs = pluralize(counts.stuck, "job")
        detail = f"{jobs} left by a run of lrwr that is gone."
        return HealthFinding(part, HealthState.WARNING, detail, ingest)
    if counts.waiting and not counts.running:
        detail = f"{pluralize(counts.waiting, 'job')} waiting."
        return HealthFinding(part, HealthState.WARNING, detail, ingest)
    if counts.running:
        return HealthFinding(part, HealthState.OK, f"Another lrwr runs: {running}.")
    return HealthFinding(part, HealthState.OK, "Nothing waits, nothing failed.")


def check_unembedded_passages(
    counts: DatabaseCounts, *, expects_vectors: bool
) -> HealthFinding:
    """Say how many passages lack a vector; `expects_vectors`: whether they need one."""
    part = "vectors"
    if not expects_vectors:
        return HealthFinding(
            part, HealthState.OFF, "[embedding] model is off: words alone."
        )
    if counts.bare:
        bare = f"{counts.bare:,} of {pluralize(counts.chunks, 'passage')}"
        detail = f"{bare} have none: they are found by words alone."
        return HealthFinding(part, HealthState.WARNING, detail, "Run `lrwr ingest`.")
    return HealthFinding(
        part, HealthState.OK, f"{pluralize(counts.chunks, 'passage')} embedded."
    )


def check_index(
    feed: ChangeFeedReport, shard: ShardReport, leftover: int, *, large: bool
) -> HealthFinding:
    """Say who compares the vectors, and whether a shard matches the records.

    `leftover` counts shards that nothing uses any more.
    """
    if large:
        finding = _check_shard(feed, shard)
    else:
        detail = f"{pluralize(feed.vectors, 'vector')}, compared in memory."
        leftover += shard.state is not ShardState.MISSING
        finding = HealthFinding("vector index", HealthState.OK, detail)
    if not leftover or finding.state is HealthState.BROKEN:
        return finding
    old = f"{pluralize(leftover, 'shard')} that nothing uses any more."
    remedy = f"{finding.remedy} `lrwr repair` removes what is left over.".strip()
    return HealthFinding(
        finding.part, HealthState.WARNING, f"{finding.detail} On disk: {old}", remedy
    )


def _check_shard(feed: ChangeFeedReport, shard: ShardReport) -> HealthFinding:
    part = "vector index"
    anew = "The next search makes it anew."
    if shard.state is ShardState.HELD:
        detail = "Another lrwr holds the shard, or the folder may only be read."
        return HealthFinding(part, HealthState.NOT_CHECKED, detail)
    if shard.state is ShardState.MISSING:
        return HealthFinding(part, HealthState.OK, f"Qdrant Edge; no shard yet. {anew}")
    if shard.state is ShardState.BROKEN or shard.cursor is None:
        return HealthFinding(
            part, HealthState.WARNING, f"The shard is damaged. {anew}", REPAIR
        )
    if shard.cursor.epoch != feed.epoch:
        return HealthFinding(
            part, HealthState.OK, f"Qdrant Edge; the shard is outdated. {anew}"
        )
    pending_changes = feed.seq - shard.cursor.seq
    if pending_changes > 0:
        detail = f"Qdrant Edge; {pluralize(pending_changes, 'change')} behind."
        return HealthFinding(
            part, HealthState.OK, f"{detail} The next search catches up."
        )
    if shard.cursor.points != feed.vectors:
        vector_counts = (
            f"{shard.cursor.points:,} vectors, the records {feed.vectors:,}."
        )
        return HealthFinding(
            part, HealthState.BROKEN, f"The shard holds {vector_counts}", REPAIR
        )
    detail = f"Qdrant Edge; {pluralize(feed.vectors, 'vector')}, as the records say."
    return HealthFinding(part, HealthState.OK, detail)


PART = "manuscript"
INGEST = "Run `lrwr ingest`."


def check_folders(folders: Sequence[Path]) -> HealthFinding | None:
    """Say what is wrong with where the manuscript should be; None when nothing is."""
    if not folders:
        detail = "lrwr does not know yet where it is."
        return HealthFinding(PART, HealthState.OFF, detail, "Run `lrwr ingest FOLDER`.")
    missing = [str(folder) for folder in folders if not folder.exists()]
    if missing:
        detail = f"Not there: {', '.join(missing)}. What was read of it is kept."
        remedy = "Bring it back, or run `lrwr ingest FOLDER` with where it is now."
        return HealthFinding(PART, HealthState.WARNING, detail, remedy)
    return None


def check_changes(folders: Sequence[Path], changes: DocumentChanges) -> HealthFinding:
    """Say how far the library is behind the manuscript."""
    folder_names = ", ".join(str(folder) for folder in folders)
    differences = [
        f"{len(documents):,} {label}"
        for documents, label in (
            (changes.changed, "new or changed"),
            (changes.stale, "read by other settings or another version"),
            (changes.gone, "gone"),
        )
        if documents
    ]
    if differences:
        detail = f"{folder_names}: {', '.join(differences)} since the last ingestion."
        return HealthFinding(PART, HealthState.WARNING, detail, INGEST)
    document_count = pluralize(len(changes.unchanged), "document")
    return HealthFinding(
        PART,
        HealthState.OK,
        f"{folder_names}: {document_count}, all as they were read.",
    )
