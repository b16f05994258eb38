"""Small books for tests, and what is known of them: the story ports, in memory."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from types import MappingProxyType

from lrwr.core.adapters.source.parser import ManuscriptParser
from lrwr.core.bible.projection import StoryKnowledge
from lrwr.core.bible.service import BibleService
from lrwr.core.canon.model import Canon
from lrwr.core.model.cast import (
    Alias,
    AttributionCue,
    Cast,
    Character,
    Gender,
    Quotation,
)
from lrwr.core.model.choices import Pipeline
from lrwr.core.model.chunks import Chunk, ChunkId
from lrwr.core.model.documents import DocumentId, DocumentOutline
from lrwr.core.model.errors import NotFound
from lrwr.core.model.facts import RULES_KEEPER, Certainty, Fact, FactAbout
from lrwr.core.model.text import Span
from lrwr.core.ports.stores import DocumentText, LibraryCounts
from lrwr.core.ports.story_stores import (
    Appearance,
    AppearanceRole,
    CountedFact,
    DocumentFact,
    DocumentQuotation,
    FirstMention,
)
from lrwr.core.ports.threads import RecordedGap
from lrwr.core.retrieval.story import build_story_order


class Book:
    """Documents, parsed by the real parser; keeps the `PassageStore` port."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self.documents = {
            DocumentId(path): ManuscriptParser()(DocumentId(path), text.encode())
            for path, text in files.items()
        }

    async def outlines(self) -> list[DocumentOutline]:
        """Return an outline of each document, ordered by id."""
        return [
            DocumentOutline(d.id, d.type, d.title, d.words, d.order, d.chapters)
            for _, d in sorted(self.documents.items())
        ]

    async def chunks(self, ids: Sequence[ChunkId]) -> list[Chunk]:
        """There are none."""
        return []

    async def chunks_of(self, document: DocumentId, pipeline: Pipeline) -> list[Chunk]:
        """There are none."""
        return []

    async def text(self, document: DocumentId) -> DocumentText:
        """Return a document's text and its lines."""
        if document not in self.documents:
            raise NotFound(f"No document {document}")
        kept = self.documents[document]
        return DocumentText(kept.text, kept.lines)

    async def texts(
        self, documents: Collection[DocumentId]
    ) -> dict[DocumentId, DocumentText]:
        """Return the texts of those of `documents` that exist."""
        texts = {}
        for document in documents:
            with suppress(NotFound):
                texts[document] = await self.text(document)
        return texts

    async def counts(self, pipeline: Pipeline) -> LibraryCounts:
        """Return how much there is."""
        return LibraryCounts(len(self.documents), 0, 0, {}, None)

    def span(self, path: str, words: str) -> Span:
        """Return where `words` stand first in a document."""
        start = self.documents[DocumentId(path)].text.index(words)
        return Span(start, start + len(words))

    def all_texts(self) -> dict[DocumentId, DocumentText]:
        """Return every text."""
        return {d.id: DocumentText(d.text, d.lines) for d in self.documents.values()}

    def outline_list(self) -> list[DocumentOutline]:
        """Return an outline of each document."""
        return [
            DocumentOutline(d.id, d.type, d.title, d.words, d.order, d.chapters)
            for d in self.documents.values()
        ]


@dataclass
class Stories:
    """What is known of a book; keeps the ports `StoryStore` and `BiblePartStore`.
    Filled by the tests, also between two calls.
    """

    book: Book
    people: Cast = field(default_factory=Cast)
    seen: list[FirstMention] = field(default_factory=list)
    known: list[DocumentFact] = field(default_factory=list)
    said: list[DocumentQuotation] = field(default_factory=list)
    there: list[Appearance] = field(default_factory=list)
    version: int = 0
    content: str = ""
    index: tuple[str, str] = ("", "")

    async def content_version(self) -> int:
        """Return another number whenever the content differs from that of last time."""
        known = self.people, self.seen, self.known, self.said, self.there
        content = repr((self.book, *self.book.all_texts().values(), *known))
        if content != self.content:
            self.version, self.content = self.version + 1, content
        return self.version

    async def count_facts(self, about: FactAbout) -> list[CountedFact]:
        """Return the facts of one kind, equal ones together."""
        counts = Counter(
            (known.fact.subject, known.fact.certainty, known.fact.details)
            for known in self.known
            if known.fact.about is about
        )
        return [CountedFact(*fact, count) for fact, count in counts.items()]

    async def load_index(self, key: str) -> str:
        """Return what was saved under `key`."""
        return self.index[1] if self.index[0] == key else ""

    async def save_index(self, key: str, text: str) -> None:
        """Store `text` under `key`."""
        self.index = key, text

    async def quotations_of(
        self, speakers: Collection[str], documents: Collection[DocumentId]
    ) -> list[DocumentQuotation]:
        """Return the quotations by `speakers` or in `documents`."""
        return [
            one
            for one in await self.quotations()
            if one.quotation.speaker in speakers or one.document in documents
        ]

    async def appearances_of(
        self, characters: Collection[str], documents: Collection[DocumentId]
    ) -> list[Appearance]:
        """Return the appearances of `characters` or in `documents`."""
        return [
            one
            for one in await self.appearances()
            if one.character in characters or one.document in documents
        ]

    async def cast(self) -> Cast:
        """Return everyone in the story."""
        return self.people

    async def first_seen(self) -> list[FirstMention]:
        """Return every form of every name once a document."""
        return sorted(self.seen, key=lambda s: (s.document, s.span, s.alias))

    async def quotations(
        self, documents: Collection[DocumentId] | None = None
    ) -> list[DocumentQuotation]:
        """Return what is said, or what is said there."""
        fits = [s for s in self.said if documents is None or s.document in documents]
        return sorted(fits, key=lambda s: (s.document, s.quotation.spans))

    async def facts(
        self,
        about: Collection[FactAbout] = (),
        *,
        documents: Mapping[FactAbout, Collection[DocumentId]] = MappingProxyType({}),
        subjects: Mapping[FactAbout, Collection[str]] = MappingProxyType({}),
    ) -> list[DocumentFact]:
        """Return facts about these kinds of things, or all."""
        fits = [
            k
            for k in self.known
            if (not about or k.fact.about in about)
            and k.document in documents.get(k.fact.about, [k.document])
            and k.fact.subject in subjects.get(k.fact.about, [k.fact.subject])
        ]
        return sorted(fits, key=lambda k: (k.document, k.fact.spans))

    async def keepers(self, about: Collection[FactAbout]) -> frozenset[str]:
        """Return who stated the facts."""
        return frozenset(one.fact.keeper for one in await self.facts(about))

    async def search_facts(
        self, words: Sequence[str], *, limit: int
    ) -> list[DocumentFact]:
        """Return facts whose value holds any of `words`."""
        fits = [
            known
            for known in await self.facts()
            if any(word.casefold() in known.fact.value.casefold() for word in words)
        ]
        return fits[:limit]

    async def labels(
        self, chunks: Collection[ChunkId] | None = None
    ) -> Mapping[ChunkId, Mapping[str, str]]:
        """Nothing is labelled: there are no chunks."""
        return {}

    async def appearances(
        self, characters: Collection[str] | None = None
    ) -> list[Appearance]:
        """Return who appears where."""
        fits = [
            one
            for one in self.there
            if characters is None or one.character in characters
        ]
        return sorted(fits, key=lambda one: (one.document, one.span))

    def name(
        self,
        name: str,
        *aliases: str,
        gender: Gender = Gender.UNKNOWN,
        narrator: bool = False,
    ) -> None:
        """Add a character, and note where each document has each form first."""
        forms = {form: self._count(name, form) for form in (name, *aliases)}
        found = tuple(
            Alias(form, count, Certainty.VERIFIED)
            for form, count in sorted(forms.items(), key=lambda pair: -pair[1])
        )
        verified = Certainty.VERIFIED
        made = Character(name, found, gender, verified, verified, narrator=narrator)
        people = (*self.people.characters, made)
        people = tuple(sorted(people, key=lambda one: -one.mentions))
        self.people = Cast(people, self.people.shared)

    def says(self, path: str, words: str, speaker: str = "", hearer: str = "") -> None:
        """Add a quotation."""
        sure = Certainty.VERIFIED if speaker else Certainty.NOT_EVALUATED
        spans = (self.book.span(path, words),)
        named = AttributionCue.NAMED if speaker else AttributionCue.NONE
        quotation = Quotation(spans, speaker, sure, named, hearer, sure)
        self.said.append(DocumentQuotation(DocumentId(path), quotation))

    def appears(
        self, path: str, words: str, who: str, role: AppearanceRole, count: int
    ) -> None:
        """Add an appearance in a chunk of those words; a paragraph is a chunk."""
        document, span = DocumentId(path), self.book.span(path, words)
        ordinal = self.book.documents[document].text.count("\n\n", 0, span.start)
        chunk = ChunkId(f"{path}:{span.start}")
        self.there.append(Appearance(chunk, document, span, ordinal, who, role, count))

    def fact(
        self,
        path: str,
        words: str,
        about: FactAbout,
        field: str,
        value: str,
        subject: str = "",
        *,
        keeper: str = RULES_KEEPER,
        certainty: Certainty = Certainty.VERIFIED,
        details: tuple[tuple[str, str], ...] = (),
    ) -> DocumentFact:
        """Add a fact that rests on `words`."""
        spans = (self.book.span(path, words),)
        made = DocumentFact(
            DocumentId(path),
            Fact(about, subject, field, value, spans, keeper, certainty, details),
        )
        self.known.append(made)
        return made

    def knowledge(self, canon: Canon | None = None) -> StoryKnowledge:
        """Return all of it, for a projection."""
        canon = canon or Canon()
        return StoryKnowledge(
            order=build_story_order(self.book.outline_list(), (), canon),
            texts=self.book.all_texts(),
            cast=self.people,
            first_seen=tuple(self.seen),
            facts=tuple(self.known),
            quotations=tuple(self.said),
            appearances=tuple(self.there),
            canon=canon,
        )

    def service(self, canon: Callable[[], Canon] = Canon) -> BibleService:
        """Return the service over it."""

        async def flagged_gaps() -> Sequence[RecordedGap]:
            return ()

        return BibleService(
            stories=self,
            passages=self.book,
            parts=self,
            patterns=(),
            canon=canon,
            flagged_gaps=flagged_gaps,
        )

    def _count(self, who: str, form: str) -> int:
        whole = 0
        for document in self.book.documents.values():
            count = document.text.count(form)
            if count:
                start = document.text.index(form)
                span = Span(start, start + len(form))
                self.seen.append(FirstMention(who, form, document.id, span, count))
            whole += count
        return whole
