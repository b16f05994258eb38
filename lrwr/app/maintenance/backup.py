"""Backup: one file with all that a library knows, and never a key."""

import os
import tempfile
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from lrwr import __version__
from lrwr.app.maintenance.archive import (
    CALIBRATION_JSON,
    DATABASE,
    DECISIONS,
    LIBRARY_JSON,
    QUESTIONS,
    SETTINGS,
    BackupManifest,
    pack_archive,
)
from lrwr.core.adapters.storage.sqlite.maintenance import (
    copy_database,
    inspect_database,
)
from lrwr.core.model.errors import NotFound, StoreProblem
from lrwr.core.retrieval.confidence import get_calibration_path
from lrwr.core.settings.library import Library
from lrwr.pipeline.evaluation.runs import locate_questions_file


@dataclass(frozen=True, slots=True)
class BackupReport:
    """Where a backup is, how long it is in bytes, and what is in it."""

    file: Path
    size: int
    manifest: BackupManifest


def backup_library(
    library: Library, target: Path | None, *, now: float
) -> BackupReport:
    """Write a backup to `target`, by default a new file in the current folder.

    Others may use the library meanwhile. `now` is in seconds since 1970.

    Raises:
        NotFound: There is no library.
        StoreProblem: It cannot be read or is damaged, or the file is there already
            or cannot be written.
    """
    if not library.database.exists():
        raise NotFound(
            f"There is no library in {library.root} to back up",
            hint="Go to its folder, or run `lrwr ingest FOLDER` first.",
        )
    target = (target or _new_file(Path.cwd(), now)).absolute()
    if target.exists():
        raise StoreProblem(
            f"{target} is there already",
            hint="Name another file: lrwr backup FILE",
        )
    try:
        with tempfile.TemporaryDirectory(
            dir=target.parent, prefix=".lrwr-"
        ) as temporary_directory:
            return _backup(library, target, Path(temporary_directory), now)
    except OSError as error:
        raise StoreProblem(
            f"{target} cannot be written: {error.strerror}",
            hint="Check the disk and your rights in that folder.",
        ) from error


def _new_file(folder: Path, now: float) -> Path:
    moment = datetime.fromtimestamp(now)
    file = folder / f"lrwr-backup-{moment:%Y-%m-%d}.zip"
    if file.exists():
        return folder / f"lrwr-backup-{moment:%Y-%m-%d-%H%M%S}.zip"
    return file


def _backup(
    library: Library, target: Path, work_folder: Path, now: float
) -> BackupReport:
    copy_database(library.database, work_folder / DATABASE)
    facts = inspect_database(work_folder / DATABASE, now=now)
    if facts.damage:
        raise StoreProblem(
            f"{library.database} is damaged: {facts.damage[0]}.",
            hint="Run `lrwr repair` first; an old backup is left as it is.",
        )
    files = {DATABASE: work_folder / DATABASE, **_writers_files(library)}
    moment = datetime.fromtimestamp(now).astimezone().isoformat(timespec="seconds")
    packed = work_folder / "backup.zip"
    with packed.open("xb") as file:
        header = BackupManifest(__version__, facts.schema, moment, {})
        manifest = pack_archive(file, files, header)
        file.flush()
        os.fsync(file.fileno())
    packed.rename(target)
    return BackupReport(target, target.stat().st_size, manifest)


def _writers_files(library: Library) -> dict[str, Path]:
    """Return what is there beside the database; a link that leads away is left out."""
    root, state = library.root, library.state_dir
    places = {
        LIBRARY_JSON: (library.memory, state),
        CALIBRATION_JSON: (get_calibration_path(library), state),
        QUESTIONS: (locate_questions_file(library), state),
        SETTINGS: (root / SETTINGS, root),
        DECISIONS: (root / DECISIONS, root),
    }
    return {
        name: path
        for name, (path, home) in places.items()
        if path.is_file() and path.resolve().is_relative_to(home)
    }
