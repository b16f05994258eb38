"""Making ready to search, and refusing to search what was never read."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lrwr.cli.output import Output
    from lrwr.core.settings.values import Settings
    from lrwr.wiring import Services


@asynccontextmanager
async def searching(
    settings: "Settings", output: "Output", *, as_json: bool
) -> "AsyncIterator[Services]":
    """Lend out services, once the writer knows what a search sends elsewhere.

    Raises:
        NotFound: Nothing has been ingested here, or by another pipeline alone.
    """
    from lrwr.cli.leave import SEARCHING, ask_leave, tell_first_use
    from lrwr.wiring import open_services

    async with open_services(settings, say=output.story) as services:
        await require_passages(services)
        ask_leave(services, output, *SEARCHING, as_json=as_json)
        tell_first_use(services, output, *SEARCHING)
        yield services


async def require_passages(services: "Services") -> None:
    """Make sure that the pipeline in use has read something, if any has.

    Else a search would say of every word that the text does not hold it.

    Raises:
        NotFound: Nothing has been ingested here, or by another pipeline alone.
    """
    from lrwr.core.model.chunks import Pipeline
    from lrwr.core.model.errors import NotFound

    wanted = services.settings.pipeline
    counts = {one: await services.passages.counts(one) for one in Pipeline}
    others = [one for one in Pipeline if one is not wanted and counts[one].documents]
    if counts[wanted].documents or not others:
        return
    raise NotFound(
        f"Pipeline {wanted} has read nothing here, only pipeline {others[0]} has",
        hint=f"Run `lrwr ingest --pipeline {wanted}`; what is known already is kept.",
    )
