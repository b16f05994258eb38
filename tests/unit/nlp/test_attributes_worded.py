"""Looks, births and lives in more wordings than the plainest."""

import pytest

from lrwr.core.adapters.source.text import find_sentence_spans
from lrwr.core.model.facts import Certainty
from lrwr.core.nlp.facts.attributes import find_attribute_facts
from lrwr.core.nlp.text.prose import annotate_prose


def claims(text: str) -> list[tuple[str, str, str]]:
    prose = annotate_prose(text, find_sentence_spans, ("Nell", "Mags"))
    return [
        (f.subject, f.detail("attribute"), f.value) for f in find_attribute_facts(prose)
    ]


@pytest.mark.parametrize(
    ("text", "attribute", "value"),
    [
        ("Nell’s eyes, green as glass, shone.", "eyes", "green"),
        ("Nell’s eyes were of a pale green.", "eyes", "green"),
        ("Nell, with her green eyes, looked up.", "eyes", "green"),
        ("Nell, whose eyes were green, looked up.", "eyes", "green"),
        ("All saw the green eyes of Nell.", "eyes", "green"),
        ("The light fell on Nell’s eyes, which were green.", "eyes", "green"),
        ("Nell’s hair, black as coal, shone.", "hair", "black"),
        ("Nell’s red curls were wet.", "hair", "red"),
        ("Nell, with her red hair, came in.", "hair", "red"),
        ("Nell, whose hair was red, came in.", "hair", "red"),
        ("Nell had a mop of red hair.", "hair", "red"),
        ("Rain fell on the red hair of Nell.", "hair", "red"),
        ("Nell was a green-eyed girl.", "build", "green-eyed"),
        ("Nell was still alive.", "life", "alive"),
        ("Nell was born on the third of May, 1801.", "born", "the third of May, 1801"),
        ("Nell was born on a Tuesday.", "born", "a Tuesday"),
        ("Nell was in her twenty-first year.", "age", "twenty"),
        ("Being now in her tenth year, Nell could read.", "age", "nine"),
        ("Nell was in her forty-third year.", "age", "forty-two"),
    ],
)
def test_looks_births_and_lives_are_read_in_many_wordings(
    text: str, attribute: str, value: str
) -> None:
    assert claims(text) == [("Nell", attribute, value)]


@pytest.mark.parametrize(
    "text",
    [
        "He looked at Nell with his green eyes.",
        "Mags stood by Nell, with her green eyes.",
        "Was Nell still alive?",
        "If Nell was alive, nobody knew.",
        "Nell was born to be hanged.",
        "Nell was more dead than alive.",
        "Nell was seen by the grey eyes of his soul.",
        "Nell's grey eyes of the soul saw it.",
    ],
)
def test_what_belongs_to_somebody_else_or_is_not_said_is_left_out(text: str) -> None:
    assert claims(text) == []


def test_those_eyes_are_of_the_only_one_who_was_just_named() -> None:
    text = "He wished Nell well. He had not liked it, with those green eyes."
    (fact,) = find_attribute_facts(annotate_prose(text, find_sentence_spans, ("Nell",)))
    assert (fact.subject, fact.value) == ("Nell", "green")
    assert fact.certainty is Certainty.PROBABLE
    two = "He wished Nell and Mags well. He saw it, with those green eyes."
    assert claims(two) == []
