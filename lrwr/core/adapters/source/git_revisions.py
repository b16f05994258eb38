"""Manuscripts as they stood at a revision that git keeps.

A folder may have come from a stranger, and its repository with it: what that has in
its settings must not run. So only git's plumbing for reading objects is used. It knows
no hooks, filters, pagers or textconv; what git would do besides is turned off below.
"""

import asyncio
import os
import re
import shutil
import time
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from lrwr.core.adapters.source.folder import (
    FILE_LIMIT,
    explain_skipped_file,
    explain_skipped_folder,
)
from lrwr.core.model.errors import LrwrError, NotFound, SettingsProblem

LFS_POINTER_PREFIX = b"version https://git-lfs.github.com/spec/"
"""How a file begins that only says where Git LFS keeps the text."""

LFS_REASON = "its text is kept by Git LFS, and not in this repository"
MISSING_OBJECT_REASON = "its text is not in this copy of the repository"
TOO_LARGE_REASON = f"larger than {FILE_LIMIT // 1024**2} MB"
UNWRITABLE_NAME_REASON = "its name cannot be written on this machine"

_QUIET = (
    "--no-pager",
    # A program that a folder names to tell git what changed.
    "-c", "core.fsmonitor=false",
    # Scripts that a folder has run at certain moments.
    "-c", f"core.hooksPath={os.devnull}",
)  # fmt: skip
_ENVIRONMENT = (
    # Where objects are missing, git would fetch them with whatever program the folder
    # names for that. Older versions know the second of these only.
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_LITERAL_PATHSPECS", "1"),
    ("LC_ALL", "C"),
)
_ELSEWHERE = frozenset(
    {
        "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_COMMON_DIR", "GIT_DIR",
        "GIT_GRAFT_FILE", "GIT_IMPLICIT_WORK_TREE", "GIT_INDEX_FILE",
        "GIT_INTERNAL_SUPER_PREFIX", "GIT_NAMESPACE", "GIT_OBJECT_DIRECTORY",
        "GIT_PREFIX", "GIT_REPLACE_REF_BASE", "GIT_SHALLOW_FILE", "GIT_WORK_TREE",
    }
)  # fmt: skip
"""Variables that lead git to another repository, as in a hook of one."""

_FILE = frozenset({b"100644", b"100755", b"100664"})
_DAY = re.compile(r"\d{4}-\d\d?-\d\d?")
_NOW = 2.0
"""Seconds around now in which a time counts as now: so git reads what it cannot."""


@dataclass(frozen=True, slots=True)
class GitRevision:
    """One state that git keeps: `name` as the writer has it, `commit` its full id."""

    name: str
    commit: str

    @property
    def short(self) -> str:
        """Return the beginning of the id, as people write it."""
        return self.commit[:7]


@dataclass(frozen=True, slots=True)
class UnreadableFile:
    """A file of a revision that cannot be read, by its path from the top, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class _GitBlob:
    id: bytes
    path: str
    size: int


class GitRepository:
    """One git repository, only read; `top` is its folder, absolute and resolved."""

    def __init__(self, git: str, top: Path) -> None:
        self._git = git
        self.top = top

    @classmethod
    async def around(cls, folder: Path) -> "GitRepository":
        """Return the repository that holds `folder`.

        Raises:
            NotFound: There is none, or no git on this machine.
            LrwrError: git will not read it.
        """
        git = _found()
        code, out, err = await _run(git, folder, "rev-parse", "--show-toplevel")
        if code == 0 and out.strip():
            top = Path(os.fsdecode(out.rstrip(b"\n")))
            return cls(git, await asyncio.to_thread(top.resolve))
        if b"dubious ownership" in err:
            raise LrwrError(
                f"git does not read {folder}: it belongs to another user",
                hint="If you trust it: git config --global --add safe.directory"
                " FOLDER, with the folder of the repository.",
            )
        raise NotFound(
            f"{folder} is in no git repository",
            hint="`lrwr diff` alone compares with what was ingested last; or begin one"
            " with `git init`.",
        )

    async def revision(self, text: str) -> GitRevision:
        """Return the revision that git knows by this name.

        Raises:
            NotFound: There is none.
        """
        name = " ".join(text.split())
        # What begins with a dash is an option to git, and never a revision.
        if name and not text.startswith("-") and "\0" not in text:
            object_ = await self._verified(text)
            commit = object_ and await self._verified(f"{object_}^{{commit}}")
            if commit:
                return GitRevision(name, commit)
        raise NotFound(
            f"git knows no revision {name!r} here",
            hint=await self._why_none("`git log --oneline` lists them."),
        )

    async def before(self, text: str) -> GitRevision:
        """Return the last revision, of those that lead to HEAD, before a time.

        A day means its beginning; anything else is as git reads it.

        Raises:
            NotFound: There is none.
            SettingsProblem: That is no time.
        """
        time_text = " ".join(text.split())
        at = f"{time_text} 00:00:00" if _DAY.fullmatch(time_text) else time_text
        await self._check_time(at, time_text)
        await self.revision("HEAD")  # a new repository has none yet
        out = await self._told("rev-list", "--max-count=1", f"--before={at}", "HEAD")
        if commit := out.decode().strip():
            return GitRevision(f"before {time_text}", commit)
        raise NotFound(
            f"There is no revision before {time_text}",
            hint=await self._why_none("`git log` says when they were made."),
        )

    async def write_out(
        self, commit: str, inside: Sequence[PurePosixPath], to: Path
    ) -> tuple[UnreadableFile, ...]:
        """Write the manuscript files of a commit below `to`, as they are stored.

        Only what is `inside` one of these paths from the top is written, and of that
        only what may be read: no links, no submodules. Returns what cannot be read.

        Raises:
            LrwrError: git fails, or the disk does.
        """
        listed = await self._told("ls-tree", "-r", "-z", "-l", "--full-tree", commit)  # fmt: skip
        blobs = [blob for blob in _blobs(listed) if _is_wanted(blob.path, inside)]
        unread = []
        async with self._running("cat-file", "--batch") as process:
            for blob in blobs:
                if blob.size > FILE_LIMIT:
                    unread.append(UnreadableFile(blob.path, TOO_LARGE_REASON))
                    continue
                content = await _content(process, blob.id)
                problem = await asyncio.to_thread(_write, content, to / blob.path)
                if problem:
                    unread.append(UnreadableFile(blob.path, problem))
        return tuple(unread)

    async def _verified(self, text: str) -> str:
        code, out, _ = await _run(
            self._git, self.top, "rev-parse", "--verify", "--quiet", "--end-of-options", text
        )  # fmt: skip
        commit = out.decode("ascii", errors="replace").strip()
        return commit if code == 0 and re.fullmatch(r"[0-9a-f]{40,64}", commit) else ""

    async def _check_time(self, at: str, time_text: str) -> None:
        if not time_text or "\0" in at:
            raise SettingsProblem("--since names no time", hint=_TIMES)
        out = await self._told("rev-parse", f"--before={at}")
        stamp = float(out.decode().strip().rpartition("=")[2] or 0)
        if abs(stamp - time.time()) <= _NOW and time_text.casefold() not in (
            "now",
            "today",
        ):
            raise SettingsProblem(
                f"{time_text!r} is no time that git knows", hint=_TIMES
            )

    async def _why_none(self, otherwise: str) -> str:
        code, out, _ = await _run(
            self._git, self.top, "rev-parse", "--is-shallow-repository"
        )
        if code == 0 and out.strip() == b"true":
            return "This is a shallow clone, without what came first: run `git fetch --unshallow`."
        return otherwise

    async def _told(self, *words: str) -> bytes:
        code, out, err = await _run(self._git, self.top, *words)
        if code:
            raise _failed(err)
        return out

    @asynccontextmanager
    async def _running(self, *words: str) -> AsyncIterator[Process]:
        async with _started(self._git, self.top, *words, stdin=PIPE) as process:
            yield process


_TIMES = 'Say it as 2026-11-01, "2 days ago" or yesterday.'


def _found() -> str:
    # Not one that lies in the folder where the command is run: see the top.
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    path = os.pathsep.join(folder for folder in folders if Path(folder).is_absolute())
    git = shutil.which("git", path=path)
    if git is None or not Path(git).is_absolute():
        raise NotFound(
            "There is no git on this machine",
            hint="Install it; `lrwr diff` alone compares with what was ingested last.",
        )
    return git


async def _run(git: str, folder: Path, *words: str) -> tuple[int, bytes, bytes]:
    async with _started(git, folder, *words, stdin=DEVNULL) as process:
        out, err = await process.communicate()
        return process.returncode or 0, out, err


@asynccontextmanager
async def _started(
    git: str, folder: Path, *words: str, stdin: int
) -> AsyncIterator[Process]:
    """Run git; it has ended when this does, however that comes."""
    environment = {k: v for k, v in os.environ.items() if k not in _ELSEWHERE}
    try:
        process = await asyncio.create_subprocess_exec(
            git,
            *_QUIET,
            *words,
            cwd=folder,
            env={**environment, **dict(_ENVIRONMENT)},
            stdin=stdin,
            stdout=PIPE,
            stderr=PIPE if stdin == DEVNULL else DEVNULL,
        )
    except OSError as error:
        raise LrwrError(
            f"git cannot be run: {error.strerror or error}",
            hint="Check that git runs in this folder.",
        ) from error
    try:
        yield process
    finally:
        if process.stdin is not None:
            process.stdin.close()
        if process.returncode is None:
            process.kill()
            await process.wait()


def _blobs(listed: bytes) -> Iterator[_GitBlob]:
    """Yield the ordinary files of a tree; links, submodules and odd names are none."""
    for row in filter(None, listed.split(b"\0")):
        about, _, name = row.partition(b"\t")
        mode, kind, object_, size = about.split()
        path = os.fsdecode(name)
        if mode in _FILE and kind == b"blob" and _is_text(path):
            yield _GitBlob(object_, path, int(size) if size.isdigit() else 0)


def _is_text(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_wanted(path: str, inside: Sequence[PurePosixPath]) -> bool:
    """Say whether a file is a manuscript's, and its path leads nowhere else."""
    parts = path.split("/")
    if not set(parts).isdisjoint({"", ".", ".."}) or Path(*parts).is_absolute():
        return False  # made by hand, to write where nothing should be written
    relative_path = PurePosixPath(path)
    return any(
        relative_path == folder
        or (
            relative_path.is_relative_to(folder)
            and _is_read(relative_path.relative_to(folder))
        )
        for folder in inside
    )


def _is_read(path: PurePosixPath) -> bool:
    folders = path.parts[:-1]
    if any(explain_skipped_folder(folder) for folder in folders):
        return False
    return not explain_skipped_file(path.name)


async def _content(process: Process, object_: bytes) -> bytes | None:
    """Return an object's bytes, unfiltered; None where it is not there."""
    assert process.stdin is not None and process.stdout is not None
    try:
        process.stdin.write(object_ + b"\n")
        await process.stdin.drain()
        head = (await process.stdout.readline()).split()
        if len(head) != 3:  # "… missing", or git has ended
            return None
        content = await process.stdout.readexactly(int(head[2]) + 1)
    except (OSError, asyncio.IncompleteReadError) as error:
        raise _failed(b"") from error
    return content[:-1]


def _write(content: bytes | None, path: Path) -> str:
    """Write a file that is not there yet; return why it cannot be read."""
    if content is None:
        return MISSING_OBJECT_REASON
    if content.startswith(LFS_POINTER_PREFIX):
        return LFS_REASON
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("xb") as file:
            file.write(content)
    except (OSError, ValueError):
        return UNWRITABLE_NAME_REASON
    return ""


def _failed(stderr: bytes) -> LrwrError:
    line = " ".join(stderr.decode(errors="replace").split())[:200]
    return LrwrError(
        f"git failed{': ' if line else ''}{line}",
        hint="`git fsck` says whether the repository is whole.",
    )
