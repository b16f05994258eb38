"""Stores of story data: characters, quotations, appearances and facts."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from lrwr.core.model.cast import Cast, Mention, Quotation
from lrwr.core.model.chunks import ChunkId
from lrwr.core.model.documents import Chapter, DocumentId, DocumentOutline
from lrwr.core.model.facts import Certainty, Fact, FactAbout
from lrwr.core.model.text import Span
from lrwr.core.ports.stores import DocumentText


class AppearanceRole(StrEnum):
    """How a character takes part in a passage: speaks, hears, is present, or is
    mentioned.
    """

    SPEAKS = "speaks"
    HEARS = "hears"
    PRESENT = "present"
    MENTIONED = "mentioned"
    """Named in somebody's words, or in a scene in which the character is absent."""


@dataclass(frozen=True, slots=True)
class Appearance:
    """A character's part in one passage, at `span` of `document`.

    `count` is the number of mentions or utterances in that role. `ordinal` is the
    passage's position in its document, from 0.
    """

    chunk: ChunkId
    document: DocumentId
    span: Span
    ordinal: int
    character: str
    role: AppearanceRole
    count: int


@dataclass(frozen=True, slots=True)
class FirstMention:
    """The first occurrence, in one document, of one form of a character's name.

    `alias` is the form, as the text spells it. `mentions` counts all its occurrences in
    that document.
    """

    character: str
    alias: str
    document: DocumentId
    span: Span
    mentions: int


@dataclass(frozen=True, slots=True)
class DocumentQuotation:
    """A quotation together with its document."""

    document: DocumentId
    quotation: Quotation


@dataclass(frozen=True, slots=True)
class DocumentFact:
    """A fact together with its document."""

    document: DocumentId
    fact: Fact


@dataclass(frozen=True, slots=True)
class CountedFact:
    """What the facts of one kind that differ only in their places have in common.

    `count` is their number. No checksum was compared.
    """

    subject: str
    certainty: Certainty
    details: tuple[tuple[str, str], ...]
    count: int


class StoryStore(Protocol):
    """Reads story data for the story bible. No result is in story order; lists are
    ordered by document id unless the method says otherwise.
    """

    async def cast(self) -> Cast:
        """Return all characters of the story; an empty cast before the first ingestion.

        Raises:
            StoreProblem: The library cannot be read.
        """
        ...

    async def first_seen(self) -> list[FirstMention]:
        """Return the first mention of every name form in every document.

        Ordered by document id, then position in the text.

        Raises:
            StoreProblem: The library cannot be read.
        """
        ...

    async def quotations(
        self, documents: Collection[DocumentId] | None = None
    ) -> list[DocumentQuotation]:
        """Return the quotations in `documents`, or in all documents.

        Ordered by document id, then position in the text.

        Raises:
            StoreProblem: The library cannot be read.
        """
        ...

    async def facts(
        self,
        about: Collection[FactAbout] = (),
        *,
        documents: Mapping[FactAbout, Collection[DocumentId]] = ...,
        subjects: Mapping[FactAbout, Collection[str]] = ...,
    ) -> list[DocumentFact]:
        """Return the facts of the kinds in `about`, or all facts if it is empty. Of a
        kind in `documents` or `subjects`, only those in these documents or about these
        subjects.

        Ordered by document id, then position in the text. In relation cues and events,
        a `CueParty` is replaced by the name of the speaker, addressee or narrator
        there, if attribution found one; such a cue is verified if all who are replaced
        are.

        Raises:
            StoreProblem: The library cannot be read.
        """
        ...

    async def keepers(self, about: Collection[FactAbout]) -> frozenset[str]:
        """Return the `keeper` of each fact of the kinds in `about`.

        Raises:
            StoreProblem: The library cannot be read.
        """
        ...

    async def search_facts(
        self, words: Sequence[str], *, limit: int
    ) -> list[DocumentFact]:
        """Return at most `limit` facts that contain any of `words`, best match first.

        Words match by their stem. Facts about passages are excluded.

        Raises:
            StoreProblem: The library cannot be read.
        """
        ...

    async def labels(
        self, chunks: Collection[ChunkId] | None = None
    ) -> Mapping[ChunkId, Mapping[str, str]]:
        """Return the labels of `chunks`, such as their content type; None means all
        chunks.

        The result maps chunks to labels by field, a `PassageField` value; chunks
        without labels are missing. A label from a language model replaces one from the
        rules.

        Raises:
            StoreProblem: The library cannot be read.
        """
        ...

    async def appearances(
        self, characters: Collection[str] | None = None
    ) -> list[Appearance]:
        """Return the appearances of `characters`, by name, or of all.

        Ordered by document id, then position in the text.

        Raises:
            StoreProblem: The library cannot be read.
        """
        ...


class BiblePartStore(Protocol):
    """Reads the parts of the story bible that one question needs, and stores its index,
    which is derived from the rest of the library.
    """

    async def content_version(self) -> int:
        """Return a number that is raised whenever documents, facts, the cast or the
        attribution of speakers change; not by questions and answers.

        Raises:
            StoreProblem: The library cannot be read.
        """
        ...

    async def count_facts(self, about: FactAbout) -> list[CountedFact]:
        """Return the facts of one kind without their places, equal ones together.

        Rows are counted without comparing checksums, so that this may decide only which
        facts to read. A row that cannot be decoded counts as verified, without details.

        Raises:
            StoreProblem: The library cannot be read.
        """
        ...

    async def load_index(self, key: str) -> str:
        """Return the text that was saved under `key`; empty if there is none, or if it
        is damaged.

        Raises:
            StoreProblem: The library cannot be read.
        """
        ...

    async def save_index(self, key: str, text: str) -> None:
        """Store `text` under `key` in place of everything saved before.

        Raises:
            StoreProblem: The library cannot be written.
        """
        ...

    async def quotations_of(
        self, speakers: Collection[str], documents: Collection[DocumentId]
    ) -> list[DocumentQuotation]:
        """Return the quotations by any of `speakers` or in any of `documents`.

        Ordered by document id, then position in the text.

        Raises:
            StoreProblem: The library cannot be read.
        """
        ...

    async def appearances_of(
        self, characters: Collection[str], documents: Collection[DocumentId]
    ) -> list[Appearance]:
        """Return the appearances of any of `characters` or in any of `documents`.

        Ordered by document id, then position in the text.

        Raises:
            StoreProblem: The library cannot be read.
        """
        ...


@dataclass(frozen=True, slots=True, eq=False)
class StatedDocument:
    """What one document states about characters, and where it names them.

    `outline` and `text` are None if they are damaged or not stored. `first_seen` and
    `facts`, those about characters, are in text order.
    """

    outline: DocumentOutline | None
    text: DocumentText | None
    first_seen: tuple[FirstMention, ...] = ()
    facts: tuple[DocumentFact, ...] = ()


class StatedStore(Protocol):
    """Reads what contradictions are found in, again and again."""

    async def documents(self) -> Mapping[DocumentId, StatedDocument]:
        """Return what each document states, ordered by document id, all from one point
        in time.

        A document that has not changed since the last call is the same object.

        Raises:
            StoreProblem: The library cannot be read.
        """
        ...


@dataclass(frozen=True, slots=True)
class DocumentRevision:
    """What identifies the stored data of one document.

    `inputs` changes with everything that is read from its file; `attributed` is the
    `revision` of the stored `AttributionResult`, empty if there is none.
    """

    inputs: str
    attributed: str


@dataclass(frozen=True, slots=True)
class AttributionSnapshot:
    """What identifies everything that speaker attribution reads and stores.

    `documents` has every document of the library, ordered by id. `cast` identifies the
    stored cast, empty if there is none. `state` is what `save_state` stored last, empty
    if nothing or if it is damaged.
    """

    documents: Mapping[DocumentId, DocumentRevision]
    cast: str
    state: str


@dataclass(frozen=True, slots=True)
class DocumentEvidence:
    """The evidence of names in one document ingested by pipeline b.

    `evidence` and `noted` are JSON texts: counts of names in story text, and names that
    the author states (people in a note, the point of view in the front matter of story
    text). `narration` is a JSON text with the signs of a first-person narrator, empty
    if none are stored.
    """

    document: DocumentId
    evidence: str
    noted: str
    narration: str


@dataclass(frozen=True, slots=True)
class AttributionInput:
    """Input of speaker attribution for one document ingested by pipeline b.

    `content` is the SHA-256 of its file, in hex; `text` is its canonical text.
    """

    document: DocumentId
    content: str
    text: str
    chapters: tuple[Chapter, ...]


@dataclass(frozen=True, slots=True)
class ChunkSpan:
    """The span of a chunk's own text in its document; it excludes context that is
    repeated from the chunk before.
    """

    chunk: ChunkId
    span: Span


@dataclass(frozen=True, slots=True)
class AttributionResult:
    """Quotations with their speakers, and mentions of characters, of one document.

    `content` is the SHA-256 of its file, in hex. `revision` identifies everything from
    which the result was computed. `appearances` maps each chunk to counts by character
    and role (speaks, hears, present, mentioned). `names` maps each chunk to the name
    words of the characters who speak, hear or are present in it, for search. Both omit
    chunks without any.
    """

    document: DocumentId
    content: str
    revision: str
    quotations: tuple[Quotation, ...]
    mentions: tuple[Mention, ...]
    appearances: Mapping[ChunkId, Mapping[tuple[str, AppearanceRole], int]]
    names: Mapping[ChunkId, str]


class CastStore(Protocol):
    """Stores the cast, and the quotations, mentions and appearances in each
    document.
    """

    async def attribution_snapshot(self) -> AttributionSnapshot:
        """Return what identifies the data of all documents, all from one point in time.

        Takes little time: no text is read.

        Raises:
            StoreProblem: The library cannot be read.
        """
        ...

    async def name_evidence(self) -> list[DocumentEvidence]:
        """Return the evidence of names in every document of pipeline b, ordered by
        document id.

        Raises:
            StoreProblem: The library cannot be read.
        """
        ...

    async def attribution_inputs(
        self, documents: Collection[DocumentId]
    ) -> list[AttributionInput]:
        """Return the attribution inputs of those of `documents` that pipeline b has
        ingested, ordered by document id. Documents with damaged text are left out.

        Raises:
            StoreProblem: The library cannot be read.
        """
        ...

    async def chunk_spans(self, document: DocumentId) -> Sequence[ChunkSpan]:
        """Return the spans of a document's chunks of story text, in text order.

        Raises:
            StoreProblem: The library cannot be read.
        """
        ...

    async def load_cast(self) -> Cast | None:
        """Return the cast that `save_cast` stored; None if it is missing or damaged.

        Raises:
            StoreProblem: The library cannot be read.
        """
        ...

    async def save_cast(self, cast: Cast) -> None:
        """Replace the library's cast.

        Raises:
            LrwrError: The library or its Supabase project cannot be used.
        """
        ...

    async def save_attribution(self, attribution: AttributionResult) -> bool:
        """Replace the stored quotations, mentions and appearances of one document.

        Returns False, and writes nothing, if the document's content is no longer that
        of `attribution`.

        Raises:
            LrwrError: The library or its Supabase project cannot be used.
        """
        ...

    async def save_state(
        self,
        state: str,
        narration: Mapping[DocumentId, str],
        since: AttributionSnapshot,
    ) -> bool:
        """Store the state of a complete attribution, and signs of narrators by
        document, in one transaction.

        Returns False, and writes nothing, if the library differs from `since`. A
        document's signs are deleted when it is ingested again; an empty text in
        `narration` deletes them, too.

        Raises:
            StoreProblem: The library cannot be written.
        """
        ...
