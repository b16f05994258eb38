"""What a question needs, told by a language model in two calls at once."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Generic, TypeVar

from lrwr.core.bible.values import Bible
from lrwr.core.chat.planning.prompts import (
    build_entities_messages,
    build_planner_repair_messages,
    build_tools_messages,
)
from lrwr.core.chat.planning.replies import (
    ToolSelection,
    build_entities_shape,
    build_tools_shape,
    parse_entities_reply,
    parse_tools_reply,
)
from lrwr.core.chat.state import TurnQuestion
from lrwr.core.model.errors import ServiceUnavailable
from lrwr.core.model.language_model import MalformedReply
from lrwr.core.model.turns import (
    AnswerIntent,
    AnswerMode,
    QuestionEntity,
    QuestionPlan,
    SourceChoice,
)
from lrwr.core.ports.models import ChatMessage, ChatModel, ReplyShape

T = TypeVar("T")

TOOL_THRESHOLD = 0.7
ENTITY_THRESHOLD = 0.6
"""How sure a model must be of what it chooses, and of a name. A source too many costs
more than a name too many, which is merely looked up."""

_TOOLS = "What the question needs was told by rules"
_ENTITIES = "Whom and what the question names was told by rules"


@dataclass(frozen=True, slots=True)
class _PlannerReply(Generic[T]):
    """What one call came to; without a `reply`, why not."""

    reply: T | None
    remark: str = ""


class ModelPlanner:
    """Plans with a model, and by the rules where it fails.

    `timeout` is in seconds, for each call with its repair; both run at once.
    """

    def __init__(
        self,
        model: ChatModel,
        timeout: float,
        tool_threshold: float = TOOL_THRESHOLD,
        entity_threshold: float = ENTITY_THRESHOLD,
    ) -> None:
        self._model = model
        self._timeout = timeout
        self._tool_threshold = tool_threshold
        self._entity_threshold = entity_threshold

    def messages(
        self, question: TurnQuestion, bible: Bible
    ) -> tuple[list[ChatMessage], list[ChatMessage]]:
        """Return what the two calls are sent: for sources, and for names."""
        return build_tools_messages(question, bible), build_entities_messages(
            question, bible
        )

    async def plan(
        self, question: TurnQuestion, bible: Bible, fallback: QuestionPlan
    ) -> QuestionPlan:
        """Return a plan; what a call does not tell is `fallback`'s, with a remark.

        Cancelling it cancels both calls.
        """
        tools_read = partial(parse_tools_reply, threshold=self._tool_threshold)
        names_read = partial(parse_entities_reply, threshold=self._entity_threshold)
        tools_asked, names_asked = self.messages(question, bible)
        async with asyncio.TaskGroup() as both:
            choosing = both.create_task(
                self._half(tools_asked, build_tools_shape(), tools_read, _TOOLS)
            )
            naming = both.create_task(
                self._half(names_asked, build_entities_shape(), names_read, _ENTITIES)
            )
        return self._joined(question.mode, choosing.result(), naming.result(), fallback)

    async def _half(
        self,
        chat_messages: Sequence[ChatMessage],
        shape: ReplyShape,
        read: Callable[[str], T],
        otherwise: str,
    ) -> _PlannerReply[T]:
        try:
            async with asyncio.timeout(self._timeout):
                return _PlannerReply(await self._filled(chat_messages, shape, read))
        except TimeoutError:
            why = f"the model took more than {self._timeout:g} seconds"
        except ServiceUnavailable as error:
            why = str(error).rstrip(".")
        except MalformedReply:
            why = "the model's reply could not be understood"
        return _PlannerReply(None, f"{otherwise}: {why}.")

    async def _filled(
        self,
        chat_messages: Sequence[ChatMessage],
        shape: ReplyShape,
        read: Callable[[str], T],
    ) -> T:
        """Return a reply as it was understood; one that was not is asked for again."""
        first = await self._model.fill(chat_messages, shape)
        try:
            return read(first.text)
        except MalformedReply as wrong:
            again = build_planner_repair_messages(chat_messages, first.text, str(wrong))
        second = await self._model.fill(again, shape)
        return read(second.text)

    def _joined(
        self,
        mode: AnswerMode,
        tools: _PlannerReply[ToolSelection],
        names: _PlannerReply[tuple[QuestionEntity, ...]],
        fallback: QuestionPlan,
    ) -> QuestionPlan:
        remarks = tuple(filter(None, (tools.remark, names.remark)))
        if tools.reply is None and names.reply is None:
            return replace(fallback, remarks=fallback.remarks + remarks)
        intent, choices = fallback.intent, fallback.choices
        if tools.reply is not None:
            intent = _intent_in(mode, tools.reply.intent)
            choices, unsure = _chosen(tools.reply, fallback)
            remarks += tools.reply.refused + unsure
        entities = fallback.entities if names.reply is None else names.reply
        return QuestionPlan(
            intent, choices, entities, self._model.name, fallback.remarks + remarks
        )


def _intent_in(mode: AnswerMode, answer_intent: AnswerIntent) -> AnswerIntent:
    """Return the intent; whether a character answers is the writer's to say."""
    if mode is AnswerMode.IN_CHARACTER:
        return AnswerIntent.IN_CHARACTER
    return (
        AnswerIntent.ANALYTICAL
        if answer_intent is AnswerIntent.IN_CHARACTER
        else answer_intent
    )


def _chosen(
    tools: ToolSelection, fallback: QuestionPlan
) -> tuple[tuple[SourceChoice, ...], tuple[str, ...]]:
    """Return what a model is sure of; something must be asked, so else the rules'."""
    if tools.choices:
        return tools.choices, ()
    return fallback.choices, (f"{_TOOLS}: the model was sure of nothing.",)
