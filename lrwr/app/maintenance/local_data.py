"""The files in a library's state folder (`.lrwr`): listing, measuring and deleting them."""

import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from lrwr.app.history import LOG_FILE_NAME, TEXTS_FILE_NAME
from lrwr.core.adapters.storage.sqlite.maintenance import checkpoint_database
from lrwr.core.model.errors import StoreProblem
from lrwr.core.settings.files import FileLock
from lrwr.core.settings.library import READER_FILE_NAME, UNSENT_FILE_NAME, Library

RECORDS = "the story data, your threads and the send log"

IGNORE = ".gitignore"
UNFINISHED = "forgetting.json"

_IN_USE = (
    "Stop `lrwr watch`, `lrwr chat` and other programs that use the library, then run"
    " the command again."
)

_PARTS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "files renamed by repair and restore",
        (
            "*.broken-*",
            "*.before-restore-*",
            "restoring-*",
            "library.db.repair*",
            "repair.lock",
        ),
    ),
    ("the automatic backups", ("backups",)),
    ("the vector index", ("index",)),
    ("evaluations", ("evaluations", "evaluations.lock")),
    ("evaluation questions", ("questions.jsonl", "questions.jsonl.*")),
    ("when contradictions were first reported", (LOG_FILE_NAME, f"{LOG_FILE_NAME}.*")),
    ("texts before recent ingestions", (TEXTS_FILE_NAME, f"{TEXTS_FILE_NAME}.*")),
    ("where the reader was closed", (READER_FILE_NAME, f"{READER_FILE_NAME}.*")),
    ("the question that was not sent", (UNSENT_FILE_NAME, f"{UNSENT_FILE_NAME}.*")),
    ("the confidence calibration", ("confidence.json", "confidence.json.*")),
    ("copies of your manuscript files", ("files",)),
    ("pending calls at Modal", ("calls",)),
    ("earlier versions of drafts", ("posts",)),
    (
        "the history of decisions",
        ("canon-history.jsonl", "canon-history.jsonl.*", "canon.lock"),
    ),
    ("the record of your manuscript's folders", ("library.json", "library.json.*")),
    (
        RECORDS,
        (
            *(
                "drafts.lock",
                "writing.lock",
                "library.db.damaged",
                "library.db.checked",
            ),
            *("library.db-wal", "library.db-shm", "library.db-journal", "library.db"),
        ),
    ),
)
"""Kinds of files in the state folder, with name patterns, in the order of deletion.

The database is last: as long as it exists, an interrupted deletion can be resumed.
"""

_OWN = (IGNORE, f"{IGNORE}.*", UNFINISHED, f"{UNFINISHED}.*")


@dataclass(frozen=True, slots=True)
class LocalDataPart:
    """One kind of files in the state folder, described by `what`, such as the database.

    `paths` are in the order of deletion. `size` is their total size in bytes.
    """

    what: str
    paths: tuple[Path, ...]
    size: int


@dataclass(frozen=True, slots=True)
class LocalData:
    """The contents of the state folder.

    `parts` are in the order of deletion; `others` are names of files that are not
    lrwr's.
    """

    parts: tuple[LocalDataPart, ...]
    others: tuple[str, ...]

    @property
    def size(self) -> int:
        """The total size of all files of lrwr in the state folder, in bytes."""
        return sum(part.size for part in self.parts)


def scan_local_data(library: Library) -> LocalData:
    """Return the contents of the state folder. Symbolic links are not followed."""
    names = _names(library.state_dir)
    parts = []
    for description, patterns in _PARTS:
        matching = [name for pattern in patterns for name in _match(pattern, names)]
        names = [name for name in names if name not in matching]
        paths = tuple(library.state_dir / name for name in dict.fromkeys(matching))
        if paths:
            parts.append(LocalDataPart(description, paths, sum(map(_size, paths))))
    others = [
        n for n in names if not any(fnmatchcase(n, own_pattern) for own_pattern in _OWN)
    ]
    return LocalData(tuple(parts), tuple(others))


def is_made_by_lrwr(library: Library) -> bool:
    """Return whether the state folder exists and was created by lrwr."""
    if library.database.exists() or library.memory.exists():
        return True
    with suppress(OSError, UnicodeError):
        text = (library.state_dir / IGNORE).read_text(encoding="utf-8")
        return text.startswith("# Made by lrwr")
    return False


def check_not_in_use(library: Library) -> None:
    """Raise an error if another process uses the library.

    Raises:
        StoreProblem: Another process uses it, or it is read-only.
    """
    for file in _locks(library):
        lock = FileLock(file)
        try:
            is_acquired = lock.acquire()
        except OSError as error:
            raise _undeletable(file, error) from error
        lock.release()
        if not is_acquired:
            raise StoreProblem(
                f"Another lrwr process is using {library.state_dir}", hint=_IN_USE
            )
    if library.database.exists():
        try:
            checkpoint_database(library.database)
        except StoreProblem as error:
            raise StoreProblem(str(error), hint=_IN_USE) from error


def delete_local_data(local_data: LocalData) -> Iterator[LocalDataPart]:
    """Delete the parts of `local_data` in their order; yield each after its deletion.

    Raises:
        StoreProblem: A file cannot be deleted; the following parts still exist.
    """
    for part in local_data.parts:
        for path in part.paths:
            _delete(path)
        yield part


def delete_empty_state_folder(library: Library) -> bool:
    """Delete the state folder if it is empty except for `.gitignore`.

    Return whether it is gone; True if it did not exist.

    Raises:
        StoreProblem: Its `.gitignore` cannot be deleted.
    """
    state = library.state_dir
    for name in _names(state):
        if fnmatchcase(name, IGNORE) or fnmatchcase(name, f"{IGNORE}.*"):
            continue
        return False
    for name in _names(state):
        _delete(state / name)
    try:
        state.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False  # it is a mount point, or a file was just created in it
    return True


def _locks(library: Library) -> list[Path]:
    folders = (library.state_dir, library.index_dir)
    return [f / name for f in folders for name in _match("*.lock", _names(f))]


def _names(folder: Path) -> list[str]:
    if folder.is_symlink() or not folder.is_dir():
        return []
    return sorted(path.name for path in folder.iterdir())


def _match(pattern: str, names: list[str]) -> list[str]:
    return [name for name in names if fnmatchcase(name, pattern)]


def _size(path: Path) -> int:
    if path.is_symlink() or not path.is_dir():
        return _file_size(path)
    return sum(
        _file_size(Path(folder) / name)
        for folder, _, names in os.walk(path)
        for name in names
    )


def _file_size(file: Path) -> int:
    """Return a file's size in bytes; 0 if it was just deleted."""
    with suppress(FileNotFoundError):
        return file.lstat().st_size
    return 0


def _delete(path: Path) -> None:
    try:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    except OSError as error:
        raise _undeletable(path, error) from error


def _undeletable(path: Path, error: OSError) -> StoreProblem:
    return StoreProblem(
        f"{path} cannot be deleted: {error.strerror}",
        hint="Check its permissions and close other programs, then run the command again to"
        " delete the rest.",
    )
