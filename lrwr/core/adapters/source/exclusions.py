"""Which files are left out: patterns as in `.gitignore`, and the reasons in plain words."""

import re
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from lrwr.core.adapters.source import exclusions
from lrwr.core.adapters.source.parser import FORMATS_BY_SUFFIX
from lrwr.core.model.errors import SettingsProblem

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
            return exclusions.IGNORED
        return exclusions.EXCLUDED if self._settings_match(inner) else ""

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
