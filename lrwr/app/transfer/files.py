"""Uploads and downloads the ingested manuscript files."""

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
"""Prefix of the names of incomplete files; manuscripts never contain such files."""
_OURS = frozenset({CANON_FILE_NAME, SETTINGS_FILE_NAME})
_ODD = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\\]")


def resolve_target_path(document: str, folder: Path) -> Path | None:
    """Return the path of a document in `folder`, or None if its name is not safe.

    `document` is an id from a Supabase project that others may have written to. So only
    names that `lrwr ingest` would read are accepted, and only paths inside `folder`.
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
    """Return whether the file `path` exists with one of the expected contents.

    `contents` are their SHA-256 hashes as hexadecimal digits. False if nothing exists.

    Raises:
        StoreProblem: The file has another content, or cannot be read.
    """
    with _translate_errors(path, "read"):
        if not os.path.lexists(path):
            return False
        if path.is_file() and sha256(path.read_bytes()).hexdigest() in contents:
            return True
    raise StoreProblem(
        f"{path} already exists and differs from the file of the library",
        hint="Choose an empty folder: lrwr never overwrites manuscript files.",
    )


def write_new_file(path: Path, content: bytes) -> bool:
    """Write a file unless it exists with this content; return whether it was written.

    Missing folders are created. The file appears with its complete content, or not at
    all.

    Raises:
        StoreProblem: A different file exists, or the file cannot be written.
    """
    with _translate_errors(path, "written"):
        path.parent.mkdir(parents=True, exist_ok=True)
        with _temporary_file(path.parent, content) as part:
            if _publish(part, path):
                return True
    return not is_already_written(path, {sha256(content).hexdigest()})


def delete_partial_files(folders: Iterable[Path]) -> None:
    """Delete the temporary files that an interrupted download left in `folders`.

    Subfolders are not searched. Files that cannot be deleted stay.
    """
    for folder in folders:
        for part in folder.glob(f"{PART}*"):
            with suppress(OSError):
                part.unlink()


@contextmanager
def _temporary_file(folder: Path, content: bytes) -> Iterator[Path]:
    """Write a temporary file to the disk (with fsync), and delete it on exit."""
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
    """Give a complete file its final name; return False if that name is taken."""
    try:
        path.hardlink_to(part)
    except FileExistsError:
        return False
    except (
        OSError,
        NotImplementedError,
    ):  # file systems without hard links, such as FAT
        if os.path.lexists(path):
            return False
        part.rename(path)
    return True


def _has_drive_or_stream(document: str) -> bool:
    """Return whether a name has a Windows drive, or on Windows an alternate data stream."""
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
            hint="Check the free disk space and the permissions of the folder.",
        ) from error


_FILES = "select distinct document_id, content from processed order by 1"
FOLDER = "files"
"""Folder in `.lrwr/` for downloaded files, named by the hash of their content."""
TransferProgress = Callable[[str, int, int], None]
FileDigests = Sequence[tuple[str, str]]
"""Document ids with the SHA-256 of the files that were ingested."""


@dataclass(frozen=True, slots=True)
class FileTransferResult:
    """The result of an upload or download of manuscript files.

    `moved` counts transferred files, `there` those that the destination had already.
    `changed` are ids of documents whose ingested content is not available any more,
    `written` those of the files written into the target folder of a download; `refused`
    were not written, because their names are not safe there.
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
    """Upload the manuscript files that the Supabase project lacks.

    Files whose content has changed since the ingestion are left out. Files there that
    no document uses any more are deleted. `root` is the library's folder, `targets` are
    the manuscript's folders and files. `report_progress` receives the step, the number
    of finished files and the total.

    Raises:
        LrwrError: Supabase did not answer or refused.
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
    # Fetched last, because another machine may have added documents meanwhile.
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
    """Download missing files into `state_dir`, and copy all files to the folder `into`.

    With `into` None, nothing is copied. Existing files are never overwritten.
    `report_progress` receives the step, the number of finished files and the total.

    Raises:
        LrwrError: Supabase did not answer, a file cannot be written, or a different
            file with the same name exists in `into`.
    """
    file_digests, local_files = (
        await _load_file_digests(database),
        FolderFileStore(state_dir / FOLDER),
    )
    places: dict[str, Path] = {}
    refused: list[str] = []
    if into is not None:
        places, refused = await asyncio.to_thread(_plan_writes, file_digests, into)
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


def _plan_writes(
    file_digests: FileDigests, folder: Path
) -> tuple[dict[str, Path], list[str]]:
    """Return the paths of files to write, and the documents with unsafe names.

    Raises:
        StoreProblem: A different file with the same name exists.
    """
    contents: dict[str, set[str]] = {}
    for (
        document,
        content,
    ) in file_digests:  # the two pipelines may have ingested two versions
        contents.setdefault(document, set()).add(content)
    places, refused = {}, []
    for document, digests in contents.items():
        path = resolve_target_path(document, folder)
        if path is None:
            refused.append(document)
        elif not is_already_written(path, digests):
            places[document] = path
    return places, refused
