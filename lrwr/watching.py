"""The service that watches a manuscript, fitted as the settings say."""

import asyncio
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lrwr.core.model.errors import NotFound
from lrwr.core.settings.sync import network_drive
from lrwr.pipeline.watch_events import Cause
from lrwr.reading import Bounds

if TYPE_CHECKING:
    from lrwr.core.ports.job_queue import JobQueue
    from lrwr.core.settings.values import Settings
    from lrwr.pipeline.report import Emit
    from lrwr.pipeline.service import DocumentProcessingService
    from lrwr.pipeline.watch import WatchService
    from lrwr.pipeline.watch_ledger import Ledger
    from lrwr.wiring import Services


def watching(
    services: "Services",
    targets: Sequence[Path],
    *,
    progress: "Emit | None" = None,
    clock: Callable[[], float] = time.monotonic,
) -> "WatchService":
    """Return the service that watches `targets`; `progress` sees it read them.

    Raises:
        StoreProblem: The state folder cannot be made.
        SettingsProblem: A language model is set that cannot be asked.
    """
    from lrwr.core.adapters.source.watched import WatchedFolders
    from lrwr.pipeline.watch import Readers, WatchService
    from lrwr.pipeline.watch_ledger import Ledger
    from lrwr.pipeline.watch_pace import Pace

    settings, watch = services.settings, services.settings.watch
    with_model = settings.model.use != "off"

    def asks(cause: Cause) -> bool:
        return cause is Cause.IDLE or watch.model == "on-save"

    def reader(cause: Cause, jobs: "JobQueue") -> "DocumentProcessingService":
        if not services.library.root.is_dir():  # or it would be made
            raise NotFound(f"There is no folder {services.library.root}")
        bounds = Bounds(
            calls=watch.calls,
            complete=cause is Cause.IDLE or not with_model,
            jobs=jobs,
        )
        return services.processing(targets, asking=asks(cause), bounds=bounds)

    def ledger() -> "Ledger":
        return Ledger(
            services.jobs, services.holdings, services.stories, settings.pipeline
        )

    return WatchService(
        events=WatchedFolders(targets, poll=_why_polled(targets)),
        readers=Readers(reader, asks, ledger, SamePlace(services.library.database)),
        pace=Pace(
            debounce=watch.debounce / 1000,
            sweep=watch.sweep,
            idle=watch.idle if with_model and watch.model == "idle" else None,
        ),
        rest=asyncio.sleep,
        clock=clock,
        progress=progress,
    )


def asks_model(settings: "Settings") -> bool:
    """Say whether a watch ever asks a language model."""
    return settings.model.use != "off" and settings.watch.model != "manual"


class SamePlace:
    """Says whether a file is still the one that it was when it was asked first."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._place: tuple[int, int] | None = None

    def __call__(self) -> bool:
        """Say whether it is; a file that is gone is not."""
        try:
            status = self._path.stat()
        except OSError:
            return False
        place = status.st_dev, status.st_ino
        self._place = self._place or place
        return place == self._place


def _why_polled(targets: Sequence[Path]) -> str:
    drives = ((target, network_drive(target)) for target in targets)
    return next((f"{target} is on {drive}" for target, drive in drives if drive), "")
