"""Parsers for TOML and JSON that lrwr may not have written, with limits.

A file from a stranger, a damaged state file or the response of a service may be nested
100,000 levels deep, hold a number of a million digits, or name a device instead of a
file. The parsers of the standard library then raise `RecursionError`, take minutes, or
return values on which later code fails. The functions here raise `InvalidText` instead.
"""

import json
import os
import re
import stat
import tomllib
from pathlib import Path
from typing import Any

MAX_DEPTH = 100
"""Maximum number of tables, objects and arrays inside each other."""
MAX_KEY_PARTS = 32
"""Maximum number of parts of a dotted TOML key, such as the two of `search.limit`."""
_MAX_BITS = 256

# Strings and comments, which may hold many dots. An unclosed string ends at its line.
_QUOTED = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*+(?:""")?|\'\'\'(?:[^\']|\'(?!\'\'))*+(?:\'\'\')?'
    r'|"(?:[^"\\\n]|\\.)*+"?|\'[^\'\n]*+\'?|#[^\n]*+',
    re.DOTALL,
)
_LONG_KEY = re.compile(
    rf"(?<![\w-])(?:[\w-]++[ \t]*+\.[ \t]*+){{{MAX_KEY_PARTS}}}", re.ASCII
)

# What a JSON document holds besides brackets. An unclosed string ends with the text.
_NOT_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*+"?|[^"\[\]{}]+', re.DOTALL)


class InvalidText(ValueError):
    """Text that is not TOML or JSON, or exceeds a limit.

    The message says what is wrong, in lower case unless a parser wrote it.
    """


def read_limited_file(path: Path, max_bytes: int) -> bytes:
    """Return the content of the regular file `path`; links are followed.

    Raises:
        OSError: The file cannot be read.
        InvalidText: It is larger than `max_bytes`, or is a pipe, device or folder.
    """
    # Opening a pipe would wait for its other end.
    descriptor = os.open(
        path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    )
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise InvalidText("it is not a regular file")
        content = file.read(max_bytes + 1)
    if len(content) > max_bytes:
        raise InvalidText(f"it is larger than {_format_size(max_bytes)}")
    return content


def parse_toml(text: str) -> dict[str, Any]:
    """Parse a TOML document.

    Raises:
        InvalidText: It is not TOML, is nested deeper than `MAX_DEPTH`, has a key of
            more than `MAX_KEY_PARTS` parts, or a number that needs more than 256 bits.
    """
    # tomllib needs time in the square of the number of parts of a key.
    if any(line.count(".") >= MAX_KEY_PARTS for line in text.split("\n")):
        _check_keys(text)
    try:
        content = tomllib.loads(text)
    except RecursionError as error:
        raise _too_deep() from error
    except ValueError as error:
        raise InvalidText(_explain(error)) from error
    _check_limits(content)
    return content


def parse_json(text: str | bytes) -> Any:
    """Parse a JSON document.

    Raises:
        InvalidText: It is not JSON in UTF-8, is nested deeper than `MAX_DEPTH`, or has
            an integer that needs more than 256 bits.
    """
    try:
        if isinstance(text, bytes):
            text = text.decode(json.detect_encoding(text), "surrogatepass")
        _check_nesting(text)
        value = json.loads(text)
    except InvalidText:
        raise
    except ValueError as error:
        raise InvalidText(_explain(error)) from error
    _check_limits(value)
    return value


def _check_keys(text: str) -> None:
    bare = _QUOTED.sub("s", text)
    if long_key := _LONG_KEY.search(bare):
        line = bare.count("\n", 0, long_key.start()) + 1
        raise InvalidText(f"a key has more than {MAX_KEY_PARTS} parts (at line {line})")


def _check_nesting(text: str) -> None:
    # Finalizers that run while the standard parser recurses fail with RecursionError,
    # and nothing can catch it there. So the depth is checked first.
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return
    depth = 0
    for bracket in _NOT_BRACKETS.sub("", text):
        depth += 1 if bracket in "[{" else -1
        if depth > MAX_DEPTH:
            raise _too_deep()


def _check_limits(value: object) -> None:
    level, depth = [value], 0
    while level:
        if depth > MAX_DEPTH:
            raise _too_deep()
        depth += 1
        inner: list[object] = []
        for item in level:
            if isinstance(item, dict):
                inner.extend(item.values())
            elif isinstance(item, list):
                inner.extend(item)
            elif isinstance(item, int) and item.bit_length() > _MAX_BITS:
                raise InvalidText("a number has too many digits")
        level = inner


def _explain(error: ValueError) -> str:
    # Python refuses to convert integers of more than 4,300 digits.
    if "integer string conversion" in str(error):
        return "a number has too many digits"
    if isinstance(error, UnicodeDecodeError):
        return "it is not UTF-8 text"
    return str(error)


def _too_deep() -> InvalidText:
    return InvalidText(f"its values are nested more than {MAX_DEPTH} levels deep")


def _format_size(size: int) -> str:
    return f"{size // 1024**2} MB" if size >= 1024**2 else f"{size // 1024} KB"
