"""The values of the story bible, the short ids that users type, and wording for
display.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from enum import StrEnum
from hashlib import sha256
from typing import Protocol, TypeVar

from lrwr.core.canon.model import UndefinedAttribute
from lrwr.core.model.cast import Cast, Gender
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.errors import NotFound
from lrwr.core.model.facts import WRITER_KEEPER, Certainty
from lrwr.core.model.text import LineRange, Span, format_chapter_title


@dataclass(frozen=True, slots=True)
class TextEvidence:
    """A quotation that supports a claim, with its location.

    `text` are the words at `spans`, verbatim, joined by " … " (by a space where one utterance
    merely begins a new paragraph).
    `chapter` is the number in story order: 0 before the first chapter, None in a note.
    `scene` counts from 1 within the chapter, None in a note. `keeper` is the source of
    the claim: rules, the author's notes, or a language model (see `Fact`).
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
    """A statement, `value`, with all its evidence, notes first, then in story order.

    `certainty` is the highest of the evidence. `label` is the attribute, such as
    "eyes"; empty if none is needed. `decided` means that the user decided it in the
    canon file; such a claim has no evidence and is confirmed.
    """

    value: str
    evidence: tuple[TextEvidence, ...]
    certainty: Certainty
    label: str = ""
    decided: bool = False

    @property
    def writers(self) -> bool:
        """Whether the author states it, in a note or in a canon decision."""
        return self.decided or any(
            text_evidence.keeper == WRITER_KEEPER for text_evidence in self.evidence
        )


@dataclass(frozen=True, slots=True)
class CharacterRelation:
    """A relationship between two characters as the text states it.

    `target` is the `kind` (such as "sister") of `source`; `valence` is ally,
    antagonist, neutral or complex. `kind` and `valence` are empty if unknown.
    `certainty` is the highest of the evidence. `derived` means that no text states it:
    it follows from two other relationships, whose places are the evidence.
    """

    source: str
    target: str
    kind: str
    valence: str
    evidence: tuple[TextEvidence, ...]
    certainty: Certainty
    derived: bool = False


class GapState(StrEnum):
    """Whether a gap is open, answered in the canon file, left undefined on purpose, or
    defined by the text.
    """

    OPEN = "open"
    ANSWERED = "answered"
    """Defined by a decision in the canon file, not by the text."""
    DECLINED = "left open"
    """Left undefined on purpose, by decision of the user."""
    CLOSED = "closed"
    """Defined by the text or the notes."""


@dataclass(frozen=True, slots=True)
class Gap:
    """An attribute that the text leaves undefined.

    `about` is the character or thing that has it, empty if none has. `id` is derived
    from `about` and the attribute, so it is stable between runs. `asked` identifies the
    gap in the canon file. `implied` are conclusions that the text allows, `suggestions`
    ways to define it. `answer` is the user's decision; empty without one and with a
    horizon. `defined` are claims of the text that define it after all. `asked_in_thread` means
    that it was found only while answering a question.
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
    asked_in_thread: bool = False


@dataclass(frozen=True, slots=True)
class AliasForm:
    """A name or alias of a character, and its number of mentions up to the horizon.

    `certainty` says how sure it is that the name belongs to the character.
    """

    name: str
    mentions: int
    certainty: Certainty


@dataclass(frozen=True, slots=True)
class CharacterProfile:
    """A character as known at the horizon; `certainty` is that it is a character at
    all.

    `aliases` are all visible names including `name`, most mentioned first;
    `also_called` are further names found by a language model. `because` says why these
    names were merged into one character; empty with a horizon. `narrator` means that
    the character tells the story. `relationships` are those with this character as the
    source. Claims about one attribute are in story order, the author's first; a value
    that changes appears once for each value.
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
        """The number of mentions of all aliases up to the horizon."""
        return sum(form.mentions for form in self.aliases)


@dataclass(frozen=True, slots=True)
class WorldElement:
    """A place, device, group, object or rule of the story's world.

    `element_types` says which, more than one if the text or notes conflict.
    `connected_characters` are claims whose values are characters' names: who is seen
    there. `certainty` is the highest of all evidence about the element; each claim also
    has its own. `mentions` is how often rules found the name, 0 if they did not look
    for it; `part_of` is the name of the place that a place is in, empty if unknown.
    """

    name: str
    element_types: tuple[BibleClaim, ...]
    descriptions: tuple[BibleClaim, ...]
    connected_characters: tuple[BibleClaim, ...]
    certainty: Certainty
    mentions: int = 0
    part_of: str = ""

    @property
    def unquoted_mentions(self) -> int:
        """How many mentions are not among the quotations of types and descriptions."""
        claims = (*self.element_types, *self.descriptions)
        quoted = {(e.document, e.spans) for claim in claims for e in claim.evidence}
        return max(0, self.mentions - len(quoted))


@dataclass(frozen=True, slots=True)
class NarrativeEvent:
    """An event of the story.

    `kind` is the `LifeEventKind` that rules found, empty for none. A `told` event is
    reported by a character; an `earlier` one happened before its scene.
    `emotional_weight` maps the names of characters to their feelings, in words.
    `story_grid_tag` is its position in the course of its scene (see `StoryGridTag`),
    empty for none.
    """

    description: str
    characters_involved: tuple[str, ...]
    emotional_weight: Mapping[str, str]
    story_grid_tag: str
    evidence: TextEvidence
    kind: str = ""
    told: bool = False
    earlier: bool = False


@dataclass(frozen=True, slots=True)
class Disclosure:
    """A statement that one character, `teller`, makes to another.

    `what` summarizes it. `hearers` are all who are told, empty if unknown.
    """

    teller: str
    hearers: tuple[str, ...]
    what: str
    evidence: TextEvidence


@dataclass(frozen=True, slots=True)
class SceneSummary:
    """Summary of the scene at `span` of a document.

    `chapter` is the number in story order; `scene` counts from 1 within the chapter.
    `points_of_view` are claims with characters' names, a decided one first. `recap` has
    summaries by a language model; without any, `key_sentences` represent the scene.
    `present` are the names of characters who act or speak, most frequent first.
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

    `evidence` has the words; its certainty is that of the speaker.
    """

    speaker: str
    addressee: str
    addressee_certainty: Certainty
    evidence: TextEvidence


class TimelineMomentKind(StrEnum):
    """Kind of an entry in the timeline: a scene, an event, or something told."""

    SCENE = "scene"
    """A scene, by its key sentences."""

    EVENT = "event"
    TOLD = "told"


@dataclass(frozen=True, slots=True)
class TimelineMoment:
    """An entry of the timeline.

    `text` is the description of the event, the statement told, or the key sentences of
    the scene. `characters` are the names of those involved or present. `event_kind`,
    `told` and `earlier` are those of a `NarrativeEvent`. `when` is the phrase that
    dates a scene ("The next morning") and `where` its place, both empty if unknown.
    """

    kind: TimelineMomentKind
    text: str
    characters: tuple[str, ...]
    evidence: TextEvidence
    event_kind: str = ""
    told: bool = False
    earlier: bool = False
    when: str = ""
    where: str = ""


@dataclass(frozen=True, slots=True)
class Bible:
    """The story bible up to a horizon.

    Characters are sorted by mentions, most first, everything else by story order.
    `told` is what characters tell each other. `readers` are the names of the language
    models that have analysed the text; without one, some fields are not analysed.
    `bounded` means that there is a horizon, `unread` that no document has been ingested
    with pipeline b; `waiting` counts the documents that are not ingested yet.
    `visible_cast` has the names of `characters`, or is None; see
    `extract_visible_cast`.
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
    waiting: int = 0
    visible_cast: Cast | None = field(default=None, compare=False, repr=False)


_LETTERS = "bcdfghjkmnpqrstvwxz"
"""Consonants that are hard to confuse; without vowels, no id is a word."""
_SHORTEST = 4
_LONGEST = 12
KeyT = TypeVar("KeyT", bound=tuple[str, ...])


class HasId(Protocol):
    """A value with a short id that users can type."""

    @property
    def id(self) -> str:
        """The id, in lower case."""
        ...


IdentifiedT = TypeVar("IdentifiedT", bound=HasId)


def assign_short_ids(keys: Iterable[KeyT]) -> Mapping[KeyT, str]:
    """Return a unique id of 4 to 12 lower-case consonants for each of `keys`, derived
    from the key's SHA-256.

    Ids are as short as possible without one being the start of another; so an id may
    get longer when keys are added.
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
    """Return the item with the id `text`, or the only one whose id starts with `text`,
    ignoring case.

    In the error message, `noun` names the kind of item and `listed_by` is the command
    that lists the items.

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
    """Return the location of `evidence` as `file:line` or `file:first-last`."""
    first, last = evidence.lines.first, evidence.lines.last
    return f"{evidence.document}:{first}{'' if first == last else f'-{last}'}"


def format_chapter_name(evidence: TextEvidence) -> str:
    """Return the chapter of `evidence`, as in "Chapter 3 “Title”", "Before chapter 1"
    or, for a note, "Notes, Title".
    """
    if evidence.chapter is None:
        return f"Notes, {evidence.chapter_title}"
    title = format_chapter_title(evidence.chapter, evidence.chapter_title)
    if evidence.chapter == 0:
        return f"Before chapter 1{title}"
    return f"Chapter {evidence.chapter}{title}"


def list_model_claims(
    profile: CharacterProfile,
) -> Iterator[tuple[str, tuple[BibleClaim, ...]]]:
    """Yield (label, claims) for each field of `profile` that only a language model can
    fill, such as ("trait", …); the claims may be empty.
    """
    yield "also called", profile.also_called
    yield "trait", profile.personality_traits
    yield "values", profile.stated_values
    yield "does", profile.behavioral_patterns
    yield "speaks", profile.speech_patterns
    yield "refers to", profile.external_references


def list_unevaluated_fields(profile: CharacterProfile, bible: Bible) -> list[str]:
    """Return the names for display ("traits", "voice") of those fields of `profile`
    that are empty because no language model has analysed the text.

    Empty if one has.
    """
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


MAX_KIND_WORDS = 3
"""Words of the kind of a relationship that can follow a name: "Nell's elder sister"."""


SHOWN_EVIDENCE = 3
"""Quotations that a text shows for a relationship; JSON has all."""


def format_relation(relation: CharacterRelation) -> tuple[str, str]:
    """Return a relationship as a label and a text: ("Nell’s sister", "Mags (ally)").

    A kind of more than `MAX_KIND_WORDS` words is a phrase about both: ("Ansel, Nell",
    "wants the lease of"). Without a kind, ("Nell and Mags", "ally"); without a valence too, the text is
    "related".
    """
    valence_note = (
        f" ({relation.valence})" if relation.kind and relation.valence else ""
    )
    if len(relation.kind.split()) > MAX_KIND_WORDS:
        pair = f"{relation.target}, {relation.source}"
        return pair, f"{relation.kind}{valence_note}"
    if relation.kind:
        return (
            f"{relation.source}’s {relation.kind}",
            f"{relation.target}{valence_note}{' (derived)' if relation.derived else ''}",
        )
    people = f"{relation.source} and {relation.target}"
    return people, relation.valence or "related"


def find_last_scenes(bible: Bible) -> dict[str, SceneSummary]:
    """Return for each character the last scene in which it acts or speaks."""
    return {name: scene for scene in bible.scenes for name in scene.present}


def list_gap_implications(gap: Gap) -> list[str]:
    """Return the conclusions that the text allows about a gap, as sentences, without
    one that only repeats the attribute.
    """
    return [claim.value for claim in gap.implied if claim.value != gap.attribute]
