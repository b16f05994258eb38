"""How contradictions are looked for and shown on the command line."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lrwr.app.presenters.text import excerpt, one_line
from lrwr.cli.presenters.bible_json import evidence
from lrwr.cli.runtime.stream import Styled
from lrwr.core.bible.phrases import place_of
from lrwr.core.bible.projection import Knowledge
from lrwr.core.canon.model import plain_path
from lrwr.core.canon.resolver import document_named
from lrwr.core.continuity.guard import NOT_READ, contradictions
from lrwr.core.continuity.pairs import Pair
from lrwr.core.continuity.values import Contradiction, Side, Source
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.story import Horizon

if TYPE_CHECKING:
    from lrwr.app.container import Services
    from lrwr.cli.runtime.output import Output
    from lrwr.core.settings.model import Settings


@dataclass(frozen=True, slots=True)
class Asked:
    """What is checked: files, all if none are named, and up to which place."""

    paths: Sequence[str] = ()
    as_of: str | None = None


@dataclass(frozen=True, slots=True)
class Scope:
    """What is known, how far it is looked at, and which documents are asked about."""

    known: Knowledge
    horizon: Horizon | None
    documents: tuple[DocumentId, ...] | None

    async def by_rules(self) -> tuple[Contradiction, ...]:
        """Return what rules find, in a thread of its own."""
        return await asyncio.to_thread(
            contradictions, self.known, self.horizon, self.documents
        )

    async def pairs(self) -> tuple[Pair, ...]:
        """Return what a model may judge, in a thread of its own."""
        from lrwr.core.continuity.pair_selection import pairs

        return await asyncio.to_thread(pairs, self.known, self.horizon, self.documents)


async def look(
    settings: "Settings", output: "Output", asked: Asked
) -> tuple[Contradiction, ...]:
    """Return every contradiction that rules find, or those in the files asked about.

    Raises:
        NotFound: Nothing has been ingested here, or there is no such file or place.
    """
    from lrwr.app.container import open_services

    async with open_services(settings, say=output.story) as services:
        return await (await scope_of(services, asked)).by_rules()


async def scope_of(services: "Services", asked: Asked) -> Scope:
    """Read what is known, and find the files and the place that are asked about.

    Raises:
        NotFound: Nothing has been ingested here, or there is no such file or place.
    """
    services.require_library()
    service = services.bible()
    horizon = None if asked.as_of is None else await service.horizon(asked.as_of)
    known = await service.knowledge(horizon)
    spelled = {plain_path(one): one for one in known.order.outlines}
    root, here = services.library.root, Path.cwd()
    named = (
        document_named(path, known=list(spelled), root=root, here=here)
        for path in asked.paths
    )
    documents = tuple(spelled.get(one, one) for one in named)
    return Scope(known, horizon, documents or None)


def show(found: Sequence[Contradiction], output: "Output") -> None:
    """Show each with both values, and every passage with its place."""
    for one in found:
        meant = "  intended" if one.intended else ""
        why = f": {one.because}" if one.because else ""
        output.answer(
            Styled(one.id, "place"),
            f"  {one.about}, {one.attribute}: {_values(one)}",
            Styled(f"{meant}{why if meant else ''}", "faint"),
        )
        if one.judge:
            reason = f": {one_line(one.why)}" if one.why else ""
            output.answer(Styled(f"{one.judge} says so{reason}", "faint"), indent=6)
        for side in (one.canon, one.found):
            _show_side(side, output)
        output.answer()


def _values(one: Contradiction) -> str:
    found, canon = one_line(one.found.value), one_line(one.canon.value)
    if one.judge:
        return f"“{found}”, against “{canon}”"
    return f"{found}, not {canon}"


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
    """Say what to do about it."""
    if slips:
        output.story(
            "Change the text or the note and run `lrwr ingest`; or, if it is meant so:"
            f" lrwr check intend {slips[0].id}"
        )
    else:
        output.story("No contradiction is known.")
    if intended and not every:
        output.story(f"{intended} more are intended: --all.")


def say_rules_alone(settings: "Settings", output: "Output") -> None:
    """Say what rules did not look at, and who could."""
    output.story(f"Not evaluated: {NOT_READ}.")
    how = "`lrwr check --model` has a language model judge some of it"
    on = settings.model.use != "off"
    more = "`--dry-run` says the price first" if on else "`[model] use` turns one on"
    output.story(f"{how}; {more}.")


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
        "judge": one.judge or None,
        "why": one.why or None,
    }


def _side(side: Side) -> dict[str, object]:
    return {
        "value": side.value,
        "source": side.source,
        "evidence": [evidence(one) for one in side.evidence],
    }
