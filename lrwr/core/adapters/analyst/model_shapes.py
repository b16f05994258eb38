"""The JSON that a model is asked for, and the strict schema that says so.

Names are short and lists are flat: the schema goes out with every call, and every
name comes back with every item.
"""

import json
from functools import cache
from typing import Literal

from pydantic import BaseModel

from lrwr.core.ports.models import ReplyShape

ANALYST_SCHEMA_REVISION = "2"
"""Changes with the schema; results depend on it."""

ContentLabel = Literal[
    "dialogue", "action_reaction", "description", "internal_monologue"
]
FunctionLabel = Literal[
    "worldbuilding", "character_reveal", "plot_event", "backstory", "thematic"
]
StoryGridLabel = Literal[
    "inciting_incident", "turning_point", "crisis", "climax", "resolution", "none"
]
ElementLabel = Literal["setting", "technology", "faction", "artifact", "rule"]
ValenceLabel = Literal["ally", "antagonist", "neutral", "complex"]
ClaimKindLabel = Literal[
    "alias", "trait", "value", "behavior", "speech", "reference", "attribute"
]


class _Strict(BaseModel, extra="forbid"):
    """Nothing that was not asked for, and everything that was."""


class ImpliedGap(_Strict):
    """What a passage leaves open of somebody or something."""

    who: str
    what: str
    implied: str
    quote: str


class PassageClassification(_Strict):
    """What one numbered passage is."""

    id: int
    content: ContentLabel
    function: FunctionLabel
    tag: StoryGridLabel
    present: list[str]
    references: list[str]
    gaps: list[ImpliedGap]


class Passages(_Strict):
    """The reply to a call that classifies."""

    passages: list[PassageClassification]


class ExtractedClaim(_Strict):
    """One thing that is told of a person; `what` names an attribute only."""

    who: str
    kind: ClaimKindLabel
    what: str
    value: str
    quote: str


class ExtractedRelation(_Strict):
    """How one person stands to another."""

    who: str
    to: str
    valence: ValenceLabel
    kind: str
    quote: str


class ExtractedElement(_Strict):
    """A thing of the world."""

    name: str
    type: ElementLabel
    about: str
    people: list[str]
    quote: str


class ExtractedEvent(_Strict):
    """Something that happens; `feelings` are like "Nell: afraid"."""

    what: str
    people: list[str]
    feelings: list[str]
    tag: StoryGridLabel
    quote: str


class ExtractedDisclosure(_Strict):
    """Who tells whom what."""

    who: str
    to: list[str]
    fact: str
    quote: str


class ExtractedGap(_Strict):
    """What the pages leave undefined, and how it could be filled."""

    who: str
    what: str
    implied: str
    fill: str
    quote: str


class ExtractedScene(_Strict):
    """One scene; `opening` are its first words."""

    opening: str
    pov: str
    recap: str


class Extracted(_Strict):
    """The reply to a call that extracts."""

    scenes: list[ExtractedScene]
    people: list[ExtractedClaim]
    relations: list[ExtractedRelation]
    world: list[ExtractedElement]
    events: list[ExtractedEvent]
    told: list[ExtractedDisclosure]
    gaps: list[ExtractedGap]


@cache
def build_reply_shape(kind: type[BaseModel]) -> ReplyShape:
    """Return the strict schema of a reply, without a word that says nothing."""
    schema = kind.model_json_schema()
    shared = schema.pop("$defs", {})
    plain = _plain(schema, shared)
    return ReplyShape(kind.__name__, json.dumps(plain, separators=(",", ":")))


def _plain(part: object, shared: dict[str, object]) -> object:
    """Leave titles and docstrings out, and put each definition where it is used."""
    if isinstance(part, list):
        return [_plain(item, shared) for item in part]
    if not isinstance(part, dict):
        return part
    if "$ref" in part:
        return _plain(shared[part["$ref"].rpartition("/")[2]], shared)
    if "properties" in part:
        inner = {
            name: _plain(item, shared) for name, item in part["properties"].items()
        }
        return {
            "type": "object",
            "properties": inner,
            "required": list(inner),
            "additionalProperties": False,
        }
    left_out = ("title", "description", "default")
    return {k: _plain(v, shared) for k, v in part.items() if k not in left_out}
