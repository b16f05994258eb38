"""Weaving: from what each document says of names to one cast, and back into each.

A document's own reading cannot know who "Nell" is: the whole library says that. So the
cast is made once all documents are read, and then each document whose part in it is
new gets its quotations, and its chunks the people in them. No model is asked anything.
"""

import asyncio
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256

from lrwr.core.canon.model import Canon, Place, plain_path
from lrwr.core.english.evidence import NameEvidence
from lrwr.core.english.lookup import resolve
from lrwr.core.english.mentions import find_mentions
from lrwr.core.english.narrators import (
    NarratorSigns,
    name_narrators,
    narrator_signs,
)
from lrwr.core.english.people import DecidedNames, NotedPerson, make_cast
from lrwr.core.model.cast import Cast, Character, Gender
from lrwr.core.model.documents import DocumentId
from lrwr.core.ports.cast_store import CastStore, Strand
from lrwr.core.ports.record_store import PassageStore
from lrwr.core.retrieval.story import StoryOrder, arrange
from lrwr.pipeline.stages.weave import Scenes, Threads, weave

REVISION = "weave-1"
"""Changes whenever the rules do: then every document is woven again."""

UNWOVEN = "unwoven"
"""Stands for what notes are woven from: nothing."""

OWN_VOICE = 0.005
"""Narration of which more than this share is the word "I" may be somebody's own."""


@dataclass(frozen=True, slots=True)
class Weaving:
    """What weaving did: the cast's size, and how many documents were woven anew."""

    characters: int
    documents: int


class StoryWeaver:
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

    async def weave(self) -> Weaving:
        """Bring the cast and all that follows from it up to date.

        Raises:
            SettingsProblem: The file of the writer's decisions is broken.
            StoreProblem: The library cannot be read or written.
        """
        canon = await asyncio.to_thread(self._canon)
        order = arrange(await self._passages.outlines(), self._patterns, canon)
        strands = await self._store.strands()
        told = [strand for strand in strands if strand.document in order.numbers]
        cast = await asyncio.to_thread(_cast_of, strands, order, canon)
        await self._store.keep_cast(cast)
        narrators = await self._narrators(told, order, cast, canon)
        await self._unweave(strands, order)
        count = 0
        for strand in told:
            narrator = narrators.get(strand.document, "")
            revision = _revision(strand, cast, narrator)
            if strand.woven != revision:
                made = await self._woven(strand, order, cast, narrator)
                count += await self._store.keep_woven(
                    made.woven(strand.document, strand.content, revision)
                )
        return Weaving(len(cast.characters), count)

    async def _unweave(self, strands: Iterable[Strand], order: StoryOrder) -> None:
        """Take back what was woven of documents that are no part of the story now."""
        nothing = Threads((), (), {}, {})
        for strand in strands:
            if strand.document not in order.numbers and strand.woven != UNWOVEN:
                await self._store.keep_woven(
                    nothing.woven(strand.document, strand.content, UNWOVEN)
                )

    async def _narrators(
        self, told: Sequence[Strand], order: StoryOrder, cast: Cast, canon: Canon
    ) -> dict[DocumentId, str]:
        """Return who tells each document: as the writer says, else as others say."""
        said = {one.document: _narrator(one, canon) for one in told}
        unsaid = [one for one in told if not said[one.document] and _says_i(one)]
        signs = []
        for strand in unsaid:
            text = (await self._passages.text(strand.document)).text
            scenes = _scenes(strand.document, order)
            signs.append(await asyncio.to_thread(_signs, text, scenes, cast))
        for strand, name in zip(unsaid, name_narrators(signs), strict=True):
            said[strand.document] = name
        known = {document: resolve(name, cast) for document, name in said.items()}
        return {document: who[0] for document, who in known.items() if len(who) == 1}

    async def _woven(
        self, strand: Strand, order: StoryOrder, cast: Cast, narrator: str
    ) -> Threads:
        text = (await self._passages.text(strand.document)).text
        places = await self._store.places(strand.document)
        scenes = _scenes(strand.document, order)
        work = partial(weave, text, scenes, places, cast, narrator=narrator)
        return await asyncio.to_thread(work)


def _scenes(document: DocumentId, order: StoryOrder) -> Scenes:
    chapters = order.outlines[document].chapters
    return Scenes(tuple(scene.parts for told in chapters for scene in told.scenes))


def _signs(text: str, scenes: Scenes, cast: Cast) -> NarratorSigns:
    mentions = find_mentions(text, scenes.spans, cast)
    return narrator_signs(text, scenes.parts, mentions)


def _says_i(strand: Strand) -> bool:
    """Say whether the narration may be somebody's own."""
    evidence = NameEvidence.from_json(strand.evidence)
    return evidence.first_person > OWN_VOICE * evidence.words_read


def _cast_of(strands: Sequence[Strand], order: StoryOrder, canon: Canon) -> Cast:
    by_id = {strand.document: strand for strand in strands}
    told = [by_id[document] for document in order.story if document in by_id]
    return make_cast(
        [NameEvidence.from_json(strand.evidence) for strand in told],
        noted=[*_noted(strands), *_tellers(told, canon)],
        decided=_decided(canon),
    )


def _noted(strands: Iterable[Strand]) -> Iterable[NotedPerson]:
    for strand in strands:
        for person in json.loads(strand.noted).get("people", ()):
            yield NotedPerson(
                person["name"], tuple(person["aliases"]), Gender(person["gender"])
            )


def _tellers(told: Iterable[Strand], canon: Canon) -> Iterable[NotedPerson]:
    """Yield those who the writer says tell a scene: they are people for certain."""
    names = [*canon.points_of_view.values(), *(_narrator(one, canon) for one in told)]
    for name in dict.fromkeys(name for name in names if name):
        yield NotedPerson(name, (), Gender.UNKNOWN)


def _narrator(strand: Strand, canon: Canon) -> str:
    """Return who tells the document, as the writer says; empty if unsaid.

    What was decided of the whole document outranks its front matter.
    """
    told: Mapping[str, str] = json.loads(strand.noted)
    decided = canon.points_of_view.get(Place(plain_path(strand.document)), "")
    return decided or told.get("pov", "")


def _decided(canon: Canon) -> DecidedNames:
    names = canon.names
    return DecidedNames(
        merged=names.merged,
        split=names.split,
        renamed=names.renamed,
        ignored=names.ignored,
    )


def _revision(strand: Strand, cast: Cast, narrator: str) -> str:
    """Name what a document is woven from: its text, and its own people."""
    people = [_told(one) for one in cast.characters if _is_in(one, strand.evidence)]
    shared = [
        [form, *names] for form, names in cast.shared.items() if form in strand.evidence
    ]
    whole = [REVISION, strand.content, narrator, sorted(people), sorted(shared)]
    return sha256(json.dumps(whole).encode()).hexdigest()


def _told(character: Character) -> list[str]:
    aliases = sorted(alias.name for alias in character.aliases)
    narrator = "I" if character.narrator else ""
    return [character.name, character.gender.value, narrator, *aliases]


def _is_in(character: Character, evidence: str) -> bool:
    """Say whether the document may name this character; saying so too often is fine."""
    return any(alias.name.rpartition(" ")[2] in evidence for alias in character.aliases)
