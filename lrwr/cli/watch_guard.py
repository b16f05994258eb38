"""Contradictions that a save brings in, told while the writer writes."""

import asyncio
from typing import TYPE_CHECKING

from lrwr.core.bible.project import Knowledge
from lrwr.core.continuity.guard import contradictions
from lrwr.core.continuity.values import Contradiction
from lrwr.core.model.chunks import Pipeline
from lrwr.core.model.errors import LrwrError

if TYPE_CHECKING:
    from lrwr.cli.output import Output
    from lrwr.core.continuity.pairs import Pair
    from lrwr.wiring import Services


class Guard:
    """Knows which contradictions were told; what is intended is none.

    Where a language model reads each save, it judges the pairs that a save brings in.
    """

    def __init__(self, services: "Services", output: "Output") -> None:
        self._services = services
        self._output = output
        self._told: frozenset[str] = frozenset()
        self._pairs: frozenset[Pair] = frozenset()

    async def news(self, calls_made: int | None = None) -> tuple[Contradiction, ...]:
        """Return those that were not there when this was last asked.

        `calls_made` is what the save has asked a model already; None asks it nothing.
        A library that cannot be read has no news, and that is said.
        """
        if self._services.settings.pipeline is not Pipeline.AGENTIC:
            return ()
        try:
            known = await self._services.bible().knowledge()
            ruled = await asyncio.to_thread(contradictions, known)
            found = [*ruled, *await self._judged(known, ruled, calls_made)]
        except LrwrError as error:
            self._output.warn(f"Contradictions were not looked for. {error}")
            return ()
        slips = [one for one in found if not one.intended]
        new = tuple(one for one in slips if one.id not in self._told)
        self._told = frozenset(one.id for one in slips)
        return new

    async def _judged(
        self,
        known: Knowledge,
        ruled: tuple[Contradiction, ...],
        calls_made: int | None,
    ) -> tuple[Contradiction, ...]:
        """Return what a model finds in pairs that are new, and found in all others."""
        settings = self._services.settings
        if settings.model.use == "off" or settings.watch.model != "on-save":
            return ()
        from lrwr.core.continuity.pairing import pairs
        from lrwr.core.continuity.verdicts import verdict

        every = await asyncio.to_thread(pairs, known)
        fresh = [one for one in every if one not in self._pairs]
        left = 0 if calls_made is None else max(0, settings.watch.calls - calls_made)
        judge = self._services.judge(asking=left > 0, calls=left)
        if judge is None:
            return ()
        self._pairs = frozenset(every)
        if left:
            session = await judge.judge(fresh)
            if session.unjudged and session.stopped:
                self._output.warn(f"Not all was judged. {session.stopped}")
        kept = await judge.kept(every)
        judged = [(one, kept[one]) for one in every if one in kept]
        return verdict(judged, known, judge.name, ruled).found
