"""Repair: makes anew what can be made anew, and says each thing it did."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from lrwr.app.maintenance.check_result import pluralize
from lrwr.core.adapters.storage.sqlite.maintenance import rebuild_database_indexes
from lrwr.core.adapters.vectors.maintenance import clear_shards
from lrwr.core.model.errors import NotFound, StoreProblem
from lrwr.core.settings.library import Library, load_ingested_paths


@dataclass(frozen=True, slots=True)
class RepairReport:
    """What was done, a sentence a step, and what the writer should do next.

    `moved` is where a database that could not be mended is now.
    """

    steps: tuple[str, ...]
    remedy: str = ""
    moved: Path | None = None


def repair_library(library: Library, *, now: float) -> RepairReport:
    """Mend the database's indexes and throw the vector index away.

    A database that cannot be mended is moved aside. `now` is in seconds since 1970.

    Raises:
        NotFound: There is no library.
        StoreProblem: Another process uses it, or it may not be written.
    """
    if not (library.database.exists() or library.memory.exists()):
        raise NotFound(
            f"There is no library in {library.root} to repair",
            hint="Run `lrwr ingest FOLDER` with the folder of your manuscript.",
        )
    has_database = library.database.exists()
    steps: list[str] = []
    damage = (
        rebuild_database_indexes(library.database, steps.append) if has_database else ()
    )
    other_steps = [*_vectors(library), *_memory(library, now)]
    if not has_database:
        return RepairReport(tuple(other_steps), "Next: run `lrwr ingest FOLDER`.")
    if not damage:
        mended = (
            "The database is whole. Its indexes, that of words too, were made anew."
        )
        return RepairReport((mended, *steps, *other_steps))
    moved = rename_database_aside(library.database, f"broken-{format_file_stamp(now)}")
    sentences = (
        f"The database is damaged beyond repair: {damage[0]}.",
        f"It is now {moved}; nothing in it was deleted. Conversations, what a"
        " language model read and the list of what left this machine are in it; a"
        " backup brings those back: `lrwr restore`.",
        "Your manuscript is untouched. What lrwr knew of it is made from it again.",
    )
    return RepairReport((*sentences, *other_steps), "Next: run `lrwr ingest`.", moved)


def rename_database_aside(database: Path, ending: str) -> Path:
    """Rename a database, with the files that SQLite keeps beside it.

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
            f"{database} cannot be moved: {error.strerror}.",
            hint="Close other programs that use it, and check your rights there.",
        ) from error
    return target


def format_file_stamp(now: float) -> str:
    """Return a moment as part of a file's name, in local time."""
    return datetime.fromtimestamp(now).strftime("%Y%m%d-%H%M%S")


def _vectors(library: Library) -> list[str]:
    cleared = clear_shards(library.index_dir)
    steps = []
    if cleared.gone:
        deleted = pluralize(len(cleared.gone), "shard")
        steps.append(
            f"{deleted} of the vector index thrown away; a search makes it anew."
        )
    else:
        steps.append("There was no vector index on disk to throw away.")
    if cleared.held:
        locked = pluralize(len(cleared.held), "shard")
        steps.append(f"{locked} left alone: another lrwr is using it.")
    return steps


def _memory(library: Library, now: float) -> list[str]:
    try:
        load_ingested_paths(library)
    except StoreProblem:
        renamed = rename_database_aside(
            library.memory, f"broken-{format_file_stamp(now)}"
        )
        return [
            f"What remembers your manuscript's folder was damaged, and is now {renamed}.",
            "Name the folder once more: lrwr ingest FOLDER",
        ]
    return []
