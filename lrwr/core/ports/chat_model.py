"""A language model that is asked for an answer of a given shape."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message to a model."""

    role: Literal["system", "user", "assistant"]
    text: str


@dataclass(frozen=True, slots=True)
class ReplyShape:
    """The JSON that is asked for: a name, and a strict JSON schema as JSON text."""

    name: str
    schema: str


@dataclass(frozen=True, slots=True)
class ChatReply:
    """What a model said, and the tokens that it took, as its server counts them."""

    text: str
    prompt_tokens: int
    completion_tokens: int


class ChatModel(Protocol):
    """One model of one server.

    Calls run at once up to the server's limit, which the adapter keeps; it waits and
    tries again where the server asks for it, and only there are retries made.
    """

    @property
    def name(self) -> str:
        """Name the model, as the server does."""
        ...

    async def fill(
        self, messages: Sequence[ChatMessage], shape: ReplyShape
    ) -> ChatReply:
        """Return a reply that the server was told to keep to `shape`.

        Whether it did is not checked.

        Raises:
            ServiceUnavailable: The server did not answer, or refused.
        """
        ...

    def stream(self, messages: Sequence[ChatMessage]) -> AsyncGenerator[str]:
        """Yield a free answer, piece by piece, as the server sends it.

        Raises:
            ServiceUnavailable: The server did not answer, refused, or broke off.
        """
        ...
