"""Patterns that leave files out, written as in `.gitignore`."""

import re
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lrwr.core.adapters.source import skip_reasons
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
        shown = (
            IGNORE_FILE_NAME
            if self._prefix == "."
            else f"{self._prefix}/{IGNORE_FILE_NAME}"
        )
        try:
            if not stat.S_ISREG(path.lstat().st_mode):
                yield shown, "", "not an ordinary file; its patterns are ignored"
                return
            lines = path.read_text(encoding="utf-8-sig").splitlines()
        except FileNotFoundError:
            return
        except (OSError, UnicodeDecodeError):
            yield shown, "", "cannot be read; its patterns are ignored"
            return
        try:
            self._file = _spec(lines)
        except SettingsProblem as problem:
            yield shown, "", f"{problem}; its patterns are ignored"

    def why(self, inner: str) -> str:
        """Say why a path under the target is left out; folders end in `/`."""
        if self._file and self._file.check_file(inner).include:
            return skip_reasons.IGNORED
        return skip_reasons.EXCLUDED if self._settings_match(inner) else ""

    def _settings_match(self, inner: str) -> bool:
        if self._settings is None:
            return False
        whole = inner if self._prefix == "." else f"{self._prefix}/{inner}"
        said = {self._settings.check_file(path).include for path in (inner, whole)}
        return True in said and False not in said


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
