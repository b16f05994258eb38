"""When a watch acts on what it heard. Pure: the time is an argument, in seconds."""

from dataclasses import dataclass, replace
from enum import Enum

LONGEST = 10
"""A save is read after this many debounces, even if files do not come to rest."""


class WatchAction(Enum):
    """What is to be done now, the most urgent first."""

    SAVE = "save"
    """Files changed, and have come to rest."""
    IDLE = "idle"
    """Nothing has changed for long, and a language model may read."""
    SWEEP = "sweep"
    """It is time to look for what nobody told."""


@dataclass(frozen=True, slots=True)
class WatchIntervals:
    """How long to wait, in seconds.

    `debounce` is how long files must be at rest before a save is read, `sweep` the
    time between two sweeps, and `idle` how long nothing may change before a language
    model reads; None where none does so.
    """

    debounce: float
    sweep: float
    idle: float | None = None


@dataclass(frozen=True, slots=True)
class WatchSchedule:
    """What is to be done, and when.

    `first` and `last` are when the events of a save that is not read yet began and
    ended; None when there is none. `stirred` is when something last happened, and
    `unread` says that a language model has something to read since.
    """

    pace: WatchIntervals
    swept: float
    stirred: float
    first: float | None = None
    last: float | None = None
    unread: bool = False

    def touched(self, now: float) -> "WatchSchedule":
        """Note that something happened."""
        first = now if self.first is None else self.first
        return replace(self, first=first, last=now, stirred=now)

    def learned(self, *, unread: bool) -> "WatchSchedule":
        """Note that a save was read, and whether a model has to read it too."""
        return replace(self, unread=self.unread or unread)

    def next_at(self) -> float:
        """Return when something is due, if nothing happens until then."""
        times = [self.swept + self.pace.sweep, self._saved_at(), self._idle_at()]
        return min(time for time in times if time is not None)

    def due(self, now: float) -> WatchAction | None:
        """Return what is due; None while nothing is."""
        saved, idle = self._saved_at(), self._idle_at()
        if saved is not None and now >= saved:
            return WatchAction.SAVE
        if idle is not None and now >= idle:
            return WatchAction.IDLE
        return WatchAction.SWEEP if now >= self.swept + self.pace.sweep else None

    def done(self, due: WatchAction, now: float) -> "WatchSchedule":
        """Note that something due was done, beginning at `now`.

        Whatever is done looks at every file, so that nothing that was heard before it
        began is left to be read.
        """
        rested = replace(self, first=None, last=None, swept=now)
        return replace(rested, unread=False) if due is WatchAction.IDLE else rested

    def _saved_at(self) -> float | None:
        if self.first is None or self.last is None:
            return None
        longest = self.first + LONGEST * self.pace.debounce
        return min(self.last + self.pace.debounce, longest)

    def _idle_at(self) -> float | None:
        if self.pace.idle is None or not self.unread:
            return None
        return self.stirred + self.pace.idle
