import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from pathlib import Path

import pytest

from lrwr.core.chat.generation.avatars import ModelAvatar
from lrwr.core.chat.nodes import AvatarAnswer, TurnEventEmitter
from lrwr.core.chat.service import TurnRequest
from lrwr.core.chat.state import RetrievalResult, TurnQuestion
from lrwr.core.model.choices import AnswerMode
from lrwr.core.model.errors import NotFound, ServiceUnavailable
from lrwr.core.model.language_model import Usage
from lrwr.core.model.turns import (
    AnswerSpeaker,
    AnswerToken,
    QuestionPlan,
    TurnDone,
    TurnStageStarted,
    TurnState,
)
from lrwr.core.ports.models import ChatMessage, ChatReply, ReplyShape
from tests.fakes.chat_models import ScriptedChat
from tests.fakes.rooms import (
    a_read_book,
    counted,
    sessions,
    shelf,
    turn_of,
    whole,
)
from tests.fakes.story_desks import StoryDesk

TOLD = "Nell says the lamp must never go out [1]."


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[StoryDesk]:
    async with a_read_book(tmp_path) as opened:
        yield opened


async def test_a_question_is_answered_shown_as_it_goes_and_kept(
    desk: StoryDesk,
) -> None:
    events = await whole(
        sessions(desk), TurnRequest("What does Nell say about the lamp?")
    )
    assert isinstance(events[0], TurnStageStarted)
    turn = turn_of(events)
    said = "".join(event.text for event in events if isinstance(event, AnswerToken))
    assert turn.output.response_text == said
    assert "The lamp must never go out" in said
    assert (turn.number, turn.state) == (1, TurnState.COMPLETE)
    (thread,) = await desk.library.threads.threads()
    assert (await desk.library.threads.turns(thread.id)) == [turn]
    text = await desk.library.passages.text(turn.output.citations[0].document)
    for citation in turn.output.citations:
        own = await desk.library.passages.text(citation.document)
        span = citation.span
        assert own.text[span.start : span.end] == citation.text
    assert text.text.startswith("# ")


async def test_a_conversation_goes_on_from_its_state(desk: StoryDesk) -> None:
    service = sessions(desk)
    first = await whole(
        service,
        TurnRequest(
            "What of the lamp?", character="nell", mode=AnswerMode.IN_CHARACTER
        ),
    )
    done = first[-1]
    assert isinstance(done, TurnDone)
    second = turn_of(await whole(service, TurnRequest("And fog?", thread=done.thread)))
    state = second.output.narrative_state_delta
    assert (second.number, state.character) == (2, "Nell")
    assert state.mode is AnswerMode.IN_CHARACTER


async def test_nothing_from_after_the_horizon_is_answered_with(
    desk: StoryDesk,
) -> None:
    service = sessions(desk)
    later = await whole(service, TurnRequest("Who is Corin Vale and the pony?"))
    done = later[-1]
    assert isinstance(done, TurnDone)
    asked: list[tuple[TurnQuestion, RetrievalResult]] = []

    class Listening:
        model = ""

        async def answer(
            self,
            question: TurnQuestion,
            plan: QuestionPlan,
            result: RetrievalResult,
            emit: TurnEventEmitter,
            lookups: int = 0,
        ) -> AvatarAnswer:
            asked.append((question, result))
            return AvatarAnswer("")

    watched = sessions(desk, Listening())
    await whole(
        watched, TurnRequest("What of the pony?", thread=done.thread, as_of="ch1")
    )
    ((question, result),) = asked
    assert question.history == ()
    assert question.state.entities == ()
    assert "Corin" not in repr(result)
    assert "pony" not in repr(result.ranked_chunks)


async def test_a_chapter_in_the_question_limits_its_answer_but_not_the_thread(
    desk: StoryDesk,
) -> None:
    events = await whole(sessions(desk), TurnRequest("Is Corin Vale there by ch. 1?"))
    done = events[-1]
    assert isinstance(done, TurnDone)
    output = done.turn.output
    assert "Corin Vale came" not in repr(output.citations)
    assert output.remarks == (
        "Nothing after chapter 1 was read, as the question says.",
    )
    assert output.narrative_state_delta.as_of == ""
    with pytest.raises(NotFound, match="The story has no chapter 9"):
        await whole(sessions(desk), TurnRequest("Is Corin Vale there by chapter 9?"))


async def test_whoever_is_not_there_yet_cannot_be_asked(desk: StoryDesk) -> None:
    service = sessions(desk)
    asking = TurnRequest("Where?", character="Corin Vale", as_of="ch1")
    with pytest.raises(NotFound, match="up to this point"):
        await whole(service, asking)
    with pytest.raises(NotFound, match="No character is chosen"):
        await whole(service, TurnRequest("Where?", mode=AnswerMode.IN_CHARACTER))
    assert await desk.library.threads.threads() == []


class Endless:
    """An avatar that says one word and then never goes on."""

    model = "endless"

    def __init__(self) -> None:
        self.closed = asyncio.Event()

    async def answer(
        self,
        question: TurnQuestion,
        plan: QuestionPlan,
        result: RetrievalResult,
        emit: TurnEventEmitter,
        lookups: int = 0,
    ) -> AvatarAnswer:
        emit(AnswerToken("The lamp ", AnswerSpeaker.AVATAR))
        try:
            await asyncio.Event().wait()
        finally:
            self.closed.set()
        return AvatarAnswer("")


async def test_a_turn_that_is_stopped_is_kept_as_far_as_it_came(
    desk: StoryDesk,
) -> None:
    avatar = Endless()
    events = sessions(desk, avatar).ask(TurnRequest("What of the lamp?"))
    async for event in events:
        if isinstance(event, AnswerToken):
            break
    await events.aclose()
    assert avatar.closed.is_set()
    (thread,) = await desk.library.threads.threads()
    (turn,) = await desk.library.threads.turns(thread.id)
    assert turn.state is TurnState.STOPPED
    assert turn.output.response_text == "The lamp "


async def test_a_turn_whose_task_is_cancelled_is_kept_too(desk: StoryDesk) -> None:
    avatar, began = Endless(), asyncio.Event()

    async def turn() -> None:
        async with aclosing(sessions(desk, avatar).ask(TurnRequest("Lamp?"))) as events:
            async for event in events:
                if isinstance(event, AnswerToken):
                    began.set()

    task = asyncio.create_task(turn())
    await began.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    (thread,) = await desk.library.threads.threads()
    (kept,) = await desk.library.threads.turns(thread.id)
    assert kept.state is TurnState.STOPPED


async def test_where_a_model_fails_the_text_answers_and_says_so(
    desk: StoryDesk,
) -> None:
    model = ScriptedChat(ServiceUnavailable("The server is away."))
    avatar = ModelAvatar(model, shelf(desk))
    asking = TurnRequest("What does Nell say about the lamp?")
    turn = turn_of(await whole(sessions(desk, avatar), asking))
    assert "The lamp must never go out" in turn.output.response_text
    assert turn.output.model == ""
    assert any("without a language model" in one for one in turn.output.remarks)


async def test_a_models_answer_is_held_against_what_it_cites(desk: StoryDesk) -> None:
    said = ["Nell says the lamp must never go out [1]. ", "She owns a whale [77]."]
    avatar = ModelAvatar(ScriptedChat(said), shelf(desk))
    asking = TurnRequest("What does Nell say about the lamp?")
    turn = turn_of(await whole(sessions(desk, avatar), asking))
    output = turn.output
    assert "[77]" not in output.response_text
    marked = [output.response_text[s.start : s.end] for s in output.unsupported]
    assert any("whale" in one for one in marked)
    assert output.model == avatar.model


class Planless:
    """A model without plans; it says its first piece, and the others once it is let."""

    name = "pretend-1"

    def __init__(self, *pieces: str) -> None:
        self.pieces = pieces
        self.begun, self.let = asyncio.Event(), asyncio.Event()

    async def fill(
        self, messages: Sequence[ChatMessage], shape: ReplyShape
    ) -> ChatReply:
        raise ServiceUnavailable("The server makes no plans.")

    async def stream(self, messages: Sequence[ChatMessage]) -> AsyncGenerator[str]:
        for piece in self.pieces:
            self.begun.set()
            yield piece
            await self.let.wait()


async def test_a_turn_keeps_what_its_plan_and_its_answer_took(desk: StoryDesk) -> None:
    model = ScriptedChat("{}", "{}", "{}", "{}", [TOLD], name="pretend-1")
    service = sessions(desk, voices=lambda: counted(desk, model))
    turn = turn_of(await whole(service, TurnRequest("What of the lamp?")))
    sent = sum(
        -(-len(message.text) // 4) for asked, _ in model.asked for message in asked
    )
    shapes = sum(-(-len(shape.schema) // 4) for _, shape in model.asked if shape)
    said = 4 + -(-len(TOLD) // 4)  # two plans, each asked for once more, and the answer
    assert turn.usage == Usage(5, sent + shapes, said)
    assert turn.price == pytest.approx((sent + shapes + 10 * said) / 1_000_000)
    (thread,) = await desk.library.threads.threads()
    assert await desk.library.threads.turns(thread.id) == [turn]


async def test_the_price_of_a_model_without_one_is_not_known(desk: StoryDesk) -> None:
    model = ScriptedChat("{}", "{}", "{}", "{}", [TOLD], name="nobody-1")
    service = sessions(desk, voices=lambda: counted(desk, model))
    turn = turn_of(await whole(service, TurnRequest("What of the lamp?")))
    assert (turn.usage.calls, turn.price) == (5, None)


async def test_without_a_model_nothing_is_counted(desk: StoryDesk) -> None:
    turn = turn_of(await whole(sessions(desk), TurnRequest("What of the lamp?")))
    assert (turn.usage, turn.price) == (Usage(), None)


async def test_where_the_text_answers_for_a_model_its_calls_are_kept(
    desk: StoryDesk,
) -> None:
    away = ServiceUnavailable("The server is away.")
    model = ScriptedChat(away, away, away, name="pretend-1")
    service = sessions(desk, voices=lambda: counted(desk, model))
    turn = turn_of(await whole(service, TurnRequest("What of the lamp?")))
    assert (turn.output.model, turn.usage) == ("", Usage(calls=3, failed=3))
    assert turn.price == 0.0


async def test_a_turn_that_is_stopped_keeps_what_it_took(desk: StoryDesk) -> None:
    model = Planless("The lamp", " is out.")
    service = sessions(desk, voices=lambda: counted(desk, model))
    events = service.ask(TurnRequest("What of the lamp?"))
    async for event in events:
        if isinstance(event, AnswerToken):
            break
    await events.aclose()
    (thread,) = await desk.library.threads.threads()
    (turn,) = await desk.library.threads.turns(thread.id)
    assert (turn.state, turn.usage.calls, turn.usage.failed) == (
        TurnState.STOPPED,
        3,
        2,
    )
    assert turn.usage.prompt_tokens > 100
    assert turn.usage.completion_tokens == 2
    assert turn.price is not None
    assert turn.price > 0


async def test_two_turns_at_once_each_keep_their_own_count(desk: StoryDesk) -> None:
    long, short = Planless("The lamp", " is out."), Planless("Fog.")
    models = iter((long, short))
    service = sessions(desk, voices=lambda: counted(desk, next(models)))
    first = asyncio.create_task(whole(service, TurnRequest("What of the lamp?")))
    second = asyncio.create_task(whole(service, TurnRequest("What of the fog?")))
    for model in (long, short):
        await model.begun.wait()
    for model in (long, short):
        model.let.set()
    took = [turn_of(await one).usage.completion_tokens for one in (first, second)]
    assert sorted(took) == [1, 4]
