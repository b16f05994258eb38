"""Finds the passages that may tell of a statement of a draft."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from lrwr.core.attribution.names import fold_words, list_named_characters
from lrwr.core.evidence.later_check import list_unknown_names
from lrwr.core.evidence.quotation_check import split_quotation
from lrwr.core.evidence.results import CheckedStory
from lrwr.core.evidence.statements import DraftStatement, split_clauses, split_phrases
from lrwr.core.model.chunks import ChunkId, Passage
from lrwr.core.model.errors import ServiceUnavailable
from lrwr.core.ports.models import Reranker
from lrwr.core.ports.stores import PassageStore
from lrwr.core.retrieval.query_words import has_search_words
from lrwr.core.retrieval.search_model import SearchRequest
from lrwr.core.retrieval.service import PassageFinder
from lrwr.core.retrieval.story import (
    build_passage,
    build_search_scope,
    is_within_scope,
)

PASSAGES = 10
CLAUSE_PASSAGES = 4
CONTEXT_PASSAGES = 4
EXACT_PASSAGES = 5
"""Passages that the searches return for a statement, for each of its clauses, for it with
the sentence before it, and for exact words."""

DEEP_PASSAGES = 15
PHRASE_PASSAGES = 8
MORE_PASSAGES = 6
"""Passages that a second search returns for the whole and for each phrase, and how many of
them are used: the best of the reranker."""

CONTINUED_PASSAGES = 2
"""Passages, the closest ones, whose neighbours the second search returns too: what decides
may stand in the next paragraph, in other words."""

_PERSON = re.compile(r"\b(?:he|she|his|her|hers|him|they|their|them)\b", re.I)
_THING = re.compile(
    r"\W*(?:(?:and|but|then|so|yet)\s+)?(?:it|its|this|that|these|those|both)\b", re.I
)


def find_subject(statement: DraftStatement, story: CheckedStory) -> str:
    """Return the character whom a statement names last; empty if it names none."""
    named = list_named_characters(statement.text, story.cast)
    if not named:
        return ""
    return next(
        (
            forms[0]
            for forms in story.cast
            if any(fold_words(form) in named[-1] for form in forms)
        ),
        "",
    )


class StatementSearch:
    """Searches one library for statements. Read-only.

    `passages` has the neighbours of a passage. `reranker` chooses the passages of a
    second search; None for the order of the search.
    Without `dense`, only words are searched: nothing is embedded.
    """

    def __init__(
        self,
        finder: PassageFinder,
        passages: PassageStore,
        reranker: Reranker | None = None,
        *,
        dense: bool = True,
    ) -> None:
        self._finder, self._passages = finder, passages
        self._reranker, self._dense = reranker, dense

    async def find(
        self, statement: DraftStatement, story: CheckedStory, subject: str, before: str
    ) -> dict[ChunkId, Passage]:
        """Return passages for a whole statement, best first, later ones included.

        `subject` is whom its pronouns mean, `before` the sentence before it.
        """
        return await self._search(
            _iter_requests(statement, story, subject, before), story
        )

    async def find_for_clauses(
        self, statement: DraftStatement, story: CheckedStory, subject: str
    ) -> dict[ChunkId, Passage]:
        """Return passages up to the horizon for each clause of a statement."""
        name = find_subject(statement, story) or subject
        requests = (
            _build_request(f"{name} {clause}".strip(), story, CLAUSE_PASSAGES)
            for clause in split_clauses(statement.own_text)
        )
        return await self._search(requests, story)

    async def find_more(
        self,
        statement: DraftStatement,
        story: CheckedStory,
        before: str,
        known_passages: Sequence[Passage],
    ) -> list[Passage]:
        """Return further passages up to the horizon: the neighbours of the first
        `known_passages`, which are best first, then those of a deeper search for the
        statement and each of its phrases, best first.

        Raises:
            StoreProblem: The library cannot be read.
        """
        text = statement.text
        question = f"{before} {text}".strip() if _THING.match(text) else text
        requests = [_build_request(question, story, DEEP_PASSAGES)]
        requests += [
            _build_request(phrase, story, PHRASE_PASSAGES)
            for phrase in split_phrases(text)
        ]
        passages = await self._search(requests, story)
        neighbours = {
            neighbour.chunk.id: neighbour
            for passage in known_passages[:CONTINUED_PASSAGES]
            for neighbour in await self._find_neighbours(passage, story)
        }
        for passage in known_passages:
            passages.pop(passage.chunk.id, None)
            neighbours.pop(passage.chunk.id, None)
        for id_ in neighbours:
            passages.pop(id_, None)
        ranked = await self._rerank(question, passages)
        return [*neighbours.values(), *ranked[:MORE_PASSAGES]]

    async def _find_neighbours(
        self, passage: Passage, story: CheckedStory
    ) -> list[Passage]:
        """Return the passages of the text after and before one, up to the horizon."""
        scope = build_search_scope(
            story.order, types=(), horizon=story.horizon, kinds=[passage.chunk.kind]
        )
        document = passage.chunk.document
        chunks = [
            chunk
            for chunk in await self._passages.chunks_of(document, story.pipeline)
            if chunk.kind is passage.chunk.kind
            and is_within_scope(document, chunk.span, scope)
        ]
        start, end = passage.chunk.span.start, passage.chunk.span.end
        after = [chunk for chunk in chunks if chunk.span.start >= end][:1]
        before = [chunk for chunk in chunks if chunk.span.end <= start][-1:]
        return [build_passage(chunk, story.order, 0.0) for chunk in (*after, *before)]

    async def _rerank(
        self, question: str, passages: Mapping[ChunkId, Passage]
    ) -> list[Passage]:
        ranked = list(passages.values())
        if self._reranker is None or not ranked:
            return ranked
        texts = [passage.chunk.text for passage in ranked]
        hashes = [passage.chunk.text_hash for passage in ranked]
        try:
            scores = await self._reranker.rerank(question, texts, hashes)
        except ServiceUnavailable:  # the order of the search remains
            return ranked
        order = sorted(range(len(ranked)), key=lambda at: -scores[at])
        return [ranked[at] for at in order]

    async def _search(
        self, requests: Iterable[SearchRequest], story: CheckedStory
    ) -> dict[ChunkId, Passage]:
        passages: dict[ChunkId, Passage] = {}
        for request in requests:
            request = replace(request, dense=self._dense)
            result = await self._finder.find(request, story.order)
            for passage in result.passages:
                passages.setdefault(passage.chunk.id, passage)
        return passages


def _build_request(question: str, story: CheckedStory, limit: int) -> SearchRequest:
    return SearchRequest(
        question, story.pipeline, limit, horizon=story.horizon, rerank=False
    )


def _iter_requests(
    statement: DraftStatement, story: CheckedStory, subject: str, before: str
) -> Iterator[SearchRequest]:
    """Yield the searches for a statement: with the sentence before if it refers to a
    thing there, as a whole, up to the horizon, and for each unknown name and each
    quotation verbatim.
    """
    question = f"{subject} {statement.text}".strip()
    whole = SearchRequest(question, story.pipeline, PASSAGES, rerank=False)
    if has_search_words(statement.text):
        if before and _THING.match(statement.text):
            question = f"{before} {statement.text}"
            yield _build_request(question, story, CONTEXT_PASSAGES)
        yield whole
        if story.horizon is not None:
            yield replace(whole, horizon=story.horizon)
    for name in list_unknown_names(statement, story):
        yield replace(whole, question=name, exact=True, limit=EXACT_PASSAGES)
    for quotation in statement.quotations:
        for part in split_quotation(quotation.text):
            yield replace(whole, question=part, exact=True, limit=EXACT_PASSAGES)


def resolve_subject(
    statement: DraftStatement, story: CheckedStory, subject: str
) -> str:
    """Return `subject`, whom the sentences before name last, if a pronoun of the
    statement may mean this character; empty if it has none or names somebody itself.
    """
    if not _PERSON.search(statement.own_text) or find_subject(statement, story):
        return ""
    return subject


def list_subject_forms(name: str, story: CheckedStory) -> Sequence[tuple[str, ...]]:
    """Return the folded words of all forms of the name of a character."""
    return [
        fold_words(form)
        for forms in story.cast
        if name and name in forms
        for form in forms
    ]
