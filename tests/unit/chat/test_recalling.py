"""What is told of earlier turns once the text has changed under them."""

import re
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from lrwr.core.chat.service import AvatarSessionService, TurnRequest
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.text import LineIndex, Span
from lrwr.core.model.turns import Citation, NarrativeState
from lrwr.core.ports.models import ChatMessage
from tests.fakes.chat_models import ScriptedChat
from tests.fakes.conversations import THREAD, a_turn
from tests.fakes.rooms import FILES, a_read_book, counted, sessions, turn_of, whole
from tests.fakes.story_desks import StoryDesk

LADDER = "Nell climbed the ladder."
LAMP = "“The lamp must never go out,” said Nell Tallow."
ANSWER = "Up the rungs she went [1]."
MARK = "The author has since changed passages"


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[StoryDesk]:
    async with a_read_book(tmp_path) as opened:
        yield opened


def cited(words: str, number: int = 1) -> Citation:
    text = FILES["1.md"]
    span = Span(text.index(words), text.index(words) + len(words))
    lines = LineIndex.of(text).lines_of(span)
    return Citation(number, DocumentId("1.md"), span, lines, words, 1)


async def talked(desk: StoryDesk, *words: str, as_of: str = "") -> None:
    """Keep a turn that cites these words of the first chapter."""
    citations = tuple(cited(one, n) for n, one in enumerate(words, start=1))
    state = NarrativeState(as_of=as_of)
    turn = a_turn("What did Nell do?", ANSWER, citations=citations, state=state)
    await desk.library.threads.save_turn(THREAD, "Nell", turn, state)


async def rewrite(desk: StoryDesk, name: str, was: str, now: str) -> None:
    text = FILES[name]
    assert was in text
    desk.write(name, text.replace(was, now))
    await desk.ingest()


def with_model(desk: StoryDesk) -> AvatarSessionService:
    return sessions(desk, voices=lambda: counted(desk, ScriptedChat(name="pretend-1")))


async def earlier(desk: StoryDesk, as_of: str = "") -> list[ChatMessage]:
    """What a model is told of the conversation, besides what answers the question."""
    asking = TurnRequest("What of the fog?", thread=THREAD, as_of=as_of)
    (*_, answering) = await with_model(desk).prompt(asking)
    messages = list(answering.messages[1:-1])
    for first in messages[:1]:
        # The material shares a message with the first question.
        asked = re.split(r"</[^<>\n]*>\n\n", first.text)[-1]
        messages[0] = replace(first, text=asked)
    return messages


async def test_an_answer_that_still_stands_is_told_without_a_mark(
    desk: StoryDesk,
) -> None:
    await talked(desk, LADDER, LAMP)
    await rewrite(desk, "1.md", "# One", "# One\n\nA new beginning.")
    assert await earlier(desk) == [
        ChatMessage("user", "What did Nell do?"),
        ChatMessage("assistant", "Up the rungs she went."),
    ]


@pytest.mark.parametrize("now", ["Nell fell off the ladder.", ""])
async def test_an_answer_that_rests_on_changed_words_is_marked_and_no_more(
    desk: StoryDesk, now: str
) -> None:
    await talked(desk, LAMP, LADDER)
    await rewrite(desk, "1.md", LADDER, now)
    asked, answered = await earlier(desk)
    assert asked.text.startswith("What did Nell do?\n\n(")
    assert MARK in asked.text
    assert answered == ChatMessage("assistant", "Up the rungs she went.")
    assert "fell" not in asked.text


async def test_an_answer_whose_words_stand_after_the_horizon_now_is_not_told(
    desk: StoryDesk,
) -> None:
    await talked(desk, LADDER, as_of="ch1")
    assert len(await earlier(desk, "ch1")) == 2
    desk.write("2.md", f"{FILES['2.md']}\n{LADDER}\n")
    await rewrite(desk, "1.md", LADDER, "")
    assert await earlier(desk, "ch1") == []
    assert await earlier(desk, "ch2") != []


async def test_edited_words_of_after_the_horizon_are_in_no_part_of_the_prompt(
    desk: StoryDesk,
) -> None:
    await talked(desk, LADDER, as_of="ch1")
    desk.write("2.md", f"{FILES['2.md']}\nNell climbed the zinc ladder.\n")
    await rewrite(desk, "1.md", LADDER, "")
    asking = TurnRequest("What of the fog?", thread=THREAD, as_of="ch1")
    for sending in await with_model(desk).prompt(asking):
        assert "zinc" not in sending.text
        assert "2.md" not in sending.text


async def test_a_new_answer_says_that_the_one_before_rests_on_changed_words(
    desk: StoryDesk,
) -> None:
    await talked(desk, LADDER, LAMP)
    await rewrite(desk, "1.md", LADDER, "Nell fell off the ladder.")
    asking = TurnRequest("What of the fog?", thread=THREAD)
    turn = turn_of(await whole(sessions(desk), asking))
    said = "1 of the 2 passages that the previous answer cites has changed since."
    assert said in turn.output.remarks
    again = turn_of(await whole(sessions(desk), asking))
    assert said not in again.output.remarks
