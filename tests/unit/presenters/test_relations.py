"""Relationships as text."""

from lrwr.app.presenters.story import render_relations
from lrwr.app.presenters.text import shorten_excerpt
from lrwr.core.bible.values import CharacterRelation, TextEvidence
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.facts import RULES_KEEPER, Certainty
from lrwr.core.model.text import LineRange, Span


def places(number: int) -> tuple[TextEvidence, ...]:
    return tuple(
        TextEvidence(
            DocumentId("1.md"),
            (Span(n, n + 1),),
            "her brother",
            LineRange(n + 1, n + 1),
            1,
            "",
            1,
            RULES_KEEPER,
            Certainty.VERIFIED,
        )
        for n in range(number)
    )


def lines(number: int, shown: int | None = 3) -> list[str]:
    relation = CharacterRelation(
        "Nell", "Corin", "brother", "", places(number), Certainty.VERIFIED
    )
    rendered = render_relations([relation], shown=shown)
    return [
        "".join(getattr(piece, "text", str(piece)) for piece in line.pieces)
        for line in rendered
    ]


def test_three_places_of_a_relationship_are_shown_and_the_others_counted() -> None:
    assert [line.count("her brother") for line in lines(3)] == [0, 1, 1, 1]
    assert len(lines(5)) == 5
    assert lines(5)[-1] == "and 2 more"


def test_all_places_are_shown_where_there_is_room() -> None:
    assert len(lines(5, shown=None)) == 6


def test_an_excerpt_after_a_quotation_begins_without_its_closing_mark() -> None:
    assert shorten_excerpt("” said his sister") == "said his sister"
    assert shorten_excerpt("“Six,” said Mags") == "“Six,” said Mags"
    assert shorten_excerpt('"Six" is said') == '"Six" is said'
