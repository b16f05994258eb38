"""Damaged rows of a library: deletes them for a new derivation, and describes them."""

from pathlib import Path

from lrwr.app.presenters.text import format_count, sanitize_line
from lrwr.app.presenters.threads import SHORTEST_ID
from lrwr.core.adapters.storage.sqlite.verification import (
    VerificationReport,
    discard_damaged_rows,
    mark_documents_without_states,
)

SHOWN_DOCUMENTS = 5
"""Damaged documents that are named; of others only the number is given."""


RESTORE_LATEST = (
    "Run `lrwr restore --latest` to put back the copy in your automatic backups."
)


def describe_damage(report: VerificationReport) -> list[str]:
    """Return what is damaged apart from threads, one phrase for each kind of data."""
    named = [
        f"{document} ({', '.join(parts)})"
        for document, parts in list(report.documents.items())[:SHOWN_DOCUMENTS]
    ]
    more = len(report.documents) - len(named)
    counts: tuple[tuple[int, *tuple[str, ...]], ...] = (
        (more, "other document"),
        (report.vectors, "embedding"),
        (report.replies, "model reply", "model replies"),
        (
            report.strays,
            "row without its document or thread",
            "rows without their document or thread",
        ),
        (
            report.unlisted,
            "passage missing from the list of changes",
            "passages missing from the list of changes",
        ),
        (report.jobs, "job"),
    )
    phrases = named + [format_count(*count) for count in counts if count[0]]
    if report.cast:
        phrases.append("the list of characters")
    if report.words_fit is False:
        phrases.append("the word index")
    return phrases


def describe_damaged_threads(report: VerificationReport) -> list[str]:
    """Return the title and shortened id of each damaged thread."""
    return [
        f"thread “{sanitize_line(title) or '(no title)'}” ({id_[:SHORTEST_ID]})"
        for id_, title in report.threads.items()
    ]


def discard_damage(database: Path, states_space: str = "") -> list[str]:
    """Delete stored data that does not match its checksums; return sentences about it.

    The next ingestion derives the data again. Empty if nothing was damaged. With
    `states_space`, the name of an embedding space, it also processes the documents
    whose passages lack the token states of that space.

    Raises:
        StoreProblem: The database cannot be read or written.
    """
    report = discard_damaged_rows(database)
    lacking = (
        mark_documents_without_states(database, states_space) if states_space else 0
    )
    upgrades = []
    if lacking:
        documents = format_count(lacking, "document")
        upgrades = [f"Storing what makes reranking fast, for {documents}."]
    if report.is_sound:
        return upgrades
    sentences = [f"  {phrase}" for phrase in describe_damage(report)]
    if sentences:
        heading = "Some stored data did not match its checksums and was deleted:"
        sentences.insert(0, heading)
    return [
        *upgrades,
        *sentences,
        *(
            f"The {name} was damaged on disk and is kept. {RESTORE_LATEST}"
            for name in describe_damaged_threads(report)
        ),
    ]
