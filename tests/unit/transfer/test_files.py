import asyncio
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lrwr.app.transfer.files import FileTransferResult, download_files
from lrwr.core.adapters.files.folder import FolderFileStore, hash_file_content
from lrwr.core.adapters.source.folder import FolderSource
from lrwr.core.adapters.storage.sqlite.database import SqliteDatabase
from lrwr.core.adapters.storage.sqlite.document_rows import (
    DocumentRows,
    store_document_rows,
)
from lrwr.core.model.choices import Pipeline
from lrwr.core.model.errors import StoreProblem
from tests.fakes.suite import examples

ROOT = Path(__file__).parents[3]

STONES, LANTERN = "chapters/01-the-stones.md", "chapters/02-the-lantern.md"

LONG = b"The stones went under one by one.\n" * 100_000

PULLING = """
import asyncio, os, resource, signal, sys
from pathlib import Path
from lrwr.core.adapters.files.folder import FolderFileStore
from lrwr.core.adapters.storage.sqlite.database import SqliteDatabase
from lrwr.app.transfer.files import download_files

def untold(what, done, of):
    pass

async def pull(there):
    database = SqliteDatabase(there / "library.db")
    away = FolderFileStore(there / "away")
    await download_files(database, there, away, there / "book", untold)

{want}
asyncio.run(pull(Path(sys.argv[1])))
"""
KILLED_AT_THE_DISK = PULLING.format(
    want="os.fsync = lambda handle: os.kill(os.getpid(), signal.SIGKILL)"
)
KILLED_IN_THE_MIDDLE = PULLING.format(
    want="""
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))
"""
)
DISK_FULL = PULLING.format(
    want="resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))"
)
WITHOUT_LINKS = PULLING.format(
    want="""
def link(*names, **more):
    raise PermissionError(1, "no links here")
os.link = link
"""
)

NAMES = st.lists(
    st.one_of(
        st.sampled_from(
            ("chapters", "notes", ".git", ".lrwr", "lrwr.toml", "..", ".", "C:", "…")
        ),
        st.sampled_from(("c:\\x", "~", "a\0b", "a\nb", "x.scriv", "🐸")),
        st.text(max_size=6),
    ),
    max_size=4,
).flatmap(
    lambda parts: st.sampled_from(("", ".md", ".DOCX", ".txt", ".json", "/")).map(
        lambda ending: "/".join(parts) + ending
    )
)


def a_draft(name: str, content: str, pipeline: Pipeline) -> DocumentRows:
    document = (name, "md", "scene", name, None, 3, 1.0, "[]", "[]", "", "")
    return DocumentRows(document, pipeline, content, "r", "", (), None)


async def library(
    there: Path, files: Mapping[str, bytes], pipeline: Pipeline = Pipeline.NAIVE
) -> SqliteDatabase:
    """A library that was read from files, which are all kept away."""
    database, away = (
        SqliteDatabase(there / "library.db"),
        FolderFileStore(there / "away"),
    )
    for name, content in files.items():
        draft = a_draft(name, await away.put(content), pipeline)
        keep = partial(
            store_document_rows, draft=draft, embeddings=[], revision="", now=1.0
        )
        await database.write(keep)
    return database


def untold(what: str, done: int, of: int) -> None:
    del what, done, of


async def pull(
    there: Path, files: Mapping[str, bytes] | None = None
) -> FileTransferResult:
    """Write a library's files into the folder `book`."""
    database = await library(there, files or {})
    try:
        away = FolderFileStore(there / "away")
        return await download_files(database, there, away, there / "book", untold)
    finally:
        await database.aclose()


async def kept_here(
    there: Path, files: Mapping[str, bytes], pipeline: Pipeline = Pipeline.NAIVE
) -> None:
    """Bring files here, and write them nowhere."""
    database = await library(there, files, pipeline)
    away = FolderFileStore(there / "away")
    await download_files(database, there, away, None, untold)
    await database.aclose()


def run(code: str, there: Path) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-c", code, str(there)]
    return subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False
    )


def in_book(there: Path) -> dict[str, bytes]:
    """What is in the folder, of whatever name."""
    book = there / "book"
    files = (path for path in book.rglob("*") if path.is_file())
    return {path.relative_to(book).as_posix(): path.read_bytes() for path in files}


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
@pytest.mark.parametrize("code", [KILLED_AT_THE_DISK, KILLED_IN_THE_MIDDLE])
async def test_a_pull_that_is_killed_leaves_no_half_file_and_the_next_one_goes_on(
    tmp_path: Path, code: str
) -> None:
    files = {STONES: LONG, LANTERN: b"# The lantern\n"}
    await kept_here(tmp_path, files)
    assert run(code, tmp_path).returncode < 0
    source = FolderSource(tmp_path / "book", [tmp_path / "book"])
    assert (await source.list()).found == ()
    assert in_book(tmp_path)  # the test has met the moment that it means
    assert (await pull(tmp_path)).written == (STONES, LANTERN)
    assert in_book(tmp_path) == files


@pytest.mark.skipif(sys.platform == "win32", reason="the limit is POSIX's")
async def test_a_disk_that_is_full_leaves_nothing_and_the_next_pull_goes_on(
    tmp_path: Path,
) -> None:
    await kept_here(tmp_path, {STONES: LONG})
    ran = run(DISK_FULL, tmp_path)
    assert f"StoreProblem: {tmp_path / 'book' / STONES} cannot be written" in ran.stderr
    assert in_book(tmp_path) == {}
    assert (await pull(tmp_path)).written == (STONES,)
    assert in_book(tmp_path) == {STONES: LONG}


async def test_where_there_are_no_links_files_are_written_as_well_and_over_none(
    tmp_path: Path,
) -> None:
    await kept_here(tmp_path, {STONES: b"# The stones\n"})
    for _ in range(2):
        assert run(WITHOUT_LINKS, tmp_path).returncode == 0
    assert in_book(tmp_path) == {STONES: b"# The stones\n"}


async def test_of_a_document_that_was_read_in_two_versions_one_is_written(
    tmp_path: Path,
) -> None:
    for pipeline, content in ((Pipeline.NAIVE, b"Old."), (Pipeline.AGENTIC, b"New.")):
        await kept_here(tmp_path, {STONES: content}, pipeline)
    assert [(await pull(tmp_path)).written for _ in range(2)] == [(STONES,), ()]
    assert in_book(tmp_path)[STONES] in (b"Old.", b"New.")


async def test_what_is_there_and_another_is_not_written_over_and_nothing_is_written(
    tmp_path: Path,
) -> None:
    mine = tmp_path / "book" / LANTERN
    mine.parent.mkdir(parents=True)
    mine.write_bytes(b"Mine.")
    with pytest.raises(StoreProblem, match="already exists and differs"):
        await pull(tmp_path, {STONES: b"Theirs.", LANTERN: b"Theirs."})
    assert in_book(tmp_path) == {LANTERN: b"Mine."}


@pytest.mark.parametrize("path", ["chapters", f"chapters/{'x' * 300}.md"])
async def test_a_file_that_cannot_be_written_is_told_to_the_writer(
    tmp_path: Path, path: str
) -> None:
    (tmp_path / "book").mkdir()
    if path == "chapters":
        (tmp_path / "book" / path).write_bytes(b"A file.")
        path = STONES
    with pytest.raises(StoreProblem, match="cannot be written") as caught:
        await pull(tmp_path, {path: b"Theirs."})
    assert caught.value.hint


@pytest.mark.parametrize(
    "name",
    [
        *(".git/config.md", ".vscode/tasks.json", "lrwr.toml", "lrwr.canon.toml"),
        *("../out.md", "/out.md", "a/../../out.md", "a//b.md", "./a.md", "", "a/"),
        *("a\0b.md", "a\x1b[2Jb.md", "a\nb.md", "a\\b.md", "C:out.md", "C:/out.md"),
        *("Makefile", "notes/.md", "book.scriv/a.md", "a.md~", "~$a.docx"),
    ],
)
async def test_a_name_that_no_manuscript_file_can_have_is_left_out_and_named(
    tmp_path: Path, name: str
) -> None:
    filed = await pull(tmp_path, {name: b"Theirs.", STONES: b"# The stones\n"})
    assert (filed.written, filed.refused) == ((STONES,), (name,))
    assert in_book(tmp_path) == {STONES: b"# The stones\n"}


@pytest.mark.parametrize(
    "name", ["Chapter 1: The stones.md", "Été/木 🐸.DOCX", "What? “No!”.txt", "a..md"]
)
async def test_a_name_that_a_writer_may_well_give_is_written(
    tmp_path: Path, name: str
) -> None:
    assert (await pull(tmp_path, {name: b"Theirs."})).written == (name,)
    assert in_book(tmp_path) == {name: b"Theirs."}


async def test_a_link_that_leads_out_of_the_folder_is_not_followed(
    tmp_path: Path,
) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "book").mkdir()
    (tmp_path / "book" / "chapters").symlink_to(tmp_path / "elsewhere")
    filed = await pull(tmp_path, {STONES: b"# The stones\n"})
    assert (filed.written, filed.refused) == ((), (STONES,))
    assert list((tmp_path / "elsewhere").iterdir()) == []


@settings(deadline=None, max_examples=examples(60))
@example(names={".git/config", "a\0b.md", "../x.md", "/x.md", "x.md"})
@given(names=st.sets(NAMES, max_size=8))
def test_whatever_the_names_nothing_is_written_but_what_is_a_manuscript_there(
    names: Iterable[str],
) -> None:
    files = {name: hash_file_content(name.encode()).encode() for name in names}
    with tempfile.TemporaryDirectory() as folder:
        there = Path(folder)
        (there / "book").mkdir()
        try:
            filed = asyncio.run(pull(there, files))
        except StoreProblem:  # such as a file where another needs a folder
            filed = None
        ours = {"library.db", "library.db-shm", "library.db-wal"}
        ours |= {"away", "files", "book"}
        assert {path.name for path in there.iterdir()} <= ours
        source = FolderSource(there / "book", [there / "book"])
        listed = {one.id for one in asyncio.run(source.list()).found}
        assert listed == in_book(there).keys()
        assert filed is None or sorted(listed) == sorted(filed.written)
        assert filed is None or {*filed.written, *filed.refused} == set(names)
