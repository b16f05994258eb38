"""Plans a question with a language model, in two concurrent calls.

Prompts are short because they are sent with every question. Their texts, and the
messages of `MalformedReply`, are part of cache keys: change them only on purpose.
"""

import asyncio
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Generic, TypeVar

from lrwr.core.batch_judge import build_repair_messages
from lrwr.core.bible.values import Bible
from lrwr.core.chat.planning.prompts import (
    build_entities_messages,
    build_tools_messages,
)
from lrwr.core.chat.state import TurnQuestion
from lrwr.core.model.choices import AnswerMode
from lrwr.core.model.errors import ServiceUnavailable
from lrwr.core.model.language_model import (
    MalformedReply,
    build_strict_schema,
    extract_json_object,
    flatten_reply_text,
)
from lrwr.core.model.text import format_seconds
from lrwr.core.model.turns import (
    INTENTIONS_BY_SOURCE,
    MAX_PLANNED_SEARCHES,
    AnswerIntent,
    AnswerSource,
    QuestionEntity,
    QuestionPlan,
    SourceChoice,
    SourceIntention,
)
from lrwr.core.ports.models import ChatMessage, ChatModel, ReplyShape

_MAX_NAME_CHARS = 120
"""Length above which a string cannot be a name."""

_MAX_SEARCH_CHARS = 200
_MAX_QUESTION_CHARS = 1_000
_MAX_CHAPTERS = 5
"""Upper bounds of what a model adds to a plan."""

T = TypeVar("T")
TOOL_THRESHOLD = 0.7
ENTITY_THRESHOLD = 0.6
"""Confidences below which a model's choices and names are ignored. An unnecessary
source costs more than an unnecessary name, which is only looked up."""

STORY_DATA_SOURCES = frozenset(
    {AnswerSource.PROFILES, AnswerSource.WORLD, AnswerSource.TIMELINE}
)

_TOOLS_FALLBACK = "Sources were chosen by rules"
_ENTITIES_FALLBACK = "Names were recognized by rules"


@dataclass(frozen=True, slots=True)
class ToolSelection:
    """The kind of answer (`intent`) and the sources that a model selected, most
    confident first.

    `refused` are sentences about selected sources that were ignored, because they do
    not exist or do not support the stated purpose. The other fields are those of
    `QuestionPlan`.
    """

    intent: AnswerIntent
    choices: tuple[SourceChoice, ...]
    refused: tuple[str, ...] = ()
    question: str = ""
    searches: tuple[str, ...] = ()
    chapters: tuple[int, ...] = ()


@cache
def build_tools_shape() -> ReplyShape:
    """Return the JSON schema of the reply that selects sources.

    It has an `intent`, `tools`: objects with `tool`, `intention` and `confidence`, the
    `question` on its own, `searches` and `chapters`.
    """
    tool = {
        "tool": {"type": "string", "enum": [source.value for source in AnswerSource]},
        "intention": {
            "type": "string",
            "enum": [source_intention.value for source_intention in SourceIntention],
        },
        "confidence": {"type": "number"},
    }
    fields = {
        "intent": {
            "type": "string",
            "enum": [answer_intent.value for answer_intent in AnswerIntent],
        },
        "tools": {"type": "array", "items": build_strict_schema(tool)},
        "question": {"type": "string"},
        "searches": {"type": "array", "items": {"type": "string"}},
        "chapters": {"type": "array", "items": {"type": "integer"}},
    }
    return ReplyShape(
        "Tools", json.dumps(build_strict_schema(fields), separators=(",", ":"))
    )


@cache
def build_entities_shape() -> ReplyShape:
    """Return the JSON schema of the reply that lists the names in the question.

    Its `entities` are objects with `name` and `confidence`.
    """
    entity = {"name": {"type": "string"}, "confidence": {"type": "number"}}
    fields = {"entities": {"type": "array", "items": build_strict_schema(entity)}}
    return ReplyShape(
        "Entities", json.dumps(build_strict_schema(fields), separators=(",", ":"))
    )


def parse_tools_reply(reply: str, threshold: float) -> ToolSelection:
    """Return the sources that a model's `reply` selects, most confident first.

    Selections below the confidence `threshold`, 0.0 to 1.0, are dropped; of several
    with the same source and purpose the most confident stays. A source that does not
    support the stated purpose is dropped with a sentence in `refused`. A reply without
    `question`, `searches` or `chapters` is accepted.

    Raises:
        MalformedReply: The reply does not have the requested shape.
    """
    match extract_json_object(reply):
        case {"intent": str(intent_name), "tools": [*tools], **more}:
            intent = _parse_intent(intent_name)
            standalone, searches, chapters = _parse_additions(more)
        case _:
            raise MalformedReply("it is not an object of `intent` and `tools`")
    best: dict[tuple[AnswerSource, SourceIntention], SourceChoice] = {}
    refused: list[str] = []
    for tool, intention, confidence in map(_parse_tool, tools):
        choice = _build_choice(tool, intention, confidence)
        if choice is None:
            reason = f"{_quote_word(tool)} does not support {_quote_word(intention)}"
            refused.append(f"Part of the model's plan was ignored: {reason}.")
        elif confidence >= threshold:
            pair = choice.source, choice.intention
            best[pair] = max(best.get(pair, choice), choice, key=_get_confidence)
    choices = sorted(best.values(), key=_get_confidence, reverse=True)
    return ToolSelection(
        intent,
        tuple(choices),
        tuple(dict.fromkeys(refused)),
        standalone,
        searches,
        chapters,
    )


def parse_entities_reply(reply: str, threshold: float) -> tuple[QuestionEntity, ...]:
    """Return the names in a model's `reply`, each once, in its order.

    Names below the confidence `threshold`, 0.0 to 1.0, and empty or very long ones are
    dropped.

    Raises:
        MalformedReply: The reply does not have the requested shape.
    """
    match extract_json_object(reply):
        case {"entities": [*items], **more} if not more:
            entities = [_parse_entity(item) for item in items]
        case _:
            raise MalformedReply("it is not an object of `entities`")
    entities_by_name: dict[str, QuestionEntity] = {}
    for entity in entities:
        if entity.confidence >= threshold and 0 < len(entity.name) <= _MAX_NAME_CHARS:
            entities_by_name.setdefault(entity.name.casefold(), entity)
    return tuple(entities_by_name.values())


def _parse_intent(intent_name: str) -> AnswerIntent:
    try:
        return AnswerIntent(intent_name)
    except ValueError as error:
        raise MalformedReply(
            f"there is no intent {_quote_word(intent_name)}"
        ) from error


def _parse_additions(
    fields: Mapping[object, object],
) -> tuple[str, tuple[str, ...], tuple[int, ...]]:
    """Return question, searches and chapters; too many or too long ones are cut."""
    match {"question": "", "searches": [], "chapters": [], **fields}:
        case {
            "question": str(question),
            "searches": [*searches],
            "chapters": [*chapters],
            **more,
        } if not more:
            texts = [
                flatten_reply_text(text)[:_MAX_SEARCH_CHARS]
                for text in searches
                if isinstance(text, str)
            ]
            numbers = [number for number in chapters if type(number) is int]
            fits = len(texts) == len(searches) and len(numbers) == len(chapters)
        case _:
            fits = False
    if not fits:
        raise MalformedReply("it is not an object of the requested fields")
    return (
        flatten_reply_text(question)[:_MAX_QUESTION_CHARS],
        tuple(dict.fromkeys(filter(None, texts)))[:MAX_PLANNED_SEARCHES],
        tuple(dict.fromkeys(numbers))[:_MAX_CHAPTERS],
    )


def _parse_tool(item: object) -> tuple[str, str, float]:
    match item:
        case {
            "tool": str(tool),
            "intention": str(intention),
            "confidence": int() | float() as confidence,
            **more,
        } if not more:
            return tool, intention, _parse_confidence(confidence)
    raise MalformedReply("a tool is not `tool`, `intention` and `confidence`")


def _parse_entity(item: object) -> QuestionEntity:
    match item:
        case {
            "name": str(name),
            "confidence": int() | float() as confidence,
            **more,
        } if not more:
            return QuestionEntity(
                flatten_reply_text(name), _parse_confidence(confidence)
            )
    raise MalformedReply("an entity is not `name` and `confidence`")


def _parse_confidence(confidence: float) -> float:
    """Return a confidence; reject NaN and booleans, which Python's JSON parser lets
    pass.
    """
    fits = not isinstance(confidence, bool) and math.isfinite(confidence)
    if not fits or not 0 <= confidence <= 1:
        raise MalformedReply("a confidence is not between 0 and 1")
    return float(confidence)


def _build_choice(tool: str, intention: str, confidence: float) -> SourceChoice | None:
    """Return the choice; None if there is no such source or it does not support it."""
    if tool not in list(AnswerSource) or intention not in list(SourceIntention):
        return None
    source, source_intention = AnswerSource(tool), SourceIntention(intention)
    if source_intention not in INTENTIONS_BY_SOURCE[source]:
        return None
    return SourceChoice(source, source_intention, confidence)


def _get_confidence(choice: SourceChoice) -> float:
    return choice.confidence


def _quote_word(word: str) -> str:
    return f"“{flatten_reply_text(word)[:40]}”"


@dataclass(frozen=True, slots=True)
class _PlannerReply(Generic[T]):
    """The parsed reply of one call; None with a remark if the call failed."""

    reply: T | None
    remark: str = ""


class ModelPlanner:
    """Plans a question with a language model, in two concurrent calls.

    `timeout`, in seconds, covers each call including one repeated request after a
    malformed reply. Sources below `tool_threshold` and names below `entity_threshold`,
    confidences from 0.0 to 1.0, are ignored.
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
        """Return the two prompts that `plan` sends to the model, one for each of its
        calls.

        The first asks which sources (such as world, timeline, manuscript) an answer to
        `question` needs; the second asks which characters, places and things the
        question names. Known names come from `bible`. Nothing is sent.
        """
        return (
            build_tools_messages(question, bible, self._tool_threshold),
            build_entities_messages(question, bible, self._entity_threshold),
        )

    async def plan(
        self, question: TurnQuestion, bible: Bible, fallback: QuestionPlan
    ) -> QuestionPlan:
        """Return the plan that the model makes for `question`: sources and entities.

        If one of the two calls fails, its half comes from `fallback`, a plan made by
        rules, and a remark says so. Sources also come from there if the model is not
        confident of any. `bible` must end at the question's horizon. Cancelling this
        cancels both calls.
        """
        tools_read = partial(parse_tools_reply, threshold=self._tool_threshold)
        names_read = partial(parse_entities_reply, threshold=self._entity_threshold)
        tools_asked, names_asked = self.messages(question, bible)
        async with asyncio.TaskGroup() as both:
            choosing = both.create_task(
                self._call(
                    tools_asked, build_tools_shape(), tools_read, _TOOLS_FALLBACK
                )
            )
            naming = both.create_task(
                self._call(
                    names_asked, build_entities_shape(), names_read, _ENTITIES_FALLBACK
                )
            )
        return self._merge_replies(
            question, choosing.result(), naming.result(), fallback
        )

    async def _call(
        self,
        chat_messages: Sequence[ChatMessage],
        shape: ReplyShape,
        read: Callable[[str], T],
        otherwise: str,
    ) -> _PlannerReply[T]:
        try:
            async with asyncio.timeout(self._timeout):
                return _PlannerReply(
                    await self._call_with_repair(chat_messages, shape, read)
                )
        except TimeoutError:
            why = f"the model took more than {format_seconds(self._timeout)} (`model.plan_timeout`)"
        except ServiceUnavailable as error:
            why = str(error).rstrip(".")
        except MalformedReply:
            why = "the model's reply was not in the requested format"
        return _PlannerReply(None, f"{otherwise}: {why}.")

    async def _call_with_repair(
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
            again = build_repair_messages(chat_messages, first.text, str(wrong))
        second = await self._model.fill(again, shape)
        return read(second.text)

    def _merge_replies(
        self,
        question: TurnQuestion,
        tools: _PlannerReply[ToolSelection],
        names: _PlannerReply[tuple[QuestionEntity, ...]],
        fallback: QuestionPlan,
    ) -> QuestionPlan:
        remarks = tuple(filter(None, (tools.remark, names.remark)))
        if tools.reply is None and names.reply is None:
            return replace(fallback, remarks=fallback.remarks + remarks)
        intent, choices = fallback.intent, fallback.choices
        if tools.reply is not None:
            intent = _restrict_intent(question.mode, tools.reply.intent)
            choices, unsure = _select_choices(tools.reply, fallback)
            remarks += tools.reply.refused + unsure
        entities = fallback.entities if names.reply is None else names.reply
        plan = replace(
            fallback,
            intent=intent,
            choices=choices,
            entities=entities,
            planner=self._model.name,
            remarks=fallback.remarks + remarks,
        )
        return (
            plan if tools.reply is None else _add_searches(plan, tools.reply, question)
        )


def _add_searches(
    plan: QuestionPlan, tools: ToolSelection, question: TurnQuestion
) -> QuestionPlan:
    """Return the plan with the rewritten question, searches and chapters of the model.

    A first question stands alone already, so the user's words are used. If the model
    rewrote nothing, the question is that of the rules.
    """
    is_rewritten = question.history and tools.question != question.text.strip()
    return replace(
        plan,
        question=tools.question if is_rewritten and tools.question else plan.question,
        searches=tools.searches,
        chapters=tools.chapters,
    )


def _restrict_intent(mode: AnswerMode, answer_intent: AnswerIntent) -> AnswerIntent:
    """Return the intent; only the user decides whether a character answers."""
    if mode is AnswerMode.IN_CHARACTER:
        return AnswerIntent.IN_CHARACTER
    return (
        AnswerIntent.ANALYTICAL
        if answer_intent is AnswerIntent.IN_CHARACTER
        else answer_intent
    )


def _select_choices(
    tools: ToolSelection, fallback: QuestionPlan
) -> tuple[tuple[SourceChoice, ...], tuple[str, ...]]:
    """Return the model's choices, or those of `fallback` if it made none.

    Character data, the world and the timeline are cited by passages, so the manuscript
    is added to them.
    """
    if tools.choices:
        sources = {choice.source for choice in tools.choices}
        if AnswerSource.MANUSCRIPT in sources or not sources & STORY_DATA_SOURCES:
            return tools.choices, ()
        find_passages = SourceChoice(
            AnswerSource.MANUSCRIPT, SourceIntention.FIND_PASSAGE, TOOL_THRESHOLD
        )
        return (*tools.choices, find_passages), ()
    return fallback.choices, (f"{_TOOLS_FALLBACK}: the model was not sure of any.",)
