"""Backups: a zip file with a library and a list of its files, never with an API key."""

import errno
import json
import os
import tempfile
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO

from lrwr import __version__
from lrwr.app.post_files import PostFiles
from lrwr.core.adapters.storage.sqlite.maintenance import (
    copy_database,
    inspect_database,
)
from lrwr.core.model.errors import NotFound, StoreProblem, UnreadableDocument
from lrwr.core.model.untrusted_text import parse_json
from lrwr.core.retrieval import confidence
from lrwr.core.retrieval.confidence import get_calibration_path
from lrwr.core.settings.library import (
    CANON_FILE_NAME,
    Library,
    create_private_file,
    get_backups_folder,
)
from lrwr.pipeline.evaluation import runs as evaluation
from lrwr.pipeline.evaluation.runs import locate_questions_file

FORMAT = 1
MANIFEST = "manifest.json"
DATABASE = "library.db"
LIBRARY_JSON = "library.json"
CALIBRATION_JSON = confidence.CALIBRATION_FILE_NAME
QUESTIONS = evaluation.QUESTIONS
SETTINGS = "lrwr.toml"
DECISIONS = CANON_FILE_NAME
POSTS = "posts.json"
"""Drafts of texts about the story, with their evidence and earlier versions."""

LONGEST: Mapping[str, int] = {
    DATABASE: 64 * 1024**3,
    LIBRARY_JSON: 4 * 1024**2,
    CALIBRATION_JSON: 4 * 1024**2,
    QUESTIONS: 64 * 1024**2,
    SETTINGS: 4 * 1024**2,
    DECISIONS: 64 * 1024**2,
    POSTS: 256 * 1024**2,
}
"""The files that an archive may contain, with their size limits in bytes."""
_MANIFEST_BYTES = 64 * 1024
_MAX_COMPRESSION = 250
"""Highest compression ratio that is accepted: more is not a library but a zip bomb."""
_BLOCK = 1024 * 1024
_COMPRESSIONS = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})


@dataclass(frozen=True, slots=True)
class ArchiveEntry:
    """A file of a backup: its size in bytes, and its SHA-256 as hexadecimal digits."""

    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class BackupManifest:
    """The list of a backup's files, and where the backup comes from.

    `lrwr` is the version that made it, `schema` the schema number of its database,
    `made` an ISO 8601 time with time zone. `files` maps names in the archive to their
    entries.
    """

    lrwr: str
    schema: int
    made: str
    files: Mapping[str, ArchiveEntry]


def pack_archive(
    target: BinaryIO, files: Mapping[str, Path], header: BackupManifest
) -> BackupManifest:
    """Write `files` and a manifest to `target` as a zip file; return the manifest.

    Keys of `files` are the names in the zip file, values the files to read. The
    manifest is `header`, completed with the sizes and hashes of the files.
    """
    entries: dict[str, ArchiveEntry] = {}
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, path in files.items():
            entries[name] = _pack_one(archive, name, path)
        manifest = BackupManifest(header.lrwr, header.schema, header.made, entries)
        manifest_json = {"format": FORMAT, **asdict(manifest)}
        archive.writestr(MANIFEST, json.dumps(manifest_json, indent=2) + "\n")
    return manifest


def unpack_archive(source: Path, folder: Path) -> BackupManifest:
    """Extract the files of the backup `source` into `folder`.

    Sizes and hashes are checked. Only known names are accepted, so nothing can be
    written outside `folder`.

    Raises:
        NotFound: There is no such file.
        UnreadableDocument: It is not a backup of lrwr, or does not match its manifest.
        StoreProblem: The files cannot be written.
    """
    try:
        with source.open("rb") as file, zipfile.ZipFile(file) as archive:
            manifest = _read_manifest(archive)
            for name, entry in manifest.files.items():
                _unpack_one(archive, name, entry, folder / name)
    except FileNotFoundError as error:
        raise NotFound(
            f"There is no file {source}", hint="Check the path of the backup."
        ) from error
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise bad_archive_error(
            source, "it is damaged, incomplete or no file of `lrwr backup`"
        ) from error
    except _BadArchive as error:
        raise bad_archive_error(source, str(error)) from error
    except OSError as error:
        if error.errno == errno.EINVAL:  # zipfile seeks to a negative offset
            raise bad_archive_error(
                source, "it is damaged (an offset points outside of the file)."
            ) from error
        raise StoreProblem(
            f"The backup cannot be extracted: {error.strerror}",
            hint="Check the free disk space and the permissions of `.lrwr`.",
        ) from error
    return manifest


def bad_archive_error(source: Path, reason: str) -> UnreadableDocument:
    """Return the error for a backup that must not be restored.

    `reason` says why; it follows "… is not a valid backup: ".
    """
    return UnreadableDocument(
        f"{source} is not a valid backup: {reason}",
        hint="Use another backup, or run `lrwr ingest` again. Nothing was changed.",
    )


class _BadArchive(Exception):
    """An archive does not match its manifest or lrwr's format."""


def _pack_one(archive: zipfile.ZipFile, name: str, path: Path) -> ArchiveEntry:
    digest, size = sha256(), 0
    with path.open("rb") as file, archive.open(name, "w", force_zip64=True) as entry:
        while part := file.read(_BLOCK):
            digest.update(part)
            size += len(part)
            entry.write(part)
    return ArchiveEntry(size, digest.hexdigest())


def _read_manifest(archive: zipfile.ZipFile) -> BackupManifest:
    names = [entry.filename for entry in archive.infolist()]
    if MANIFEST not in names:
        raise _BadArchive("it has no manifest, so lrwr did not make it")
    entry = archive.getinfo(MANIFEST)
    if entry.file_size > _MANIFEST_BYTES:
        raise _BadArchive("its manifest is too large")
    with archive.open(entry) as file:
        manifest = _parse_manifest(file.read(_MANIFEST_BYTES))
    if sorted(names) != sorted([MANIFEST, *manifest.files]):
        raise _BadArchive("its files differ from its manifest")
    if DATABASE not in manifest.files or manifest.files.keys() - LONGEST.keys():
        raise _BadArchive("it contains files that do not belong to a library")
    for name, expected in manifest.files.items():
        _check_entry(archive.getinfo(name), expected)
    return manifest


def _parse_manifest(content: bytes) -> BackupManifest:
    try:
        document = parse_json(content)
        if document["format"] != FORMAT:
            raise _BadArchive("it was made by a newer version of lrwr; upgrade lrwr")
        files = {
            str(name): ArchiveEntry(int(fields["size"]), str(fields["sha256"]))
            for name, fields in document["files"].items()
        }
        return BackupManifest(
            str(document["lrwr"]), int(document["schema"]), str(document["made"]), files
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise _BadArchive("its manifest cannot be read") from error


def _check_entry(entry: zipfile.ZipInfo, expected: ArchiveEntry) -> None:
    encrypted = entry.flag_bits & 1
    if encrypted or entry.compress_type not in _COMPRESSIONS:
        raise _BadArchive(
            f"{entry.filename} is encrypted, or compressed with an unknown method"
        )
    is_zip_bomb = entry.file_size > _MAX_COMPRESSION * (entry.compress_size + 4096)
    if (
        entry.file_size != expected.size
        or expected.size > LONGEST[entry.filename]
        or is_zip_bomb
    ):
        raise _BadArchive(f"the size of {entry.filename} is wrong")


def _unpack_one(
    archive: zipfile.ZipFile, name: str, expected: ArchiveEntry, target: Path
) -> None:
    digest, size = sha256(), 0
    create_private_file(target)
    with archive.open(name) as entry, target.open("wb") as file:
        while part := entry.read(_BLOCK):
            size += len(part)
            if size > expected.size:
                raise _BadArchive(f"{name} is larger than the manifest says")
            digest.update(part)
            file.write(part)
    if digest.hexdigest() != expected.sha256:
        raise _BadArchive(f"{name} has changed since the backup was made")


@dataclass(frozen=True, slots=True)
class BackupReport:
    """A backup that was written: its file, its size in bytes, and its manifest."""

    file: Path
    size: int
    manifest: BackupManifest


def choose_backup_folder(library: Library, manuscript: Sequence[Path]) -> Path:
    """Return where a backup without a name is written, which is never in a manuscript.

    That is the folder of the library, else the current folder, else a folder for this
    library among the user's data, which is created. `manuscript` are the manuscript's
    folders and files.

    Raises:
        StoreProblem: The folder among the user's data cannot be created.
    """
    for folder in (library.state_dir.parent, Path.cwd().resolve()):
        if not any(folder.is_relative_to(path.resolve()) for path in manuscript):
            return folder
    folder = get_backups_folder() / (library.root.name or "library")
    try:
        folder.mkdir(0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StoreProblem(
            f"{folder} cannot be created: {error.strerror}",
            hint="Name the file to write: `lrwr backup FILE`.",
        ) from error
    return folder


def _check_outside(file: Path, library: Library, manuscript: Sequence[Path]) -> None:
    """Raise an error if `file` is in a folder of `manuscript`, except in the library's
    own folder.

    Raises:
        StoreProblem: lrwr does not write into the manuscript.
    """
    real = file.resolve()
    if real.is_relative_to(library.state_dir.resolve()):
        return
    if any(real.is_relative_to(folder.resolve()) for folder in manuscript):
        raise StoreProblem(
            f"{file} is in a manuscript folder, which lrwr does not write to",
            hint="Name a file in another folder, or run `lrwr backup` without a file.",
        )


def backup_library(
    library: Library,
    target: Path | None,
    *,
    now: float,
    manuscript: Sequence[Path] = (),
) -> BackupReport:
    """Write a backup of a library to the new file `target`.

    With None, the file has the date of `now`, in seconds since 1970, in its name, and
    is outside of the folders `manuscript`; see `choose_backup_folder`. Other processes
    may use the library meanwhile.

    Raises:
        NotFound: There is no library.
        StoreProblem: The library is damaged or cannot be read, or the file exists, is
            in a folder of `manuscript` or cannot be written.
    """
    if not library.database.exists():
        raise NotFound(
            f"There is no library in {library.root}",
            hint="Go to the folder of your library, or run `lrwr ingest FOLDER` first.",
        )
    if target is None:
        target = _new_file(choose_backup_folder(library, manuscript), now)
    target = target.parent.resolve() / target.name
    _check_outside(target, library, manuscript)
    if target.exists():
        raise StoreProblem(
            f"{target} already exists",
            hint="Name a new file: `lrwr backup FILE`.",
        )
    if not target.parent.is_dir():
        raise StoreProblem(
            f"There is no folder {target.parent}",
            hint="Create it, or name a file in an existing folder.",
        )
    try:
        with tempfile.TemporaryDirectory(
            dir=target.parent, prefix=".lrwr-"
        ) as temporary_directory:
            return _backup(library, target, Path(temporary_directory), now)
    except OSError as error:
        raise StoreProblem(
            f"{target} cannot be written: {error.strerror}",
            hint="Check the free disk space and the permissions of the folder.",
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
            f"{library.database} is damaged",
            hint="Run `lrwr repair` first. Existing backups are not changed.",
        )
    files = {DATABASE: work_folder / DATABASE, **_find_extra_files(library)}
    if posts := PostFiles(library).pack():
        files[POSTS] = work_folder / POSTS
        create_private_file(files[POSTS])
        files[POSTS].write_text(posts, encoding="utf-8")
    moment = datetime.fromtimestamp(now).astimezone().isoformat(timespec="seconds")
    packed = work_folder / "backup.zip"
    create_private_file(packed)
    with packed.open("wb") as file:
        header = BackupManifest(__version__, facts.schema, moment, {})
        manifest = pack_archive(file, files, header)
        file.flush()
        os.fsync(file.fileno())
    packed.rename(target)
    return BackupReport(target, target.stat().st_size, manifest)


def _find_extra_files(library: Library) -> dict[str, Path]:
    """Return the files besides the database, by their names in the archive.

    A symbolic link that leads out of its folder is left out.
    """
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
