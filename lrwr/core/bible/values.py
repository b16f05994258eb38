"""Values of the story bible: claims with their evidence, and the short ids users type."""

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
    """Words of a document that something rests on.

    `text` are the words at `spans`, verbatim; " … " stands where some are left out,
    save in a quotation, whose stretches a space joins.
    `chapter` is the number in story order, 0 before the first, None outside of the
    story; `scene` counts from 1. `keeper` says who read it so: see `Fact`.
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
    """One thing that is said, with all that says so, in story order.

    `label` names what is claimed where that is not plain: an attribute. A claim
    without evidence is `decided`: the writer's answer, in the canon file.
    """

    value: str
    evidence: tuple[TextEvidence, ...]
    certainty: Certainty
    label: str = ""
    decided: bool = False

    @property
    def writers(self) -> bool:
        """Whether the writer says so."""
        return self.decided or any(
            text_evidence.keeper == WRITER_KEEPER for text_evidence in self.evidence
        )


@dataclass(frozen=True, slots=True)
class CharacterRelation:
    """How one character stands to another, as the text has it.

    `target` is the `kind` of `source`: their sister, their employer, …; `valence` is
    ally, antagonist, neutral or complex. Either is empty where nobody said.
    """

    source: str
    target: str
    kind: str
    valence: str
    evidence: tuple[TextEvidence, ...]
    certainty: Certainty


class GapState(StrEnum):
    """What has become of a gap."""

    OPEN = "open"
    ANSWERED = "answered"
    """The writer has defined it; the text has not."""
    DECLINED = "left open"
    """The writer leaves it open on purpose."""
    CLOSED = "closed"
    """The text or the notes define it now."""


@dataclass(frozen=True, slots=True)
class Gap:
    """What the text leaves undefined: an attribute of `about`, empty for nobody's.

    `id` stays the same from run to run. `asked` is the question as the canon has it,
    or would. `implied` is what the text lets one infer. `answer` is the writer's,
    empty without one and under a horizon. `defined` is where the text says it after
    all. `wondered` says that a conversation asked, and nothing else did.
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
    """A form of a name, and how often it occurs as far as one has read."""

    name: str
    mentions: int
    certainty: Certainty


@dataclass(frozen=True, slots=True)
class CharacterProfile:
    """A character, as far as one has read.

    `aliases` are all forms seen so far, most mentioned first, `name` among them;
    `also_called` are names that a reader found besides. `relationships` are those of
    which this character is the source.
    Claims about one attribute stand in story order, the writer's first: what changes
    is there in both shapes.
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
        """How often the text names this character."""
        return sum(form.mentions for form in self.aliases)


@dataclass(frozen=True, slots=True)
class WorldElement:
    """A thing of the world; `element_types` holds two claims where two are made."""

    name: str
    element_types: tuple[BibleClaim, ...]
    descriptions: tuple[BibleClaim, ...]
    connected_characters: tuple[BibleClaim, ...]
    certainty: Certainty


@dataclass(frozen=True, slots=True)
class NarrativeEvent:
    """Something that happens; `emotional_weight` says what it does to whom."""

    description: str
    characters_involved: tuple[str, ...]
    emotional_weight: Mapping[str, str]
    story_grid_tag: str
    evidence: TextEvidence


@dataclass(frozen=True, slots=True)
class Disclosure:
    """Somebody tells somebody something; `hearer` is empty where nobody is named."""

    teller: str
    hearer: str
    what: str
    evidence: TextEvidence


@dataclass(frozen=True, slots=True)
class SceneSummary:
    """A scene in short.

    `points_of_view` are claims of names, the writer's first. Without a `recap`, the
    `key_sentences` stand for it. `present` are those who act or speak there, most
    present first.
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
    """What somebody says, verbatim; `speaker` and `addressee` empty if nobody knows.

    `evidence.certainty` is the speaker's.
    """

    speaker: str
    addressee: str
    addressee_certainty: Certainty
    evidence: TextEvidence


class TimelineMomentKind(StrEnum):
    """What a line of the timeline is."""

    EVENT = "event"
    TOLD = "told"
    SENTENCE = "key sentence"
    """A sentence that stands for a scene of which no event is known."""


@dataclass(frozen=True, slots=True)
class TimelineMoment:
    """One line of the timeline; `characters` are those it is about."""

    kind: TimelineMomentKind
    text: str
    characters: tuple[str, ...]
    evidence: TextEvidence


@dataclass(frozen=True, slots=True)
class Bible:
    """All that is known of the story up to a moment of it.

    Characters come most mentioned first, all else in story order. `readers` are the
    language models that have read, anywhere; with none, what only a model can tell
    is not evaluated. `bounded` means that there is a horizon, `unread` that nobody has
    read any of it, not even the rules.
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
_SHORTEST = 4
_LONGEST = 12
KeyT = TypeVar("KeyT", bound=tuple[str, ...])


class HasId(Protocol):
    """Something with an id."""

    @property
    def id(self) -> str:
        """The id, in lower case."""
        ...


IdentifiedT = TypeVar("IdentifiedT", bound=HasId)


def assign_short_ids(keys: Iterable[KeyT]) -> Mapping[KeyT, str]:
    """Return a short unique id for each key, longer where short ids would collide."""
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
    """Return the one whose id is `text`, or begins with it and no other does.

    `noun` and `listed_by`, a command, are for the message where there is none.

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
    problem = f"More than one {noun} begins with" if fits else f"No {noun} is called"
    raise NotFound(
        f"{problem} {text!r}", hint=f"{offered}`{listed_by}` lists them with their ids."
    )


def _letters(text: str) -> str:
    number = int.from_bytes(sha256(text.encode()).digest(), "big")
    letters = []
    for _ in range(_LONGEST):
        number, rest = divmod(number, len(_LETTERS))
        letters.append(_LETTERS[rest])
    return "".join(letters)


NO_READER = "not evaluated: no language model has read this manuscript."
"""What is said of everything that only a model can tell, when none has read."""


def format_evidence_location(evidence: TextEvidence) -> str:
    """Return `file:first-last`, as editors and writers know it."""
    first, last = evidence.lines.first, evidence.lines.last
    return f"{evidence.document}:{first}{'' if first == last else f'-{last}'}"


def format_chapter_name(evidence: TextEvidence) -> str:
    """Return a place in the story in words; the document's title outside of it."""
    if evidence.chapter is None:
        return f"Notes, {evidence.chapter_title}"
    title = f" “{evidence.chapter_title}”" if evidence.chapter_title else ""
    if evidence.chapter == 0:
        return f"Before chapter 1{title}"
    return f"Chapter {evidence.chapter}{title}"


def list_model_claims(
    profile: CharacterProfile,
) -> Iterator[tuple[str, tuple[BibleClaim, ...]]]:
    """Yield what only a language model tells of a character, and what to call it."""
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
    """Return who and who, and what: "Nell’s sister", "Mags"; "Nell and Mags", "ally"."""
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
    """Return what the text lets one infer, unless it only says the gap again."""
    return [claim.value for claim in gap.implied if claim.value != gap.attribute]
