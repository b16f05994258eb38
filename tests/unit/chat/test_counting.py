import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

import pytest

from lrwr.core.chat.history import MeteredChatModel, QuestionBudget
from lrwr.core.model.errors import ServiceUnavailable
from lrwr.core.model.language_model import Usage
from lrwr.core.ports.models import ChatMessage, ChatModel, ChatReply, ReplyShape
from tests.fakes.chat_models import ScriptedChat

ASKED = (ChatMessage("system", "x" * 40), ChatMessage("user", "y" * 9))
SENT = 10 + 3
SHAPE = ReplyShape("Tools", "z" * 8)
AWAY = ServiceUnavailable("The server is away.")


class Silent:
    """A model that is asked, and never says a word."""

    name = "silent"

    async def fill(
        self, messages: Sequence[ChatMessage], shape: ReplyShape
    ) -> ChatReply:
        await asyncio.Event().wait()
        return ChatReply("", 0, 0)

    async def stream(self, messages: Sequence[ChatMessage]) -> AsyncGenerator[str]:
        await asyncio.Event().wait()
        yield ""


class BreaksOff(Silent):
    """A model that says eight characters, and is gone."""

    async def stream(self, messages: Sequence[ChatMessage]) -> AsyncGenerator[str]:
        yield "The lamp"
        raise AWAY


async def heard(chat: ChatModel) -> str:
    async with aclosing(chat.stream(ASKED)) as pieces:
        return "".join([piece async for piece in pieces])


async def test_it_says_what_the_model_says_under_the_models_name() -> None:
    chat = MeteredChatModel(ScriptedChat("filled", ["The ", "lamp"], name="pretend-1"))
    assert chat.name == "pretend-1"
    assert (await chat.fill(ASKED, SHAPE)).text == "filled"
    assert await heard(chat) == "The lamp"


async def test_a_reply_counts_the_tokens_that_its_server_told() -> None:
    class Telling(Silent):
        async def fill(
            self, messages: Sequence[ChatMessage], shape: ReplyShape
        ) -> ChatReply:
            return ChatReply("{}", 1_234, 56)

    chat = MeteredChatModel(Telling())
    await chat.fill(ASKED, SHAPE)
    await chat.fill(ASKED, SHAPE)
    assert chat.usage == Usage(
        calls=2, prompt_tokens=2 * 1_234, completion_tokens=2 * 56
    )


async def test_a_stream_counts_four_characters_as_a_token() -> None:
    chat = MeteredChatModel(ScriptedChat(["The ", "lamp", " is", " out."]))
    await heard(chat)
    assert chat.usage == Usage(calls=1, prompt_tokens=SENT, completion_tokens=4)


async def test_what_was_taken_does_not_count_again() -> None:
    chat = MeteredChatModel(ScriptedChat(["Lamp"], ["Fog and more"]))
    await heard(chat)
    assert chat.take_usage().completion_tokens == 1
    assert chat.take_usage() == Usage()
    await heard(chat)
    assert chat.take_usage() == Usage(calls=1, prompt_tokens=SENT, completion_tokens=3)


async def test_a_call_that_fails_counts_and_costs_nothing() -> None:
    chat = MeteredChatModel(ScriptedChat(AWAY, AWAY))
    with pytest.raises(ServiceUnavailable):
        await chat.fill(ASKED, SHAPE)
    with pytest.raises(ServiceUnavailable):
        await heard(chat)
    assert chat.usage == Usage(calls=2, failed=2)


async def test_an_answer_that_breaks_off_costs_what_came() -> None:
    chat = MeteredChatModel(BreaksOff())
    with pytest.raises(ServiceUnavailable):
        await heard(chat)
    assert chat.usage == Usage(
        calls=1, prompt_tokens=SENT, completion_tokens=2, failed=1
    )


async def test_a_stream_that_is_closed_costs_what_came() -> None:
    chat = MeteredChatModel(ScriptedChat(["The lamp", " is out."]))
    pieces = chat.stream(ASKED)
    assert await anext(pieces) == "The lamp"
    await pieces.aclose()
    assert chat.usage == Usage(calls=1, prompt_tokens=SENT, completion_tokens=2)


async def test_calls_that_are_cancelled_cost_what_was_sent() -> None:
    chat = MeteredChatModel(Silent())
    calls = [
        asyncio.create_task(heard(chat)),
        asyncio.create_task(_text(chat)),
    ]
    await asyncio.sleep(0)
    for call in calls:
        call.cancel()
    ended = await asyncio.gather(*calls, return_exceptions=True)
    assert all(isinstance(one, asyncio.CancelledError) for one in ended)
    assert chat.usage == Usage(calls=2, prompt_tokens=SENT + SENT + 2)


async def _text(chat: ChatModel) -> str:
    return (await chat.fill(ASKED, SHAPE)).text


def a_price(usage: Usage, model: str) -> float | None:
    """A dollar for 1,000 tokens of the known model."""
    tokens = usage.prompt_tokens + usage.completion_tokens
    return tokens / 1000 if model == "known" else None


async def test_a_call_that_could_exceed_the_budget_is_not_made() -> None:
    budget = QuestionBudget(a_price, 1.5)
    model = ScriptedChat(["Lamp"], ["Fog"], name="known")
    chat = MeteredChatModel(model, budget)
    assert await heard(chat) == "Lamp"
    assert await heard(MeteredChatModel(model, budget)) == "Fog"
    tight = MeteredChatModel(
        ScriptedChat(["Lamp"], name="known"), QuestionBudget(a_price, 0.9)
    )
    with pytest.raises(ServiceUnavailable, match=r"the budget of \$0\.90") as caught:
        await heard(tight)
    assert "model.budget" in caught.value.hint
    assert tight.usage == Usage()


async def test_calls_of_all_turns_count_against_one_budget() -> None:
    class Telling(Silent):
        name = "known"

        async def fill(
            self, messages: Sequence[ChatMessage], shape: ReplyShape
        ) -> ChatReply:
            return ChatReply("{}", 600, 0)

    budget = QuestionBudget(a_price, 2.0)
    for _ in range(2):
        await MeteredChatModel(Telling(), budget).fill(ASKED, SHAPE)
    with pytest.raises(ServiceUnavailable):
        await MeteredChatModel(Telling(), budget).fill(ASKED, SHAPE)


async def test_calls_in_progress_count_at_their_estimate() -> None:
    budget = QuestionBudget(a_price, 2.0)
    reserved = budget.reserve("known", 100)
    with pytest.raises(ServiceUnavailable):
        budget.reserve("known", 100)
    budget.settle(reserved, "known", Usage())
    assert budget.reserve("known", 100) == reserved


async def test_without_a_price_nothing_is_sent_under_a_budget() -> None:
    chat = MeteredChatModel(
        ScriptedChat(["Lamp"], name="new"), QuestionBudget(a_price, 1.0)
    )
    with pytest.raises(ServiceUnavailable, match="price of new is unknown"):
        await heard(chat)
    free = MeteredChatModel(
        ScriptedChat(["Lamp"], name="new"), QuestionBudget(a_price, 0)
    )
    assert await heard(free) == "Lamp"


async def test_each_call_is_recorded_with_purpose_tokens_and_seconds() -> None:
    times = iter((1.0, 3.5, 4.0, 4.25, 5.0, 5.0))
    broken = ServiceUnavailable("Away.")
    chat = ScriptedChat("filled", ["The ", "lamp"], broken, name="pretend-1")
    metered = MeteredChatModel(chat, clock=lambda: next(times))
    await metered.fill(ASKED, SHAPE)
    [piece async for piece in metered.stream(ASKED)]
    with pytest.raises(ServiceUnavailable):
        await metered.fill(ASKED, SHAPE)
    calls = metered.take_calls()
    assert [began for began, _ in calls] == [1.0, 4.0, 5.0]
    rows = [(c.purpose, c.model, c.seconds, c.failed) for _, c in calls]
    assert rows == [
        (SHAPE.name.lower(), "pretend-1", 2.5, False),
        ("answer", "pretend-1", 0.25, False),
        (SHAPE.name.lower(), "pretend-1", 0.0, True),
    ]
    assert metered.take_calls() == []
