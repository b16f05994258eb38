"""Manuscripts in folders on this machine."""

import asyncio
import os
import re
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from lrwr.core.adapters.source.parser import FORMATS_BY_SUFFIX
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.errors import NotFound, SettingsProblem, UnreadableDocument
from lrwr.core.ports.sources import ManuscriptFile, SkippedFile, SourceListing

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

IGNORE_FILE_NAME = ".lrwrignore"
"""The file at the top of a target whose lines are patterns."""


class ExclusionRules:
    """What is left out under one target, whose path from the root is `prefix`."""

    def __init__(self, patterns: Sequence[str], prefix: str) -> None:
        self._prefix = prefix
        self._settings = _spec(patterns) if patterns else None
        self._file: GitIgnoreSpec | None = None

    def read_file(self, target: Path) -> Iterator[tuple[str, str, str]]:
        """Take up the target's own patterns; yield a word on a file that is of no use."""
        path = target / IGNORE_FILE_NAME
        display_path = (
            IGNORE_FILE_NAME
            if self._prefix == "."
            else f"{self._prefix}/{IGNORE_FILE_NAME}"
        )
        try:
            if not stat.S_ISREG(path.lstat().st_mode):
                yield display_path, "", "not an ordinary file; its patterns are ignored"
                return
            lines = path.read_text(encoding="utf-8-sig").splitlines()
        except FileNotFoundError:
            return
        except (OSError, UnicodeDecodeError):
            yield display_path, "", "cannot be read; its patterns are ignored"
            return
        try:
            self._file = _spec(lines)
        except SettingsProblem as problem:
            yield display_path, "", f"{problem}; its patterns are ignored"

    def why(self, inner: str) -> str:
        """Say why a path under the target is left out; folders end in `/`."""
        if self._file and self._file.check_file(inner).include:
            return IGNORED
        return EXCLUDED if self._settings_match(inner) else ""

    def _settings_match(self, inner: str) -> bool:
        if self._settings is None:
            return False
        full_path = inner if self._prefix == "." else f"{self._prefix}/{inner}"
        verdicts = {
            self._settings.check_file(path).include for path in (inner, full_path)
        }
        return True in verdicts and False not in verdicts


def _spec(patterns: Sequence[str]) -> "GitIgnoreSpec":
    # Imported here: most manuscripts have no patterns.
    from pathspec import GitIgnoreSpec

    def is_invalid(pattern: str) -> bool:
        try:
            GitIgnoreSpec.from_lines([pattern])
        except (ValueError, re.error):
            return True
        return False

    try:
        return GitIgnoreSpec.from_lines(patterns)
    except (ValueError, re.error) as error:
        invalid = next(filter(is_invalid, patterns), "")
        raise SettingsProblem(
            f"The pattern {invalid!r} cannot be read",
            hint="Write it as in a .gitignore file, or take it out of `exclude`.",
        ) from error


OUTSIDE = "a link that leads out of the manuscript folder; it is not followed"
NOWHERE = "a link to nothing, or back to itself"
TWICE = "a link to a file that is read at its own place"
LINKED_FOLDER = "a link to a folder; it is not followed"
EXCLUDED = "excluded by your settings"
IGNORED = "excluded by .lrwrignore"
CLOSED = "may not be opened: you have no permission"
BAD_NAME = "its name is not valid text; rename it"
NOT_A_FILE = "not an ordinary file"
_HIDDEN = "hidden"
_LOCK = "a lock file that Word keeps while a document is open"
_BACKUP = "a backup or temporary file"
_SCRIVENER = "a Scrivener project; compile it to .docx or .md"
_FORMAT = "not a format lrwr reads; save it as .docx or .md"
_OTHER = "not text that lrwr reads"
_WRITERS_FORMATS = (
    ".doc .odt .fodt .rtf .pages .epub .pdf .mobi .azw3 .fdx .fountain .gdoc .wps "
    ".wpd .docm .dot .dotx .htm .html .tex .org .rst .adoc .sxw"
)
_TEMPORARY = re.compile(
    r".*~|#.*#|~.*\.tmp|.*\.(?:bak|tmp|temp|swp|swo|swx|orig|old|part|partial"
    r"|crdownload|kate-swp|wbk|asd)|.*\.sb-[0-9a-f]+-\w+|4913",
    re.I,
)


def explain_skipped_file(name: str) -> str:
    """Say why the file called `name` is passed over; empty when it is read."""
    if name.startswith("~$"):
        return _LOCK
    if name.startswith("."):
        return _HIDDEN
    if _TEMPORARY.fullmatch(name):
        return _BACKUP
    ending = PurePosixPath(name).suffix.lower()
    if ending in FORMATS_BY_SUFFIX:
        return ""
    return _FORMAT if ending and ending in _WRITERS_FORMATS.split() else _OTHER


def may_be_manuscript_name(name: str) -> bool:
    """Say whether `name` may be a manuscript's or a folder's, and no temporary one."""
    return explain_skipped_file(name) not in (_LOCK, _HIDDEN, _BACKUP, _FORMAT)


def explain_skipped_folder(name: str) -> str:
    """Say why the folder called `name` is passed over; empty when it is entered."""
    if name.startswith("."):
        return _HIDDEN
    ending = PurePosixPath(name).suffix.lower()
    if ending == ".scriv":
        return _SCRIVENER
    return _FORMAT if ending in (".pages", ".rtfd") else ""


FILE_LIMIT = 300 * 1024 * 1024
"""The largest file that is taken into memory, in bytes."""
_OURS = frozenset({".lrwr", ".lrwrignore", "lrwr.toml", "lrwr.canon.toml"})
_ATTEMPTS = 5
_PAUSE = 0.05
_OPEN_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


class FolderSource:
    """Reads manuscripts under `targets`, files or folders; ids are relative to `root`.

    `exclude` are patterns as in `.gitignore`, for paths relative to `root` or to the
    target; a `.lrwrignore` at the top of a target adds its own.
    """

    def __init__(
        self, root: Path, targets: Sequence[Path], exclude: Sequence[str] = ()
    ) -> None:
        self._root = _absolute(root)
        self._targets = tuple(_absolute(root / target) for target in targets)
        self._exclude = tuple(exclude)
        self._closed: tuple[str, ...] = ()

    async def list(self) -> SourceListing:
        """Return every manuscript file there is.

        Raises:
            NotFound: A target is not there.
            SettingsProblem: A pattern to exclude cannot be read.
        """
        return await asyncio.to_thread(self._list)

    def covers(self, document: DocumentId) -> bool:
        """Say whether `document` lies under a target that can be looked into.

        An excluded one does: to leave a file out is to have it forgotten. One in a
        folder that the last look could not open does not: it may still be there.
        """
        if any(
            document == closed or (closed.endswith("/") and document.startswith(closed))
            for closed in self._closed
        ):
            return False
        path = _absolute(self._root / document)
        return any(path.is_relative_to(target) for target in self._targets)

    async def read(self, document: DocumentId) -> tuple[bytes, str]:
        """Return the file's bytes and the revision that they belong to.

        A file that changes while it is read is read again.

        Raises:
            NotFound: The file is gone, or is under no target.
            UnreadableDocument: The file may not be read, is too large, or does not
                stop changing.
        """
        path = self._path_of(document)
        for attempt in range(_ATTEMPTS):
            if attempt:
                await asyncio.sleep(_PAUSE * attempt)
            content = await asyncio.to_thread(_read_whole, path, document)
            if content:
                return content
        raise UnreadableDocument(
            f"{document} does not stop changing while it is read",
            hint="Try again when the program that writes it is done.",
        )

    def _list(self) -> SourceListing:
        revisions: dict[str, str] = {}
        skipped: dict[str, str] = {}
        for target in self._targets:
            for path, revision, reason in _FolderWalk(
                self._root, target, self._exclude
            ).run():
                if reason:
                    skipped.setdefault(path, reason)
                else:
                    revisions.setdefault(path, revision)
        self._closed = tuple(
            p for p, skip_reason in skipped.items() if skip_reason == CLOSED
        )
        return SourceListing(
            found=tuple(
                ManuscriptFile(DocumentId(p), revisions[p]) for p in sorted(revisions)
            ),
            skipped=tuple(
                SkippedFile(p, skipped[p])
                for p in sorted(skipped)
                if p not in revisions
            ),
        )

    def _path_of(self, document: DocumentId) -> Path:
        path = _absolute(self._root / document)
        real = Path(os.path.realpath(path))
        for target in self._targets:
            if path.is_relative_to(target) and real.is_relative_to(
                os.path.realpath(target)
            ):
                return path
        raise _gone(document)


_Seen = tuple[str, str, str]
"""A path, its revision, and why it is passed over: one of the last two is empty."""


class _FolderWalk:
    """One look at a target and all that is under it."""

    def __init__(self, root: Path, target: Path, exclude: Sequence[str]) -> None:
        self._root = root
        self._target = target
        self._real = os.path.realpath(target)
        self._prefix = _relative(target, root)
        self._excludes = ExclusionRules(exclude, self._prefix)
        self._inodes: set[tuple[int, int]] = set()
        self._links: list[tuple[str, str]] = []

    def run(self) -> Iterator[_Seen]:
        """Yield what is there; links last, since a linked file may be seen already."""
        try:
            status = self._target.stat()
        except OSError as error:
            raise NotFound(
                f"There is no file or folder {self._prefix}",
                hint="Check the path, or name another with `lrwr ingest PATH`.",
            ) from error
        if not stat.S_ISDIR(status.st_mode):
            yield self._file(self._prefix, self._target.name, status)
            return
        yield from self._excludes.read_file(self._target)
        yield from self._folder(self._target, "")
        for path, inner in self._links:
            yield self._link(path, inner)

    def _folder(self, folder: Path, inside: str) -> Iterator[_Seen]:
        waiting = [(folder, inside)]
        while waiting:
            folder, inside = waiting.pop()
            try:
                with os.scandir(folder) as opened:
                    entries = tuple(opened)
            except OSError:
                yield f"{self._shown(inside)}/", "", CLOSED
                continue
            for entry in entries:
                yield from self._entry(entry, inside, waiting)

    def _entry(
        self,
        entry: os.DirEntry[str],
        inside: str,
        waiting: list[tuple[Path, str]],
    ) -> Iterator[_Seen]:
        inner = f"{inside}/{entry.name}" if inside else entry.name
        path = self._shown(inner)
        if not _is_text(entry.name):
            yield path.encode(errors="replace").decode(), "", BAD_NAME
        elif entry.name in _OURS:
            return
        elif entry.is_symlink():
            self._links.append((path, inner))
        elif entry.is_dir(follow_symlinks=False):
            reason = explain_skipped_folder(entry.name) or self._excludes.why(
                f"{inner}/"
            )
            if reason:
                yield f"{path}/", "", reason
            else:
                waiting.append((Path(entry.path), inner))
        else:
            yield self._entry_file(entry, path, inner)

    def _entry_file(self, entry: os.DirEntry[str], path: str, inner: str) -> _Seen:
        reason = explain_skipped_file(entry.name) or self._excludes.why(inner)
        if reason:
            return path, "", reason
        try:
            return self._file(path, entry.name, Path(entry.path).stat())
        except OSError:
            return path, "", CLOSED

    def _file(self, path: str, name: str, status: os.stat_result) -> _Seen:
        if not stat.S_ISREG(status.st_mode):
            return path, "", NOT_A_FILE
        self._inodes.add((status.st_dev, status.st_ino))
        reason = explain_skipped_file(name)
        return path, "" if reason else _revision(status), reason

    def _link(self, path: str, inner: str) -> _Seen:
        """Follow a link to a file inside the target that is not listed otherwise."""
        reason = explain_skipped_file(Path(path).name)
        link = self._target / inner
        try:
            status = link.stat()
        except OSError:
            return path, "", NOWHERE
        if not Path(os.path.realpath(link)).is_relative_to(self._real):
            return path, "", OUTSIDE
        if stat.S_ISDIR(status.st_mode):
            return path, "", LINKED_FOLDER
        reason = reason or self._excludes.why(inner)
        if not reason and (status.st_dev, status.st_ino) in self._inodes:
            reason = TWICE
        return (path, "", reason) if reason else self._file(path, link.name, status)

    def _shown(self, inner: str) -> str:
        if self._prefix == ".":
            return inner
        return f"{self._prefix}/{inner}" if inner else self._prefix


def _read_whole(path: Path, document: DocumentId) -> tuple[bytes, str] | None:
    """Return bytes and revision; None when the file changed meanwhile."""
    try:
        with open(os.open(path, _OPEN_FLAGS), "rb") as file:  # noqa: PTH123 (by descriptor)
            before = os.fstat(file.fileno())
            _check_readable(before, document)
            content = file.read(FILE_LIMIT + 1)
        after = path.stat()
    except FileNotFoundError as error:
        raise _gone(document) from error
    except NotADirectoryError as error:
        raise _gone(document) from error
    except OSError as error:
        raise UnreadableDocument(
            f"{document} may not be read: {error.strerror}",
            hint="Check the file's permissions and the disk.",
        ) from error
    revision = _revision(before)
    same = revision == _revision(after) and len(content) == before.st_size
    return (content, revision) if same else None


def _check_readable(status: os.stat_result, document: DocumentId) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise UnreadableDocument(
            f"{document} is not an ordinary file", hint="Move it out of the folder."
        )
    if status.st_size > FILE_LIMIT:
        raise UnreadableDocument(
            f"{document} is larger than {FILE_LIMIT // 1024**2} MB",
            hint="Split it, or save a copy without pictures.",
        )


def _revision(status: os.stat_result) -> str:
    return f"{status.st_size}-{status.st_mtime_ns}-{status.st_ctime_ns}-{status.st_ino}"


def _gone(document: DocumentId) -> NotFound:
    return NotFound(
        f"{document} is not there any more",
        hint="Run `lrwr ingest` to take up what the folder holds now.",
    )


def _absolute(path: Path) -> Path:
    return Path(os.path.abspath(path))  # noqa: PTH100 (links stay as they are)


def _relative(path: Path, root: Path) -> str:
    try:
        return Path(os.path.relpath(path, root)).as_posix()
    except ValueError:  # another drive
        return path.as_posix()


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
