"""LangChain's `ChatOpenAI`, configured for one language model of one server.

It takes two seconds to import: `OpenAIChatModel` imports this module at the first call.
"""

import asyncio
import warnings
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import Any, TypeVar, cast

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
    build_long_answer_error,
)
from lrwr.core.ports.models import ChatMessage

T = TypeVar("T")

_NO_KEY = "none"
"""LangChain requires a key, even for a server that needs none."""

_CONTENT_REFUSED = frozenset(
    {"content_filter", "content_policy_violation", "invalid_prompt"}
)
"""Error codes for a text that violates the server's rules, such as a violent scene."""

_EFFORTS_WITH_TEMPERATURE = frozenset({"", "none"})
"""Reasoning efforts with which OpenAI accepts a temperature. It is then set to 0."""


_NO_STREAM: RunnableConfig = {"tags": ["nostream"]}
"""Keeps JSON replies out of LangGraph's stream of tokens."""


class LangChainClient:
    """Sends messages to one language model through LangChain, with LangSmith's tracing
    off.

    `request` names server and model in errors. `today` returns seconds since 1970.
    """

    def __init__(
        self,
        connection: ChatConnection,
        http: openai.DefaultAsyncHttpxClient,
        request: HttpRequestInfo,
        today: Callable[[], float],
    ) -> None:
        self._request = request
        self._today = today
        self._is_own = connection.own
        # The server refuses what LangChain warns about, and lrwr reports the refusal.
        warnings.filterwarnings("ignore", module="langchain_openai")
        with openai.DefaultHttpxClient(verify=create_empty_ssl_context()) as unused:
            self._streaming = _build_model(connection, http, unused)
        # JSON replies are not streamed, as LangGraph would otherwise do by itself.
        self._filling = self._streaming.model_copy(update={"disable_streaming": True})

    async def fill(
        self,
        messages: Sequence[ChatMessage],
        response_format: Mapping[str, object],
        most_tokens: int = 0,
    ) -> tuple[str, tuple[int, int] | None]:
        """Return the reply, and its numbers of prompt and completion tokens.

        `response_format` is OpenAI's parameter with the JSON schema of the reply.
        `most_tokens` limits the reply, 0 means the limit of the connection. The numbers are None if the server did not report them. A reply that reached its
        token limit is cut off; one that the server's content rules forbid is empty.

        Raises:
            ServiceCallError: The server did not answer or refused.
        """
        request = _convert_messages(messages)
        parameters = {"response_format": response_format}
        if most_tokens:
            parameters |= _limit_reply(most_tokens, is_own=self._is_own)
        return await self._translate(lambda: _fill(self._filling, request, parameters))

    def stream(self, messages: Sequence[ChatMessage]) -> AsyncGenerator[str]:
        """Return a generator of the pieces of a reply; read it with `next_piece`.

        Nothing is sent before the first piece is read.
        """
        return _stream(self._streaming, _convert_messages(messages), self._request)

    async def next_piece(self, pieces: AsyncGenerator[str]) -> str | None:
        """Return the next of `pieces`, which `stream` returned; None at the end of the
        reply.

        Raises:
            ServiceCallError: The server did not answer, refused or stopped early.
        """
        return await self._translate(lambda: anext(pieces, None))

    async def _translate(self, call: Callable[[], Awaitable[T]]) -> T:
        try:
            with tracing_context(enabled=False):
                return await call()
        except ServiceCallError:
            raise
        except Exception as error:  # three libraries deep, anything may be raised
            raise translate_chat_error(error, self._request, self._today()) from error


def _build_model(
    connection: ChatConnection,
    http: openai.DefaultAsyncHttpxClient,
    unused_sync_http: openai.DefaultHttpxClient,
) -> ChatOpenAI:
    return ChatOpenAI(
        model=connection.name,
        base_url=connection.base_url,
        api_key=SecretStr(connection.key or _NO_KEY),
        http_client=unused_sync_http,
        http_async_client=http,
        timeout=connection.timeout,
        stream_chunk_timeout=connection.timeout,
        max_retries=0,
        stream_usage=False,
        use_responses_api=False,
        reasoning_effort=connection.effort or None,
        temperature=0.0 if connection.effort in _EFFORTS_WITH_TEMPERATURE else None,
        **_limit_reply(connection.most_reply, is_own=connection.own),
    )


def _limit_reply(tokens: int, *, is_own: bool) -> dict[str, Any]:
    """Return the parameter that limits a reply."""
    if is_own:  # local servers support only the older name of the limit
        return {"extra_body": {"max_tokens": tokens}}
    return {"max_completion_tokens": tokens}


async def _fill(
    model: ChatOpenAI, request: list[BaseMessage], parameters: Mapping[str, Any]
) -> tuple[str, tuple[int, int] | None]:
    try:
        answer = await model.ainvoke(request, _NO_STREAM, **parameters)
    except openai.LengthFinishReasonError as error:
        token_usage = error.completion.usage
        tokens = (
            (token_usage.prompt_tokens, token_usage.completion_tokens)
            if token_usage
            else None
        )
        return error.completion.choices[0].message.content or "", tokens
    except openai.ContentFilterFinishReasonError:
        return "", None
    except openai.BadRequestError as error:
        if error.code in _CONTENT_REFUSED:
            return "", None
        raise
    usage = answer.usage_metadata
    tokens = (usage["input_tokens"], usage["output_tokens"]) if usage else None
    return str(answer.text), tokens


async def _stream(
    model: ChatOpenAI, messages: list[BaseMessage], request: HttpRequestInfo
) -> AsyncGenerator[str]:
    finish_reason: str | None = None
    async with aclosing(
        cast("AsyncGenerator[BaseMessageChunk]", model.astream(messages))
    ) as chunks:
        async for chunk in chunks:
            _stop_if_cancelled()
            finish_reason = chunk.response_metadata.get("finish_reason", finish_reason)
            if chunk.text:
                yield str(chunk.text)
    if finish_reason == "length":
        raise build_long_answer_error(request)
    if finish_reason is None:
        raise build_interrupted_error(request)


def _stop_if_cancelled() -> None:
    """Raise the cancellation of this task if it was lost.

    LangChain waits for each chunk with `asyncio.wait_for`, which before Python 3.12
    drops a cancellation that arrives together with the chunk.
    """
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError


def _convert_messages(messages: Sequence[ChatMessage]) -> list[BaseMessage]:
    kinds = {"system": SystemMessage, "user": HumanMessage, "assistant": AIMessage}
    return [kinds[message.role](content=message.text) for message in messages]
