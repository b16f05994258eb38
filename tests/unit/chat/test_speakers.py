"""Who says certain words is answered with the line and its speaker."""

from dataclasses import replace

import pytest

from lrwr.core.chat.extractive.spoken_lines import (
    find_words_spoken,
    gather_spoken_lines,
)
from lrwr.core.chat.state import RetrievalResult
from lrwr.core.model.facts import Certainty
from tests.fakes.answered import answer
from tests.fakes.chatting import ONE, TWO, a_bible, a_plan, a_story, found, paragraphs
from tests.fakes.stories import Stories


def found_lines(story: Stories, question: str, *, path: str = ONE) -> RetrievalResult:
    passages = paragraphs(story.book, path)
    lines = gather_spoken_lines(question, passages, a_bible(story).quotes)
    return replace(found(story, passages=passages), lines=lines)


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("Who says that the fog is only weather?", "that the fog is only weather?"),
        ("And who first said “Not once”?", "“Not once”?"),
        ("Whose words are “Not once”?", "are “Not once”?"),
        ("Who tells Nell that the fog is late?", "that the fog is late?"),
        ("Who tells Mags about the fog?", "Mags about the fog?"),
        ("Who is Nell?", ""),
        ("Who heard Nell say it?", ""),
        ("What does Nell say?", ""),
    ],
)
def test_the_words_follow_the_verb_of_a_question_who_says_them(
    question: str, words: str
) -> None:
    assert find_words_spoken(question) == words


@pytest.mark.parametrize(
    ("question", "line"),
    [
        ("Who says that the fog is only weather?", "Mags, to Nell Tallow: “The fog is only weather,” [1]"),
        ("Who says “must never go out”?", "Nell Tallow: “The lamp must never go out,” [1]"),
    ],
)  # fmt: skip
async def test_the_speaker_of_the_words_comes_first_then_passages(
    question: str, line: str
) -> None:
    story = a_story()
    said = await answer(story, question, a_plan(), found_lines(story, question))
    assert said.lines[0] == line
    assert said.lines[1].strip().startswith("Closest passages:")


async def test_a_speaker_who_is_not_certain_is_named_as_probable() -> None:
    story, question = a_story(), "Who says that the fog is only weather?"
    result = found_lines(story, question)
    unsure = [
        replace(q, evidence=replace(q.evidence, certainty=Certainty.PROBABLE))
        for q in result.lines
    ]
    said = await answer(story, question, a_plan(), replace(result, lines=tuple(unsure)))
    assert said.lines[0] == "No clear answer found. Its speaker is only probable."
    assert said.lines[1].strip().startswith("Mags, probably")


@pytest.mark.parametrize(
    ("question", "path"),
    [
        ("Who says that the pony drowned in the fog?", TWO),
        ("Who says “amp must never”?", ONE),
    ],
)
async def test_nobody_is_named_for_words_that_no_line_has(
    question: str, path: str
) -> None:
    story = a_story()
    result = found_lines(story, question, path=path)
    said = await answer(story, question, a_plan(), result)
    assert "Nell Tallow:" not in said.text
    assert "No line of a known speaker in these passages has these words." in said.text


def test_lines_are_gathered_for_such_questions_only() -> None:
    story = a_story()
    passages, quotes = paragraphs(story.book, ONE), a_bible(story).quotes
    assert gather_spoken_lines("What happens in the fog?", passages, quotes) == ()
    assert len(gather_spoken_lines("Who says “Not once”?", passages, quotes)) == 3


async def test_a_line_without_the_quoted_words_answers_nothing() -> None:
    story = a_story()
    question = "Who says “the lamp must always go out”?"
    said = await answer(story, question, a_plan(), found_lines(story, question))
    assert "Nell Tallow:" not in said.text
