"""CanonService: the only way in which lrwr changes what the writer has decided."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from lrwr.core.canon.decision import (
    CanonChange,
    Decision,
    DecisionRecord,
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
from lrwr.core.model.errors import SettingsProblem, StoreProblem

LOCK_TIMEOUT = 10.0
"""Seconds to wait for another process that decides; it holds the lock for a moment."""

_PAUSE = 0.01


class ProcessLock(Protocol):
    """Held by one process at a time."""

    def acquire(self) -> bool:
        """Take the lock without waiting; False when another holds it.

        Raises:
            OSError: The lock cannot be made.
        """
        ...

    def release(self) -> None:
        """Let go. Safe to call twice."""
        ...


class CanonService:
    """Reads the writer's decisions, adds to them, and takes them back.

    Calls block, for milliseconds: a screen makes them in a thread. Any number of
    processes may decide at once, each with a lock of its own over the same file.
    `prepare` makes the folder that holds history and lock; only a change calls it.
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
        """The canon file, whether it exists or not."""
        return self._file.path

    def load(self) -> Canon:
        """Return all that is decided; nothing when there is no file.

        Raises:
            SettingsProblem: The file is broken, or cannot be read.
        """
        return self._file.load()

    def decide(self, decision: Decision) -> CanonChange:
        """Write the decision down; one that changes nothing is not written.

        Raises:
            SettingsProblem: The file is broken, or the decision says nothing.
            StoreProblem: The file or its history cannot be written.
        """
        # Imported here: reading decisions, which every command does, writes no TOML.
        from lrwr.core.canon.serializer import serialize_canon

        with self._alone():
            text = self._file.text()
            before = self._file.canon(text)
            change = CanonChange(before, apply_decision(before, decision))
            if not change:
                return change
            new = serialize_canon(text, change.after)
            when = datetime.fromtimestamp(self._now(), UTC)
            self._settled(text)
            self._history.add_decision(
                DecisionLogEntry(decision, when, TextEdit.between(text, new))
            )
            self._file.write(new)
        return change

    def undo(self) -> Decision | None:
        """Take the last decision back and return it; None when there is none.

        The file is then what it was before, byte for byte.

        Raises:
            SettingsProblem: The file was changed by hand since, and would lose that.
            StoreProblem: The file or its history cannot be read or written.
        """
        if not self._history.exists():
            return None
        with self._alone():
            text = self._file.text()
            undo_stacks = self._settled(text)
            if not undo_stacks.done:
                return None
            last = undo_stacks.done[-1]
            if hash_canon_text(text) != last.edit.after:
                raise self._changed("undo", last.decision)
            self._history.add_undo()
            self._file.write(last.edit.undone(text))
        return last.decision

    def redo(self) -> Decision | None:
        """Make the decision that was undone last again; None when there is none.

        Raises:
            SettingsProblem: The file was changed by hand since, and would lose that.
            StoreProblem: The file or its history cannot be read or written.
        """
        if not self._history.exists():
            return None
        with self._alone():
            text = self._file.text()
            undo_stacks = self._settled(text)
            if not undo_stacks.undone:
                return None
            last = undo_stacks.undone[-1]
            if hash_canon_text(text) != last.edit.before:
                raise self._changed("redo", last.decision)
            self._history.add_redo()
            self._file.write(last.edit.redone(text))
        return last.decision

    def history(self) -> tuple[DecisionRecord, ...]:
        """Return the decisions made here, oldest first, then those that were undone.

        Raises:
            StoreProblem: The history cannot be read.
        """
        undo_stacks, _ = self._history.stacks(self._file.text())
        entries = [(entry, False) for entry in undo_stacks.done]
        entries += [(entry, True) for entry in reversed(undo_stacks.undone)]
        return tuple(
            DecisionRecord(e.decision, e.when, undone) for e, undone in entries
        )

    def _settled(self, text: str | None) -> UndoStacks:
        undo_stacks, word = self._history.stacks(text)
        self._history.mend(word)
        return undo_stacks

    def _changed(self, verb: str, decision: Decision) -> SettingsProblem:
        return SettingsProblem(
            f"{self.path.name} was changed by hand since, and {verb} would lose that"
            f" ({format_decision(decision).rstrip('.')})",
            hint="Edit the file yourself, or fetch an older one from version control.",
        )

    @contextmanager
    def _alone(self) -> Iterator[None]:
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
                        "Another run of lrwr does not let go of your decisions",
                        hint="End it, then decide again; nothing was decided.",
                    )
                time.sleep(_PAUSE)
        except OSError as error:
            raise StoreProblem(
                f"The decisions cannot be locked: {error.strerror}",
                hint="Check the disk and your rights there, or set `state_dir`.",
            ) from error
