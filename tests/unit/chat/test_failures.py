"""Each call of a turn, failing in each way: the turn is told, kept, and says so."""

from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from lrwr.app.presenters.answers import describe_answer_notes
from lrwr.core.adapters.chat.connection import ChatConnection, ModelServerClient
from lrwr.core.adapters.chat.openai import OpenAIChatModel
from lrwr.core.adapters.http.rate_limit import RateLimit
from lrwr.core.chat.context.gap_finder import GapFinder
from lrwr.core.chat.graph import TurnModels
from lrwr.core.chat.service import TurnRequest
from lrwr.core.model.turns import TurnState
from tests.fakes.model_server import (
    KEY,
    MODEL,
    Asked,
    Hang,
    ModelServer,
    Nonsense,
    Refuse,
    Say,
    Turn,
)
from tests.fakes.planning import planning
from tests.fakes.rooms import a_read_book, counted, sessions, turn_of, whole
from tests.fakes.story_desks import StoryDesk

QUESTION = TurnRequest("What does Nell say about the lamp?")
TOLD = "Nell says that the lamp must never go out [1]."
PATIENCE = 0.4
"""Seconds that a call may take here."""

FAILURES: dict[str, Turn] = {
    "401": Refuse(401),
    "404": Refuse(404),
    "429": Refuse(429, retry_after="60"),
    "500": Refuse(500),
    "time-out": Hang(),
    "cut short": Say("sear", broken=True),
    "nonsense": Nonsense(),
    "no words": Say(""),
}

CALLS = {
    "Tools": "Sources were chosen by rules",
    "Entities": "Names were recognized by rules",
    "Gaps": "Open questions were not analysed",
}
"""What a turn says of each call that fails; the answer has its own words."""


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[StoryDesk]:
    async with a_read_book(tmp_path) as opened:
        yield opened


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as opened:
        yield opened


@pytest.fixture
async def voices(
    desk: StoryDesk, server: ModelServer
) -> AsyncIterator[Callable[[], TurnModels]]:
    line = ModelServerClient(RateLimit(4, 0, 0.0))
    connection = ChatConnection(MODEL, server.base_url, key=KEY, timeout=PATIENCE)
    model = OpenAIChatModel(connection, line)
    yield lambda: replace(
        counted(desk, model),
        max_lookups=10,
        gaps=GapFinder(model, PATIENCE),
    )
    await model.aclose()
    await line.aclose()


def failing(call: str, turn: Turn) -> Callable[[Asked], str | Turn]:
    def reply(asked: Asked) -> str | Turn:
        if asked.shape == call:
            return turn
        return planning(asked, intent="gap_probe") if asked.shape else TOLD

    return reply


@pytest.mark.parametrize("turn", FAILURES.values(), ids=FAILURES)
@pytest.mark.parametrize("call", CALLS)
async def test_a_call_that_fails_on_the_way_leaves_an_answer_and_says_so(
    desk: StoryDesk,
    server: ModelServer,
    voices: Callable[[], TurnModels],
    call: str,
    turn: Turn,
) -> None:
    server.answering(failing(call, turn))
    kept = turn_of(await whole(sessions(desk, voices=voices), QUESTION))
    assert kept.output.response_text == TOLD
    assert kept.output.model == MODEL
    (remark,) = (one for one in kept.output.remarks if one.startswith(CALLS[call]))
    assert remark.endswith(".")
    assert kept.state is TurnState.COMPLETE
    (thread,) = await desk.library.threads.threads()
    assert await desk.library.threads.turns(thread.id) == [kept]


@pytest.mark.parametrize("turn", FAILURES.values(), ids=FAILURES)
async def test_an_answer_that_fails_is_given_by_the_text_and_says_so(
    desk: StoryDesk, server: ModelServer, voices: Callable[[], TurnModels], turn: Turn
) -> None:
    server.answering(failing("", turn))
    kept = turn_of(await whole(sessions(desk, voices=voices), QUESTION))
    own = "The lamp must never go out" in kept.output.response_text
    assert own or any("incomplete" in one for one in kept.output.remarks)
    assert kept.state is (TurnState.COMPLETE if own else TurnState.STOPPED)
    assert kept.output.remarks


async def test_a_server_that_is_gone_loses_no_turn(
    desk: StoryDesk, server: ModelServer, voices: Callable[[], TurnModels]
) -> None:
    server.__exit__()
    kept = turn_of(await whole(sessions(desk, voices=voices), QUESTION))
    assert "The lamp must never go out" in kept.output.response_text
    assert kept.output.model == ""
    (remark,) = kept.output.remarks
    assert remark.startswith("Answered with quotations, without a language model. ")
    assert remark.count("cannot be reached. Check ") == 1  # the cause and its hint


async def test_a_server_that_dies_while_it_answers_loses_nothing_that_it_said(
    desk: StoryDesk, server: ModelServer, voices: Callable[[], TurnModels]
) -> None:
    said = Say("Nell says that ", broken=True)
    server.answering(failing("", said))
    kept = turn_of(await whole(sessions(desk, voices=voices), QUESTION))
    assert kept.output.response_text == "Nell says that "
    assert any("incomplete" in one for one in kept.output.remarks)
    assert kept.state is TurnState.STOPPED
    notes = [note.text for note in describe_answer_notes(kept)]
    assert any("incomplete" in note for note in notes)
    assert notes[-1] == "Stopped before the end"


async def test_both_planning_calls_are_under_way_together(
    desk: StoryDesk, server: ModelServer, voices: Callable[[], TurnModels]
) -> None:
    server.wait = 0.2
    server.answering(failing("nothing", Say("")))
    await whole(sessions(desk, voices=voices), QUESTION)
    assert {asked.shape for asked in server.asked[:2]} == {"Tools", "Entities"}
    assert server.most_at_once == len(("Tools", "Entities"))
