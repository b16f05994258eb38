"""Parses manuscript files: bytes to a `Document` with chapters, scenes and metadata."""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import PurePosixPath
from posixpath import normpath

from lrwr.core.adapters.source.layout import (
    MAX_HEADING_CHARS,
    DocumentLayout,
    HeadingKind,
    derive_title_from_file_name,
    derive_words_from_file_name,
    parse_heading,
)
from lrwr.core.adapters.source.structure import ChapterFinder
from lrwr.core.adapters.source.text import parse_plain_text
from lrwr.core.model.documents import (
    Chapter,
    Document,
    DocumentFormat,
    DocumentId,
    DocumentType,
)
from lrwr.core.model.errors import UnreadableDocument
from lrwr.core.model.text import parse_numeral

_TYPE_NAMES = {
    DocumentType.CHARACTER: "character person people cast",
    DocumentType.SETTING: "setting place location",
    DocumentType.WORLDBUILDING: (
        "worldbuilding world-building world lore rule magic faction"
    ),
    DocumentType.SCENE: "scene chapter prose manuscript draft story prologue epilogue",
}
_FOLDER_NAMES = {
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
    """The fields of a document's front matter that lrwr reads; None or empty if
    missing.

    `order` is the document's position in story order: a lower number comes first.
    `chapter` and `volume` are numbers. `warnings` are sentences about invalid values.
    """

    title: str = ""
    type: DocumentType | None = None
    order: float | None = None
    chapter: int | None = None
    volume: int | None = None
    warnings: tuple[str, ...] = ()


def parse_document_metadata(fields: Mapping[str, str]) -> DocumentMetadata:
    """Return the metadata in the front matter `fields`.

    `fields` maps names in lower case to values as written. An invalid type or order is
    left out and becomes a warning.
    """
    warnings: list[str] = []
    kind = fields.get("type", "").strip()
    document_type = _known_type(kind)
    if kind and document_type is None:
        warnings.append(
            f"The front matter's type {kind[:40]!r} is unknown. Use one of: "
            f"{', '.join(DocumentType)}."
        )
    order = fields.get("order", "")
    position = _parse_order(order)
    if order and position is None:
        warnings.append(f"The front matter's order {order[:40]!r} is not a number.")
    return DocumentMetadata(
        title=" ".join(fields.get("title", "").split())[:MAX_HEADING_CHARS],
        type=document_type,
        order=position,
        chapter=parse_numeral(fields.get("chapter", "")),
        volume=parse_numeral(fields.get("volume", "")),
        warnings=tuple(warnings),
    )


def infer_type_from_folder(path: PurePosixPath) -> DocumentType | None:
    """Return the type of document that the folders of `path` suggest, such as
    `characters/`.

    The innermost folder with such a name decides. None if there is none.
    """
    for folder in reversed(path.parts[:-1]):
        name = re.sub(r"^[\W\d_]+", "", folder.lower()).replace("_", "-")
        for kind, names in _FOLDER_NAMES.items():
            if name in names.split():
                return kind
    return None


def _known_type(word: str) -> DocumentType | None:
    word = re.sub(r"[\s_]+", "-", word.lower())
    for kind, names in _TYPE_NAMES.items():
        if word in names.split() or word.removesuffix("s") in names.split():
            return kind
    return None


def _parse_order(order: str) -> float | None:
    try:
        position = float(order)
    except ValueError:
        return None
    return position if math.isfinite(position) else None


FORMATS_BY_SUFFIX = {
    ".md": DocumentFormat.MARKDOWN,
    ".markdown": DocumentFormat.MARKDOWN,
    ".docx": DocumentFormat.DOCX,
    ".txt": DocumentFormat.TEXT,
    ".epub": DocumentFormat.EPUB,
}
"""File endings that lrwr reads, in lower case."""
_PACKED_FORMATS = (DocumentFormat.DOCX, DocumentFormat.EPUB)
"""Zip files, whose parsers limit their sizes."""
_PARSERS = {
    DocumentFormat.MARKDOWN: ("markdown", "parse_markdown"),
    DocumentFormat.DOCX: ("docx", "parse_docx"),
    DocumentFormat.EPUB: ("epub", "parse_epub"),
    DocumentFormat.TEXT: ("text", "parse_plain_text"),
}
"""Module in `lrwr.core.adapters.source` and function of each format's parser."""
MARKDOWN_SUFFIXES = (".md", ".markdown")
MAX_TEXT_FILE_BYTES = 50 * 1024 * 1024
"""Size of the largest text file that lrwr reads, in bytes."""
_WORD = re.compile(r"\w\S*")


@dataclass(frozen=True, slots=True)
class ManuscriptParser:
    """The `DocumentParser` port; stateless.

    `text_limit` is the size of the largest text file to parse, in bytes; Word files
    and e-books have limits of their own. `find_type` returns the type that the user
    decided for a document, None if there is no decision.
    """

    text_limit: int = MAX_TEXT_FILE_BYTES
    find_type: Callable[[DocumentId], DocumentType | None] | None = None

    def __call__(self, document: DocumentId, content: bytes) -> Document:
        """Parse the bytes of a file into a document; the ending of its id selects the
        format.

        Raises:
            UnreadableDocument: The bytes are not in that format, or too many.
        """
        decided = self.find_type(document) if self.find_type else None
        return parse_document(
            document, content, text_limit=self.text_limit, decided=decided
        )

    def revision(self) -> str:
        """Return the version of the parser; documents are ingested again when it
        changes.
        """
        return "parser-3"


def parse_document(
    document: DocumentId,
    content: bytes,
    *,
    text_limit: int = MAX_TEXT_FILE_BYTES,
    decided: DocumentType | None = None,
) -> Document:
    """Parse the bytes of a file into a document; the ending of its id selects the
    format.

    The same bytes give the same document. `text_limit` is the size of the largest text
    file to parse, in bytes; Word files and e-books have limits of their own. `decided`
    is the type that the user decided; it precedes front matter and folder.

    Raises:
        UnreadableDocument: The bytes are not in that format, or too many.
    """
    path = PurePosixPath(document)
    kind = FORMATS_BY_SUFFIX.get(path.suffix.lower())
    if kind is None:
        raise UnreadableDocument(
            f"{path.name} is not in a format that lrwr reads",
            hint="Save it as .docx or .md.",
        )
    if kind not in _PACKED_FORMATS and len(content) > text_limit:
        raise UnreadableDocument(
            f"{path.name} is larger than {text_limit // 1024**2} MB",
            hint="Split it into a file for each chapter or volume.",
        )
    layout = parse_layout(kind, content, path.name) if content else _empty_layout()
    return _build_document(document, kind, layout, decided)


def parse_layout(kind: DocumentFormat, content: bytes, name: str) -> DocumentLayout:
    """Return the text of a file of the format `kind`, and the positions of its parts.

    `name` is the file's name in error messages.

    Raises:
        UnreadableDocument: The bytes are not in that format.
    """
    # Parsers are imported when a file needs one: commands that only list files start
    # faster without them.
    module, function = _PARSERS[kind]
    parsers = import_module(f"lrwr.core.adapters.source.{module}")
    parse: Callable[[bytes, str], DocumentLayout] = getattr(parsers, function)
    return parse(content, name)


def _empty_layout() -> DocumentLayout:
    return parse_plain_text(b"", "")


def _build_document(
    document: DocumentId,
    kind: DocumentFormat,
    layout: DocumentLayout,
    decided: DocumentType | None,
) -> Document:
    path = PurePosixPath(document)
    document_metadata = parse_document_metadata(layout.fields)
    document_type = (
        decided
        or document_metadata.type
        or infer_type_from_folder(path)
        or DocumentType.SCENE
    )
    if layout.scene_files is not None and document_type is DocumentType.SCENE:
        document_type = DocumentType.WORLDBUILDING  # an index is no story text
    is_story = document_type is DocumentType.SCENE
    sections_count = (
        is_story and document_metadata.chapter is None and not path.stem[:1].isdigit()
    )
    structure = ChapterFinder(layout, sections_count=sections_count)
    chapters = structure.chapters() if is_story else structure.whole()
    title = _title(path, document_metadata, structure, chapters)
    if is_story:
        chapters = _number_chapters(chapters, path, document_metadata)
    return Document(
        id=document,
        format=kind,
        type=document_type,
        title=title,
        text=layout.text,
        lines=layout.lines,
        chapters=_title_only_chapter(chapters, title, is_story=is_story),
        notes=layout.notes,
        order=document_metadata.order,
        words=_count_words(layout.text, chapters),
        warnings=(
            *layout.warnings,
            *document_metadata.warnings,
            *_empty_warning(layout.text),
        ),
        fields=layout.fields,
        scene_files=_resolve_scene_files(path, layout.scene_files),
    )


def _resolve_scene_files(
    path: PurePosixPath, scene_files: tuple[str, ...] | None
) -> tuple[DocumentId, ...] | None:
    if scene_files is None:
        return None
    return tuple(
        DocumentId(normpath(path.parent.joinpath(file).as_posix()))
        for file in scene_files
    )


def _empty_warning(text: str) -> tuple[str, ...]:
    return () if text.strip() else ("The file is empty.",)


def _title(
    path: PurePosixPath,
    document_metadata: DocumentMetadata,
    structure: ChapterFinder,
    chapters: tuple[Chapter, ...],
) -> str:
    """Return the title of the front matter, else the first heading, else the file name.

    The heading of the first of several chapters is not the title of the document.
    """
    if document_metadata.title:
        return document_metadata.title
    first = structure.first_heading()
    if first and first.level <= 1:
        names_part = first.kind is not HeadingKind.OTHER or (
            chapters and first.heading.title == chapters[0].title
        )
        if len(chapters) < 2 or not names_part:
            return first.heading.title
    return derive_title_from_file_name(path.stem)


def _number_chapters(
    chapters: tuple[Chapter, ...],
    path: PurePosixPath,
    document_metadata: DocumentMetadata,
) -> tuple[Chapter, ...]:
    """Return the chapters with numbers from front matter, or from the file name."""
    name = parse_heading(derive_words_from_file_name(path.stem))
    volume = name.volume if name.kind is HeadingKind.CHAPTER else None
    volume = volume if document_metadata.volume is None else document_metadata.volume
    chapters = tuple(
        replace(c, volume=volume) if c.volume is None and not c.opening else c
        for c in chapters
    )
    if len(chapters) != 1:
        return chapters
    only = chapters[0]
    heading = parse_heading(only.title).kind
    if document_metadata.chapter is not None:
        return (replace(only, number=document_metadata.chapter, opening=False),)
    if (
        heading is HeadingKind.OTHER
        and only.number is None
        and name.kind is HeadingKind.OPENING
    ):
        return (replace(only, opening=True, volume=None),)
    says_number = name.kind is HeadingKind.CHAPTER or path.stem[:1].isdigit()
    if only.number is None and not only.opening and says_number:
        return (replace(only, number=name.number),)
    return chapters


def _title_only_chapter(
    chapters: tuple[Chapter, ...], title: str, *, is_story: bool
) -> tuple[Chapter, ...]:
    """Give a document's only chapter the document's title if it has none."""
    if len(chapters) == 1 and (not chapters[0].title or not is_story):
        return (replace(chapters[0], title=title),)
    return chapters


def _count_words(text: str, chapters: tuple[Chapter, ...]) -> int:
    return sum(
        len(_WORD.findall(text, part.start, part.end))
        for chapter in chapters
        for scene in chapter.scenes
        for part in scene.parts
    )
