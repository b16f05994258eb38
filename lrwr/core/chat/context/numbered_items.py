"""The numbered material that one answer may be made from, within a token budget."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lrwr.core.attribution.citations import CitationNumbering, cite_evidence
from lrwr.core.chat.context.items import (
    ContextItem,
    StoryFacet,
    collect_context_items,
    is_sure,
)
from lrwr.core.chat.state import RetrievalResult
from lrwr.core.model.chunks import Passage
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.text import SentenceSplitter, Span
from lrwr.core.model.turns import Citation
from lrwr.core.ports.stores import DocumentText, PassageStore
from lrwr.core.retrieval.freshness import load_existing_texts
from lrwr.core.retrieval.retrievers import WordWeights, select_excerpt

MATERIAL_TOKEN_BUDGET = 3_000
"""Tokens of material that an answer is made from, by default."""

MATERIAL_CHARS_PER_TOKEN = 4
"""An estimate: English prose has about four to a token, whatever the model."""

ITEM_OVERHEAD_TOKENS = 12
"""Tokens that what stands around one piece of material is taken to cost."""

RESERVED_PASSAGE_SHARE = 0.5
"""The share of the budget that facts leave to passages in the first place."""

MAX_PLACES_PER_FACT = 2
"""Places cited for one fact: one bears it out, a second shows that it is kept to."""

MAX_CHARACTER_LINES = 6
"""Lines of a character's that are given at most: enough for a voice."""

MIN_CUT_PASSAGE_CHARS = 200
"""Characters that are worth cutting a passage for."""


@dataclass(frozen=True, slots=True)
class NumberedItem:
    """A piece of the material, and the numbers of the words it rests on, if any."""

    piece: ContextItem
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class NumberedMaterial:
    """All that one answer may be made from. `passages` are among `citations`.

    `entries` come best first, `citations` by their number; so do `passages`, save
    where a fact rests on a whole one.
    """

    entries: tuple[NumberedItem, ...] = ()
    passages: tuple[Citation, ...] = ()
    citations: tuple[Citation, ...] = ()

    @property
    def notes(self) -> Mapping[int, str]:
        """Return the notes to cited words by citation number, such as their speaker."""
        notes_by_number: dict[int, list[str]] = {}
        for entry in self.entries:
            for number in entry.numbers:
                notes_by_number.setdefault(number, []).append(entry.piece.told)
        return {number: "\n".join(lines) for number, lines in notes_by_number.items()}

    @property
    def decided(self) -> tuple[str, ...]:
        """What has no number: decided by the writer, or left open without a hint."""
        return tuple(entry.piece.told for entry in self.entries if not entry.numbers)


async def load_result_texts(
    result: RetrievalResult, store: PassageStore
) -> dict[DocumentId, DocumentText]:
    """Return the present text of every document that `result` has words of.

    Raises:
        StoreProblem: The library cannot be read.
    """
    of_pieces = (e.document for p in collect_context_items(result) for e in p.evidence)
    of_passages = (passage.chunk.document for passage in result.ranked_chunks)
    return await load_existing_texts(store, (*of_pieces, *of_passages))


def number_material(
    result: RetrievalResult,
    texts: Mapping[DocumentId, DocumentText],
    sentences: SentenceSplitter,
    *,
    words: WordWeights | None = None,
    budget: int = MATERIAL_TOKEN_BUDGET,
) -> NumberedMaterial:
    """Number what `result` holds, best first, in at most `budget` tokens.

    Tokens are estimated: characters / 4. What fits `words` is better; without them
    the order is that of `result`. A passage is whole, or cut where a sentence ends.
    What `texts` do not say any more is left out.
    """
    words = words or WordWeights({})
    material_budget = _MaterialBudget(CitationNumbering(texts), sentences, budget)
    reserved_tokens = (
        round(budget * RESERVED_PASSAGE_SHARE) if result.ranked_chunks else 0
    )
    postponed_items = [
        p
        for p in _ranked(result, words)
        if not material_budget.take(p, reserved_tokens)
    ]
    for passage in result.ranked_chunks:
        if not material_budget.take_passage(passage, words):
            break
    for piece in postponed_items:
        material_budget.take(piece, 0)
    return material_budget.filled()


def estimate_material_tokens(text: str) -> int:
    """Estimate how many tokens `text` takes: its characters / 4, rounded up."""
    return -(-len(text) // MATERIAL_CHARS_PER_TOKEN)


def _ranked(result: RetrievalResult, words: WordWeights) -> list[ContextItem]:
    """Return what fits the question first; of many lines, few."""
    pieces = sorted(
        collect_context_items(result), key=lambda piece: -words.coverage(piece.words)
    )
    lines = [piece for piece in pieces if piece.facet is StoryFacet.LINE]
    lines.sort(key=lambda line: not all(map(is_sure, line.evidence)))
    left_out = set(lines[MAX_CHARACTER_LINES:])
    return [piece for piece in pieces if piece not in left_out]


class _MaterialBudget:
    """Takes in material while there is room."""

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

    def take(self, piece: ContextItem, reserved_tokens: int) -> bool:
        """Take in a fact if that leaves `reserved_tokens`; say whether it did."""
        citations = [
            citation
            for evidence in piece.surest[:MAX_PLACES_PER_FACT]
            for citation in cite_evidence(evidence, self._numbering, self._sentences)
        ]
        if not citations and not piece.bare:
            return False
        if not self._pay(piece.told, citations, reserved_tokens):
            return False
        numbers = (self._numbering.number(citation).number for citation in citations)
        self._entries.append(NumberedItem(piece, tuple(dict.fromkeys(numbers))))
        return True

    def take_passage(self, passage: Passage, words: WordWeights) -> bool:
        """Take in a passage, whole or in part; say whether it was whole."""
        chunk = passage.chunk
        citation = self._numbering.stands(
            chunk.document, chunk.span, chunk.text, passage.chapter
        )
        if citation is None:
            return True
        if self._pay("", [citation], 0):
            self._passages.append(self._numbering.number(citation))
            return True
        part = self._part(citation, words)
        if part is not None and self._pay("", [part], 0):
            self._passages.append(self._numbering.number(part))
        return False

    def filled(self) -> NumberedMaterial:
        """Return what was taken in."""
        return NumberedMaterial(
            tuple(self._entries), tuple(self._passages), self._numbering.citations
        )

    def _pay(
        self, note: str, citations: Sequence[Citation], reserved_tokens: int
    ) -> bool:
        new = {
            (c.document, c.span): c for c in citations if not self._numbering.knows(c)
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

    def _part(self, citation: Citation, words: WordWeights) -> Citation | None:
        remaining_chars = (self._left - ITEM_OVERHEAD_TOKENS) * MATERIAL_CHARS_PER_TOKEN
        if remaining_chars < MIN_CUT_PASSAGE_CHARS:
            return None
        start, end = select_excerpt(
            citation.text, words, self._sentences, limit=remaining_chars
        )
        span = Span(citation.span.start + start, citation.span.start + end)
        return self._numbering.stands(
            citation.document, span, citation.text[start:end], citation.chapter
        )
