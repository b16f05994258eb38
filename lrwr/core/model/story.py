"""Story order: which chapter comes after which, and how far a reader has read."""

from dataclasses import dataclass

from lrwr.core.model.documents import Chapter, DocumentId, DocumentType


@dataclass(frozen=True, slots=True)
class DocumentOutline:
    """What story order needs to know of a document, and what a list of them shows."""

    id: DocumentId
    type: DocumentType
    title: str
    words: int
    order: float | None
    chapters: tuple[Chapter, ...]


@dataclass(frozen=True, slots=True)
class Horizon:
    """How far the story has been read: a chapter in story order, from 0.

    `scene` counts the scenes of that chapter from 1; None means the whole chapter, 0
    nothing of it but what opens it and shares its number.
    """

    chapter: int
    scene: int | None = None
