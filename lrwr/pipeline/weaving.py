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

from lrwr.core.canon.model import Canon
from lrwr.core.english.evidence import NameEvidence
from lrwr.core.english.people import DecidedNames, NotedPerson, make_cast
from lrwr.core.model.cast import Cast, Character, Gender
from lrwr.core.ports.cast_store import CastStore, Strand
from lrwr.core.ports.record_store import PassageStore
from lrwr.core.retrieval.story import StoryOrder, arrange
from lrwr.pipeline.stages.weave import Scenes, weave

REVISION = "weave-1"
"""Changes whenever the rules do: then every document is woven again."""


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
        cast = await asyncio.to_thread(_cast_of, strands, order, canon)
        await self._store.keep_cast(cast)
        count = 0
        for strand in strands:
            revision = _revision(strand, cast)
            if strand.document in order.numbers and strand.woven != revision:
                count += await self._weave_one(strand, order, cast, revision)
        return Weaving(len(cast.characters), count)

    async def _weave_one(
        self, strand: Strand, order: StoryOrder, cast: Cast, revision: str
    ) -> bool:
        text = (await self._passages.text(strand.document)).text
        places = await self._store.places(strand.document)
        scenes = Scenes(
            tuple(
                scene.parts
                for chapter in order.outlines[strand.document].chapters
                for scene in chapter.scenes
            )
        )
        work = partial(weave, text, scenes, places, cast, narrator=_narrator(strand))
        made = await asyncio.to_thread(work)
        return await self._store.keep_woven(
            made.woven(strand.document, strand.content, revision)
        )


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
    names = [*canon.points_of_view.values(), *map(_narrator, told)]
    for name in dict.fromkeys(name for name in names if name):
        yield NotedPerson(name, (), Gender.UNKNOWN)


def _narrator(strand: Strand) -> str:
    """Return who tells the document, as its front matter says; empty if unsaid."""
    told: Mapping[str, str] = json.loads(strand.noted)
    return told.get("pov", "")


def _decided(canon: Canon) -> DecidedNames:
    names = canon.names
    return DecidedNames(
        merged=names.merged,
        split=names.split,
        renamed=names.renamed,
        ignored=names.ignored,
    )


def _revision(strand: Strand, cast: Cast) -> str:
    """Name what a document is woven from: its text, and its own people."""
    people = [_told(one) for one in cast.characters if _is_in(one, strand.evidence)]
    shared = [
        [form, *names] for form, names in cast.shared.items() if form in strand.evidence
    ]
    whole = [REVISION, strand.content, strand.noted, sorted(people), sorted(shared)]
    return sha256(json.dumps(whole).encode()).hexdigest()


def _told(character: Character) -> list[str]:
    aliases = sorted(alias.name for alias in character.aliases)
    narrator = "I" if character.narrator else ""
    return [character.name, character.gender.value, narrator, *aliases]


def _is_in(character: Character, evidence: str) -> bool:
    """Say whether the document may name this character; saying so too often is fine."""
    return any(alias.name.rpartition(" ")[2] in evidence for alias in character.aliases)
