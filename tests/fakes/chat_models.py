"""A chat model without a server: it says what it was given, and remembers."""

from collections.abc import AsyncGenerator, Callable, Sequence
from typing import TypeAlias

from lrwr.core.model.errors import ServiceUnavailable
from lrwr.core.ports.models import ChatMessage, ChatReply, ReplyShape
from tests.fakes.model_replies import count_tokens

Answering: TypeAlias = Callable[[Sequence[ChatMessage], ReplyShape | None], str]


class ScriptedChat:
    """Gives its replies in turn, then what `answer` returns.

    A reply may be a failure, which is raised. A stream's pieces are the parts of a
    list, or words with the space before them. `fill` counts characters / 4 as tokens.
    """

    def __init__(
        self,
        *replies: str | list[str] | ServiceUnavailable,
        answer: Answering | None = None,
        name: str = "scripted",
    ) -> None:
        self.asked: list[tuple[list[ChatMessage], ReplyShape | None]] = []
        self._replies = list(replies)
        self._answer = answer
        self._name = name

    @property
    def name(self) -> str:
        """Name the model."""
        return self._name

    async def fill(
        self, messages: Sequence[ChatMessage], shape: ReplyShape
    ) -> ChatReply:
        """Return the next reply."""
        text = "".join(self._next(messages, shape))
        sent = sum(count_tokens(one.text) for one in messages)
        return ChatReply(text, sent + count_tokens(shape.schema), count_tokens(text))

    async def stream(self, messages: Sequence[ChatMessage]) -> AsyncGenerator[str]:
        """Yield the next reply in pieces."""
        for piece in self._next(messages, None):
            yield piece

    def _next(
        self, messages: Sequence[ChatMessage], shape: ReplyShape | None
    ) -> list[str]:
        self.asked.append((list(messages), shape))
        if not self._replies:
            assert self._answer is not None, "nothing left to say"
            return _pieces(self._answer(messages, shape))
        reply = self._replies.pop(0)
        if isinstance(reply, ServiceUnavailable):
            raise reply
        return _pieces(reply)


def _pieces(reply: str | list[str]) -> list[str]:
    if isinstance(reply, list):
        return reply
    first, *others = reply.split(" ")
    return [first, *(f" {word}" for word in others)]
