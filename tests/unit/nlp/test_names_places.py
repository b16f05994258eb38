"""Short names."""

import pytest

from lrwr.core.nlp.names.lexicon import is_same_given_name, is_short_for


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
