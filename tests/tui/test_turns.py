"""Turns in the room: answered, stopped, failed, and taken up again."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from textual.events import Key
from textual.widgets import Static

from lrwr.core.model.turns import TurnState
from lrwr.tui.scope import ChatOptions
from lrwr.tui.widgets.prompt import PromptInputArea
from lrwr.tui.widgets.source_views import SourceView
from lrwr.tui.widgets.sources import Sources
from lrwr.tui.widgets.status import StatusLine
from tests.fakes.model_server import ModelServer, Refuse, Say
from tests.fakes.room import Room, a_room
from tests.fakes.suite import examples

LEDGER = "Who keeps the ledger?"


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(key="") as server:
        yield server


def notes(room: Room) -> list[str]:
    return [str(one.render()) for one in room.transcript.query(".note").results(Static)]


async def test_a_question_is_answered_and_its_passages_stand_beside(book: Path) -> None:
    async with a_room(book) as room:
        await room.ask(LEDGER)
        (view,) = room.transcript.views
        assert view.turn is not None
        assert view.turn.question == LEDGER
        shown = list(room.screen.query_one(Sources).query(SourceView))
        assert [c for one in shown for c in one.citations] == list(
            view.turn.output.citations
        )


async def test_questions_are_one_conversation_and_it_is_there_again(book: Path) -> None:
    async with a_room(book) as room:
        await room.ask(LEDGER)
        thread = room.screen.scope.thread
        await room.ask("And who is Nell?")
        assert room.screen.scope.thread == thread
    async with a_room(book, opening=ChatOptions(thread="1")) as room:
        assert room.screen.scope.thread == thread
        asked = [view.question for view in room.transcript.views]
        assert asked == [LEDGER, "And who is Nell?"]


async def test_a_question_that_is_asked_before_all_is_loaded_is_answered(
    book: Path,
) -> None:
    async with a_room(book, settled=False) as room:
        await room.ask(LEDGER)
        (view,) = room.transcript.views
        assert view.turn is not None
        assert view.turn.question == LEDGER


async def test_a_model_s_words_are_shown_as_they_come(
    book: Path, server: ModelServer
) -> None:
    server.answering(lambda a: Refuse(400) if a.shape else Say("OchraMags ", "does."))
    async with a_room(book, model=server) as room:
        await room.ask(LEDGER)
        assert room.transcript.last is not None
        assert room.transcript.last.output.response_text == "OchraMags does."
        spent = room.screen.query_one(StatusLine).status.spent
        assert "tokens, price unknown" in spent and "total" not in spent
        await room.ask("And who is Nell?")
        assert "; total" in room.screen.query_one(StatusLine).status.spent


async def test_an_answer_that_is_stopped_is_marked_and_kept(
    book: Path, server: ModelServer
) -> None:
    server.pause = 0.05
    server.answering(lambda a: Refuse(400) if a.shape else Say(*["word "] * 2_000))
    async with a_room(book, model=server) as room:
        await room.type(LEDGER)
        await room.pilot.press("enter")
        while not room.transcript.query(".reply"):
            await room.pilot.pause(0.01)
        await room.press("escape")
        assert room.transcript.last is not None
        assert room.transcript.last.state is TurnState.STOPPED
        assert any("Stopped before the end" in note for note in notes(room))
        assert room.screen.scope.thread is not None
        server.pause = 0.0
        server.answering(lambda a: Refuse(400) if a.shape else Say("Yes."))
        await room.ask("Again?")
        assert [view.question for view in room.transcript.views] == [LEDGER, "Again?"]
    async with a_room(book, opening=ChatOptions(thread="1")) as room:
        kept = [view.turn.state for view in room.transcript.views if view.turn]
        assert kept == [TurnState.STOPPED, TurnState.COMPLETE]


async def test_leaving_while_an_answer_comes_keeps_what_was_said(
    book: Path, server: ModelServer
) -> None:
    server.pause = 0.05
    server.answering(lambda a: Refuse(400) if a.shape else Say(*["word "] * 2_000))
    async with a_room(book, model=server) as room:
        await room.type(LEDGER)
        await room.pilot.press("enter")
        while not room.transcript.query(".reply"):
            await room.pilot.pause(0.01)
    async with a_room(book, opening=ChatOptions(thread="1")) as room:
        assert room.transcript.last is not None
        assert room.transcript.last.state is TurnState.STOPPED


async def test_a_model_that_fails_leaves_a_line_with_what_to_try(
    book: Path, server: ModelServer
) -> None:
    server.answering(lambda _: Refuse(401))
    async with a_room(book, model=server) as room:
        await room.ask(LEDGER)
        assert room.transcript.last is not None
        assert any("401" in note or "refused" in note for note in notes(room))


async def test_who_is_not_in_the_story_cannot_be_opened_with(book: Path) -> None:
    async with a_room(book, opening=ChatOptions(character="Nobody Known")) as room:
        (told,) = room.app._notifications
        assert "Nobody Known" in told.message


@pytest.mark.exhaustive
async def test_no_key_is_lost_while_words_stream(
    book: Path, server: ModelServer
) -> None:
    server.pause = 0.005
    server.answering(
        lambda a: Refuse(400) if a.shape else Say(*["word "] * examples(1_000))
    )
    async with a_room(book, model=server) as room:
        await room.type(LEDGER)
        await room.pilot.press("enter")
        while not room.transcript.query(".reply"):
            await room.pilot.pause(0.01)
        typed = "what the heron saw from the sluice " * examples(6)
        for letter in typed:
            room.app.post_message(Key("space" if letter == " " else letter, letter))
            await room.pilot.pause(0.001)
        prompt = room.screen.query_one(PromptInputArea)
        while len(prompt.text) < len(typed):
            await room.pilot.pause(0.01)
        assert prompt.text == typed
        await room.settle()
        assert room.transcript.last is not None
        assert room.transcript.last.output.response_text.count("word") == examples(
            1_000
        )
