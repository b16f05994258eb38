"""Values of the story bible, short ids for users to type, and their wording."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum
from hashlib import sha256
from typing import Protocol, TypeVar

from lrwr.core.canon.model import UndefinedAttribute
from lrwr.core.model.cast import Gender
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.errors import NotFound
from lrwr.core.model.facts import WRITER_KEEPER, Certainty
from lrwr.core.model.text import LineRange, Span


@dataclass(frozen=True, slots=True)
class TextEvidence:
    """A quotation that supports a claim, with its location.

    `text` are the words at `spans`, verbatim, joined by " … " (in dialogue by a space).
    `chapter` is the number in story order: 0 before the first chapter, None in a note.
    `scene` counts from 1. `keeper` says who extracted it (see `Fact`).
    """

    document: DocumentId
    spans: tuple[Span, ...]
    text: str
    lines: LineRange
    chapter: int | None
    chapter_title: str
    scene: int | None
    keeper: str
    certainty: Certainty


@dataclass(frozen=True, slots=True)
class BibleClaim:
    """A statement with all its evidence, in story order.

    `label` is the attribute, if needed. `decided` marks the writer's decision in the
    canon file, which has no evidence.
    """

    value: str
    evidence: tuple[TextEvidence, ...]
    certainty: Certainty
    label: str = ""
    decided: bool = False

    @property
    def writers(self) -> bool:
        """Whether the writer states it, in a note or in canon."""
        return self.decided or any(
            text_evidence.keeper == WRITER_KEEPER for text_evidence in self.evidence
        )


@dataclass(frozen=True, slots=True)
class CharacterRelation:
    """A relationship between two characters as the text states it.

    `target` is the `kind` (such as "sister") of `source`; `valence` is ally,
    antagonist, neutral or complex. Either may be empty.
    """

    source: str
    target: str
    kind: str
    valence: str
    evidence: tuple[TextEvidence, ...]
    certainty: Certainty


class GapState(StrEnum):
    """State of a gap."""

    OPEN = "open"
    ANSWERED = "answered"
    """Defined by the writer in canon, not by the text."""
    DECLINED = "left open"
    """Left undefined on purpose, by decision of the writer."""
    CLOSED = "closed"
    """Defined by the text or the notes."""


@dataclass(frozen=True, slots=True)
class Gap:
    """An attribute that the text leaves undefined; `about` is empty if it is nobody's.

    `id` is stable between runs. `asked` is the key of the gap in canon. `implied` are
    conclusions that the text allows. `answer` is the writer's; empty without one and
    with a horizon. `defined` is evidence that the text defines it after all. `wondered`
    means that only a thread found the gap.
    """

    id: str
    asked: UndefinedAttribute
    about: str
    attribute: str
    state: GapState
    implied: tuple[BibleClaim, ...] = ()
    suggestions: tuple[str, ...] = ()
    answer: str = ""
    defined: tuple[BibleClaim, ...] = ()
    wondered: bool = False


@dataclass(frozen=True, slots=True)
class AliasForm:
    """A name form of a character, and its number of mentions up to the horizon."""

    name: str
    mentions: int
    certainty: Certainty


@dataclass(frozen=True, slots=True)
class CharacterProfile:
    """A character as known at the horizon.

    `aliases` are all visible name forms including `name`, most mentioned first;
    `also_called` are further names found by a language model. `relationships` are those
    with this character as the source. Claims about one attribute are in story order,
    the writer's first; a value that changes appears once for each value.
    """

    name: str
    aliases: tuple[AliasForm, ...]
    gender: Gender
    gender_certainty: Certainty
    certainty: Certainty
    because: str = ""
    narrator: bool = False
    first_seen: TextEvidence | None = None
    also_called: tuple[BibleClaim, ...] = ()
    attributes: tuple[BibleClaim, ...] = ()
    personality_traits: tuple[BibleClaim, ...] = ()
    stated_values: tuple[BibleClaim, ...] = ()
    behavioral_patterns: tuple[BibleClaim, ...] = ()
    relationships: tuple[CharacterRelation, ...] = ()
    speech_patterns: tuple[BibleClaim, ...] = ()
    external_references: tuple[BibleClaim, ...] = ()
    open_gaps: tuple[Gap, ...] = ()

    @property
    def mentions(self) -> int:
        """Number of mentions of all name forms."""
        return sum(form.mentions for form in self.aliases)


@dataclass(frozen=True, slots=True)
class WorldElement:
    """An element of the story's world; conflicting types give several `element_types`."""

    name: str
    element_types: tuple[BibleClaim, ...]
    descriptions: tuple[BibleClaim, ...]
    connected_characters: tuple[BibleClaim, ...]
    certainty: Certainty


@dataclass(frozen=True, slots=True)
class NarrativeEvent:
    """An event; `emotional_weight` maps characters to their feelings."""

    description: str
    characters_involved: tuple[str, ...]
    emotional_weight: Mapping[str, str]
    story_grid_tag: str
    evidence: TextEvidence


@dataclass(frozen=True, slots=True)
class Disclosure:
    """A character tells another one something; `hearer` is empty if not named."""

    teller: str
    hearer: str
    what: str
    evidence: TextEvidence


@dataclass(frozen=True, slots=True)
class SceneSummary:
    """Summary of a scene.

    `points_of_view` are names, the writer's first. `key_sentences` replace a missing
    `recap`. `present` are the characters who act or speak, most frequent first.
    """

    document: DocumentId
    span: Span
    lines: LineRange
    chapter: int
    chapter_title: str
    scene: int
    points_of_view: tuple[BibleClaim, ...] = ()
    recap: tuple[BibleClaim, ...] = ()
    key_sentences: tuple[TextEvidence, ...] = ()
    present: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AttributedQuote:
    """Quoted dialogue, verbatim; `speaker` and `addressee` are empty if unknown.

    `evidence.certainty` is that of the speaker.
    """

    speaker: str
    addressee: str
    addressee_certainty: Certainty
    evidence: TextEvidence


class TimelineMomentKind(StrEnum):
    """Kind of an entry in the timeline."""

    EVENT = "event"
    TOLD = "told"
    SENTENCE = "key sentence"
    """A sentence that represents a chapter without known events."""


@dataclass(frozen=True, slots=True)
class TimelineMoment:
    """An entry of the timeline; `characters` are those involved."""

    kind: TimelineMomentKind
    text: str
    characters: tuple[str, ...]
    evidence: TextEvidence


@dataclass(frozen=True, slots=True)
class Bible:
    """The story bible up to a horizon.

    Characters are sorted by mentions, everything else by story order. `readers` are the
    language models that have analysed the text; without one, some fields are not
    analysed. `bounded` means that there is a horizon, `unread` that no document has
    been ingested with pipeline b.
    """

    characters: tuple[CharacterProfile, ...] = ()
    world: tuple[WorldElement, ...] = ()
    events: tuple[NarrativeEvent, ...] = ()
    relations: tuple[CharacterRelation, ...] = ()
    told: tuple[Disclosure, ...] = ()
    scenes: tuple[SceneSummary, ...] = ()
    timeline: tuple[TimelineMoment, ...] = ()
    quotes: tuple[AttributedQuote, ...] = ()
    gaps: tuple[Gap, ...] = ()
    readers: tuple[str, ...] = ()
    bounded: bool = False
    unread: bool = False


_LETTERS = "bcdfghjkmnpqrstvwxz"
"""Consonants that are hard to confuse; without vowels, no id is a word."""
_SHORTEST = 4
_LONGEST = 12
KeyT = TypeVar("KeyT", bound=tuple[str, ...])


class HasId(Protocol):
    """A value with an id."""

    @property
    def id(self) -> str:
        """The id, in lower case."""
        ...


IdentifiedT = TypeVar("IdentifiedT", bound=HasId)


def assign_short_ids(keys: Iterable[KeyT]) -> Mapping[KeyT, str]:
    """Return a unique id of 4 to 12 consonants for each key, derived from its hash.

    Ids are as short as possible without one being the start of another.
    """
    letters_by_key = {key: _letters("\0".join(key)) for key in keys}
    ids: dict[KeyT, str] = {}
    for key, letters in letters_by_key.items():
        others = [other for k, other in letters_by_key.items() if k != key]
        size = next(
            n
            for n in range(_SHORTEST, _LONGEST + 1)
            if n == _LONGEST or not any(o.startswith(letters[:n]) for o in others)
        )
        ids[key] = letters[:size]
    return ids


def find_by_id_prefix(
    text: str, items: Sequence[IdentifiedT], *, noun: str, listed_by: str
) -> IdentifiedT:
    """Return the item with the id `text`, or the only one whose id starts with it.

    `noun` and the command `listed_by` are used in the error message.

    Raises:
        NotFound: There is none, or more than one.
    """
    word = text.strip().casefold()
    fits = [item for item in items if word and item.id.startswith(word)]
    exact = [fit for fit in fits if fit.id == word]
    if len(exact or fits) == 1:
        return (exact or fits)[0]
    similar_ids = get_close_matches(word, [item.id for item in items], n=1)
    offered = f"Did you mean {similar_ids[0]}? " if similar_ids and not fits else ""
    problem = (
        f"More than one {noun} has an id that starts with"
        if fits
        else f"No {noun} has the id"
    )
    raise NotFound(
        f"{problem} {text!r}", hint=f"{offered}Run `{listed_by}` to list all ids."
    )


def _letters(text: str) -> str:
    number = int.from_bytes(sha256(text.encode()).digest(), "big")
    letters = []
    for _ in range(_LONGEST):
        number, rest = divmod(number, len(_LETTERS))
        letters.append(_LETTERS[rest])
    return "".join(letters)


NO_READER = "not analysed (needs a language model)."
"""Shown for fields that only a language model can fill, if none has read the text."""


def format_evidence_location(evidence: TextEvidence) -> str:
    """Return the location as `file:line` or `file:first-last`."""
    first, last = evidence.lines.first, evidence.lines.last
    return f"{evidence.document}:{first}{'' if first == last else f'-{last}'}"


def format_chapter_name(evidence: TextEvidence) -> str:
    """Return "Chapter 3 “Title”", or "Notes, Title" outside the story."""
    if evidence.chapter is None:
        return f"Notes, {evidence.chapter_title}"
    title = f" “{evidence.chapter_title}”" if evidence.chapter_title else ""
    if evidence.chapter == 0:
        return f"Before chapter 1{title}"
    return f"Chapter {evidence.chapter}{title}"


def list_model_claims(
    profile: CharacterProfile,
) -> Iterator[tuple[str, tuple[BibleClaim, ...]]]:
    """Yield label and claims of the fields that only a language model can fill."""
    yield "also called", profile.also_called
    yield "trait", profile.personality_traits
    yield "values", profile.stated_values
    yield "does", profile.behavioral_patterns
    yield "speaks", profile.speech_patterns
    yield "refers to", profile.external_references


def list_unevaluated_fields(profile: CharacterProfile, bible: Bible) -> list[str]:
    """Return the empty fields of a character if no language model has read the text."""
    claims_by_field = {
        "traits": profile.personality_traits,
        "values": profile.stated_values,
        "behaviour": profile.behavioral_patterns,
        "voice": profile.speech_patterns,
        "references": profile.external_references,
    }
    return (
        []
        if bible.readers
        else [name for name, claims in claims_by_field.items() if not claims]
    )


def format_relation(relation: CharacterRelation) -> tuple[str, str]:
    """Return ("Nell’s sister", "Mags"), or ("Nell and Mags", "ally") without a kind."""
    valence_note = (
        f" ({relation.valence})" if relation.kind and relation.valence else ""
    )
    if relation.kind:
        return (
            f"{relation.source}’s {relation.kind}",
            f"{relation.target}{valence_note}",
        )
    people = f"{relation.source} and {relation.target}"
    return people, relation.valence or "related"


def list_gap_implications(gap: Gap) -> list[str]:
    """Return the implications of a gap, without those that repeat it."""
    return [claim.value for claim in gap.implied if claim.value != gap.attribute]
