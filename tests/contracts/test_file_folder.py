import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from lrwr.core.adapters.files.folder import FolderFileStore
from lrwr.core.adapters.files.folder import hash_file_content as sha
from lrwr.core.model.errors import NotFound, StoreProblem

ROOT = Path(__file__).parents[2]

TEXT = "Nell Tallow went down to the sluice. “Late,” said Corin Vale.\n".encode()
ODD = bytes(range(256)) + b"\r\n\x00\x1a"

# The disk is told to keep three times: a new sub-folder, the file, its new name.
PUTTING = """
import asyncio, os, signal, sys
from pathlib import Path
from lrwr.core.adapters.files.folder import FolderFileStore

sync, times = os.fsync, []

def now(handle):
    times.append(handle)
    if len(times) == int(sys.argv[2]):
        {now}
    sync(handle)

os.fsync = now
asyncio.run(FolderFileStore(Path(sys.argv[1])).put(b"long" * 400_000))
"""
LONG = b"long" * 400_000
KILLED = PUTTING.format(now="os.kill(os.getpid(), signal.SIGKILL)")
WAITING = PUTTING.format(now="print('on', flush=True); input()")
THE_FILE = 2


def putting(code: str, folder: Path, at: int) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", code, str(folder), str(at)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def parts(folder: Path) -> list[Path]:
    """What is neither a kept file nor the lock."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return [path for path in files if len(path.name) != 64 and path.name != "lock"]


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
@pytest.mark.parametrize("at", [1, THE_FILE, 3])
async def test_a_process_that_is_killed_while_it_keeps_a_file_leaves_nothing_half(
    tmp_path: Path, at: int
) -> None:
    folder = tmp_path / "files"
    store = FolderFileStore(folder)
    name = await store.put(TEXT)
    process = putting(KILLED, folder, at)
    process.communicate()
    assert process.returncode == -9
    assert len(parts(folder)) == (at == THE_FILE)
    assert await store.stored_names() == {name, *([sha(LONG)] if at > THE_FILE else [])}
    for one in await store.stored_names():
        assert sha(await store.get(one)) == one
    assert await store.put(LONG) == sha(LONG)
    assert parts(folder) == []
    assert await store.get(sha(LONG)) == LONG


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
async def test_removing_sweeps_what_a_killed_process_left(tmp_path: Path) -> None:
    process = putting(KILLED, tmp_path, THE_FILE)
    process.communicate()
    assert len(parts(tmp_path)) == 1
    assert await FolderFileStore(tmp_path).remove([]) == 0
    assert parts(tmp_path) == []


@pytest.mark.skipif(sys.platform == "win32", reason="Windows sweeps otherwise")
async def test_what_another_process_is_writing_is_not_swept(tmp_path: Path) -> None:
    store = FolderFileStore(tmp_path)
    process = putting(WAITING, tmp_path, THE_FILE)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "on\n"
        name = await store.put(TEXT)
        assert await store.remove([sha(ODD)]) == 0
        assert len(parts(tmp_path)) == 1
        assert await store.stored_names() == {name}
        process.communicate("\n")
        assert process.returncode == 0
    finally:
        process.kill()
        process.communicate()
    assert await store.stored_names() == {name, sha(LONG)}
    assert await store.get(sha(LONG)) == LONG


@pytest.mark.skipif(sys.platform == "win32", reason="modes are of POSIX")
async def test_nobody_but_the_writer_may_read_the_folder(tmp_path: Path) -> None:
    store = FolderFileStore(tmp_path / "files")
    await store.put(TEXT)
    modes = {
        path.name: path.stat().st_mode & 0o777
        for path in [tmp_path / "files", *(tmp_path / "files").rglob("*")]
    }
    files = {sha(TEXT): 0o600, "lock": 0o600}
    assert modes == {"files": 0o700, sha(TEXT)[:2]: 0o700, **files}


async def test_looking_makes_no_folder(tmp_path: Path) -> None:
    store = FolderFileStore(tmp_path / "files")
    assert await store.stored_names() == set()
    assert await store.remove([sha(TEXT)]) == 0
    with pytest.raises(NotFound):
        await store.get(sha(TEXT))
    assert not (tmp_path / "files").exists()


async def test_files_that_are_not_lrwrs_are_no_files(tmp_path: Path) -> None:
    store = FolderFileStore(tmp_path)
    name = await store.put(TEXT)
    (tmp_path / "aa").mkdir(exist_ok=True)
    (tmp_path / "aa" / "notes.md").write_bytes(TEXT)
    (tmp_path / "aa" / ("b" * 64)).write_bytes(TEXT)
    (tmp_path / "aa" / ("a" * 64)).mkdir()
    (tmp_path / ("c" * 64)).write_bytes(TEXT)
    assert await store.stored_names() == {name}


async def test_a_file_that_is_there_already_is_not_written_again(
    tmp_path: Path,
) -> None:
    store = FolderFileStore(tmp_path)
    name = await store.put(TEXT)
    before = (tmp_path / name[:2] / name).stat().st_mtime_ns
    await store.put(TEXT)
    assert (tmp_path / name[:2] / name).stat().st_mtime_ns == before


async def test_a_link_leads_nowhere(tmp_path: Path) -> None:
    away, folder, name = tmp_path / "away", tmp_path / "files", sha(TEXT)
    away.mkdir()
    folder.mkdir()
    (away / name).write_bytes(TEXT)
    store = FolderFileStore(folder)
    (folder / name[:2]).symlink_to(away)
    assert await store.stored_names() == set()
    with pytest.raises(StoreProblem, match="is a symbolic link"):
        await store.put(TEXT)
    with pytest.raises(StoreProblem, match="is a symbolic link"):
        await store.remove([name])
    assert (away / name).read_bytes() == TEXT
    (folder / name[:2]).unlink()
    (folder / name[:2]).mkdir()
    (folder / name[:2] / name).symlink_to(away / "other")
    await store.put(TEXT)
    assert not (away / "other").exists()
    assert await store.get(name) == TEXT


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.ENOSPC, "disk is full"),
        (errno.EROFS, "cannot be read or written"),
        (errno.EIO, "cannot be used"),
    ],
)
async def test_a_disk_that_takes_no_more_is_told_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, words: str
) -> None:
    def fail(_: int) -> None:
        raise OSError(number, os.strerror(number))

    store = FolderFileStore(tmp_path)
    name = await store.put(ODD)
    with monkeypatch.context() as disk:
        disk.setattr(os, "fsync", fail)
        with pytest.raises(StoreProblem, match=words) as caught:
            await store.put(TEXT)
    assert caught.value.hint
    assert "Tallow" not in caught.value.full_text
    assert parts(tmp_path) == []
    assert await store.stored_names() == {name}


async def test_a_file_in_the_folders_place_is_told(tmp_path: Path) -> None:
    (tmp_path / "files").write_bytes(b"")
    store = FolderFileStore(tmp_path / "files")
    for asked in (store.put(TEXT), store.stored_names()):
        with pytest.raises(StoreProblem, match="cannot be used"):
            await asked
    with pytest.raises(NotFound):
        await store.get(sha(TEXT))
