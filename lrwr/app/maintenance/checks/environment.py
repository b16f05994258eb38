"""Checks of Python, the settings, and the folders of a library."""

import os
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lrwr.app.maintenance.check_result import (
    HealthFinding,
    HealthState,
    end_with_full_stop,
    finding_from_error,
    format_size,
)
from lrwr.app.presenters.text import format_count
from lrwr.core.canon.file import CANON_HISTORY_FILE_NAME, CanonFile, DecisionLog
from lrwr.core.model.errors import SettingsProblem, StoreProblem
from lrwr.core.settings.drives import describe_unsafe_folder
from lrwr.core.settings.library import CANON_FILE_NAME, Library
from lrwr.core.settings.model import Settings, SettingSource

LITTLE_SPACE = 500_000_000
"""Free bytes below which the next ingestion may fail."""

NO_SPACE = 10_000_000
"""Free bytes below which nothing more can be stored."""

OLDEST_PYTHON = (3, 11)


@dataclass(frozen=True, slots=True)
class FolderFacts:
    """The state of a folder.

    `refusal` is the reason why files cannot be created in it, empty if they can. `free`
    (space left on its disk) and `size` are in bytes. `drive` is a sentence about a disk
    on which a database is not safe, such as a network drive; None otherwise.
    """

    path: Path
    exists: bool
    refusal: str
    free: int
    size: int
    drive: str | None


def check_python(version: tuple[int, int, int], lrwr: str) -> HealthFinding:
    """Check that the Python `version` is supported; `lrwr` is the version of lrwr."""
    version_text = ".".join(str(part) for part in version)
    if version < OLDEST_PYTHON:
        return HealthFinding(
            "python",
            HealthState.BROKEN,
            f"lrwr {lrwr} needs Python 3.11 or later, and runs on {version_text}.",
            "Install lrwr again with a newer Python version.",
        )
    return HealthFinding(
        "python", HealthState.OK, f"Python {version_text}, lrwr {lrwr}."
    )


def check_settings(settings: Settings, files: Sequence[Path]) -> HealthFinding:
    """Report which of `files` settings were read from, and warnings about them."""
    read_files = [str(path) for path in files if path.is_file()]
    sources = {origin.source for origin in settings.origins.values()}
    detail = (
        f"Read from {' and '.join(read_files)}" if read_files else "No settings file"
    )
    number = len(settings.origins)
    count_text = f"{format_count(number, 'setting')} set" if number else "defaults used"
    if SettingSource.ENVIRONMENT in sources:
        count_text += " by environment variables" if not read_files else ""
        detail += " and the environment" if read_files else ""
    detail += f"; {count_text}."
    if settings.warnings:
        warnings = " ".join(
            end_with_full_stop(warning) for warning in settings.warnings
        )
        remedy = "Correct the variable, or unset it."
        return HealthFinding(
            "settings", HealthState.WARNING, f"{detail} {warnings}", remedy
        )
    return HealthFinding("settings", HealthState.OK, detail)


def check_decisions(library: Library) -> HealthFinding:
    """Check that the user's decisions, and the history to undo them, can be read."""
    part, file = "decisions", CanonFile(library.root / CANON_FILE_NAME)
    try:
        text = file.text()
        file.canon(text)
    except SettingsProblem as error:
        return finding_from_error(part, error)
    if text is None:
        return HealthFinding(part, HealthState.OK, f"There is no {CANON_FILE_NAME}.")
    try:
        DecisionLog(library.state_dir / CANON_HISTORY_FILE_NAME).stacks(text)
    except StoreProblem as error:
        detail = end_with_full_stop(str(error))
        return HealthFinding(part, HealthState.WARNING, detail, error.hint)
    return HealthFinding(part, HealthState.OK, f"{file.path} can be read.")


def inspect_folder(path: Path) -> FolderFacts:
    """Measure a folder, and try to create a temporary file in it.

    If the folder does not exist, its nearest existing parent is tested, and `size` is
    0.
    """
    exists = path.is_dir()
    nearest = path
    while not nearest.is_dir() and nearest != nearest.parent:
        nearest = nearest.parent
    return FolderFacts(
        path=path,
        exists=exists,
        refusal=_refusal(nearest),
        free=shutil.disk_usage(nearest).free,
        size=_size(path) if exists else 0,
        drive=describe_unsafe_folder(path),
    )


def check_root(library: Library, facts: FolderFacts) -> HealthFinding:
    """Check that the library's folder exists; lrwr only reads there."""
    if not facts.exists:
        return HealthFinding(
            "library",
            HealthState.BROKEN,
            f"There is no folder {library.root}.",
            "Go to the folder of your manuscript.",
        )
    detail = f"{library.root}"
    if facts.refusal and library.state_dir.is_relative_to(library.root):
        detail += f" ({facts.refusal})"
    return HealthFinding("library", HealthState.OK, f"{detail}.")


def check_state(facts: FolderFacts) -> HealthFinding:
    """Check the state folder (`.lrwr`): permissions, kind of disk and free space."""
    part, free = "state folder", f"{format_size(facts.free)} free"
    if not facts.exists:
        detail = f"{facts.path} does not exist yet; {free}."
        return HealthFinding(
            part, HealthState.OFF, detail, "`lrwr ingest FOLDER` creates it."
        )
    detail = f"{facts.path} contains {format_size(facts.size)}; {free}."
    if facts.refusal:
        return HealthFinding(
            part,
            HealthState.WARNING,
            f"{detail} It is read-only: {facts.refusal}.",
            "Searching works. To ingest, make the folder writable or set `state_dir`.",
        )
    if facts.free < NO_SPACE:
        remedy = "Free some disk space: nothing more can be stored."
        return HealthFinding(part, HealthState.BROKEN, detail, remedy)
    if facts.drive:
        remedy = "Set `state_dir` in `lrwr.toml` to a folder on a local disk."
        return HealthFinding(
            part, HealthState.WARNING, f"{detail} {facts.drive}", remedy
        )
    if facts.free < LITTLE_SPACE:
        return HealthFinding(
            part, HealthState.WARNING, detail, "Free some disk space before you ingest."
        )
    return HealthFinding(part, HealthState.OK, detail)


def _refusal(folder: Path) -> str:
    try:
        with tempfile.TemporaryFile(dir=folder):
            return ""
    except OSError as error:
        return (error.strerror or "files cannot be created there").lower()


def _size(folder: Path) -> int:
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                total += (Path(parent) / name).lstat().st_size
            except OSError:
                continue  # it was deleted meanwhile
    return total
