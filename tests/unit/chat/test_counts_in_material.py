"""Counts that differ between the texts of an answer's material are pointed out."""

import pytest

from lrwr.core.chat.context.conflicts import find_count_conflicts
from tests.fakes.answered import answer
from tests.fakes.chatting import a_plan, found, paragraphs
from tests.fakes.stories import Book, Stories


def test_texts_with_different_counts_are_named() -> None:
    texts = [
        (2, "There were nineteen rungs in the ladder."),
        (3, "She went down all twenty-one rungs of the ladder."),
        (5, "He counted 19 rungs in the ladder."),
    ]
    (conflict,) = find_count_conflicts(texts)
    assert conflict == ("rungs of the ladder", ((2, "nineteen"), (3, "twenty-one")))


def test_words_that_are_no_numbers_are_no_counts() -> None:
    texts = [
        (1, "The rungs of the ladder."),
        (2, "Wet rungs of the ladder. I steps of the mix."),
    ]
    assert find_count_conflicts(texts) == []


def test_a_part_of_the_whole_is_no_other_count() -> None:
    texts = [
        (1, "The nineteen rungs of the ladder were wet."),
        (2, "She had climbed three rungs of the ladder when it slipped."),
        (3, "The ladder had 19 rungs."),
    ]
    assert find_count_conflicts(texts) == []
    assert find_count_conflicts([*texts, (4, "The ladder has twenty rungs.")]) == [
        ("rungs of the ladder", ((1, "nineteen"), (4, "twenty")))
    ]


@pytest.mark.parametrize(
    "question",
    ["How many rungs has the ladder?", "How many rungs are in the ladder?"],
)
async def test_a_count_asked_for_is_given_with_those_that_contradict_it(
    question: str,
) -> None:
    text = (
        "There were nineteen rungs in the ladder.\n\n"
        "“There are twelve rungs in the ladder,” said Nell.\n\n"
        "The twenty-one rungs of the ladder were wet.\n\n"
        "There were six steps in the tower.\n"
    )
    story = Stories(Book({"1.md": text}))
    result = found(story, passages=paragraphs(story.book, "1.md"))
    told = await answer(story, question, a_plan(), result)
    conflict, count, other = told.text.split("\n\n")
    assert conflict.startswith(
        "The text contradicts itself on ladder, number of rungs:"
    )
    assert "nineteen and twenty-one" in conflict
    assert count.startswith("ladder, number of rungs: nineteen")
    assert other.startswith("ladder, number of rungs: twenty-one")
    assert [c.text for c in told.citations] == [
        "There were nineteen rungs in the ladder.",
        "The twenty-one rungs of the ladder were wet.",
    ]


async def test_one_count_is_the_answer(story_of_a_tower: Stories) -> None:
    passages = paragraphs(story_of_a_tower.book, "1.md")
    result = found(story_of_a_tower, passages=passages)
    question = "How many steps has the tower?"
    told = await answer(story_of_a_tower, question, a_plan(), result)
    assert told.text.startswith("tower, number of steps: forty")
    other = await answer(story_of_a_tower, "How many men came?", a_plan(), result)
    assert "forty" not in other.text


@pytest.fixture
def story_of_a_tower() -> Stories:
    return Stories(Book({"1.md": "The tower had forty steps.\n\nMen came.\n"}))
