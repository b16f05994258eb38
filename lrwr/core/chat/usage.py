"""What is asked of a chat model, counted while it is asked."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from lrwr.core.model.errors import ServiceUnavailable
from lrwr.core.model.usage import Usage
from lrwr.core.ports.chat_model import ChatMessage, ChatModel, ChatReply, ReplyShape


class MeteredChatModel:
    """A chat model whose calls and tokens are counted; one for each turn.

    `calls` are all that were made, `failed` those of them that raised. Tokens of `fill`
    are its reply's. A stream tells none, nor does a call that is stopped: there they
    are characters / 4. A call that fails before it says a word counts no tokens.
    Two turns at once do not mix as long as each has its own.
    """

    def __init__(self, chat: ChatModel) -> None:
        self._chat = chat
        self._usage = Usage()

    @property
    def name(self) -> str:
        """Name the model."""
        return self._chat.name

    @property
    def usage(self) -> Usage:
        """What has come since it was last taken; calls under way are not in it."""
        return self._usage

    def taken(self) -> Usage:
        """Return the usage, and start anew."""
        usage, self._usage = self._usage, Usage()
        return usage

    async def fill(
        self, messages: Sequence[ChatMessage], shape: ReplyShape
    ) -> ChatReply:
        """Return the model's reply, and count the tokens that it tells."""
        try:
            reply = await self._chat.fill(messages, shape)
        except ServiceUnavailable:
            self._usage += Usage(calls=1, failed=1)
            raise
        except asyncio.CancelledError:
            self._usage += Usage(calls=1, prompt_tokens=_sent(messages, shape))
            raise
        self._usage += Usage(1, reply.prompt_tokens, reply.completion_tokens)
        return reply

    async def stream(self, messages: Sequence[ChatMessage]) -> AsyncGenerator[str]:
        """Yield the model's answer; what came counts, also where it ends early."""
        sent, said, failed = _sent(messages), 0, 0
        try:
            async with aclosing(self._chat.stream(messages)) as pieces:
                async for piece in pieces:
                    said += len(piece)
                    yield piece
        except ServiceUnavailable:
            sent, failed = sent if said else 0, 1
            raise
        finally:
            self._usage += Usage(1, sent, _quarter(said), failed=failed)


def _sent(messages: Sequence[ChatMessage], shape: ReplyShape | None = None) -> int:
    """Estimate the tokens of what is sent."""
    schema = len(shape.schema) if shape else 0
    return sum(_quarter(len(one.text)) for one in messages) + _quarter(schema)


def _quarter(characters: int) -> int:
    return -(-characters // 4)
