"""Damaged rows of a library: deletes them for a new derivation, and describes them."""

from pathlib import Path

from lrwr.app.presenters.text import format_count
from lrwr.core.adapters.storage.sqlite.verification import (
    VerificationReport,
    discard_damaged_rows,
)

SHOWN_DOCUMENTS = 5
"""Damaged documents that are named; of others only the number is given."""


def describe_damage(report: VerificationReport) -> list[str]:
    """Return what is damaged, one phrase for each kind of data."""
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
    phrases += [f"thread {id_}" for id_ in report.threads]
    return phrases


def discard_damage(database: Path) -> list[str]:
    """Delete stored data that does not match its checksums; return sentences about it.

    The next ingestion derives the data again. Empty if nothing was damaged.

    Raises:
        StoreProblem: The database cannot be read or written.
    """
    report = discard_damaged_rows(database)
    if report.is_sound:
        return []
    sentences = ["Some stored data did not match its checksums and was deleted:"]
    return sentences + [f"  {phrase}" for phrase in describe_damage(report)]
