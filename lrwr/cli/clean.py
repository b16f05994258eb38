"""Makes values fit for JSON and for a terminal's encoding."""

import re
from collections.abc import Mapping, Set
from dataclasses import fields, is_dataclass
from pathlib import PurePath

_UNSAFE_IN_JSON = re.compile(r"[\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def encodable(text: str, encoding: str | None) -> str:
    """Return `text` with a `?` for each character that `encoding` does not have."""
    target = encoding or "utf-8"
    return text.encode(target, errors="replace").decode(target)


def jsonable(value: object) -> object:
    """Return `value` as plain lists, dicts, texts and numbers.

    Dataclasses become objects, sets become sorted lists, paths and enums texts.
    """
    match value:
        case str():
            return str(value)
        case None | bool() | int() | float():
            return value
        case PurePath():
            return value.as_posix()
        case Mapping():
            return {str(key): jsonable(part) for key, part in value.items()}
        case list() | tuple():
            return [jsonable(part) for part in value]
        case Set():
            return sorted((jsonable(part) for part in value), key=str)
        case _ if is_dataclass(value):
            named = {found.name: getattr(value, found.name) for found in fields(value)}
            return jsonable(named)
        case _:
            raise TypeError(f"{type(value).__name__} has no JSON form")


def escaped_json(text: str) -> str:
    """Return JSON with what could steer a terminal or end a line written as `\\uXXXX`; same value."""
    return _UNSAFE_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
