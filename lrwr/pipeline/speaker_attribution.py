"""Weaving: from what each document says of names to one cast, and back into each.

A document's own reading cannot know who "Nell" is: the whole library says that. So the
cast is made once all documents are read, and then each document whose part in it is
new gets its quotations, and its chunks the people in them. No model is asked anything.
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
"""Changes whenever the rules do: then every document is woven again."""

NOT_ATTRIBUTED = "unwoven"
"""Stands for what notes are woven from: nothing."""

OWN_VOICE = 0.005
"""Narration of which more than this share is the word "I" may be somebody's own."""

NameForms = tuple[tuple[str, tuple[str, ...]], ...]
"""Forms of names, each with those who may bear it."""

_BEGINNING = re.compile(r"[^\W_]+")
_ARTICLE = re.compile(r"(?:the|an?)\s+(?=\S)")


@dataclass(frozen=True, slots=True)
class AttributionSummary:
    """What weaving did: the cast's size, and how many documents were woven anew."""

    characters: int
    documents: int


@dataclass(frozen=True, slots=True)
class _AttributionInput:
    """What a document is woven from, and nothing else; `revision` names it."""

    strand: AttributionInput
    narrator: str
    own: Cast
    revision: str


class StoryAttributor:
    """Makes the cast and weaves it into the documents; the same result every time.

    `patterns` is the setting `[manuscript] order`; `canon` reads the writer's
    decisions, anew each time.
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

    async def weave(self) -> AttributionSummary:
        """Bring the cast and all that follows from it up to date.

        Raises:
            SettingsProblem: The file of the writer's decisions is broken.
            StoreProblem: The library cannot be read or written.
        """
        canon = await asyncio.to_thread(self._canon)
        strands = await self._store.strands()
        order = build_story_order(
            await self._passages.outlines(), self._patterns, canon
        )
        story_strands = [
            strand for strand in strands if strand.document in order.numbers
        ]
        cast = await asyncio.to_thread(_cast_of, strands, order, canon)
        await self._store.keep_cast(cast)
        narrators = await self._narrators(story_strands, cast, canon)
        await self._unweave(strands, order)
        parts = await asyncio.to_thread(_parts, story_strands, cast, narrators)
        count = 0
        for part in parts:
            if part.strand.woven != part.revision:
                count += await self._store.keep_woven(await self._woven(part))
        return AttributionSummary(len(cast.characters), count)

    async def _unweave(
        self, strands: Iterable[AttributionInput], order: StoryOrder
    ) -> None:
        """Take back what was woven of documents that are no part of the story now."""
        nothing = DocumentAttribution((), (), {}, {})
        for strand in strands:
            if strand.document not in order.numbers and strand.woven != NOT_ATTRIBUTED:
                await self._store.keep_woven(
                    nothing.woven(strand.document, strand.content, NOT_ATTRIBUTED)
                )

    async def _narrators(
        self, story_strands: Sequence[AttributionInput], cast: Cast, canon: Canon
    ) -> dict[DocumentId, str]:
        """Return each document's narrator: as set by the writer, else as inferred."""
        names_by_document = {
            attribution_input.document: _narrator(attribution_input, canon)
            for attribution_input in story_strands
        }
        unnarrated = [
            attribution_input
            for attribution_input in story_strands
            if not names_by_document[attribution_input.document]
            and _says_i(attribution_input)
        ]
        forms, signs = index_name_forms(cast), []
        for strand in unnarrated:
            work = partial(find_narrator_signs, strand.text, _scenes(strand), forms)
            signs.append(await asyncio.to_thread(work))
        for strand, name in zip(unnarrated, infer_narrators(signs), strict=True):
            names_by_document[strand.document] = name
        resolved_names = {
            name: resolve_name(name, cast) for name in set(names_by_document.values())
        }
        return {
            d: resolved_names[name][0]
            for d, name in names_by_document.items()
            if len(resolved_names[name]) == 1
        }

    async def _woven(self, part: _AttributionInput) -> AttributionResult:
        strand, text = part.strand, part.strand.text
        places = await self._store.places(strand.document)
        scenes, narrator = _scenes(strand), part.narrator
        work = partial(
            attribute_document, text, scenes, places, part.own, narrator=narrator
        )
        attribution = await asyncio.to_thread(work)
        return attribution.woven(strand.document, strand.content, part.revision)


def _scenes(strand: AttributionInput) -> SceneSpans:
    scene_parts = (
        scene.parts for chapter in strand.chapters for scene in chapter.scenes
    )
    return SceneSpans(tuple(scene_parts))


def index_name_forms(cast: Cast) -> dict[str, NameForms]:
    """Return all forms of names, grouped by the first letters of their first word.

    One that begins without a capital may stand anywhere; it is under "".
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
    """Look for signs of the narrator; what was found before is not looked for again.

    Only the forms that may stand in `text` are asked for: another document's new name
    is none of its.
    """
    keys = sorted(forms.keys() & {"", *_beginnings(text)})
    return _signs(text, scenes, tuple(form for key in keys for form in forms[key]))


@lru_cache(maxsize=REMEMBERED)
def _signs(text: str, scenes: SceneSpans, forms: NameForms) -> NarratorEvidence:
    mentions = find_mentions(text, scenes.spans, Cast(shared=dict(forms)))
    return gather_narrator_evidence(text, scenes.parts, mentions)


@lru_cache(maxsize=REMEMBERED)
def _beginnings(text: str) -> frozenset[str]:
    words = (_BEGINNING.match(word) for word in CAPITALIZED_WORD.findall(text))
    return frozenset(word[0].lower() for word in words if word)


@lru_cache(maxsize=REMEMBERED)
def _evidence(written: str) -> NameEvidence:
    return NameEvidence.from_json(written)


def _says_i(strand: AttributionInput) -> bool:
    """Say whether the narration may be somebody's own."""
    evidence = _evidence(strand.evidence)
    return evidence.first_person > OWN_VOICE * evidence.words_read


def _cast_of(
    strands: Sequence[AttributionInput], order: StoryOrder, canon: Canon
) -> Cast:
    by_id = {strand.document: strand for strand in strands}
    story_strands = [by_id[document] for document in order.story if document in by_id]
    names = canon.names
    return _made(
        tuple(strand.evidence for strand in story_strands),
        (*_noted(strands), *_tellers(story_strands, canon)),
        tuple(names.merged.items()),
        names.split,
        tuple(names.renamed.items()),
        names.ignored,
    )


@lru_cache(maxsize=1)
def _made(
    evidence: tuple[str, ...],
    noted: tuple[NotePerson, ...],
    merged: tuple[tuple[str, tuple[str, ...]], ...],
    split: tuple[tuple[str, str], ...],
    renamed: tuple[tuple[str, str], ...],
    ignored: tuple[str, ...],
) -> Cast:
    """Make the cast, unless it is made of what it was made of last."""
    decided = NameOverrides(dict(merged), split, dict(renamed), ignored)
    return infer_cast(list(map(_evidence, evidence)), noted=noted, decided=decided)


def _noted(strands: Iterable[AttributionInput]) -> Iterable[NotePerson]:
    for strand in strands:
        for person in json.loads(strand.noted).get("people", ()):
            yield NotePerson(
                person["name"], tuple(person["aliases"]), Gender(person["gender"])
            )


def _tellers(strands: Iterable[AttributionInput], canon: Canon) -> Iterable[NotePerson]:
    """Yield the narrators that the writer names: they are certainly people."""
    names = [
        *canon.points_of_view.values(),
        *(_narrator(attribution_input, canon) for attribution_input in strands),
    ]
    for name in dict.fromkeys(name for name in names if name):
        yield NotePerson(name, (), Gender.UNKNOWN)


def _narrator(strand: AttributionInput, canon: Canon) -> str:
    """Return the document's narrator as set by the writer; empty if not set.

    A canon decision on the whole document outranks its front matter.
    """
    front_matter: Mapping[str, str] = json.loads(strand.noted)
    decided = canon.points_of_view.get(
        ManuscriptLocation(normalize_canon_path(strand.document)), ""
    )
    return decided or front_matter.get("pov", "")


def _parts(
    strands: Sequence[AttributionInput], cast: Cast, narrators: Mapping[DocumentId, str]
) -> list[_AttributionInput]:
    """Return each document with its own cast and revision."""
    roster, inputs = CastLookup(cast), []
    for strand in strands:
        narrator = narrators.get(strand.document, "")
        document_cast = roster.of(strand.text, narrator)
        revision = roster.revision(REVISION, strand.content, narrator, document_cast)
        inputs.append(_AttributionInput(strand, narrator, document_cast, revision))
    return inputs
