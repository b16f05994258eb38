"""The JSON that a planning model is asked for, and what its replies come to."""

import json
import math
from dataclasses import dataclass
from functools import cache

from lrwr.core.model.replies import NotAsAsked, clean, object_in, strict
from lrwr.core.model.turns import INTENTIONS, Choice, Entity, Intent, Intention, Source
from lrwr.core.ports.chat_model import Shape

_LONGEST_NAME = 120
"""Characters; what is longer is no name."""


@dataclass(frozen=True, slots=True)
class ToolSelection:
    """What a model chose. `refused` says in sentences what it cannot have."""

    intent: Intent
    choices: tuple[Choice, ...]
    refused: tuple[str, ...] = ()


@cache
def build_tools_shape() -> Shape:
    """Return the shape of the reply that chooses sources and intentions."""
    tool = {
        "tool": {"type": "string", "enum": [one.value for one in Source]},
        "intention": {"type": "string", "enum": [one.value for one in Intention]},
        "confidence": {"type": "number"},
    }
    fields = {
        "intent": {"type": "string", "enum": [one.value for one in Intent]},
        "tools": {"type": "array", "items": strict(tool)},
    }
    return Shape("Tools", json.dumps(strict(fields), separators=(",", ":")))


@cache
def build_entities_shape() -> Shape:
    """Return the shape of the reply that lists names."""
    entity = {"name": {"type": "string"}, "confidence": {"type": "number"}}
    fields = {"entities": {"type": "array", "items": strict(entity)}}
    return Shape("Entities", json.dumps(strict(fields), separators=(",", ":")))


def parse_tools_reply(reply: str, threshold: float) -> ToolSelection:
    """Return what a reply chooses with at least `threshold`, surest first.

    A pair that does not exist is refused, and said.

    Raises:
        NotAsAsked: The reply does not keep to its shape.
    """
    match object_in(reply):
        case {"intent": str(said), "tools": [*tools], **more} if not more:
            intent = _intent(said)
        case _:
            raise NotAsAsked("it is not an object of `intent` and `tools`")
    best: dict[tuple[Source, Intention], Choice] = {}
    refused: list[str] = []
    for tool, intention, confidence in map(_pair, tools):
        choice = _choice(tool, intention, confidence)
        if choice is None:
            what = f"{_shown(tool)} cannot be asked for {_shown(intention)}"
            refused.append(f"The model's plan was cut: {what}.")
        elif confidence >= threshold:
            pair = choice.source, choice.intention
            best[pair] = max(best.get(pair, choice), choice, key=_sureness)
    choices = sorted(best.values(), key=_sureness, reverse=True)
    return ToolSelection(intent, tuple(choices), tuple(dict.fromkeys(refused)))


def parse_entities_reply(reply: str, threshold: float) -> tuple[Entity, ...]:
    """Return the names of a reply with at least `threshold`, each once, in order.

    Raises:
        NotAsAsked: The reply does not keep to its shape.
    """
    match object_in(reply):
        case {"entities": [*listed], **more} if not more:
            entities = [_entity(one) for one in listed]
        case _:
            raise NotAsAsked("it is not an object of `entities`")
    kept: dict[str, Entity] = {}
    for one in entities:
        if one.confidence >= threshold and 0 < len(one.name) <= _LONGEST_NAME:
            kept.setdefault(one.name.casefold(), one)
    return tuple(kept.values())


def _intent(said: str) -> Intent:
    try:
        return Intent(said)
    except ValueError as error:
        raise NotAsAsked(f"there is no intent {_shown(said)}") from error


def _pair(told: object) -> tuple[str, str, float]:
    match told:
        case {
            "tool": str(tool),
            "intention": str(intention),
            "confidence": int() | float() as confidence,
            **more,
        } if not more:
            return tool, intention, _share(confidence)
    raise NotAsAsked("a tool is not `tool`, `intention` and `confidence`")


def _entity(told: object) -> Entity:
    match told:
        case {
            "name": str(name),
            "confidence": int() | float() as confidence,
            **more,
        } if not more:
            return Entity(clean(name), _share(confidence))
    raise NotAsAsked("an entity is not `name` and `confidence`")


def _share(confidence: float) -> float:
    """Return a confidence; True and NaN are none, though JSON or Python has them so."""
    fits = not isinstance(confidence, bool) and math.isfinite(confidence)
    if not fits or not 0 <= confidence <= 1:
        raise NotAsAsked("a confidence is not between 0 and 1")
    return float(confidence)


def _choice(tool: str, intention: str, confidence: float) -> Choice | None:
    """Return the choice, None where there is no such tool, or it does no such thing."""
    if tool not in list(Source) or intention not in list(Intention):
        return None
    source, wanted = Source(tool), Intention(intention)
    if wanted not in INTENTIONS[source]:
        return None
    return Choice(source, wanted, confidence)


def _sureness(choice: Choice) -> float:
    return choice.confidence


def _shown(word: str) -> str:
    return f"“{clean(word)[:40]}”"
