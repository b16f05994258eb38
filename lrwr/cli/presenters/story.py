"""Characters and things of the world, listed and shown."""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from itertools import groupby

import typer

from lrwr.app.container import open_workspace
from lrwr.app.presenters.story import (
    TURN_ON_MODEL,
    describe_element,
    describe_not_evaluated,
    describe_nothing_known,
    format_first_place,
    format_other_names,
    render_character,
    render_element,
    render_gap,
    render_moment,
    render_relations,
)
from lrwr.app.presenters.text import (
    LinePiece,
    StyledLine,
    StyledText,
    sanitize_line,
    shorten_excerpt,
)
from lrwr.cli.runtime.async_runner import run_async
from lrwr.cli.runtime.output import Output
from lrwr.cli.runtime.session import start_session
from lrwr.core.bible.horizon import normalize_character_name
from lrwr.core.bible.values import (
    AttributedQuote,
    Bible,
    BibleClaim,
    CharacterProfile,
    CharacterRelation,
    Gap,
    SceneSummary,
    TimelineMoment,
    WorldElement,
    format_chapter_name,
    format_evidence_location,
)
from lrwr.core.model.errors import NotFound
from lrwr.core.model.facts import Certainty
from lrwr.core.settings.model import Settings


def list_characters(bible: Bible, output: Output) -> None:
    """List everyone."""
    rows: list[list[LinePiece]] = [
        [
            profile.name,
            format_other_names(profile),
            str(profile.gender),
            f"{profile.mentions:,}",
            StyledText(format_first_place(profile), "place"),
            str(profile.certainty),
        ]
        for profile in bible.characters
    ]
    headings = ["Name", "Also", "Gender", "Mentions", "First seen", "Certainty"]
    output.table(headings, rows, right={"Mentions"})


def show_character(profile: CharacterProfile, bible: Bible, output: Output) -> None:
    """Show all that is known of one character."""
    show_lines(render_character(profile, bible), output)


def list_world(bible: Bible, output: Output) -> None:
    """List the things of the world."""
    rows: list[list[LinePiece]] = [
        [
            element.name,
            describe_element(element),
            ", ".join(c.value for c in element.connected_characters),
            StyledText(_place_of_first(element), "place"),
            str(element.certainty),
        ]
        for element in bible.world
    ]
    headings = ["Name", "What", "Characters", "First", "Certainty"]
    output.table(headings, rows)


def show_element(element: WorldElement, output: Output) -> None:
    """Show all that is known of a thing of the world."""
    show_lines(render_element(element), output)


def show_relations(relations: Sequence[CharacterRelation], output: Output) -> None:
    """Show who is what to whom."""
    show_lines(render_relations(relations), output)


def show_lines(lines: Iterable[StyledLine], output: Output) -> None:
    """Show lines as they are told."""
    for line in lines:
        output.answer(*line.pieces, indent=line.indent)


def _place_of_first(element: WorldElement) -> str:
    parts = (element.element_types, element.descriptions, element.connected_characters)
    places = [words for claims in parts for claim in claims for words in claim.evidence]
    return sanitize_line(format_evidence_location(places[0])) if places else ""


def open_story_bible(
    context: typer.Context, as_of: str | None
) -> tuple[Bible, Output, Settings]:
    """Return what is known up to `as_of`, the output, and the settings.

    Raises:
        NotFound: Nothing has been ingested here, or there is no such place.
    """
    settings, output = start_session(context)
    return run_async(load_bible(settings, output, as_of)), output, settings


async def load_bible(
    settings: Settings, output: Output, as_of: str | None = None
) -> Bible:
    """Return what is known up to `as_of`; None means everything.

    Raises:
        NotFound: Nothing has been ingested here, or there is no such place.
    """
    async with open_workspace(settings, say=output.story) as workspace:
        workspace.require_library()
        service = workspace.bible()
        horizon = None if as_of is None else await service.horizon(as_of)
        return await service.read(horizon)


def join_name(words: Sequence[str] | None) -> str:
    """Return the words of a command as the one name they are."""
    return " ".join(words or ()).strip()


def print_nothing_known(
    output: Output, statement: str, as_of: str | None, remedy: str
) -> None:
    """Say that there is nothing to show, and what to try; see `explain_model_setup`."""
    output.story(describe_nothing_known(statement, as_of, remedy))


def print_not_evaluated(output: Output, bible: Bible, topic: str) -> None:
    """Say of what only a language model can tell that none has."""
    if not_evaluated_text := describe_not_evaluated(bible, topic):
        output.story(not_evaluated_text)
        output.story(TURN_ON_MODEL)


def show_timeline(moments: Sequence[TimelineMoment], output: Output) -> None:
    """Show what happens, chapter by chapter."""
    for chapter, chapter_moments in groupby(
        moments, lambda moment: format_chapter_name(moment.evidence)
    ):
        output.answer(StyledText(chapter, "strong"))
        for moment in chapter_moments:
            show_lines(render_moment(moment), output)
        output.answer()


def show_quotes(quotes: Sequence[AttributedQuote], output: Output) -> None:
    """Show what is said, whole."""
    for quote in quotes:
        is_evaluated = quote.evidence.certainty is not Certainty.NOT_EVALUATED
        certainty_note = f" ({quote.evidence.certainty})" if is_evaluated else ""
        addressee_note = f" to {quote.addressee}" if quote.addressee else ""
        output.answer(
            StyledText(
                sanitize_line(format_evidence_location(quote.evidence)), "place"
            ),
            StyledText(
                f"  {quote.speaker or 'somebody'}{addressee_note}{certainty_note}",
                "faint",
            ),
        )
        output.answer(f"“{quote.evidence.text}”", indent=4)


def show_recap(scenes: Sequence[SceneSummary], output: Output) -> None:
    """Show every scene in short, chapter by chapter."""
    for (number, title), chapter_scenes in groupby(
        scenes, lambda summary: (summary.chapter, summary.chapter_title)
    ):
        name = f"Chapter {number}" if number else "Before chapter 1"
        output.answer(StyledText(f"{name}{f' “{title}”' if title else ''}", "strong"))
        for scene in chapter_scenes:
            _show_scene(scene, output)
        output.answer()


def _show_scene(scene: SceneSummary, output: Output) -> None:
    first, last = scene.lines.first, scene.lines.last
    views = [_view(claim) for claim in scene.points_of_view]
    phrases = [f"scene {scene.scene}"]
    phrases += [f"seen by {', '.join(views)}"] if views else []
    phrases += [f"with {', '.join(scene.present)}"] if scene.present else []
    output.answer(
        StyledText(f"{sanitize_line(scene.document)}:{first}-{last}", "place"),
        StyledText(f"  {'; '.join(phrases)}", "faint"),
        indent=2,
    )
    for claim in scene.recap:
        output.answer(
            claim.value, StyledText(f"  {claim.certainty}", "faint"), indent=4
        )
    if not scene.recap:
        for sentence in scene.key_sentences:
            output.answer(f"“{shorten_excerpt(sentence.text)}”", indent=4)


def _view(claim: BibleClaim) -> str:
    return claim.value if claim.decided else f"{claim.value} ({claim.certainty})"


def show_gaps(gaps: Sequence[Gap], output: Output) -> None:
    """Show what the text leaves open, and what has become of it."""
    for gap in gaps:
        show_lines(render_gap(gap), output)


def find_world_element(name: str, bible: Bible) -> WorldElement:
    """Return the one thing of the world that the writer calls so.

    Raises:
        NotFound: Nothing is called so, or several things are; the hint offers some.
    """
    key, elements = (
        normalize_character_name(name),
        {normalize_character_name(element.name): element for element in bible.world},
    )
    matches = [elements[key]] if key in elements else []
    words = set(key.split())
    matches = matches or [
        element for k, element in elements.items() if words and words <= set(k.split())
    ]
    if len(matches) == 1:
        return matches[0]
    suggestions = [match.name for match in matches[:4]] or get_close_matches(
        name, [element.name for element in bible.world], n=2, cutoff=0.5
    )
    raise NotFound(
        f"{name} may be several things" if matches else f"Nothing is called {name}",
        hint=f"Did you mean {' or '.join(suggestions)}?"
        if suggestions
        else "`lrwr world` lists everything.",
    )
