"""Contradictions that a save brings in, told while the writer writes."""

import asyncio
from typing import TYPE_CHECKING

from lrwr.core.continuity.guard import contradictions
from lrwr.core.continuity.values import Contradiction
from lrwr.core.model.chunks import Pipeline
from lrwr.core.model.errors import LrwrError

if TYPE_CHECKING:
    from lrwr.cli.output import Output
    from lrwr.wiring import Services


class Guard:
    """Knows which contradictions were told; what is intended is none."""

    def __init__(self, services: "Services", output: "Output") -> None:
        self._services = services
        self._output = output
        self._told: frozenset[str] = frozenset()

    async def news(self) -> tuple[Contradiction, ...]:
        """Return those that were not there when this was last asked.

        A library that cannot be read has none, and that is said.
        """
        if self._services.settings.pipeline is not Pipeline.AGENTIC:
            return ()
        try:
            known = await self._services.bible().knowledge()
        except LrwrError as error:
            self._output.warn(f"Contradictions were not looked for. {error}")
            return ()
        found = await asyncio.to_thread(contradictions, known)
        slips = [one for one in found if not one.intended]
        new = tuple(one for one in slips if one.id not in self._told)
        self._told = frozenset(one.id for one in slips)
        return new
