"""Manuscript files in a private folder on this machine."""

import asyncio
import errno
import hashlib
import os
import re
import stat
import sys
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from lrwr.core.model.errors import LrwrError, NotFound, StoreProblem

if sys.platform != "win32":
    import fcntl
_NAME = re.compile(r"[0-9a-f]{64}")


def hash_file_content(content: bytes) -> str:
    """Return the SHA-256 of `content` in lower-case hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def is_stored_file_name(text: str) -> bool:
    """Return whether `text` is 64 lower-case hexadecimal digits, as the name of a
    stored file is.

    So it is never a path. Whether the file exists is not checked.
    """
    return _NAME.fullmatch(text) is not None


_PART_PREFIX = "part-"
_LOCK = "lock"
_PRIVATE_MODE = 0o700
_NO_LINK = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | _NO_LINK
_FULL_ERRORS = frozenset({errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)})
_PERMISSION_ERRORS = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})


class FolderFileStore:
    """The `FileStore` port over a local folder.

    Each file is named by the SHA-256 of its content, in a subfolder named by the first
    two characters. `folder` is created by the first `put`, readable by its owner only.
    Several processes may use it at the same time.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def put(self, content: bytes) -> str:
        """Store `content` unless it is stored already, and return its SHA-256.

        Raises:
            StoreProblem: The folder cannot be written.
        """
        return await asyncio.to_thread(self._put, content)

    async def get(self, sha256: str) -> bytes:
        """Return the content of the file with this SHA-256.

        Raises:
            NotFound: No such file is stored.
            StoreProblem: The file is damaged: it does not match its SHA-256.
        """
        return await asyncio.to_thread(self._get, sha256)

    async def stored_names(self) -> set[str]:
        """Return the SHA-256 of every stored file.

        Raises:
            StoreProblem: The folder cannot be read.
        """
        return await asyncio.to_thread(self._list_files)

    async def remove(self, names: Collection[str]) -> int:
        """Delete the files with the SHA-256 in `names`, and return the number deleted.

        Missing files are ignored. Temporary files left by killed processes are deleted,
        too.

        Raises:
            StoreProblem: The folder cannot be written.
        """
        return await asyncio.to_thread(self._remove, names)

    def _put(self, content: bytes) -> str:
        name = hash_file_content(content)
        with _translate_errors(self._folder):
            if not self._has_content(name, content):
                self._folder.mkdir(_PRIVATE_MODE, parents=True, exist_ok=True)
                with _hold_write_lock(self._folder):
                    _write(self._folder, self._path(name), content)
        return name

    def _get(self, name: str) -> bytes:
        if not is_stored_file_name(name):
            raise _build_missing_error(self._folder)
        with _translate_errors(self._folder):
            try:
                content = _read(self._path(name))
            except (FileNotFoundError, NotADirectoryError):
                raise _build_missing_error(self._folder) from None
        if hash_file_content(content) != name:
            raise StoreProblem(
                f"The file {name[:12]}… in {self._folder} is damaged",
                hint="Run `lrwr ingest` to store it again from your manuscript.",
            )
        return content

    def _list_files(self) -> set[str]:
        with _translate_errors(self._folder):
            return set(_names_in(self._folder))

    def _remove(self, names: Collection[str]) -> int:
        with _translate_errors(self._folder):
            if not self._folder.is_dir():
                return 0
            with _hold_write_lock(self._folder):
                paths = [
                    self._path(name) for name in set(names) if is_stored_file_name(name)
                ]
                return sum(map(_delete, paths))

    def _has_content(self, name: str, content: bytes) -> bool:
        try:
            return _read(self._path(name)) == content
        except OSError:
            return False

    def _path(self, name: str) -> Path:
        subfolder = self._folder / name[:2]
        if subfolder.is_symlink():
            raise StoreProblem(
                f"{subfolder} is a symbolic link, which lrwr does not follow",
                hint="Delete the link.",
            )
        return subfolder / name


def _names_in(folder: Path) -> Iterator[str]:
    for subfolder in _entries(folder):
        if len(subfolder.name) == 2 and subfolder.is_dir(follow_symlinks=False):
            yield from _names_in_subfolder(Path(subfolder))


def _names_in_subfolder(subfolder: Path) -> Iterator[str]:
    for file in _entries(subfolder):
        right = is_stored_file_name(file.name) and file.name.startswith(subfolder.name)
        if right and file.is_file(follow_symlinks=False):
            yield file.name


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except FileNotFoundError:
        return []


def _delete(path: Path) -> bool:
    """Delete a file; return whether it existed."""
    try:
        path.unlink()
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def _read(path: Path) -> bytes:
    with os.fdopen(os.open(path, _READ), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "not a regular file")
        return file.read()


def _write(folder: Path, path: Path, content: bytes) -> None:
    subfolder = path.parent
    if not subfolder.is_dir():
        subfolder.mkdir(_PRIVATE_MODE, exist_ok=True)
        _sync_folder(folder)
    handle, part = tempfile.mkstemp(dir=folder, prefix=_PART_PREFIX)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(part).replace(path)
    except BaseException:
        Path(part).unlink(missing_ok=True)
        raise
    _sync_folder(subfolder)


def _sync_folder(folder: Path) -> None:
    """Write a folder's entries to disk, so that they survive a power failure."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextmanager
def _hold_write_lock(folder: Path) -> Iterator[None]:
    """Hold a shared lock while writing; the first to hold it deletes leftover parts."""
    handle = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | _NO_LINK, 0o600)
    try:
        _sweep_and_share(handle, folder)
        yield
    finally:
        os.close(handle)


def _sweep_and_share(handle: int, folder: Path) -> None:
    # Windows refuses to delete a file that another process writes: no lock is needed.
    if sys.platform == "win32":
        _sweep(folder)
        return
    # Without file locks nobody knows whether a part is in use, so parts stay.
    with suppress(OSError):
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        _sweep(folder)
    with suppress(OSError):
        fcntl.flock(handle, fcntl.LOCK_SH)


def _sweep(folder: Path) -> None:
    for part in folder.glob(f"{_PART_PREFIX}*"):
        with suppress(OSError):
            part.unlink()


def _build_missing_error(folder: Path) -> NotFound:
    return NotFound(
        f"The stored copy of the file is missing from {folder}",
        hint="Run `lrwr ingest` to store the files of your manuscript.",
    )


@contextmanager
def _translate_errors(folder: Path) -> Iterator[None]:
    try:
        yield
    except LrwrError:
        raise
    except OSError as error:
        raise _build_error(error, folder) from error


def _build_error(error: OSError, folder: Path) -> StoreProblem:
    if error.errno in _FULL_ERRORS:
        return StoreProblem(
            f"The disk is full: {folder} cannot be written",
            hint="Free some space and run the command again; stored data is safe.",
        )
    if error.errno in _PERMISSION_ERRORS:
        return StoreProblem(
            f"{folder} cannot be read or written",
            hint="Change its permissions, or set `state_dir` to another folder.",
        )
    return StoreProblem(
        f"{folder} cannot be used: {error.strerror}",
        hint="Check the disk, or set `state_dir` to another folder.",
    )
