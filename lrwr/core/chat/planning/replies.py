"""The JSON that a planning model is asked for, and what its replies come to."""

import json
import math
from dataclasses import dataclass
from functools import cache

from lrwr.core.model.language_model import (
    MalformedReply,
    build_strict_schema,
    extract_json_object,
    flatten_reply_text,
)
from lrwr.core.model.turns import (
    INTENTIONS_BY_SOURCE,
    AnswerIntent,
    AnswerSource,
    QuestionEntity,
    SourceChoice,
    SourceIntention,
)
from lrwr.core.ports.models import ReplyShape

_LONGEST_NAME = 120
"""Characters; what is longer is no name."""


@dataclass(frozen=True, slots=True)
class ToolSelection:
    """What a model chose. `refused` says in sentences what it cannot have."""

    intent: AnswerIntent
    choices: tuple[SourceChoice, ...]
    refused: tuple[str, ...] = ()


@cache
def build_tools_shape() -> ReplyShape:
    """Return the shape of the reply that chooses sources and intentions."""
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
    """Return the shape of the reply that lists names."""
    entity = {"name": {"type": "string"}, "confidence": {"type": "number"}}
    fields = {"entities": {"type": "array", "items": build_strict_schema(entity)}}
    return ReplyShape(
        "Entities", json.dumps(build_strict_schema(fields), separators=(",", ":"))
    )


def parse_tools_reply(reply: str, threshold: float) -> ToolSelection:
    """Return what a reply chooses with at least `threshold`, surest first.

    A pair that does not exist is refused, and said.

    Raises:
        MalformedReply: The reply does not keep to its shape.
    """
    match extract_json_object(reply):
        case {"intent": str(intent_name), "tools": [*tools], **more} if not more:
            intent = _intent(intent_name)
        case _:
            raise MalformedReply("it is not an object of `intent` and `tools`")
    best: dict[tuple[AnswerSource, SourceIntention], SourceChoice] = {}
    refused: list[str] = []
    for tool, intention, confidence in map(_pair, tools):
        choice = _choice(tool, intention, confidence)
        if choice is None:
            reason = f"{_shown(tool)} cannot be asked for {_shown(intention)}"
            refused.append(f"The model's plan was cut: {reason}.")
        elif confidence >= threshold:
            pair = choice.source, choice.intention
            best[pair] = max(best.get(pair, choice), choice, key=_sureness)
    choices = sorted(best.values(), key=_sureness, reverse=True)
    return ToolSelection(intent, tuple(choices), tuple(dict.fromkeys(refused)))


def parse_entities_reply(reply: str, threshold: float) -> tuple[QuestionEntity, ...]:
    """Return the names of a reply with at least `threshold`, each once, in order.

    Raises:
        MalformedReply: The reply does not keep to its shape.
    """
    match extract_json_object(reply):
        case {"entities": [*items], **more} if not more:
            entities = [_entity(item) for item in items]
        case _:
            raise MalformedReply("it is not an object of `entities`")
    entities_by_name: dict[str, QuestionEntity] = {}
    for entity in entities:
        if entity.confidence >= threshold and 0 < len(entity.name) <= _LONGEST_NAME:
            entities_by_name.setdefault(entity.name.casefold(), entity)
    return tuple(entities_by_name.values())


def _intent(intent_name: str) -> AnswerIntent:
    try:
        return AnswerIntent(intent_name)
    except ValueError as error:
        raise MalformedReply(f"there is no intent {_shown(intent_name)}") from error


def _pair(item: object) -> tuple[str, str, float]:
    match item:
        case {
            "tool": str(tool),
            "intention": str(intention),
            "confidence": int() | float() as confidence,
            **more,
        } if not more:
            return tool, intention, _share(confidence)
    raise MalformedReply("a tool is not `tool`, `intention` and `confidence`")


def _entity(item: object) -> QuestionEntity:
    match item:
        case {
            "name": str(name),
            "confidence": int() | float() as confidence,
            **more,
        } if not more:
            return QuestionEntity(flatten_reply_text(name), _share(confidence))
    raise MalformedReply("an entity is not `name` and `confidence`")


def _share(confidence: float) -> float:
    """Return a confidence; True and NaN are none, though JSON or Python has them so."""
    fits = not isinstance(confidence, bool) and math.isfinite(confidence)
    if not fits or not 0 <= confidence <= 1:
        raise MalformedReply("a confidence is not between 0 and 1")
    return float(confidence)


def _choice(tool: str, intention: str, confidence: float) -> SourceChoice | None:
    """Return the choice, None where there is no such tool, or it does no such thing."""
    if tool not in list(AnswerSource) or intention not in list(SourceIntention):
        return None
    source, source_intention = AnswerSource(tool), SourceIntention(intention)
    if source_intention not in INTENTIONS_BY_SOURCE[source]:
        return None
    return SourceChoice(source, source_intention, confidence)


def _sureness(choice: SourceChoice) -> float:
    return choice.confidence


def _shown(word: str) -> str:
    return f"“{flatten_reply_text(word)[:40]}”"
