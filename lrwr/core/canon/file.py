"""The canon file `lrwr.canon.toml`, and the log of decisions for undo and redo."""

import json
import os
import stat
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from os import fsync
from pathlib import Path
from typing import Any, get_args

from lrwr.core.canon.decision import Decision, DocumentTypeSet, PointOfViewSet
from lrwr.core.canon.model import Canon, ManuscriptLocation
from lrwr.core.canon.parser import parse_canon
from lrwr.core.model.documents import DocumentType
from lrwr.core.model.errors import SettingsProblem, StoreProblem
from lrwr.core.model.untrusted_text import InvalidText, parse_json, read_limited_file
from lrwr.core.settings.library import create_private_file

CANON_HISTORY_FILE_NAME = "canon-history.jsonl"
"""Name of the file of a `DecisionLog` in the state folder."""

MAX_CANON_BYTES = 4 * 1024 * 1024
"""Maximum size of the file in bytes; a decision takes about 50."""


class CanonFile:
    """Reads and writes the canon file of one library; a missing file means no
    decisions.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def text(self) -> str | None:
        """Return the file's text unchanged; None if there is no file.

        Raises:
            SettingsProblem: It cannot be read, is no regular UTF-8 file, exceeds
                `MAX_CANON_BYTES`, or is a link to outside its folder.
        """
        try:
            mode = self._target().stat().st_mode
            if not stat.S_ISREG(mode):
                raise SettingsProblem(
                    f"{self.path} is not a regular file", hint="Move or delete it."
                )
            with self._target().open("rb") as file:
                content = file.read(MAX_CANON_BYTES + 1)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise SettingsProblem(
                f"{self.path} cannot be read: {error.strerror}",
                hint="Check the permissions of the file.",
            ) from error
        return self._decode(content)

    def load(self) -> Canon:
        """Return all decisions in the file; an empty canon if there is no file.

        Raises:
            SettingsProblem: The file is invalid or cannot be read.
        """
        return self.canon(self.text())

    def canon(self, text: str | None) -> Canon:
        """Parse `text` as if it were the content of this file; None gives an empty
        canon.

        The file is not read; its path is used in error messages.

        Raises:
            SettingsProblem: The text is invalid.
        """
        return Canon() if text is None else parse_canon(text, str(self.path))

    def write(self, text: str | None) -> None:
        """Replace the file's content by `text` atomically; None deletes the file.

        Raises:
            SettingsProblem: The file is a link to outside its folder.
            StoreProblem: The folder cannot be written to.
        """
        try:
            if text is None:
                self._target().unlink(missing_ok=True)
            else:
                _write_atomically(self._target(), text.encode())
        except OSError as error:
            raise StoreProblem(
                f"{self.path} cannot be written: {error.strerror}",
                hint="Check the free disk space and the permissions. Nothing was changed.",
            ) from error

    def _target(self) -> Path:
        if not self.path.is_symlink():
            return self.path
        target = self.path.resolve()
        if target.is_relative_to(self.path.parent.resolve()):
            return target
        raise SettingsProblem(
            f"{self.path} is a link to a file outside its folder",
            hint="Replace the link with the file itself.",
        )

    def _decode(self, content: bytes) -> str:
        if len(content) > MAX_CANON_BYTES:
            raise SettingsProblem(
                f"{self.path} is larger than {MAX_CANON_BYTES // 1024**2} MB",
                hint="Delete everything that is not a decision.",
            )
        try:
            return content.decode()
        except UnicodeDecodeError as error:
            raise SettingsProblem(
                f"{self.path} is not valid UTF-8", hint="Save the file as UTF-8."
            ) from error


def _write_atomically(path: Path, content: bytes) -> None:
    mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else 0o644
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(mode)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


_MAX_LOG_BYTES = 64 * 1024 * 1024
_DELETE_LOG = "Delete this file. Your decisions remain; only the undo history is lost."
_UNDONE, _REDONE = "undone", "redone"


@dataclass(frozen=True, slots=True)
class TextEdit:
    """One replacement in a text: `removed` by `inserted` at offset `at`, in characters.

    `before` and `after` are the hashes of the whole text before and after the edit (see
    `hash_canon_text`); `before` is empty if there was no file.
    """

    at: int
    removed: str
    inserted: str
    before: str
    after: str

    @classmethod
    def between(cls, old: str | None, new: str) -> "TextEdit":
        """Return the shortest single edit that turns `old` into `new`.

        `old` is None if the file did not exist.
        """
        old_text = old or ""
        start = _common_length(old_text, new)
        end = _common_length(old_text[start:][::-1], new[start:][::-1])
        return cls(
            start,
            old_text[start : len(old_text) - end],
            new[start : len(new) - end],
            hash_canon_text(old),
            hash_canon_text(new),
        )

    def undone(self, text: str | None) -> str | None:
        """Return the text before the edit, given the `text` after it; the hashes are
        not checked.

        None if there was no file before the edit.
        """
        return self._swap(text, self.inserted, self.removed) if self.before else None

    def redone(self, text: str | None) -> str:
        """Return the text after the edit, given the `text` before it; the hashes are
        not checked.

        `text` is None if there is no file.
        """
        return self._swap(text, self.removed, self.inserted)

    def _swap(self, text: str | None, old: str, new: str) -> str:
        full_text = text or ""
        return full_text[: self.at] + new + full_text[self.at + len(old) :]


@dataclass(frozen=True, slots=True)
class DecisionLogEntry:
    """A decision, the time `when` it was made, with its time zone, and how it edited
    the canon file.
    """

    decision: Decision
    when: datetime
    edit: TextEdit


@dataclass(slots=True)
class UndoStacks:
    """Decisions in effect (`done`) and undone ones (`undone`).

    The last of `done` is the next to undo, the last of `undone` the next to redo.
    """

    done: list[DecisionLogEntry] = field(default_factory=list)
    undone: list[DecisionLogEntry] = field(default_factory=list)


class DecisionLog:
    """An append-only file with one JSON line per decision, undo and redo.

    A line is written before the canon file changes. If a crash prevents that change,
    `stacks` notices it, and `mend` appends a line that reverts it.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def exists(self) -> bool:
        """Return whether the log file exists."""
        return self._path.exists()

    def stacks(self, now: str | None) -> tuple[UndoStacks, str]:
        """Return the undo stacks, and the name of an event that the log lacks.

        Only a crash causes one: the log was written, but not the canon file. The event
        ("undone" or "redone") reverts the last line of the log; it is empty if nothing
        is missing. The stacks include it; `mend` stores it. `now` is the current text
        of the canon file, None if there is no file.

        Raises:
            StoreProblem: The log cannot be read or is damaged.
        """
        undo_stacks, last = UndoStacks(), ""
        for number, line in enumerate(self._lines(), start=1):
            try:
                last = _replay(parse_json(line), undo_stacks)
            except (ValueError, LookupError, TypeError, AttributeError) as error:
                raise self._damage_problem(number) from error
        word = _find_missing_event(undo_stacks, last, hash_canon_text(now))
        if word:
            _apply_event(word, undo_stacks)
        return undo_stacks, word

    def add_decision(self, entry: DecisionLogEntry) -> None:
        """Append a decision; decisions undone before can no longer be redone.

        Raises:
            StoreProblem: The log cannot be read or written.
        """
        kind = type(entry.decision).__name__
        self._append(
            {
                "decided": kind,
                "says": asdict(entry.decision),
                "when": entry.when.astimezone(UTC).isoformat(timespec="seconds"),
                "edit": asdict(entry.edit),
            }
        )

    def add_undo(self) -> None:
        """Append the event that the last decision in effect is undone.

        Raises:
            StoreProblem: The log cannot be read or written.
        """
        self._append({"what": _UNDONE})

    def add_redo(self) -> None:
        """Append the event that the decision undone last is redone.

        Raises:
            StoreProblem: The log cannot be read or written.
        """
        self._append({"what": _REDONE})

    def mend(self, word: str) -> None:
        """Append `word`, the event that `stacks` returned; nothing if it is empty.

        Raises:
            StoreProblem: The log cannot be read or written.
        """
        if word:
            self._append({"what": word})

    def _lines(self) -> list[str]:
        try:
            content = read_limited_file(self._path, _MAX_LOG_BYTES)
        except FileNotFoundError:
            return []
        except OSError as error:
            raise self._io_problem(error) from error
        except InvalidText as error:
            raise StoreProblem(
                f"{self._path} cannot be read: {error}", hint=_DELETE_LOG
            ) from error
        # A last line without a line end was interrupted while writing: ignore it.
        lines = content[: content.rfind(b"\n") + 1]
        return lines.decode(errors="replace").splitlines()

    def _append(self, event: Mapping[str, object]) -> None:
        line = json.dumps(event, separators=(",", ":")) + "\n"
        try:
            with suppress(FileExistsError):
                create_private_file(self._path)
            with self._path.open("ab+") as file:
                size = file.seek(0, 2)
                file.seek(0)
                complete_size = file.read().rfind(b"\n") + 1
                if complete_size < size:
                    file.truncate(complete_size)
                file.write(line.encode())
                file.flush()
                fsync(file.fileno())
        except OSError as error:
            raise self._io_problem(error) from error

    def _io_problem(self, error: OSError) -> StoreProblem:
        return StoreProblem(
            f"{self._path} cannot be read or written: {error.strerror}",
            hint="Check the free disk space and the permissions. Nothing was changed.",
        )

    def _damage_problem(self, line: int) -> StoreProblem:
        return StoreProblem(
            f"{self._path}:{line}: the history of decisions is damaged",
            hint=_DELETE_LOG,
        )


def hash_canon_text(text: str | None) -> str:
    """Return the SHA-256 of `text` in UTF-8, in hexadecimal; empty if `text` is
    None.
    """
    return "" if text is None else sha256(text.encode()).hexdigest()


def _replay(event: Mapping[str, Any], undo_stacks: UndoStacks) -> str:
    if "decided" in event:
        undo_stacks.done.append(_parse_entry(event))
        undo_stacks.undone.clear()
        return _REDONE
    word = str(event["what"])
    _apply_event(word, undo_stacks)
    return word


def _apply_event(word: str, undo_stacks: UndoStacks) -> None:
    if word == _UNDONE:
        undo_stacks.undone.append(undo_stacks.done.pop())
    elif word == _REDONE:
        undo_stacks.done.append(undo_stacks.undone.pop())
    else:
        raise ValueError(word)


def _find_missing_event(undo_stacks: UndoStacks, last: str, now: str) -> str:
    """Return the event that reverts the last one if it never reached the canon file."""
    if last == _REDONE and undo_stacks.done[-1].edit.before == now:
        return _UNDONE
    if last == _UNDONE and undo_stacks.undone[-1].edit.after == now:
        return _REDONE
    return ""


def _parse_entry(event: Mapping[str, Any]) -> DecisionLogEntry:
    return DecisionLogEntry(
        decision=_parse_decision(str(event["decided"]), dict(event["says"])),
        when=datetime.fromisoformat(event["when"]),
        edit=TextEdit(**event["edit"]),
    )


def _parse_decision(kind: str, fields: dict[str, Any]) -> Decision:
    if kind == DocumentTypeSet.__name__:
        fields["type"] = DocumentType(fields["type"])
    if kind == PointOfViewSet.__name__:
        fields["place"] = ManuscriptLocation(**fields["place"])
    kinds = {
        decision_class.__name__: decision_class for decision_class in get_args(Decision)
    }
    decision: Decision = kinds[kind](**{k: _freeze(v) for k, v in fields.items()})
    return decision


def _freeze(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


def _common_length(parts: Iterable[str], other: Iterable[str]) -> int:
    count = 0
    for a, b in zip(parts, other, strict=False):
        if a != b:
            break
        count += 1
    return count
