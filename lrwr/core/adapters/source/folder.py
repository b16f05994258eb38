"""Manuscripts in folders on this machine, and the rules for files to skip."""

import asyncio
import os
import re
import stat
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path, PurePosixPath

from lrwr.core.adapters.source.ignore_patterns import IgnorePatterns, InvalidPattern
from lrwr.core.adapters.source.parser import FORMATS_BY_SUFFIX, MARKDOWN_SUFFIXES
from lrwr.core.adapters.source.skipped_content import (
    NAME_CACHE_SIZE,
    describe_copy,
    find_conflict_copies,
    find_folder_copies,
    find_orphaned_copies,
    is_encodable,
    is_marked_ignored,
)
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.errors import NotFound, SettingsProblem, UnreadableDocument
from lrwr.core.ports.sources import (
    ManuscriptFile,
    SkipCause,
    SkippedFile,
    SourceListing,
)
from lrwr.core.settings.files import OWN_FOLDER_MARKER

IGNORE_FILE_NAME = ".lrwrignore"
"""File at the top of a target with exclude patterns, one per line."""

_MAX_IGNORE_FILE_BYTES = 1024 * 1024


class ExclusionRules:
    """Patterns that exclude files under one folder of the manuscript, as in
    `.gitignore`.

    `patterns` come from the settings and apply to paths relative to the library's root
    or to the folder; `prefix` is the path of the folder relative to the root.
    """

    def __init__(self, patterns: Sequence[str], prefix: str) -> None:
        self._prefix = prefix
        self._settings = _compile_patterns(patterns) if patterns else None
        self._file: IgnorePatterns | None = None

    def read_file(self, target: Path) -> Iterator[tuple[str, str, str]]:
        """Add the patterns in the file `.lrwrignore` of the folder `target`, if there
        is one.

        Yields nothing, or one tuple `(path, "", problem)` if the file cannot be used:
        its path relative to the library's root, and a phrase that says why.
        """
        path = target / IGNORE_FILE_NAME
        display_path = (
            IGNORE_FILE_NAME
            if self._prefix == "."
            else f"{self._prefix}/{IGNORE_FILE_NAME}"
        )
        try:
            if not stat.S_ISREG(path.lstat().st_mode):
                yield display_path, "", "not a regular file; its patterns are ignored"
                return
            if path.stat().st_size > _MAX_IGNORE_FILE_BYTES:
                yield display_path, "", "larger than 1 MB; its patterns are ignored"
                return
            lines = path.read_text(encoding="utf-8-sig").splitlines()
        except FileNotFoundError:
            return
        except (OSError, UnicodeDecodeError):
            yield display_path, "", "cannot be read; its patterns are ignored"
            return
        try:
            self._file = _compile_patterns(lines)
        except SettingsProblem as problem:
            yield display_path, "", f"{problem}; its patterns are ignored"

    def explain(self, inner: str) -> str:
        """Return, as a phrase for the user, why a path is excluded; empty if it is not.

        `inner` is relative to the folder of these rules; the path of a folder ends in
        `/`.
        """
        if self._file and self._file.find_verdict(inner):
            return IGNORED
        return EXCLUDED if self._settings_match(inner) else ""

    def _settings_match(self, inner: str) -> bool:
        if self._settings is None:
            return False
        full_path = inner if self._prefix == "." else f"{self._prefix}/{inner}"
        verdicts = {self._settings.find_verdict(path) for path in (inner, full_path)}
        return True in verdicts and False not in verdicts


def _compile_patterns(patterns: Sequence[str]) -> IgnorePatterns:
    try:
        return IgnorePatterns(patterns)
    except InvalidPattern as error:
        raise SettingsProblem(
            f"The pattern {str(error)!r} is not valid",
            hint="Write it as in a .gitignore file, or delete it from `manuscript.exclude`.",
        ) from error


OUTSIDE = "a link to a file outside the manuscript folder; lrwr does not follow it"
BROKEN_LINK = "a broken link"
LINKED_TWICE = "a link to a file that is already in the manuscript"
LINKED_FOLDER = "a link to a folder; lrwr does not follow it"
EXCLUDED = "excluded by your settings"
IGNORED = "excluded by .lrwrignore"
NO_PERMISSION = "cannot be opened: permission denied"
BAD_NAME = "its name is not valid text; rename it"
NOT_A_FILE = "not a regular file"
OWN_FOLDER = "a folder that lrwr created; it is not part of the manuscript"
MARKED = "its front matter has `lrwr: ignore`"
_CAUSES = {OWN_FOLDER: SkipCause.OWN_FOLDER, MARKED: SkipCause.MARKED}
_HIDDEN = "hidden"
_LOCK = "a lock file of an open Word document"
_BACKUP = "a backup or temporary file"
_SCRIVENER = "a Scrivener project; compile it to .docx or .md"
_FORMAT = "not a format lrwr reads; save it as .docx or .md"
_OTHER = "not a text file that lrwr reads"
_BOOK = "an e-book; lrwr reads it if you name the file, not its folder"
_WRITERS_FORMATS = (
    ".doc .odt .fodt .rtf .pages .pdf .mobi .azw3 .fdx .fountain .gdoc .wps "
    ".wpd .docm .dot .dotx .htm .html .tex .org .rst .adoc .sxw"
)
_TEMPORARY = re.compile(
    r".*~|#.*#|~.*\.tmp|.*\.(?:bak|tmp|temp|swp|swo|swx|orig|old|part|partial"
    r"|crdownload|kate-swp|wbk|asd)|.*\.sb-[0-9a-f]+-\w+|4913",
    re.I,
)


@lru_cache(maxsize=NAME_CACHE_SIZE)
def explain_skipped_file(name: str, *, in_folder: bool = False) -> str:
    """Return, as a phrase for the user, why a file called `name` is skipped; empty if
    it is read.

    `in_folder` says that the user did not name the file itself. An e-book is then
    skipped: it is usually compiled from the manuscript, and tells the story twice.
    """
    if name.startswith("~$"):
        return _LOCK
    if name.startswith("."):
        return _HIDDEN
    if _TEMPORARY.fullmatch(name):
        return _BACKUP
    ending = PurePosixPath(name).suffix.lower()
    if ending in FORMATS_BY_SUFFIX:
        return _BOOK if in_folder and ending == ".epub" else ""
    return _FORMAT if ending and ending in _WRITERS_FORMATS.split() else _OTHER


def may_be_manuscript_name(name: str) -> bool:
    """Return whether a file or folder called `name` may be part of a manuscript.

    False for hidden names, lock and backup files, and file formats that lrwr cannot
    read but authors use. Any other name may be that of a folder.
    """
    excluded = (_LOCK, _HIDDEN, _BACKUP, _FORMAT, _BOOK)
    return explain_skipped_file(name, in_folder=True) not in excluded


def explain_skipped_folder(name: str) -> str:
    """Return, as a phrase for the user, why a folder called `name` is skipped; empty if
    its files are read.
    """
    if name.startswith("."):
        return _HIDDEN
    ending = PurePosixPath(name).suffix.lower()
    if ending == ".scriv":
        return _SCRIVENER
    return _FORMAT if ending in (".pages", ".rtfd") else ""


FILE_LIMIT = 300 * 1024 * 1024
"""Size of the largest file that lrwr reads, in bytes."""
_OWN_NAMES = frozenset({".lrwr", ".lrwrignore", "lrwr.toml", "lrwr.canon.toml"})
_OWN_BACKUP = re.compile(r"lrwr-backup-[\d-]+\.zip")
_ATTEMPTS = 5
"""Readings of a file that changes meanwhile; pauses grow by `_PAUSE_SECONDS`."""

_PAUSE_SECONDS = 0.05
_OPEN_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


class FolderSource:
    """The manuscript files under `targets`, which are files or folders.

    Ids of documents are paths relative to `root`, the library's root. `exclude` are
    patterns as in `.gitignore`, for paths relative to `root` or to the target. A
    `.lrwrignore` at the top of a target adds patterns. `absent` are further targets
    that do not exist now: they are not listed, but `covers` their documents.
    """

    def __init__(
        self,
        root: Path,
        targets: Sequence[Path],
        exclude: Sequence[str] = (),
        absent: Sequence[Path] = (),
    ) -> None:
        self._root = _absolute(root)
        self._targets = tuple(_absolute(root / target) for target in targets)
        self._covered = (*self._targets, *(_absolute(root / path) for path in absent))
        self._exclude = tuple(exclude)
        self._unreadable: tuple[str, ...] = ()

    async def list(self) -> SourceListing:
        """Return every manuscript file under the targets, sorted by id, and every
        skipped file with the reason.

        Raises:
            NotFound: A target does not exist.
            SettingsProblem: An exclude pattern is invalid.
        """
        return await asyncio.to_thread(self._list)

    def covers(self, document: DocumentId) -> bool:
        """Return whether a listing of this source without `document` means that it is
        gone.

        True for every path under a target, also for an excluded one: excluding a file
        removes it from the library. False for a path in a folder that the last listing
        could not open, and for a broken link: the document may still be there.
        """
        if any(
            document == unreadable
            or (unreadable.endswith("/") and document.startswith(unreadable))
            for unreadable in self._unreadable
        ):
            return False
        path = _absolute(self._root / document)
        return any(path.is_relative_to(target) for target in self._covered)

    async def read(self, document: DocumentId) -> tuple[bytes, str]:
        """Return the bytes of `document`, and the revision of the file.

        The revision is a text that changes when the file changes. A file that changes
        during the reading is read again, a few times.

        Raises:
            NotFound: The file does not exist, or is under no target.
            UnreadableDocument: The file cannot be read, is too large, or keeps
                changing.
        """
        path = self._path_of(document)
        for attempt in range(_ATTEMPTS):
            if attempt:
                await asyncio.sleep(_PAUSE_SECONDS * attempt)
            content = await asyncio.to_thread(_read_whole, path, document)
            if content:
                return content
        raise UnreadableDocument(
            f"{document} keeps changing while lrwr reads it",
            hint="Try again when the program that writes it has finished.",
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
        self._unreadable = tuple(
            p for p, reason in skipped.items() if reason in (NO_PERMISSION, BROKEN_LINK)
        )
        folders = find_folder_copies(self._root, revisions, self._targets)
        inside = tuple(f"{folder}/" for folder in folders)
        revisions = {p: r for p, r in revisions.items() if not p.startswith(inside)}
        copies = find_conflict_copies(self._root, revisions)
        orphans = find_orphaned_copies(self._root, revisions, copies)
        skipped_files = [
            SkippedFile(p, reason, _CAUSES.get(reason, SkipCause.OTHER))
            for p, reason in skipped.items()
            if p not in revisions and not p.startswith(inside)
        ]
        skipped_files += [describe_copy(*paths) for paths in copies.items()]
        skipped_files += [
            describe_copy(f"{copy}/", f"{original}/")
            for copy, original in folders.items()
        ]
        skipped_files += [
            describe_copy(*paths, is_orphan=True) for paths in orphans.items()
        ]
        return SourceListing(
            found=tuple(
                ManuscriptFile(DocumentId(p), revisions[p])
                for p in sorted(revisions)
                if p not in copies and p not in orphans
            ),
            skipped=tuple(sorted(skipped_files, key=lambda file: file.path)),
            folders=tuple(_relative(target, self._root) for target in self._covered),
        )

    def _path_of(self, document: DocumentId) -> Path:
        path = _absolute(self._root / document)
        real = Path(os.path.realpath(path))
        for target in self._targets:
            if path.is_relative_to(target) and real.is_relative_to(
                os.path.realpath(target)
            ):
                return path
        raise _missing_error(document)


_ListedFile = tuple[str, str, str]
"""A path, its revision, and why it is skipped; one of the last two is empty."""


class _FolderWalk:
    """One listing of a target and everything under it."""

    def __init__(self, root: Path, target: Path, exclude: Sequence[str]) -> None:
        self._root = root
        self._target = target
        self._real = os.path.realpath(target)
        self._prefix = _relative(target, root)
        self._rules = ExclusionRules(exclude, self._prefix)
        self._inodes: set[tuple[int, int]] = set()
        self._pending_links: list[tuple[str, str]] = []

    def run(self) -> Iterator[_ListedFile]:
        """Yield all files; links last, because a linked file may be listed already."""
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
        yield from self._rules.read_file(self._target)
        yield from self._folder(self._target, "")
        for path, inner in self._pending_links:
            yield self._link(path, inner)

    def _folder(self, folder: Path, inside: str) -> Iterator[_ListedFile]:
        pending = [(folder, inside)]
        while pending:
            folder, inside = pending.pop()
            try:
                with os.scandir(folder) as opened:
                    entries = tuple(opened)
            except OSError:
                yield f"{self._display_path(inside)}/", "", NO_PERMISSION
                continue
            if any(entry.name == OWN_FOLDER_MARKER for entry in entries):
                yield f"{self._display_path(inside)}/", "", OWN_FOLDER
                continue
            for entry in entries:
                yield from self._entry(entry, inside, pending)

    def _entry(
        self,
        entry: os.DirEntry[str],
        inside: str,
        pending: list[tuple[Path, str]],
    ) -> Iterator[_ListedFile]:
        inner = f"{inside}/{entry.name}" if inside else entry.name
        path = self._display_path(inner)
        if not is_encodable(entry.name):
            yield path.encode(errors="replace").decode(), "", BAD_NAME
        elif entry.name in _OWN_NAMES or _OWN_BACKUP.fullmatch(entry.name):
            return
        elif entry.is_symlink():
            self._pending_links.append((path, inner))
        elif entry.is_dir(follow_symlinks=False):
            reason = explain_skipped_folder(entry.name) or self._rules.explain(
                f"{inner}/"
            )
            if reason:
                yield f"{path}/", "", reason
            else:
                pending.append((Path(entry.path), inner))
        else:
            yield self._entry_file(entry, path, inner)

    def _entry_file(
        self, entry: os.DirEntry[str], path: str, inner: str
    ) -> _ListedFile:
        reason = explain_skipped_file(
            entry.name, in_folder=True
        ) or self._rules.explain(inner)
        if reason:
            return path, "", reason
        try:
            # Not `entry.stat()`, which has no inode on Windows.
            status = os.stat(entry)  # noqa: PTH116 (a third of the time of Path.stat)
            return self._file(path, entry.name, status)
        except OSError:
            return path, "", NO_PERMISSION

    def _file(self, path: str, name: str, status: os.stat_result) -> _ListedFile:
        if not stat.S_ISREG(status.st_mode):
            return path, "", NOT_A_FILE
        self._inodes.add((status.st_dev, status.st_ino))
        reason = explain_skipped_file(name)
        is_markdown = name.lower().endswith(MARKDOWN_SUFFIXES)
        if not reason and is_markdown and is_marked_ignored(f"{self._root}/{path}"):
            reason = MARKED
        return path, "" if reason else _revision(status), reason

    def _link(self, path: str, inner: str) -> _ListedFile:
        """Return the file behind a link, if it is inside the target and not listed
        already.
        """
        reason = explain_skipped_file(Path(path).name, in_folder=True)
        link = self._target / inner
        try:
            status = link.stat()
        except OSError:
            return path, "", BROKEN_LINK
        if not Path(os.path.realpath(link)).is_relative_to(self._real):
            return path, "", OUTSIDE
        if stat.S_ISDIR(status.st_mode):
            return path, "", LINKED_FOLDER
        reason = reason or self._rules.explain(inner)
        if not reason and (status.st_dev, status.st_ino) in self._inodes:
            reason = LINKED_TWICE
        return (path, "", reason) if reason else self._file(path, link.name, status)

    def _display_path(self, inner: str) -> str:
        if self._prefix == ".":
            return inner
        return f"{self._prefix}/{inner}" if inner else self._prefix


def _read_whole(path: Path, document: DocumentId) -> tuple[bytes, str] | None:
    """Return bytes and revision; None if the file changed during the reading."""
    try:
        with open(os.open(path, _OPEN_FLAGS), "rb") as file:  # noqa: PTH123 (by descriptor)
            before = os.fstat(file.fileno())
            _check_readable(before, document)
            content = file.read(FILE_LIMIT + 1)
        after = path.stat()
    except FileNotFoundError as error:
        raise _missing_error(document) from error
    except NotADirectoryError as error:
        raise _missing_error(document) from error
    except OSError as error:
        raise UnreadableDocument(
            f"{document} cannot be read: {error.strerror}",
            hint="Check the file's permissions and the disk.",
        ) from error
    revision = _revision(before)
    same = revision == _revision(after) and len(content) == before.st_size
    return (content, revision) if same else None


def _check_readable(status: os.stat_result, document: DocumentId) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise UnreadableDocument(
            f"{document} is not a regular file", hint="Move it out of the folder."
        )
    if status.st_size > FILE_LIMIT:
        raise UnreadableDocument(
            f"{document} is larger than {FILE_LIMIT // 1024**2} MB",
            hint="Split it, or save a copy without pictures.",
        )


def _revision(status: os.stat_result) -> str:
    # ctime and inode also change when a program replaces a file and resets its mtime.
    return f"{status.st_size}-{status.st_mtime_ns}-{status.st_ctime_ns}-{status.st_ino}"


def _missing_error(document: DocumentId) -> NotFound:
    return NotFound(
        f"{document} no longer exists",
        hint="Run `lrwr ingest` to update the library.",
    )


def _absolute(path: Path) -> Path:
    return Path(os.path.abspath(path))  # noqa: PTH100 (links stay as they are)


def _relative(path: Path, root: Path) -> str:
    try:
        return Path(os.path.relpath(path, root)).as_posix()
    except ValueError:  # another drive
        return path.as_posix()
