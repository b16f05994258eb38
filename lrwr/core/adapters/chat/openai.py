"""A chat model behind OpenAI's API: OpenAI itself, or a server that speaks like it."""

import asyncio
import json
import warnings
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Awaitable,
    Callable,
    Mapping,
    Sequence,
)
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar, cast
from urllib.parse import urlsplit

from lrwr.core.adapters.chat.connection import (
    ModelServerClient,
    create_empty_ssl_context,
)
from lrwr.core.adapters.chat.errors import translate_chat_error
from lrwr.core.adapters.http.egress_log import EgressLogEntry
from lrwr.core.adapters.http.errors import (
    HttpRequestInfo,
    ServiceCallError,
    build_interrupted_error,
)
from lrwr.core.model.egress import OutboundRequest, RequestPurpose
from lrwr.core.ports.chat_model import ChatMessage, ChatReply, ReplyShape

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage, BaseMessageChunk
    from langchain_core.runnables import RunnableConfig
    from langchain_openai import ChatOpenAI
    from openai import DefaultAsyncHttpxClient, DefaultHttpxClient

T = TypeVar("T")

OPENAI_CHAT_URL = "https://api.openai.com/v1"

MAX_REPLY_TOKENS = 16_000
"""Tokens of a reply: a small model may otherwise never stop."""

_NO_KEY = "none"

_IMPROPER = frozenset({"content_filter", "content_policy_violation", "invalid_prompt"})
"""What a server calls a text that its rules forbid: one page of a dark book."""

_STEADY = frozenset({"", "none"})
"""Efforts with which a model takes a temperature, which is then 0."""


@dataclass(frozen=True, slots=True)
class ChatConnection:
    """Which model of which server, and how it is asked.

    `timeout` is in seconds. `effort` is a reasoning effort that the model knows, empty
    to ask for none in particular. `own` says that the server is the writer's own: it is
    told no key, and no proxy is used.
    """

    name: str
    base_url: str = OPENAI_CHAT_URL
    key: str = field(default="", repr=False)
    timeout: float = 300.0
    effort: str = ""
    own: bool = False
    most_reply: int = MAX_REPLY_TOKENS

    @property
    def server(self) -> str:
        """Name the server, for the writer."""
        place = urlsplit(self.base_url)
        if self.base_url == OPENAI_CHAT_URL:
            return "OpenAI"
        return f"The model server at {place.hostname}:{place.port or 443}"

    @property
    def service(self) -> str:
        """Name the service as the setting `model.use` does."""
        return "local" if self.own else "openai"

    @property
    def host(self) -> str:
        """Name the machine that is asked."""
        return urlsplit(self.base_url).hostname or ""


class OpenAIChatModel:
    """A model that is asked through `langchain-openai`, for one purpose.

    Nothing is imported or opened before the first call. Tokens are those that the
    server counted; where it tells none, characters / 4. Tracing is off, whatever the
    environment says. Several models of one server share its `line`. `patience` is in
    seconds and shortens the line's, where somebody waits for what the model says.
    """

    def __init__(
        self,
        connection: ChatConnection,
        line: ModelServerClient,
        purpose: RequestPurpose = RequestPurpose.ANSWERING,
        patience: float | None = None,
    ) -> None:
        self._connection = connection
        self._line = line
        self._patience = patience
        self._opening = asyncio.Lock()
        self._opened: _LangChainModels | None = None
        self._about = OutboundRequest(
            connection.service, connection.host, purpose, connection.name
        )
        self._asked = HttpRequestInfo(
            server=connection.server,
            model=connection.name,
            timeout=connection.timeout,
            here=connection.own,
        )

    @property
    def name(self) -> str:
        """Name the model."""
        return self._connection.name

    async def fill(
        self, messages: Sequence[ChatMessage], shape: ReplyShape
    ) -> ChatReply:
        """Return a reply to a strict JSON schema; empty where the model refused."""
        opened = await self._open()
        wanted = {
            "type": "json_schema",
            "json_schema": {
                "name": shape.name,
                "schema": json.loads(shape.schema),
                "strict": True,
            },
        }
        asked = _for_langchain(messages)
        guessed = _quarter(shape.schema) + _sent(messages)

        async def call() -> ChatReply:
            async with aclosing(self._line.note(self._about)) as note:
                with self._line.errand(note):
                    text, usage = await _filled(opened.filling, asked, wanted)
                reply = ChatReply(text, *(usage or (guessed, _quarter(text))))
                note.counted(reply.prompt_tokens, reply.completion_tokens)
            return reply

        async with self._line.turnstile.place():
            return await self._line.turnstile.trying(
                lambda: self._translated(call), self._patience
            )

    async def stream(self, messages: Sequence[ChatMessage]) -> AsyncGenerator[str]:
        """Yield the answer as it comes; only a call that said nothing is made again."""
        opened = await self._open()
        asked, sent, said = _for_langchain(messages), _sent(messages), 0
        async with self._line.turnstile.place():
            first, rest, note = await self._line.turnstile.trying(
                lambda: self._begin(opened.streaming, asked), self._patience
            )
            async with aclosing(note), aclosing(rest):
                piece: str | None = first
                while piece is not None:
                    said += len(piece)
                    note.counted(sent, -(-said // 4))
                    yield piece
                    piece = await self._next(rest)
                note.whole()

    async def aclose(self) -> None:
        """Let go of connections, for all who share the line. Safe to call twice."""
        self._opened = None
        await self._line.aclose()

    async def _begin(
        self, model: "ChatOpenAI", asked: "list[BaseMessage]"
    ) -> tuple[str | None, AsyncGenerator[str], EgressLogEntry]:
        """Return the first piece, None if there is none, the rest, and its note."""
        rest = _pieces(model, asked, self._asked)
        note = self._line.note(self._about)
        try:
            with self._line.errand(note):
                first = await self._translated(lambda: anext(rest, None))
        except BaseException:  # also when the writer stops it: nothing stays open
            await rest.aclose()
            await note.aclose()
            raise
        return first, rest, note

    async def _next(self, pieces: AsyncIterator[str]) -> str | None:
        try:
            return await self._translated(lambda: anext(pieces, None))
        except ServiceCallError as refused:
            raise build_interrupted_error(self._asked) from refused

    async def _translated(self, call: Callable[[], Awaitable[T]]) -> T:
        from langsmith import tracing_context

        try:
            with tracing_context(enabled=False):
                return await call()
        except ServiceCallError:
            raise
        except Exception as error:  # three libraries deep, anything may be raised
            now = self._line.clock.today()
            raise translate_chat_error(error, self._asked, now=now) from error

    async def _open(self) -> "_LangChainModels":
        about = self._connection
        async with self._opening:
            if self._opened is None:
                http = await self._line.http(
                    about.base_url, seconds=about.timeout, own=about.own
                )
                self._opened = await asyncio.to_thread(_open, about, http)
            return self._opened


@dataclass(frozen=True, slots=True)
class _LangChainModels:
    """The model as it fills and as it streams."""

    filling: "ChatOpenAI"
    streaming: "ChatOpenAI"


def _open(
    connection: ChatConnection, http: "DefaultAsyncHttpxClient"
) -> _LangChainModels:
    """Make the model over a client; nothing is sent."""
    import openai

    # What it warns of is refused by the server, and told by us.
    warnings.filterwarnings("ignore", module="langchain_openai")
    with openai.DefaultHttpxClient(verify=create_empty_ssl_context()) as never_used:
        model = _model(connection, http, never_used)
    return _LangChainModels(model.model_copy(update={"disable_streaming": True}), model)


def _model(
    connection: ChatConnection,
    http: "DefaultAsyncHttpxClient",
    never_used: "DefaultHttpxClient",
) -> "ChatOpenAI":
    from langchain_openai import ChatOpenAI
    from pydantic import SecretStr

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


def _quietly() -> "RunnableConfig":
    """Keep JSON out of a graph's stream of tokens."""
    return {"tags": ["nostream"]}


async def _filled(
    model: "ChatOpenAI", asked: "list[BaseMessage]", wanted: Mapping[str, object]
) -> tuple[str, tuple[int, int] | None]:
    """Return what the model said, whole or cut, and the tokens if they were told."""
    import openai

    try:
        answer = await model.ainvoke(asked, _quietly(), response_format=wanted)
    except openai.LengthFinishReasonError as cut:
        told = cut.completion.usage
        tokens = (told.prompt_tokens, told.completion_tokens) if told else None
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


async def _pieces(
    model: "ChatOpenAI", asked: "list[BaseMessage]", server: HttpRequestInfo
) -> AsyncGenerator[str]:
    finished = False
    async with aclosing(_chunks(model, asked)) as chunks:
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


def _chunks(
    model: "ChatOpenAI", asked: "list[BaseMessage]"
) -> "AsyncGenerator[BaseMessageChunk]":
    return cast("AsyncGenerator[BaseMessageChunk]", model.astream(asked))


def _for_langchain(messages: Sequence[ChatMessage]) -> "list[BaseMessage]":
    from langchain_core.messages import AIMessage, HumanMessage, SystemMessage

    kinds = {"system": SystemMessage, "user": HumanMessage, "assistant": AIMessage}
    return [kinds[one.role](content=one.text) for one in messages]


def _sent(messages: Sequence[ChatMessage]) -> int:
    return sum(_quarter(one.text) for one in messages)


def _quarter(text: str) -> int:
    return -(-len(text) // 4)
