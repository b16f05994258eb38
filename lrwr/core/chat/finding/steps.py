"""The steps by which a language model looks things up, and the JSON it asks for them.

There are no others: what a reply asks for that is none of these is not done.
"""

import json
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

from lrwr.core.model.replies import NotAsAsked, clean, object_in, strict
from lrwr.core.ports.chat_model import Shape

LONGEST_SEARCH = 200
"""Characters of what is searched for."""


@dataclass(frozen=True, slots=True)
class TableOfContents:
    """Look at the chapters' titles."""


@dataclass(frozen=True, slots=True)
class ReadChapter:
    """Read a chapter by its number in story order; `part` counts from 1."""

    number: int
    part: int


@dataclass(frozen=True, slots=True)
class Search:
    """Search the manuscript for `words`."""

    words: str


@dataclass(frozen=True, slots=True)
class Enough:
    """Stop; `keep` are the numbers of the passages that bear on the question."""

    keep: tuple[int, ...]


Step: TypeAlias = TableOfContents | ReadChapter | Search | Enough


@cache
def step_shape() -> Shape:
    """Return the shape of a reply: one step, with every field, unused ones empty."""
    number = {"type": "integer"}
    fields = {
        "tool": {
            "type": "string",
            "enum": ["search", "read_chapter", "table_of_contents", "enough"],
        },
        "words": {"type": "string"},
        "chapter": number,
        "part": number,
        "keep": {"type": "array", "items": number},
    }
    return Shape("Step", json.dumps(strict(fields), separators=(",", ":")))


def read_step(reply: str) -> Step:
    """Return the step that a reply asks for.

    Raises:
        NotAsAsked: The reply does not keep to its shape, or asks for nothing known.
    """
    match object_in(reply):
        case {"tool": "search", "words": str(words)} if said := clean(words):
            return Search(said[:LONGEST_SEARCH])
        case {"tool": "read_chapter", "chapter": int(chapter), "part": int(part)}:
            return ReadChapter(chapter, max(1, part))
        case {"tool": "table_of_contents"}:
            return TableOfContents()
        case {"tool": "enough", "keep": [*keep]} if all(map(_is_number, keep)):
            return Enough(tuple(dict.fromkeys(int(one) for one in keep)))
    raise NotAsAsked("it is no step that there is")


def _is_number(said: object) -> bool:
    return isinstance(said, int) and not isinstance(said, bool)
