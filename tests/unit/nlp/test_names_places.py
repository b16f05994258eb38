"""Places of the story, and short names."""

import pytest

from lrwr.core.model.facts import Certainty
from lrwr.core.model.text import Span
from lrwr.core.nlp.facts.places import find_place_names
from lrwr.core.nlp.names.evidence import gather_name_evidence
from lrwr.core.nlp.names.name_form import is_same_given_name, is_short_for


def test_places_are_told_by_what_stands_before_them() -> None:
    text = "They lived in Thole. Rain fell in Thole. “Go,” said Nell at Ness Gate. "
    places = find_place_names([gather_name_evidence(text, [Span(0, len(text))])])

    assert [place.name for place in places] == ["Thole", "Ness Gate"]
    assert places[0].mentions == 2
    assert places[0].certainty is Certainty.VERIFIED


@pytest.mark.parametrize(
    ("short", "name"),
    [
        ("Tom", "Thomas"),
        ("Nell", "Eleanor"),
        ("Cass", "Cassandra"),
        ("Vexie", "Vexira"),
    ],
)
def test_a_short_name_stands_for_its_long_one(short: str, name: str) -> None:
    assert is_short_for(short, name)
    assert is_same_given_name(name, short)


def test_names_that_only_begin_alike_are_two() -> None:
    assert not is_same_given_name("Mary", "Martin")
    assert not is_same_given_name("Nell", "Neville")
