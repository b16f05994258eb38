"""The manuscript's files as they were read: taken to a project, and brought from there."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from lrwr.app.transfer.safe_write import (
    delete_partial_files,
    is_already_written,
    resolve_target_path,
    write_new_file,
)
from lrwr.core.adapters.files.folder import FolderFileStore
from lrwr.core.adapters.source.folder import FolderSource
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.errors import LrwrError, NotFound

if TYPE_CHECKING:
    from lrwr.core.adapters.storage.sqlite.database import SqliteDatabase
    from lrwr.core.adapters.storage.supabase.records import SupabaseRecords
    from lrwr.core.ports.file_store import FileStore

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
    away: "FileStore",
    records: "SupabaseRecords",
    tell: TransferProgress,
) -> FileTransferResult:
    """Take every file there that is still as it was read.

    What was there before, and no document there or here is made of, goes.

    Raises:
        LrwrError: The project cannot be asked, or refuses.
    """
    file_digests = await _wanted(database)
    held = await away.held()
    before = frozenset(held)
    source = FolderSource(root, targets or [root])
    moved, changed = 0, []
    for number, (document, content) in enumerate(file_digests):
        tell("files", number, len(file_digests))
        if content in held:
            continue
        found = await _read(source, document)
        if found is None or sha256(found).hexdigest() != content:
            changed.append(document)
            continue
        held.add(await away.put(found))
        moved += 1
    # Asked last: another machine may have written its record only now.
    needed = {entry.content for entry in (await records.manifest()).entries}
    await away.remove(before - needed - {content for _, content in file_digests})
    return FileTransferResult(
        moved, len(file_digests) - moved - len(changed), tuple(changed)
    )


async def download_files(
    database: "SqliteDatabase",
    state_dir: Path,
    away: "FileStore",
    into: Path | None,
    tell: TransferProgress,
) -> FileTransferResult:
    """Bring every file here that is not here yet, and write them `into` a folder.

    Raises:
        LrwrError: The project cannot be asked; the disk or the rights there do not
            allow it; or one of the files is there already, and is another.
    """
    wanted, here = await _wanted(database), FolderFileStore(state_dir / FOLDER)
    places: dict[str, Path] = {}
    refused: list[str] = []
    if into is not None:
        places, refused = await asyncio.to_thread(_places, wanted, into)
    held, moved, lacking = await here.held(), 0, []
    for number, (document, content) in enumerate(wanted):
        tell("files", number, len(wanted))
        if content in held:
            continue
        try:
            held.add(await here.put(await away.get(content)))
        except NotFound:
            lacking.append(document)
        else:
            moved += 1
    written = await _write(places, wanted, held, here)
    there = len(wanted) - moved - len(lacking)
    return FileTransferResult(
        moved, there, tuple(lacking), tuple(written), tuple(refused)
    )


async def _wanted(database: "SqliteDatabase") -> FileDigests:
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
    held: set[str],
    here: "FileStore",
) -> list[str]:
    await asyncio.to_thread(
        delete_partial_files, {path.parent for path in places.values()}
    )
    written: list[str] = []
    for document, content in file_digests:
        if document not in places or document in written or content not in held:
            continue
        found = await here.get(content)
        if await asyncio.to_thread(write_new_file, places[document], found):
            written.append(document)
    return written


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
    for document, known in contents.items():
        path = resolve_target_path(document, folder)
        if path is None:
            refused.append(document)
        elif not is_already_written(path, known):
            places[document] = path
    return places, refused
