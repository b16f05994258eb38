"""Context items: the facts and quotations of the story bible as single statements."""

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
from lrwr.core.chat.state import RetrievalResult
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.facts import SURE_CERTAINTIES
from lrwr.core.model.turns import SourceIntention
from lrwr.core.ports.stores import DocumentText, PassageStore

_INNER_LABELS = frozenset(
    {
        "wants", "want", "needs", "need", "fears", "fear", "hopes", "goal", "goals",
        "motivation", "values", "habits", "habit", "flaw", "flaws", "secret",
    }
)  # fmt: skip
"""Labels in the author's notes that describe character, not appearance."""

PROBABLY = "probably"
"""Label of a dialogue line whose speaker is not certain."""

AGE_LABEL = "age"
"""The attribute whose value changes as the story goes on."""

UNNAMED = "description"
"""Label of what a profile says about a character in whole sentences."""

KIND_LABEL = "kind"
"""Label of what kind of thing a world element is, such as a setting."""

CONNECTION_LABEL = "concerns"
"""Label of a character who is connected with a world element."""

MAX_PRESENCE_CITATIONS = 4
"""Citations for who is present in a scene, at most."""


class StoryFacet(StrEnum):
    """The aspect of the story that a context item is about, such as looks, a
    relationship, an event, or a dialogue line.
    """

    NAME = "name"
    LOOK = "look"
    """An attribute: eyes, age, home, occupation, …"""
    CHARACTER = "character"
    """A trait, belief or habit."""
    VOICE = "voice"
    REFERENCE = "reference"
    RELATION = "relation"
    WORLD = "world"
    HAPPENED = "happened"
    RECAP = "recap"
    PRESENT = "present"
    """The characters present in a scene."""
    GAP = "gap"
    LINE = "line"
    """A dialogue line, verbatim."""


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
"""The facets that each intention asks for; other intentions ask for passages only."""


def map_intentions_to_facets(
    intentions: Iterable[SourceIntention],
) -> frozenset[StoryFacet]:
    """Return all facets (such as look, relation, dialogue line) that `intentions` ask
    for.

    Empty if they ask only for passages.
    """
    nothing: frozenset[StoryFacet] = frozenset()
    return nothing.union(*(FACETS.get(intention, nothing) for intention in intentions))


_FACET_BY_LABEL = MappingProxyType(
    {
        "also called": StoryFacet.NAME,
        "speaks": StoryFacet.VOICE,
        "refers to": StoryFacet.REFERENCE,
    }
)


@dataclass(frozen=True, slots=True)
class ContextItem:
    """One fact, event, gap or quotation from the story bible, as material for an
    answer.

    `about` is the character, world element or location that it is about, `label` the
    attribute ("eyes"), `statement` its value ("grey"). `evidence` are the quotations
    that support it. An item that the user `decided` may have none. For dialogue lines
    and key sentences of scenes `statement` is empty: the evidence is what they say.
    """

    facet: StoryFacet
    about: str
    label: str
    statement: str
    evidence: tuple[TextEvidence, ...] = ()
    decided: bool = False

    @property
    def head(self) -> str:
        """The subject and the attribute, as in "Nell, eyes"; empty parts are left out."""
        head_parts = filter(None, (self.about, self.label))
        return ", ".join(" ".join(part.split()) for part in head_parts)

    @property
    def line(self) -> str:
        """The item on one line, as in "Nell, eyes: grey", without its evidence."""
        return ": ".join(filter(None, (self.head, " ".join(self.statement.split()))))

    @property
    def words(self) -> str:
        """The text to compare with a question: the line and its evidence; of dialogue,
        only the quotation.
        """
        evidence_texts = (text_evidence.text for text_evidence in self.evidence)
        return " ".join(
            evidence_texts
            if self.facet is StoryFacet.LINE
            else (self.line, *evidence_texts)
        )

    @property
    def surest(self) -> tuple[TextEvidence, ...]:
        """The evidence, confirmed and verified first, otherwise in the same order."""
        return tuple(
            sorted(self.evidence, key=lambda text_evidence: not is_sure(text_evidence))
        )

    @property
    def is_uncited(self) -> bool:
        """Whether an answer may use the item without a citation.

        True for a decision of the user, and for a gap about which the text implies
        nothing.
        """
        return self.decided or (self.facet is StoryFacet.GAP and not self.evidence)


def is_sure(evidence: TextEvidence) -> bool:
    """Return whether `evidence` is confirmed by the user or verified in the text."""
    return evidence.certainty in SURE_CERTAINTIES


def collect_context_items(result: RetrievalResult) -> list[ContextItem]:
    """Return the story data of `result` as items, without duplicates.

    First items about characters, then relationships, world elements, events, scenes,
    gaps and dialogue lines. Passages and web pages are not included.
    """
    context_items: list[ContextItem] = []
    for profile in result.character_profiles:
        context_items.extend(_iter_character_items(profile))
    related = (r for p in result.character_profiles for r in p.relationships)
    context_items.extend(
        build_relation_item(relation) for relation in (*related, *result.relations)
    )
    for element in result.world:
        context_items.extend(_iter_element_items(element))
    context_items.extend(map(_build_moment_item, result.moments))
    for scene in result.scenes:
        context_items.extend(_iter_scene_items(scene))
    for gap in result.gaps:
        context_items.extend(_iter_gap_items(gap))
    context_items.extend(map(build_quote_item, result.lines))
    return list(dict.fromkeys(context_items))


def build_quote_item(quote: AttributedQuote) -> ContextItem:
    """Return a dialogue line as an item; its statement is empty, its evidence the
    words.

    The label contains "probably" if the speaker is not certain, and "to X" if the
    addressee X is.
    """
    is_certain = quote.addressee_certainty in SURE_CERTAINTIES
    probably = "" if is_sure(quote.evidence) else PROBABLY
    to = f"to {quote.addressee}" if quote.addressee and is_certain else ""
    label = ", ".join(filter(None, (probably, to)))
    return ContextItem(StoryFacet.LINE, quote.speaker, label, "", (quote.evidence,))


def _iter_character_items(profile: CharacterProfile) -> Iterator[ContextItem]:
    for claim in profile.attributes:
        inner = claim.label.lower() in _INNER_LABELS
        facet = StoryFacet.CHARACTER if inner else StoryFacet.LOOK
        yield from _iter_claim_items(facet, profile.name, (claim,))
    for label, claims in list_model_claims(profile):
        facet = _FACET_BY_LABEL.get(label, StoryFacet.CHARACTER)
        yield from _iter_claim_items(facet, profile.name, claims, label)


def _iter_claim_items(
    facet: StoryFacet, about: str, claims: Sequence[BibleClaim], label: str = ""
) -> Iterator[ContextItem]:
    for claim in claims:
        claim_label = claim.label.replace("_", " ") or label
        yield ContextItem(
            facet, about, claim_label, claim.value, claim.evidence, claim.decided
        )


def build_relation_item(relation: CharacterRelation) -> ContextItem:
    """Return a relationship as an item."""
    label, description = format_relation(relation)
    return ContextItem(StoryFacet.RELATION, label, "", description, relation.evidence)


def _iter_element_items(element: WorldElement) -> Iterator[ContextItem]:
    # What it is like says more than what kind of thing it is.
    for label, claims in (
        ("", element.descriptions),
        (KIND_LABEL, element.element_types),
        (CONNECTION_LABEL, element.connected_characters),
    ):
        yield from _iter_claim_items(StoryFacet.WORLD, element.name, claims, label)


def _build_moment_item(moment: TimelineMoment) -> ContextItem:
    people = list(moment.characters)
    if moment.kind is TimelineMomentKind.TOLD and people:
        hearer = f" tells {', '.join(people[1:])}" if len(people) > 1 else " tells"
        about = f"{people[0]}{hearer}"
    else:
        about = format_chapter_name(moment.evidence)
    description = "" if moment.text == moment.evidence.text else moment.text
    return ContextItem(StoryFacet.HAPPENED, about, "", description, (moment.evidence,))


def _iter_scene_items(scene: SceneSummary) -> Iterator[ContextItem]:
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
        yield from _iter_claim_items(StoryFacet.RECAP, place, scene.recap)
        return
    for sentence in scene.key_sentences:
        yield ContextItem(StoryFacet.RECAP, place, "", "", (sentence,))


def _iter_gap_items(gap: Gap) -> Iterator[ContextItem]:
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


async def load_result_texts(
    result: RetrievalResult, store: PassageStore
) -> dict[DocumentId, DocumentText]:
    """Return the stored text of every document that an item or passage of `result` is
    from.

    Documents that were deleted since the search are missing.

    Raises:
        StoreProblem: The library cannot be read.
    """
    of_items = (e.document for p in collect_context_items(result) for e in p.evidence)
    of_passages = (passage.chunk.document for passage in result.ranked_chunks)
    shared = result.shared_scenes
    scenes = (*shared.scenes, *shared.apart) if shared else ()
    of_scenes = (scene.document for scene in scenes)
    return await store.texts((*of_items, *of_passages, *of_scenes))
