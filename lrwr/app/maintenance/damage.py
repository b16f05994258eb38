"""Damaged rows of a library: deletes them for a new derivation, and describes them."""

from collections.abc import Mapping

from lrwr.app.maintenance.automatic_backup import list_lost_threads
from lrwr.app.presenters.text import format_count, sanitize_line
from lrwr.app.presenters.threads import SHORTEST_ID
from lrwr.core.adapters.storage.sqlite.checksums import (
    clear_damage_mark,
)
from lrwr.core.adapters.storage.sqlite.verification import (
    VerificationReport,
    discard_damaged_rows,
    mark_documents_without_states,
)
from lrwr.core.settings.library import Library

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
    return [_name_thread(id_, title) for id_, title in report.threads.items()]


def _name_thread(id_: str, title: str) -> str:
    return f"thread “{sanitize_line(title) or '(no title)'}” ({id_[:SHORTEST_ID]})"


def advise_on_threads(library: Library, threads: Mapping[str, str]) -> str:
    """Return what to do about the damaged `threads`, titles by id, as sentences.

    That depends on whether an automatic backup has a sound copy. Empty without threads.
    """
    lost = list_lost_threads(library, threads)
    sentences = [RESTORE_LATEST] if len(lost) < len(threads) else []
    sentences += [describe_lost_thread(id_, threads[id_]) for id_ in lost]
    return " ".join(sentences)


def describe_lost_thread(id_: str, title: str) -> str:
    """Return what to do about a damaged thread of which no backup has a sound copy."""
    return (
        f"No automatic backup has a sound copy of the {_name_thread(id_, title)}. What"
        " can be read of it stays readable; `lrwr threads delete"
        f" {id_[:SHORTEST_ID]}` deletes it."
    )


def discard_damage(library: Library, states_space: str = "") -> list[str]:
    """Delete stored data that does not match its checksums; return sentences about it.

    The next ingestion derives the data again. Empty if nothing was damaged. With
    `states_space`, the name of an embedding space, it also processes the documents
    whose passages lack the token states of that space.

    Raises:
        StoreProblem: The database cannot be read or written.
    """
    database = library.database
    report = discard_damaged_rows(database)
    clear_damage_mark(database)
    lacking = (
        mark_documents_without_states(database, states_space) if states_space else 0
    )
    upgrades = []
    if lacking:
        documents = format_count(lacking, "document")
        upgrades = [f"Storing what makes reranking fast, for {documents}."]
    if report.reindexed:
        upgrades.append("Indexes of the database were damaged; they were rebuilt.")
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
            f"The {_name_thread(id_, title)} was damaged on disk and is kept."
            f" {advise_on_threads(library, {id_: title})}"
            for id_, title in report.threads.items()
        ),
    ]
