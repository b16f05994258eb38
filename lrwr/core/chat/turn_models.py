"""Who speaks and thinks in a turn."""

from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Literal

from lrwr.core.bible.values import Bible
from lrwr.core.chat.context.gap_finder import GapFinder
from lrwr.core.chat.context.tool_loop import LookupLoop
from lrwr.core.chat.generation.avatars import ModelAvatar
from lrwr.core.chat.nodes import Avatar, AvatarAnswer, TurnEventEmitter
from lrwr.core.chat.planning.rules import plan_by_rules
from lrwr.core.chat.state import RetrievalResult, TurnQuestion
from lrwr.core.model.language_model import Usage
from lrwr.core.model.turns import QuestionPlan
from lrwr.core.ports.models import ChatMessage


def _nothing(_question: TurnQuestion, _bible: Bible) -> Sequence[Sequence[ChatMessage]]:
    return ()


async def plan_without_model(question: TurnQuestion, bible: Bible) -> QuestionPlan:
    """Plan without asking anybody."""
    return plan_by_rules(question, bible)


@dataclass(frozen=True, slots=True)
class TurnModels:
    """Who plans and who answers in one turn; `taken` tells what models were asked.

    `cost` tells the US dollars that it came to, None where a price is not known; ask it
    before `taken`. Without it, the avatar's model alone was asked. `seeker` goes on
    looking things up, `gaps` finds what is undefined; None where nobody does. `asked_first` tells what a planner would
    be sent.
    """

    plan: Callable[[TurnQuestion, Bible], Coroutine[None, None, QuestionPlan]]
    avatar: Avatar
    taken: Callable[[], Usage] = Usage
    seeker: LookupLoop | None = None
    gaps: GapFinder | None = None
    cost: Callable[[], float | None] | None = None
    asked_first: Callable[[TurnQuestion, Bible], Sequence[Sequence[ChatMessage]]] = (
        _nothing
    )


@dataclass(frozen=True, slots=True)
class PromptPreview:
    """What a language model would be sent, and what for."""

    purpose: Literal["planning", "answering"]
    messages: Sequence[ChatMessage]

    @property
    def text(self) -> str:
        """The words of all messages."""
        return "\n".join(message.text for message in self.messages)


@dataclass(slots=True)
class PreviewAvatar:
    """Stands in for a model, and keeps what that would be sent for the answer."""

    avatar: ModelAvatar
    messages: Sequence[ChatMessage] = ()

    @property
    def model(self) -> str:
        """Nobody answers."""
        return ""

    async def answer(
        self,
        question: TurnQuestion,
        plan: QuestionPlan,
        result: RetrievalResult,
        _emit: TurnEventEmitter,
    ) -> AvatarAnswer:
        """Say nothing."""
        self.messages = (await self.avatar.prompt(question, plan, result)).messages
        return AvatarAnswer("")
