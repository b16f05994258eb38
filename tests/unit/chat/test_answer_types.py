"""Which kind of value a question asks for, and whether a passage has one."""

import pytest

from lrwr.core.adapters.source.text import find_sentence_spans
from lrwr.core.bible.values import CharacterRelation
from lrwr.core.chat.extractive.answer_types import (
    describe_missing_value,
    find_kin_asked,
    select_kin,
)
from lrwr.core.model.cast import Gender
from lrwr.core.model.facts import Certainty


def missing(question: str, *texts: str, names: tuple[str, ...] = ()) -> str:
    return describe_missing_value(question, names, texts, find_sentence_spans)


@pytest.mark.parametrize(
    ("question", "text", "kind"),
    [
        ("What colour are Nell's eyes?", "Nell had grey eyes.", "a colour"),
        ("How old is Mags?", "Mags was sixty that winter.", "an age"),
        ("How old is Mags?", "Mags, a woman of forty, laughed.", "an age"),
        ("What is Orla's surname?", "Orla wrote her full name: Orla Pike.", "such a name"),
        ("What is the name of the boat?", "They called the boat Petrel.", "its name"),
        ("In which year did the bell crack?", "It cracked in 1871.", "a year"),
        ("On what day did the reeve come?", "He came on Tuesday.", "a date"),
        ("What time was it?", "It struck four as he came in.", "a time of day"),
        ("How long did Nell stay?", "She stayed three weeks.", "a length of time"),
        ("How much money was lost?", "They lost forty pounds.", "a sum of money"),
        ("How many men drowned?", "Eleven of them drowned.", "a number"),
        ("Which street did he live in?", "He lived in Tallow Street.", "such a name"),
        ("Which village is she from?", "She came from the village of Holm.", "such a name"),
    ],
)  # fmt: skip
def test_a_passage_must_have_the_kind_of_value_asked_for(
    question: str, text: str, kind: str
) -> None:
    assert missing(question, text) == ""
    assert missing(question, "Mags and Nell and Orla walked on in the fog.") == kind


def test_the_value_must_stand_near_the_person_asked_about() -> None:
    text = "Jack had black hair. He sang. He went out. Nell sat down. She waited."
    assert missing("What colour is Nell's hair?", text) == "a colour"
    assert missing("What colour is Jack's hair?", text) == ""


def test_other_names_of_the_person_count() -> None:
    text = "The old lamplighter had white hair."
    assert missing("What colour is Ansel's hair?", text) == "a colour"
    names = ("ansel", "lamplighter")
    assert missing("What colour is Ansel's hair?", text, names=names) == ""


@pytest.mark.parametrize(
    "question", ["Why did Nell leave?", "Who is Mags?", "What does Nell want?"]
)
def test_other_questions_ask_for_no_such_value(question: str) -> None:
    assert missing(question, "Nothing of the kind.") == ""


def relation(source: str, kind: str, target: str) -> CharacterRelation:
    return CharacterRelation(source, target, kind, "", (), Certainty.VERIFIED)


JACK = relation("Jack", "daughter", "Nell")
ANNIS = relation("Annis", "daughter", "Nell")
WIFE = relation("Jack", "wife", "Annis")
MAGS = relation("Nell", "aunt", "Mags")


@pytest.mark.parametrize(
    ("question", "person", "expected"),
    [
        ("Who is Nell's mother?", "Nell", [ANNIS]),
        ("Who are Nell’s parents?", "Nell", [JACK, ANNIS]),
        ("Whose daughter is Nell?", "Nell", [JACK, ANNIS]),
        ("Who is the father of Nell?", "Nell", [JACK]),
        ("Who is Jack's daughter?", "Jack", [JACK]),
        ("Does Jack have a wife?", "Jack", [WIFE]),
        ("Who is Annis's husband?", "Annis", [WIFE]),
        ("Who is Nell's aunt?", "Nell", [MAGS]),
        ("Who is Mags's niece?", "Mags", [MAGS]),
        ("Who is Nell's sister?", "Nell", []),
    ],
)
def test_relatives_are_found_from_both_sides(
    question: str, person: str, expected: list[CharacterRelation]
) -> None:
    asked = find_kin_asked(question)
    assert asked is not None
    relations = [JACK, ANNIS, WIFE, MAGS]
    genders = {"Jack": Gender.MALE, "Nell": Gender.FEMALE}
    assert select_kin(asked, {person}, relations, genders) == expected


@pytest.mark.parametrize(
    "question",
    ["Who killed Nell's father?", "What does Nell's father look like?", "Who is Nell?"],
)
def test_a_relative_who_is_only_named_is_not_asked_for(question: str) -> None:
    assert find_kin_asked(question) is None
