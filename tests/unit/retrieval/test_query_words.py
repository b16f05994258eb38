import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrwr.core.model.text import Span
from lrwr.core.retrieval.query_words import (
    MAX_PHRASES,
    extract_adjacent_words,
    extract_quoted_phrases,
    extract_search_words,
    find_topic_words,
    has_search_words,
    hide_names,
)
from lrwr.core.retrieval.retrievers import (
    DENSE_WEIGHT,
    LOW_COVERAGE_DENSE_WEIGHT,
    compute_dense_weight,
)


@pytest.mark.parametrize(
    ("question", "phrases"),
    [
        ("Who says “To be or not to be”?", ["To be or not to be"]),
        ('Who is "Nell’s\n great-grandfather"?', ["Nell’s great-grandfather"]),
        ('"the mill" or “The Mill”', ["the mill"]),
        ('Where is "the old mill"?', ["the old mill"]),
        ("Where is «the mill»?", ["the mill"]),
        ("What is a “fathom”?", []),
        ("What did Nell's aunt say?", []),
        ('An "open quote', []),
    ],
)
def test_a_quoted_text_of_two_words_is_a_phrase(
    question: str, phrases: list[str]
) -> None:
    assert extract_quoted_phrases(question) == phrases


@pytest.mark.parametrize(
    ("question", "searched"),
    [
        ("Will", True),
        ("May’s", True),
        ("Where is Will?", True),
        ("will", False),
        ("The", False),
        ("Who was he?", False),
        ("Will he?", False),
        ("Where was I?", False),
    ],
)
def test_a_function_word_that_is_a_name_is_searched(
    question: str, searched: bool
) -> None:
    assert has_search_words(question) is searched


def test_names_that_are_function_words_are_searched_beside_others() -> None:
    assert extract_search_words("Who hates Will’s aunt?") == ["hates", "will", "aunt"]
    assert extract_search_words("Will the tide turn?") == ["tide", "turn"]
    assert extract_search_words("Who was he?") == ["who", "was", "he"]


def test_adjacent_words_hold_a_content_word() -> None:
    assert extract_adjacent_words("Who is at the red door?") == ["the red", "red door"]


@given(st.text(max_size=200))
def test_any_question_yields_few_terms(question: str) -> None:
    assert len(extract_quoted_phrases(question)) <= MAX_PHRASES
    assert all(len(pair.split()) == 2 for pair in extract_adjacent_words(question))


@pytest.mark.parametrize(
    ("question", "topic"),
    [
        ("What does Nell say to Mags?", []),
        ("What does Nell say to Mags about the fog?", ["fog"]),
        ("What are the first words that Nell says?", []),
        ("What do the characters say about Mrs. Tallow?", []),
    ],
)
def test_the_topic_of_a_question_about_saying(question: str, topic: list[str]) -> None:
    start = question.index("Nell") if "Nell" in question else 0
    names = [Span(start, start + 4)] if "Nell" in question else []
    assert find_topic_words(question, names) == topic


@pytest.mark.parametrize(
    ("question", "hidden"),
    [
        (
            "Why does Mrs. Gannet hide Nell's lantern?",
            "Why does they hide their lantern?",
        ),
        (
            "Did she say why he would grant a house to Grant?",
            "Did she say why he would grant a house to they?",
        ),
        ("What does Nell say to Mags?", None),
        ("Who lights the lantern?", None),
    ],
)
def test_names_are_hidden_unless_a_question_is_about_nothing_else(
    question: str, hidden: str | None
) -> None:
    assert hide_names(question) == (hidden or question)


@given(st.text(max_size=80).filter(lambda text: text == text.lower()))
def test_a_question_without_capitals_has_no_names(question: str) -> None:
    assert hide_names(question) == question


@pytest.mark.parametrize(
    ("coverage", "weight"),
    [
        (1.0, DENSE_WEIGHT),
        (0.85, DENSE_WEIGHT),
        (0.45, LOW_COVERAGE_DENSE_WEIGHT),
        (0.0, LOW_COVERAGE_DENSE_WEIGHT),
    ],
)
def test_embeddings_weigh_more_where_words_are_missing(
    coverage: float, weight: float
) -> None:
    assert compute_dense_weight(coverage) == pytest.approx(weight)
    assert compute_dense_weight(0.6) > compute_dense_weight(0.7)
