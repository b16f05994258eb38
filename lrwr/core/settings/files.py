"""Output files of the user, and locks between processes."""

import errno
import os
import sys
import tempfile
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


OWN_FOLDER_MARKER = ".lrwr-folder"
"""Name of the file in each folder that lrwr created, which marks it as such."""


STAGED_PREFIX = ".lrwr-new-"
"""Start of the names of files that are not complete yet."""


def check_output_file(
    file: Path, settings: "Settings", endings: Sequence[str], *, force: bool | None
) -> None:
    """Check that a command may write the output file `file`.

    `endings` are the allowed file endings, in lower case with the dot. An existing file
    is refused unless `force` is true. None means that the command has no options `--to`
    and `--force`, which error messages then do not suggest.

    Raises:
        SettingsProblem: The file has another ending, exists already, or is in a
            manuscript folder, where it would be ingested.
    """
    flag = "" if force is None else "--to "
    if file.suffix.lower() not in endings:
        raise SettingsProblem(
            f"{file} cannot be written: the file must end in {' or '.join(endings)}",
            hint=f"Use `{flag}../{file.stem or 'file'}{endings[0]}`.",
        )
    for folder in list_manuscript_folders(settings, resolve_library(settings)):
        if _is_in(file.resolve(), folder):
            raise SettingsProblem(
                f"{file} is in a manuscript folder, so lrwr would ingest it",
                hint=f"Write it to another folder, such as `../{file.name}`.",
            )
    if file.exists() and not force:
        raise _already_exists(file, force)


def write_output_file(file: Path, content: bytes, *, force: bool | None) -> None:
    """Write `content` to `file`; overwrite an existing file only if `force` is true.

    Raises:
        SettingsProblem: The file exists already.
        LrwrError: The file cannot be written.
    """
    try:
        with file.open("wb" if force else "xb") as opened:
            opened.write(content)
    except FileExistsError as error:
        raise _already_exists(file, force) from error
    except OSError as error:
        raise LrwrError(
            f"{file} cannot be written: {error.strerror}",
            hint="Check the free disk space and the permissions of the folder.",
        ) from error


def create_file_atomically(file: Path, content: bytes, staging: Path) -> None:
    """Create `file` with `content`: whole, or not at all. An existing one stays.

    The content is first written to a new file in the folder `staging`; if the process is
    killed, only that may be left over. `staging` should be on the same drive.

    Raises:
        FileExistsError: There is a file already; nothing was changed.
        OSError: The file cannot be created.
    """
    handle, name = tempfile.mkstemp(dir=staging, prefix=STAGED_PREFIX)
    staged = Path(name)
    try:
        with os.fdopen(handle, "wb") as opened:
            opened.write(content)
            opened.flush()
            os.fsync(opened.fileno())
        staged.chmod(0o644)
        if sys.platform == "win32":
            staged.rename(file)  # refuses an existing file there
        else:
            # Unlike a rename, a new link never replaces an existing file.
            os.link(staged, file)
    finally:
        staged.unlink(missing_ok=True)


def _is_in(file: Path, folder: Path) -> bool:
    """Return whether `file` is `folder` or inside it, whatever the spelling of the
    paths.
    """
    resolved_folder = folder.resolve()
    if not resolved_folder.exists():
        return file.is_relative_to(resolved_folder)
    return any(
        path.exists() and path.samefile(resolved_folder)
        for path in (file, *file.parents)
    )


def _already_exists(file: Path, force: bool | None) -> SettingsProblem:
    hint = (
        "Choose another file name."
        if force is None
        else "Choose another file name, or use `--force`."
    )
    return SettingsProblem(f"{file} already exists", hint=hint)


_HELD_ERRORS = frozenset({errno.EAGAIN, errno.EWOULDBLOCK, errno.EACCES, errno.EDEADLK})
"""Errors for a lock that another process holds: on Windows the last two."""


class FileLock:
    """An exclusive lock on the file `path`.

    The system releases it when the process ends.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: int | None = None

    def acquire(self) -> bool:
        """Take the lock without waiting; return False if another process holds it.

        Creates the file and its folder.

        Raises:
            OSError: The file cannot be created, or its drive has no locks.
        """
        self._path.parent.mkdir(0o700, parents=True, exist_ok=True)
        file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            _lock(file)
        except OSError as error:
            os.close(file)
            if error.errno in _HELD_ERRORS:
                return False
            raise
        self._file = file
        return True

    def release(self) -> None:
        """Release the lock. Idempotent."""
        if self._file is not None:
            os.close(self._file)
            self._file = None


def _lock(file: int) -> None:
    if sys.platform == "win32":
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
    else:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
