"""Whom a value in a sentence is said of."""

import re

import pytest

from lrwr.core.adapters.source.text import find_sentence_spans
from lrwr.core.chat.extractive.subjects import Subject, are_related_in
from lrwr.core.model.text import Span

NELL = Subject.of(["nell", "tallow"], ["mags", "hob", "corin", "tallow"])
CORIN = Subject.of(["corin", "mr"], ["nell", "mags"])
MAGS = Subject.of(["mags"], ["nell", "tallow", "hob", "corin"])


def place(text: str, words: str) -> Span:
    match = re.search(re.escape(words), text)
    assert match is not None
    return Span(*match.span())


def owns(text: str, words: str, subject: Subject = NELL) -> bool:
    return subject.owns(text, find_sentence_spans(text), place(text, words))


@pytest.mark.parametrize(
    ("text", "is_hers"),
    [
        ("Nell was a girl of fifteen.", True),
        ("A girl of fifteen was Nell.", True),
        ("Nell sat by Mags, who was fifteen.", False),
        ("Nell's sister was fifteen.", False),
        ("Her aunt was fifteen, Nell said.", False),
        ("Nell came in. She was fifteen.", True),
        ("Nell came in. It rained. Barely fifteen!", True),
        ("Mags came in. She was fifteen.", False),
        ("Nell saw Mags. The wind fell. Hob slept. He was fifteen.", False),
        ("She was fifteen.", False),
        ("Mags Tallow was fifteen.", False),
        ("I was fifteen.", False),
    ],
)
def test_a_value_belongs_to_the_last_person_named_before_it(
    text: str, is_hers: bool
) -> None:
    assert owns(text, "fifteen") is is_hers


def test_the_first_person_is_the_narrator() -> None:
    narrator = Subject.of(["nell"], ["mags"], is_narrator=True)
    assert owns("I was fifteen.", "fifteen", narrator)


def test_somebody_without_a_name_is_known_by_a_noun() -> None:
    painter = Subject.of(["painter"], ["nell"], nouns=["painter"])
    assert owns("The painter had red hair.", "red hair", painter)
    assert not owns("The painter saw Nell, whose red hair shone.", "red hair", painter)


def test_a_pronoun_means_nobody_of_the_other_gender() -> None:
    seen = "Nell had come late, and her father saw little in her dark eyes."
    assert owns(seen, "dark eyes")
    assert not owns("Nell saw Mrs Corin. She had dark eyes.", "dark eyes", CORIN)


def test_a_relative_is_that_of_the_one_asked_about() -> None:
    aunt = Subject.of(["aunt"], ["nell", "mags", "hob"], owner=["nell"])
    assert owns("Nell's aunt was sixty.", "sixty", aunt)
    assert owns("Nell came in. Her aunt was sixty.", "sixty", aunt)
    assert not owns("Hob's aunt was sixty.", "sixty", aunt)
    assert not owns("Hob came in. His aunt was sixty.", "sixty", aunt)


@pytest.mark.parametrize(
    ("text", "words", "is_hers"),
    [
        ("Corin killed Nell with an oar.", "killed", True),
        ("Nell killed Corin with an oar.", "killed", False),
        ("Nell was killed by an oar.", "killed", True),
        ("They spoke of the death of Nell.", "death", True),
    ],
)
def test_what_somebody_suffers_is_told_from_what_they_do(
    text: str, words: str, is_hers: bool
) -> None:
    spans = find_sentence_spans(text)
    assert NELL.suffers(text, spans, place(text, words)) is is_hers


@pytest.mark.parametrize(
    ("text", "are_related"),
    [
        ("Mags, who was Nell's aunt, laughed.", True),
        ("Nell was the niece of Mags.", True),
        ("Nell and Mags were cousins.", True),
        ("Nell called Mags her sister.", True),
        ("Nell is distantly related to Mags.", True),
        ("Nell was my aunt.", True),
        ("Nell walked with Mags, and every sister came, too.", False),
        ("Nell related all that had befallen Mags.", False),
        ("“No brother will do that,” said Nell; and Mags went out.", False),
        ("Nell saw the wife of Hob.", False),
    ],
)
def test_two_people_are_related_by_a_word_that_belongs_to_one_of_them(
    text: str, are_related: bool
) -> None:
    assert are_related_in(text, NELL, MAGS) is are_related


@pytest.mark.parametrize(
    ("text", "is_his"),
    [
        ("Mr Corin came in with his brother.", True),
        ("Mr Corin heard the plan of her brother.", False),
        ("Mr Corin said, “I am glad of your brother.”", False),
    ],
)
def test_another_possessive_means_the_relative_of_another(
    text: str, is_his: bool
) -> None:
    brother = Subject.of(["brother"], ["nell", "mags"], owner=["corin", "mr"])
    assert owns(text, "brother", brother) is is_his
