"""What replies of a language model have in common: JSON of a shape, or not."""

import json

_THOUGHT = "</think>"
"""Ends what some local models think aloud before they answer."""


class MalformedReply(Exception):
    """A reply does not keep to its shape; the message says what is wrong with it."""


def build_strict_schema(fields: object) -> object:
    """Return the JSON schema of an object of `fields`, all of them required."""
    names = list(fields) if isinstance(fields, dict) else []
    return {
        "type": "object",
        "properties": fields,
        "required": names,
        "additionalProperties": False,
    }


def extract_json_object(reply: str) -> object:
    """Return the JSON object of a reply; words around it are ignored.

    Raises:
        MalformedReply: There is none.
    """
    answer = reply.rpartition(_THOUGHT)[2]
    start, end = answer.find("{"), answer.rfind("}") + 1
    if not 0 <= start < end:
        raise MalformedReply("it holds no JSON object")
    try:
        return json.loads(answer[start:end])
    except (ValueError, RecursionError) as error:
        raise MalformedReply(f"it is no JSON: {error}") from error


def flatten_reply_text(text: str) -> str:
    """Return a text on one line, without what no terminal can show."""
    printable = "".join(
        character if character.isprintable() else " " for character in text
    )
    return " ".join(printable.split())
