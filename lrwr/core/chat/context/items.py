"""Context items: the facts and quotations of the story bible as single statements, and
their selection and numbering as the material of an answer.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from lrwr.core.attribution.citations import CitationNumbering, cite_evidence
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
from lrwr.core.model.chunks import Passage
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.facts import Certainty
from lrwr.core.model.text import SentenceSplitter, Span
from lrwr.core.model.turns import Citation
from lrwr.core.ports.stores import DocumentText, PassageStore
from lrwr.core.retrieval.retrievers import WordWeights, select_excerpt

_INNER_LABELS = frozenset(
    {
        "wants", "want", "needs", "need", "fears", "fear", "hopes", "goal", "goals",
        "motivation", "values", "habits", "habit", "flaw", "flaws", "secret",
    }
)  # fmt: skip
"""Labels in the author's notes that describe character, not appearance."""

SURE_CERTAINTIES = frozenset({Certainty.CONFIRMED, Certainty.VERIFIED})
"""Certainties of what the author states or strong evidence in the text shows."""

PROBABLY = "probably"
"""Label of a dialogue line whose speaker is not certain."""

UNNAMED = "description"
"""Label of what a profile says about a character in whole sentences."""

MAX_PRESENCE_CITATIONS = 4
"""Citations for who is present in a scene, at most."""

MATERIAL_TOKEN_BUDGET = 3_000
"""Default token budget of the material of one answer."""

MATERIAL_CHARS_PER_TOKEN = 4
"""Estimated characters per token; about right for English with any model."""

ITEM_OVERHEAD_TOKENS = 12
"""Estimated tokens of labels and line breaks around each item."""

RESERVED_PASSAGE_SHARE = 0.5
"""Share of the budget that facts leave to passages in the first round."""

MAX_PLACES_PER_FACT = 2
"""Citations for one fact: one supports it, a second shows that it is repeated."""

MAX_CHARACTER_LINES = 6
"""Dialogue lines of a character at most; enough to imitate a voice."""

MIN_CUT_PASSAGE_CHARS = 200
"""Remaining characters below which a passage is skipped instead of cut."""


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
        _build_relation_item(relation) for relation in (*related, *result.relations)
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


def _build_relation_item(relation: CharacterRelation) -> ContextItem:
    label, description = format_relation(relation)
    return ContextItem(StoryFacet.RELATION, label, "", description, relation.evidence)


def _iter_element_items(element: WorldElement) -> Iterator[ContextItem]:
    # What it is like says more than what kind of thing it is.
    for label, claims in (
        ("", element.descriptions),
        ("", element.element_types),
        ("concerns", element.connected_characters),
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


@dataclass(frozen=True, slots=True)
class NumberedItem:
    """An item and the numbers of the citations that support it, each once.

    `numbers` is empty for an item that needs no citation, such as a decision.
    """

    item: ContextItem
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class NumberedMaterial:
    """The facts and passages that an answer may use, with numbered citations.

    `entries` are in the order of selection, `citations` in the order of their numbers,
    which start at 1. `passages` are those of the citations that quote a retrieved
    passage, complete or cut; the others quote the evidence of an item.
    """

    entries: tuple[NumberedItem, ...] = ()
    passages: tuple[Citation, ...] = ()
    citations: tuple[Citation, ...] = ()

    @property
    def notes(self) -> Mapping[int, str]:
        """For each citation number, the items that it supports, one a line.

        Numbers of passages that support no item are missing.
        """
        notes_by_number: dict[int, list[str]] = {}
        for entry in self.entries:
            for number in entry.numbers:
                notes_by_number.setdefault(number, []).append(entry.item.line)
        return {number: "\n".join(lines) for number, lines in notes_by_number.items()}

    @property
    def decided(self) -> tuple[str, ...]:
        """The lines of the items without a citation: decisions, and gaps about which
        the text implies nothing.
        """
        return tuple(entry.item.line for entry in self.entries if not entry.numbers)


async def load_result_texts(
    result: RetrievalResult, store: PassageStore
) -> dict[DocumentId, DocumentText]:
    """Return the stored text of every document that an item or passage of `result` is
    from.

    Documents that were deleted since the search are missing.

    Raises:
        StoreProblem: The library cannot be read.
    """
    of_pieces = (e.document for p in collect_context_items(result) for e in p.evidence)
    of_passages = (passage.chunk.document for passage in result.ranked_chunks)
    return await store.texts((*of_pieces, *of_passages))


def number_material(
    result: RetrievalResult,
    texts: Mapping[DocumentId, DocumentText],
    sentences: SentenceSplitter,
    *,
    words: WordWeights | None = None,
    budget: int = MATERIAL_TOKEN_BUDGET,
) -> NumberedMaterial:
    """Select the items and passages of `result` that fit into `budget` tokens, and
    number their citations.

    Tokens are estimated by `estimate_material_tokens`. Items may first use half of the
    budget; then passages are added, best first, the last one cut at a sentence
    boundary; then more items. Items that cover most weight of `words`, the question's
    weighted words, come first; None leaves them in their order. Of dialogue lines only
    a few are used. Evidence that `texts`, the current texts, no longer contain is left
    out, and so are items that lose all of theirs.
    """
    words = words or WordWeights({})
    material_budget = _MaterialBudget(CitationNumbering(texts), sentences, budget)
    reserved_tokens = (
        round(budget * RESERVED_PASSAGE_SHARE) if result.ranked_chunks else 0
    )
    postponed_items = [
        p
        for p in _rank_items(result, words)
        if not material_budget.add_item(p, reserved_tokens)
    ]
    for passage in result.ranked_chunks:
        if not material_budget.add_passage(passage, words):
            break
    for item in postponed_items:
        material_budget.add_item(item, 0)
    return material_budget.build_material()


def estimate_material_tokens(text: str) -> int:
    """Return the estimated number of tokens of `text`: characters / 4, rounded up."""
    return -(-len(text) // MATERIAL_CHARS_PER_TOKEN)


def _rank_items(result: RetrievalResult, words: WordWeights) -> list[ContextItem]:
    """Sort items by fit with the question, and keep only a few dialogue lines."""
    pieces = sorted(
        collect_context_items(result), key=lambda item: -words.coverage(item.words)
    )
    lines = [item for item in pieces if item.facet is StoryFacet.LINE]
    lines.sort(key=lambda line: not all(map(is_sure, line.evidence)))
    left_out = set(lines[MAX_CHARACTER_LINES:])
    return [item for item in pieces if item not in left_out]


class _MaterialBudget:
    """Adds material until the token budget is spent."""

    def __init__(
        self,
        numbering: CitationNumbering,
        sentences: SentenceSplitter,
        remaining_tokens: int,
    ) -> None:
        self._numbering = numbering
        self._sentences = sentences
        self._left = remaining_tokens
        self._entries: list[NumberedItem] = []
        self._passages: list[Citation] = []

    def add_item(self, item: ContextItem, reserved_tokens: int) -> bool:
        """Add an item if `reserved_tokens` remain after it; return whether it was
        added.
        """
        citations = [
            citation
            for evidence in item.surest[:MAX_PLACES_PER_FACT]
            for citation in cite_evidence(evidence, self._numbering, self._sentences)
        ]
        if not citations and not item.is_uncited:
            return False
        if not self._spend(item.line, citations, reserved_tokens):
            return False
        numbers = (self._numbering.number(citation).number for citation in citations)
        self._entries.append(NumberedItem(item, tuple(dict.fromkeys(numbers))))
        return True

    def add_passage(self, passage: Passage, words: WordWeights) -> bool:
        """Add a passage, complete or cut; return whether it was complete."""
        chunk = passage.chunk
        citation = self._numbering.locate(
            chunk.document, chunk.span, chunk.text, passage.chapter
        )
        if citation is None:
            return True
        if self._spend("", [citation], 0):
            self._passages.append(self._numbering.number(citation))
            return True
        part = self._cut_passage(citation, words)
        if part is not None and self._spend("", [part], 0):
            self._passages.append(self._numbering.number(part))
        return False

    def build_material(self) -> NumberedMaterial:
        """Return what was added."""
        return NumberedMaterial(
            tuple(self._entries), tuple(self._passages), self._numbering.citations
        )

    def _spend(
        self, note: str, citations: Sequence[Citation], reserved_tokens: int
    ) -> bool:
        new = {
            (c.document, c.span): c
            for c in citations
            if not self._numbering.has_number(c)
        }
        cost = (
            ITEM_OVERHEAD_TOKENS
            + estimate_material_tokens(note)
            + sum(estimate_material_tokens(citation.text) for citation in new.values())
        )
        if self._left - cost < reserved_tokens:
            return False
        self._left -= cost
        return True

    def _cut_passage(self, citation: Citation, words: WordWeights) -> Citation | None:
        remaining_chars = (self._left - ITEM_OVERHEAD_TOKENS) * MATERIAL_CHARS_PER_TOKEN
        if remaining_chars < MIN_CUT_PASSAGE_CHARS:
            return None
        start, end = select_excerpt(
            citation.text, words, self._sentences, limit=remaining_chars
        )
        span = Span(citation.span.start + start, citation.span.start + end)
        return self._numbering.locate(
            citation.document, span, citation.text[start:end], citation.chapter
        )
