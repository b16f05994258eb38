"""Texts as PostgreSQL takes them: Unicode, and without the one sign that it refuses.

PostgreSQL keeps no character of number 0, neither in text nor in JSON. Pasted text may
hold one, and what is kept is kept as it is: it travels as two others.
"""

import json
from typing import Any

PostgresJson = Any
"""What JSON can say."""

_MARK = "\x10"
_AWAY = (("\x10", "\x101"), ("\x00", "\x100"))
_BACK = {"\x101": "\x10", "\x100": "\x00"}


def encode_postgres_text(value: PostgresJson) -> PostgresJson:
    """Return a value whose texts PostgreSQL keeps; what is not Unicode becomes `?`."""
    return _each(value, _pack)


def encode_postgres_json(value: PostgresJson) -> str:
    """Return a value as JSON text, for an argument that is a whole document."""
    return json.dumps(
        encode_postgres_text(value), ensure_ascii=False, separators=(",", ":")
    )


def decode_postgres_text(value: PostgresJson) -> PostgresJson:
    """Return the value that was packed."""
    return _each(value, _unpack)


def _each(value: PostgresJson, change: Any) -> PostgresJson:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {name: _each(item, change) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_each(item, change) for item in value]
    return value


def _pack(text: str) -> str:
    text = text.encode("utf-8", "replace").decode("utf-8")
    for plain, away in _AWAY:
        text = text.replace(plain, away)
    return text


def _unpack(text: str) -> str:
    if _MARK not in text:
        return text
    first, *escaped = text.split(_MARK)
    pieces = [first]
    for piece in escaped:
        pieces += (_BACK.get(f"{_MARK}{piece[:1]}", _MARK + piece[:1]), piece[1:])
    return "".join(pieces)
