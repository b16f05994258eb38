"""Characters and things of the world, listed and shown."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from lrwr.app.presenters.story import (
    READ_IT,
    character_lines,
    element_lines,
    first_place,
    gap_lines,
    moment_lines,
    nobody_evaluated,
    nothing_known,
    other_names,
    relation_lines,
    what_it_is,
)
from lrwr.app.presenters.story import how_to_read as how_to_read
from lrwr.app.presenters.text import excerpt, one_line
from lrwr.cli.runtime.stream import Styled
from lrwr.core.bible.phrases import name_of_chapter, place_of
from lrwr.core.model.certainty import Certainty

if TYPE_CHECKING:
    import typer

    from lrwr.app.presenters.text import Line
    from lrwr.cli.runtime.output import Output
    from lrwr.cli.runtime.stream import Piece
    from lrwr.core.bible.values import (
        Bible,
        CharacterProfile,
        Claim,
        Gap,
        Moment,
        Quote,
        Relation,
        SceneTold,
        WorldElement,
    )
    from lrwr.core.settings.model import Settings


def list_characters(bible: "Bible", output: "Output") -> None:
    """List everyone."""
    rows: list[list[Piece]] = [
        [
            profile.name,
            other_names(profile),
            str(profile.gender),
            f"{profile.mentions:,}",
            Styled(first_place(profile), "place"),
            str(profile.certainty),
        ]
        for profile in bible.characters
    ]
    headings = ["Name", "Also", "Gender", "Mentions", "First seen", "Certainty"]
    output.table(headings, rows, right={"Mentions"})


def show_character(
    profile: "CharacterProfile", bible: "Bible", output: "Output"
) -> None:
    """Show all that is known of one character."""
    show_lines(character_lines(profile, bible), output)


def list_world(bible: "Bible", output: "Output") -> None:
    """List the things of the world."""
    rows: list[list[Piece]] = [
        [
            element.name,
            what_it_is(element),
            ", ".join(c.value for c in element.connected_characters),
            Styled(_place_of_first(element), "place"),
            str(element.certainty),
        ]
        for element in bible.world
    ]
    headings = ["Name", "What", "Characters", "First", "Certainty"]
    output.table(headings, rows)


def show_element(element: "WorldElement", output: "Output") -> None:
    """Show all that is known of a thing of the world."""
    show_lines(element_lines(element), output)


def show_relations(relations: "Sequence[Relation]", output: "Output") -> None:
    """Show who is what to whom."""
    show_lines(relation_lines(relations), output)


def show_lines(lines: "Iterable[Line]", output: "Output") -> None:
    """Show lines as they are told."""
    for line in lines:
        output.answer(*line.pieces, indent=line.indent)


def _place_of_first(element: "WorldElement") -> str:
    parts = (element.element_types, element.descriptions, element.connected_characters)
    places = [words for claims in parts for claim in claims for words in claim.evidence]
    return one_line(place_of(places[0])) if places else ""


def story_bible(
    context: "typer.Context", as_of: str | None
) -> "tuple[Bible, Output, Settings]":
    """Return what is known up to `as_of`, the output, and the settings.

    Raises:
        NotFound: Nothing has been ingested here, or there is no such place.
    """
    from lrwr.cli.runtime.async_runner import run_async
    from lrwr.cli.runtime.session import begin

    settings, output = begin(context)
    return run_async(bible_of(settings, output, as_of)), output, settings


async def bible_of(
    settings: "Settings", output: "Output", as_of: str | None = None
) -> "Bible":
    """Return what is known up to `as_of`; None means everything.

    Raises:
        NotFound: Nothing has been ingested here, or there is no such place.
    """
    from lrwr.app.container import open_services

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


def show_timeline(moments: "Sequence[Moment]", output: "Output") -> None:
    """Show what happens, chapter by chapter."""
    for chapter, told in groupby(moments, lambda one: name_of_chapter(one.evidence)):
        output.answer(Styled(chapter, "strong"))
        for one in told:
            show_lines(moment_lines(one), output)
        output.answer()


def show_quotes(quotes: "Sequence[Quote]", output: "Output") -> None:
    """Show what is said, whole."""
    for quote in quotes:
        known = quote.evidence.certainty is not Certainty.NOT_EVALUATED
        sure = f" ({quote.evidence.certainty})" if known else ""
        to = f" to {quote.addressee}" if quote.addressee else ""
        output.answer(
            Styled(one_line(place_of(quote.evidence)), "place"),
            Styled(f"  {quote.speaker or 'somebody'}{to}{sure}", "faint"),
        )
        output.answer(f"“{quote.evidence.text}”", indent=4)


def show_recap(scenes: "Sequence[SceneTold]", output: "Output") -> None:
    """Show every scene in short, chapter by chapter."""
    for (number, title), told in groupby(
        scenes, lambda one: (one.chapter, one.chapter_title)
    ):
        name = f"Chapter {number}" if number else "Before chapter 1"
        output.answer(Styled(f"{name}{f' “{title}”' if title else ''}", "strong"))
        for scene in told:
            _show_scene(scene, output)
        output.answer()


def _show_scene(scene: "SceneTold", output: "Output") -> None:
    first, last = scene.lines.first, scene.lines.last
    views = [_view(claim) for claim in scene.points_of_view]
    told = [f"scene {scene.scene}"]
    told += [f"seen by {', '.join(views)}"] if views else []
    told += [f"with {', '.join(scene.present)}"] if scene.present else []
    output.answer(
        Styled(f"{one_line(scene.document)}:{first}-{last}", "place"),
        Styled(f"  {'; '.join(told)}", "faint"),
        indent=2,
    )
    for claim in scene.recap:
        output.answer(claim.value, Styled(f"  {claim.certainty}", "faint"), indent=4)
    if not scene.recap:
        for sentence in scene.key_sentences:
            output.answer(f"“{excerpt(sentence.text)}”", indent=4)


def _view(claim: "Claim") -> str:
    return claim.value if claim.decided else f"{claim.value} ({claim.certainty})"


def show_gaps(gaps: "Sequence[Gap]", output: "Output") -> None:
    """Show what the text leaves open, and what has become of it."""
    for gap in gaps:
        show_lines(gap_lines(gap), output)
