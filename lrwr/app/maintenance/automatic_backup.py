"""Automatic backups of threads, model replies and the send log, on this machine.

An ingestion writes at most one a day, and only if these rows have changed. The files
are in the state folder: one JSON document per line, compressed with bzip2; those of
earlier versions with gzip. What earlier commands recorded about them, and about damage
of the library, is read without the stored text.
"""

import bz2
import gzip
import json
import os
import tempfile
import zlib
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime
from hashlib import sha256
from pathlib import Path

from lrwr.core.adapters.storage.sqlite.checksums import is_marked_damaged, mark_damaged
from lrwr.core.adapters.storage.sqlite.row_replacement import (
    find_lost_threads,
    keep_sound_rows,
)
from lrwr.core.adapters.storage.sqlite.user_rows import (
    Row,
    UserRows,
    find_expired_threads,
    load_user_rows,
)
from lrwr.core.adapters.storage.sqlite.verification import has_damaged_sample
from lrwr.core.model.errors import StoreProblem
from lrwr.core.settings.library import KEPT_DAYS, Library

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


def describe_known_damage(library: Library, now: float = 0) -> str:
    """Return a sentence if a command has met damaged data since the last verification,
    or if there is some in a sample of documents and threads or a page of the file.

    Else an empty text. `now` is in seconds since 1970; with 0, nothing is checked. See
    `has_damaged_sample`.

    Raises:
        StoreProblem: The library cannot be read, or only `lrwr repair` can heal it.
    """
    if not library.database.exists():
        return ""
    is_damaged = is_marked_damaged(library.database)
    if now and has_damaged_sample(library.database, now):
        is_damaged = True
        mark_damaged(library.database)
    return KNOWN_DAMAGE if is_damaged else ""


KEPT_FILES = 7
"""Backups that are kept, each of another day."""
_LEAST_FILES = 2
_LIBRARY_SHARE = 0.01
"""Older backups are deleted when all take more than this share of the library's size."""
_FORMAT = 1
_TABLES = ("thread", "turn", "reply", "draft", "draft_step", "sent", "sent_since")
"""Job records are left out: they change with every ingestion."""
_WORTH_A_BACKUP = ("thread", "reply", "draft", "draft_step", "sent")
_DAY_SECONDS = 86_400.0


def back_up_if_due(library: Library, *, now: float) -> str:
    """Write an automatic backup, unless that was tried today or nothing has changed.

    Rows of earlier backups stay in the new one if the library has lost or damaged them.
    `now` is in seconds since 1970. Returns a sentence for the user if it failed, else
    an empty text. Costs one look into a folder if it is not due.
    """
    folder = library.state_dir / BACKUP_FOLDER
    try:
        files = list_backup_files(library)
        today = datetime.fromtimestamp(now).date()
        checked = [
            datetime.fromtimestamp(file.stat().st_mtime).date() for file in files
        ]
        if today in checked or not library.database.exists():
            return ""
        stored = _rewrite(files, lambda rows: _drop_expired(rows, now))
        rows = load_user_rows(library.database, (*_TABLES, "hosted"))
        if not any(rows[table] for table in _WORTH_A_BACKUP):
            return ""
        # Another machine may have deleted threads of a library that is in a project.
        sound = keep_sound_rows(rows, stored[::-1], adds_missing=not rows["hosted"])
        lines = _encode_lines(_drop_expired(sound, now))
        digest = sha256(b"".join(lines)).hexdigest()
        newest = load_newest_backup(library)
        if newest is not None and newest.digest == digest:
            os.utime(newest.file, (now, now))
            return ""
        folder.mkdir(mode=0o700, exist_ok=True)
        _write(folder / f"{today}.jsonl.bz2", digest, lines, now)
        _rotate(library)
    except (StoreProblem, OSError) as error:
        return f"The automatic backup of your threads could not be written: {error}."
    return ""


def describe_lost_threads(library: Library) -> str:
    """Return a sentence if the library has no threads and an automatic backup has some.

    Else an empty text, also if the library or the backups cannot be read.
    """
    with suppress(StoreProblem):
        if (
            library.database.exists()
            and load_user_rows(library.database, ["thread"])["thread"]
        ):
            return ""
        newest = load_newest_backup(library)
        if newest is not None and load_backup_rows(newest.file)["thread"]:
            return (
                f"Saved conversations of {newest.day} are in"
                f" {library.state_dir.name}/{BACKUP_FOLDER}. Run `lrwr restore --latest` to bring them back."
            )
    return ""


def list_lost_threads(library: Library, threads: Collection[str]) -> list[str]:
    """Return those of the damaged `threads`, by id, of which no backup has a sound copy.

    Empty if the library cannot be read. Backups that cannot be read are left out.
    """
    copies = []
    for file in reversed(list_backup_files(library)):
        with suppress(StoreProblem):
            copies.append(load_backup_rows(file))
    with suppress(StoreProblem):
        lost = find_lost_threads(
            load_user_rows(library.database, ("thread", "turn")), copies
        )
        return [thread for thread in threads if thread in lost]
    return []


def load_backup_rows(file: Path) -> UserRows:
    """Return the rows of an automatic backup by table.

    Raises:
        StoreProblem: It cannot be read, is damaged, or was made by a newer version.
    """
    rows: dict[str, list[Row]] = {table: [] for table in _TABLES}
    try:
        with COMPRESSIONS[file.suffix].open(file) as stream:
            content = stream.read(MAX_BACKUP_BYTES + 1)
        header, *lines = content.splitlines()
        if len(content) > MAX_BACKUP_BYTES or json.loads(header)["format"] != _FORMAT:
            raise ValueError("made by a newer version of lrwr")
        for line in lines:
            table, row = json.loads(line)
            if isinstance(row, dict) and table in rows:
                rows[table].append(row)
    except (OSError, EOFError, zlib.error) as error:
        raise _unreadable(file, str(error)) from error
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise _unreadable(file, "it is damaged or was made by a newer lrwr") from error
    return rows


def drop_threads_from_backups(library: Library, threads: Collection[str]) -> None:
    """Delete `threads`, given by id, and their turns from all automatic backups.

    Raises:
        StoreProblem: A backup cannot be written.
    """

    def drop(rows: UserRows) -> UserRows:
        return {
            **rows,
            "thread": [row for row in rows["thread"] if row.get("id") not in threads],
            "turn": [
                row for row in rows["turn"] if row.get("thread_id") not in threads
            ],
        }

    if threads:
        _rewrite_or_raise(library, drop)


def drop_send_log_from_backups(library: Library) -> None:
    """Delete the send log from all automatic backups.

    Raises:
        StoreProblem: A backup cannot be written.
    """
    _rewrite_or_raise(library, lambda rows: {**rows, "sent": [], "sent_since": []})


def _rewrite_or_raise(library: Library, change: Callable[[UserRows], UserRows]) -> None:
    try:
        _rewrite(list_backup_files(library), change)
    except OSError as error:
        raise StoreProblem(
            f"The automatic backups cannot be changed: {error.strerror}",
            hint=f"Delete the folder {library.state_dir / BACKUP_FOLDER} yourself.",
        ) from error


def _rewrite(
    files: list[Path], change: Callable[[UserRows], UserRows]
) -> list[UserRows]:
    """Write each of `files` again with the rows that `change` returns; return these.

    A file that cannot be read is deleted, because nobody can say what it contains.
    """
    rewritten = []
    for file in files:
        try:
            rows = load_backup_rows(file)
        except StoreProblem:
            file.unlink(missing_ok=True)
            continue
        changed = change(rows)
        if changed != rows:
            lines = _encode_lines(changed)
            digest = sha256(b"".join(lines)).hexdigest()
            _write(file, digest, lines, file.stat().st_mtime)
        rewritten.append(changed)
    return rewritten


def _drop_expired(rows: UserRows, now: float) -> UserRows:
    """Return `rows` without threads that were deleted more than `KEPT_DAYS` days ago."""
    expired = find_expired_threads(rows, now - KEPT_DAYS * _DAY_SECONDS)
    if not expired:
        return rows
    turns = [row for row in rows["turn"] if row.get("thread_id") not in expired]
    threads = [row for row in rows["thread"] if row.get("id") not in expired]
    return {**rows, "thread": threads, "turn": turns}


def _encode_lines(rows: UserRows) -> list[bytes]:
    return [_encode_line(table, row) for table in _TABLES for row in rows[table]]


def _encode_line(table: str, row: Row) -> bytes:
    values = {name: value for name, value in row.items() if name != "n"}
    line = json.dumps([table, values], separators=(",", ":"), default=_decode_damaged)
    return line.encode() + b"\n"


def _decode_damaged(value: object) -> str:
    """Return bytes, which a damaged row has in the place of a text, as text."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else ""


def _write(file: Path, digest: str, lines: list[bytes], now: float) -> None:
    """Write a backup atomically; only its owner can read it."""
    header = json.dumps({"format": _FORMAT, "digest": digest}).encode() + b"\n"
    content = COMPRESSIONS[file.suffix].compress(b"".join((header, *lines)))
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=".writing-")
    try:
        with os.fdopen(handle, "wb") as opened:
            opened.write(content)
            opened.flush()
            os.fsync(opened.fileno())
        os.utime(name, (now, now))
        Path(name).replace(file)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _rotate(library: Library) -> None:
    for leftover in (library.state_dir / BACKUP_FOLDER).glob(".writing-*"):
        leftover.unlink(missing_ok=True)
    files = list_backup_files(library)
    most = library.database.stat().st_size * _LIBRARY_SHARE
    for file in _select_superfluous(files, most):
        file.unlink(missing_ok=True)


def _select_superfluous(files: list[Path], most: float) -> Iterator[Path]:
    """Yield the oldest of `files` until they are few, and small, enough."""
    sizes = [file.stat().st_size for file in files]
    for index, file in enumerate(files):
        remaining = len(files) - index
        is_large = sum(sizes[index:]) > most and remaining > _LEAST_FILES
        if remaining <= KEPT_FILES and not is_large:
            return
        yield file


def _unreadable(file: Path, reason: str) -> StoreProblem:
    return StoreProblem(
        f"{file} cannot be read: {reason}",
        hint="Use a backup written by `lrwr backup`: `lrwr restore FILE`.",
    )
