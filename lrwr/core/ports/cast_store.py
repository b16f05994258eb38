"""What making the cast reads and writes, once the documents are read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from lrwr.core.model.cast import Cast, Mention, Quotation
from lrwr.core.model.chunks import ChunkId
from lrwr.core.model.documents import Chapter, DocumentId
from lrwr.core.model.text import Span
from lrwr.core.ports.story_store import AppearanceRole


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
