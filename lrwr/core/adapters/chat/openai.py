"""Language models: one that a server answers, and a stand-in that may not be called."""

import asyncio
import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, asynccontextmanager
from typing import TYPE_CHECKING

from lrwr.core.adapters.chat.connection import ChatConnection, ModelServerClient
from lrwr.core.adapters.http.egress_log import EgressLogEntry
from lrwr.core.adapters.http.errors import (
    AnswerCutOff,
    ServiceCallError,
    build_interrupted_error,
    build_late_answer_error,
    build_long_answer_error,
)
from lrwr.core.model.egress import OutboundRequest, RequestPurpose
from lrwr.core.model.errors import LrwrError, ServiceUnavailable
from lrwr.core.ports.models import ChatMessage, ChatReply, ReplyShape

if TYPE_CHECKING:
    from openai import DefaultAsyncHttpxClient

    from lrwr.core.adapters.chat.langchain_client import LangChainClient

_MAX_TOKEN_CHARS = 8
"""Characters of a reply that count as one token at most. Tokens of English text have
four on average; the server, which knows them, should stop before lrwr does."""


class OpenAIChatModel:
    """A language model behind OpenAI's API, called through `langchain-openai`.

    `purpose` is recorded in the send log. `patience` is the number of seconds after
    which a failed call is not retried; None means that of the client's rate limit. The
    models of one server share its `client`. Nothing is imported or opened before the
    first call.

    Tokens are those that the server counts, else characters / 4. LangSmith's tracing is
    off, whatever the environment says.
    """

    def __init__(
        self,
        connection: ChatConnection,
        client: ModelServerClient,
        purpose: RequestPurpose = RequestPurpose.ANSWERING,
        patience: float | None = None,
    ) -> None:
        self._connection = connection
        self._client = client
        self._patience = patience
        self._opening = asyncio.Lock()
        self._langchain: LangChainClient | None = None
        self._about = OutboundRequest(
            connection.service, connection.host, purpose, connection.name
        )

    @property
    def name(self) -> str:
        """The model's name on its server."""
        return self._connection.name

    async def fill(
        self, messages: Sequence[ChatMessage], shape: ReplyShape
    ) -> ChatReply:
        """Return a reply that should match the JSON schema of `shape`.

        The text is not checked against the schema. It is empty if the server's content
        rules forbid a reply.

        Raises:
            ServiceCallError: The server did not answer in time, or refused.
        """
        langchain = await self._open()
        deadline = self._find_deadline()
        response_format = {
            "type": "json_schema",
            "json_schema": {
                "name": shape.name,
                "schema": json.loads(shape.schema),
                "strict": True,
            },
        }
        most_tokens = min(shape.most_tokens, self._connection.most_reply)
        estimate = _estimate_tokens(shape.schema) + _estimate_prompt(messages)

        async def call() -> ChatReply:
            async with aclosing(self._client.new_log_entry(self._about)) as entry:
                with self._client.log_to(entry):
                    async with self._until(deadline):
                        text, tokens = await langchain.fill(
                            messages, response_format, most_tokens
                        )
                reply = ChatReply(text, *(tokens or (estimate, _estimate_tokens(text))))
                entry.record_usage(reply.prompt_tokens, reply.completion_tokens)
            return reply

        limiter = self._client.rate_limiter
        async with limiter.slot():
            return await limiter.call_with_retries(call, self._patience)

    async def stream(self, messages: Sequence[ChatMessage]) -> AsyncGenerator[str]:
        """Yield the reply in pieces. A failed call is retried only before the first
        piece.

        Raises:
            ServiceCallError: The server did not answer, refused or stopped early, or
                the reply is too long or takes too long. It is then cut off.
        """
        langchain = await self._open()
        deadline = self._find_deadline()
        prompt_tokens, reply_chars = _estimate_prompt(messages), 0
        limiter = self._client.rate_limiter
        async with limiter.slot():
            first, pieces, entry = await limiter.call_with_retries(
                lambda: self._begin(langchain, messages, deadline), self._patience
            )
            async with aclosing(entry), aclosing(pieces):
                piece: str | None = first
                while piece is not None:
                    reply_chars += len(piece)
                    # Recorded with each piece, so that a stopped reply is counted, too.
                    entry.record_usage(prompt_tokens, -(-reply_chars // 4))
                    self._check_length(reply_chars)
                    yield piece
                    piece = await self._next(langchain, pieces, deadline)
                entry.mark_complete()

    async def aclose(self) -> None:
        """Close the connections of the client, which other models may share.
        Idempotent.
        """
        self._langchain = None
        await self._client.aclose()

    @asynccontextmanager
    async def _until(self, deadline: float) -> AsyncGenerator[None]:
        """Cancel what runs inside at `deadline`, and raise `ServiceCallError`."""
        try:
            async with asyncio.timeout_at(deadline):
                yield
        except TimeoutError as error:
            connection = self._connection
            raise build_late_answer_error(
                connection.request_info, connection.answer_timeout
            ) from error

    def _find_deadline(self) -> float:
        """Return when a reply that begins now must be finished, by the loop's clock."""
        return asyncio.get_running_loop().time() + self._connection.answer_timeout

    async def _begin(
        self,
        langchain: "LangChainClient",
        messages: Sequence[ChatMessage],
        deadline: float,
    ) -> tuple[str | None, AsyncGenerator[str], EgressLogEntry]:
        """Return the first piece (None if there is none), the rest, and the log entry."""
        pieces = langchain.stream(messages)
        entry = self._client.new_log_entry(self._about)
        try:
            with self._client.log_to(entry):
                async with self._until(deadline):
                    first = await langchain.next_piece(pieces)
        except BaseException:  # a cancellation, too, must not leave anything open
            await pieces.aclose()
            await entry.aclose()
            raise
        return first, pieces, entry

    def _check_length(self, reply_chars: int) -> None:
        if reply_chars > self._connection.most_reply * _MAX_TOKEN_CHARS:
            raise build_long_answer_error(self._connection.request_info)

    async def _next(
        self,
        langchain: "LangChainClient",
        pieces: AsyncGenerator[str],
        deadline: float,
    ) -> str | None:
        try:
            async with self._until(deadline):
                return await langchain.next_piece(pieces)
        except AnswerCutOff:
            raise
        except ServiceCallError as error:
            raise build_interrupted_error(self._connection.request_info) from error

    async def _open(self) -> "LangChainClient":
        connection = self._connection
        async with self._opening:
            if self._langchain is None:
                http = await self._client.http(
                    connection.base_url,
                    seconds=connection.timeout,
                    is_local=connection.own,
                )
                self._langchain = await asyncio.to_thread(self._create_langchain, http)
            return self._langchain

    def _create_langchain(self, http: "DefaultAsyncHttpxClient") -> "LangChainClient":
        """Import LangChain, which takes two seconds, and create its client."""
        from lrwr.core.adapters.chat.langchain_client import LangChainClient

        connection = self._connection
        return LangChainClient(
            connection, http, connection.request_info, self._client.clock.today
        )


class UnavailableChatModel:
    """A stand-in for a language model that is configured but may not be called.

    It has the model's name; each call raises `ServiceUnavailable` with the message and
    hint of `error`.
    """

    def __init__(self, name: str, error: LrwrError) -> None:
        self._name = name
        self._error = error

    @property
    def name(self) -> str:
        """The model's name on its server."""
        return self._name

    async def fill(
        self, messages: Sequence[ChatMessage], shape: ReplyShape
    ) -> ChatReply:
        """Always raise an error.

        Raises:
            ServiceUnavailable: With the reason why the model may not be called.
        """
        del messages, shape
        raise self._refusal()

    async def stream(self, messages: Sequence[ChatMessage]) -> AsyncGenerator[str]:
        """Always raise an error, when the first piece is read.

        Raises:
            ServiceUnavailable: With the reason why the model may not be called.
        """
        del messages
        raise self._refusal()
        yield ""

    def _refusal(self) -> ServiceUnavailable:
        return ServiceUnavailable(str(self._error), hint=self._error.hint)


def _estimate_prompt(messages: Sequence[ChatMessage]) -> int:
    return sum(_estimate_tokens(message.text) for message in messages)


def _estimate_tokens(text: str) -> int:
    """Return characters / 4, rounded up: OpenAI's rule of thumb for English text."""
    return -(-len(text) // 4)
