"""What was found for a question, as single things that may be said."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from lrwr.core.bible.values import (
    AttributedQuote,
    BibleClaim,
    CharacterProfile,
    CharacterRelation,
    Gap,
    GapState,
    SceneSummary,
    TextEvidence,
    TimelineMoment,
    TimelineMomentKind,
    WorldElement,
    format_chapter_name,
    format_relation,
    list_gap_implications,
    list_model_claims,
)
from lrwr.core.chat.extractive.question_parts import parse_chapter_numbers
from lrwr.core.chat.state import RetrievalResult
from lrwr.core.model.facts import Certainty
from lrwr.core.model.turns import SourceIntention


class StoryFacet(StrEnum):
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


FACETS: Mapping[SourceIntention, frozenset[StoryFacet]] = MappingProxyType(
    {
        SourceIntention.TRAITS: frozenset(
            {StoryFacet.LOOK, StoryFacet.CHARACTER, StoryFacet.NAME}
        ),
        SourceIntention.VALUES: frozenset({StoryFacet.CHARACTER}),
        SourceIntention.BEHAVIOR: frozenset({StoryFacet.CHARACTER}),
        SourceIntention.RELATIONSHIPS: frozenset({StoryFacet.RELATION}),
        SourceIntention.VOICE: frozenset({StoryFacet.VOICE, StoryFacet.LINE}),
        SourceIntention.ARC: frozenset(
            {StoryFacet.LOOK, StoryFacet.CHARACTER, StoryFacet.HAPPENED}
        ),
        SourceIntention.DIALOGUE_OF: frozenset({StoryFacet.LINE}),
        SourceIntention.RECAP: frozenset({StoryFacet.RECAP}),
        SourceIntention.SETTING: frozenset({StoryFacet.WORLD}),
        SourceIntention.TECHNOLOGY: frozenset({StoryFacet.WORLD}),
        SourceIntention.FACTION: frozenset({StoryFacet.WORLD}),
        SourceIntention.ARTIFACT: frozenset({StoryFacet.WORLD}),
        SourceIntention.RULE: frozenset({StoryFacet.WORLD}),
        SourceIntention.WHAT_HAPPENED: frozenset({StoryFacet.HAPPENED}),
        SourceIntention.WHEN: frozenset({StoryFacet.HAPPENED}),
        SourceIntention.BEFORE_AFTER: frozenset({StoryFacet.HAPPENED}),
        SourceIntention.WHO_WAS_THERE: frozenset({StoryFacet.PRESENT}),
        SourceIntention.AUTHOR_INTENT: frozenset(
            {
                StoryFacet.GAP,
                StoryFacet.LOOK,
                StoryFacet.CHARACTER,
                StoryFacet.RELATION,
                StoryFacet.WORLD,
            }
        ),
        SourceIntention.OPEN_QUESTION: frozenset({StoryFacet.GAP}),
        SourceIntention.EXTERNAL_REFERENCE: frozenset({StoryFacet.REFERENCE}),
    }
)
"""What each intention asks for; the others ask for passages alone."""

_FACET_OF = MappingProxyType(
    {
        "also called": StoryFacet.NAME,
        "speaks": StoryFacet.VOICE,
        "refers to": StoryFacet.REFERENCE,
    }
)

_INNER = frozenset(
    {
        "wants", "want", "needs", "need", "fears", "fear", "hopes", "goal", "goals",
        "motivation", "values", "habits", "habit", "flaw", "flaws", "secret",
    }
)  # fmt: skip
"""Labels of a writer's notes that tell what somebody is like, not how they look."""


SURE_CERTAINTIES = frozenset({Certainty.CONFIRMED, Certainty.VERIFIED})
"""What the writer or strong evidence in the text says."""

PROBABLY = "probably"
"""What is said of a line that is not surely the speaker's."""

UNNAMED = "description"
"""The label of what a profile says of somebody in whole sentences."""

MAX_PRESENCE_CITATIONS = 4
"""Places cited for who is in a scene."""


@dataclass(frozen=True, slots=True)
class ContextItem:
    """One thing that is known: `label` names it ("eyes"), `says` is it ("grey").

    `evidence` is in story order, the writer's first. What is `decided` may have none:
    the writer's answer, in the canon file. A line and a key sentence say nothing
    beyond their words: `says` is empty.
    """

    facet: StoryFacet
    about: str
    label: str
    says: str
    evidence: tuple[TextEvidence, ...] = ()
    decided: bool = False

    @property
    def head(self) -> str:
        """Return the subject and the label, joined by a comma."""
        head_parts = filter(None, (self.about, self.label))
        return ", ".join(" ".join(part.split()) for part in head_parts)

    @property
    def told(self) -> str:
        """Return it in one line, without the words it rests on."""
        return ": ".join(filter(None, (self.head, " ".join(self.says.split()))))

    @property
    def words(self) -> str:
        """Return the words to match with a question; of dialogue, only the quotation."""
        evidence_texts = (text_evidence.text for text_evidence in self.evidence)
        return " ".join(
            evidence_texts
            if self.facet is StoryFacet.LINE
            else (self.told, *evidence_texts)
        )

    @property
    def surest(self) -> tuple[TextEvidence, ...]:
        """Return the evidence, sure evidence first."""
        return tuple(
            sorted(self.evidence, key=lambda text_evidence: not is_sure(text_evidence))
        )

    @property
    def bare(self) -> bool:
        """Say whether it may be told without words: a decision, a gap not hinted at."""
        return self.decided or (self.facet is StoryFacet.GAP and not self.evidence)


def is_sure(evidence: TextEvidence) -> bool:
    """Say whether the writer or strong evidence in the text says so."""
    return evidence.certainty in SURE_CERTAINTIES


def collect_context_items(result: RetrievalResult) -> list[ContextItem]:
    """Return all that was found but passages, each thing once, in the order found."""
    context_items: list[ContextItem] = []
    for profile in result.character_profiles:
        context_items.extend(_of_character(profile))
    related = (r for p in result.character_profiles for r in p.relationships)
    context_items.extend(
        _relation(relation) for relation in (*related, *result.relations)
    )
    for element in result.world:
        context_items.extend(_of_element(element))
    context_items.extend(map(_moment, result.moments))
    for scene in result.scenes:
        context_items.extend(_of_scene(scene))
    for gap in result.gaps:
        context_items.extend(_of_gap(gap))
    context_items.extend(map(build_quote_item, result.lines))
    return list(dict.fromkeys(context_items))


def map_intentions_to_facets(
    intentions: Iterable[SourceIntention],
) -> frozenset[StoryFacet]:
    """Return the facets that `intentions` ask for."""
    nothing: frozenset[StoryFacet] = frozenset()
    return nothing.union(*(FACETS.get(intention, nothing) for intention in intentions))


def build_quote_item(quote: AttributedQuote) -> ContextItem:
    """Return a quotation with its speaker, and its addressee where that is sure."""
    is_certain = quote.addressee_certainty in SURE_CERTAINTIES
    probably = "" if is_sure(quote.evidence) else PROBABLY
    to = f"to {quote.addressee}" if quote.addressee and is_certain else ""
    label = ", ".join(filter(None, (probably, to)))
    return ContextItem(StoryFacet.LINE, quote.speaker, label, "", (quote.evidence,))


def _of_character(profile: CharacterProfile) -> Iterator[ContextItem]:
    for claim in profile.attributes:
        inner = claim.label.lower() in _INNER
        facet = StoryFacet.CHARACTER if inner else StoryFacet.LOOK
        yield from _claims(facet, profile.name, (claim,))
    for label, claims in list_model_claims(profile):
        facet = _FACET_OF.get(label, StoryFacet.CHARACTER)
        yield from _claims(facet, profile.name, claims, label)


def _claims(
    facet: StoryFacet, about: str, claims: Sequence[BibleClaim], label: str = ""
) -> Iterator[ContextItem]:
    for claim in claims:
        claim_label = claim.label.replace("_", " ") or label
        yield ContextItem(
            facet, about, claim_label, claim.value, claim.evidence, claim.decided
        )


def _relation(relation: CharacterRelation) -> ContextItem:
    label, description = format_relation(relation)
    return ContextItem(StoryFacet.RELATION, label, "", description, relation.evidence)


def _of_element(element: WorldElement) -> Iterator[ContextItem]:
    # What it is like says more than what kind of thing it is.
    for label, claims in (
        ("", element.descriptions),
        ("", element.element_types),
        ("concerns", element.connected_characters),
    ):
        yield from _claims(StoryFacet.WORLD, element.name, claims, label)


def _moment(moment: TimelineMoment) -> ContextItem:
    people = list(moment.characters)
    if moment.kind is TimelineMomentKind.TOLD and people:
        hearer = f" tells {people[1]}" if len(people) > 1 else " tells"
        about = f"{people[0]}{hearer}"
    else:
        about = _place(moment.evidence)
    description = "" if moment.text == moment.evidence.text else moment.text
    return ContextItem(StoryFacet.HAPPENED, about, "", description, (moment.evidence,))


def _place(evidence: TextEvidence) -> str:
    """Return a place in words; of a chapter called "Chapter One: Fog" that alone."""
    title = " ".join(evidence.chapter_title.split())
    numbered = (
        evidence.chapter is not None
        and evidence.chapter in parse_chapter_numbers(title)
    )
    return title if numbered else format_chapter_name(evidence)


def _of_scene(scene: SceneSummary) -> Iterator[ContextItem]:
    place = f"Chapter {scene.chapter}, scene {scene.scene}"
    if scene.present:
        people, words = (
            ", ".join(scene.present),
            scene.key_sentences[:MAX_PRESENCE_CITATIONS],
        )
        yield ContextItem(
            StoryFacet.PRESENT, place, "who acts or speaks", people, words
        )
    if scene.recap:
        yield from _claims(StoryFacet.RECAP, place, scene.recap)
        return
    for sentence in scene.key_sentences:
        yield ContextItem(StoryFacet.RECAP, place, "", "", (sentence,))


def _of_gap(gap: Gap) -> Iterator[ContextItem]:
    about, attribute = gap.about, gap.attribute
    if gap.answer:
        yield ContextItem(StoryFacet.GAP, about, attribute, gap.answer, decided=True)
    for claim in gap.defined:
        yield ContextItem(StoryFacet.GAP, about, attribute, claim.value, claim.evidence)
    if gap.state in (GapState.ANSWERED, GapState.CLOSED):
        return
    words = tuple(evidence for claim in gap.implied for evidence in claim.evidence)
    implied = "; ".join(list_gap_implications(gap))
    state = "left open on purpose" if gap.state is GapState.DECLINED else "left open"
    description = f"{state}; implied: {implied}" if implied else state
    yield ContextItem(StoryFacet.GAP, about, attribute, description, words)
