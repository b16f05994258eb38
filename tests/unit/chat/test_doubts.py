"""When an answer made of passages says that they may lack what is asked for."""

import pytest

from lrwr.core.chat.extractive.doubts import is_doubtful
from lrwr.core.model.text import LineRange, Span
from lrwr.core.retrieval.excerpts import PassageQuote
from tests.fakes.chatting import passage
from tests.fakes.stories import Book


def quotes(rating: float | None) -> list[PassageQuote]:
    text = "Nell lit the lamp."
    chunk = passage(Book({"1.md": text}), "1.md", text)
    span = Span(0, len(text))
    return [PassageQuote(text, span, span, LineRange(1, 1), chunk, rating)]


@pytest.mark.parametrize(
    ("question", "rating", "doubtful"),
    [
        ("What did Nell light?", 0.9, False),
        ("What did Nell light?", 0.3, True),
        ("What did Nell light?", None, False),
        ("Who lit the lamp?", 0.3, False),
        ("Where did Nell light the lamp?", 0.9, True),
        ("Where do I say that Nell lit it?", 0.9, False),
        ("And what else did she light?", 0.9, True),
    ],
)
def test_doubt_depends_on_the_best_sentence_and_on_the_form_of_the_question(
    question: str, rating: float | None, doubtful: bool
) -> None:
    assert is_doubtful(question, quotes(rating)) is doubtful
