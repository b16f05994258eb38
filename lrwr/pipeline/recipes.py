"""Recipes: how a document becomes knowledge. One signature, chosen by one setting."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, Protocol
from uuid import UUID, uuid5

from lrwr.core.model.chunks import (
    Chunk,
    ChunkId,
    Knowledge,
    Pipeline,
    TextHash,
)
from lrwr.core.model.documents import Document, DocumentType
from lrwr.core.model.facts import WRITER_KEEPER, Certainty, Fact, FactAbout
from lrwr.core.model.jobs import ChunksEmbedded, JobStage, StageStarted
from lrwr.core.model.language_model import Usage
from lrwr.core.model.text import SentenceSplitter, Span
from lrwr.core.nlp.facts.notes import extract_note_facts, find_note_subjects
from lrwr.core.nlp.names.canonical import infer_cast
from lrwr.core.nlp.names.evidence import NameEvidence, gather_name_evidence
from lrwr.core.nlp.text.todo_markers import find_note_gaps
from lrwr.core.ports.models import Analyst, Embedder
from lrwr.core.ports.stores import AnalysisStore
from lrwr.pipeline.analysis import CachingAnalyst
from lrwr.pipeline.stages.recursive_splitter import split_recursively
from lrwr.pipeline.stages.semantic_splitter import (
    ChunkCut,
    ChunkLimits,
    CutPlan,
    choose_cuts,
    plan_cuts,
)
from lrwr.pipeline.stages.units import (
    SeamKey,
    collect_seam_sentences,
    compute_seam_distances,
    find_missing_seams,
)
from lrwr.pipeline.stages.windows import (
    CountTokens,
    NameFinder,
    batch_excerpts,
    build_classify_excerpts,
    build_extract_excerpts,
    embed_missing,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ReportProgress = Callable[[StageStarted | ChunksEmbedded], Awaitable[None]]
"""Called when a stage begins and when chunks were embedded."""
KnownVectors = Callable[[str, set[TextHash]], Awaitable[set[TextHash]]]
"""Which texts are embedded in a space already."""


@dataclass(frozen=True, slots=True)
class RecipeTools:
    """What a recipe may use; `embedder` is None where search goes by words alone."""

    count: CountTokens
    embedder: Embedder | None
    known: KnownVectors

    @property
    def space(self) -> str:
        """Name the embedding space; empty without an embedder."""
        return self.embedder.space if self.embedder else ""


class Recipe(Protocol):
    """Turns one document into knowledge. Writes nothing of the document."""

    @property
    def pipeline(self) -> Pipeline:
        """Name the collection that the knowledge belongs to."""
        ...

    @property
    def model(self) -> str:
        """Name the language model that is asked; empty where none is."""
        ...

    def name(self, embedder: Embedder | None) -> str:
        """Name everything that the knowledge depends on besides the document."""
        ...

    async def draft(self, document: Document, tools: RecipeTools) -> Knowledge:
        """Return what costs nothing to know: no vectors, and no model is asked."""
        ...

    async def estimate(self, knowledge: Knowledge) -> Usage:
        """Return what a language model would be asked for a draft's document."""
        ...

    async def learn(
        self, document: Document, tools: RecipeTools, report: ReportProgress
    ) -> Knowledge:
        """Return the knowledge with every vector that was missing.

        Raises:
            ServiceUnavailable: The embedder did not answer.
        """
        ...


@dataclass(frozen=True, slots=True)
class NaiveRecipe:
    """Pipeline A: split by size, embed, nothing more; no model is asked anything."""

    size: int
    overlap: int

    @property
    def pipeline(self) -> Pipeline:
        """Name the collection."""
        return Pipeline.NAIVE

    @property
    def model(self) -> str:
        """Name nobody."""
        return ""

    def name(self, embedder: Embedder | None) -> str:
        """Name splitter, sizes and embedding space."""
        space = embedder.space if embedder else "words-only"
        return f"recursive-2/{self.size}/{self.overlap}/{space}"

    async def draft(self, document: Document, tools: RecipeTools) -> Knowledge:
        """Split the document."""
        chunks = await asyncio.to_thread(
            split_recursively,
            document,
            tools.count,
            size=self.size,
            overlap=self.overlap,
        )
        return Knowledge(document, self.pipeline, chunks, tools.space, {})

    async def estimate(self, knowledge: Knowledge) -> Usage:
        """Return nothing: no model is asked."""
        del knowledge
        return Usage()

    async def learn(
        self, document: Document, tools: RecipeTools, report: ReportProgress
    ) -> Knowledge:
        """Split the document, and embed the chunks whose text was never embedded."""
        drafted = await self.draft(document, tools)
        vectors = await embed_chunks(document, drafted.chunks, tools, report)
        return Knowledge(
            document, self.pipeline, drafted.chunks, drafted.space, vectors
        )


async def embed_chunks(
    document: Document,
    chunks: Sequence[Chunk],
    tools: RecipeTools,
    report: ReportProgress,
) -> "dict[TextHash, NDArray[np.float32]]":
    """Return the vectors of the chunks whose text has no stored vector.

    Raises:
        ServiceUnavailable: The embedder did not answer.
    """
    if tools.embedder is None:
        return {}
    texts = {chunk.text_hash for chunk in chunks}
    stored_hashes = await tools.known(tools.space, texts)
    await report(StageStarted(document.id, JobStage.EMBED))
    vectors: dict[TextHash, NDArray[np.float32]] = {}
    async with aclosing(embed_missing(chunks, stored_hashes, tools.embedder)) as slices:
        async for part in slices:
            vectors.update(part)
            await report(ChunksEmbedded(len(part)))
    return vectors


REVISION = "semantic-1"
CHUNK_NAMESPACE = UUID("5d2f4a1e-6a0b-5c57-9d0e-6c7277720002")
SENTENCES = 64
"""Sentences embedded between two signs of life."""


@dataclass(frozen=True, slots=True)
class AgenticRecipe:
    """Pipeline B: semantic chunks, and facts by rules and, if there is one, a model.

    `rules` is asked about everything, at no cost; `reading` asks a language model and
    is None without one.
    """

    limits: ChunkLimits
    split: SentenceSplitter
    rules: Analyst
    store: AnalysisStore
    reading: CachingAnalyst | None = None

    @property
    def pipeline(self) -> Pipeline:
        """Name the collection."""
        return Pipeline.AGENTIC

    @property
    def model(self) -> str:
        """Name the language model that is asked; empty where none is."""
        return self.reading.model if self.reading else ""

    def name(self, embedder: Embedder | None) -> str:
        """Name the splitter, its sizes, who reads, and the embedding space."""
        sizes = f"{self.limits.least}-{self.limits.most}"
        space = embedder.space if embedder else "words-only"
        model = self.reading.revision if self.reading else "no-model"
        return f"{REVISION}/{sizes}/{self.rules.revision}/{model}/{space}"

    async def draft(self, document: Document, tools: RecipeTools) -> Knowledge:
        """Cut the document by the seam distances that are already stored."""
        plan = await self._plan(document, tools)
        stored_distances = await self._known(document, tools)
        return await self._knowledge(document, plan, stored_distances, tools)

    async def estimate(self, knowledge: Knowledge) -> Usage:
        """Return what a language model would be asked for a draft's document."""
        document = knowledge.document
        if self.reading is None or document.type is not DocumentType.SCENE:
            return Usage()
        names, _ = await asyncio.to_thread(_names_in, knowledge.evidence)
        return await self.reading.estimate(document, knowledge.chunks, names)

    async def learn(
        self, document: Document, tools: RecipeTools, report: ReportProgress
    ) -> Knowledge:
        """Cut, read and embed the document; what was done before is not done again."""
        plan = await self._plan(document, tools)
        distances = await self._distances(document, plan, tools, report)
        drafted = await self._knowledge(document, plan, distances, tools)
        await report(StageStarted(document.id, JobStage.ANALYSE))
        ruled = replace(drafted, facts=await self._by_rules(drafted))
        refined = await self.read_closely(ruled)
        vectors = await embed_chunks(document, drafted.chunks, tools, report)
        return replace(refined, vectors=vectors)

    async def kept(self, knowledge: Knowledge) -> frozenset[str]:
        """Return the keys of what a language model said of it before."""
        document = knowledge.document
        if self.reading is None or document.type is not DocumentType.SCENE:
            return frozenset()
        names, _ = await asyncio.to_thread(_names_in, knowledge.evidence)
        return await self.reading.kept(document, knowledge.chunks, names)

    async def read_closely(self, knowledge: Knowledge) -> Knowledge:
        """Return the knowledge with what the language model says, where there is one.

        Raises:
            StoreProblem: What was said cannot be kept.
        """
        document = knowledge.document
        if self.reading is None or document.type is not DocumentType.SCENE:
            return knowledge
        names, _ = await asyncio.to_thread(_names_in, knowledge.evidence)
        analysis = await self.reading.read(document, knowledge.chunks, names)
        return replace(
            knowledge,
            facts=(*knowledge.facts, *analysis.facts),
            usage=analysis.usage,
            unfinished=analysis.unfinished,
        )

    async def _plan(self, document: Document, tools: RecipeTools) -> CutPlan:
        work = partial(plan_cuts, document, self.split, tools.count, self.limits)
        return await asyncio.to_thread(work)

    async def _known(
        self, document: Document, tools: RecipeTools
    ) -> Mapping[SeamKey, float]:
        if not tools.space:
            return {}
        seams = await self.store.seams(document.id, tools.space)
        return {SeamKey(key): distance for key, distance in seams.items()}

    async def _distances(
        self,
        document: Document,
        plan: CutPlan,
        tools: RecipeTools,
        report: ReportProgress,
    ) -> Mapping[SeamKey, float]:
        """Return the distances of the document's seams, the missing ones worked out.

        Raises:
            ServiceUnavailable: The embedder did not answer.
        """
        if tools.embedder is None:
            return {}
        import numpy as np

        await report(StageStarted(document.id, JobStage.SPLIT))
        stored_distances = await self._known(document, tools)
        seams = plan.seams
        missing = find_missing_seams(seams, stored_distances)
        sentences = collect_seam_sentences(missing)
        rows = [np.zeros((0, tools.embedder.dimensions), np.float32)]
        for start in range(0, len(sentences), SENTENCES):
            rows.append(
                await tools.embedder.embed(sentences[start : start + SENTENCES])
            )
            await report(StageStarted(document.id, JobStage.SPLIT))
        seam_distances = compute_seam_distances(
            missing, sentences, np.concatenate(rows)
        )
        every = {**stored_distances, **seam_distances}
        return {seam.key: every[seam.key] for seam in seams}

    async def _knowledge(
        self,
        document: Document,
        plan: CutPlan,
        distances: Mapping[SeamKey, float],
        tools: RecipeTools,
    ) -> Knowledge:
        cuts = await asyncio.to_thread(choose_cuts, plan, distances)
        evidence, noted = await asyncio.to_thread(_read_names, document)
        return Knowledge(
            document=document,
            pipeline=self.pipeline,
            chunks=_chunks(document, cuts),
            space=tools.space,
            vectors={},
            seams={str(key): distance for key, distance in distances.items()},
            evidence=evidence,
            noted=noted,
        )

    async def _by_rules(self, drafted: Knowledge) -> tuple[Fact, ...]:
        """Return what the rules say, or what the writer noted."""
        document, chunks = drafted.document, drafted.chunks
        if document.type is not DocumentType.SCENE:
            return tuple(
                await asyncio.to_thread(extract_note_facts, document, self.split)
            )
        _, names = await asyncio.to_thread(_names_in, drafted.evidence)
        facts = [*_declared(document), *find_note_gaps(document)]
        for batch in batch_excerpts(build_classify_excerpts(document, chunks, names)):
            findings, _ = await self.rules.classify(batch)
            facts += [fact for finding in findings for fact in finding.facts]
        for window in build_extract_excerpts(document, chunks, names):
            finding, _ = await self.rules.extract(window)
            facts += finding.facts
        return tuple(facts)


def _chunks(document: Document, cuts: Sequence[ChunkCut]) -> tuple[Chunk, ...]:
    last_occurrences: dict[TextHash, int] = {}
    chunks = []
    for ordinal, cut in enumerate(cuts):
        text = _text_at(document, cut.span)
        lead = _text_at(document, cut.lead) if cut.lead else ""
        embedded_text = f"{lead}\n\n{text}" if lead else text
        digest = TextHash(sha256(embedded_text.encode()).hexdigest())
        occurrence = last_occurrences[digest] = last_occurrences.get(digest, -1) + 1
        name = f"{Pipeline.AGENTIC}\n{document.id}\n{digest}\n{occurrence}"
        chunks.append(
            Chunk(
                id=ChunkId(str(uuid5(CHUNK_NAMESPACE, name))),
                document=document.id,
                ordinal=ordinal,
                span=cut.span,
                lines=document.lines.lines_of(cut.span),
                chapter=cut.chapter,
                scene=cut.scene,
                kind=cut.kind,
                text=text,
                text_hash=digest,
                tokens=cut.tokens,
                lead=lead,
                heading=_heading(document, cut),
            )
        )
    return tuple(chunks)


def _text_at(document: Document, span: Span) -> str:
    return document.text[span.start : span.end]


def _heading(document: Document, chunk_cut: ChunkCut) -> str:
    """Say where a chunk stands: document, chapter and scene, as a reader would."""
    words = [document.title]
    if chunk_cut.chapter < len(document.chapters):
        chapter = document.chapters[chunk_cut.chapter]
        words += [chapter.title] if chapter.title != document.title else []
        words += [f"scene {chunk_cut.scene + 1}"] if len(chapter.scenes) > 1 else []
    return ", ".join(word for word in words if word)


def _read_names(document: Document) -> tuple[str, str]:
    """Return what a document says of names, as JSON: its prose, and its author."""
    if document.type is not DocumentType.SCENE:
        return NameEvidence().to_json(), json.dumps({"people": _people(document)})
    parts = [
        part
        for chapter in document.chapters
        for scene in chapter.scenes
        for part in scene.parts
    ]
    noted = {"pov": _point_of_view(document)}
    return gather_name_evidence(document.text, parts).to_json(), json.dumps(
        noted, ensure_ascii=False
    )


def _people(document: Document) -> list[dict[str, object]]:
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


def _declared(document: Document) -> list[Fact]:
    """Return what front matter says of the document's scenes."""
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


def _names_in(evidence: str) -> tuple[NameFinder, NameFinder]:
    """Return look-ups of whom a text names: as they are called, and by every form.

    They go by one document alone. What others say does not matter here: it would
    change what a model is asked about a passage that did not change.
    """
    cast = infer_cast([NameEvidence.from_json(evidence)])
    forms = [
        (alias.name, character.name)
        for character in cast.characters
        for alias in character.aliases
    ]

    def names(text: str) -> tuple[str, ...]:
        return tuple(sorted({name for form, name in forms if form in text}))

    def every_form(text: str) -> tuple[str, ...]:
        return tuple(sorted({form for form, _ in forms if form in text}))

    return names, every_form
