"""A chat model behind OpenAI's API: OpenAI itself, or a server that speaks like it."""

import asyncio
import json
from collections.abc import (
    AsyncGenerator,
    Sequence,
)
from contextlib import aclosing
from typing import TYPE_CHECKING

from lrwr.core.adapters.chat.connection import ChatConnection, ModelServerClient
from lrwr.core.adapters.http.egress_log import EgressLogEntry
from lrwr.core.adapters.http.errors import (
    HttpRequestInfo,
    ServiceCallError,
    build_interrupted_error,
)
from lrwr.core.model.egress import OutboundRequest, RequestPurpose
from lrwr.core.ports.models import ChatMessage, ChatReply, ReplyShape

if TYPE_CHECKING:
    from openai import DefaultAsyncHttpxClient

    from lrwr.core.adapters.chat.langchain_client import LangChainClient


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
        self._opened: LangChainClient | None = None
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
        response_format = {
            "type": "json_schema",
            "json_schema": {
                "name": shape.name,
                "schema": json.loads(shape.schema),
                "strict": True,
            },
        }
        guessed = _quarter(shape.schema) + _sent(messages)

        async def call() -> ChatReply:
            async with aclosing(self._line.note(self._about)) as note:
                with self._line.errand(note):
                    text, usage = await opened.fill(messages, response_format)
                reply = ChatReply(text, *(usage or (guessed, _quarter(text))))
                note.counted(reply.prompt_tokens, reply.completion_tokens)
            return reply

        async with self._line.turnstile.place():
            return await self._line.turnstile.trying(call, self._patience)

    async def stream(self, messages: Sequence[ChatMessage]) -> AsyncGenerator[str]:
        """Yield the answer as it comes; only a call that said nothing is made again."""
        opened = await self._open()
        prompt_tokens, answer_length = _sent(messages), 0
        async with self._line.turnstile.place():
            first, pieces, note = await self._line.turnstile.trying(
                lambda: self._begin(opened, messages), self._patience
            )
            async with aclosing(note), aclosing(pieces):
                piece: str | None = first
                while piece is not None:
                    answer_length += len(piece)
                    note.counted(prompt_tokens, -(-answer_length // 4))
                    yield piece
                    piece = await self._next(opened, pieces)
                note.whole()

    async def aclose(self) -> None:
        """Let go of connections, for all who share the line. Safe to call twice."""
        self._opened = None
        await self._line.aclose()

    async def _begin(
        self, opened: "LangChainClient", messages: Sequence[ChatMessage]
    ) -> tuple[str | None, AsyncGenerator[str], EgressLogEntry]:
        """Return the first piece, None if there is none, the rest, and its note."""
        pieces = opened.stream(messages)
        note = self._line.note(self._about)
        try:
            with self._line.errand(note):
                first = await opened.next_piece(pieces)
        except BaseException:  # also when the writer stops it: nothing stays open
            await pieces.aclose()
            await note.aclose()
            raise
        return first, pieces, note

    async def _next(
        self, opened: "LangChainClient", pieces: AsyncGenerator[str]
    ) -> str | None:
        try:
            return await opened.next_piece(pieces)
        except ServiceCallError as refused:
            raise build_interrupted_error(self._asked) from refused

    async def _open(self) -> "LangChainClient":
        about = self._connection
        async with self._opening:
            if self._opened is None:
                http = await self._line.http(
                    about.base_url, seconds=about.timeout, is_local=about.own
                )
                self._opened = await asyncio.to_thread(self._import, http)
            return self._opened

    def _import(self, http: "DefaultAsyncHttpxClient") -> "LangChainClient":
        """Make the client; importing it takes two seconds, and not the loop's."""
        from lrwr.core.adapters.chat.langchain_client import LangChainClient

        return LangChainClient(
            self._connection, http, self._asked, self._line.clock.today
        )


def _sent(messages: Sequence[ChatMessage]) -> int:
    return sum(_quarter(message.text) for message in messages)


def _quarter(text: str) -> int:
    return -(-len(text) // 4)
