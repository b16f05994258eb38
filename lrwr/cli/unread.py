"""Refusing to search what was never read."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lrwr.wiring import Services


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
