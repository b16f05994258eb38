"""Counted things: a draft with another number than the story."""

import pytest

from lrwr.core.drafting.thing_check import compare_counts
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


@pytest.mark.parametrize(
    ("draft", "found"),
    [
        ("“I had that boat nine years,” Toby told the lane once, and asked.", []),
        (
            "For nine years Toby had driven the oil cart down the lane.",
            [("nine years", "twelve years")],
        ),
    ],
)
def test_a_time_needs_a_word_in_the_clauses_of_both(
    draft: str, found: list[tuple[str, str]]
) -> None:
    story = (
        "Toby had gone down the lane in three years, as he told the cart, and asked"
        " once.\n\nFor twelve years Toby had driven the oil cart down the lane."
    )
    assert differing(draft, story) == found


def test_the_closest_sentence_of_the_story_is_shown() -> None:
    story = "Two keys lay about.\n\nMags wore five keys on a loop of tape."
    compared = compare_counts(
        DRAFT, {STORY: story, DRAFT: "The loop of tape held four keys."}
    )
    (row,) = compared.differing
    span = row.other.sentence
    assert story[span.start : span.end] == "Mags wore five keys on a loop of tape."
    assert compared.compared == 1


def test_the_story_comes_before_a_note() -> None:
    note, draft = DocumentId("notes/n.md"), "Mags looked for the four keys."
    texts = {note: "Mags has five keys.", STORY: "Mags had three keys.", DRAFT: draft}
    (row,) = compare_counts(DRAFT, texts, before=[STORY]).differing
    assert row.document == STORY


def test_two_numbers_of_the_story_are_both_shown() -> None:
    story = "Six rungs led up.\n\nNell saw six rungs in the ladder. Seven rungs of the ladder."
    (row,) = compare_counts(
        DRAFT, {STORY: story, DRAFT: "The ladder has nine rungs."}
    ).differing
    assert row.also is not None
    assert {row.other.value, row.also[1].value} == {6, 7}


@pytest.mark.parametrize(
    ("draft", "found"),
    [
        (
            "She rang the five strokes for first bell.",
            [("five strokes", "Two strokes")],
        ),
        ("She counted the five strokes.", []),
    ],
)
def test_one_of_many_numbers_needs_a_word_beside_both(
    draft: str, found: list[tuple[str, str]]
) -> None:
    story = (
        "Two strokes for first bell.\n\nShe chalked four strokes on the slate, and they"
        " were there still when the tide had gone, and nobody had counted.\n\n"
        "He swam with six strokes."
    )
    assert differing(draft, story) == found


def test_what_the_next_sentence_counts_is_found() -> None:
    story = "Mags kept hens for the eggs. There were nine of them, and a cock."
    assert differing("The eleven hens ran.", story) == [("eleven hens", "nine hens")]
    assert differing("The eleven hens ran.", "Hens ran. Nine of them fell.") == []
