"""What is still there of what was found: a save or a removal may come in between."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from lrwr.core.model.documents import DocumentId
from lrwr.core.model.errors import NotFound
from lrwr.core.ports.record_store import DocumentText, PassageStore
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
    store: PassageStore, result: SearchResult
) -> tuple[SearchResult, Mapping[DocumentId, DocumentText]]:
    """Return a result without what was taken away since, and the texts it is from.

    A remark names each document that is left out.

    Raises:
        StoreProblem: The library cannot be read.
    """
    found = [passage.chunk.document for passage in result.passages]
    known = [fact.document for fact in result.facts]
    texts = await load_existing_texts(store, [*found, *known])
    lost = sorted({*found, *known} - texts.keys())
    kept = replace(
        result,
        passages=tuple(p for p in result.passages if p.chunk.document in texts),
        facts=tuple(fact for fact in result.facts if fact.document in texts),
        remarks=(
            *result.remarks,
            *(f"{document} was taken away since it was found." for document in lost),
        ),
    )
    return kept, texts
