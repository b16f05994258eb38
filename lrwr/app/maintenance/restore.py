"""Restores a library from a backup, after checking the backup."""

import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from os.path import relpath
from pathlib import Path

from lrwr.app.maintenance.backup import (
    CALIBRATION_JSON,
    DATABASE,
    DECISIONS,
    LIBRARY_JSON,
    POSTS,
    QUESTIONS,
    SETTINGS,
    BackupManifest,
    bad_archive_error,
    unpack_archive,
)
from lrwr.app.maintenance.repair import format_file_stamp, rename_database_aside
from lrwr.app.post_files import PostFiles
from lrwr.app.presenters.text import format_count
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
    load_ingested_paths,
    parse_ingested_paths,
    prepare_state_dir,
    replace_ingested_paths,
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
    library: Library,
    source: Path,
    *,
    force: bool,
    now: float,
    manuscript: Sequence[Path] = (),
) -> RestoreReport:
    """Replace the contents of `library` with the backup `source`.

    With `force`, an existing library and the user's files (`lrwr.toml`,
    `lrwr.canon.toml`) are renamed first. Without it, an existing library is an error,
    and existing files of the user stay. `now` is in seconds since 1970. `manuscript`
    are the absolute paths where the manuscript is now; empty means those of the backup
    that are inside the library's folder. If this fails, all is as before.

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
            with _FileSwap(f"before-restore-{format_file_stamp(now)}") as swap:
                steps = _restore_files(library, folder, manifest, swap, force=force)
                steps += _link_manuscript(library, manuscript, swap)
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
        raise bad_archive_error(source, "its database is damaged.")
    if facts.schema < 1:
        raise bad_archive_error(source, "its database contains no library.")
    if facts.schema > facts.wanted:
        raise StoreProblem(
            f"{source} was made by a newer version of lrwr",
            hint="Upgrade lrwr and run the command again.",
        )


def _check_folder_list(path: Path, source: Path) -> None:
    try:
        parse_ingested_paths(path.read_bytes())
    except ValueError as error:
        raise bad_archive_error(source, f"its {path.name} is damaged.") from error


class _FileSwap:
    """Moves files into place, and undoes all of it if its `with` block fails.

    A file that is in the way gets `suffix` added to its name.
    """

    def __init__(self, suffix: str) -> None:
        self._suffix = suffix
        self._undo: list[Callable[[], object]] = []

    def __enter__(self) -> "_FileSwap":
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            for step in reversed(self._undo):
                step()

    def set_aside(self, path: Path) -> Path:
        """Rename a file, and return its new path."""
        renamed = rename_database_aside(path, self._suffix)
        self._undo.append(partial(_rename_back, renamed, path))
        return renamed

    def place(self, file: Path, target: Path) -> Path | None:
        """Move `file` to `target`; return where a file that was there is now."""
        aside = self.set_aside(target) if target.exists() else None
        self._undo.append(partial(target.unlink, missing_ok=True))
        if file.stat().st_dev == target.parent.stat().st_dev:
            file.rename(target)
        else:  # the library's folder may be on another drive than its state
            _write(file, target)
        return aside

    def before_change(self, path: Path) -> None:
        """Remember the content of a file, which may not exist, to undo changes."""
        if path.exists():
            self._undo.append(partial(path.write_bytes, path.read_bytes()))
        else:
            self._undo.append(partial(path.unlink, missing_ok=True))


def _rename_back(renamed: Path, path: Path) -> None:
    for suffix in ("-wal", "-shm", ""):
        beside = renamed.with_name(renamed.name + suffix)
        if beside.exists():
            beside.replace(path.with_name(path.name + suffix))


def _restore_files(
    library: Library,
    folder: Path,
    manifest: BackupManifest,
    swap: _FileSwap,
    *,
    force: bool,
) -> list[str]:
    steps = []
    if library.database.exists():
        checkpoint_database(library.database)
        renamed = swap.set_aside(library.database)
        steps.append(f"The previous library was renamed to {renamed}.")
    clear_shards(library.index_dir)
    swap.place(folder / DATABASE, library.database)
    backup_time = _format_time(manifest.made)
    steps.append(f"The library of {backup_time} was restored to {library.state_dir}.")
    if LIBRARY_JSON in manifest.files:
        swap.place(folder / LIBRARY_JSON, library.memory)
    if CALIBRATION_JSON in manifest.files:
        steps.append(_restore_calibration(library, folder / CALIBRATION_JSON, swap))
    if QUESTIONS in manifest.files:
        steps.append(_restore_questions(library, folder / QUESTIONS, swap))
    if POSTS in manifest.files:
        steps += _restore_posts(library, folder / POSTS, swap, force=force)
    file_names = [name for name in (SETTINGS, DECISIONS) if name in manifest.files]
    steps += [
        _restore_user_file(library, folder / name, swap, force=force)
        for name in file_names
    ]
    return steps


def _format_time(iso_time: str) -> str:
    """Return an ISO 8601 time as local date and time; unchanged if it is none."""
    try:
        return datetime.fromisoformat(iso_time).astimezone().strftime("%Y-%m-%d %H:%M")
    except (ValueError, OverflowError):
        return iso_time


def _link_manuscript(
    library: Library, manuscript: Sequence[Path], swap: _FileSwap
) -> list[str]:
    """Record where the manuscript is; return a step if that was given or is unknown."""
    if manuscript:
        swap.before_change(library.memory)
        replace_ingested_paths(library, [path.resolve() for path in manuscript])
        return [f"The manuscript is in {' and '.join(map(str, manuscript))}."]
    if not library.memory.exists():
        return []
    names, _ = parse_ingested_paths(library.memory.read_bytes())
    folders = load_ingested_paths(library)
    absent = [name for name in names if library.resolve(name) not in folders]
    absent += [
        Path(relpath(folder, library.root)).as_posix()
        for folder in folders
        if not folder.exists()
    ]
    if not absent:
        return []
    return [
        f"The manuscript was in {' and '.join(absent)}, as seen from the folder of the"
        f" library that was backed up. In {library.root} that does not exist or is"
        " outside of the library. If it is elsewhere now, run `lrwr ingest FOLDER`"
        " with its folder: moved documents keep their data."
    ]


def _restore_calibration(library: Library, file: Path, swap: _FileSwap) -> str:
    _, problem = load_calibrations(file)
    target = get_calibration_path(library)
    return _restore_file(file, target, swap, is_valid=not problem)


def _restore_questions(library: Library, file: Path, swap: _FileSwap) -> str:
    target = locate_questions_file(library)
    try:
        parse_questions(file.read_text(encoding="utf-8"), file.name)
    except (SettingsProblem, UnicodeDecodeError):
        return _restore_file(file, target, swap, is_valid=False)
    return _restore_file(file, target, swap, is_valid=True)


def _restore_posts(
    library: Library, file: Path, swap: _FileSwap, *, force: bool
) -> list[str]:
    """Restore the drafts; a different file that is there is replaced with `force` only,
    and renamed then.
    """
    posts = PostFiles(library)
    try:
        packed = posts.list_packed(file.read_text(encoding="utf-8"))
    except (ValueError, AttributeError):
        return ["The drafts in `posts/` were not restored: their file is damaged."]
    posts.prepare_folder()
    restored = different = 0
    for target, text in packed.items():
        is_there = target.exists()
        if is_there and target.read_bytes() == text.encode():
            continue
        if is_there and not force:
            different += 1
            continue
        target.parent.mkdir(0o700, parents=True, exist_ok=True)
        content = file.with_name("post-file")
        content.write_bytes(text.encode())
        swap.place(content, target)
        restored += 1
    steps = []
    if restored:
        steps.append(
            f"{format_count(restored, 'file')} of drafts restored to {posts.folder}."
        )
    if different:
        files = format_count(different, "file")
        steps.append(
            f"{files} of drafts not changed: the backup contains different versions."
        )
    return steps


def _restore_file(file: Path, target: Path, swap: _FileSwap, *, is_valid: bool) -> str:
    if not is_valid:
        return f"{file.name} was not restored: it is damaged or from another version of lrwr."
    swap.place(file, target)
    return f"{file.name} was restored: {target}."


def _restore_user_file(
    library: Library, file: Path, swap: _FileSwap, *, force: bool
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
        swap.before_change(target)
        _write(file, target)
        return f"{file.name} {problem}, so it was written to {target}."
    if target.exists() and not force:
        return f"{target} was not changed. The backup contains a different version."
    renamed = swap.place(file, target)
    if renamed is None:
        return f"{file.name} was restored: {target}."
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
