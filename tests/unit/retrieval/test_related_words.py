"""Words that a novel may use in place of those of a question."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrwr.core.model.text import STOP_WORDS
from lrwr.core.retrieval.query_words import (
    MAX_RELATED_WORDS,
    expand_query,
    find_related_words,
)


def test_other_forms_and_related_words_are_found() -> None:
    related = find_related_words(["died", "wife"])
    assert {"dead", "death", "husband", "wives"} <= set(related)
    assert "died" not in related
    assert find_related_words(["lantern"]) == []


def test_words_of_the_question_are_not_repeated() -> None:
    assert "marriage" not in find_related_words(["marriages", "wedding"])


@given(st.lists(st.sampled_from(["die", "home", "money", "letter", "see"])))
def test_related_words_are_bounded_and_new(words: list[str]) -> None:
    related = find_related_words(words)
    assert len(related) <= MAX_RELATED_WORDS
    assert set(words).isdisjoint(related)


@pytest.mark.parametrize(
    ("question", "written"),
    [
        ("Who gets a dowry?", "portion"),
        ("Who eavesdrops?", "listening"),
        ("Where is the luggage?", "trunk"),
        ("Whom does Nell turn down first?", "refused"),
        ("Who runs away?", "fled"),
        ("What does Nell give up?", "renounce"),
    ],
)
def test_words_of_today_lead_to_those_of_a_novel(question: str, written: str) -> None:
    assert written in expand_query(question)


def test_two_words_count_as_one_expression_only_together() -> None:
    assert "refused" not in expand_query("Who turns the corner?")


@pytest.mark.parametrize(
    "topic",
    ["give up", "turn down", "run off", "ought", "narrator", "popular", "future", "predict"],
)  # fmt: skip
def test_no_function_word_is_searched_for(topic: str) -> None:
    related = expand_query(f"Who says “{topic}”?")
    assert STOP_WORDS.isdisjoint(word.lower() for word in related)
