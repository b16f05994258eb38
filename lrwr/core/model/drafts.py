"""Decisions about drafts of scenes."""

from dataclasses import dataclass
from enum import StrEnum


class DraftDecision(StrEnum):
    """What the writer decided about a draft."""

    ACCEPTING = "accepting"
    """Its file is being created; after a crash, it may exist or not."""
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    UNDONE = "undone"
    """It was accepted, and its file removed again."""


@dataclass(frozen=True, slots=True)
class DraftEntry:
    """A decision about a draft.

    `key` is the draft: "SCENE/NUMBER", or "sheets/NAME". `file` is the path of the file
    that it became or was to become, relative to the library; empty for a rejected one.
    `text` is the draft as it was then. `model` wrote it, empty for the writer. `at` is
    in seconds since 1970.
    """

    key: str
    decision: DraftDecision
    text: str
    at: float
    file: str = ""
    model: str = ""
