"""Speaker attribution over the library: one cast, then quotations and appearances.

Who "Nell" is depends on all documents, so the cast is inferred after all of them are
stored. Then the quotations, mentions and appearances of each document whose text or
relevant names changed are computed again. Uses rules only, no language model.
"""

import asyncio
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

from lrwr.core.canon.model import Canon, ManuscriptLocation, normalize_canon_path
from lrwr.core.model.cast import Cast, Gender
from lrwr.core.model.documents import DocumentId
from lrwr.core.nlp.dialogue.speakers import (
    NarratorEvidence,
    gather_narrator_evidence,
    infer_narrators,
)
from lrwr.core.nlp.names.canonical import infer_cast
from lrwr.core.nlp.names.evidence import NameEvidence
from lrwr.core.nlp.names.lookup import resolve_name
from lrwr.core.nlp.names.mentions import CAPITALIZED_WORD, find_mentions
from lrwr.core.nlp.names.overrides import NameOverrides, NotePerson
from lrwr.core.ports.stores import PassageStore
from lrwr.core.ports.story_stores import AttributionInput, AttributionResult, CastStore
from lrwr.core.retrieval.story import StoryOrder, build_story_order
from lrwr.pipeline.stages.speakers import (
    REMEMBERED,
    CastLookup,
    DocumentAttribution,
    SceneSpans,
    attribute_document,
)

REVISION = "weave-2"
"""Version of the attribution rules; a new one makes every document run again."""

NOT_ATTRIBUTED = "unwoven"
"""Stored revision of documents without attribution, such as notes."""

OWN_VOICE = 0.005
"""Minimum share of the word "I" in the narration of a possible first-person story."""

NameForms = tuple[tuple[str, tuple[str, ...]], ...]
"""Name forms, each with the characters that it may mean."""

_BEGINNING = re.compile(r"[^\W_]+")
_ARTICLE = re.compile(r"(?:the|an?)\s+(?=\S)")


@dataclass(frozen=True, slots=True)
class AttributionSummary:
    """The number of characters in the cast, and of documents attributed in this run."""

    characters: int
    documents: int


@dataclass(frozen=True, slots=True)
class _AttributionInput:
    """All inputs of one document's attribution; `revision` is a hash of them."""

    source: AttributionInput
    narrator: str
    own: Cast
    revision: str


class StoryAttributor:
    """Infers the cast and attributes speakers in all documents. Deterministic.

    `patterns` is the setting `manuscript.order`. `canon` loads the user's decisions and
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

    async def attribute_all(self) -> AttributionSummary:
        """Update the cast, and the attribution of every document whose inputs changed.

        Raises:
            SettingsProblem: The canon file is invalid.
            StoreProblem: The library cannot be read or written.
        """
        canon, inputs, order = await self._load()
        story_inputs = [
            document_input
            for document_input in inputs
            if document_input.document in order.numbers
        ]
        cast = await asyncio.to_thread(_build_cast, inputs, order, canon)
        await self._store.save_cast(cast)
        narrators = await self._narrators(story_inputs, cast, canon)
        await self._delete_stale(inputs, order)
        resolved = await asyncio.to_thread(_build_inputs, story_inputs, cast, narrators)
        count = 0
        for part in resolved:
            if part.source.attributed_revision != part.revision:
                count += await self._store.save_attribution(await self._attribute(part))
        return AttributionSummary(len(cast.characters), count)

    async def infer_cast(self) -> Cast:
        """Return the cast that `attribute_all` would store; nothing is stored.

        Raises:
            SettingsProblem: The canon file is invalid.
            StoreProblem: The library cannot be read.
        """
        canon, inputs, order = await self._load()
        return await asyncio.to_thread(_build_cast, inputs, order, canon)

    async def _load(self) -> tuple[Canon, Sequence[AttributionInput], StoryOrder]:
        canon = await asyncio.to_thread(self._canon)
        inputs = await self._store.attribution_inputs()
        outlines = await self._passages.outlines()
        return canon, inputs, build_story_order(outlines, self._patterns, canon)

    async def _delete_stale(
        self, inputs: Iterable[AttributionInput], order: StoryOrder
    ) -> None:
        """Delete the attribution of documents that are no longer part of the story."""
        nothing = DocumentAttribution((), (), {}, {})
        for document_input in inputs:
            if (
                document_input.document not in order.numbers
                and document_input.attributed_revision != NOT_ATTRIBUTED
            ):
                await self._store.save_attribution(
                    nothing.build_result(
                        document_input.document, document_input.content, NOT_ATTRIBUTED
                    )
                )

    async def _narrators(
        self, story_inputs: Sequence[AttributionInput], cast: Cast, canon: Canon
    ) -> dict[DocumentId, str]:
        """Return each document's narrator: as set by the user, else as inferred."""
        names_by_document = {
            document_input.document: _narrator(document_input, canon)
            for document_input in story_inputs
        }
        unnarrated = [
            document_input
            for document_input in story_inputs
            if not names_by_document[document_input.document]
            and _may_be_first_person(document_input)
        ]
        forms, signs = index_name_forms(cast), []
        for document_input in unnarrated:
            work = partial(
                find_narrator_signs, document_input.text, _scenes(document_input), forms
            )
            signs.append(await asyncio.to_thread(work))
        for document_input, name in zip(
            unnarrated, infer_narrators(signs), strict=True
        ):
            names_by_document[document_input.document] = name
        resolved_names = {
            name: resolve_name(name, cast) for name in set(names_by_document.values())
        }
        return {
            d: resolved_names[name][0]
            for d, name in names_by_document.items()
            if len(resolved_names[name]) == 1
        }

    async def _attribute(self, part: _AttributionInput) -> AttributionResult:
        document_input, text = part.source, part.source.text
        places = await self._store.chunk_spans(document_input.document)
        scenes, narrator = _scenes(document_input), part.narrator
        work = partial(
            attribute_document, text, scenes, places, part.own, narrator=narrator
        )
        attribution = await asyncio.to_thread(work)
        return attribution.build_result(
            document_input.document, document_input.content, part.revision
        )


def _scenes(document_input: AttributionInput) -> SceneSpans:
    scene_parts = (
        scene.parts for chapter in document_input.chapters for scene in chapter.scenes
    )
    return SceneSpans(tuple(scene_parts))


def index_name_forms(cast: Cast) -> dict[str, NameForms]:
    """Return all names (forms) of the characters in `cast`, grouped by their first
    word.

    The key is that word in lower case, without a leading article and only up to a
    punctuation mark: "o" for "O'Neil". Each form is a pair: the name, and the full
    names of the characters that it may mean. Forms that begin with a lower-case word
    are under "" and may match anywhere.
    """
    owned = {
        alias.name: (character.name,)
        for character in cast.characters
        for alias in character.aliases
    }
    forms_by_letter: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
    for form, owners in {**cast.shared, **owned}.items():
        forms_by_letter.setdefault(_key(form), []).append((form, tuple(owners)))
    return {key: tuple(forms) for key, forms in forms_by_letter.items()}


def _key(form: str) -> str:
    name = _ARTICLE.sub("", form, count=1) if form[:1].islower() else form
    letters = _BEGINNING.match(name)
    return letters[0].lower() if letters and name[0].isupper() else ""


def find_narrator_signs(
    text: str, scenes: SceneSpans, forms: Mapping[str, NameForms]
) -> NarratorEvidence:
    """Return the evidence for a first-person narrator in a document. Cached.

    `scenes` has the spans of each scene; `forms` is a result of `index_name_forms`.
    Only forms that can occur in `text` are part of the cache key, so a new name in
    another document does not invalidate the result.
    """
    keys = sorted(forms.keys() & {"", *_first_words(text)})
    return _cached_signs(
        text, scenes, tuple(form for key in keys for form in forms[key])
    )


@lru_cache(maxsize=REMEMBERED)
def _cached_signs(text: str, scenes: SceneSpans, forms: NameForms) -> NarratorEvidence:
    mentions = find_mentions(text, scenes.spans, Cast(shared=dict(forms)))
    return gather_narrator_evidence(text, scenes.parts, mentions)


@lru_cache(maxsize=REMEMBERED)
def _first_words(text: str) -> frozenset[str]:
    words = (_BEGINNING.match(word) for word in CAPITALIZED_WORD.findall(text))
    return frozenset(word[0].lower() for word in words if word)


@lru_cache(maxsize=REMEMBERED)
def _parse_evidence(written: str) -> NameEvidence:
    return NameEvidence.from_json(written)


def _may_be_first_person(document_input: AttributionInput) -> bool:
    """Return whether the narration may be in the first person."""
    evidence = _parse_evidence(document_input.evidence)
    return evidence.first_person > OWN_VOICE * evidence.words_read


def _build_cast(
    inputs: Sequence[AttributionInput], order: StoryOrder, canon: Canon
) -> Cast:
    by_id = {document_input.document: document_input for document_input in inputs}
    story_inputs = [by_id[document] for document in order.story if document in by_id]
    names = canon.names
    return _infer_cached_cast(
        tuple(document_input.evidence for document_input in story_inputs),
        (*_note_people(inputs), *_narrator_people(story_inputs, canon)),
        tuple(names.merged.items()),
        names.split,
        tuple(names.renamed.items()),
        names.ignored,
    )


@lru_cache(maxsize=1)
def _infer_cached_cast(
    evidence: tuple[str, ...],
    noted: tuple[NotePerson, ...],
    merged: tuple[tuple[str, tuple[str, ...]], ...],
    split: tuple[tuple[str, str], ...],
    renamed: tuple[tuple[str, str], ...],
    ignored: tuple[str, ...],
) -> Cast:
    """Infer the cast; the last result is cached."""
    decided = NameOverrides(dict(merged), split, dict(renamed), ignored)
    return infer_cast(
        list(map(_parse_evidence, evidence)), noted=noted, decided=decided
    )


def _note_people(inputs: Iterable[AttributionInput]) -> Iterable[NotePerson]:
    for document_input in inputs:
        for person in json.loads(document_input.noted).get("people", ()):
            yield NotePerson(
                person["name"], tuple(person["aliases"]), Gender(person["gender"])
            )


def _narrator_people(
    inputs: Iterable[AttributionInput], canon: Canon
) -> Iterable[NotePerson]:
    """Yield the narrators set by the user: they are certainly people."""
    names = [
        *canon.points_of_view.values(),
        *(_narrator(document_input, canon) for document_input in inputs),
    ]
    for name in dict.fromkeys(name for name in names if name):
        yield NotePerson(name, (), Gender.UNKNOWN)


def _narrator(document_input: AttributionInput, canon: Canon) -> str:
    """Return the document's narrator as set by the user; empty if not set.

    A canon decision on the whole document outranks its front matter.
    """
    front_matter: Mapping[str, str] = json.loads(document_input.noted)
    decided = canon.points_of_view.get(
        ManuscriptLocation(normalize_canon_path(document_input.document)), ""
    )
    return decided or front_matter.get("pov", "")


def _build_inputs(
    inputs: Sequence[AttributionInput], cast: Cast, narrators: Mapping[DocumentId, str]
) -> list[_AttributionInput]:
    """Return each document with the part of the cast it needs and its revision."""
    lookup, resolved = CastLookup(cast), []
    for document_input in inputs:
        narrator = narrators.get(document_input.document, "")
        document_cast = lookup.of(document_input.text, narrator)
        revision = lookup.revision(
            REVISION, document_input.content, narrator, document_cast
        )
        resolved.append(
            _AttributionInput(document_input, narrator, document_cast, revision)
        )
    return resolved
