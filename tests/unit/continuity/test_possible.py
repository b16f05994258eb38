"""Contradictions of which rules are not sure."""

import pytest

from lrwr.core.continuity.contradictions import find_contradictions
from tests.unit.continuity.readers import found, read, told


def possible(one: str, two: str) -> list[tuple[str, str, str, str]]:
    """What is found and marked as possible."""
    contradictions = find_contradictions(read(one, two), with_possible=True)
    return [
        told(contradiction)
        for contradiction in contradictions
        if contradiction.possible
    ]


@pytest.mark.parametrize(
    ("one", "two", "attribute", "values"),
    [
        (
            "Bram Ottley came in. His blue eyes were dull.",
            "Bram Ottley sat down, his brown eyes on the ground.",
            "eyes",
            ("blue", "brown"),
        ),
        (
            "In the last house of all, if you could find it, lived Bram Ottley, forty"
            " years of age.",
            "Bram Ottley, fifty years old, came out into the rain.",
            "age",
            ("forty", "fifty"),
        ),
        (
            "In the last house of all, if you could find it, lived Bram Ottley, forty"
            " years of age.",
            "Bram Ottley was thirty years old.",
            "age",
            ("forty", "thirty"),
        ),
    ],
)
def test_values_of_one_character_that_exclude_each_other_are_possible_contradictions(
    one: str, two: str, attribute: str, values: tuple[str, str]
) -> None:
    assert possible(one, two) == [("Bram Ottley", attribute, *values)]
    assert found(one, two) == [], "they are not reported for certain"


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (
            "In the last house, at the time, lived Bram Ottley, forty years of age.",
            "Ten years later Bram Ottley, fifty years old, came out.",
        ),
        ("Bram Ottley was forty years old.", "When Bram was fifty years old, he left."),
        (
            "Bram Ottley came in. His blue eyes were dull.",
            "“Bram has brown eyes,” said Mags.",
        ),
        (
            "Bram Ottley came in. His blue eyes were dull.",
            "Bram Ottley came in. His eyes were pale blue.",
        ),
        (
            "Bram Ottley came in. His black hair was wet.",
            "Bram Ottley came in. His grey hair was wet.",
        ),
    ],
)
def test_leaps_of_time_speech_shades_and_greying_are_no_contradiction(
    one: str, two: str
) -> None:
    assert possible(one, two) == []


def test_what_is_certain_is_not_reported_as_possible_again() -> None:
    one, two = "Bram Ottley had blue eyes.", "Bram Ottley had brown eyes."
    assert found(one, two) == [("Bram Ottley", "eyes", "blue", "brown")]
    assert possible(one, two) == []
