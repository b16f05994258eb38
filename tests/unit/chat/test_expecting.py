"""A sentence that has the kind of thing asked for is worth more."""

import pytest

from lrwr.core.chat.extractive.question_parts import score_answer_type


@pytest.mark.parametrize(
    ("question", "tells", "does_not"),
    [
        ("When did the lamp fail?", "It failed on Day 720.", "It failed."),
        ("How many cans came?", "Eight cans came.", "The cans came."),
        ("How old is Nell?", "She was twelve.", "She was small."),
        ("Why did Mags lie?", "She lied because of the book.", "She lied."),
    ],
)
def test_a_time_a_number_or_a_reason_is_known_where_it_is_asked_for(
    question: str, tells: str, does_not: str
) -> None:
    assert score_answer_type(question, tells) > score_answer_type(question, does_not)
    assert score_answer_type("Who is Nell?", tells) == 1.0
