"""Characters and things of the world, listed and shown."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from lrwr.cli.stream import Styled
from lrwr.core.bible.telling import place_of
from lrwr.wording.cards import (
    character_lines,
    element_lines,
    first_place,
    other_names,
    relation_lines,
    what_it_is,
)
from lrwr.wording.cleaning import one_line

if TYPE_CHECKING:
    from lrwr.cli.output import Output
    from lrwr.cli.stream import Piece
    from lrwr.core.bible.values import Bible, CharacterProfile, Relation, WorldElement
    from lrwr.wording.lines import Line


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
