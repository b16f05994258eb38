"""Makes text from outside safe to show: a manuscript must not steer a terminal."""

import re

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


def clean(text: str) -> str:
    """Return `text` without escapes, control characters and turned directions.

    Line ends become `\\n`; tabs stay.
    """
    text = text.replace("\r\n", "\n")
    return _CONTROLS.sub("", _ESCAPES.sub("", text))


def one_line(text: str) -> str:
    """Return `text` with a sign for each end of a line, as a file's name may hold."""
    return re.sub(r"\r\n|[\n\r]", "␊", text)
