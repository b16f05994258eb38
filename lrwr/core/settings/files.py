"""Files that the writer has written for themselves: never over one that is there."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lrwr.core.model.errors import LrwrError, SettingsProblem
from lrwr.core.settings.library import list_manuscript_folders, resolve_library

if TYPE_CHECKING:
    from lrwr.core.settings.model import Settings

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl


def check_output_file(
    file: Path, settings: "Settings", endings: Sequence[str], *, force: bool | None
) -> None:
    """Make sure that `file` may be written; `force` allows one that is there.

    None says that there is no flag to be told of.

    Raises:
        SettingsProblem: It has another ending, is there, or is in the manuscript.
    """
    flag = "" if force is None else "--to "
    if file.suffix.lower() not in endings:
        raise SettingsProblem(
            f"{file} cannot be written: lrwr writes {' and '.join(endings)}",
            hint=f"Name it so: {flag}../{file.stem or 'file'}{endings[0]}",
        )
    for folder in list_manuscript_folders(settings, resolve_library(settings)):
        if _is_in(file.resolve(), folder):
            raise SettingsProblem(
                f"{file} would be part of the manuscript, and be read as such",
                hint=f"Write it to another folder, such as ../{file.name}",
            )
    if file.exists() and not force:
        raise _there_already(file, force)


def write_output_file(file: Path, content: bytes, *, force: bool | None) -> None:
    """Write `file`, which must be new unless `force` is given; see `check_output_file`.

    Raises:
        SettingsProblem: It is there already.
        LrwrError: The disk or the rights there do not allow it.
    """
    try:
        with file.open("wb" if force else "xb") as opened:
            opened.write(content)
    except FileExistsError as error:
        raise _there_already(file, force) from error
    except OSError as error:
        raise LrwrError(
            f"{file} cannot be written: {error.strerror}",
            hint="Check the disk and your rights in that folder.",
        ) from error


def _is_in(file: Path, folder: Path) -> bool:
    """Say whether `file` is `folder` or in it, however their names are spelled."""
    resolved_folder = folder.resolve()
    if not resolved_folder.exists():
        return file.is_relative_to(resolved_folder)
    return any(
        path.exists() and path.samefile(resolved_folder)
        for path in (file, *file.parents)
    )


def _there_already(file: Path, force: bool | None) -> SettingsProblem:
    hint = (
        "Name another file." if force is None else "Name another file, or use --force."
    )
    return SettingsProblem(f"{file} is there already", hint=hint)


class FileLock:
    """Holds a file for one process; the system lets go when that process ends."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: int | None = None

    def acquire(self) -> bool:
        """Take the lock without waiting; False when another holds it.

        Raises:
            OSError: The file cannot be made.
        """
        self._path.parent.mkdir(parents=True, exist_ok=True)
        file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            _lock(file)
        except OSError:
            os.close(file)
            return False
        self._file = file
        return True

    def release(self) -> None:
        """Let go. Safe to call twice."""
        if self._file is not None:
            os.close(self._file)
            self._file = None


def _lock(file: int) -> None:
    if sys.platform == "win32":
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
    else:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
