"""What every chat model promises: behind a server, and without one."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from dataclasses import dataclass

import pytest

from lrwr.core.adapters.chat.connection import ChatConnection, ModelServerClient
from lrwr.core.adapters.chat.openai import OpenAIChatModel
from lrwr.core.adapters.http.rate_limit import RateLimit
from lrwr.core.model.errors import ServiceUnavailable
from lrwr.core.ports.models import ChatMessage, ChatModel, ReplyShape
from tests.fakes.chat_models import ScriptedChat
from tests.fakes.model_server import KEY, MODEL, ModelServer, Refuse, Say

HELLO = [ChatMessage("system", "You are a lamp."), ChatMessage("user", "Are you lit?")]
SHAPE = ReplyShape(
    "Lamp",
    json.dumps(
        {
            "type": "object",
            "properties": {"lit": {"type": "boolean"}},
            "required": ["lit"],
            "additionalProperties": False,
        }
    ),
)


@dataclass
class Subject:
    """A chat model, and how a test makes it talk: by replies, in turn."""

    will: Callable[..., ChatModel]


def scripted(*replies: str | list[str] | ServiceUnavailable) -> ChatModel:
    return ScriptedChat(*replies, name=MODEL)


@pytest.fixture(params=["openai", "scripted"])
async def subject(request: pytest.FixtureRequest) -> AsyncIterator[Subject]:
    if request.param == "scripted":
        yield Subject(scripted)
        return
    with ModelServer() as server:
        chat = OpenAIChatModel(
            ChatConnection(MODEL, server.base_url, key=KEY),
            ModelServerClient(RateLimit(4)),
        )

        def will(*replies: str | list[str] | ServiceUnavailable) -> ChatModel:
            for reply in replies:
                match reply:
                    case str():
                        server.will(Say(reply))
                    case list():
                        server.will(Say(*reply))
                    case _:
                        server.will(Refuse(400))
            return chat

        yield Subject(will)
        await chat.aclose()


NO = ServiceUnavailable("It does not answer.", hint="Wake it up.")


async def test_it_has_the_name_that_the_server_knows(subject: Subject) -> None:
    assert subject.will().name == MODEL


async def test_a_reply_is_returned_as_it_was_said_with_its_tokens(
    subject: Subject,
) -> None:
    reply = await subject.will('{"lit":true}').fill(HELLO, SHAPE)
    assert reply.text == '{"lit":true}'
    assert reply.completion_tokens == 3
    assert reply.prompt_tokens > 30


async def test_a_reply_that_does_not_fit_is_returned_all_the_same(
    subject: Subject,
) -> None:
    reply = await subject.will("I am a lamp").fill(HELLO, SHAPE)
    assert reply.text == "I am a lamp"


async def test_a_stream_comes_piece_by_piece(subject: Subject) -> None:
    chat = subject.will(["Once", " upon", " a", " time"])
    assert [p async for p in chat.stream(HELLO)] == ["Once", " upon", " a", " time"]


async def test_a_stream_may_be_left_early(subject: Subject) -> None:
    chat = subject.will(["Once", " upon"], "again")
    async with aclosing(chat.stream(HELLO)) as pieces:
        assert await anext(pieces) == "Once"
    assert [p async for p in chat.stream(HELLO)] == ["again"]


async def test_a_refusal_has_something_to_try(subject: Subject) -> None:
    chat = subject.will(NO, NO)
    with pytest.raises(ServiceUnavailable) as caught:
        await chat.fill(HELLO, SHAPE)
    assert caught.value.hint
    with pytest.raises(ServiceUnavailable) as caught:
        await anext(chat.stream(HELLO))
    assert caught.value.hint


async def test_calls_may_run_at_once(subject: Subject) -> None:
    chat = subject.will(*(["{}"] * 6))
    replies = await asyncio.gather(*(chat.fill(HELLO, SHAPE) for _ in range(6)))
    assert [reply.text for reply in replies] == ["{}"] * 6
