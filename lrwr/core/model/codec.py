"""The one codec between dataclasses and JSON, for rows, messages and reports.

A dataclass becomes an object whose keys are its field names in the order of their
definition, a tuple or list an array, an enum its value, bytes base64, a path its text
with `/`. When decoding, fields with default values may be absent, and unknown keys are
ignored, so that a later version can add some. Types are checked strictly: no text
becomes a number, but an integer becomes a float where a float is expected.

msgspec does the work (docs/decisions/025-one-codec.md). JSON text itself is read and
written by the standard library: stored texts contain lone surrogates and `NaN`, which
msgspec refuses, and digests of stored texts depend on the way Python writes floats.
msgspec is imported on first use, because many commands never need it.
"""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import PurePath
from types import ModuleType
from typing import Any, TypeVar

from lrwr.core.model.untrusted_text import parse_json

T = TypeVar("T")


class InvalidData(ValueError):
    """Data that does not have the expected shape.

    The message names the key, such as "Expected `int`, got `str` - at `$.span.start`".
    Callers translate it into an error that names the file or the service.
    """


def encode_value(value: object) -> Any:
    """Convert `value` to dicts, lists, tuples, texts, numbers, booleans and None.

    Keys of mappings become texts. The items of a set have no fixed order.

    Raises:
        TypeError: `value` contains an object that has no JSON form.
    """
    return _load_msgspec().to_builtins(value, str_keys=True, enc_hook=_encode_other)


def decode_value(value: Any, kind: type[T]) -> T:
    """Convert a result of `encode_value` back to an instance of `kind`.

    `kind` may be generic, such as `tuple[Span, ...]` or `dict[str, float]`.

    Raises:
        InvalidData: `value` does not have the shape of `kind`.
    """
    msgspec = _load_msgspec()
    try:
        decoded: T = msgspec.convert(value, kind, str_keys=True, dec_hook=_decode_other)
    except msgspec.ValidationError as error:
        raise InvalidData(str(error)) from error
    return decoded


@cache
def _load_msgspec() -> ModuleType:
    import msgspec

    return msgspec


def encode_json(value: object, *, ascii_only: bool = False) -> str:
    r"""Return `value` as JSON text on one line, without spaces between tokens.

    Equal values yield equal texts, except for sets. With `ascii_only` every character
    outside of ASCII is written as `\uXXXX`; only then is the text free of lone
    surrogates.

    Raises:
        TypeError: `value` contains an object that has no JSON form.
    """
    return json.dumps(
        encode_value(value), ensure_ascii=ascii_only, separators=(",", ":")
    )


def decode_json(text: str | bytes, kind: type[T]) -> T:
    """Parse JSON text, such as a result of `encode_json`, to an instance of `kind`.

    Raises:
        InvalidData: `text` is not JSON, or does not have the shape of `kind`.
    """
    try:
        value = parse_json(text)
    except ValueError as error:
        raise InvalidData(f"Not JSON: {error}") from error
    return decode_value(value, kind)


def decode_checked_json(text: str, kind: type[T]) -> T:
    """Return what `decode_json` does, several times as fast and in less memory.

    Only for a text that `encode_json` wrote and whose checksum fits: its depth and
    numbers are not limited.

    Raises:
        InvalidData: `text` is not JSON, or does not have the shape of `kind`.
    """
    msgspec = _load_msgspec()
    try:
        decoded: T = msgspec.json.decode(text, type=kind, dec_hook=_decode_other)
    except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError):
        return decode_json(text, kind)  # lone surrogates and `NaN` are no errors
    return decoded


def _encode_other(value: Any) -> Any:
    """Encode a type that msgspec does not know."""
    if isinstance(value, PurePath):
        return value.as_posix()
    if isinstance(value, Mapping):  # such as a MappingProxyType
        return dict(value)
    raise TypeError(f"{type(value).__name__} has no JSON form")


def _decode_other(kind: type, value: Any) -> Any:
    """Decode a type that msgspec does not know."""
    if kind is object:
        return value
    if issubclass(kind, PurePath) and isinstance(value, str):
        return kind(value)
    raise TypeError(f"{kind.__name__} has no JSON form")
