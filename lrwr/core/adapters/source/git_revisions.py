"""Manuscripts at a git revision.

A folder, and its repository, may have been downloaded, so nothing that the repository
configures may run. Only git's plumbing for reading objects is used: it runs no hooks,
filters, pagers or textconv programs. Whatever else git could start is disabled below.
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
from lrwr.core.adapters.source.skipped_content import is_encodable
from lrwr.core.model.errors import LrwrError, NotFound, SettingsProblem
from lrwr.core.settings.files import OWN_FOLDER_MARKER

LFS_POINTER_PREFIX = b"version https://git-lfs.github.com/spec/"
"""Start of a file that only points to a text stored by Git LFS."""

LFS_REASON = "its text is stored by Git LFS, not in this repository"
MISSING_OBJECT_REASON = "its text is missing from this copy of the repository"
TOO_LARGE_REASON = f"larger than {FILE_LIMIT // 1024**2} MB"
UNWRITABLE_NAME_REASON = "its name is not valid on this machine"

_SAFE_OPTIONS = (
    "--no-pager",
    # The repository may configure a program that reports changed files.
    "-c", "core.fsmonitor=false",
    # The repository may contain scripts that git runs on events.
    "-c", f"core.hooksPath={os.devnull}",
)  # fmt: skip
_SAFE_ENVIRONMENT = (
    # git would fetch missing objects with a program that the repository configures.
    # Older versions of git know only the second variable.
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_LITERAL_PATHSPECS", "1"),
    ("LC_ALL", "C"),
)
_REDIRECTING_VARIABLES = frozenset(
    {
        "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_COMMON_DIR", "GIT_DIR",
        "GIT_GRAFT_FILE", "GIT_IMPLICIT_WORK_TREE", "GIT_INDEX_FILE",
        "GIT_INTERNAL_SUPER_PREFIX", "GIT_NAMESPACE", "GIT_OBJECT_DIRECTORY",
        "GIT_PREFIX", "GIT_REPLACE_REF_BASE", "GIT_SHALLOW_FILE", "GIT_WORK_TREE",
    }
)  # fmt: skip
"""Variables that point git to another repository; git sets them for hooks."""

_FILE_MODES = frozenset({b"100644", b"100755", b"100664"})
_DAY = re.compile(r"\d{4}-\d\d?-\d\d?")
_NOW_SECONDS = 2.0
"""Seconds around now in which a time counts as now.

git reads a text that is not a time as the current time.
"""


@dataclass(frozen=True, slots=True)
class GitRevision:
    """A commit: `commit` is its full id; `name` is what the user wrote to name it, such
    as a branch.
    """

    name: str
    commit: str

    @property
    def short(self) -> str:
        """The first 7 characters of the commit's id."""
        return self.commit[:7]


@dataclass(frozen=True, slots=True)
class UnreadableFile:
    """A file of a revision that cannot be read: its path from the repository's top, and
    the reason.
    """

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class _GitBlob:
    id: bytes
    path: str
    size: int


class GitRepository:
    """A git repository, opened for reading.

    `git` is the path of the program git; `top` the repository's folder, absolute and
    resolved.
    """

    def __init__(self, git: str, top: Path) -> None:
        self._git = git
        self.top = top

    @classmethod
    async def around(cls, folder: Path) -> "GitRepository":
        """Return the repository that contains `folder`.

        Raises:
            NotFound: There is no repository, or git is not installed.
            LrwrError: git refuses to read the repository.
        """
        git = _find_git()
        code, out, err = await _run(git, folder, "rev-parse", "--show-toplevel")
        if code == 0 and out.strip():
            top = Path(os.fsdecode(out.rstrip(b"\n")))
            return cls(git, await asyncio.to_thread(top.resolve))
        if b"dubious ownership" in err:
            raise LrwrError(
                f"git refuses to read {folder}: it belongs to another user",
                hint="If you trust it, run `git config --global --add safe.directory"
                " FOLDER` with the repository's folder.",
            )
        raise NotFound(
            f"{folder} is not in a git repository",
            hint="Run `lrwr diff` to compare with the last ingest, or create a"
            " repository with `git init`.",
        )

    async def revision(self, text: str) -> GitRevision:
        """Return the commit that `text` names: a branch, a tag, an id or an expression.

        Raises:
            NotFound: There is no such revision.
        """
        name = " ".join(text.split())
        # git would read a text that begins with a dash as an option.
        if name and not text.startswith("-") and "\0" not in text:
            object_ = await self._verified(text)
            commit = object_ and await self._verified(f"{object_}^{{commit}}")
            if commit:
                return GitRevision(name, commit)
        raise NotFound(
            f"This repository has no revision {name!r}",
            hint=await self._shallow_hint("Run `git log --oneline` to list revisions."),
        )

    async def before(self, text: str) -> GitRevision:
        """Return the last commit before the time in `text`, among the ancestors of
        HEAD.

        A date means the start of that day in local time; any other text is interpreted
        as git interprets times, such as "2 weeks ago".

        Raises:
            NotFound: There is no such commit.
            SettingsProblem: `text` is not a time.
        """
        time_text = " ".join(text.split())
        at = f"{time_text} 00:00:00" if _DAY.fullmatch(time_text) else time_text
        await self._check_time(at, time_text)
        await self.revision("HEAD")  # fails in a repository without commits
        out = await self._output_of(
            "rev-list", "--max-count=1", f"--before={at}", "HEAD"
        )
        if commit := out.decode().strip():
            return GitRevision(f"before {time_text}", commit)
        raise NotFound(
            f"There is no revision before {time_text}",
            hint=await self._shallow_hint(
                "Run `git log` to see the dates of the revisions."
            ),
        )

    async def write_out(
        self, commit: str, inside: Sequence[PurePosixPath], to: Path
    ) -> tuple[UnreadableFile, ...]:
        """Write the manuscript files of a commit into the folder `to`, and return those
        that cannot be read.

        `commit` is the commit's id. Only files at or below the paths `inside`, relative
        to the repository's top, are written, and only those in a format that lrwr
        reads, and the markers of folders that lrwr created; links and submodules are
        skipped.

        Raises:
            LrwrError: git fails, or the files cannot be written.
        """
        blobs = await self._list_blobs(commit, inside)
        unread = []
        async with self._start_here("cat-file", "--batch") as process:
            for blob in blobs:
                if blob.size > FILE_LIMIT:
                    unread.append(UnreadableFile(blob.path, TOO_LARGE_REASON))
                    continue
                content = await _read_object(process, blob.id)
                problem = await asyncio.to_thread(_write, content, to / blob.path)
                if problem:
                    unread.append(UnreadableFile(blob.path, problem))
        return tuple(unread)

    async def list_files(
        self, commit: str, inside: Sequence[PurePosixPath]
    ) -> list[str]:
        """Return the paths of the files that `write_out` writes, relative to `top`.

        Raises:
            LrwrError: git fails.
        """
        return [blob.path for blob in await self._list_blobs(commit, inside)]

    async def _list_blobs(
        self, commit: str, inside: Sequence[PurePosixPath]
    ) -> list[_GitBlob]:
        listed = await self._output_of("ls-tree", "-r", "-z", "-l", "--full-tree", commit)  # fmt: skip
        return [blob for blob in _blobs(listed) if _is_wanted(blob.path, inside)]

    async def _verified(self, text: str) -> str:
        code, out, _ = await _run(
            self._git, self.top, "rev-parse", "--verify", "--quiet", "--end-of-options", text
        )  # fmt: skip
        commit = out.decode("ascii", errors="replace").strip()
        return commit if code == 0 and re.fullmatch(r"[0-9a-f]{40,64}", commit) else ""

    async def _check_time(self, at: str, time_text: str) -> None:
        if not time_text or "\0" in at:
            raise SettingsProblem("`--since` is empty", hint=_TIME_HINT)
        out = await self._output_of("rev-parse", f"--before={at}")
        stamp = float(out.decode().strip().rpartition("=")[2] or 0)
        if abs(stamp - time.time()) <= _NOW_SECONDS and time_text.casefold() not in (
            "now",
            "today",
        ):
            raise SettingsProblem(
                f"git does not understand the time {time_text!r}", hint=_TIME_HINT
            )

    async def _shallow_hint(self, otherwise: str) -> str:
        code, out, _ = await _run(
            self._git, self.top, "rev-parse", "--is-shallow-repository"
        )
        if code == 0 and out.strip() == b"true":
            return "This clone lacks older commits. Run `git fetch --unshallow`."
        return otherwise

    async def _output_of(self, *words: str) -> bytes:
        code, out, err = await _run(self._git, self.top, *words)
        if code:
            raise _git_error(err)
        return out

    @asynccontextmanager
    async def _start_here(self, *words: str) -> AsyncIterator[Process]:
        async with _start(self._git, self.top, *words, stdin=PIPE) as process:
            yield process


_TIME_HINT = 'Write it as 2026-11-01, "2 days ago" or yesterday.'


def _find_git() -> str:
    # Only absolute folders: a git in the current folder may have been downloaded.
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    path = os.pathsep.join(folder for folder in folders if Path(folder).is_absolute())
    git = shutil.which("git", path=path)
    if git is None or not Path(git).is_absolute():
        raise NotFound(
            "git is not installed",
            hint="Install git, or run `lrwr diff` to compare with the last ingest.",
        )
    return git


async def _run(git: str, folder: Path, *words: str) -> tuple[int, bytes, bytes]:
    async with _start(git, folder, *words, stdin=DEVNULL) as process:
        out, err = await process.communicate()
        return process.returncode or 0, out, err


@asynccontextmanager
async def _start(
    git: str, folder: Path, *words: str, stdin: int
) -> AsyncIterator[Process]:
    """Run git; when the block ends, the process has ended too."""
    environment = {
        k: v for k, v in os.environ.items() if k not in _REDIRECTING_VARIABLES
    }
    try:
        process = await asyncio.create_subprocess_exec(
            git,
            *_SAFE_OPTIONS,
            *words,
            cwd=folder,
            env={**environment, **dict(_SAFE_ENVIRONMENT)},
            stdin=stdin,
            stdout=PIPE,
            stderr=PIPE if stdin == DEVNULL else DEVNULL,
        )
    except OSError as error:
        raise LrwrError(
            f"git cannot be started: {error.strerror or error}",
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
    """Yield the regular files of a tree listing.

    Skip links, submodules and invalid names.
    """
    for row in filter(None, listed.split(b"\0")):
        about, _, name = row.partition(b"\t")
        mode, kind, object_, size = about.split()
        path = os.fsdecode(name)
        if mode in _FILE_MODES and kind == b"blob" and is_encodable(path):
            yield _GitBlob(object_, path, int(size) if size.isdigit() else 0)


def _is_wanted(path: str, inside: Sequence[PurePosixPath]) -> bool:
    """Return whether `path` is a manuscript file, and stays inside the target folder."""
    parts = path.split("/")
    if not set(parts).isdisjoint({"", ".", ".."}) or Path(*parts).is_absolute():
        return False  # a crafted tree, to write outside of the target folder
    relative_path = PurePosixPath(path)
    return any(
        relative_path == folder
        or (
            relative_path.is_relative_to(folder)
            and _has_readable_name(relative_path.relative_to(folder))
        )
        for folder in inside
    )


def _has_readable_name(path: PurePosixPath) -> bool:
    folders = path.parts[:-1]
    if any(explain_skipped_folder(folder) for folder in folders):
        return False
    return path.name == OWN_FOLDER_MARKER or not explain_skipped_file(
        path.name, in_folder=True
    )


async def _read_object(process: Process, object_: bytes) -> bytes | None:
    """Return the unfiltered bytes of an object.

    None if the repository does not have it.
    """
    assert process.stdin is not None and process.stdout is not None
    try:
        process.stdin.write(object_ + b"\n")
        await process.stdin.drain()
        head = (await process.stdout.readline()).split()
        if len(head) != 3:  # "… missing", or git has ended
            return None
        content = await process.stdout.readexactly(int(head[2]) + 1)
    except (OSError, asyncio.IncompleteReadError) as error:
        raise _git_error(b"") from error
    return content[:-1]


def _write(content: bytes | None, path: Path) -> str:
    """Create a file; return why it cannot be read, or an empty text."""
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


def _git_error(stderr: bytes) -> LrwrError:
    line = " ".join(stderr.decode(errors="replace").split())[:200]
    return LrwrError(
        f"git failed{': ' if line else ''}{line}",
        hint="Run `git fsck` to check the repository.",
    )
