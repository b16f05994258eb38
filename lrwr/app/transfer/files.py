"""The manuscript's files as they were read: taken to a project, and brought from there."""

import asyncio
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path, PureWindowsPath
from typing import TYPE_CHECKING
from uuid import uuid4

from lrwr.core.adapters.files.folder import FolderFileStore
from lrwr.core.adapters.source.folder import (
    FolderSource,
    explain_skipped_file,
    explain_skipped_folder,
)
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.errors import LrwrError, NotFound, StoreProblem
from lrwr.core.settings.library import CANON_FILE_NAME, SETTINGS_FILE_NAME

if TYPE_CHECKING:
    from lrwr.core.adapters.storage.sqlite.database import SqliteDatabase
    from lrwr.core.adapters.storage.supabase.records import SupabaseRecords
    from lrwr.core.ports.stores import FileStore

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


_FILES = "select distinct document_id, content from processed order by 1"
FOLDER = "files"
"""Where files are kept in the state folder, by the hash of what they hold."""
TransferProgress = Callable[[str, int, int], None]
FileDigests = Sequence[tuple[str, str]]
"""Documents with the hash of what they were read from."""


@dataclass(frozen=True, slots=True)
class FileTransferResult:
    """Files that were moved, and those that could not be, by name.

    `refused` are those not `written` for their names: they lead out of the folder, or
    no file of a manuscript is called so.
    """

    moved: int = 0
    there: int = 0
    changed: tuple[str, ...] = ()
    written: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()


async def upload_files(
    database: "SqliteDatabase",
    root: Path,
    targets: Sequence[Path],
    remote_files: "FileStore",
    records: "SupabaseRecords",
    report_progress: TransferProgress,
) -> FileTransferResult:
    """Take every file there that is still as it was read.

    What was there before, and no document there or here is made of, goes.

    Raises:
        LrwrError: The project cannot be asked, or refuses.
    """
    file_digests = await _load_file_digests(database)
    remote_digests = await remote_files.stored_names()
    before = frozenset(remote_digests)
    source = FolderSource(root, targets or [root])
    moved, changed = 0, []
    for number, (document, content) in enumerate(file_digests):
        report_progress("files", number, len(file_digests))
        if content in remote_digests:
            continue
        content_bytes = await _read(source, document)
        if content_bytes is None or sha256(content_bytes).hexdigest() != content:
            changed.append(document)
            continue
        remote_digests.add(await remote_files.put(content_bytes))
        moved += 1
    # Asked last: another machine may have written its record only now.
    manifest_digests = {entry.content for entry in (await records.manifest()).entries}
    await remote_files.remove(
        before - manifest_digests - {content for _, content in file_digests}
    )
    return FileTransferResult(
        moved, len(file_digests) - moved - len(changed), tuple(changed)
    )


async def download_files(
    database: "SqliteDatabase",
    state_dir: Path,
    remote_files: "FileStore",
    into: Path | None,
    report_progress: TransferProgress,
) -> FileTransferResult:
    """Bring every file here that is not here yet, and write them `into` a folder.

    Raises:
        LrwrError: The project cannot be asked; the disk or the rights there do not
            allow it; or one of the files is there already, and is another.
    """
    file_digests, local_files = (
        await _load_file_digests(database),
        FolderFileStore(state_dir / FOLDER),
    )
    places: dict[str, Path] = {}
    refused: list[str] = []
    if into is not None:
        places, refused = await asyncio.to_thread(_places, file_digests, into)
    local_digests, moved, missing = await local_files.stored_names(), 0, []
    for number, (document, content) in enumerate(file_digests):
        report_progress("files", number, len(file_digests))
        if content in local_digests:
            continue
        try:
            local_digests.add(await local_files.put(await remote_files.get(content)))
        except NotFound:
            missing.append(document)
        else:
            moved += 1
    written_names = await _write(places, file_digests, local_digests, local_files)
    already_present = len(file_digests) - moved - len(missing)
    return FileTransferResult(
        moved, already_present, tuple(missing), tuple(written_names), tuple(refused)
    )


async def _load_file_digests(database: "SqliteDatabase") -> FileDigests:
    return await database.read(lambda connection: connection.execute(_FILES).fetchall())


async def _read(source: FolderSource, document: str) -> bytes | None:
    try:
        content, _ = await source.read(DocumentId(document))
    except LrwrError:
        return None
    return content


async def _write(
    places: Mapping[str, Path],
    file_digests: FileDigests,
    local_digests: set[str],
    local_files: "FileStore",
) -> list[str]:
    await asyncio.to_thread(
        delete_partial_files, {path.parent for path in places.values()}
    )
    written_names: list[str] = []
    for document, content in file_digests:
        if (
            document not in places
            or document in written_names
            or content not in local_digests
        ):
            continue
        content_bytes = await local_files.get(content)
        if await asyncio.to_thread(write_new_file, places[document], content_bytes):
            written_names.append(document)
    return written_names


def _places(
    file_digests: FileDigests, folder: Path
) -> tuple[dict[str, Path], list[str]]:
    """Return where to write what is not there yet, and what has no place in a folder.

    Raises:
        StoreProblem: One would have to be written over.
    """
    contents: dict[str, set[str]] = {}
    for document, content in file_digests:  # two pipelines may have read two versions
        contents.setdefault(document, set()).add(content)
    places, refused = {}, []
    for document, digests in contents.items():
        path = resolve_target_path(document, folder)
        if path is None:
            refused.append(document)
        elif not is_already_written(path, digests):
            places[document] = path
    return places, refused
