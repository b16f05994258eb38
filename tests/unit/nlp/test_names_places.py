"""Places of the story, and short names."""

import pytest

from lrwr.core.model.certainty import Certainty
from lrwr.core.model.text import Span
from lrwr.core.nlp.facts.places import find_places
from lrwr.core.nlp.names.evidence import gather
from lrwr.core.nlp.names.nicknames import is_short_for, same_given


def test_places_are_told_by_what_stands_before_them() -> None:
    text = "They lived in Thole. Rain fell in Thole. “Go,” said Nell at Ness Gate. "
    places = find_places([gather(text, [Span(0, len(text))])])

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
    assert same_given(name, short)


def test_names_that_only_begin_alike_are_two() -> None:
    assert not same_given("Mary", "Martin")
    assert not same_given("Nell", "Neville")
