"""LangChain's `ChatOpenAI`, set up for one model of one server.

Importing this module takes two seconds: `OpenAIChatModel` imports it at the first call.
"""

import asyncio
import warnings
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import TypeVar, cast

import openai
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    BaseMessageChunk,
    HumanMessage,
    SystemMessage,
)
from langchain_core.runnables import RunnableConfig
from langchain_openai import ChatOpenAI
from langsmith import tracing_context
from pydantic import SecretStr

from lrwr.core.adapters.chat.connection import ChatConnection, create_empty_ssl_context
from lrwr.core.adapters.chat.openai_sdk import translate_chat_error
from lrwr.core.adapters.http.errors import (
    HttpRequestInfo,
    ServiceCallError,
    build_interrupted_error,
)
from lrwr.core.ports.models import ChatMessage

T = TypeVar("T")

_NO_KEY = "none"

_IMPROPER = frozenset({"content_filter", "content_policy_violation", "invalid_prompt"})
"""What a server calls a text that its rules forbid: one page of a dark book."""

_STEADY = frozenset({"", "none"})
"""Efforts with which a model takes a temperature, which is then 0."""


_NO_STREAM: RunnableConfig = {"tags": ["nostream"]}
"""Keeps JSON out of a graph's stream of tokens."""


class LangChainClient:
    """Sends messages to one model, with LangSmith's tracing off.

    `server` names the server in errors; `today` returns the time of day in seconds.
    """

    def __init__(
        self,
        connection: ChatConnection,
        http: openai.DefaultAsyncHttpxClient,
        server: HttpRequestInfo,
        today: Callable[[], float],
    ) -> None:
        self._server = server
        self._today = today
        # What it warns of is refused by the server, and told by us.
        warnings.filterwarnings("ignore", module="langchain_openai")
        with openai.DefaultHttpxClient(verify=create_empty_ssl_context()) as never_used:
            self._streaming = _build_model(connection, http, never_used)
        self._filling = self._streaming.model_copy(update={"disable_streaming": True})

    async def fill(
        self, messages: Sequence[ChatMessage], response_format: Mapping[str, object]
    ) -> tuple[str, tuple[int, int] | None]:
        """Return the reply, whole or cut, and its tokens (prompt, completion) if told.

        Raises:
            ServiceCallError: The server did not answer or refused.
        """
        request = _convert_messages(messages)
        return await self._translate(
            lambda: _fill(self._filling, request, response_format)
        )

    def stream(self, messages: Sequence[ChatMessage]) -> AsyncGenerator[str]:
        """Return the pieces of the answer, to be read with `next_piece`."""
        return _stream(self._streaming, _convert_messages(messages), self._server)

    async def next_piece(self, pieces: AsyncGenerator[str]) -> str | None:
        """Return the next piece, None at the end.

        Raises:
            ServiceCallError: The server did not answer, refused, or broke off.
        """
        return await self._translate(lambda: anext(pieces, None))

    async def _translate(self, call: Callable[[], Awaitable[T]]) -> T:
        try:
            with tracing_context(enabled=False):
                return await call()
        except ServiceCallError:
            raise
        except Exception as error:  # three libraries deep, anything may be raised
            raise translate_chat_error(error, self._server, self._today()) from error


def _build_model(
    connection: ChatConnection,
    http: openai.DefaultAsyncHttpxClient,
    never_used: openai.DefaultHttpxClient,
) -> ChatOpenAI:
    return ChatOpenAI(
        model=connection.name,
        base_url=connection.base_url,
        api_key=SecretStr(connection.key or _NO_KEY),
        http_client=never_used,
        http_async_client=http,
        timeout=connection.timeout,
        stream_chunk_timeout=connection.timeout,
        max_retries=0,
        stream_usage=False,
        use_responses_api=False,
        reasoning_effort=connection.effort or None,
        temperature=0.0 if connection.effort in _STEADY else None,
        max_completion_tokens=None if connection.own else connection.most_reply,
        # Servers of one's own know the older name alone.
        extra_body={"max_tokens": connection.most_reply} if connection.own else None,
    )


async def _fill(
    model: ChatOpenAI, request: list[BaseMessage], response_format: Mapping[str, object]
) -> tuple[str, tuple[int, int] | None]:
    """Return what the model said, whole or cut, and the tokens if they were told."""
    try:
        answer = await model.ainvoke(
            request, _NO_STREAM, response_format=response_format
        )
    except openai.LengthFinishReasonError as cut:
        token_usage = cut.completion.usage
        tokens = (
            (token_usage.prompt_tokens, token_usage.completion_tokens)
            if token_usage
            else None
        )
        return cut.completion.choices[0].message.content or "", tokens
    except openai.ContentFilterFinishReasonError:
        return "", None
    except openai.BadRequestError as refused:
        if refused.code in _IMPROPER:
            return "", None
        raise
    usage = answer.usage_metadata
    tokens = (usage["input_tokens"], usage["output_tokens"]) if usage else None
    return str(answer.text), tokens


async def _stream(
    model: ChatOpenAI, request: list[BaseMessage], server: HttpRequestInfo
) -> AsyncGenerator[str]:
    finished = False
    async with aclosing(
        cast("AsyncGenerator[BaseMessageChunk]", model.astream(request))
    ) as chunks:
        async for chunk in chunks:
            _stop_if_cancelled()
            finished = finished or "finish_reason" in chunk.response_metadata
            if chunk.text:
                yield str(chunk.text)
    if not finished:
        raise build_interrupted_error(server)


def _stop_if_cancelled() -> None:
    """Stop where a stop was lost.

    The client waits for each chunk with `asyncio.wait_for`, which before Python 3.12
    drops a cancellation that arrives together with the chunk.
    """
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError


def _convert_messages(messages: Sequence[ChatMessage]) -> list[BaseMessage]:
    kinds = {"system": SystemMessage, "user": HumanMessage, "assistant": AIMessage}
    return [kinds[message.role](content=message.text) for message in messages]
