"""What a library's state folder holds, how much that is, and taking it away."""

import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from lrwr.core.adapters.storage.sqlite.maintenance import checkpoint_database
from lrwr.core.model.errors import StoreProblem
from lrwr.core.settings.files import FileLock
from lrwr.core.settings.library import Library

RECORDS = "what lrwr knows, and your conversations"

IGNORE = ".gitignore"
UNFINISHED = "forgetting.json"

_IN_USE = (
    "End `lrwr watch`, `lrwr chat` and whatever else works there, then run the command"
    " again."
)

_PARTS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "what repair and restore put aside",
        ("*.broken-*", "*.before-restore-*", "restoring-*"),
    ),
    ("search by meaning", ("index",)),
    ("evaluations", ("evaluations", "evaluations.lock")),
    ("the questions of evaluations", ("questions.jsonl", "questions.jsonl.*")),
    ("what was fitted to them", ("confidence.json", "confidence.json.*")),
    ("copies of your files", ("files",)),
    ("what Modal is asked to read", ("calls",)),
    (
        "what undo takes back",
        ("canon-history.jsonl", "canon-history.jsonl.*", "canon.lock"),
    ),
    ("your manuscript's folders, as given", ("library.json", "library.json.*")),
    (RECORDS, ("library.db-wal", "library.db-shm", "library.db-journal", "library.db")),
)
"""What lrwr puts into its folder, in the order in which it is taken away: while the
records are there, the rest can be found again."""

_OWN = (IGNORE, f"{IGNORE}.*", UNFINISHED, f"{UNFINISHED}.*")


@dataclass(frozen=True, slots=True)
class LocalDataPart:
    """One thing that is kept: `paths` in the order to remove them, bytes of all."""

    what: str
    paths: tuple[Path, ...]
    size: int


@dataclass(frozen=True, slots=True)
class LocalData:
    """What is in the state folder. `others` are names of what is not lrwr's."""

    parts: tuple[LocalDataPart, ...]
    others: tuple[str, ...]

    @property
    def size(self) -> int:
        """Bytes of all parts."""
        return sum(part.size for part in self.parts)


def scan_local_data(library: Library) -> LocalData:
    """Return what the state folder holds. Links are not followed."""
    names = _names(library.state_dir)
    parts = []
    for description, patterns in _PARTS:
        matching = [name for pattern in patterns for name in _like(pattern, names)]
        names = [name for name in names if name not in matching]
        paths = tuple(library.state_dir / name for name in dict.fromkeys(matching))
        if paths:
            parts.append(LocalDataPart(description, paths, sum(map(_size, paths))))
    others = [
        n for n in names if not any(fnmatchcase(n, own_pattern) for own_pattern in _OWN)
    ]
    return LocalData(tuple(parts), tuple(others))


def is_made_by_lrwr(library: Library) -> bool:
    """Say whether a state folder is there, and bears what lrwr writes into its own."""
    if library.database.exists() or library.memory.exists():
        return True
    with suppress(OSError, UnicodeError):
        text = (library.state_dir / IGNORE).read_text(encoding="utf-8")
        return text.startswith("# Made by lrwr")
    return False


def check_not_in_use(library: Library) -> None:
    """Make sure that no other process works in the library.

    Raises:
        StoreProblem: One does, or the library may not be written.
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
                f"Another lrwr is at work in {library.state_dir}", hint=_IN_USE
            )
    if library.database.exists():
        try:
            checkpoint_database(library.database)
        except StoreProblem as error:
            raise StoreProblem(str(error), hint=_IN_USE) from error


def delete_local_data(local_data: LocalData) -> Iterator[LocalDataPart]:
    """Delete one part after the other, and yield each once it is gone.

    Raises:
        StoreProblem: A file cannot be deleted; what follows it is still there.
    """
    for part in local_data.parts:
        for path in part.paths:
            _delete(path)
        yield part


def delete_empty_state_folder(library: Library) -> bool:
    """Delete the folder itself, if nothing is left in it; say whether it is gone.

    Raises:
        StoreProblem: It cannot be deleted.
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
        return False  # it is somebody's mount, or something was put there just now
    return True


def _locks(library: Library) -> list[Path]:
    folders = (library.state_dir, library.index_dir)
    return [f / name for f in folders for name in _like("*.lock", _names(f))]


def _names(folder: Path) -> list[str]:
    if folder.is_symlink() or not folder.is_dir():
        return []
    return sorted(path.name for path in folder.iterdir())


def _like(pattern: str, names: list[str]) -> list[str]:
    return [name for name in names if fnmatchcase(name, pattern)]


def _size(path: Path) -> int:
    if path.is_symlink() or not path.is_dir():
        return _bytes_of(path)
    return sum(
        _bytes_of(Path(folder) / name)
        for folder, _, names in os.walk(path)
        for name in names
    )


def _bytes_of(file: Path) -> int:
    """Return a file's size; 0 where somebody has just removed it."""
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
        f"{path} cannot be deleted: {error.strerror}.",
        hint="Check your rights there and close other programs, then run the command"
        " again: the rest goes.",
    )
