"""A document that lrwr writes: blocks, whatever the format."""

from dataclasses import dataclass
from enum import StrEnum


class BlockKind(StrEnum):
    """What a block is to its reader."""

    HEADING = "heading"
    TEXT = "text"
    ITEM = "item"
    """One of a list."""
    QUOTE = "quote"
    """Words of the manuscript, verbatim."""


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph of a document. No text in it is markup.

    `level` is a heading's, from 1. `lead` are words set off before an item's text.
    `place` says where a quote stands.
    """

    kind: BlockKind
    text: str
    level: int = 0
    lead: str = ""
    place: str = ""
