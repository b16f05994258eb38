"""CanonService: applies, undoes and redoes decisions of the user."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import UnionType
from typing import Protocol

from lrwr.core.canon.decision import (
    CanonChange,
    Decision,
    DecisionRecord,
    GapDecision,
    NameDecision,
    SlipIntended,
    format_decision,
)
from lrwr.core.canon.file import (
    CanonFile,
    DecisionLog,
    DecisionLogEntry,
    TextEdit,
    UndoStacks,
    hash_canon_text,
)
from lrwr.core.canon.model import Canon
from lrwr.core.canon.reducer import apply_decision
from lrwr.core.model.errors import NotFound, SettingsProblem, StoreProblem

LOCK_TIMEOUT = 10.0
"""Seconds to wait for another process, which holds the lock for milliseconds."""

_PAUSE = 0.01
"""Seconds between two attempts to take the lock."""

KINDS_BY_TOPIC: Mapping[str, type | UnionType] = {
    "characters": NameDecision,
    "gaps": GapDecision,
    "check": SlipIntended,
}
"""Decisions that the command `undo` of each command group undoes."""


class ProcessLock(Protocol):
    """A lock that one process at a time can hold."""

    def acquire(self) -> bool:
        """Try to take the lock without waiting; return False if another process holds
        it.

        Raises:
            OSError: The lock file cannot be created.
        """
        ...

    def release(self) -> None:
        """Release the lock; calling it twice is harmless."""
        ...


class CanonService:
    """Reads and changes the canon file; nothing else in lrwr writes it.

    Calls block for milliseconds, or up to `LOCK_TIMEOUT` seconds while another process
    changes the file. `history` is the path of the log for undo and redo. `lock` creates
    the lock that protects each change. `prepare` creates the folder of the log and the
    lock; it is called before each change. `now` returns seconds since 1970.
    """

    def __init__(
        self,
        path: Path,
        *,
        history: Path,
        lock: Callable[[], ProcessLock],
        prepare: Callable[[], None],
        now: Callable[[], float],
    ) -> None:
        self._file = CanonFile(path)
        self._history = DecisionLog(history)
        self._lock = lock
        self._prepare = prepare
        self._now = now

    @property
    def path(self) -> Path:
        """Path of the canon file, which may not exist."""
        return self._file.path

    def load(self) -> Canon:
        """Return all decisions in the file; an empty canon if there is no file.

        Raises:
            SettingsProblem: The file is invalid or cannot be read.
        """
        return self._file.load()

    def decide(self, decision: Decision) -> CanonChange:
        """Apply `decision` and save it; if it changes nothing, nothing is written.

        Raises:
            SettingsProblem: The file or the decision is invalid.
            StoreProblem: The file or its history cannot be written, or another process
                holds the lock.
        """
        # Imported here because most commands only read decisions and need no tomlkit.
        from lrwr.core.canon.serializer import serialize_canon

        with self._locked():
            text = self._file.text()
            before = self._file.canon(text)
            change = CanonChange(before, apply_decision(before, decision))
            if not change:
                return change
            new = serialize_canon(text, change.after)
            when = datetime.fromtimestamp(self._now(), UTC)
            self._load_stacks(text)
            self._history.add_decision(
                DecisionLogEntry(decision, when, TextEdit.between(text, new))
            )
            self._file.write(new)
        return change

    def undo(self, topic: str = "") -> Decision | None:
        """Undo the last decision in effect and return it; None if there is none.

        The file gets exactly the text that it had before the decision. With a `topic`
        of `KINDS_BY_TOPIC`, only decisions of its kind are undone.

        Raises:
            NotFound: The last decision is of another kind than `topic`.
            SettingsProblem: The file was edited since, and the edit would be lost.
            StoreProblem: The file or its history cannot be read or written, or another
                process holds the lock.
        """
        if not self._history.exists():
            return None
        with self._locked():
            text = self._file.text()
            undo_stacks = self._load_stacks(text)
            if not undo_stacks.done:
                return None
            last = undo_stacks.done[-1]
            if not isinstance(last.decision, KINDS_BY_TOPIC.get(topic, object)):
                raise NotFound(
                    "The last decision is of another kind:"
                    f" “{format_decision(last.decision).rstrip('.')}”",
                    hint="Run `lrwr canon undo` to undo it. Nothing was changed.",
                )
            if hash_canon_text(text) != last.edit.after:
                raise self._edited_problem("undo", last.decision)
            self._history.add_undo()
            self._file.write(last.edit.undone(text))
        return last.decision

    def redo(self) -> Decision | None:
        """Redo the decision that was undone last and return it; None if there is none.

        Raises:
            SettingsProblem: The file was edited since, and the edit would be lost.
            StoreProblem: The file or its history cannot be read or written, or another
                process holds the lock.
        """
        if not self._history.exists():
            return None
        with self._locked():
            text = self._file.text()
            undo_stacks = self._load_stacks(text)
            if not undo_stacks.undone:
                return None
            last = undo_stacks.undone[-1]
            if hash_canon_text(text) != last.edit.before:
                raise self._edited_problem("redo", last.decision)
            self._history.add_redo()
            self._file.write(last.edit.redone(text))
        return last.decision

    def history(self) -> tuple[DecisionRecord, ...]:
        """Return the decisions in effect, oldest first, then the undone ones, the next
        to redo first.

        Empty if no decision was made yet. Edits of the file by hand are not in it.

        Raises:
            SettingsProblem: The canon file cannot be read.
            StoreProblem: The history cannot be read or is damaged.
        """
        undo_stacks, _ = self._history.stacks(self._file.text())
        entries = [(entry, False) for entry in undo_stacks.done]
        entries += [(entry, True) for entry in reversed(undo_stacks.undone)]
        return tuple(
            DecisionRecord(e.decision, e.when, undone) for e, undone in entries
        )

    def _load_stacks(self, text: str | None) -> UndoStacks:
        undo_stacks, word = self._history.stacks(text)
        self._history.mend(word)
        return undo_stacks

    def _edited_problem(self, verb: str, decision: Decision) -> SettingsProblem:
        return SettingsProblem(
            f"{self.path.name} was edited after the decision"
            f" “{format_decision(decision).rstrip('.')}”; {verb} would discard the edit",
            hint="Edit the file yourself, or restore it from version control.",
        )

    @contextmanager
    def _locked(self) -> Iterator[None]:
        self._prepare()
        lock = self._lock()
        try:
            self._wait_for(lock)
            yield
        finally:
            lock.release()

    def _wait_for(self, lock: ProcessLock) -> None:
        end = time.monotonic() + LOCK_TIMEOUT
        try:
            while not lock.acquire():
                if time.monotonic() > end:
                    raise StoreProblem(
                        "Another lrwr process is changing the canon file",
                        hint="Wait until it ends, then try again. Nothing was changed.",
                    )
                time.sleep(_PAUSE)
        except OSError as error:
            raise StoreProblem(
                f"The canon file cannot be locked: {error.strerror}",
                hint="Check the free disk space and the permissions, or set `state_dir`.",
            ) from error
