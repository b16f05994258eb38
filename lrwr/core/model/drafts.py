"""Decisions about drafts of scenes, and the steps of language models that wrote them."""

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
    UNDECIDED = "undecided"
    """Nothing was decided. Not stored."""
    SUPERSEDED = "superseded"
    """Nothing was decided, but another draft of the scene is accepted. Not stored."""


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


@dataclass(frozen=True, slots=True)
class DraftStep:
    """A reply of a language model to a step of drafting.

    `key` is a hash of everything that the reply depends on; for a proposal, which is a
    reply that became a file, it is "SCENE/NUMBER". `scene` is the id of the scene, or the
    part of the plan. `step` says what was asked for. `at` is in seconds since 1970.
    """

    key: str
    scene: str
    step: str
    model: str
    reply: str
    at: float
    prompt_tokens: int = 0
    completion_tokens: int = 0
