"""Backup: one file with all that a library knows, and never a key."""

import errno
import json
import os
import tempfile
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO

from lrwr import __version__
from lrwr.core.adapters.storage.sqlite.maintenance import (
    copy_database,
    inspect_database,
)
from lrwr.core.model.errors import NotFound, StoreProblem, UnreadableDocument
from lrwr.core.retrieval import confidence
from lrwr.core.retrieval.confidence import get_calibration_path
from lrwr.core.settings.library import CANON_FILE_NAME, Library
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
LONGEST: Mapping[str, int] = {
    DATABASE: 64 * 1024**3,
    LIBRARY_JSON: 4 * 1024**2,
    CALIBRATION_JSON: 4 * 1024**2,
    QUESTIONS: 64 * 1024**2,
    SETTINGS: 4 * 1024**2,
    DECISIONS: 64 * 1024**2,
}
"""The files that an archive may hold, and the bytes that each may have."""
_MANIFEST_BYTES = 64 * 1024
_DENSEST = 250
"""Bytes that one packed byte may stand for: more is no library but a zip bomb."""
_PART = 1024 * 1024
_PLAIN = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})


@dataclass(frozen=True, slots=True)
class ArchiveEntry:
    """One file of an archive: its length in bytes, and its hash."""

    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class BackupManifest:
    """What an archive says of itself; `made` is a moment as ISO 8601 writes it."""

    lrwr: str
    schema: int
    made: str
    files: Mapping[str, ArchiveEntry]


def pack_archive(
    target: BinaryIO, files: Mapping[str, Path], header: BackupManifest
) -> BackupManifest:
    """Write `files` and their manifest as a zip; return the manifest with the hashes."""
    entries: dict[str, ArchiveEntry] = {}
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, path in files.items():
            entries[name] = _pack_one(archive, name, path)
        manifest = BackupManifest(header.lrwr, header.schema, header.made, entries)
        manifest_json = {"format": FORMAT, **asdict(manifest)}
        archive.writestr(MANIFEST, json.dumps(manifest_json, indent=2) + "\n")
    return manifest


def unpack_archive(source: Path, folder: Path) -> BackupManifest:
    """Check the archive `source` and write its files into `folder`, under their names.

    Only names that lrwr knows are accepted, so nothing can land outside `folder`.

    Raises:
        NotFound: There is no such file.
        UnreadableDocument: It is no backup of lrwr, or something in it is not as its
            manifest says.
        StoreProblem: The files cannot be written.
    """
    try:
        with source.open("rb") as file, zipfile.ZipFile(file) as archive:
            manifest = _checked_manifest(archive)
            for name, entry in manifest.files.items():
                _unpack_one(archive, name, entry, folder / name)
    except FileNotFoundError as error:
        raise NotFound(f"There is no file {source}", hint="Check the path.") from error
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise bad_archive_error(source, str(error)) from error
    except _BadArchive as error:
        raise bad_archive_error(source, str(error)) from error
    except OSError as error:
        if error.errno == errno.EINVAL:  # what no file can be asked for
            raise bad_archive_error(
                source, "an offset leads out of the file."
            ) from error
        raise StoreProblem(
            f"The backup cannot be unpacked: {error.strerror}.",
            hint="Check the disk's free space and your rights there.",
        ) from error
    return manifest


def bad_archive_error(source: Path, reason: str) -> UnreadableDocument:
    """Return the refusal of an archive, and why."""
    return UnreadableDocument(
        f"{source} is not a backup that can be trusted: {reason}",
        hint="Nothing was changed. Use another backup, or ingest the manuscript again.",
    )


class _BadArchive(Exception):
    """Something in an archive is not as it should be."""


def _pack_one(archive: zipfile.ZipFile, name: str, path: Path) -> ArchiveEntry:
    digest, size = sha256(), 0
    with path.open("rb") as file, archive.open(name, "w", force_zip64=True) as entry:
        while part := file.read(_PART):
            digest.update(part)
            size += len(part)
            entry.write(part)
    return ArchiveEntry(size, digest.hexdigest())


def _checked_manifest(archive: zipfile.ZipFile) -> BackupManifest:
    names = [entry.filename for entry in archive.infolist()]
    if MANIFEST not in names:
        raise _BadArchive("it has no manifest.")
    entry = archive.getinfo(MANIFEST)
    if entry.file_size > _MANIFEST_BYTES:
        raise _BadArchive("its manifest is too long.")
    with archive.open(entry) as file:
        manifest = _manifest(file.read(_MANIFEST_BYTES))
    if sorted(names) != sorted([MANIFEST, *manifest.files]):
        raise _BadArchive("it holds other files than its manifest says.")
    if DATABASE not in manifest.files or manifest.files.keys() - LONGEST.keys():
        raise _BadArchive("it holds other files than a library's.")
    for name, expected in manifest.files.items():
        _check_entry(archive.getinfo(name), expected)
    return manifest


def _manifest(content: bytes) -> BackupManifest:
    try:
        document = json.loads(content)
        if document["format"] != FORMAT:
            raise _BadArchive("a newer lrwr made it; upgrade lrwr.")
        files = {
            str(name): ArchiveEntry(int(fields["size"]), str(fields["sha256"]))
            for name, fields in document["files"].items()
        }
        return BackupManifest(
            str(document["lrwr"]), int(document["schema"]), str(document["made"]), files
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise _BadArchive("its manifest cannot be read.") from error


def _check_entry(entry: zipfile.ZipInfo, expected: ArchiveEntry) -> None:
    encrypted = entry.flag_bits & 1
    if encrypted or entry.compress_type not in _PLAIN:
        raise _BadArchive(f"{entry.filename} is encrypted or packed in a strange way.")
    dense = entry.file_size > _DENSEST * (entry.compress_size + 4096)
    if (
        entry.file_size != expected.size
        or expected.size > LONGEST[entry.filename]
        or dense
    ):
        raise _BadArchive(f"{entry.filename} does not have the length that it should.")


def _unpack_one(
    archive: zipfile.ZipFile, name: str, expected: ArchiveEntry, target: Path
) -> None:
    digest, size = sha256(), 0
    with archive.open(name) as entry, target.open("xb") as file:
        while part := entry.read(_PART):
            size += len(part)
            if size > expected.size:
                raise _BadArchive(f"{name} is longer than it says.")
            digest.update(part)
            file.write(part)
    if digest.hexdigest() != expected.sha256:
        raise _BadArchive(f"{name} is not what it was when the backup was made.")


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
