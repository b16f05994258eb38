"""What the writer says a document is: by front matter, or by the folder it is in."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from lrwr.core.adapters.source.headings import parse_numeral
from lrwr.core.model.documents import DocumentType

_TYPES = {
    DocumentType.CHARACTER: "character person people cast",
    DocumentType.SETTING: "setting place location",
    DocumentType.WORLDBUILDING: (
        "worldbuilding world-building world lore rule magic faction"
    ),
    DocumentType.SCENE: "scene chapter prose manuscript draft story prologue epilogue",
}
_FOLDERS = {
    DocumentType.CHARACTER: "character characters people cast persons person",
    DocumentType.SETTING: "setting settings place places location locations",
    DocumentType.WORLDBUILDING: (
        "world worldbuilding world-building lore rule rules magic faction factions"
    ),
    DocumentType.SCENE: (
        "chapter chapters scene scenes manuscript draft drafts book story"
    ),
}


@dataclass(frozen=True, slots=True)
class DocumentMetadata:
    """What front matter says; None where it says nothing."""

    title: str = ""
    type: DocumentType | None = None
    order: float | None = None
    chapter: int | None = None
    volume: int | None = None
    warnings: tuple[str, ...] = ()


def parse_document_metadata(fields: Mapping[str, str]) -> DocumentMetadata:
    """Read the fields that lrwr knows; what it cannot read becomes a warning."""
    warnings: list[str] = []
    kind = fields.get("type", "").strip()
    document_type = _known_type(kind)
    if kind and document_type is None:
        warnings.append(
            f"The front matter's type {kind[:40]!r} is unknown: it is one of "
            f"{', '.join(DocumentType)}."
        )
    order = fields.get("order", "")
    place = _place(order)
    if order and place is None:
        warnings.append(f"The front matter's order {order[:40]!r} is not a number.")
    return DocumentMetadata(
        title=" ".join(fields.get("title", "").split()),
        type=document_type,
        order=place,
        chapter=parse_numeral(fields.get("chapter", "")),
        volume=parse_numeral(fields.get("volume", "")),
        warnings=tuple(warnings),
    )


def infer_type_from_folder(path: PurePosixPath) -> DocumentType | None:
    """Tell a document's type by the nearest folder whose name says one."""
    for folder in reversed(path.parts[:-1]):
        name = re.sub(r"^[\W\d_]+", "", folder.lower()).replace("_", "-")
        for kind, names in _FOLDERS.items():
            if name in names.split():
                return kind
    return None


def _known_type(word: str) -> DocumentType | None:
    word = re.sub(r"[\s_]+", "-", word.lower())
    for kind, names in _TYPES.items():
        if word in names.split() or word.removesuffix("s") in names.split():
            return kind
    return None


def _place(order: str) -> float | None:
    try:
        place = float(order)
    except ValueError:
        return None
    return place if math.isfinite(place) else None
