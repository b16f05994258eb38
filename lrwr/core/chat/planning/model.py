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
from types import MappingProxyType
from typing import Generic, TypeVar

from lrwr.core.bible.name_lookup import match_elements, match_people
from lrwr.core.bible.values import Bible
from lrwr.core.chat.state import TurnQuestion
from lrwr.core.model.errors import ServiceUnavailable
from lrwr.core.model.language_model import (
    FENCE_RULE,
    MalformedReply,
    build_strict_schema,
    extract_json_object,
    flatten_reply_text,
    generate_fence_mark,
    wrap_in_fence,
)
from lrwr.core.model.text import format_seconds
from lrwr.core.model.turns import (
    INTENTIONS_BY_SOURCE,
    AnswerIntent,
    AnswerMode,
    AnswerSource,
    QuestionEntity,
    QuestionPlan,
    SourceChoice,
    SourceIntention,
)
from lrwr.core.ports.models import ChatMessage, ChatModel, ReplyShape

MAX_PROMPT_PEOPLE = 80
MAX_PROMPT_ELEMENTS = 80
"""Names in the prompt at most: the most mentioned characters, the first elements."""

MAX_PROMPT_ALIASES = 4
"""Names of one character in the prompt at most."""

MAX_PROMPT_EARLIER_QUESTIONS = 2
"""Earlier questions in the prompt, because "she" may refer to a name in them."""

_MAX_REPAIR_REPLY_CHARS = 800
"""Characters of a malformed reply that are repeated in the repair prompt."""

_SOURCE_CONTENTS: Mapping[AnswerSource, str] = MappingProxyType(
    {
        AnswerSource.MANUSCRIPT: "the story's own words; dialogue_of: what somebody says",
        AnswerSource.PROFILES: "what is known of each character; voice: how they talk",
        AnswerSource.WORLD: "places, devices, groups, objects and rules of the world",
        AnswerSource.TIMELINE: "what happens, in order",
        AnswerSource.NOTES: "the writer's own notes: what they meant, what is undecided",
        AnswerSource.WEB: "other people's works, and the craft of writing",
    }
)
_TOOLS_PROMPT = """\
A novelist asks about their own manuscript. Do not answer: say what an answer needs.
tools: every tool that the answer needs, with what it is needed for, and no other. \
confidence: from 0 to 1, how sure it is that the answer needs it.
{tools}
intent: scenario asks what somebody would do in a case that the story does not have; \
gap_probe asks whether the text says a thing at all; external_reference asks about the \
craft of writing or a named work by somebody else; in_character talks to a character; \
any other question is analytical.
"""

_ENTITIES_PROMPT = """\
A novelist asks about their own manuscript. Do not answer: list whom and what the \
question names, each once. entities: people, places, groups, objects, rules and works, \
also those that a pronoun stands for. name: the known name where one is meant, else \
the question's own words. confidence: from 0 to 1, how sure it is that this is meant. \
No entities: an empty list.
"""

_MAX_NAME_CHARS = 120
"""Length above which a string cannot be a name."""

T = TypeVar("T")
TOOL_THRESHOLD = 0.7
ENTITY_THRESHOLD = 0.6
"""Confidences below which a model's choices and names are ignored. An unnecessary
source costs more than an unnecessary name, which is only looked up."""

_TOOLS_FALLBACK = "Sources were chosen by rules"
_ENTITIES_FALLBACK = "Names were recognized by rules"


def build_tools_messages(question: TurnQuestion, bible: Bible) -> list[ChatMessage]:
    """Return the prompt that asks which sources `question` needs, and for what.

    Names come from `bible`, which must end at the question's horizon.
    """
    tools = "\n".join(
        f"- {source}: {_SOURCE_CONTENTS[source]}. For: {', '.join(INTENTIONS_BY_SOURCE[source])}"
        for source in AnswerSource
    )
    return _build_messages(_TOOLS_PROMPT.format(tools=tools), question, bible)


def build_entities_messages(question: TurnQuestion, bible: Bible) -> list[ChatMessage]:
    """Return the prompt that asks which characters, places and things `question` names.

    Known names come from `bible`, which must end at the question's horizon.
    """
    return _build_messages(_ENTITIES_PROMPT, question, bible)


def build_planner_repair_messages(
    chat_messages: Sequence[ChatMessage], reply: str, problem: str
) -> list[ChatMessage]:
    """Return a prompt that repeats `chat_messages`, shows the malformed `reply`, and
    asks again.

    `problem` is a phrase that says what is wrong with the reply.
    """
    repair_request = (
        f"That does not fit: {problem}. Answer again as asked, with JSON alone."
    )
    shown_reply = reply.strip()[:_MAX_REPAIR_REPLY_CHARS] or "-"
    return [
        *chat_messages,
        ChatMessage("assistant", shown_reply),
        ChatMessage("user", repair_request),
    ]


def _build_messages(
    instructions: str, question: TurnQuestion, bible: Bible
) -> list[ChatMessage]:
    """Return the instructions, and everything that depends on the question in fences."""
    blocks = {
        "people": _format_people(bible),
        "things": "\n".join(
            element.name for element in bible.world[:MAX_PROMPT_ELEMENTS]
        ),
        "talking to": _get_addressee(question),
        "in play": "\n".join(_list_entities_in_play(question, bible)),
        "earlier questions": _format_earlier_questions(question),
        "question": question.text,
    }
    mark = generate_fence_mark(*blocks.values())
    fenced_blocks = (
        wrap_in_fence(label, text, mark) for label, text in blocks.items() if text
    )
    return [
        ChatMessage("system", f"{instructions}{FENCE_RULE}"),
        ChatMessage("user", "\n".join(fenced_blocks)),
    ]


def _format_people(bible: Bible) -> str:
    lines = []
    for character in bible.characters[:MAX_PROMPT_PEOPLE]:
        forms = [form.name for form in character.aliases if form.name != character.name]
        lines.append(" = ".join((character.name, *forms[: MAX_PROMPT_ALIASES - 1])))
    return "\n".join(lines)


def _get_addressee(question: TurnQuestion) -> str:
    return question.character if question.mode is AnswerMode.IN_CHARACTER else ""


def _list_entities_in_play(question: TurnQuestion, bible: Bible) -> list[str]:
    """Return the entities of the conversation that are known at the horizon."""
    return [
        name
        for name in question.state.entities
        if match_people(name, bible) or match_elements(name, bible)
    ]


def _format_earlier_questions(question: TurnQuestion) -> str:
    return "\n".join(
        turn.question for turn in question.history[-MAX_PROMPT_EARLIER_QUESTIONS:]
    )


@dataclass(frozen=True, slots=True)
class ToolSelection:
    """The kind of answer (`intent`) and the sources that a model selected, most
    confident first.

    `refused` are sentences about selected sources that were ignored, because they do
    not exist or do not support the stated purpose.
    """

    intent: AnswerIntent
    choices: tuple[SourceChoice, ...]
    refused: tuple[str, ...] = ()


@cache
def build_tools_shape() -> ReplyShape:
    """Return the JSON schema of the reply that selects sources.

    It has an `intent`, and `tools`: objects with `tool`, `intention` and `confidence`.
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
    support the stated purpose is dropped with a sentence in `refused`.

    Raises:
        MalformedReply: The reply does not have the requested shape.
    """
    match extract_json_object(reply):
        case {"intent": str(intent_name), "tools": [*tools], **more} if not more:
            intent = _parse_intent(intent_name)
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
    return ToolSelection(intent, tuple(choices), tuple(dict.fromkeys(refused)))


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
        return build_tools_messages(question, bible), build_entities_messages(
            question, bible
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
            question.mode, choosing.result(), naming.result(), fallback
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
            again = build_planner_repair_messages(chat_messages, first.text, str(wrong))
        second = await self._model.fill(again, shape)
        return read(second.text)

    def _merge_replies(
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
            intent = _restrict_intent(mode, tools.reply.intent)
            choices, unsure = _select_choices(tools.reply, fallback)
            remarks += tools.reply.refused + unsure
        entities = fallback.entities if names.reply is None else names.reply
        return QuestionPlan(
            intent, choices, entities, self._model.name, fallback.remarks + remarks
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
    """Return the model's choices, or those of `fallback` if it made none."""
    if tools.choices:
        return tools.choices, ()
    return fallback.choices, (f"{_TOOLS_FALLBACK}: the model was not sure of any.",)
