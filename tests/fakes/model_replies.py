"""Default replies of the fake model server, and their token counts."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

Json: TypeAlias = Any
"""What came over the wire: the server's own code looks at it, nothing else does."""

_SHAPES = frozenset({"object", "array", "string", "integer", "number", "boolean"})
_KNOWN = frozenset(
    {"type", "properties", "required", "additionalProperties", "items", "enum"}
)


def count_tokens(text: str) -> int:
    """Return characters / 4, rounded up: a stand-in for a model's own tokens."""
    return -(-len(text) // 4)


def prompt_tokens(body: Mapping[str, Json]) -> int:
    """Count what was sent: the messages, and the schema as compact JSON."""
    said = sum(count_tokens(text_of(one)) for one in body["messages"])
    schema = schema_of(body)
    shown = json.dumps(schema, separators=(",", ":")) if schema else ""
    return said + count_tokens(shown)


def text_of(message: Mapping[str, Json]) -> str:
    """Return a message's text, of whatever parts it is made."""
    content = message["content"]
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content)


def schema_of(body: Mapping[str, Json]) -> Json:
    """Return the JSON schema that the reply must keep to, None if there is none."""
    wanted = body.get("response_format") or {}
    return wanted["json_schema"]["schema"] if "json_schema" in wanted else None


def made_up(schema: Mapping[str, Json], name: str = "text") -> Json:
    """Return the plainest value that fits: first choices, lists of one, field names."""
    if "enum" in schema:
        return schema["enum"][0]
    match schema["type"]:
        case "object":
            fields = schema["properties"]
            return {field: made_up(inner, field) for field, inner in fields.items()}
        case "array":
            return [made_up(schema["items"], name)]
        case "integer" | "number":
            return 1
        case "boolean":
            return True
        case _:
            return name


def faults(schema: Json, at: str = "$") -> Iterator[str]:
    """Yield what a strict server has against a schema."""
    if not isinstance(schema, dict) or schema.get("type") not in _SHAPES:
        yield f"{at}: no type"
        return
    for keyword in sorted(set(schema) - _KNOWN):
        yield f"{at}: `{keyword}` is not supported"
    if schema["type"] == "array":
        yield from faults(schema.get("items"), f"{at}[]")
    if schema["type"] == "object":
        yield from _object_faults(schema, at)


def _object_faults(schema: Mapping[str, Json], at: str) -> Iterator[str]:
    fields = schema.get("properties", {})
    if schema.get("additionalProperties") is not False:
        yield f"{at}: `additionalProperties` must be false"
    if sorted(schema.get("required", [])) != sorted(fields):
        yield f"{at}: `required` must name every field"
    for name, inner in fields.items():
        yield from faults(inner, f"{at}.{name}")
