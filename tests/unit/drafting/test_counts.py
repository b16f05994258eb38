"""Counted things: a draft with another number than the story."""

import pytest

from lrwr.core.drafting.counts import compare_counts
from lrwr.core.model.documents import DocumentId

DRAFT, STORY = DocumentId("draft.md"), DocumentId("1.md")


def differing(draft: str, story: str) -> list[tuple[str, str]]:
    compared = compare_counts(DRAFT, {STORY: story, DRAFT: draft})
    return [(row.own.words, row.other.words) for row in compared.differing]


@pytest.mark.parametrize(
    ("draft", "story", "found"),
    [
        (
            "She laid the four keys on the cloth.",
            "On the loop hung three iron keys.",
            ("four keys", "three iron keys"),
        ),
        (
            "Twelve steps led down to the water.",
            "He counted the eleven steps.\n\nThen he waited.",
            ("Twelve steps", "eleven steps"),
        ),
        (
            "The road to Market Stowe is twelve miles long.",
            "A road goes inland eleven miles to Market Stowe, and the road is long.",
            ("twelve miles", "eleven miles"),
        ),
        (
            "He often saw ten keys.",
            "He often saw eleven keys.",
            ("ten keys", "eleven keys"),
        ),
        (
            "All 5 windows were dark.",
            "The house has four\nwindows.",
            ("5 windows", "four windows"),
        ),
    ],
)
def test_another_number_of_the_same_things_is_found(
    draft: str, story: str, found: tuple[str, str]
) -> None:
    assert differing(draft, story) == [found]


@pytest.mark.parametrize(
    ("draft", "story"),
    [
        ("She laid four keys down.", "Three keys. Of the four keys one was lost."),
        ("About forty rungs were left.", "The ladder has thirty-eight rungs."),
        ("It was the fourth key of four hooks.", "There were three keys."),
        ("She had two or three apples.", "He stole four apples."),
        ("She waited five minutes.", "He walked for ten minutes."),
        ("A hundred keys would not do.", "There were three keys."),
        ("Four of them were lost.", "There were three keys."),
        ("The keys were three.", "There were four keys."),
    ],
)
def test_the_same_numbers_rough_ones_and_mere_measures_are_left_alone(
    draft: str, story: str
) -> None:
    assert differing(draft, story) == []


def test_the_closest_sentence_of_the_story_is_shown() -> None:
    story = "Two keys lay about.\n\nMags wore five keys on a loop of tape."
    compared = compare_counts(
        DRAFT, {STORY: story, DRAFT: "The loop of tape held four keys."}
    )
    (row,) = compared.differing
    span = row.other.sentence
    assert story[span.start : span.end] == "Mags wore five keys on a loop of tape."
    assert compared.compared == 1
