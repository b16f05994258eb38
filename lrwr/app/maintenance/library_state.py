"""What earlier commands recorded about a library: its automatic backups, and damage.

Reading it needs neither the stored text nor the saved conversations.
"""

import bz2
import gzip
import json
import zlib
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from lrwr.core.adapters.storage.sqlite.checksums import is_marked_damaged, mark_damaged
from lrwr.core.adapters.storage.sqlite.verification import has_damaged_sample
from lrwr.core.settings.library import Library

BACKUP_FOLDER = "backups"
_PATTERN = "????-??-??.jsonl.*"
COMPRESSIONS = {".bz2": bz2, ".gz": gzip}
MAX_BACKUP_BYTES = 1024**3
"""Uncompressed size up to which a backup is read."""

KNOWN_DAMAGE = (
    "Some stored data is damaged, and is left out or shown with a remark. Run"
    " `lrwr ingest --verify`: it rebuilds what comes from your manuscript, and says what"
    " to do about the rest."
)


@dataclass(frozen=True, slots=True)
class AutomaticBackup:
    """An automatic backup: its file, its day, and a hash of its rows."""

    file: Path
    day: date
    digest: str


def list_backup_files(library: Library) -> list[Path]:
    """Return the files of the automatic backups, oldest first."""
    folder = library.state_dir / BACKUP_FOLDER
    if folder.is_symlink() or not folder.is_dir():
        return []
    files = sorted(folder.glob(_PATTERN))
    return [
        file
        for file in files
        if file.suffix in COMPRESSIONS and file.is_file() and not file.is_symlink()
    ]


def load_newest_backup(library: Library) -> AutomaticBackup | None:
    """Return the newest automatic backup that can be read; None if there is none."""
    for file in reversed(list_backup_files(library)):
        with suppress(OSError, EOFError, zlib.error, ValueError, KeyError, TypeError):
            with COMPRESSIONS[file.suffix].open(file) as lines:
                header = json.loads(lines.readline(MAX_BACKUP_BYTES))
            day = date.fromisoformat(file.name.partition(".")[0])
            return AutomaticBackup(file, day, str(header["digest"]))
    return None


def describe_known_damage(library: Library, seed: float = 0) -> str:
    """Return a sentence if a command has met damaged data since the last verification,
    or if there is some in a sample of documents and threads, which `seed` selects.

    Else an empty text. With seed 0, no sample is checked.

    Raises:
        StoreProblem: The library cannot be read, or only `lrwr repair` can heal it.
    """
    if not library.database.exists():
        return ""
    is_damaged = is_marked_damaged(library.database)
    if seed and has_damaged_sample(library.database, seed):
        is_damaged = True
        mark_damaged(library.database)
    return KNOWN_DAMAGE if is_damaged else ""
