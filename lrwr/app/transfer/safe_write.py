"""Files written into a writer's folder: each whole or not at all, none over another."""

import os
import re
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path, PureWindowsPath
from uuid import uuid4

from lrwr.core.adapters.source.folder import (
    explain_skipped_file,
    explain_skipped_folder,
)
from lrwr.core.model.errors import StoreProblem
from lrwr.core.settings.library import CANON_FILE_NAME, SETTINGS_FILE_NAME

PART = ".lrwr-part-"
"""How the name of a file begins that is not whole yet. No manuscript's does."""

_OURS = frozenset({CANON_FILE_NAME, SETTINGS_FILE_NAME})

_ODD = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\\]")


def resolve_target_path(document: str, folder: Path) -> Path | None:
    """Return where a file belongs; None where it is none of a manuscript's there.

    What a project tells may have been written by anybody: only a name that `lrwr
    ingest` would read is a place.
    """
    *folders, name = document.split("/")
    if (
        _ODD.search(document)
        or _has_drive_or_stream(document)
        or not all(
            folder_name and not explain_skipped_folder(folder_name)
            for folder_name in folders
        )
        or not _OURS.isdisjoint(folders)
        or explain_skipped_file(name)
    ):
        return None
    path = folder / document
    leads_out = not _resolve_links(path.parent).is_relative_to(_resolve_links(folder))
    return None if leads_out else path


def is_already_written(path: Path, contents: Collection[str]) -> bool:
    """Say whether a file is there already; its SHA-256 is one of `contents` then.

    Raises:
        StoreProblem: Another is, or it cannot be read.
    """
    with _translate_errors(path, "read"):
        if not os.path.lexists(path):
            return False
        if path.is_file() and sha256(path.read_bytes()).hexdigest() in contents:
            return True
    raise StoreProblem(
        f"{path} is there already, and is another than that of the library",
        hint="Name another folder: lrwr never writes into a manuscript.",
    )


def write_new_file(path: Path, content: bytes) -> bool:
    """Write a file unless it is there by now; say whether it was written.

    Raises:
        StoreProblem: Another is there; or the disk or the rights do not allow it.
    """
    with _translate_errors(path, "written"):
        path.parent.mkdir(parents=True, exist_ok=True)
        with _temporary_file(path.parent, content) as part:
            if _publish(part, path):
                return True
    return not is_already_written(path, {sha256(content).hexdigest()})


def delete_partial_files(folders: Iterable[Path]) -> None:
    """Remove what a pull that was killed has left of files."""
    for folder in folders:
        for part in folder.glob(f"{PART}*"):
            with suppress(OSError):
                part.unlink()


@contextmanager
def _temporary_file(folder: Path, content: bytes) -> Iterator[Path]:
    """Write a file that has its name only for a while, and have it outlive a power cut."""
    part = folder / f"{PART}{uuid4().hex}"
    try:
        with part.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        yield part
    finally:
        part.unlink(missing_ok=True)


def _publish(part: Path, path: Path) -> bool:
    """Give a file its name, all at once; False where something has that name."""
    try:
        path.hardlink_to(part)
    except FileExistsError:
        return False
    except (OSError, NotImplementedError):  # such as on a memory stick
        if os.path.lexists(path):
            return False
        part.rename(path)
    return True


def _has_drive_or_stream(document: str) -> bool:
    """Say whether a name leads to a drive, or on Windows into what a file has besides."""
    return bool(PureWindowsPath(document).drive) or (
        os.name == "nt" and ":" in document
    )


def _resolve_links(path: Path) -> Path:
    return Path(os.path.realpath(path))


@contextmanager
def _translate_errors(path: Path, action: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StoreProblem(
            f"{path} cannot be {action} ({error.strerror})",
            hint="Check the disk and your rights there.",
        ) from error
