"""What the rules read about places."""

import pytest

from lrwr.core.adapters.source.text import find_sentence_spans
from lrwr.core.model.facts import (
    LOCATIVE_DETAIL,
    MENTIONS_DETAIL,
    PART_OF_DETAIL,
    Certainty,
    Fact,
    WorldField,
)
from lrwr.core.nlp.facts.places import find_place_facts
from lrwr.core.nlp.text.prose import annotate_prose


def facts(text: str, known: tuple[str, ...] = ("Nell", "Corin Vale")) -> list[Fact]:
    return list(find_place_facts(annotate_prose(text, find_sentence_spans, known)))


def places(text: str) -> dict[str, tuple[str, str]]:
    """Return mentions and locative uses of each name with a locative use."""
    return {
        fact.subject: (fact.detail(MENTIONS_DETAIL), fact.detail(LOCATIVE_DETAIL))
        for fact in facts(text)
        if fact.field == WorldField.ELEMENT_TYPE
    }


def test_mentions_and_locative_uses_are_counted() -> None:
    text = "He lived in Thole. Nobody liked Thole much. She went to Thole."
    assert places(text) == {"Thole": ("3", "2")}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("They met near Half House. Then it rained.", "Half House"),
        ("He had rooms in Gull-street, above a shop.", "Gull-street"),
        ("They walked to Vale Lodge.", "Vale Lodge"),
        ("It was an hour to walk, Abbey Farm being far.", "Abbey Farm"),
        ("It lies beside the village of Thole.", "Thole"),
    ],
)
def test_a_place_noun_or_the_village_of_makes_a_place_certain(
    text: str, name: str
) -> None:
    (fact,) = facts(text)
    assert (fact.subject, fact.certainty) == (name, Certainty.VERIFIED)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("She dined at Mr. Vale's on Friday.", "Mr. Vale's"),
        ("They went into Corin Vale's studio.", "Corin Vale's studio"),
        ("He waited in the drawing-room.", "the drawing-room"),
        ("He waited in the old library.", "the library"),
        ("He went to the chemist's shop.", "the chemist's shop"),
        ("They entered the assembly room.", "the assembly room"),
        ("They got out at Thole St. Anne, a small station.", "Thole St. Anne"),
    ],
)
def test_houses_of_people_and_common_nouns_after_the(text: str, name: str) -> None:
    assert list(places(text)) == [name]


@pytest.mark.parametrize(
    "text",
    [
        "She saw a change in Nell. He had faith in Nell. “Yes,” said Nell.",
        "He went to Mr. Vale and back to Mr. Vale.",
        "It was in March. In March, in God, in Heaven.",
        "He walked to Nell. Nell’s eyes were grey.",
        "It stood in the Evening Gazette. She read it in _Thole Farewell_ again.",
        "He wrote it in CAPITALS. “In LONDON!” she cried.",
        "Lie down in your bed. Sit down at once.",
        "He went into the next room, and looked at Wren.",
        "They were in Mr. Vale's debt.",
        "He trusted in Ash. Ash said nothing.",
    ],
)
def test_people_months_gods_papers_capitals_are_no_places(text: str) -> None:
    assert places(text) == {}


def test_the_house_of_somebody_by_given_name_is_no_place() -> None:
    assert places("They had gone down to Edward's. She was often at Edward's.") == {}


def test_a_name_without_a_locative_use_is_a_mention() -> None:
    (fact,) = facts("Nobody liked Thole much.")
    assert (fact.field, fact.value, fact.subject) == (WorldField.MENTION, "", "Thole")


def test_a_place_in_another_one_says_so() -> None:
    parents = {
        fact.subject: fact.detail(PART_OF_DETAIL)
        for fact in facts(
            "She sat in the library at Selby. He lived in Gull Street, Thole."
        )
    }
    assert parents["the library"] == "Selby"
    assert parents["Gull Street"] == "Thole"


def test_a_character_who_is_there_is_seen_there() -> None:
    seen = [
        (fact.subject, fact.value)
        for fact in facts("Corin Vale arrived at Thole. He thought of Nell.")
        if fact.field == WorldField.CONNECTED
    ]
    assert seen == [("Thole", "Corin Vale")]
