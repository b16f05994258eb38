"""Whether saved answers and search results still match the text."""

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from lrwr.core.model.documents import DocumentId
from lrwr.core.model.errors import NotFound, StoreProblem
from lrwr.core.model.turns import Citation, ThreadId, Turn, TurnId
from lrwr.core.ports.stores import (
    DocumentText,
    PassageStore,
    ThreadStore,
    TurnCitations,
)
from lrwr.core.retrieval.anchors import (
    AnchoredCitation,
    anchor_citations,
    find_citation_in_place,
    mark_unevaluated,
)

if TYPE_CHECKING:
    from lrwr.core.retrieval.service import SearchResult


async def load_existing_texts(
    store: PassageStore, documents: Iterable[DocumentId]
) -> dict[DocumentId, DocumentText]:
    """Return the texts of those documents that there are, each read once.

    Raises:
        StoreProblem: The library cannot be read.
    """
    texts = {}
    for document in dict.fromkeys(documents):
        try:
            texts[document] = await store.text(document)
        except NotFound:  # taken away since it was heard of
            continue
    return texts


async def drop_deleted_passages(
    store: PassageStore, result: "SearchResult"
) -> "tuple[SearchResult, Mapping[DocumentId, DocumentText]]":
    """Return a result without what was taken away since, and the texts it is from.

    A remark names each document that is left out.

    Raises:
        StoreProblem: The library cannot be read.
    """
    passage_documents = [passage.chunk.document for passage in result.passages]
    fact_documents = [fact.document for fact in result.facts]
    texts = await load_existing_texts(store, [*passage_documents, *fact_documents])
    lost = sorted({*passage_documents, *fact_documents} - texts.keys())
    existing_result = replace(
        result,
        passages=tuple(p for p in result.passages if p.chunk.document in texts),
        facts=tuple(fact for fact in result.facts if fact.document in texts),
        remarks=(
            *result.remarks,
            *(f"{document} was taken away since it was found." for document in lost),
        ),
    )
    return existing_result, texts


class FreshnessService:
    """Looks up where the words of citations stand now, in the library as it was read."""

    def __init__(self, passages: PassageStore) -> None:
        self._passages = passages

    async def anchors(self, citations: Sequence[Citation]) -> list[AnchoredCitation]:
        """Say of each citation what became of its words, in the order given.

        Documents that are not cited are read only where words are not in their own.
        Where the library cannot be read, nothing is evaluated.
        """
        try:
            return await self._anchors(citations)
        except StoreProblem:
            return [mark_unevaluated(citation) for citation in citations]

    async def stand(self, citations: Sequence[Citation]) -> list[bool]:
        """Say of each citation whether its very words stand in its own document.

        Raises:
            StoreProblem: The library cannot be read.
        """
        texts = await load_existing_texts(
            self._passages, sorted({citation.document for citation in citations})
        )
        return [
            find_citation_in_place(citation, texts) is not None
            for citation in citations
        ]

    async def of_turns(
        self, turns: Iterable[Turn]
    ) -> Mapping[TurnId, tuple[AnchoredCitation, ...]]:
        """Say of each turn what became of the words that its answer cites, in order."""
        citations_by_turn = {turn.id: turn.output.citations for turn in turns}
        all_citations = [
            citation
            for citations in citations_by_turn.values()
            for citation in citations
        ]
        anchored_citations = iter(await self.anchors(all_citations))
        return {
            turn: tuple(next(anchored_citations) for _ in citations)
            for turn, citations in citations_by_turn.items()
        }

    async def _anchors(self, citations: Sequence[Citation]) -> list[AnchoredCitation]:
        texts = await load_existing_texts(
            self._passages, sorted({citation.document for citation in citations})
        )
        citations_in_place = [
            find_citation_in_place(citation, texts) for citation in citations
        ]
        anchored_citations = [
            anchored_citation
            for anchored_citation in citations_in_place
            if anchored_citation is not None
        ]
        if len(anchored_citations) == len(citations):
            return anchored_citations
        outlines = await self._passages.outlines()
        others = sorted({outline.id for outline in outlines} - texts.keys())
        texts |= await load_existing_texts(self._passages, others)
        return await asyncio.to_thread(anchor_citations, citations, texts)


@dataclass(frozen=True, slots=True)
class StaleAnswers:
    """Kept answers that rest on words which are edited or gone.

    `threads` are their conversations, each once and in the store's order.
    """

    answers: int = 0
    threads: tuple[ThreadId, ...] = ()


class StaleAnswerDetector:
    """Notices when changes of the text take away what kept answers rest on."""

    def __init__(self, freshness: FreshnessService, threads: ThreadStore) -> None:
        self._freshness = freshness
        self._threads = threads
        self._told: set[tuple[TurnId, int]] = set()

    async def begin(self) -> None:
        """Take note of what is edited or gone already: that is no news.

        Raises:
            StoreProblem: The library cannot be read.
        """
        await self._news(await self._threads.citing())

    async def unsettled(self, documents: Collection[DocumentId]) -> StaleAnswers:
        """Return the answers that rest on these documents and no longer hold, once each.

        What was returned before is not returned again, unless it stood again since.

        Raises:
            StoreProblem: The library cannot be read.
        """
        if not documents:
            return StaleAnswers()
        new = await self._news(await self._threads.citing(documents))
        return StaleAnswers(len(new), tuple(dict.fromkeys(turn.thread for turn in new)))

    async def _news(self, turns: Sequence[TurnCitations]) -> list[TurnCitations]:
        turn_citations = [
            (turn, citation) for turn in turns for citation in turn.citations
        ]
        reported = [pair for pair in turn_citations if _key(*pair) in self._told]
        restored_citations = await self._freshness.stand(
            [citation for _, citation in reported]
        )
        self._told -= {
            _key(*pair)
            for pair, anchored_citation in zip(
                reported, restored_citations, strict=True
            )
            if anchored_citation
        }
        new = [pair for pair in turn_citations if _key(*pair) not in self._told]
        anchored_citations = await self._freshness.anchors(
            [citation for _, citation in new]
        )
        lost = [
            pair
            for pair, anchored_citation in zip(new, anchored_citations, strict=True)
            if anchored_citation.changed
        ]
        self._told |= {_key(*pair) for pair in lost}
        return list(dict.fromkeys(turn for turn, _ in lost))


def _key(turn: TurnCitations, citation: Citation) -> tuple[TurnId, int]:
    return turn.turn, citation.number
