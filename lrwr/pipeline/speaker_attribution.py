"""Speaker attribution over the library: one cast, then quotations and appearances.

Who "Nell" is depends on all documents, so the cast is inferred after all of them are
stored. Then the quotations, mentions and appearances of each document whose text or
relevant names changed are computed again. Uses rules only, no language model.
"""

import asyncio
from collections.abc import (
    AsyncIterator,
    Callable,
    Collection,
    Iterable,
    Mapping,
    Sequence,
)
from dataclasses import dataclass, replace
from functools import partial

from lrwr.core.canon.model import Canon
from lrwr.core.model.cast import Cast
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.errors import SettingsProblem
from lrwr.core.nlp.dialogue.speakers import (
    NarratorEvidence,
    infer_narrators,
)
from lrwr.core.nlp.names.evidence import NameEvidence
from lrwr.core.nlp.names.inference import CastInference, NotePerson
from lrwr.core.nlp.names.lookup import CastIdentity, resolve_name
from lrwr.core.nlp.names.overrides import NameOverrides
from lrwr.core.ports.stores import PassageStore
from lrwr.core.ports.story_stores import (
    AttributionInput,
    AttributionSnapshot,
    CastStore,
    DocumentEvidence,
    DocumentRevision,
)
from lrwr.core.retrieval.story import StoryOrder, build_story_order
from lrwr.pipeline.stages.speakers import (
    AttributionState,
    DocumentAttribution,
    SceneSpans,
    attribute_document,
    create_cast_lookup,
    describe_cast,
    digest_inputs,
    find_narrator_signs,
    find_non_people,
    find_set_narrator,
    hash_revision,
    index_name_forms,
    iter_narrator_people,
    iter_note_people,
    narration_from_json,
    narration_to_json,
)

REVISION = "weave-15"
"""Version of the attribution rules; a new one makes every document run again."""

NOT_ATTRIBUTED = "unwoven"
"""Stored revision of documents without attribution, such as notes."""

OWN_VOICE = 0.005
"""Minimum share of the word "I" in the narration of a possible first-person story."""

BATCH = 32
"""Documents whose texts are read at a time."""


@dataclass(frozen=True, slots=True)
class AttributionSummary:
    """The number of characters in the cast, and of documents attributed in this run."""

    characters: int
    documents: int


class StoryAttributor:
    """Infers the cast and attributes speakers in all documents. Deterministic.

    It remembers the names of documents and the cast for its next run. `patterns` is the setting `manuscript.order`. `canon` loads the user's decisions and
    is called on every run.
    """

    def __init__(
        self,
        *,
        store: CastStore,
        passages: PassageStore,
        patterns: Sequence[str],
        canon: Callable[[], Canon],
    ) -> None:
        self._store = store
        self._passages = passages
        self._patterns = patterns
        self._canon = canon
        self._inferring = asyncio.Lock()
        self._names = _NameReader()

    async def attribute_all(self, *, recalls: bool = False) -> AttributionSummary:
        """Update the cast, and the attribution of every document whose inputs changed.

        If nothing changed since the last complete run, nothing is computed; with
        `recalls`, the cast is read, see `recall_cast`. After a run that was interrupted,
        or overtaken by another process, the next one does the rest.

        Raises:
            SettingsProblem: The canon file is invalid.
            StoreProblem: The library cannot be read or written.
        """
        canon = await asyncio.to_thread(self._canon)
        snapshot = await self._store.attribution_snapshot()
        state = AttributionState.from_json(snapshot.state) or AttributionState()
        if state.digest == self._digest(snapshot, canon):
            if recalls:
                await self._recall_cast(canon, snapshot)
            return AttributionSummary(len(state.people), 0)
        evidence, order = await self._load(canon)
        cast = await self._infer_cast(evidence, order.story, canon)
        await self._store.save_cast(cast)
        run = _AttributionRun(
            self._store, canon, snapshot, state, cast, self._names.may_be_first_person
        )
        narrators = await run.attribute(evidence, order.numbers)
        after = await self._store.attribution_snapshot()
        if run.is_complete(after):
            digest = self._digest(after, canon)
            await run.save_state(digest, narrators, after)
        return AttributionSummary(len(cast.characters), run.attributed_documents)

    async def recall_cast(self) -> None:
        """Read the names and the cast of the last complete run, unless something has
        changed since: if documents change afterwards, but no names, `attribute_all`
        infers no cast.

        An invalid canon file is left for `attribute_all` to report.

        Raises:
            StoreProblem: The library cannot be read.
        """
        try:
            canon = await asyncio.to_thread(self._canon)
        except SettingsProblem:
            return
        snapshot = await self._store.attribution_snapshot()
        state = AttributionState.from_json(snapshot.state)
        if state is not None and state.digest == self._digest(snapshot, canon):
            await self._recall_cast(canon, snapshot)

    async def _recall_cast(self, canon: Canon, snapshot: AttributionSnapshot) -> None:
        evidence, order = await self._load(canon)
        cast = await self._store.load_cast()
        # Another process may have written meanwhile.
        if cast is not None and await self._store.attribution_snapshot() == snapshot:
            async with self._inferring:
                await asyncio.to_thread(
                    self._names.recall_cast, evidence, order.story, canon, cast
                )

    async def infer_cast(self) -> Cast | None:
        """Return the cast that `attribute_all` would store; nothing is stored.

        None if nothing changed since the last complete run.

        Raises:
            SettingsProblem: The canon file is invalid.
            StoreProblem: The library cannot be read.
        """
        canon = await asyncio.to_thread(self._canon)
        snapshot = await self._store.attribution_snapshot()
        state = AttributionState.from_json(snapshot.state)
        if state is not None and state.digest == self._digest(snapshot, canon):
            return None
        evidence, order = await self._load(canon)
        return await self._infer_cast(evidence, order.story, canon)

    async def find_cast(self, document: DocumentId, name_evidence: str) -> Cast:
        """Return the cast of the library with `name_evidence` (JSON) of `document`, which
        may be new, instead of what is stored of it; nothing is stored.

        Raises:
            SettingsProblem: The canon file is invalid.
            StoreProblem: The library cannot be read.
        """
        canon = await asyncio.to_thread(self._canon)
        evidence, order = await self._load(canon)
        by_id = {item.document: item for item in evidence}
        item = by_id.get(document, DocumentEvidence(document, "", "{}", ""))
        by_id[document] = replace(item, evidence=name_evidence)
        story = dict.fromkeys((*order.story, document))
        return await self._infer_cast(list(by_id.values()), list(story), canon)

    async def _infer_cast(
        self,
        evidence: Sequence[DocumentEvidence],
        story: Sequence[DocumentId],
        canon: Canon,
    ) -> Cast:
        async with self._inferring:
            return await asyncio.to_thread(
                self._names.infer_cast, evidence, story, canon
            )

    def _digest(self, snapshot: AttributionSnapshot, canon: Canon) -> str:
        return digest_inputs(snapshot, canon, self._patterns, REVISION)

    async def _load(self, canon: Canon) -> tuple[list[DocumentEvidence], StoryOrder]:
        evidence = await self._store.name_evidence()
        outlines = await self._passages.outlines()
        return evidence, build_story_order(outlines, self._patterns, canon)


class _AttributionRun:
    """One run with the cast `cast`, after a complete run that left `state`.

    `snapshot` identifies the library's data before the run. `attributed_documents`
    counts the documents that were attributed. `may_be_first_person` says whether the
    narration of a document may be in the first person.
    """

    def __init__(
        self,
        store: CastStore,
        canon: Canon,
        snapshot: AttributionSnapshot,
        state: AttributionState,
        cast: Cast,
        may_be_first_person: Callable[[DocumentEvidence], bool],
    ) -> None:
        self._store, self._canon = store, canon
        self._may_be_first_person = may_be_first_person
        self._snapshot, self._state, self._cast = snapshot, state, cast
        self._lookup = create_cast_lookup(CastIdentity(cast))
        self._revisions = {d: r.attributed for d, r in snapshot.documents.items()}
        self._story: set[DocumentId] = set()
        self._signs: dict[DocumentId, str] = {}
        self.attributed_documents = 0

    async def attribute(
        self, evidence: Sequence[DocumentEvidence], story: Collection[DocumentId]
    ) -> dict[DocumentId, str]:
        """Attribute the documents of `story` that changed, and delete the attribution
        of others; return the narrators.
        """
        await self._delete_stale(evidence, story)
        documents = [item for item in evidence if item.document in story]
        unchanged = await self._find_unchanged([item.document for item in documents])
        signs = await self._find_signs(documents, unchanged)
        narrators = self._infer_narrators(documents, signs)
        self._note_signs(evidence, signs)
        changed = [
            item.document
            for item in documents
            if item.document not in unchanged
            or self._state.narrators.get(item.document) != narrators.get(item.document)
        ]
        self._story = {item.document for item in documents} - set(changed)
        async for document_input in self._iter_inputs(changed):
            narrator = narrators.get(document_input.document, "")
            await self._attribute_document(document_input, narrator)
        return narrators

    def is_complete(self, after: AttributionSnapshot) -> bool:
        """Return whether the library has changed by this run alone, as `after` shows."""
        if after.state != self._snapshot.state:
            return False
        return after.documents == {
            document: DocumentRevision(revision.inputs, self._revisions[document])
            for document, revision in self._snapshot.documents.items()
        }

    async def save_state(
        self,
        digest: str,
        narrators: Mapping[DocumentId, str],
        after: AttributionSnapshot,
    ) -> None:
        """Store the state of this run, unless the library differs from `after`."""
        state = AttributionState(
            digest,
            describe_cast(self._cast),
            self._cast.shared,
            {d: hash_revision(after.documents[d]) for d in sorted(self._story)},
            narrators,
        )
        await self._store.save_state(state.to_json(), self._signs, after)

    async def _delete_stale(
        self, evidence: Iterable[DocumentEvidence], story: Collection[DocumentId]
    ) -> None:
        """Delete the attribution of documents that are no longer part of the story."""
        stale = [
            item.document
            for item in evidence
            if item.document not in story
            and self._revisions.get(item.document) != NOT_ATTRIBUTED
        ]
        nothing = DocumentAttribution((), (), {}, {})
        async for document_input in self._iter_inputs(stale):
            await self._save(document_input, nothing, NOT_ATTRIBUTED)

    async def _find_unchanged(
        self, documents: Sequence[DocumentId]
    ) -> frozenset[DocumentId]:
        """Return the documents whose data and names are those of the state.

        Their texts are read only if a name changed.
        """
        state, revisions = self._state, self._snapshot.documents
        names, forms = state.find_changes(self._cast)
        unchanged = {
            document
            for document in documents
            if document in revisions
            and state.documents.get(document) == hash_revision(revisions[document])
            and state.narrators.get(document) not in names
        }
        if forms:
            async for document_input in self._iter_inputs(sorted(unchanged)):
                if await asyncio.to_thread(forms.may_occur_in, document_input.text):
                    unchanged.remove(document_input.document)
        return frozenset(unchanged)

    async def _find_signs(
        self, documents: Sequence[DocumentEvidence], unchanged: Collection[DocumentId]
    ) -> dict[DocumentId, NarratorEvidence]:
        """Return the signs of a narrator in documents that may be in the first person
        and whose narrator the user has not set: the stored ones, or new ones.
        """
        signs: dict[DocumentId, NarratorEvidence] = {}
        missing = []
        for item in documents:
            if not find_set_narrator(item, self._canon) and self._may_be_first_person(
                item
            ):
                is_stored = item.document in unchanged and item.narration
                stored = narration_from_json(item.narration) if is_stored else None
                if stored is None:
                    missing.append(item.document)
                else:
                    signs[item.document] = stored
        async for document_input in self._iter_inputs(missing):
            forms = index_name_forms(self._lookup.of(document_input.text, ""))
            work = partial(find_narrator_signs, scenes=_scenes(document_input))
            signs[document_input.document] = await asyncio.to_thread(
                work, document_input.text, forms=forms
            )
        return signs

    def _note_signs(
        self,
        evidence: Iterable[DocumentEvidence],
        signs: Mapping[DocumentId, NarratorEvidence],
    ) -> None:
        """Note which signs to store, and which stored ones are out of use."""
        texts = {
            document: narration_to_json(found) for document, found in signs.items()
        }
        stored = {item.document: item.narration for item in evidence}
        self._signs = {
            document: texts.get(document, "")
            for document in stored
            if texts.get(document, "") != stored[document]
        }

    def _infer_narrators(
        self,
        documents: Sequence[DocumentEvidence],
        signs: Mapping[DocumentId, NarratorEvidence],
    ) -> dict[DocumentId, str]:
        """Return each document's narrator: as set by the user, else as inferred."""
        names_by_document = {
            item.document: find_set_narrator(item, self._canon) for item in documents
        }
        unnarrated = sorted(signs)
        inferred = infer_narrators([signs[document] for document in unnarrated])
        names_by_document.update(zip(unnarrated, inferred, strict=True))
        resolved_names = {
            name: resolve_name(name, self._cast)
            for name in set(names_by_document.values())
        }
        return {
            d: resolved_names[name][0]
            for d, name in names_by_document.items()
            if len(resolved_names[name]) == 1
        }

    async def _attribute_document(
        self, document_input: AttributionInput, narrator: str
    ) -> None:
        """Attribute a document, unless that was done with the same inputs."""
        document, text = document_input.document, document_input.text
        own = await asyncio.to_thread(self._lookup.of, text, narrator)
        revision = self._lookup.revision(
            REVISION, document_input.content, narrator, own
        )
        if revision == self._revisions.get(document):
            self._story.add(document)
            return
        places = await self._store.chunk_spans(document)
        scenes = _scenes(document_input)
        work = partial(attribute_document, text, scenes, places, own, narrator=narrator)
        attribution = await asyncio.to_thread(work)
        if await self._save(document_input, attribution, revision):
            self._story.add(document)
            self.attributed_documents += 1

    async def _save(
        self,
        document_input: AttributionInput,
        attribution: DocumentAttribution,
        revision: str,
    ) -> bool:
        document, content = document_input.document, document_input.content
        result = attribution.build_result(document, content, revision)
        self._revisions[document] = revision
        return await self._store.save_attribution(result)

    async def _iter_inputs(
        self, documents: Iterable[DocumentId]
    ) -> AsyncIterator[AttributionInput]:
        for batch in _split(list(documents)):
            for document_input in await self._store.attribution_inputs(batch):
                yield document_input


def _scenes(document_input: AttributionInput) -> SceneSpans:
    scene_parts = (
        scene.parts for chapter in document_input.chapters for scene in chapter.scenes
    )
    return SceneSpans(tuple(scene_parts))


def _split(documents: Sequence[DocumentId]) -> Iterable[Sequence[DocumentId]]:
    return (documents[at : at + BATCH] for at in range(0, len(documents), BATCH))


class _NameReader:
    """Parses the name evidence of documents and infers their cast.

    What it made of documents that have not changed is reused at the next call.
    """

    def __init__(self) -> None:
        self._parsed: dict[DocumentId, tuple[str, NameEvidence]] = {}
        self._inference = CastInference()

    def infer_cast(
        self,
        evidence: Sequence[DocumentEvidence],
        story_ids: Sequence[DocumentId],
        canon: Canon,
    ) -> Cast:
        """Return the cast of a library with this evidence, story order and canon."""
        parsed, noted, decided = self._read(evidence, story_ids, canon)
        return self._inference.infer(parsed, noted=noted, decided=decided)

    def recall_cast(
        self,
        evidence: Sequence[DocumentEvidence],
        story_ids: Sequence[DocumentId],
        canon: Canon,
        cast: Cast,
    ) -> None:
        """Take `cast` as what `infer_cast` returns for the same arguments."""
        parsed, noted, decided = self._read(evidence, story_ids, canon)
        self._inference.recall(parsed, cast, noted=noted, decided=decided)

    def _read(
        self,
        evidence: Sequence[DocumentEvidence],
        story_ids: Sequence[DocumentId],
        canon: Canon,
    ) -> tuple[dict[str, NameEvidence], Sequence[NotePerson], NameOverrides]:
        by_id = {item.document: item for item in evidence}
        self._parsed = {d: v for d, v in self._parsed.items() if d in by_id}
        story = [by_id[document] for document in story_ids if document in by_id]
        names = canon.names
        noted = (*iter_note_people(evidence), *iter_narrator_people(story, canon))
        ignored = (*names.ignored, *find_non_people(evidence, noted, canon))
        decided = NameOverrides(names.merged, names.split, names.renamed, ignored)
        return {item.document: self._parse(item) for item in story}, noted, decided

    def may_be_first_person(self, item: DocumentEvidence) -> bool:
        """Return whether the narration may be in the first person."""
        evidence = self._parse(item)
        return evidence.first_person > OWN_VOICE * evidence.words_read

    def _parse(self, item: DocumentEvidence) -> NameEvidence:
        text, parsed = self._parsed.get(item.document, ("", NameEvidence()))
        if text != item.evidence:
            parsed = NameEvidence.from_json(item.evidence)
            self._parsed[item.document] = item.evidence, parsed
        return parsed
