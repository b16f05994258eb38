"""Opening the story bible for a command."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lrwr.wording.stories import READ_IT, nobody_evaluated, nothing_known
from lrwr.wording.stories import how_to_read as how_to_read

if TYPE_CHECKING:
    import typer

    from lrwr.cli.output import Output
    from lrwr.core.bible.values import Bible
    from lrwr.core.settings.values import Settings


def story_bible(
    context: "typer.Context", as_of: str | None
) -> "tuple[Bible, Output, Settings]":
    """Return what is known up to `as_of`, the output, and the settings.

    Raises:
        NotFound: Nothing has been ingested here, or there is no such place.
    """
    from lrwr.cli.begin import begin
    from lrwr.cli.running import run_async

    settings, output = begin(context)
    return run_async(bible_of(settings, output, as_of)), output, settings


async def bible_of(
    settings: "Settings", output: "Output", as_of: str | None = None
) -> "Bible":
    """Return what is known up to `as_of`; None means everything.

    Raises:
        NotFound: Nothing has been ingested here, or there is no such place.
    """
    from lrwr.wiring import open_services

    async with open_services(settings, say=output.story) as services:
        services.require_library()
        service = services.bible()
        horizon = None if as_of is None else await service.horizon(as_of)
        return await service.read(horizon)


def one_name(words: Sequence[str] | None) -> str:
    """Return the words of a command as the one name they are."""
    return " ".join(words or ()).strip()


def say_nothing(output: "Output", what: str, as_of: str | None, remedy: str) -> None:
    """Say that there is nothing to show, and what to try; see `how_to_read`."""
    output.story(nothing_known(what, as_of, remedy))


def say_who_reads(output: "Output", bible: "Bible", what: str) -> None:
    """Say of what only a language model can tell that none has."""
    if told := nobody_evaluated(bible, what):
        output.story(told)
        output.story(READ_IT)
