"""How contradictions are looked for and shown on the command line."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lrwr.cli.bible_json import evidence
from lrwr.cli.cards import excerpt
from lrwr.cli.clean import one_line
from lrwr.cli.stream import Styled
from lrwr.core.bible.telling import place_of
from lrwr.core.canon.finding import document_named
from lrwr.core.canon.model import plain_path
from lrwr.core.continuity.guard import NOT_READ, contradictions
from lrwr.core.continuity.values import Contradiction, Side, Source

if TYPE_CHECKING:
    from lrwr.cli.output import Output
    from lrwr.core.settings.values import Settings


async def look(
    settings: "Settings",
    output: "Output",
    paths: Sequence[str],
    as_of: str | None = None,
) -> tuple[Contradiction, ...]:
    """Return every contradiction, or those that have a passage in one of `paths`.

    Raises:
        NotFound: Nothing has been ingested here, or there is no such file or place.
    """
    import asyncio

    from lrwr.wiring import open_services

    async with open_services(settings, say=output.story) as services:
        services.require_library()
        service = services.bible()
        horizon = None if as_of is None else await service.horizon(as_of)
        known = await service.knowledge(horizon)
        spelled = {plain_path(one): one for one in known.order.outlines}
        root, here = services.library.root, Path.cwd()
        documents = [
            spelled.get(named, named)
            for named in (
                document_named(path, known=list(spelled), root=root, here=here)
                for path in paths
            )
        ]
        return await asyncio.to_thread(
            contradictions, known, horizon, documents or None
        )


def show(found: Sequence[Contradiction], output: "Output") -> None:
    """Show each with both values, and every passage with its place."""
    for one in found:
        meant = "  intended" if one.intended else ""
        why = f": {one.because}" if one.because else ""
        output.answer(
            Styled(one.id, "place"),
            f"  {one.about}, {one.attribute}: {one.found.value}, not {one.canon.value}",
            Styled(f"{meant}{why if meant else ''}", "faint"),
        )
        for side in (one.canon, one.found):
            _show_side(side, output)
        output.answer()


def _show_side(side: Side, output: "Output") -> None:
    who = "the text" if side.source is Source.TEXT else f"your {side.source}"
    if not side.evidence:
        output.answer(
            Styled("lrwr.canon.toml", "place"), f"  {who}: {side.value}", indent=6
        )
    for one in side.evidence:
        chapter = "" if one.chapter is None else f"ch{one.chapter}  "
        output.answer(
            Styled(one_line(place_of(one)), "place"),
            Styled(f"  {chapter}{who}: ", "faint"),
            f"“{excerpt(one.text)}”",
            indent=6,
        )


def sum_up(
    slips: Sequence[Contradiction], intended: int, output: "Output", *, every: bool
) -> None:
    """Say what to do about it, and what was not looked at."""
    if slips:
        output.story(
            "Change the text or the note and run `lrwr ingest`; or, if it is meant so:"
            f" lrwr check intend {slips[0].id}"
        )
    else:
        output.story("No contradiction is known.")
    if intended and not every:
        output.story(f"{intended} more are intended: --all.")
    output.story(f"Not evaluated: {NOT_READ}.")


def as_json(one: Contradiction) -> dict[str, object]:
    """Return a contradiction for a script."""
    return {
        "id": one.id,
        "about": one.about,
        "attribute": one.attribute,
        "canon": _side(one.canon),
        "found": _side(one.found),
        "intended": one.intended,
        "because": one.because or None,
    }


def _side(side: Side) -> dict[str, object]:
    return {
        "value": side.value,
        "source": side.source,
        "evidence": [evidence(one) for one in side.evidence],
    }
