"""The material of one prompt: passages and facts that fit a token budget, with numbered
citations.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from lrwr.core.attribution.citations import CitationNumbering, cite_evidence
from lrwr.core.chat.context.conflicts import find_conflicts, find_count_conflicts
from lrwr.core.chat.context.fact_selection import (
    MAX_FACT_CHARS,
    MaterialFocus,
    select_facts,
)
from lrwr.core.chat.context.items import ContextItem, StoryFacet
from lrwr.core.chat.state import RetrievalResult
from lrwr.core.model.chunks import Passage
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.text import SentenceSplitter, Span
from lrwr.core.model.turns import Citation
from lrwr.core.ports.stores import DocumentText
from lrwr.core.retrieval.retrievers import WordWeights, select_excerpt

MATERIAL_TOKEN_BUDGET = 8_000
"""Default token budget of the material of one answer."""

MATERIAL_CHARS_PER_TOKEN = 4
"""Estimated characters per token; about right for English with any model."""

ITEM_OVERHEAD_TOKENS = 12
"""Estimated tokens of labels and line breaks around each item."""

MAX_FACT_SHARE = 1 / 6
"""Share of the budget that facts may use; passages say more."""

MAX_PLACES_PER_FACT = 2
"""Citations for one fact: one supports it, a second shows that it is repeated."""

MIN_CUT_PASSAGE_CHARS = 200
"""Remaining characters below which a passage is skipped instead of cut."""

MIN_REPEATED_CHARS = 16
"""Length from which a statement that stands in a passage is not given as a fact, too."""


@dataclass(frozen=True, slots=True)
class NumberedItem:
    """An item and the numbers of the citations that support it, each once.

    `numbers` is empty for an item that needs no citation, such as a decision.
    `quoted` are those of the numbers whose words are given with the item; the others
    are numbers of passages, which are given themselves.
    """

    item: ContextItem
    numbers: tuple[int, ...]
    quoted: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class NumberedMaterial:
    """The passages and facts that an answer may use, with numbered citations.

    `entries` are in the order of selection, `citations` in the order of their numbers,
    which start at 1. `passages` are those of the citations that quote a retrieved
    passage, complete or cut; the others quote the evidence of an item. `conflicts` are
    lines about statements that contradict each other.
    """

    entries: tuple[NumberedItem, ...] = ()
    passages: tuple[Citation, ...] = ()
    citations: tuple[Citation, ...] = ()
    conflicts: tuple[str, ...] = ()

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


def number_material(
    result: RetrievalResult,
    texts: Mapping[DocumentId, DocumentText],
    sentences: SentenceSplitter,
    *,
    words: WordWeights | None = None,
    focus: MaterialFocus | None = None,
    budget: int = MATERIAL_TOKEN_BUDGET,
) -> NumberedMaterial:
    """Select the passages and facts of `result` that fit into `budget` tokens, and
    number their citations.

    Tokens are estimated by `estimate_material_tokens`. Passages come first, in the
    order of `result` and those of notes up to its `max_note_share`, the last one cut at a sentence boundary to what has most of
    `words`, the question's weighted words. Facts that fit `focus` use a sixth of the
    budget at most. A fact whose words are in a passage gets the passage's number, and
    is left out if the passage states it in the same words. Evidence that `texts`, the
    current texts, no longer contain is left out, and so are items that lose all of
    theirs.
    """
    focus = focus or MaterialFocus()
    material_budget = _MaterialBudget(CitationNumbering(texts), sentences, budget)
    facts = select_facts(result, focus)
    reserved_tokens = min(
        round(budget * MAX_FACT_SHARE),
        sum(_estimate_item_tokens(fact) for fact in facts),
    )
    words = words or WordWeights({})
    for passage in _limit_notes(result, budget):
        if not material_budget.add_passage(passage, words, reserved_tokens):
            break
    material_budget.limit_to(round(budget * MAX_FACT_SHARE))
    for fact in facts:
        material_budget.add_item(fact)
    return material_budget.build_material(result, focus)


def estimate_material_tokens(text: str) -> int:
    """Return the estimated number of tokens of `text`: characters / 4, rounded up."""
    return -(-len(text) // MATERIAL_CHARS_PER_TOKEN)


def _limit_notes(result: RetrievalResult, budget: int) -> Iterator[Passage]:
    """Yield the passages in order, without notes beyond their share of the budget."""
    remaining_tokens = (
        budget * result.max_note_share if result.max_note_share < 1 else math.inf
    )
    for passage in result.ranked_chunks:
        cost = _estimate_passage_tokens(passage) if passage.chapter is None else 0
        if cost <= remaining_tokens:
            remaining_tokens -= cost
            yield passage


def _estimate_passage_tokens(passage: Passage) -> int:
    return ITEM_OVERHEAD_TOKENS + estimate_material_tokens(passage.chunk.text)


def _estimate_item_tokens(item: ContextItem) -> int:
    quoted = sum(len(e.text) for e in item.surest[:MAX_PLACES_PER_FACT])
    chars = len(item.line) + min(quoted, MAX_PLACES_PER_FACT * MAX_FACT_CHARS)
    return ITEM_OVERHEAD_TOKENS + -(-chars // MATERIAL_CHARS_PER_TOKEN)


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

    def limit_to(self, tokens: int) -> None:
        """Reduce what is left of the budget to `tokens`, if more is left."""
        self._left = min(self._left, tokens)

    def add_item(self, item: ContextItem) -> None:
        """Add an item if it fits and no passage already states it."""
        citations = [
            citation
            for evidence in item.surest[:MAX_PLACES_PER_FACT]
            for citation in cite_evidence(evidence, self._numbering, self._sentences)
        ]
        if not citations and not item.is_uncited:
            return
        holders = [self._find_passage(citation) for citation in citations]
        if self._is_repeated(item, filter(None, holders)):
            return
        quoted = [
            citation
            for citation, holder in zip(citations, holders, strict=True)
            if holder is None
        ]
        if not self._spend(item.line, quoted, 0):
            return
        quoted_numbers = tuple(
            dict.fromkeys(self._numbering.number(c).number for c in quoted)
        )
        passage_numbers = (holder.number for holder in holders if holder)
        numbers = tuple(dict.fromkeys((*passage_numbers, *quoted_numbers)))
        self._entries.append(NumberedItem(item, numbers, quoted_numbers))

    def add_passage(
        self, passage: Passage, words: WordWeights, reserved_tokens: int
    ) -> bool:
        """Add a passage, complete or cut; return whether it was complete."""
        chunk = passage.chunk
        citation = self._numbering.locate(
            chunk.document, chunk.span, chunk.text, passage.chapter
        )
        if citation is None or self._find_passage(citation) is not None:
            return True
        if self._spend("", [citation], reserved_tokens):
            self._passages.append(self._numbering.number(citation))
            return True
        part = self._cut_passage(citation, words, reserved_tokens)
        if part is not None and self._spend("", [part], reserved_tokens):
            self._passages.append(self._numbering.number(part))
        return False

    def build_material(
        self, result: RetrievalResult, focus: MaterialFocus
    ) -> NumberedMaterial:
        """Return what was added, with the contradictions in it."""
        return NumberedMaterial(
            tuple(self._entries),
            tuple(self._passages),
            self._numbering.citations,
            tuple(self._format_conflicts(result, focus)),
        )

    def _format_conflicts(
        self, result: RetrievalResult, focus: MaterialFocus
    ) -> Iterable[str]:
        for pair in find_conflicts(result, focus):
            sides = [(item.statement, self._find_numbers(item)) for item in pair]
            if all(numbers for _, numbers in sides):
                stated = "; ".join(f"{value} {numbers}" for value, numbers in sides)
                yield f"{pair[0].head}: {stated}"
        texts = [(c.number, c.text) for c in self._numbering.citations]
        for thing, counts in find_count_conflicts(texts):
            stated = "; ".join(f"{count} [{number}]" for number, count in counts)
            yield f"{thing}: {stated}"

    def _find_numbers(self, item: ContextItem) -> str:
        """Return the marks of the citations that hold the evidence of `item`."""
        located = (
            citation
            for evidence in item.surest[:1]
            for citation in cite_evidence(evidence, self._numbering, self._sentences)
        )
        holders = (
            other.number
            for citation in located
            for other in self._numbering.citations
            if _holds(other, citation)
        )
        return "".join(f"[{number}]" for number in dict.fromkeys(holders))

    def _find_passage(self, citation: Citation) -> Citation | None:
        """Return the passage that contains the cited words, if one does."""
        return next((p for p in self._passages if _holds(p, citation)), None)

    def _is_repeated(self, item: ContextItem, holders: Iterable[Citation]) -> bool:
        """Return whether one of the passages `holders` states `item` in its words."""
        if item.facet is StoryFacet.LINE:
            return any(True for _ in holders)
        statement = " ".join(item.statement.casefold().strip(" .").split())
        if statement and len(statement) < MIN_REPEATED_CHARS:
            return False
        return any(
            statement in " ".join(holder.text.casefold().split()) for holder in holders
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

    def _cut_passage(
        self, citation: Citation, words: WordWeights, reserved_tokens: int
    ) -> Citation | None:
        remaining_tokens = self._left - reserved_tokens - ITEM_OVERHEAD_TOKENS
        remaining_chars = remaining_tokens * MATERIAL_CHARS_PER_TOKEN
        if remaining_chars < MIN_CUT_PASSAGE_CHARS:
            return None
        start, end = select_excerpt(
            citation.text, words, self._sentences, limit=remaining_chars
        )
        span = Span(citation.span.start + start, citation.span.start + end)
        return self._numbering.locate(
            citation.document, span, citation.text[start:end], citation.chapter
        )


def _holds(citation: Citation, other: Citation) -> bool:
    return citation.document == other.document and citation.span.holds(other.span)
