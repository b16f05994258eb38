"""Handles documents that were deleted between a search and the display of its result."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from lrwr.core.model.documents import DocumentId
from lrwr.core.model.errors import NotFound
from lrwr.core.ports.stores import DocumentText, PassageStore
from lrwr.core.retrieval.service import SearchResult


async def load_existing_texts(
    store: PassageStore, documents: Iterable[DocumentId]
) -> dict[DocumentId, DocumentText]:
    """Return the stored text of each of `documents` that exists, reading each once.

    Raises:
        StoreProblem: The library cannot be read.
    """
    texts = {}
    for document in dict.fromkeys(documents):
        try:
            texts[document] = await store.text(document)
        except NotFound:  # deleted since the caller learned of it
            continue
    return texts


async def drop_deleted_passages(
    store: PassageStore, result: SearchResult
) -> tuple[SearchResult, Mapping[DocumentId, DocumentText]]:
    """Return `result` without passages and facts of documents that were deleted
    meanwhile, and the texts of the remaining documents.

    A remark names each deleted document.

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
            *(f"{document} was deleted during the search." for document in lost),
        ),
    )
    return existing_result, texts
