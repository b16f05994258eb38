"""Characters and things of the world as cards: every claim with its words."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from lrwr.cli.clean import one_line
from lrwr.cli.stream import Styled
from lrwr.core.bible.telling import (
    NO_READER,
    name_of_chapter,
    not_evaluated,
    place_of,
    relation_in_words,
    told_by_models,
)
from lrwr.core.model.certainty import Certainty

if TYPE_CHECKING:
    from lrwr.cli.output import Output
    from lrwr.cli.stream import Piece
    from lrwr.core.bible.values import (
        Bible,
        CharacterProfile,
        Claim,
        Evidence,
        Gap,
        Relation,
        WorldElement,
    )

EXCERPT = 200
"""Characters of a claim's words that are shown."""


def list_characters(bible: "Bible", output: "Output") -> None:
    """List everyone."""
    rows: list[list[Piece]] = [
        [
            profile.name,
            _others(profile),
            str(profile.gender),
            f"{profile.mentions:,}",
            Styled(_first(profile), "place"),
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
    output.answer(
        Styled(profile.name, "strong"), Styled(f"  {profile.certainty}", "faint")
    )
    _show_who(profile, output)
    for claim in profile.attributes:
        show_claim(f"{claim.label}: ", claim, output)
    for label, claims in told_by_models(profile):
        for claim in claims:
            show_claim(f"{label}: ", claim, output)
    if missing := not_evaluated(profile, bible):
        output.answer(f"{', '.join(missing).capitalize()}: {NO_READER}")
    own = [r for r in bible.relations if profile.name in (r.source, r.target)]
    show_relations(own, output)
    show_open(profile.open_gaps, output)


def list_world(bible: "Bible", output: "Output") -> None:
    """List the things of the world."""
    rows: list[list[Piece]] = [
        [
            element.name,
            ", ".join(dict.fromkeys(c.value for c in element.element_types)),
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
    certainty = Styled(f"  {element.certainty}", "faint")
    output.answer(Styled(element.name, "strong"), certainty)
    for claim in element.element_types:
        show_claim("what: ", claim, output)
    for claim in element.descriptions:
        show_claim("", claim, output)
    for claim in element.connected_characters:
        show_claim("with: ", claim, output)


def show_claim(label: str, claim: "Claim", output: "Output") -> None:
    """Show a claim, how sure it is, and the words that it rests on."""
    sure = "you decided" if claim.decided else str(claim.certainty)
    output.answer(label, excerpt(claim.value), Styled(f"  {sure}", "faint"), indent=2)
    show_words(claim.evidence, output, besides=claim.value)


def show_words(
    evidence: "Iterable[Evidence]", output: "Output", besides: str = ""
) -> None:
    """Show words with their places; those that are `besides` once more are left out."""
    for one in evidence:
        words = excerpt(one.text)
        place = Styled(one_line(place_of(one)), "place")
        same = words == excerpt(besides)
        output.answer(place, "" if same else f"  “{words}”", indent=6)


def show_relations(relations: "Sequence[Relation]", output: "Output") -> None:
    """Show who is what to whom."""
    for relation in relations:
        lead, told = relation_in_words(relation)
        output.answer(
            f"{lead}: {told}",
            Styled(f"  {relation.certainty}", "faint"),
            indent=2,
        )
        show_words(relation.evidence, output)


def show_open(gaps: "Sequence[Gap]", output: "Output") -> None:
    """Show open gaps with their ids."""
    for gap in gaps:
        output.answer(
            Styled(gap.id, "place"), f"  not defined: {gap.attribute}", indent=2
        )


def excerpt(text: str) -> str:
    """Return a text on one line, cut at a word."""
    line = " ".join(text.split())
    if len(line) <= EXCERPT:
        return line
    return line[:EXCERPT].rsplit(" ", 1)[0] + " …"


def _show_who(profile: "CharacterProfile", output: "Output") -> None:
    others = _others(profile)
    if others:
        output.answer(f"also {others}", indent=2)
    times = "once" if profile.mentions == 1 else f"{profile.mentions:,} times"
    told = [f"mentioned {times}"]
    if profile.gender_certainty is not Certainty.NOT_EVALUATED:
        told.append(f"{profile.gender} ({profile.gender_certainty})")
    if profile.narrator:
        told.append("tells the story")
    if profile.because:
        told.append(profile.because)
    output.answer("; ".join(told), indent=2)
    if profile.first_seen is not None:
        output.answer(
            "first seen ",
            Styled(_first(profile), "place"),
            Styled(f"  {name_of_chapter(profile.first_seen)}", "faint"),
            indent=2,
        )


def _others(profile: "CharacterProfile") -> str:
    return ", ".join(f.name for f in profile.aliases if f.name != profile.name)


def _first(profile: "CharacterProfile") -> str:
    first = profile.first_seen
    return one_line(place_of(first)) if first is not None else ""


def _place_of_first(element: "WorldElement") -> str:
    parts = (element.element_types, element.descriptions, element.connected_characters)
    places = [words for claims in parts for claim in claims for words in claim.evidence]
    return one_line(place_of(places[0])) if places else ""
