"""What a statement says of the same thing or character otherwise than the text."""

import pytest

from lrwr.core.adapters.source.text import find_sentence_spans
from lrwr.core.evidence.attribute_check import (
    find_attribute_differences,
    find_count_and_kin_differences,
)
from lrwr.core.evidence.results import CheckedStory, KnownAttribute, KnownRelation
from lrwr.core.model.choices import Pipeline
from lrwr.core.retrieval.story import StoryOrder

CAST = (("Nell", "Nell Tallow"), ("Mr. Lusk", "Lusk"))
STORY = CheckedStory(
    StoryOrder({}, (), {}),
    Pipeline.AGENTIC,
    CAST,
    attributes=(
        KnownAttribute(CAST[0], "age", ("twelve", "thirteen")),
        KnownAttribute(CAST[0], "eyes", ("brown",)),
        KnownAttribute(CAST[1], "age", ("past seventy",)),
    ),
    relations=(KnownRelation(CAST[0], CAST[1], "uncle"),),
)
PASSAGES = [
    "In the middle of the room sat the marsh lantern. It was brass and squat.",
    "The match caught blue along the edge. Mr. Lusk kept a stick with a silver collar.",
    "The mule had no name. The cat, whose name was Remainder, slept.",
    "Mr. Lusk lowered his voice, being deaf in the left ear.",
    "The door of the mill was red; the door of the church was green.",
    "Nell carried fourteen cans up the ladder to the lamp room.",
    "Everybody wanted to see Thole. It was only seventeen miles from the church.",
    "The coach made twenty miles before noon.",
    "Old Mr. Lusk had kept the keys for thirteen years.",
    "The church by the dyke was built in 1776.",
]


def differences(statement: str, subject: str = "") -> list[tuple[str, str]]:
    parts = (statement, PASSAGES, find_sentence_spans, STORY, subject)
    rows = [
        *find_attribute_differences(*parts),
        *find_count_and_kin_differences(*parts),
    ]
    return [(row.stated, row.found) for row in rows]


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("The marsh lantern is squat and made of silver.", ("silver", "brass")),
        ("A match is lit, and it catches green along the edge.", ("green", "blue")),
        ("Mr. Lusk walks with a stick with a gold collar.", ("gold", "silver")),
        ("Lusk is deaf in the right ear.", ("right", "left")),
        ("The mule is called Duchess.", ("Duchess", "no name")),
        ("The cat is named Reminder.", ("Reminder", "Remainder")),
        ("Nell is eleven.", ("eleven", "twelve")),
        ("Nell has blue eyes.", ("blue", "brown")),
        ("Up the ladder of the lamp room Nell takes six cans.", ("six", "fourteen")),
        ("Mr. Lusk is Nell’s father.", ("father", "uncle")),
        ("Nell is Lusk’s sister.", ("sister", "uncle")),
        ("Thole is twenty miles from the church.", ("twenty", "seventeen")),
        (
            "The church by the dyke was built in seventeen eighty-five.",
            ("seventeen eighty-five", "1776"),
        ),
    ],
)
def test_another_value_of_the_same_thing_is_shown_with_both(
    statement: str, expected: tuple[str, str]
) -> None:
    assert differences(statement) == [expected]


@pytest.mark.parametrize(
    "statement",
    [
        "Mr. Lusk is Nell’s uncle.",
        "Nell is Lusk’s niece.",
        "Nell drank from six cans.",
        "Nell carries a dozen lamps and about fifteen cans up the lamp room’s ladder.",
        "The marsh lantern is made of brass.",
        "The marsh lantern stands on a silver table.",
        "Nell walks with a stick with a gold collar.",
        "The door of the church is green.",
        "The door of the inn is blue.",
        "Nell is twelve. Nell has brown eyes.",
        "Nell is nine years older than her brother.",
        "The dog is called Duchess.",
        "The cat is called Remainder.",
        "Mr. Lusk is seventy-four.",
        "Old Mr. Lusk is seventy-four years old.",
        "Thole is seventeen miles from the church.",
        "The church by the dyke was built in seventeen seventy-six.",
        "The church by the dyke was built in the 1770s.",
        "The church by the dyke is 1,096 days older.",
        "Everybody at the church drove twenty miles.",
    ],
)
def test_the_same_value_or_another_thing_is_no_difference(statement: str) -> None:
    assert differences(statement) == []


def test_a_pronoun_means_the_character_of_the_sentence_before() -> None:
    assert differences("She is eleven.", "Nell") == [("eleven", "twelve")]
    assert differences("She is eleven.") == []
