"""The second half of a watch: weaving what was read, and telling what that brought."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from lrwr.core.model.errors import LrwrError, StoreProblem
from lrwr.pipeline.report import MODEL_SKIPPED_TEXT, DocumentProblem, IngestReport
from lrwr.pipeline.watch.events import SaveReport, WatchCause, WatchEvent, WatchFailure
from lrwr.pipeline.watch.snapshot import SnapshotJobQueue, SnapshotPage

EmitWatchEvent = Callable[[WatchEvent], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class ReadingRecord:
    """A reading that is done: all can be searched, and nothing is woven yet.

    `weave` brings up to date what follows from it. `began` is in seconds. `asked` says
    whether a language model may have been asked. `problems` and `remarks` are those
    that were not told before.
    """

    cause: WatchCause
    weave: Callable[[], Awaitable[object]]
    page: SnapshotPage
    report: IngestReport
    began: float
    asked: bool
    problems: tuple[DocumentProblem, ...]
    remarks: tuple[str, ...]


class AttemptRunner:
    """Attempts at one kind of work; a failure is told, and once while it lasts.

    `same` says whether the library is still the one that was opened.
    """

    def __init__(self, same: Callable[[], bool]) -> None:
        self._same = same
        self._trouble = ""

    async def make(self, work: Awaitable[int], emit: EmitWatchEvent) -> int:
        """Return what `work` returns; 0 if it fails.

        Raises:
            StoreProblem: The library was replaced.
        """
        try:
            done = await work
        except LrwrError as error:
            if isinstance(error, StoreProblem) and not self._same():
                raise
            if str(error) != self._trouble:
                self._trouble = str(error)
                await emit(WatchFailure(str(error), error.hint))
            return 0
        self._trouble = ""
        return done


class SaveReporter:
    """Weaves what was read and tells it, while the next save is read already.

    Readings that came together are woven together, and told one by one. Those whose
    weaving fails are told with the next. `reading` is held while something is read:
    no weaving begins then.
    """

    def __init__(
        self,
        ledger: SnapshotJobQueue,
        attempts: AttemptRunner,
        clock: Callable[[], float],
    ) -> None:
        self.reading = asyncio.Lock()
        self._ledger = ledger
        self._attempts = attempts
        self._clock = clock
        self._untold: list[ReadingRecord] = []
        self._wanted = asyncio.Event()
        self._weaving = asyncio.Lock()

    def add(self, reading: ReadingRecord) -> None:
        """Have a reading woven and told as soon as may be."""
        self._untold.append(reading)
        self._wanted.set()

    async def go_on(self, emit: EmitWatchEvent) -> None:
        """Weave and tell whatever is added, until cancelled.

        Raises:
            StoreProblem: The library was replaced.
        """
        while True:
            await self._wanted.wait()
            self._wanted.clear()
            await self._attempts.make(self.tell(emit), emit)

    async def tell(self, emit: EmitWatchEvent) -> int:
        """Weave and tell whatever has been added; return how many readings that was.

        Raises:
            SettingsProblem: The file of the writer's decisions is broken.
            StoreProblem: The library cannot be read or written.
        """
        async with self._weaving:
            async with self.reading:
                readings = list(self._untold)
            if readings:
                await readings[-1].weave()
            for one in readings:
                await self._tell(one, emit)
            return len(readings)

    async def _tell(self, one: ReadingRecord, emit: EmitWatchEvent) -> None:
        report = one.report
        failed = {problem.document for problem in report.problems}
        learned = await self._ledger.learned(one.page, report.renamed, failed)
        self._untold.remove(one)
        if report.processed or report.forgotten or one.problems:
            await emit(
                SaveReport(
                    cause=one.cause,
                    learned=learned,
                    seconds=self._clock() - one.began,
                    model=report.model if one.asked else "",
                    usage=report.usage,
                    unread=_is_unread(report, asked=one.asked),
                    problems=one.problems,
                    remarks=one.remarks,
                )
            )


def _is_unread(report: IngestReport, *, asked: bool) -> bool:
    """Say whether a language model is set and has not read all that was read now."""
    left = not asked or any(
        remark.startswith(MODEL_SKIPPED_TEXT) for remark in report.remarks
    )
    return bool(report.model and report.processed and left)
