"""Threads get a title from the topic of their first question."""

import pytest

from lrwr.core.model.text import MAX_TITLE_CHARS, build_title


@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("Who is Nell?", "Nell"),
        ("What is Half House?", "Half House"),
        ("Who is OchraMags, and what does she want?",) * 2,
        ("Who keeps the ledger?",) * 2,
        ("Who are you?",) * 2,
        ("Can you please tell me about Nell's  eyes?", "Nell's eyes"),
        ("please remind me of the tide rules", "The tide rules"),
        ("I'd like to know about the bell.", "The bell"),
        ("Hello, who keeps the ledger?", "Who keeps the ledger"),
        ("tell me", "Tell me"),
        ("???", "???"),
        ("", ""),
    ],
)
def test_a_title_is_the_topic(question: str, title: str) -> None:
    assert build_title(question) == title


def test_a_quotation_that_is_cut_is_closed() -> None:
    title = build_title(
        "Why does Nell stop? “The tide had turned at the causeway before”"
    )
    assert title == "Why does Nell stop? “The tide had turned at the causeway…”"
    assert len(title) <= MAX_TITLE_CHARS


def test_a_long_question_is_cut_at_a_word() -> None:
    title = build_title("Why does nobody on the causeway " + "ever " * 30 + "speak?")
    assert len(title) <= MAX_TITLE_CHARS
    assert title.endswith("ever…")
