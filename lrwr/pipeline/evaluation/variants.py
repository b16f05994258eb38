"""The arms of an evaluation: pipeline a, pipeline b, and the whole text."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

from lrwr.core.model.choices import Pipeline
from lrwr.core.model.chunks import ChunkKind, SearchScope
from lrwr.core.model.codec import encode_json
from lrwr.core.model.documents import DocumentId, Horizon
from lrwr.core.model.errors import LrwrError, NotFound, ServiceUnavailable
from lrwr.core.model.text import Span
from lrwr.core.ports.stores import DocumentVersion, PassageStore
from lrwr.core.ports.story_stores import DocumentFact
from lrwr.core.retrieval import proximity_levels, retrievers, story_search
from lrwr.core.retrieval.search_model import SearchRequest
from lrwr.core.retrieval.service import PassageFinder
from lrwr.core.retrieval.story import (
    StoryOrder,
    build_search_scope,
    is_within_scope,
    parse_horizon,
)
from lrwr.pipeline.evaluation.outcomes import (
    ContextPiece,
    CountTokens,
    RetrievedContext,
)
from lrwr.pipeline.evaluation.questions import EvalQuestion

_HASH_LENGTH = 16
"""Hexadecimal digits of a fingerprint."""

_SEARCHED_TEXT = "text, the sentences before it, headings, who is there"
"""The columns of the word index, as recipes name them; stored runs depend on it."""

WHOLE_TEXT_NAME = "whole text"
WHOLE_TOLD = "The whole text up to the point of the story that the question allows."


@dataclass(frozen=True, slots=True)
class SearchVariant:
    """A configuration of search, compared with others in an evaluation.

    `description` describes it in a sentence. `lexical` and `dense` turn on search by
    words and by embedding, `names` boosts passages with people named in the question,
    `boosts` passages of the kind that it asks for, and `rerank` scores the best
    candidates again.
    """

    name: str
    description: str
    pipeline: Pipeline
    lexical: bool = True
    dense: bool = True
    names: bool = True
    boosts: bool = True
    rerank: bool = True

    @property
    def features(self) -> str:
        """The pipeline and the features that are on, as text; it does not depend on the
        name.
        """
        feature_names = ("lexical", "dense", "names", "boosts", "rerank")
        parts = [feature for feature in feature_names if getattr(self, feature)]
        return f"{self.pipeline.value}: {_SEARCHED_TEXT}; {', '.join(parts)}"

    @property
    def uses_story(self) -> bool:
        """Whether search uses data of the story bible."""
        return self.names or self.boosts

    def request(
        self, question: str, limit: int, horizon: Horizon | None = None
    ) -> SearchRequest:
        """Return the search request for a question and at most `limit` passages.

        `horizon` None searches the whole story.
        """
        return SearchRequest(
            question,
            self.pipeline,
            limit,
            lexical=self.lexical,
            dense=self.dense,
            rerank=self.rerank,
            horizon=horizon,
            names=self.names,
            boosts=self.boosts,
        )


VARIANT_A = SearchVariant(
    "A",
    "Pipeline a: fixed-size passages, found by meaning, reranked.",
    Pipeline.NAIVE,
    lexical=False,
    names=False,
    boosts=False,
)
VARIANT_B = SearchVariant(
    "B",
    "Pipeline b: semantic passages, found by words, meaning, names and kind, reranked.",
    Pipeline.AGENTIC,
)
PRODUCT_VARIANTS: Mapping[Pipeline, SearchVariant] = {
    Pipeline.NAIVE: SearchVariant(
        "a, as asked", "Pipeline a, found by words and meaning.", Pipeline.NAIVE
    ),
    Pipeline.AGENTIC: VARIANT_B,
}
"""How `lrwr search` and `lrwr ask` search each pipeline."""


def select_possible_variants(
    variants: Sequence[SearchVariant], *, embeds: bool, reranks: bool
) -> tuple[tuple[SearchVariant, ...], tuple[str, ...]]:
    """Return the variants without the features that are unavailable, in the same order,
    and remarks for the user on what is off.

    `embeds` and `reranks` say whether an embedding model and a reranker are available;
    without an embedding model nothing is reranked. A variant that has no other way to
    search then searches by words.
    """
    possible = tuple(
        _restrict(variant, embeds=embeds, reranks=reranks) for variant in variants
    )
    if not embeds:
        return possible, ("Embeddings are off: every arm searches by words only.",)
    if not reranks:
        return possible, ("Reranking is off in every arm.",)
    return possible, ()


def _restrict(variant: SearchVariant, *, embeds: bool, reranks: bool) -> SearchVariant:
    rerank = variant.rerank and reranks and embeds
    restricted = replace(variant, dense=variant.dense and embeds, rerank=rerank)
    if restricted.lexical or restricted.dense:
        return restricted
    description = f"{variant.description} Embeddings are off: by words only."
    return replace(restricted, lexical=True, description=description)


@dataclass(frozen=True, slots=True)
class IndexedLibrary:
    """The library from which all evaluated ways of retrieving text read.

    `count` returns the numbers of tokens of texts; `clock` returns seconds.
    """

    store: PassageStore
    order: StoryOrder
    count: CountTokens
    clock: Callable[[], float]

    def horizon(self, question: EvalQuestion) -> Horizon | None:
        """Return the question's horizon; None for the whole story.

        Raises:
            NotFound: The horizon does not exist in the story.
        """
        return parse_horizon(question.as_of, self.order) if question.as_of else None

    def scope(self, question: EvalQuestion) -> SearchScope:
        """Return the text that may be retrieved for a question: that up to its horizon.

        Raises:
            NotFound: The horizon does not exist in the story.
        """
        return build_search_scope(
            self.order,
            types=(),
            horizon=self.horizon(question),
            kinds=(ChunkKind.PROSE,),
        )

    def pieces(
        self, stretches: Sequence[tuple[DocumentId, Span, str]]
    ) -> tuple[ContextPiece, ...]:
        """Convert `stretches`, triples of document, span and text, to pieces with their
        numbers of tokens, in the same order.
        """
        counts = self.count([text for *_, text in stretches])
        return tuple(
            ContextPiece(document, span, text, tokens)
            for (document, span, text), tokens in zip(stretches, counts, strict=True)
        )


@dataclass(frozen=True, slots=True)
class SearchArm:
    """An `Arm` that searches with the configuration `step`, for at most `limit`
    passages.

    `recipe` is a text that changes with anything that the results depend on.
    """

    step: SearchVariant
    finder: PassageFinder
    indexed_library: IndexedLibrary
    limit: int
    recipe: str

    @property
    def name(self) -> str:
        """The name of the search configuration."""
        return self.step.name

    @property
    def description(self) -> str:
        """A sentence that describes the search configuration."""
        return self.step.description

    async def retrieve(self, question: EvalQuestion) -> RetrievedContext:
        """Return the passages that search finds within the question's horizon, best
        first.

        Raises:
            NotFound: The question's horizon does not exist in the story.
            ServiceUnavailable: A part of the search failed; the rest alone would not be
                comparable.
            StoreProblem: The library cannot be read.
        """
        indexed_library, horizon = (
            self.indexed_library,
            self.indexed_library.horizon(question),
        )
        request = self.step.request(question.text, self.limit, horizon)
        began = indexed_library.clock()
        result = await self.finder.find(request, indexed_library.order)
        seconds = indexed_library.clock() - began
        if result.remarks:
            raise ServiceUnavailable(" ".join(result.remarks))
        chunks = [passage.chunk for passage in result.passages]
        stretches = [(chunk.document, chunk.span, chunk.text) for chunk in chunks]
        return RetrievedContext(
            indexed_library.pieces(stretches), seconds, result.low_confidence
        )


@dataclass(frozen=True, slots=True)
class WholeTextArm:
    """An `Arm` that retrieves the whole text in story order, without a search."""

    indexed_library: IndexedLibrary
    recipe: str = WHOLE_TEXT_NAME
    name: str = WHOLE_TEXT_NAME
    description: str = WHOLE_TOLD

    async def retrieve(self, question: EvalQuestion) -> RetrievedContext:
        """Return the text within the question's horizon, from the beginning of the
        story.

        Documents outside the story, such as notes, follow the story; with a horizon
        they are left out.

        Raises:
            NotFound: The question's horizon does not exist in the story.
            StoreProblem: The library cannot be read.
        """
        scope = self.indexed_library.scope(question)
        began = self.indexed_library.clock()
        stretches = await self._text(scope)
        seconds = self.indexed_library.clock() - began
        return RetrievedContext(self.indexed_library.pieces(stretches), seconds)

    async def tokens(self) -> int:
        """Return the number of tokens of the whole text.

        Raises:
            StoreProblem: The library cannot be read.
        """
        pieces = (await self.retrieve(EvalQuestion("", "", ()))).pieces
        return sum(piece.tokens for piece in pieces)

    async def _text(self, scope: SearchScope) -> list[tuple[DocumentId, Span, str]]:
        order = self.indexed_library.order
        rest = sorted(set(order.outlines) - set(order.story))
        return [
            (chunk.document, chunk.span, chunk.text)
            for document in (*order.story, *rest)
            for chunk in await self.indexed_library.store.chunks_of(
                document, Pipeline.AGENTIC
            )
            if chunk.kind is ChunkKind.PROSE
            and is_within_scope(document, chunk.span, scope)
        ]


@dataclass(frozen=True, slots=True)
class LibraryFingerprint:
    """The state of a library and of its search, as input of the keys of stored results.

    `seen` are the document versions that each pipeline has ingested, `facts` the stored
    story facts. `embedder` and `reranker` are names, empty if off. `candidates` is the
    number of passages reranked, `limit` that of passages returned. `patterns` is the
    setting `manuscript.order`, `canon` the content of the canon file.
    """

    seen: Mapping[Pipeline, Sequence[DocumentVersion]]
    facts: Sequence[DocumentFact]
    embedder: str
    reranker: str
    candidates: int
    limit: int
    patterns: Sequence[str] = ()
    canon: bytes = b""

    def library(self) -> str:
        """Return a hash of the ingested documents' ids and contents, the setting
        `manuscript.order` and the canon.
        """
        content = next(iter(self.seen.values()), ())
        read = [(version.id, version.content) for version in content]
        return _hashed(repr((sorted(read), list(self.patterns), self.canon)))

    def recipe(self, step: SearchVariant, weights: Sequence[float]) -> str:
        """Return a text that changes with anything that a variant's results depend on
        besides library and question.

        The name of `step`, the variant, is not included. `weights` are the BM25 weights
        of the columns of its pipeline's word index, in the order of the columns.
        """
        parts = [
            step.features,
            self.recipe_of_passages(step.pipeline),
            f"at most {self.limit}",
            f"columns {', '.join(map(str, weights))}",
            f"weights {_hashed(repr(_weights()))}",
        ]
        if step.dense:
            parts.append(f"meaning {self.embedder}")
        if step.rerank:
            parts.append(f"second look {self.reranker} at {self.candidates}")
        if step.uses_story:
            parts.append(f"known {_hash_facts(self.facts)}")
        return "; ".join(parts)

    def recipe_of_passages(self, pipeline: Pipeline) -> str:
        """Return a text that changes with the way a pipeline's passages were made;
        empty if it has ingested nothing.
        """
        recipes = sorted({version.recipe for version in self.seen.get(pipeline, ())})
        return f"passages {_hashed(repr(recipes))}" if recipes else ""


def check_pipelines_comparable(
    versions_by_pipeline: Mapping[Pipeline, Sequence[DocumentVersion]],
) -> None:
    """Check that all pipelines have ingested the same state of the manuscript.

    Raises:
        NotFound: A pipeline has ingested nothing.
        LrwrError: They have ingested different states of the manuscript.
    """
    for pipeline, read in versions_by_pipeline.items():
        if not read:
            raise NotFound(
                f"Nothing has been ingested with pipeline {pipeline.value}",
                hint=f"Run `lrwr ingest --pipeline {pipeline.value}`.",
            )
    states = {
        p: {(version.id, version.content) for version in read}
        for p, read in versions_by_pipeline.items()
    }
    if len({frozenset(state) for state in states.values()}) > 1:
        raise LrwrError(
            "The manuscript has changed between the ingests of the two pipelines",
            hint="Run `lrwr ingest --pipeline a` and `lrwr ingest --pipeline b`.",
        )


def _weights() -> tuple[float, ...]:
    return (
        retrievers.RETRIEVER_POOL_SIZE,
        retrievers.LEXICAL_WEIGHT,
        retrievers.PAIRS_WEIGHT,
        retrievers.PHRASES_WEIGHT,
        retrievers.RELATED_WEIGHT,
        retrievers.NEIGHBOUR_WEIGHT,
        retrievers.DENSE_WEIGHT,
        retrievers.LOW_COVERAGE_DENSE_WEIGHT,
        retrievers.RERANK_WEIGHT,
        proximity_levels.UTTERANCE_WEIGHT,
        proximity_levels.CONVERSATION_BONUS,
        proximity_levels.COMPANY_BONUS,
        proximity_levels.NAMED_SPEAKER_WEIGHT,
        proximity_levels.PEOPLE_WEIGHT,
        proximity_levels.EARLINESS_WEIGHT,
        story_search.CONTENT_TYPE_BOOST,
        story_search.MAX_SEARCH_FACTS,
    )


def _hashed(text: str) -> str:
    return sha256(text.encode("utf-8", "replace")).hexdigest()[:_HASH_LENGTH]


def _hash_facts(facts: Sequence[DocumentFact]) -> str:
    # Values only: a class that is renamed must not change the key of stored results.
    return _hashed(encode_json(list(facts)))
