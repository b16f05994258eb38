"""What of a statement is told only after the horizon, and in which chapter first."""

import pytest

from lrwr.core.adapters.source.text import find_sentence_spans
from lrwr.core.attribution.details import stem_words
from lrwr.core.attribution.names import strip_names
from lrwr.core.evidence.comparison import compare_with_text
from lrwr.core.evidence.later_check import (
    find_closer_chapter,
    find_later,
    list_telling_stems,
)
from lrwr.core.evidence.results import CheckedStory, ComparedPassage
from lrwr.core.model.choices import Pipeline
from lrwr.core.model.chunks import Passage
from lrwr.core.model.documents import DocumentType, Horizon
from lrwr.core.retrieval.story import StoryOrder
from tests.fakes.records import a_chunk
from tests.unit.evidence.test_statements import read

CAST = (("Nell",), ("Jack",), ("Hob",), ("Lusk",))
STORY = CheckedStory(StoryOrder({}, (), {}), Pipeline.NAIVE, CAST, Horizon(3), CAST[:3])


def find_chapter(sentence: str, *texts: tuple[int, str]) -> int | None:
    """Return the chapter after the third one that tells a sentence first."""
    (statement,) = read(sentence)
    later = find_later(statement, STORY, list_candidates(sentence, *texts))
    return later.chapter if later else None


def list_candidates(sentence: str, *texts: tuple[int, str]) -> list[ComparedPassage]:
    """Return passages of chapters, compared with a sentence."""
    (statement,) = read(sentence)
    candidates = []
    for chapter, text in texts:
        chunk = a_chunk(text)
        passage = Passage(chunk, DocumentType.SCENE, chapter, "", 1, 1.0)
        whole, bare = (
            compare_with_text(words, text, find_sentence_spans, CAST)
            for words in (statement.text, strip_names(statement.text, CAST))
        )
        assert whole is not None
        is_visible = chapter <= 3
        candidates.append(ComparedPassage(passage, whole, None, is_visible, text, bare))
    return candidates


SIGN = "Jack painted the sign of the ferry green with his own brush."


@pytest.mark.parametrize("order", [(9, 5), (5, 9)])
def test_the_first_chapter_that_tells_it_is_named(order: tuple[int, int]) -> None:
    texts = [(chapter, SIGN) for chapter in order]
    assert find_chapter(SIGN, (1, "It rained."), *texts) == 5


def test_a_character_unknown_so_far_is_named_with_its_first_chapter() -> None:
    texts = [(9, "Lusk married Nell at last."), (5, "Lusk came up the stairs.")]
    assert find_chapter("Nell married Lusk.", *texts) == 5


def test_a_few_words_about_somebody_else_do_not_tell_it() -> None:
    text = "He had begun to grow fond of the ferryman’s sister."
    statement = "Nell begins to grow fond of the ferryman’s sister."
    assert find_chapter(statement, (9, f"Hob left. {text}")) == 9
    assert find_chapter(statement, (9, text.replace("He", "Hob"))) is None


def test_names_and_titles_tell_nothing() -> None:
    assert list_telling_stems("Mrs. Lusk, Nell’s rower", CAST) == stem_words("rower")


@pytest.mark.parametrize(
    ("early", "chapter"),
    [
        ("Jack mended the fence.", 6),
        ("With a brush Jack gave the ferry a green roof.", None),
    ],
)
def test_a_later_chapter_that_is_clearly_closer_is_named_for_other_words(
    early: str, chapter: int | None
) -> None:
    sentence = "It is Jack whose brush makes the ferry’s sign a green one at last."
    (statement,) = read(sentence)
    candidates = list_candidates(sentence, (2, early), (6, SIGN))
    assert find_closer_chapter(statement, STORY, candidates) == chapter


@pytest.mark.parametrize(
    ("early", "chapter"),
    [
        ("Nell mended the fence.\n\nJack was engaged to nobody.", 6),
        ("Jack had married Nell long ago.", None),
    ],
)
def test_an_event_of_two_characters_that_only_a_later_chapter_tells_is_named(
    early: str, chapter: int | None
) -> None:
    sentence = "Nell gets engaged to Jack."
    (statement,) = read(sentence)
    late = (
        "The news astonished everybody. Jack was in love, and Nell’s wedding was near."
    )
    candidates = list_candidates(sentence, (2, early), (6, late))
    assert find_closer_chapter(statement, STORY, candidates) == chapter
