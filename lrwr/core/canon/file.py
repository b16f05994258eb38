"""The file `lrwr.canon.toml`, replaced whole, and the log of decisions made here.

The log is what decisions are undone and redone from.
"""

import json
import os
import stat
import tempfile
from collections.abc import Iterable, Mapping
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

MAX_CANON_BYTES = 4 * 1024 * 1024
"""The largest file that is read, in bytes; a decision takes about fifty."""


class CanonFile:
    """One library's canon file. It may be missing; then nothing has been decided."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def text(self) -> str | None:
        """Return what the file says, character for character; None without a file.

        Raises:
            SettingsProblem: It cannot be read, or is a link out of the folder.
        """
        try:
            mode = self._target().stat().st_mode
            if not stat.S_ISREG(mode):
                raise SettingsProblem(
                    f"{self.path} is not an ordinary file", hint="Move it elsewhere."
                )
            with self._target().open("rb") as file:
                content = file.read(MAX_CANON_BYTES + 1)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise SettingsProblem(
                f"{self.path} cannot be read: {error.strerror}",
                hint="Check that the file may be read by you.",
            ) from error
        return self._decoded(content)

    def load(self) -> Canon:
        """Return all that is decided; nothing when there is no file.

        Raises:
            SettingsProblem: The file is broken, or cannot be read.
        """
        return self.canon(self.text())

    def canon(self, text: str | None) -> Canon:
        """Return what `text` decides, `text` being what this file says.

        Raises:
            SettingsProblem: It is broken, or says what no decision means.
        """
        return Canon() if text is None else parse_canon(text, str(self.path))

    def write(self, text: str | None) -> None:
        """Make `text` the whole file, all or nothing; None takes the file away.

        Raises:
            StoreProblem: The folder cannot be written to.
        """
        try:
            if text is None:
                self._target().unlink(missing_ok=True)
            else:
                _replace(self._target(), text.encode())
        except OSError as error:
            raise StoreProblem(
                f"{self.path} cannot be written: {error.strerror}",
                hint="Check the disk and your rights there; nothing was decided.",
            ) from error

    def _target(self) -> Path:
        if not self.path.is_symlink():
            return self.path
        target = self.path.resolve()
        if target.is_relative_to(self.path.parent.resolve()):
            return target
        raise SettingsProblem(
            f"{self.path} is a link out of its folder; it is not followed",
            hint="Put the file itself there.",
        )

    def _decoded(self, content: bytes) -> str:
        if len(content) > MAX_CANON_BYTES:
            raise SettingsProblem(
                f"{self.path} is larger than {MAX_CANON_BYTES // 1024**2} MB",
                hint="Take out what is no decision.",
            )
        try:
            return content.decode()
        except UnicodeDecodeError as error:
            raise SettingsProblem(
                f"{self.path} is not a UTF-8 text", hint="Save it again as UTF-8."
            ) from error


def _replace(path: Path, content: bytes) -> None:
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


_UNDONE, _REDONE = "undone", "redone"


@dataclass(frozen=True, slots=True)
class TextEdit:
    """One stretch of a text, replaced: at character `at`, `removed` by `inserted`.

    `before` and `after` are the digests of the whole text, empty for no file.
    """

    at: int
    removed: str
    inserted: str
    before: str
    after: str

    @classmethod
    def between(cls, old: str | None, new: str) -> "TextEdit":
        """Return the shortest single edit that makes `new` of `old`."""
        old_text = old or ""
        start = _common(old_text, new)
        end = _common(old_text[start:][::-1], new[start:][::-1])
        return cls(
            start,
            old_text[start : len(old_text) - end],
            new[start : len(new) - end],
            hash_canon_text(old),
            hash_canon_text(new),
        )

    def undone(self, text: str | None) -> str | None:
        """Return the text before the edit, `text` being the one after it."""
        return self._swap(text, self.inserted, self.removed) if self.before else None

    def redone(self, text: str | None) -> str:
        """Return the text after the edit, `text` being the one before it."""
        return self._swap(text, self.removed, self.inserted)

    def _swap(self, text: str | None, old: str, new: str) -> str:
        full_text = text or ""
        return full_text[: self.at] + new + full_text[self.at + len(old) :]


@dataclass(frozen=True, slots=True)
class DecisionLogEntry:
    """A decision, and what it did to the file."""

    decision: Decision
    when: datetime
    edit: TextEdit


@dataclass(slots=True)
class UndoStacks:
    """Decisions that hold, and those that were taken back; the last is next in turn."""

    done: list[DecisionLogEntry] = field(default_factory=list)
    undone: list[DecisionLogEntry] = field(default_factory=list)


class DecisionLog:
    """A file of lines, one for each thing that happened; it only grows.

    A line is written before the canon file changes. When the file shows that the
    change never came, `stacks` takes the line back.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def exists(self) -> bool:
        """Say whether anything was ever decided here."""
        return self._path.exists()

    def stacks(self, now: str | None) -> tuple[UndoStacks, str]:
        """Return both stacks, and the word that mends the log, empty if it is right.

        `now` is the text of the canon file.

        Raises:
            StoreProblem: The log cannot be read.
        """
        undo_stacks, last = UndoStacks(), ""
        for number, line in enumerate(self._lines(), start=1):
            try:
                last = _replay(json.loads(line), undo_stacks)
            except (ValueError, LookupError, TypeError, AttributeError) as error:
                raise self._damaged(number) from error
        word = _mending(undo_stacks, last, hash_canon_text(now))
        if word:
            _turn(word, undo_stacks)
        return undo_stacks, word

    def add_decision(self, entry: DecisionLogEntry) -> None:
        """Note a decision; what was undone before it can no longer be redone.

        Raises:
            StoreProblem: The log cannot be written.
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
        """Note that the last decision is taken back."""
        self._append({"what": _UNDONE})

    def add_redo(self) -> None:
        """Note that the last undone decision holds again."""
        self._append({"what": _REDONE})

    def mend(self, word: str) -> None:
        """Note what `stacks` found out; the empty word is nothing."""
        if word:
            self._append({"what": word})

    def _lines(self) -> list[str]:
        try:
            content = self._path.read_bytes()
        except FileNotFoundError:
            return []
        except OSError as error:
            raise self._unusable(error) from error
        lines = content[: content.rfind(b"\n") + 1]  # a torn last line never happened
        return lines.decode(errors="replace").splitlines()

    def _append(self, event: Mapping[str, object]) -> None:
        line = json.dumps(event, separators=(",", ":")) + "\n"
        try:
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
            raise self._unusable(error) from error

    def _unusable(self, error: OSError) -> StoreProblem:
        return StoreProblem(
            f"{self._path} cannot be used: {error.strerror}",
            hint="Check the disk and your rights there; nothing was decided.",
        )

    def _damaged(self, line: int) -> StoreProblem:
        return StoreProblem(
            f"{self._path}:{line}: the history of your decisions is damaged",
            hint="Delete that file: the decisions stay, only undo starts anew.",
        )


def hash_canon_text(text: str | None) -> str:
    """Return what tells one text from another; empty for no file."""
    return "" if text is None else sha256(text.encode()).hexdigest()


def _replay(event: Mapping[str, Any], undo_stacks: UndoStacks) -> str:
    if "decided" in event:
        undo_stacks.done.append(_entry(event))
        undo_stacks.undone.clear()
        return _REDONE
    word = str(event["what"])
    _turn(word, undo_stacks)
    return word


def _turn(word: str, undo_stacks: UndoStacks) -> None:
    if word == _UNDONE:
        undo_stacks.undone.append(undo_stacks.done.pop())
    elif word == _REDONE:
        undo_stacks.done.append(undo_stacks.undone.pop())
    else:
        raise ValueError(word)


def _mending(undo_stacks: UndoStacks, last: str, now: str) -> str:
    """Say what must follow when the last change never reached the canon file."""
    if last == _REDONE and undo_stacks.done[-1].edit.before == now:
        return _UNDONE
    if last == _UNDONE and undo_stacks.undone[-1].edit.after == now:
        return _REDONE
    return ""


def _entry(event: Mapping[str, Any]) -> DecisionLogEntry:
    return DecisionLogEntry(
        decision=_decision(str(event["decided"]), dict(event["says"])),
        when=datetime.fromisoformat(event["when"]),
        edit=TextEdit(**event["edit"]),
    )


def _decision(kind: str, fields: dict[str, Any]) -> Decision:
    if kind == DocumentTypeSet.__name__:
        fields["type"] = DocumentType(fields["type"])
    if kind == PointOfViewSet.__name__:
        fields["place"] = ManuscriptLocation(**fields["place"])
    kinds = {
        decision_class.__name__: decision_class for decision_class in get_args(Decision)
    }
    decision: Decision = kinds[kind](**{k: _frozen(v) for k, v in fields.items()})
    return decision


def _frozen(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


def _common(parts: Iterable[str], other: Iterable[str]) -> int:
    count = 0
    for a, b in zip(parts, other, strict=False):
        if a != b:
            break
        count += 1
    return count
