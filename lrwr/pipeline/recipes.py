"""Recipes: how pipelines a and b turn a document into knowledge, the data that is
stored.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

from lrwr.core.model.cast import Cast
from lrwr.core.model.choices import Pipeline
from lrwr.core.model.chunks import Knowledge, TextHash
from lrwr.core.model.documents import Document, DocumentId, DocumentType
from lrwr.core.model.facts import WRITER_KEEPER, Certainty, Fact, FactAbout
from lrwr.core.model.jobs import ChunksEmbedded, JobStage, StageStarted
from lrwr.core.model.language_model import Usage
from lrwr.core.model.text import SentenceSplitter
from lrwr.core.nlp.facts.notes import extract_note_facts, find_note_subjects
from lrwr.core.nlp.names.evidence import NameEvidence, gather_name_evidence
from lrwr.core.nlp.text.prose import find_note_gaps
from lrwr.core.ports.models import Analyst, Embedder
from lrwr.core.ports.stores import AnalysisStore
from lrwr.pipeline.analysis import CachingAnalyst, add_read_names
from lrwr.pipeline.scan import build_agentic_recipe_name, build_naive_recipe_name
from lrwr.pipeline.stages.recursive_splitter import split_recursively
from lrwr.pipeline.stages.semantic_splitter import (
    ChunkLimits,
    CutPlan,
    choose_cuts,
    plan_cuts,
    scale_sketch_distance,
)
from lrwr.pipeline.stages.units import (
    SeamKey,
    build_chunks,
    collect_seam_sentences,
    compute_seam_distances,
    find_missing_seams,
)
from lrwr.pipeline.stages.windows import (
    CountTokens,
    EmbeddedPassage,
    NameFinder,
    batch_excerpts,
    build_cast_finder,
    build_classify_excerpts,
    build_extract_excerpts,
    build_name_finders,
    embed_missing,
)

RosterLoader = Callable[[DocumentId, str], Awaitable[Cast]]
"""Returns the cast of the library with a document's new name evidence (JSON)."""
ReportProgress = Callable[[StageStarted | ChunksEmbedded], Awaitable[None]]
"""Called when a stage starts and after each batch of embedded chunks."""
KnownVectors = Callable[[str, set[TextHash]], Awaitable[set[TextHash]]]
"""Returns which of the given texts already have a vector in an embedding space."""


@dataclass(frozen=True, slots=True)
class RecipeTools:
    """Dependencies of a recipe.

    `embedder` None means that search uses words only. `count` returns the numbers of
    tokens of texts. `known`, called with an embedding space and text hashes, returns
    those of the hashes that have a stored vector in that space.
    """

    count: CountTokens
    embedder: Embedder | None
    known: KnownVectors

    @property
    def space(self) -> str:
        """Name of the embedding space; empty if there is no embedding model."""
        return self.embedder.space if self.embedder else ""


class Recipe(Protocol):
    """Turns one document into knowledge: chunks, facts and vectors.

    It does not store the knowledge, but may store replies of a language model.
    """

    @property
    def pipeline(self) -> Pipeline:
        """The pipeline whose knowledge this recipe produces."""
        ...

    @property
    def model(self) -> str:
        """Name of the language model; empty if none is used."""
        ...

    def name(self, embedder: Embedder | None) -> str:
        """Return a text that changes with anything but the document that affects the
        result.

        `embedder` is None if search uses words only.
        """
        ...

    async def draft(self, document: Document, tools: RecipeTools) -> Knowledge:
        """Return the knowledge (what is stored of a document) with the chunks only.

        No vectors are computed and no language model is used.
        """
        ...

    async def estimate(self, knowledge: Knowledge) -> Usage:
        """Estimate the usage of a language model for the document of `knowledge`, a
        result of `draft`.

        Empty usage if no language model is used.
        """
        ...

    async def learn(
        self, document: Document, tools: RecipeTools, report: ReportProgress
    ) -> Knowledge:
        """Return the complete knowledge of a document, with a vector for each text that
        has none stored.

        `report` receives the progress.

        Raises:
            ServiceUnavailable: The embedding model did not answer.
        """
        ...


@dataclass(frozen=True, slots=True)
class NaiveRecipe:
    """Pipeline a: fixed-size chunks and vectors; no facts and no language model.

    `size` and `overlap` of chunks are in tokens.
    """

    size: int
    overlap: int

    @property
    def pipeline(self) -> Pipeline:
        """Always pipeline a."""
        return Pipeline.NAIVE

    @property
    def model(self) -> str:
        """Always empty: no language model is used."""
        return ""

    def name(self, embedder: Embedder | None) -> str:
        """Return the splitter's version, the sizes and the embedding space, as one
        text.
        """
        return build_naive_recipe_name(self.size, self.overlap, embedder)

    async def draft(self, document: Document, tools: RecipeTools) -> Knowledge:
        """Return the knowledge with the chunks only; no vectors are computed."""
        chunks = await asyncio.to_thread(
            split_recursively,
            document,
            tools.count,
            size=self.size,
            overlap=self.overlap,
        )
        return Knowledge(document, self.pipeline, chunks, tools.space, {})

    async def estimate(self, knowledge: Knowledge) -> Usage:
        """Return zero usage: no language model is used."""
        del knowledge
        return Usage()

    async def learn(
        self, document: Document, tools: RecipeTools, report: ReportProgress
    ) -> Knowledge:
        """Return the knowledge of a document: its chunks, and vectors for texts that
        have none stored.

        `report` receives the progress. There are no vectors without an embedding model.

        Raises:
            ServiceUnavailable: The embedding model did not answer.
        """
        drafted = await self.draft(document, tools)
        return await embed_chunks(drafted, tools, report)


async def embed_chunks(
    knowledge: Knowledge, tools: RecipeTools, report: ReportProgress
) -> Knowledge:
    """Return the knowledge with new vectors, and token states if the embedding model has
    them, of the chunks whose text has no stored ones.

    Unchanged without an embedding model. `report` receives the progress.

    Raises:
        ServiceUnavailable: The embedding model did not answer.
    """
    if tools.embedder is None:
        return knowledge
    texts = {chunk.text_hash for chunk in knowledge.chunks}
    stored_hashes = await tools.known(tools.space, texts)
    count = len(texts - set(stored_hashes))
    await report(StageStarted(knowledge.document.id, JobStage.EMBED, count))
    passages: dict[TextHash, EmbeddedPassage] = {}
    missing = embed_missing(knowledge.chunks, stored_hashes, tools.embedder)
    async with aclosing(missing) as slices:
        async for part in slices:
            passages.update(part)
            await report(ChunksEmbedded(len(part)))
    return replace(
        knowledge,
        vectors={text: vector for text, (vector, _) in passages.items()},
        states={text: states for text, (_, states) in passages.items() if states},
    )


SENTENCES = 64
"""Sentences per embedding call; each call is followed by a progress event."""


@dataclass(frozen=True, slots=True)
class AgenticRecipe:
    """Pipeline b: semantic chunks, and facts by rules and optionally a language model.

    `rules` analyses every document without cost. `reading` asks a language model; None
    if none is configured. `split` splits a text into the spans of its sentences.
    `find_cast` returns the characters that the model is shown.
    """

    limits: ChunkLimits
    split: SentenceSplitter
    rules: Analyst
    store: AnalysisStore
    reading: CachingAnalyst | None = None
    find_cast: RosterLoader | None = None

    @property
    def pipeline(self) -> Pipeline:
        """Always pipeline b."""
        return Pipeline.AGENTIC

    @property
    def model(self) -> str:
        """Name of the language model; empty if none is used."""
        return self.reading.model if self.reading else ""

    def name(self, embedder: Embedder | None) -> str:
        """Return the versions of splitter, rules and model, the chunk sizes and the
        embedding space, as one text.
        """
        least, most, rules = self.limits.least, self.limits.most, self.rules.revision
        model = self.reading.revision if self.reading else ""
        return build_agentic_recipe_name(least, most, rules, model, embedder)

    async def draft(self, document: Document, tools: RecipeTools) -> Knowledge:
        """Return the knowledge with the chunks only, split by stored sentence
        distances.

        No vectors are computed: where no distance is stored, chunks follow paragraphs
        and sizes.
        """
        plan = await self._plan_cuts(document, tools)
        stored_distances = await self._stored_distances(document, tools)
        return await self._build_knowledge(document, plan, stored_distances, tools)

    async def estimate(self, knowledge: Knowledge) -> Usage:
        """Estimate the usage of a language model for the document of `knowledge`, a
        result of `draft`.

        Empty usage without a language model, and for notes.
        """
        document = knowledge.document
        if self.reading is None or document.type is not DocumentType.SCENE:
            return Usage()
        names, _ = await asyncio.to_thread(build_name_finders, knowledge.evidence)
        roster = partial(self._list_cast, knowledge)
        return await self.reading.estimate(document, knowledge.chunks, names, roster)

    async def learn(
        self, document: Document, tools: RecipeTools, report: ReportProgress
    ) -> Knowledge:
        """Split, analyse and embed the document; stored results are reused.

        `report` receives the progress.

        Raises:
            ServiceUnavailable: The embedding model did not answer.
            StoreProblem: Stored results cannot be read, or replies cannot be stored.
        """
        plan = await self._plan_cuts(document, tools)
        distances = await self._resolve_distances(document, plan, tools, report)
        drafted = await self._build_knowledge(document, plan, distances, tools)
        await report(StageStarted(document.id, JobStage.ANALYSE))
        ruled = replace(drafted, facts=await self._extract_with_rules(drafted))
        refined = await self.add_model_facts(ruled)
        return await embed_chunks(refined, tools, report)

    async def cached_keys(self, knowledge: Knowledge) -> frozenset[str]:
        """Return the cache keys of the stored language model replies for the document
        of `knowledge`: hashes of an excerpt and what else its reply depends on.

        Empty without a language model, and for notes.
        """
        document = knowledge.document
        if self.reading is None or document.type is not DocumentType.SCENE:
            return frozenset()
        names, _ = await asyncio.to_thread(build_name_finders, knowledge.evidence)
        return await self.reading.cached_keys(document, knowledge.chunks, names)

    async def add_model_facts(self, knowledge: Knowledge) -> Knowledge:
        """Return the knowledge with the language model's facts added.

        Without a language model, and for notes, `knowledge` is returned unchanged.

        Raises:
            StoreProblem: The model's replies cannot be stored.
        """
        document = knowledge.document
        if self.reading is None or document.type is not DocumentType.SCENE:
            return knowledge
        names, _ = await asyncio.to_thread(build_name_finders, knowledge.evidence)
        roster = partial(self._list_cast, knowledge)
        chunks = knowledge.chunks
        analysis = await self.reading.read(document, chunks, names, roster)
        return replace(
            knowledge,
            facts=(*knowledge.facts, *analysis.facts),
            noted=add_read_names(knowledge.noted, analysis.facts),
            usage=analysis.usage,
            unfinished=analysis.unfinished,
        )

    async def load_cast(self, knowledge: Knowledge) -> Cast:
        """Return the characters that the language model is shown for a document.

        Empty without `find_cast`.

        Raises:
            LrwrError: The library or the canon file cannot be read.
        """
        if self.find_cast is None:
            return Cast()
        return await self.find_cast(knowledge.document.id, knowledge.evidence)

    async def _list_cast(self, knowledge: Knowledge) -> NameFinder:
        return build_cast_finder(await self.load_cast(knowledge))

    async def _plan_cuts(self, document: Document, tools: RecipeTools) -> CutPlan:
        work = partial(plan_cuts, document, self.split, tools.count, self.limits)
        return await asyncio.to_thread(work)

    async def _stored_distances(
        self, document: Document, tools: RecipeTools
    ) -> Mapping[SeamKey, float]:
        if not tools.space:
            return {}
        seams = await self.store.seams(document.id, tools.space)
        return {SeamKey(key): distance for key, distance in seams.items()}

    async def _resolve_distances(
        self,
        document: Document,
        plan: CutPlan,
        tools: RecipeTools,
        report: ReportProgress,
    ) -> Mapping[SeamKey, float]:
        """Return the distances of the document's seams; missing ones are computed.

        Raises:
            ServiceUnavailable: The embedding model did not answer.
        """
        if tools.embedder is None:
            return {}
        import numpy as np

        await report(StageStarted(document.id, JobStage.SPLIT))
        distances = dict(await self._stored_distances(document, tools))
        missing = find_missing_seams(plan.seams, distances)
        sentences = collect_seam_sentences(missing)
        rows = [np.zeros((0, tools.embedder.dimensions), np.float32)]
        model = tools.embedder.token_states
        embed = model.sketch if model else tools.embedder.embed
        for start in range(0, len(sentences), SENTENCES):
            rows.append(await embed(sentences[start : start + SENTENCES]))
            await report(StageStarted(document.id, JobStage.SPLIT))
        found = compute_seam_distances(missing, sentences, np.concatenate(rows))
        if model is not None:
            found = {key: scale_sketch_distance(d) for key, d in found.items()}
        distances |= found
        return {seam.key: distances[seam.key] for seam in plan.seams}

    async def _build_knowledge(
        self,
        document: Document,
        plan: CutPlan,
        distances: Mapping[SeamKey, float],
        tools: RecipeTools,
    ) -> Knowledge:
        cuts = await asyncio.to_thread(choose_cuts, plan, distances)
        evidence, declared_names = await asyncio.to_thread(_read_names, document)
        return Knowledge(
            document=document,
            pipeline=self.pipeline,
            chunks=build_chunks(document, cuts, self.pipeline),
            space=tools.space,
            vectors={},
            seams={str(key): distance for key, distance in distances.items()},
            evidence=evidence,
            noted=declared_names,
        )

    async def _extract_with_rules(self, drafted: Knowledge) -> tuple[Fact, ...]:
        """Return the facts that rules extract from story text, or from a note."""
        document, chunks = drafted.document, drafted.chunks
        if document.scene_files is not None:
            return ()  # an index lists scenes, and is no note about the story
        if document.type is not DocumentType.SCENE:
            return tuple(
                await asyncio.to_thread(extract_note_facts, document, self.split)
            )
        _, names = await asyncio.to_thread(build_name_finders, drafted.evidence)
        facts = [*_point_of_view_facts(document), *find_note_gaps(document)]
        for batch in batch_excerpts(build_classify_excerpts(document, chunks, names)):
            findings, _ = await self.rules.classify(batch)
            facts += [fact for finding in findings for fact in finding.facts]
        for window in build_extract_excerpts(document, chunks, names):
            finding, _ = await self.rules.extract(window)
            facts += finding.facts
        return tuple(facts)


def _read_names(document: Document) -> tuple[str, str]:
    """Return name evidence of the text and names declared by the author, both as JSON."""
    if document.type is not DocumentType.SCENE:
        return NameEvidence().to_json(), json.dumps(
            {"people": _list_note_people(document)}
        )
    parts = [
        part
        for chapter in document.chapters
        for scene in chapter.scenes
        for part in scene.parts
    ]
    declared_names = {"pov": _point_of_view(document)}
    return gather_name_evidence(document.text, parts).to_json(), json.dumps(
        declared_names, ensure_ascii=False
    )


def _list_note_people(document: Document) -> list[dict[str, object]]:
    if document.type is not DocumentType.CHARACTER:
        return []
    return [
        {
            "name": note_subject.name,
            "aliases": note_subject.aliases,
            "gender": note_subject.gender.value,
        }
        for note_subject in find_note_subjects(document)
    ]


def _point_of_view(document: Document) -> str:
    return " ".join(document.fields.get("pov", "").split())


def _point_of_view_facts(document: Document) -> list[Fact]:
    """Return the point of view in the front matter as one fact per scene."""
    name = _point_of_view(document)
    if not name:
        return []
    return [
        Fact(
            about=FactAbout.SCENE,
            subject="",
            field="pov",
            value=name,
            spans=scene.parts[:1],
            keeper=WRITER_KEEPER,
            certainty=Certainty.CONFIRMED,
        )
        for chapter in document.chapters
        for scene in chapter.scenes
        if scene.parts
    ]
