"""What a statement has that the whole story has nowhere, or in another chapter."""

import pytest

from lrwr.core.adapters.source.text import find_sentence_spans
from lrwr.core.attribution.details import stem_words
from lrwr.core.evidence.comparison import compare_with_text
from lrwr.core.evidence.later_check import (
    find_foreign_names,
    find_other_chapter,
    list_absent_words,
)
from lrwr.core.evidence.results import CheckedStory, ComparedPassage
from lrwr.core.model.choices import Pipeline
from lrwr.core.model.chunks import Passage
from lrwr.core.model.documents import DocumentType
from lrwr.core.retrieval.story import StoryOrder
from tests.fakes.records import a_chunk
from tests.unit.evidence.test_statements import read

TEXT = "Nell rowed from Thole to the mill with the ledger and a mule."
STORY = CheckedStory(
    StoryOrder({}, (), {}),
    Pipeline.NAIVE,
    (("Nell", "Nell Tallow"), ("Hob",)),
    stems=stem_words(f"{TEXT} Nell Tallow Hob"),
)


@pytest.mark.parametrize(
    ("sentence", "foreign"),
    [
        ("Nell rows from Lisbon to the mill.", ["Lisbon"]),
        ("Nell rows from Thole’s mill.", []),
        ("Nell is a Victorian girl who knows the English marsh.", []),
        ("The boats of Lisbon are blue.", []),
        ("I thought of Lisbon when I wrote about Nell.", []),
        ("Nell’s novel is a cousin of Middlemarch.", []),
    ],
)
def test_a_name_that_the_story_has_nowhere_is_shown(
    sentence: str, foreign: list[str]
) -> None:
    (statement,) = read(sentence)
    assert [d.stated for d in find_foreign_names(statement, STORY)] == foreign


def test_a_misspelt_word_of_a_name_is_shown_with_the_name() -> None:
    (statement,) = read("Nell’s boat is old, and Tallou rows it to Lisbon.")
    names = [(d.stated, d.found) for d in find_foreign_names(statement, STORY)]
    assert names == [("Tallou", "Nell Tallow"), ("Lisbon", "")]


def test_words_that_the_story_has_in_no_form_are_listed() -> None:
    (statement,) = read("Nell rowed the mules to 3 mills with her parrot.")
    assert list_absent_words(statement, STORY) == ("parrot",)


@pytest.mark.parametrize(
    ("sentence", "found"),
    [
        ("In chapter 5 Nell rows to the mill with a mule.", "chapter 2"),
        ("In chapter 2 Nell rows to the mill with a mule.", None),
        ("By chapter 5 Nell has rowed to the mill with a mule.", None),
        ("In chapter 5 Nell sings.", None),
    ],
)
def test_another_chapter_than_that_of_the_passage_is_shown(
    sentence: str, found: str | None
) -> None:
    (statement,) = read(sentence)
    visible = []
    for chapter, text in ((2, TEXT), (5, "Hob slept in the fog.")):
        passage = Passage(a_chunk(text), DocumentType.SCENE, chapter, "", 1, 1.0)
        compared = compare_with_text(statement.text, text, find_sentence_spans)
        assert compared is not None
        visible.append(ComparedPassage(passage, compared, None, True, text))
    difference = find_other_chapter(statement, STORY, visible)
    assert (difference.found if difference else None) == found
