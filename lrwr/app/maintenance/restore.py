"""Restores a library from a backup, after checking the backup."""

import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from lrwr.app.maintenance.backup import (
    CALIBRATION_JSON,
    DATABASE,
    DECISIONS,
    LIBRARY_JSON,
    QUESTIONS,
    SETTINGS,
    BackupManifest,
    bad_archive_error,
    unpack_archive,
)
from lrwr.app.maintenance.repair import format_file_stamp, rename_database_aside
from lrwr.core.adapters.storage.sqlite.maintenance import (
    checkpoint_database,
    inspect_database,
)
from lrwr.core.adapters.storage.supabase.library_link import assign_replica_writer
from lrwr.core.adapters.vectors.maintenance import clear_shards
from lrwr.core.model.errors import SettingsProblem, StoreProblem
from lrwr.core.retrieval.confidence import get_calibration_path, load_calibrations
from lrwr.core.settings.library import (
    Library,
    parse_ingested_paths,
    prepare_state_dir,
)
from lrwr.core.settings.loader import load_settings_file
from lrwr.core.settings.model import SettingSource
from lrwr.pipeline.evaluation.questions import parse_questions
from lrwr.pipeline.evaluation.runs import locate_questions_file


@dataclass(frozen=True, slots=True)
class RestoreReport:
    """The steps of a restoration, one sentence each, and the manifest of the backup."""

    steps: tuple[str, ...]
    manifest: BackupManifest


def restore_library(
    library: Library, source: Path, *, force: bool, now: float
) -> RestoreReport:
    """Replace the contents of `library` with the backup `source`.

    With `force`, an existing library and the user's files (`lrwr.toml`,
    `lrwr.canon.toml`) are renamed first. Without it, an existing library is an error,
    and existing files of the user stay. `now` is in seconds since 1970.

    Raises:
        NotFound: There is no such file.
        UnreadableDocument: It is not a backup of lrwr, or is damaged.
        StoreProblem: A newer version of lrwr made it, there is a library and not
            `force`, or files cannot be written.
    """
    prepare_state_dir(library)
    try:
        with tempfile.TemporaryDirectory(
            dir=library.state_dir, prefix="restoring-"
        ) as name:
            folder = Path(name)
            manifest = unpack_archive(source, folder)
            _check_database(folder / DATABASE, source, now)
            if LIBRARY_JSON in manifest.files:
                _check_folder_list(folder / LIBRARY_JSON, source)
            if library.database.exists() and not force:
                raise StoreProblem(
                    f"There is already a library in {library.state_dir}",
                    hint="Use `--force` to replace it. The old library is renamed, not"
                    " deleted.",
                )
            assign_replica_writer(folder / DATABASE)
            steps = _restore_files(library, folder, manifest, force=force, now=now)
    except OSError as error:
        raise StoreProblem(
            f"The backup could not be restored: {error.strerror}",
            hint="Check the free disk space and the permissions of `.lrwr`."
            " Your library was not changed.",
        ) from error
    return RestoreReport(tuple(steps), manifest)


def _check_database(path: Path, source: Path, now: float) -> None:
    try:
        facts = inspect_database(path, now=now)
    except StoreProblem as error:
        raise bad_archive_error(source, "its database cannot be opened.") from error
    if facts.damage:
        raise bad_archive_error(source, f"its database is damaged: {facts.damage[0]}.")
    if facts.schema < 1:
        raise bad_archive_error(source, "its database holds no library.")
    if facts.schema > facts.wanted:
        raise StoreProblem(
            f"{source} was made by a newer version of lrwr",
            hint="Upgrade lrwr and run the command again.",
        )


def _check_folder_list(path: Path, source: Path) -> None:
    try:
        parse_ingested_paths(path.read_bytes())
    except ValueError as error:
        raise bad_archive_error(
            source, f"its {path.name} is damaged: {error}."
        ) from error


def _restore_files(
    library: Library, folder: Path, manifest: BackupManifest, *, force: bool, now: float
) -> list[str]:
    steps = []
    suffix = f"before-restore-{format_file_stamp(now)}"
    if library.database.exists():
        checkpoint_database(library.database)
        renamed = rename_database_aside(library.database, suffix)
        steps.append(f"The previous library was renamed to {renamed}.")
    clear_shards(library.index_dir)
    (folder / DATABASE).rename(library.database)
    steps.append(f"The library of {manifest.made} was restored to {library.state_dir}.")
    if LIBRARY_JSON in manifest.files:
        if library.memory.exists():
            rename_database_aside(library.memory, suffix)
        (folder / LIBRARY_JSON).rename(library.memory)
    if CALIBRATION_JSON in manifest.files:
        steps.append(_restore_calibration(library, folder / CALIBRATION_JSON, suffix))
    if QUESTIONS in manifest.files:
        steps.append(_restore_questions(library, folder / QUESTIONS, suffix))
    file_names = [name for name in (SETTINGS, DECISIONS) if name in manifest.files]
    steps += [
        _restore_user_file(library, folder / name, suffix, force=force)
        for name in file_names
    ]
    return steps


def _restore_calibration(library: Library, file: Path, suffix: str) -> str:
    _, problem = load_calibrations(file)
    return _restore_file(
        file, get_calibration_path(library), suffix, is_valid=not problem
    )


def _restore_questions(library: Library, file: Path, suffix: str) -> str:
    try:
        parse_questions(file.read_text(encoding="utf-8"), file.name)
    except (SettingsProblem, UnicodeDecodeError):
        return _restore_file(
            file, locate_questions_file(library), suffix, is_valid=False
        )
    return _restore_file(file, locate_questions_file(library), suffix, is_valid=True)


def _restore_file(file: Path, target: Path, suffix: str, *, is_valid: bool) -> str:
    if not is_valid:
        return f"{file.name} was not restored: it is damaged or from another version of lrwr."
    if target.exists():
        rename_database_aside(target, suffix)
    file.rename(target)
    return f"{file.name} was restored: {target}."


def _restore_user_file(
    library: Library, file: Path, suffix: str, *, force: bool
) -> str:
    """Restore a file of the user beside the manuscript, and return what was done.

    A file that must not be used, or replaced, is written under another name or skipped.
    """
    target = library.root / file.name
    if target.exists() and target.read_bytes() == file.read_bytes():
        return f"{file.name} was already up to date."
    problem = _find_settings_problem(library, file)
    if problem:
        target = target.with_name(f"{file.name}.from-backup")
        _write(file, target)
        return f"{file.name} {problem}, so it was written to {target}."
    if not target.exists():
        _write(file, target)
        return f"{file.name} was restored: {target}."
    if not force:
        return f"{target} was not changed. The backup contains a different version."
    renamed = rename_database_aside(target, suffix)
    _write(file, target)
    return f"{file.name} was restored. The previous file is now {renamed}."


def _find_settings_problem(library: Library, file: Path) -> str:
    """Return why the backup's settings must not be used here; empty if they may be."""
    if file.name != SETTINGS:
        return ""
    try:
        settings_file = load_settings_file(file, SettingSource.LIBRARY)
    except SettingsProblem:
        return "cannot be read by this version of lrwr"
    state = settings_file.get("state_dir")
    if state is None or library.resolve(str(state.value)) == library.state_dir:
        return ""
    return "sets another `state_dir`"


def _write(source: Path, target: Path) -> None:
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "wb") as file, source.open("rb") as content:
            shutil.copyfileobj(content, file)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
