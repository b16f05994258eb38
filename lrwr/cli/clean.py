"""Makes text from outside safe to show: a manuscript must not steer a terminal."""

import re
from collections.abc import Mapping, Set
from dataclasses import fields, is_dataclass
from pathlib import PurePath

_ESCAPES = re.compile(
    r"""
      (?: \x1b\[ | \x9b ) [0-?]* [ -/]* [@-~]?               # colours, cursor moves
    | (?: \x1b[\]P^_X] | [\x90\x98\x9d-\x9f] )               # titles, links, clipboard:
      [^\x07\x1b\x9c\n]* (?: \x07 | \x1b\\ | \x9c )?         #   to their end, or the line's
    | \x1b [ -/]* [0-~]?                                     # every other escape
    """,
    re.VERBOSE,
)
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_UNSAFE_IN_JSON = re.compile(r"[\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def clean(text: str) -> str:
    """Return `text` without escapes, control characters and turned directions.

    Line ends become `\\n`; tabs stay.
    """
    text = text.replace("\r\n", "\n")
    return _CONTROLS.sub("", _ESCAPES.sub("", text))


def one_line(text: str) -> str:
    """Return `text` with a sign for each end of a line, as a file's name may hold."""
    return re.sub(r"\r\n|[\n\r]", "␊", text)


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
