from pathlib import Path

import pytest

from lrwr.app.transfer.files import FileTransferResult, upload_files
from lrwr.core.adapters.files.folder import FolderFileStore, hash_file_content
from lrwr.core.adapters.storage.sqlite.document_rows import DocumentRows
from lrwr.core.adapters.storage.supabase.codecs import (
    DOCUMENT,
    build_tombstone,
    encode_record,
)
from lrwr.core.model.choices import Pipeline
from tests.fakes.hosted import Machine

pytestmark = pytest.mark.supabase

OURS, THEIRS, OLD = b"# The stones\n", b"# The lantern\n", b"# An old lantern\n"


def a_draft(name: str, content: bytes) -> DocumentRows:
    document = (name, "md", "scene", name, None, 3, 1.0, "[]", "[]", "", "x")
    return DocumentRows(
        document, Pipeline.NAIVE, hash_file_content(content), "r", "", (), None
    )


async def took(one: Machine, folder: Path, away: FolderFileStore) -> FileTransferResult:
    """Take the files of a folder there."""
    (folder / "one.md").write_bytes(OURS)
    return await upload_files(one.plain, folder, [], away, one.records, untold)


def untold(what: str, done: int, of: int) -> None:
    del what, done, of


class Meanwhile(FolderFileStore):
    """Lets another machine write its record once files were listed."""

    def __init__(self, folder: Path, other: Machine) -> None:
        super().__init__(folder)
        self._other = other

    async def stored_names(self) -> set[str]:
        found = await super().stored_names()
        await self._other.records.put(encode_record(a_draft("two.md", THEIRS)))
        return found


async def test_a_file_of_a_document_that_another_machine_has_read_stays(
    desk: Machine, train: Machine, tmp_path: Path
) -> None:
    away = FolderFileStore(tmp_path / "away")
    await desk.records.put(encode_record(a_draft("one.md", OURS)))
    await desk.copy.catch_up()
    await train.records.put(encode_record(a_draft("two.md", THEIRS)))
    for content in (THEIRS, OLD):
        await away.put(content)
    filed = await took(desk, tmp_path, away)
    assert (filed.moved, filed.changed) == (1, ())
    assert await away.stored_names() == {
        hash_file_content(OURS),
        hash_file_content(THEIRS),
    }
    await train.records.put(build_tombstone(DOCUMENT, "a/two.md"))
    await took(desk, tmp_path, away)
    assert await away.stored_names() == {hash_file_content(OURS)}


async def test_a_file_whose_record_comes_while_files_are_taken_stays(
    desk: Machine, train: Machine, tmp_path: Path
) -> None:
    away = Meanwhile(tmp_path / "away", train)
    await away.put(THEIRS)
    await took(desk, tmp_path, away)
    assert (
        hash_file_content(THEIRS)
        in await FolderFileStore(tmp_path / "away").stored_names()
    )
