"""The arms: pipeline a, pipeline b, each step between them, and the whole text."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from lrwr.core.model.chunks import ChunkKind, Pipeline, SearchScope
from lrwr.core.model.documents import DocumentId, Horizon
from lrwr.core.model.errors import ServiceUnavailable
from lrwr.core.model.text import Span
from lrwr.core.ports.stores import PassageStore
from lrwr.core.ports.story_stores import DocumentFact
from lrwr.core.retrieval.service import PassageFinder, SearchRequest
from lrwr.core.retrieval.story import (
    StoryOrder,
    build_search_scope,
    is_within_scope,
    parse_horizon,
)
from lrwr.pipeline.evaluation.outcomes import ContextPiece, RetrievedContext
from lrwr.pipeline.evaluation.questions import EvalQuestion
from lrwr.pipeline.evaluation.tokens import CountTokens

WHOLE_TEXT_NAME = "whole text"
WHOLE_TOLD = "All of the text up to where the question is asked, from its beginning."


class SearchedColumns(StrEnum):
    """Which words of pipeline b's passages are searched."""

    TEXT = "text"
    HEADINGS = "text, the sentences before it, headings"
    ALL = "text, the sentences before it, headings, who is there"


SEARCHED_COLUMN_COUNT: Mapping[SearchedColumns, int] = {
    SearchedColumns.TEXT: 1,
    SearchedColumns.HEADINGS: 3,
    SearchedColumns.ALL: 4,
}
"""How many columns of pipeline b's index they are, from the first on."""


@dataclass(frozen=True, slots=True)
class SearchVariant:
    """How an arm searches.

    `told` says it in a sentence. `rerank` looks at the candidates a second time;
    `facts` gives the words that what is known rests on, before the passages.
    """

    name: str
    told: str
    pipeline: Pipeline
    columns: SearchedColumns = SearchedColumns.ALL
    lexical: bool = True
    dense: bool = True
    names: bool = True
    boosts: bool = True
    rerank: bool = True
    facts: bool = False

    @property
    def way(self) -> str:
        """Describe the search itself, independent of the variant's name."""
        feature_names = ("lexical", "dense", "names", "boosts", "rerank", "facts")
        parts = [feature for feature in feature_names if getattr(self, feature)]
        return f"{self.pipeline.value}: {self.columns.value}; {', '.join(parts)}"

    @property
    def knows_story(self) -> bool:
        """Whether it needs what is known of the story."""
        return self.names or self.boosts or self.facts

    def request(
        self, question: str, limit: int, horizon: Horizon | None = None
    ) -> SearchRequest:
        """Return what is searched for a question."""
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
    "Pipeline a: passages of equal size, by meaning, looked at a second time.",
    Pipeline.NAIVE,
    lexical=False,
    names=False,
    boosts=False,
)
VARIANT_B = SearchVariant(
    "B",
    "Pipeline b: passages that end where the meaning turns, by words, meaning, names"
    " and kind, looked at a second time.",
    Pipeline.AGENTIC,
)

PRODUCT_VARIANTS: Mapping[Pipeline, SearchVariant] = {
    Pipeline.NAIVE: SearchVariant(
        "a, as asked", "Pipeline a, by words and by meaning.", Pipeline.NAIVE
    ),
    Pipeline.AGENTIC: VARIANT_B,
}
"""How `lrwr search` and `lrwr ask` search each of them."""

VARIANT_LADDER = (
    SearchVariant(
        "a: by meaning",
        "Pipeline a's passages by meaning alone.",
        Pipeline.NAIVE,
        lexical=False,
        names=False,
        boosts=False,
        rerank=False,
    ),
    SearchVariant(
        "a + words",
        "Pipeline a's passages by meaning and by their words.",
        Pipeline.NAIVE,
        names=False,
        boosts=False,
        rerank=False,
    ),
    SearchVariant(
        "b's passages",
        "The same over pipeline b's passages; their vectors hold the sentences before.",
        Pipeline.AGENTIC,
        SearchedColumns.TEXT,
        names=False,
        boosts=False,
        rerank=False,
    ),
    SearchVariant(
        "+ headings",
        "And by the words of the headings and of the sentences before a passage.",
        Pipeline.AGENTIC,
        SearchedColumns.HEADINGS,
        names=False,
        boosts=False,
        rerank=False,
    ),
    SearchVariant(
        "+ people",
        "And by the names of those who are there.",
        Pipeline.AGENTIC,
        names=False,
        boosts=False,
        rerank=False,
    ),
    SearchVariant(
        "+ names",
        "And by whom the question names, and what they do in it.",
        Pipeline.AGENTIC,
        boosts=False,
        rerank=False,
    ),
    SearchVariant(
        "+ boosts",
        "And by the kind of passage that the question asks for.",
        Pipeline.AGENTIC,
        rerank=False,
    ),
    SearchVariant(
        "+ second look", "And looked at a second time: this is B.", Pipeline.AGENTIC
    ),
    SearchVariant(
        "+ what is known",
        "And first the words that facts about the story rest on.",
        Pipeline.AGENTIC,
        facts=True,
    ),
)
"""Each does one thing more than the one before it."""


def select_possible_variants(
    steps: Sequence[SearchVariant], *, embeds: bool, reranks: bool
) -> tuple[tuple[SearchVariant, ...], tuple[str, ...]]:
    """Return the steps that are possible, reduced where necessary, and remarks on the rest.

    Without embeddings, or a second look, no step has it: what then is no more than the
    step before it on the ladder is left out.
    """
    search_variants: list[SearchVariant] = []
    skipped: list[str] = []
    rungs = {step.name for step in VARIANT_LADDER}
    for step in steps:
        able = _able(step, embeds=embeds, reranks=reranks)
        rung = step.name in rungs
        lower = (
            search_variants[-1].way
            if search_variants and search_variants[-1].name in rungs
            else ""
        )
        if rung and (able.way == lower or not (able.lexical or able.dense)):
            skipped.append(step.name)
        else:
            search_variants.append(
                able if rung or able.lexical or able.dense else _worded(able)
            )
    return tuple(search_variants), tuple(
        _remarks(skipped, embeds=embeds, reranks=reranks)
    )


def _able(step: SearchVariant, *, embeds: bool, reranks: bool) -> SearchVariant:
    return replace(
        step, dense=step.dense and embeds, rerank=step.rerank and reranks and embeds
    )


def _worded(step: SearchVariant) -> SearchVariant:
    description = f"{step.told} Embeddings are off: by words alone."
    return replace(step, lexical=True, told=description)


def _remarks(skipped: Sequence[str], *, embeds: bool, reranks: bool) -> Iterator[str]:
    if not embeds:
        yield "Embeddings are off: every arm searches by words alone."
    elif not reranks:
        yield "The second look is off: no arm has it."
    if skipped:
        yield f"Left out, being no more than the step before: {', '.join(skipped)}."


@dataclass(frozen=True, slots=True)
class IndexedLibrary:
    """What every arm reads. `clock` tells seconds, from any beginning."""

    store: PassageStore
    order: StoryOrder
    count: CountTokens
    clock: Callable[[], float]

    def horizon(self, question: EvalQuestion) -> Horizon | None:
        """Return where a question is asked; None for the end of the story.

        Raises:
            NotFound: The story has no such place.
        """
        return parse_horizon(question.as_of, self.order) if question.as_of else None

    def scope(self, question: EvalQuestion) -> SearchScope:
        """Return what a question may be given; `NotFound` as for `horizon`."""
        return build_search_scope(
            self.order,
            types=(),
            horizon=self.horizon(question),
            kinds=(ChunkKind.PROSE,),
        )

    def pieces(
        self, stretches: Sequence[tuple[DocumentId, Span, str]]
    ) -> tuple[ContextPiece, ...]:
        """Return stretches of documents with the tokens that they have."""
        counts = self.count([text for *_, text in stretches])
        return tuple(
            ContextPiece(document, span, text, tokens)
            for (document, span, text), tokens in zip(stretches, counts, strict=True)
        )


@dataclass(frozen=True, slots=True)
class SearchArm:
    """Searches as a step says, for at most `limit` passages; keeps the `Arm` promise."""

    step: SearchVariant
    finder: PassageFinder
    shelf: IndexedLibrary
    limit: int
    recipe: str

    @property
    def name(self) -> str:
        """Name the arm."""
        return self.step.name

    @property
    def told(self) -> str:
        """Say in a sentence what it does."""
        return self.step.told

    async def give(self, question: EvalQuestion) -> RetrievedContext:
        """Return what it finds, within the question's horizon.

        Raises:
            NotFound: The question names a place that the story does not have.
            ServiceUnavailable: A part of the search did not answer: what is left
                would be another arm.
            StoreProblem: The library cannot be read.
        """
        shelf, horizon = self.shelf, self.shelf.horizon(question)
        request = self.step.request(question.text, self.limit, horizon)
        began = shelf.clock()
        result = await self.finder.find(request, shelf.order)
        stretches = await self._known(result.facts) if self.step.facts else []
        seconds = shelf.clock() - began
        if result.remarks:
            raise ServiceUnavailable(" ".join(result.remarks))
        chunks = [passage.chunk for passage in result.passages]
        stretches += [(chunk.document, chunk.span, chunk.text) for chunk in chunks]
        return RetrievedContext(shelf.pieces(stretches), seconds, result.low_confidence)

    async def _known(
        self, facts: Sequence[DocumentFact]
    ) -> list[tuple[DocumentId, Span, str]]:
        """Return the text that facts rest on, best first, each stretch once."""
        stretches: list[tuple[DocumentId, Span, str]] = []
        for document, span in _once(facts):
            text = (await self.shelf.store.text(document)).text
            stretches.append((document, span, text[span.start : span.end]))
        return stretches


@dataclass(frozen=True, slots=True)
class WholeTextArm:
    """Gives everything, in the order of the story; keeps the `Arm` promise."""

    shelf: IndexedLibrary
    recipe: str = WHOLE_TEXT_NAME
    name: str = WHOLE_TEXT_NAME
    told: str = WHOLE_TOLD

    async def give(self, question: EvalQuestion) -> RetrievedContext:
        """Return the text within the question's horizon, from its beginning.

        What is outside of the story, such as notes, follows it; under a horizon it is
        left out.

        Raises:
            NotFound: The question names a place that the story does not have.
            StoreProblem: The library cannot be read.
        """
        scope = self.shelf.scope(question)
        began = self.shelf.clock()
        stretches = await self._text(scope)
        seconds = self.shelf.clock() - began
        return RetrievedContext(self.shelf.pieces(stretches), seconds)

    async def tokens(self) -> int:
        """Return how many tokens the whole of it has.

        Raises:
            StoreProblem: The library cannot be read.
        """
        pieces = (await self.give(EvalQuestion("", "", ()))).pieces
        return sum(piece.tokens for piece in pieces)

    async def _text(self, scope: SearchScope) -> list[tuple[DocumentId, Span, str]]:
        order = self.shelf.order
        rest = sorted(set(order.outlines) - set(order.story))
        return [
            (chunk.document, chunk.span, chunk.text)
            for document in (*order.story, *rest)
            for chunk in await self.shelf.store.chunks_of(document, Pipeline.AGENTIC)
            if chunk.kind is ChunkKind.PROSE
            and is_within_scope(document, chunk.span, scope)
        ]


def _once(facts: Sequence[DocumentFact]) -> Iterator[tuple[DocumentId, Span]]:
    """Yield the spans of facts, without those inside a span yielded before."""
    yielded: list[tuple[DocumentId, Span]] = []
    for fact in facts:
        for span in fact.fact.spans:
            if any(
                d == fact.document and other_span.holds(span)
                for d, other_span in yielded
            ):
                continue
            yielded.append((fact.document, span))
            yield fact.document, span
