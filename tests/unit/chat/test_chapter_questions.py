"""A question that names a chapter is answered from that chapter, without a model."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from lrwr.core.bible.name_lookup import list_cast_forms
from lrwr.core.chat.context.lookups import BoundedLookupTools, add_chapter_passages
from lrwr.core.chat.extractive.question_parts import (
    find_people_named,
    find_speaker_names,
)
from lrwr.core.chat.planning.rules import plan_by_rules
from lrwr.core.chat.service import TurnRequest
from lrwr.core.chat.state import RetrievalResult, TurnQuestion
from lrwr.core.model.chunks import Passage
from lrwr.core.model.facts import Certainty
from lrwr.core.model.turns import NOT_MENTIONED, SupervisorOutput
from lrwr.core.retrieval.search_model import SearchResult
from lrwr.core.retrieval.story import ChapterReader
from tests.fakes.answered import answer
from tests.fakes.chatting import a_bible, a_story, paragraphs
from tests.fakes.rooms import sessions, turn_of, whole
from tests.fakes.story_desks import StoryDesk, a_story_desk

EMPTY_ROOM = "The lamp room was bare and cold, and the clock had stopped."
FILES = {
    "1.md": f"# One\n\n{EMPTY_ROOM}\n\nDust lay on the long table.\n",
    "2.md": (
        "# Two\n\n“The lamp must never go out,” said Nell. “Not once.”\n\n"
        "“The fog is only weather,” said Mags to Nell.\n"
    ),
    "3.md": (
        "# Three\n\nThe tide came in over the marsh and covered the road.\n\n"
        "Nell climbed the ladder and counted the rungs.\n\n"
        "“I never counted them before now,” said Mags.\n"
    ),
    **{
        f"{n}.md": f"# Chapter {n}\n\nNell went to the marsh. “I am {n} years late,”"
        f" said Nell to Mags.\n"
        for n in range(4, 10)
    },
}


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[StoryDesk]:
    async with a_story_desk(tmp_path) as opened:
        for name, text in FILES.items():
            opened.write(name, text)
        await opened.ingest()
        yield opened


async def answered(desk: StoryDesk, text: str) -> SupervisorOutput:
    return turn_of(await whole(sessions(desk), TurnRequest(text))).output


def cited(output: SupervisorOutput) -> set[str]:
    return {citation.document for citation in output.citations}


@pytest.mark.parametrize(
    "text",
    [
        "What does Nell do in chapter 3?",
        "What does Mags do in chapter 1?",
        "What does Zorro do in chapter 3?",
        "Who is in chapter 1?",
        "Who is in chapter 3?",
        "What does Mags say in chapter 1?",
        "Recap chapter 1",
        "What color are the eyes of Nell in chapter 3?",
    ],
)
async def test_a_chapter_with_text_is_never_said_not_to_tell(
    desk: StoryDesk, text: str
) -> None:
    output = await answered(desk, text)
    assert NOT_MENTIONED not in output.response_text
    assert cited(output) == {"1.md" if "chapter 1" in text else "3.md"}


async def added(text: str, *found: Passage, bare: bool = False) -> list[str]:
    """Return the words of the passages for a question about chapter 1 of a small book."""
    chapter = paragraphs(a_story().book, "1.md")

    class Reader(ChapterReader):
        def __init__(self) -> None:
            pass

        async def chapter(self, number: int) -> tuple[Passage, ...]:
            return () if bare else tuple(chapter)

    async def search(asked: TurnQuestion) -> SearchResult:
        return SearchResult(())

    bible = a_bible(a_story())
    question = TurnQuestion(text, cast=list_cast_forms(bible))
    tools = BoundedLookupTools(question, bible, search, Reader())
    plan = plan_by_rules(question, bible)
    before = RetrievalResult(ranked_chunks=found)
    result = await add_chapter_passages(question, plan, before, tools)
    return [passage.chunk.text[:12] for passage in result.ranked_chunks]


async def test_passages_that_name_the_person_come_first() -> None:
    texts = await added("What does Mags do in chapter 1?")
    assert texts == ["Mags opened ", "“The fog is ", "Nell Tallow ", "“The lamp mu"]
    texts = await added("What does Mags say about the fog in chapter 1?")
    assert texts[:2] == ["“The fog is ", "Mags opened "]
    assert (await added("Who is in chapter 1?"))[0] == "Nell Tallow "


async def test_passages_found_of_the_chapter_suffice_if_they_name_the_person() -> None:
    nell, *_, mags = paragraphs(a_story().book, "1.md")
    assert await added("What does Mags do in chapter 1?", mags) == ["“The fog is "]
    assert len(await added("What does Mags do in chapter 1?", nell)) == 4


async def test_passages_stay_if_the_chapter_has_no_text() -> None:
    elsewhere = paragraphs(a_story().book, "2.md")[0]
    texts = await added("What does Mags do in chapter 1?", elsewhere, bare=True)
    assert texts == ["Corin Vale c"]


async def test_lines_that_are_only_probably_theirs_are_not_known_for_certain() -> None:
    story = a_story()
    bible = a_bible(story)
    text = "What does Mags say in chapter 1?"
    question = TurnQuestion(text, cast=list_cast_forms(bible))
    result = RetrievalResult(
        ranked_chunks=tuple(paragraphs(story.book, "1.md")),
        lines=tuple(
            replace(q, evidence=replace(q.evidence, certainty=Certainty.PROBABLE))
            for q in bible.quotes
            if q.speaker == "Mags"
        ),
    )
    said = await answer(story, question, plan_by_rules(question, bible), result)
    assert said.lines[0] == "No line of Mags in chapter 1 is known for certain."


async def test_of_a_chapter_without_people_a_sentence_says_that_there_are_none(
    desk: StoryDesk,
) -> None:
    output = await answered(desk, "Who is in chapter 1?")
    first, passages = output.response_text.split("\n\n")
    assert first == "Nobody is known to be present in chapter 1."
    assert passages.startswith("Closest passages:")
    assert EMPTY_ROOM in output.citations[0].text


async def test_people_who_are_present_are_named_without_passages(
    desk: StoryDesk,
) -> None:
    said = (await answered(desk, "Who is in chapter 2?")).response_text
    assert said.startswith("Chapter 2, scene 1, who acts or speaks:")
    assert "Closest passages" not in said


async def test_only_lines_of_the_chapter_are_quoted(desk: StoryDesk) -> None:
    said = await answered(desk, "What does Nell say in chapter 2?")
    assert "The lamp must never go out" in said.response_text
    assert cited(said) == {"2.md"}


async def test_a_sentence_says_that_somebody_has_no_line_in_the_chapter(
    desk: StoryDesk,
) -> None:
    for text in (
        "What does Nell say in chapter 3?",
        "What does Nell tell Mags in ch. 3?",
    ):
        said = await answered(desk, text)
        first = said.response_text.split("\n\n")[0]
        assert first == "No line of Nell in chapter 3 is known."
        assert cited(said) == {"3.md"}


def test_speakers_are_those_of_whom_it_is_asked_what_they_say() -> None:
    cast = (("Nell Tallow", "Nell"), ("Mags",))
    text = "What does Nell Tallow say to Mags in chapter 3?"
    assert find_speaker_names(text, cast) == ["Nell Tallow"]
    assert find_speaker_names("What do Nell and Mags say?", cast) == ["Nell", "Mags"]
    assert find_speaker_names("What does Nell's aunt say?", cast) == []
    assert find_speaker_names("What does Nell say?", ()) == []


def test_people_are_found_by_their_longest_name_and_not_within_words() -> None:
    cast = (("Nell Tallow", "Nell"), ("Tallow", "the reeve"), ("Mags",), ("Ell",))
    assert find_people_named("Does Nell Tallow know the reeve?", cast) == [cast[0]]
    assert find_people_named("Do Mags and Tallow know Nell?", cast) == [
        cast[2],
        cast[1],
        cast[0],
    ]
    assert find_people_named("Who painted the Tallows?", cast) == []
    assert find_people_named("Does she know Nell?", ()) == []
