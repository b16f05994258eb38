"""Values of people are looked for in the whole story, not only in what a search found."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from lrwr.core.adapters.source.text import find_sentence_spans
from lrwr.core.chat.extractive.answer_values import count_values
from lrwr.core.chat.extractive.subjects import ValueQuestion
from lrwr.core.chat.extractive.value_search import build_value_question, order_by_value
from lrwr.core.chat.state import RetrievalResult, TurnQuestion
from lrwr.core.model.chunks import Passage
from lrwr.core.model.documents import Horizon
from tests.fakes.chatting import a_plan, a_shelf, passage
from tests.fakes.stories import Book

OLD = "Mags was a tall woman of sixty, with grey eyes."
TALK = "Mags spoke of the boats. Nobody knew how old they were."
BOOK = Book({"1.md": OLD, "2.md": TALK})
MAGS = ValueQuestion("What does Mags look like?", [["mags"]], ["Mags"])


async def order(question: ValueQuestion, horizon: Horizon | None = None) -> list[str]:
    asked: list[tuple[str, Horizon | None]] = []

    async def search(words: str, until: Horizon | None) -> Sequence[Passage]:
        asked.append((words, until))
        return [passage(BOOK, "2.md", TALK), passage(BOOK, "1.md", OLD)]

    source = replace(a_shelf(BOOK), search_words=search)
    found = [passage(BOOK, "2.md", TALK)]
    ordered = await order_by_value(question, found, source, horizon)
    assert all("mags" in words and until == horizon for words, until in asked)
    return [p.chunk.text for p in ordered]


async def test_a_passage_with_the_value_is_put_before_those_without() -> None:
    assert await order(MAGS) == [OLD, TALK]
    assert await order(replace(MAGS, text="How old is Mags?")) == [OLD, TALK]


async def test_the_story_is_searched_up_to_the_horizon() -> None:
    assert await order(MAGS, Horizon(1)) == [OLD, TALK]


@pytest.mark.parametrize(
    "question",
    [
        replace(MAGS, text="Why does Mags laugh?"),
        replace(MAGS, text="What colour is the boat?", people=[], forms=[]),
    ],
)
async def test_other_questions_get_what_the_search_found(
    question: ValueQuestion,
) -> None:
    assert await order(question) == [TALK]


@pytest.mark.parametrize(
    "text",
    [
        "Mags was tall and very pale.",
        "Mags had seemed rather thin, was very tall, and laughed.",
        "They thought Mags very plain.",
        "Mags, though not handsome, had friends.",
        "Mags was a stout, plain woman.",
        "Mags came in. She had a pleasing face.",
        "Mags's figure was at once slight and plump, her face small.",
    ],
)
def test_looks_are_said_of_somebody(text: str) -> None:
    assert count_values(MAGS, text, find_sentence_spans)


@pytest.mark.parametrize(
    "text",
    [
        "The supper was very handsome, said Mags.",
        "Short was the visit of Mags, and pleasant the meal.",
        "Mags was followed by six children and a stout woman.",
        "Mags took a plain muslin, with a slight glance round the table.",
    ],
)
def test_a_word_for_looks_may_be_said_of_something_else(text: str) -> None:
    assert not count_values(MAGS, text, find_sentence_spans)


@pytest.mark.parametrize(
    ("text", "is_age"),
    [
        ("Mags had lived nearly twenty-one years in the world.", True),
        ("Mags was now in her twenty-first year.", True),
        ("Mags was seven-and-thirty.", True),
        ("Mags came at about half past twelve.", False),
        ("Mags said that it was only ten o clock.", False),
        ("Nobody had seen Mags her three years before.", False),
        ("Mags talked of there being two open boats.", False),
        ("Mags was a middle-aged woman.", False),
        ("Mags, aged about sixty, laughed.", True),
        ("Mags had come about fifteen years ago.", False),
    ],
)
def test_a_time_is_no_age(text: str, is_age: bool) -> None:
    question = replace(MAGS, text="How old is Mags?")
    assert bool(count_values(question, text, find_sentence_spans)) == is_age


def test_a_family_is_known_by_its_surname() -> None:
    text = "Where do the Rooks live?"
    question = TurnQuestion(text, cast=(("Admiral Rook",), ("Nell Tallow",)))
    typed = build_value_question(question, a_plan(), RetrievalResult(), [])
    assert "Rooks" in typed.forms
    lodged = "Mr Rook lived in Tallow Street."
    assert count_values(typed, lodged, find_sentence_spans)


def test_a_place_that_the_question_names_is_no_answer() -> None:
    question = replace(MAGS, text="Where does Mags live in Holm?", topic=["live"])
    for place in ("in Holm", "in the house", "at Nell's expense"):
        text = f"Mags lived {place}."
        assert not count_values(question, text, find_sentence_spans)
    street = "Mags lived in Tallow Street."
    assert count_values(question, street, find_sentence_spans)


def test_may_is_a_month_only_where_it_is_no_verb() -> None:
    question = ValueQuestion("On what date did Mags die?", topic=["die"])
    assert count_values(question, "Mags died in May.", find_sentence_spans)
    assert not count_values(question, "May I die like Mags!", find_sentence_spans)
