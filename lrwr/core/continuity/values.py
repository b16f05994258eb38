"""A contradiction: what is confirmed, what gainsays it, and where each stands."""

from dataclasses import dataclass
from enum import StrEnum

from lrwr.core.bible.values import TextEvidence


class StatementSource(StrEnum):
    """Who says so."""

    NOTE = "note"
    ANSWER = "canon answer"
    """The writer's answer or decision in the canon file; it has no passage."""
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class ContradictionSide:
    """One of two values that cannot both be true.

    `evidence` is in story order, whole sentences, at least one but for the writer's
    decisions in the canon file.
    """

    value: str
    source: StatementSource
    evidence: tuple[TextEvidence, ...] = ()


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two sides of one attribute, `canon` the one that counts, `found` the other.

    `id` are a few letters that stay the same for as long as both values do. `because`
    is the writer's reason where it is `intended`, and may be empty then, too. `judge`
    is the language model that found it, with its reason, `why`; empty where rules did.
    The values are then quotes.
    """

    id: str
    about: str
    attribute: str
    canon: ContradictionSide
    found: ContradictionSide
    intended: bool = False
    because: str = ""
    judge: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True)
class NewContradictions:
    """Contradictions that were not there before, and that nobody has intended."""

    found: tuple[Contradiction, ...]
