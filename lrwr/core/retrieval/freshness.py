"""Checks whether stored answers and search results still match the manuscript."""

import asyncio
from collections.abc import (
    Awaitable,
    Callable,
    Collection,
    Iterable,
    Mapping,
    Sequence,
)
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

from lrwr.core.model.choices import Pipeline
from lrwr.core.model.chunks import Passage
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.errors import DamagedDocument, NotFound, StoreProblem
from lrwr.core.model.turns import Citation, ThreadId, Turn, TurnId
from lrwr.core.ports.stores import DocumentText, KnowledgeStore, PassageStore
from lrwr.core.ports.threads import ThreadStore, TurnCitations
from lrwr.core.retrieval.anchors import (
    AnchoredCitation,
    Freshness,
    anchor_citations,
    find_citation_in_place,
    mark_unevaluated,
)
from lrwr.core.retrieval.search_model import SearchRequest, SearchResult

_MAX_REPEATED_SEARCHES = 3
"""Further searches at most, if passages of one were left out."""


async def drop_deleted_passages(
    store: PassageStore, result: SearchResult
) -> tuple[SearchResult, Mapping[DocumentId, DocumentText]]:
    """Return `result` without passages and facts of documents that were deleted
    meanwhile or are damaged, and the texts of the remaining documents.

    A remark names each deleted document; the store gives notice of damaged ones.

    Raises:
        StoreProblem: The library cannot be read.
    """
    passage_documents = [passage.chunk.document for passage in result.passages]
    fact_documents = [fact.document for fact in result.facts]
    texts, deleted = {}, []
    for document in sorted({*passage_documents, *fact_documents}):
        try:
            texts[document] = await store.text(document)
        except DamagedDocument:
            continue
        except NotFound:
            deleted.append(document)
    existing_result = replace(
        result,
        passages=tuple(p for p in result.passages if p.chunk.document in texts),
        facts=tuple(fact for fact in result.facts if fact.document in texts),
        remarks=(
            *result.remarks,
            *(f"{document} was deleted during the search." for document in deleted),
        ),
    )
    return existing_result, texts


async def find_changed_files(
    store: KnowledgeStore,
    pipeline: Pipeline,
    root: Path,
    documents: Collection[DocumentId],
) -> list[DocumentId]:
    """Return those of `documents` whose file below `root` is not what `pipeline` last
    ingested, sorted.

    Files that are missing or cannot be read are left out.

    Raises:
        StoreProblem: The library cannot be read.
    """
    versions = await store.document_versions(pipeline)
    contents = {v.id: v.content for v in versions if v.id in documents}

    def is_changed(document: DocumentId) -> bool:
        try:
            content = (root / document).read_bytes()
        except OSError:
            return False
        return sha256(content).hexdigest() != contents[document]

    return await asyncio.to_thread(lambda: sorted(filter(is_changed, contents)))


async def find_existing_passages(
    find: Callable[[SearchRequest], Awaitable[SearchResult]],
    request: SearchRequest,
    store: PassageStore,
) -> tuple[SearchResult, Mapping[DocumentId, DocumentText]]:
    """Return what `find` returns for `request`, as `drop_deleted_passages` does.

    If passages had to be left out, more are searched, so that others take their place.
    `find` must then return at least the passages that it returned with a lower limit.

    Raises:
        StoreProblem: The library cannot be read.
    """
    found = await find(request)
    result, texts = await drop_deleted_passages(store, found)
    for _ in range(_MAX_REPEATED_SEARCHES):
        left_out = len(found.passages) - len(result.passages)
        if not left_out or len(_select_story(result.passages)) >= request.limit:
            break
        wider = replace(request, limit=request.limit + 2 * left_out)
        found = await find(wider)
        result, texts = await drop_deleted_passages(store, found)
    story = _select_best(_select_story(result.passages), request.limit)
    notes = [passage for passage in result.passages if passage.chapter is None]
    most_notes = -(-request.limit // 3) if story else request.limit
    passages = (*story, *_select_best(notes, most_notes))
    return replace(result, passages=passages), texts


def _select_story(passages: Iterable[Passage]) -> list[Passage]:
    return [passage for passage in passages if passage.chapter is not None]


def _select_best(passages: Sequence[Passage], limit: int) -> list[Passage]:
    """Return the `limit` passages with the best scores, in the order of `passages`."""
    best = sorted(passages, key=lambda passage: -passage.score)[:limit]
    ids = {passage.chunk.id for passage in best}
    return [passage for passage in passages if passage.chunk.id in ids]


class FreshnessService:
    """Finds the words that stored answers cite in the manuscript as it was last
    ingested.
    """

    def __init__(self, passages: PassageStore) -> None:
        self._passages = passages

    async def anchor(self, citations: Sequence[Citation]) -> list[AnchoredCitation]:
        """Return the current state of each citation, in the order of `citations`.

        The whole library is read only if words are missing from the cited documents. If
        the library cannot be read, every citation is marked as not evaluated.
        """
        try:
            return await self._anchor(citations)
        except StoreProblem:
            return [mark_unevaluated(citation) for citation in citations]

    async def are_in_place(self, citations: Sequence[Citation]) -> list[bool]:
        """Return for each of `citations` whether its document still contains its exact
        words.

        Raises:
            StoreProblem: The library cannot be read.
        """
        texts = await self._passages.texts(
            sorted({citation.document for citation in citations})
        )
        return [
            find_citation_in_place(citation, texts) is not None
            for citation in citations
        ]

    async def anchor_turns(
        self, turns: Iterable[Turn]
    ) -> Mapping[TurnId, tuple[AnchoredCitation, ...]]:
        """Return the current state of the citations of each turn, by turn id.

        Those of a turn are in the order of its citation numbers. If the library cannot
        be read, every citation is marked as not evaluated. So are those of a damaged
        turn whose words differ: the difference may be the damage.
        """
        turns = list(turns)
        damaged = {turn.id for turn in turns if turn.is_damaged}
        citations_by_turn = {turn.id: turn.output.citations for turn in turns}
        all_citations = [
            citation
            for citations in citations_by_turn.values()
            for citation in citations
        ]
        anchored_citations = iter(await self.anchor(all_citations))
        return {
            turn: tuple(
                _withhold_judgement(next(anchored_citations), turn in damaged)
                for _ in citations
            )
            for turn, citations in citations_by_turn.items()
        }

    async def _anchor(self, citations: Sequence[Citation]) -> list[AnchoredCitation]:
        texts = await self._passages.texts(
            sorted({citation.document for citation in citations})
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
        outlines = {outline.id for outline in await self._passages.outlines()}
        others = sorted(outlines - texts.keys())
        texts |= await self._passages.texts(others)
        anchored = await asyncio.to_thread(anchor_citations, citations, texts)
        # Without the text, nothing can be said of it: not even that it was moved.
        return [
            AnchoredCitation(found.citation, Freshness.DAMAGED)
            if found.citation.document in outlines - texts.keys() or not texts
            else found
            for found in anchored
        ]


def _withhold_judgement(found: AnchoredCitation, is_damaged: bool) -> AnchoredCitation:
    """Return `found`, not evaluated if its stored words differ and may be damaged."""
    if not (is_damaged and found.changed):
        return found
    return replace(found, freshness=Freshness.NOT_EVALUATED)


@dataclass(frozen=True, slots=True)
class StaleAnswers:
    """How many stored answers cite words that were edited or deleted.

    `answers` is their number. `threads` are the ids of their threads, each once, in the
    order of the thread store.
    """

    answers: int = 0
    threads: tuple[ThreadId, ...] = ()


class StaleAnswerDetector:
    """Finds the stored answers that become stale when the manuscript changes.

    An answer is stale if words that it cites were edited or deleted. Call `begin`
    first.
    """

    def __init__(self, freshness: FreshnessService, threads: ThreadStore) -> None:
        self._freshness = freshness
        self._threads = threads
        self._reported: set[tuple[TurnId, int]] = set()

    async def begin(self) -> None:
        """Record the answers that are stale now, so that `unsettled` does not report
        them.

        Raises:
            StoreProblem: The library cannot be read.
        """
        await self._find_new(await self._threads.turn_citations())

    async def unsettled(self, documents: Collection[DocumentId]) -> StaleAnswers:
        """Return the answers that cite `documents` and became stale since the last
        report.

        An answer is reported again only if its words were restored in the meantime.

        Raises:
            StoreProblem: The library cannot be read.
        """
        if not documents:
            return StaleAnswers()
        new = await self._find_new(await self._threads.turn_citations(documents))
        return StaleAnswers(len(new), tuple(dict.fromkeys(turn.thread for turn in new)))

    async def _find_new(self, turns: Sequence[TurnCitations]) -> list[TurnCitations]:
        turn_citations = [
            (turn, citation) for turn in turns for citation in turn.citations
        ]
        reported = [pair for pair in turn_citations if _key(*pair) in self._reported]
        restored_citations = await self._freshness.are_in_place(
            [citation for _, citation in reported]
        )
        self._reported -= {
            _key(*pair)
            for pair, anchored_citation in zip(
                reported, restored_citations, strict=True
            )
            if anchored_citation
        }
        new = [pair for pair in turn_citations if _key(*pair) not in self._reported]
        anchored_citations = await self._freshness.anchor(
            [citation for _, citation in new]
        )
        lost = [
            pair
            for pair, anchored_citation in zip(new, anchored_citations, strict=True)
            if anchored_citation.changed
        ]
        self._reported |= {_key(*pair) for pair in lost}
        return list(dict.fromkeys(turn for turn, _ in lost))


def _key(turn: TurnCitations, citation: Citation) -> tuple[TurnId, int]:
    return turn.turn, citation.number
