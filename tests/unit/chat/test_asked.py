"""A question is cut into what it asks for, and the words that say it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrwr.core.bible.values import Bible
from lrwr.core.chat.extractive.question_parts import (
    ChapterBound,
    extract_question_words,
    find_chapter_bound,
    find_chapter_words,
    parse_chapter_numbers,
    remove_chapter_references,
    split_question_parts,
    split_questions,
)
from lrwr.core.chat.planning.rules import plan_by_rules
from lrwr.core.chat.state import RetrievalResult, TurnQuestion
from tests.fakes.chatting import a_shelf, a_story


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Who is Nell?", ["Who is Nell?"]),
        (
            "Who is Mags, and what does Nell want?",
            ["Who is Mags", "what does Nell want"],
        ),
        (
            "Where is it hidden and who has the key?",
            ["Where is it hidden", "who has the key"],
        ),
        ("How and why did she leave?", ["How and why did she leave?"]),
        ("Did Nell and Mags quarrel?", ["Did Nell and Mags quarrel?"]),
        ("Who is Ivo Gannet? Is he rich?", ["Who is Ivo Gannet", "Is he rich"]),
    ],
)
def test_two_questions_in_one_are_told_apart(text: str, parts: list[str]) -> None:
    assert split_questions(text) == parts


@given(st.text(max_size=200))
def test_no_word_is_lost_by_telling_questions_apart(text: str) -> None:
    parts = split_questions(text)
    assert parts
    assert all(part in text for part in parts)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Who is Nell?", []),
        ("What does Nell say about the fog?", ["fog"]),
        ("What is left open about Nell?", []),
        ("Does the text say how old Nell Tallow is?", ["old"]),
        ("How do Nell and Mags stand to each other?", []),
        ("Recap chapter 3", []),
        ("What do the tide rules say?", ["tide", "rules"]),
        ("Who pulled Nell out of the mud?", ["pulled", "mud"]),
    ],
)
def test_the_words_that_ask_are_not_those_that_are_asked_for(
    text: str, words: list[str], marsh_bible: Bible
) -> None:
    plan = plan_by_rules(TurnQuestion(text), marsh_bible)
    result = RetrievalResult(character_profiles=marsh_bible.characters)
    assert extract_question_words(text, plan, result) == words


async def test_what_a_profile_calls_otherwise_is_looked_for_by_its_label(
    marsh_bible: Bible,
) -> None:
    question = TurnQuestion("How old is Nell?")
    result = RetrievalResult(character_profiles=marsh_bible.characters)
    plan = plan_by_rules(question, marsh_bible)
    (part,) = await split_question_parts(
        question, plan, result, a_shelf(a_story().book)
    )
    assert set(part.words.weights) == {"old", "age"}
    assert part.people == {"Nell Tallow"}


async def test_a_part_that_names_nobody_goes_on_about_the_same(
    marsh_bible: Bible,
) -> None:
    question = TurnQuestion("Who is Nell, and what does she want?")
    result = RetrievalResult(character_profiles=marsh_bible.characters)
    plan = plan_by_rules(question, marsh_bible)
    parts = await split_question_parts(question, plan, result, a_shelf(a_story().book))
    assert [part.people for part in parts] == [{"Nell Tallow"}, {"Nell Tallow"}]


def test_chapters_are_known_by_number_and_word() -> None:
    assert parse_chapter_numbers("Recap chapter three and ch. 12") == {3, 12}
    assert parse_chapter_numbers("What happens after chapter 3?") == frozenset()
    assert find_chapter_words("In chapter 3, who lies?") == ["chapter", "3"]


def test_a_chapter_up_to_which_a_question_asks_is_no_chapter_that_it_is_about() -> None:
    for text in ("Have Nell and Hob met by chapter 3?", "Who lies until ch. four?"):
        assert parse_chapter_numbers(text) == frozenset()
    assert parse_chapter_numbers("Who is there at the end of chapter 3?") == {3}


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("Have Nell and Hob met by chapter 6?", ChapterBound("chapter 6")),
        (
            "Have Nell and Hob met by the end of ch. six?",
            ChapterBound("ch. six"),
        ),
        ("Who has died before chapter XII?", ChapterBound("chapter XII", False)),
        ("Who dies before the end of chapter 4?", ChapterBound("chapter 4")),
        (
            "What does Hob know by the start of chapter 4?",
            ChapterBound("chapter 4", False),
        ),
        ("Is Hob dead by Book II, XIX?", ChapterBound("Book II, XIX")),
        ("Who speaks in the first ten chapters?", ChapterBound("chapter ten")),
        ("Who dies after chapter 4?", None),
        ("Who dies in chapter 4?", None),
        ("What did I say before in the chapter I wrote?", None),
    ],
)
def test_a_question_says_up_to_which_chapter_it_asks(
    text: str, bound: ChapterBound | None
) -> None:
    assert find_chapter_bound(text) == bound


def test_a_bound_is_not_part_of_what_is_searched_for() -> None:
    text = "Have Nell and Hob met by the end of chapter three?"
    assert remove_chapter_references(text).split() == [
        *("Have", "Nell", "and", "Hob", "met", "?")
    ]
