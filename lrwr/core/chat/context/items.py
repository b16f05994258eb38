"""What was found for a question, as single things that may be said."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from lrwr.core.bible.phrases import (
    implied_by,
    name_of_chapter,
    relation_in_words,
    told_by_models,
)
from lrwr.core.bible.values import (
    CharacterProfile,
    Claim,
    Evidence,
    Gap,
    GapState,
    Moment,
    MomentKind,
    Quote,
    Relation,
    SceneTold,
    WorldElement,
)
from lrwr.core.chat.extractive.question_parts import chapters_in
from lrwr.core.chat.state import RetrievalResult
from lrwr.core.model.certainty import Certainty
from lrwr.core.model.turns import Intention


class Facet(StrEnum):
    """What side of the story something tells of."""

    NAME = "name"
    LOOK = "look"
    """An attribute: eyes, age, home, occupation, …"""
    CHARACTER = "character"
    """A trait, a belief, a habit."""
    VOICE = "voice"
    REFERENCE = "reference"
    RELATION = "relation"
    WORLD = "world"
    HAPPENED = "happened"
    RECAP = "recap"
    PRESENT = "present"
    """Who acts or speaks in a scene."""
    GAP = "gap"
    LINE = "line"
    """What a character says, verbatim."""


FACETS: Mapping[Intention, frozenset[Facet]] = MappingProxyType(
    {
        Intention.TRAITS: frozenset({Facet.LOOK, Facet.CHARACTER, Facet.NAME}),
        Intention.VALUES: frozenset({Facet.CHARACTER}),
        Intention.BEHAVIOR: frozenset({Facet.CHARACTER}),
        Intention.RELATIONSHIPS: frozenset({Facet.RELATION}),
        Intention.VOICE: frozenset({Facet.VOICE, Facet.LINE}),
        Intention.ARC: frozenset({Facet.LOOK, Facet.CHARACTER, Facet.HAPPENED}),
        Intention.DIALOGUE_OF: frozenset({Facet.LINE}),
        Intention.RECAP: frozenset({Facet.RECAP}),
        Intention.SETTING: frozenset({Facet.WORLD}),
        Intention.TECHNOLOGY: frozenset({Facet.WORLD}),
        Intention.FACTION: frozenset({Facet.WORLD}),
        Intention.ARTIFACT: frozenset({Facet.WORLD}),
        Intention.RULE: frozenset({Facet.WORLD}),
        Intention.WHAT_HAPPENED: frozenset({Facet.HAPPENED}),
        Intention.WHEN: frozenset({Facet.HAPPENED}),
        Intention.BEFORE_AFTER: frozenset({Facet.HAPPENED}),
        Intention.WHO_WAS_THERE: frozenset({Facet.PRESENT}),
        Intention.AUTHOR_INTENT: frozenset(
            {Facet.GAP, Facet.LOOK, Facet.CHARACTER, Facet.RELATION, Facet.WORLD}
        ),
        Intention.OPEN_QUESTION: frozenset({Facet.GAP}),
        Intention.EXTERNAL_REFERENCE: frozenset({Facet.REFERENCE}),
    }
)
"""What each intention asks for; the others ask for passages alone."""

_FACET_OF = MappingProxyType(
    {
        "also called": Facet.NAME,
        "speaks": Facet.VOICE,
        "refers to": Facet.REFERENCE,
    }
)

_INNER = frozenset(
    {
        "wants", "want", "needs", "need", "fears", "fear", "hopes", "goal", "goals",
        "motivation", "values", "habits", "habit", "flaw", "flaws", "secret",
    }
)  # fmt: skip
"""Labels of a writer's notes that tell what somebody is like, not how they look."""


SURE = frozenset({Certainty.CONFIRMED, Certainty.VERIFIED})
"""What the writer or strong evidence in the text says."""

PROBABLY = "probably"
"""What is said of a line that is not surely the speaker's."""

UNNAMED = "description"
"""The label of what a profile says of somebody in whole sentences."""

PRESENT = 4
"""Places cited for who is in a scene."""


@dataclass(frozen=True, slots=True)
class Piece:
    """One thing that is known: `label` names it ("eyes"), `says` is it ("grey").

    `evidence` is in story order, the writer's first. What is `decided` may have none:
    the writer's answer, in the canon file. A line and a key sentence say nothing
    beyond their words: `says` is empty.
    """

    facet: Facet
    about: str
    label: str
    says: str
    evidence: tuple[Evidence, ...] = ()
    decided: bool = False

    @property
    def head(self) -> str:
        """Return of whom it is, and what it names."""
        named = filter(None, (self.about, self.label))
        return ", ".join(" ".join(part.split()) for part in named)

    @property
    def told(self) -> str:
        """Return it in one line, without the words it rests on."""
        return ": ".join(filter(None, (self.head, " ".join(self.says.split()))))

    @property
    def words(self) -> str:
        """Return the words that a question may fit: of a line, what is said alone."""
        own = (one.text for one in self.evidence)
        return " ".join(own if self.facet is Facet.LINE else (self.told, *own))

    @property
    def surest(self) -> tuple[Evidence, ...]:
        """Return the evidence, what is sure first."""
        return tuple(sorted(self.evidence, key=lambda one: not is_sure(one)))

    @property
    def bare(self) -> bool:
        """Say whether it may be told without words: a decision, a gap not hinted at."""
        return self.decided or (self.facet is Facet.GAP and not self.evidence)


def is_sure(evidence: Evidence) -> bool:
    """Say whether the writer or strong evidence in the text says so."""
    return evidence.certainty in SURE


def pieces_of(result: RetrievalResult) -> list[Piece]:
    """Return all that was found but passages, each thing once, in the order found."""
    found: list[Piece] = []
    for profile in result.character_profiles:
        found.extend(_of_character(profile))
    related = (r for p in result.character_profiles for r in p.relationships)
    found.extend(_relation(one) for one in (*related, *result.relations))
    for element in result.world:
        found.extend(_of_element(element))
    found.extend(map(_moment, result.moments))
    for scene in result.scenes:
        found.extend(_of_scene(scene))
    for gap in result.gaps:
        found.extend(_of_gap(gap))
    found.extend(map(line_piece, result.lines))
    return list(dict.fromkeys(found))


def wanted(intentions: Iterable[Intention]) -> frozenset[Facet]:
    """Return the facets that `intentions` ask for."""
    nothing: frozenset[Facet] = frozenset()
    return nothing.union(*(FACETS.get(one, nothing) for one in intentions))


def line_piece(quote: Quote) -> Piece:
    """Return what somebody says, whose it is, and to whom where that is sure."""
    sure = quote.addressee_certainty in SURE
    probably = "" if is_sure(quote.evidence) else PROBABLY
    to = f"to {quote.addressee}" if quote.addressee and sure else ""
    label = ", ".join(filter(None, (probably, to)))
    return Piece(Facet.LINE, quote.speaker, label, "", (quote.evidence,))


def _of_character(profile: CharacterProfile) -> Iterator[Piece]:
    for claim in profile.attributes:
        inner = claim.label.lower() in _INNER
        facet = Facet.CHARACTER if inner else Facet.LOOK
        yield from _claims(facet, profile.name, (claim,))
    for label, claims in told_by_models(profile):
        facet = _FACET_OF.get(label, Facet.CHARACTER)
        yield from _claims(facet, profile.name, claims, label)


def _claims(
    facet: Facet, about: str, claims: Sequence[Claim], label: str = ""
) -> Iterator[Piece]:
    for claim in claims:
        named = claim.label.replace("_", " ") or label
        yield Piece(facet, about, named, claim.value, claim.evidence, claim.decided)


def _relation(relation: Relation) -> Piece:
    who, what = relation_in_words(relation)
    return Piece(Facet.RELATION, who, "", what, relation.evidence)


def _of_element(element: WorldElement) -> Iterator[Piece]:
    # What it is like says more than what kind of thing it is.
    for label, claims in (
        ("", element.descriptions),
        ("", element.element_types),
        ("concerns", element.connected_characters),
    ):
        yield from _claims(Facet.WORLD, element.name, claims, label)


def _moment(moment: Moment) -> Piece:
    people = list(moment.characters)
    if moment.kind is MomentKind.TOLD and people:
        hearer = f" tells {people[1]}" if len(people) > 1 else " tells"
        about = f"{people[0]}{hearer}"
    else:
        about = _place(moment.evidence)
    said = "" if moment.text == moment.evidence.text else moment.text
    return Piece(Facet.HAPPENED, about, "", said, (moment.evidence,))


def _place(evidence: Evidence) -> str:
    """Return a place in words; of a chapter called "Chapter One: Fog" that alone."""
    title = " ".join(evidence.chapter_title.split())
    numbered = evidence.chapter is not None and evidence.chapter in chapters_in(title)
    return title if numbered else name_of_chapter(evidence)


def _of_scene(scene: SceneTold) -> Iterator[Piece]:
    place = f"Chapter {scene.chapter}, scene {scene.scene}"
    if scene.present:
        there, words = ", ".join(scene.present), scene.key_sentences[:PRESENT]
        yield Piece(Facet.PRESENT, place, "who acts or speaks", there, words)
    if scene.recap:
        yield from _claims(Facet.RECAP, place, scene.recap)
        return
    for sentence in scene.key_sentences:
        yield Piece(Facet.RECAP, place, "", "", (sentence,))


def _of_gap(gap: Gap) -> Iterator[Piece]:
    about, attribute = gap.about, gap.attribute
    if gap.answer:
        yield Piece(Facet.GAP, about, attribute, gap.answer, decided=True)
    for claim in gap.defined:
        yield Piece(Facet.GAP, about, attribute, claim.value, claim.evidence)
    if gap.state in (GapState.ANSWERED, GapState.CLOSED):
        return
    words = tuple(evidence for claim in gap.implied for evidence in claim.evidence)
    implied = "; ".join(implied_by(gap))
    left = "left open on purpose" if gap.state is GapState.DECLINED else "left open"
    says = f"{left}; implied: {implied}" if implied else left
    yield Piece(Facet.GAP, about, attribute, says, words)
