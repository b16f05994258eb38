"""Repairs a library: builds its indexes again, and moves a damaged database away."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from lrwr.app.presenters.text import format_count
from lrwr.core.adapters.storage.sqlite.maintenance import rebuild_database_indexes
from lrwr.core.adapters.vectors.maintenance import clear_shards
from lrwr.core.model.errors import NotFound, StoreProblem
from lrwr.core.settings.library import Library, load_ingested_paths


@dataclass(frozen=True, slots=True)
class RepairReport:
    """The steps of a repair, one sentence each, and what the user should do next.

    `remedy` is a sentence, empty if there is nothing to do. `moved` is the new path of
    a database that could not be repaired, else None.
    """

    steps: tuple[str, ...]
    remedy: str = ""
    moved: Path | None = None


def repair_library(library: Library, *, now: float) -> RepairReport:
    """Build the database's indexes again, and delete the vector index.

    The next search builds the vector index again. A database that cannot be repaired is
    renamed, not deleted. `now` is in seconds since 1970.

    Raises:
        NotFound: There is no library.
        StoreProblem: Another process uses the library, or it is read-only.
    """
    if not (library.database.exists() or library.memory.exists()):
        raise NotFound(
            f"There is no library in {library.root}",
            hint="Run `lrwr ingest FOLDER` with the folder of your manuscript.",
        )
    has_database = library.database.exists()
    steps: list[str] = []
    damage = (
        rebuild_database_indexes(library.database, steps.append) if has_database else ()
    )
    other_steps = [*_clear_vector_index(library), *_check_folder_record(library, now)]
    if not has_database:
        return RepairReport(tuple(other_steps), "Run `lrwr ingest FOLDER` now.")
    if not damage:
        done = "The database is intact. Its indexes and the word index were rebuilt."
        return RepairReport((done, *steps, *other_steps))
    moved = rename_database_aside(library.database, f"broken-{format_file_stamp(now)}")
    sentences = (
        f"The database cannot be repaired: {damage[0]}.",
        f"It was renamed to {moved}; nothing was deleted. It contains your threads, the"
        " replies of language models and the send log. `lrwr restore` brings them back"
        " from a backup.",
        "Your manuscript was not changed. Ingesting it again rebuilds the rest.",
    )
    return RepairReport((*sentences, *other_steps), "Run `lrwr ingest` now.", moved)


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
    else:
        steps.append("There was no vector index on disk.")
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
