"""Kept answers that a save takes the ground from, told with the save."""

from dataclasses import replace
from typing import TYPE_CHECKING

from lrwr.core.model.documents import DocumentId
from lrwr.core.model.errors import LrwrError
from lrwr.core.retrieval.freshness import AnswerWatch
from lrwr.pipeline.watch_events import Saved, WatchEvent
from lrwr.wording.watched import documents_changed

if TYPE_CHECKING:
    from lrwr.cli.output import Output
    from lrwr.wiring import Services


class KeptAnswers:
    """Looks after the answers of a library, which may not be there yet."""

    def __init__(self, services: "Services", output: "Output") -> None:
        self._services = services
        self._output = output
        self._watch: AnswerWatch | None = None

    async def begin(self) -> None:
        """Take note, before anything is read, of what does not hold already."""
        if not self._services.library.database.exists():
            return
        try:
            await self._opened().begin()
        except LrwrError as error:
            self._complain(error)

    async def told(self, event: WatchEvent) -> WatchEvent:
        """Return an event, a save with the answers that rest on what it changed.

        A library that cannot be read has none, and that is said.
        """
        if not isinstance(event, Saved) or not event.learned.changed:
            return event
        changed = {DocumentId(name) for name in documents_changed(event.learned)}
        renamed = {DocumentId(one.was) for one in event.learned.documents if one.was}
        try:
            unsettled = await self._opened().unsettled(changed | renamed)
        except LrwrError as error:
            self._complain(error)
            return event
        return replace(event, unsettled=unsettled)

    def _opened(self) -> AnswerWatch:
        if self._watch is None:
            services = self._services
            self._watch = AnswerWatch(services.freshness, services.threads)
        return self._watch

    def _complain(self, error: LrwrError) -> None:
        self._output.warn(f"Kept answers were not looked at. {error}")
