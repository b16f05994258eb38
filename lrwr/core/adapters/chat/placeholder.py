"""A model that bears its name and is never asked."""

from collections.abc import AsyncGenerator, Sequence

from lrwr.core.model.errors import LrwrError, ServiceUnavailable
from lrwr.core.ports.models import ChatMessage, ChatReply, ReplyShape


class UnavailableChatModel:
    """Stands for a model where it may be named and not asked; holds no connection.

    `why` is what whoever asks it is told.
    """

    def __init__(self, name: str, error: LrwrError) -> None:
        self._name = name
        self._why = error

    @property
    def name(self) -> str:
        """Name the model, as its server does."""
        return self._name

    async def fill(
        self, messages: Sequence[ChatMessage], shape: ReplyShape
    ) -> ChatReply:
        """Refuse."""
        del messages, shape
        raise self._refusal()

    async def stream(self, messages: Sequence[ChatMessage]) -> AsyncGenerator[str]:
        """Refuse."""
        del messages
        raise self._refusal()
        yield ""

    def _refusal(self) -> ServiceUnavailable:
        return ServiceUnavailable(str(self._why), hint=self._why.hint)
