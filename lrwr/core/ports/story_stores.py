"""What is known of the story: who is in it, what they say, what the text says."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from lrwr.core.model.cast import Cast, Mention, Quotation
from lrwr.core.model.chunks import ChunkId
from lrwr.core.model.documents import Chapter, DocumentId
from lrwr.core.model.facts import Fact, FactAbout
from lrwr.core.model.text import Span


class AppearanceRole(StrEnum):
    """What a character is to a passage."""

    SPEAKS = "speaks"
    HEARS = "hears"
    PRESENT = "present"
    MENTIONED = "mentioned"
    """Named in somebody's words only."""


@dataclass(frozen=True, slots=True)
class Appearance:
    """A character in a passage: `count` words or utterances of that role there.

    `ordinal` is the passage's own, counted in its document from 0.
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
    """Where the text has a form of a character's name first in one document."""

    character: str
    alias: str
    document: DocumentId
    span: Span
    mentions: int


@dataclass(frozen=True, slots=True)
class DocumentQuotation:
    """A quotation of one document."""

    document: DocumentId
    quotation: Quotation


@dataclass(frozen=True, slots=True)
class DocumentFact:
    """A fact of one document."""

    document: DocumentId
    fact: Fact


class StoryStore(Protocol):
    """What reading the story's knowledge needs; nothing here is in story order."""

    async def cast(self) -> Cast:
        """Return everyone in the story; an empty cast before the first ingestion."""
        ...

    async def first_seen(self) -> list[FirstMention]:
        """Return every form of every name once a document, by document and place."""
        ...

    async def quotations(self, speaker: str | None = None) -> list[DocumentQuotation]:
        """Return what is said, or what one character says, by document and place."""
        ...

    async def facts(self, about: Collection[FactAbout] = ()) -> list[DocumentFact]:
        """Return facts about these kinds of things, or all, by document and place."""
        ...

    async def search_facts(
        self, words: Sequence[str], *, limit: int
    ) -> list[DocumentFact]:
        """Return at most `limit` facts that hold any of `words`, best first.

        Words match by their stem; facts about passages are left out.
        """
        ...

    async def labels(
        self, chunks: Collection[ChunkId] | None = None
    ) -> Mapping[ChunkId, Mapping[str, str]]:
        """Return what each chunk is, by `PassageField`; a model outranks the rules.

        None asks for every chunk that has been labelled.
        """
        ...

    async def appearances(
        self,
        characters: Collection[str] | None = None,
        chunks: Collection[ChunkId] | None = None,
    ) -> list[Appearance]:
        """Return who appears where, bounded by either; by document and place."""
        ...


@dataclass(frozen=True, slots=True)
class AttributionInput:
    """A document that pipeline b has read at one moment: what it says, also of names.

    `content` is the SHA-256 of its file. `woven` names what its quotations and
    appearances were made from last, empty if never.
    """

    document: DocumentId
    content: str
    text: str
    chapters: tuple[Chapter, ...]
    evidence: str
    noted: str
    woven: str


@dataclass(frozen=True, slots=True)
class ChunkSpan:
    """Where a chunk of the story stands: its core, and the whole that is indexed."""

    chunk: ChunkId
    span: Span


@dataclass(frozen=True, slots=True)
class AttributionResult:
    """Who says what in a document, and who is in which of its chunks.

    `appearances` count characters by role; `names` are the words that a chunk is also
    found by. Both are keyed by chunk; chunks without any are left out.
    """

    document: DocumentId
    content: str
    revision: str
    quotations: tuple[Quotation, ...]
    mentions: tuple[Mention, ...]
    appearances: Mapping[ChunkId, Mapping[tuple[str, AppearanceRole], int]]
    names: Mapping[ChunkId, str]


class CastStore(Protocol):
    """The cast, made of what every document says of names."""

    async def strands(self) -> list[AttributionInput]:
        """Return every document that pipeline b has read, ordered by id."""
        ...

    async def places(self, document: DocumentId) -> Sequence[ChunkSpan]:
        """Return the document's chunks of the story's own words, in order."""
        ...

    async def keep_cast(self, cast: Cast) -> None:
        """Make `cast` the cast of the library."""
        ...

    async def keep_woven(self, woven: AttributionResult) -> bool:
        """Replace what was woven of a document.

        Returns False, and writes nothing, when the document says something else by
        now than `woven.content`.
        """
        ...
