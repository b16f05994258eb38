"""The outline with which a prompt opens."""

import pytest

from lrwr.core.bible.values import Bible
from lrwr.core.chat.context.outline import build_outline
from lrwr.core.chat.state import TurnQuestion
from lrwr.core.retrieval.story import ChapterTitle


def chapters_of(*titles: str) -> str:
    listed = [ChapterTitle(n, title) for n, title in enumerate(titles, start=1)]
    return build_outline(TurnQuestion("Who?"), Bible(), listed, ()).chapters


@pytest.mark.parametrize("bare", ["CHAPTER XIV", "Chapter 3", "Two", "IX.", "12"])
def test_a_chapter_of_which_only_the_number_is_known_has_no_line(bare: str) -> None:
    assert "2." not in chapters_of("The Lamp", bare, "The Fog")
    many = chapters_of(*[bare] * 60, "The Fog")
    assert many == "61. The Fog"


def test_a_title_is_listed_with_its_number() -> None:
    assert chapters_of("The Lamp", "One Night") == "1. The Lamp\n2. One Night"
