"""Books that the user reads: the shelf in the user's data folder, and their libraries."""

import asyncio
import hashlib
import os
import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from lrwr.app.container import Workspace, open_workspace
from lrwr.app.ingestion import IngestLimits, create_processing_service
from lrwr.app.presenters.text import sanitize_line
from lrwr.core.adapters.source.folder import FILE_LIMIT
from lrwr.core.adapters.source.parser import parse_document
from lrwr.core.adapters.source.text import find_sentence_spans
from lrwr.core.model.books import BookOutline
from lrwr.core.model.codec import InvalidData, decode_json, encode_json
from lrwr.core.model.documents import Document, DocumentId
from lrwr.core.model.errors import NotFound, StoreProblem, UnreadableDocument
from lrwr.core.model.text import Span
from lrwr.core.model.untrusted_text import parse_json
from lrwr.core.ports.sources import ManuscriptFile, SourceListing
from lrwr.core.reading.annotations import (
    Annotation,
    export_w3c,
    import_w3c,
)
from lrwr.core.reading.bounded_book import (
    BookChapterStart,
    BoundedBook,
    build_horizon_text,
)
from lrwr.core.settings.library import get_books_folder, write_private_file
from lrwr.core.settings.model import ManuscriptSettings, Settings, VectorSettings
from lrwr.core.settings.model_services import RecordSettings

if TYPE_CHECKING:
    from lrwr.pipeline.report import EmitIngestEvent

StoredT = TypeVar("StoredT")
_TITLE_MARK = re.compile(r"[^\w\s-]")
_RECORD, _POSITION = "book.json", "position.json"
_ANNOTATIONS = "annotations.json"
_MIN_ID_CHARS = 4
_CHAPTER = re.compile(r"ch(?:apter)?\s*\d{1,6}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class BookRecord:
    """A book on the shelf.

    `id` is the SHA-256 of its file, in hex, and `file` where that was when it was last
    named. The book was added at `added`, in seconds since 1970. `document` is its id in the
    book's own library.
    """

    id: str
    file: str
    document: DocumentId
    added: float
    words: int
    outline: BookOutline
    chapters: tuple[BookChapterStart, ...]

    @property
    def title(self) -> str:
        """The title of the book."""
        return self.outline.title


@dataclass(frozen=True, slots=True)
class StoredPosition:
    """How many paragraphs of a book have been read."""

    paragraphs: int = 0


class Bookshelf:
    """The books in `folder`: a folder for each, with its record, position and library.

    The files of the books stay where they are.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def folder_of(self, book: str) -> Path:
        """Return the folder of the book with this id."""
        return self._folder / book

    def books(self) -> list[BookRecord]:
        """Return all books, sorted by title.

        Raises:
            StoreProblem: A record cannot be read.
        """
        files = sorted(self._folder.glob(f"*/{_RECORD}"))
        records = [_load(file, BookRecord) for file in files]
        return sorted(records, key=lambda record: (record.title.casefold(), record.id))

    def find(self, name: str) -> BookRecord:
        """Return the book with this file, also by the file's name alone, the beginning of
        its id, or words of its title.

        Raises:
            NotFound: None or several fit.
        """
        path = Path(name).expanduser()
        if path.is_file():
            return self._find_by_content(path)
        books, words = self.books(), _fold_title(name)
        fits = [
            book
            for book in books
            if len(name) >= _MIN_ID_CHARS and book.id.startswith(name.casefold())
        ]
        fits = fits or [book for book in books if _has_file_name(book, name)]
        fits = fits or [
            book for book in books if words and words in _fold_title(book.title)
        ]
        if len(fits) == 1:
            return fits[0]
        if fits:
            raise NotFound(
                f"{len(fits)} books fit {name!r}",
                hint=f"Use the id: {' or '.join(map(_describe_book, fits))}.",
            )
        raise NotFound(
            f"There is no book {name!r}",
            hint=_explain_unknown_book(name),
        )

    def _find_by_content(self, path: Path) -> BookRecord:
        file = self._folder / hash_book(read_book_file(path)) / _RECORD
        if not file.is_file():
            raise NotFound(
                f"{path} is not among your books",
                hint=f"Add it with `lrwr books add {path}`.",
            )
        return _load(file, BookRecord)

    def has(self, book: str) -> bool:
        """Return whether the book with this id is on the shelf."""
        return (self._folder / book / _RECORD).is_file()

    def store(self, record: BookRecord) -> None:
        """Store the record of a book, whose folder exists.

        Raises:
            StoreProblem: It cannot be written.
        """
        _store(self.folder_of(record.id) / _RECORD, record)

    def position(self, book: str) -> int:
        """Return how many paragraphs of the book with this id have been read.

        Raises:
            StoreProblem: The position cannot be read.
        """
        file = self.folder_of(book) / _POSITION
        return _load(file, StoredPosition).paragraphs if file.is_file() else 0

    def store_position(self, book: str, paragraphs: int) -> None:
        """Store how many paragraphs of the book have been read.

        Raises:
            StoreProblem: It cannot be written.
        """
        _store(self.folder_of(book) / _POSITION, StoredPosition(paragraphs))

    def annotations(self, book: str) -> list[Annotation]:
        """Return the annotations of the book with this id.

        Raises:
            StoreProblem: They cannot be read.
        """
        file = self.folder_of(book) / _ANNOTATIONS
        if not file.is_file():
            return []
        try:
            return import_w3c(parse_json(file.read_text(encoding="utf-8")), file.name)
        except (OSError, ValueError, UnreadableDocument) as error:
            raise StoreProblem(
                f"{file} is damaged or cannot be read",
                hint="Move the file away; export annotations to keep a copy of them.",
            ) from error

    def store_annotations(
        self, record: BookRecord, annotations: Sequence[Annotation], now: float
    ) -> None:
        """Store the annotations of a book as W3C EPUB Annotations, at `now` (seconds).

        Raises:
            StoreProblem: They cannot be written.
        """
        value = export_w3c(annotations, record.outline, now)
        _store(self.folder_of(record.id) / _ANNOTATIONS, value)

    def find_earlier_edition(self, record: BookRecord) -> BookRecord | None:
        """Return the edition of a book that was added last before it and has annotations
        or a position; None without one, or if the new edition has either.

        Editions have the same identifier, or the same title and authors.
        """
        if self._is_begun(record.id):
            return None
        editions = [
            other
            for other in self.books()
            if other.id != record.id
            and _is_same_work(other.outline, record.outline)
            and self._is_begun(other.id)
        ]
        return max(editions, key=lambda other: other.added, default=None)

    def _is_begun(self, book: str) -> bool:
        has_annotations = (self.folder_of(book) / _ANNOTATIONS).is_file()
        return has_annotations or self.position(book) > 0

    def remove(self, book: str) -> None:
        """Delete everything that lrwr has stored about the book with this id.

        Raises:
            StoreProblem: It cannot be deleted.
        """
        try:
            shutil.rmtree(self.folder_of(book))
        except OSError as error:
            raise _store_error(self.folder_of(book), error) from error


def _fold_title(title: str) -> str:
    """Return a title without marks and capitals, as people type it: "childrens"."""
    return " ".join(_TITLE_MARK.sub("", title.casefold()).split())


def _has_file_name(book: BookRecord, name: str) -> bool:
    """Return whether `name` is the name of a book's file, with its ending or without."""
    file = Path(book.file)
    return name.casefold() in (file.name.casefold(), file.stem.casefold())


def _describe_book(book: BookRecord) -> str:
    return f"{book.id[: 2 * _MIN_ID_CHARS]} ({sanitize_line(book.title)}, {Path(book.file).name})"


def _is_same_work(outline: BookOutline, other: BookOutline) -> bool:
    if outline.identifier and outline.identifier == other.identifier:
        return True
    titles = {outline.title.casefold(), other.title.casefold()}
    return len(titles) == 1 and outline.authors == other.authors


def open_bookshelf() -> Bookshelf:
    """Return the shelf in the user's data folder."""
    return Bookshelf(get_books_folder())


def read_book_file(path: Path) -> bytes:
    """Return the bytes of the file of a book.

    Raises:
        NotFound: There is none.
        UnreadableDocument: It cannot be read, or is too large.
    """
    try:
        if path.is_dir():
            raise UnreadableDocument(
                f"{path} cannot be read: it is a folder", hint="Name an EPUB file."
            )
        if path.stat().st_size > FILE_LIMIT:
            raise UnreadableDocument(
                f"{path.name} is larger than {FILE_LIMIT // 1024**2} MB",
                hint="Split it into volumes.",
            )
        return path.read_bytes()
    except FileNotFoundError as error:
        raise NotFound(f"There is no file {path}", hint="Check the path.") from error
    except OSError as error:
        raise UnreadableDocument(
            f"{path.name or path} cannot be read: {error.strerror}",
            hint="Check the file's permissions and the disk.",
        ) from error


def find_book_sentences(text: str) -> list[Span]:
    """Return the spans of the sentences of `text`."""
    return list(find_sentence_spans(text))


def hash_book(content: bytes) -> str:
    """Return the id of a book: the SHA-256 of its file, in hex."""
    return hashlib.sha256(content).hexdigest()


def _explain_unknown_book(name: str) -> str:
    """Return the hint for a book that is not on the shelf, or what opens a chapter."""
    if _CHAPTER.fullmatch(name.strip()):
        return (
            f"`lrwr read` reads e-books. `lrwr open {name.strip()}` opens your manuscript;"
            f" `/read {name.strip()}` in `lrwr chat` shows it."
        )
    absent = "There is no such file either. " * (Path(name).suffix.lower() == ".epub")
    return (
        f"{absent}`lrwr books` lists your books; `lrwr books add FILE.epub` adds one."
    )


def build_book_settings(settings: Settings, folder: Path) -> Settings:
    """Return `settings` for the library of a book in `folder`, which stays on this
    machine.
    """
    return replace(
        settings,
        root=folder,
        state_dir=".lrwr",
        manuscript=ManuscriptSettings(),
        records=RecordSettings(),
        vectors=VectorSettings(),
        is_of_book=True,
    )


@dataclass(frozen=True, slots=True)
class BookSource:
    """The `ManuscriptSource` of a book: its only document, whose bytes are `content`."""

    document: DocumentId
    content: bytes

    async def list(self) -> SourceListing:
        """Return the book as the only file."""
        revision = hash_book(self.content)
        return SourceListing((ManuscriptFile(self.document, revision),), ())

    def covers(self, document: DocumentId) -> bool:
        """Return whether `document` is not this book: then it is gone."""
        return document != self.document

    async def read(self, document: DocumentId) -> tuple[bytes, str]:
        """Return the bytes of the book, and their hash.

        Raises:
            NotFound: `document` is another one.
        """
        if document != self.document:
            raise NotFound(f"There is no document {document}", hint="")
        return self.content, hash_book(self.content)


async def add_book(
    shelf: Bookshelf,
    settings: Settings,
    path: Path,
    *,
    now: float,
    say: Callable[[str], None],
    emit: "EmitIngestEvent" = lambda _: None,
) -> BookRecord:
    """Read the e-book `path` into a library of its own, and put it on the shelf.

    No language model is asked, and nothing is sent. A book that is on the shelf keeps
    its library and position; its file may have another name or place now. `now` is in seconds since 1970.

    Raises:
        NotFound: There is no such file.
        UnreadableDocument: It is no EPUB, or damaged, protected or without text.
        StoreProblem: The library cannot be written.
    """
    content = await asyncio.to_thread(read_book_file, path)
    book = hash_book(content)
    file = await asyncio.to_thread(os.path.realpath, path)
    if shelf.has(book):
        record = replace(shelf.find(book), file=file)
        shelf.store(record)
        return record
    # Imported here: it needs lxml, and a book is added once.
    from lrwr.core.adapters.source.epub import read_epub

    parsed = await asyncio.to_thread(read_epub, content, path.name)
    document = DocumentId(f"{path.stem}.epub")
    folder = shelf.folder_of(book)
    try:
        folder.mkdir(0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise _store_error(folder, error) from error
    await _ingest(build_book_settings(settings, folder), document, content, say, emit)
    story = parse_document(document, content)
    record = BookRecord(
        id=book,
        file=file,
        document=document,
        added=now,
        words=story.words,
        outline=parsed.outline,
        chapters=tuple(_number_chapters(story, parsed.outline)),
    )
    shelf.store(record)
    return record


async def _ingest(
    settings: Settings,
    document: DocumentId,
    content: bytes,
    say: Callable[[str], None],
    emit: "EmitIngestEvent",
) -> None:
    async with open_workspace(settings, say=say) as workspace:
        limits = IngestLimits(source=BookSource(document, content))
        service = create_processing_service(workspace, [], may_ask=False, limits=limits)
        report = await service.process(emit)
        if report.problems:
            problem = report.problems[0]
            raise UnreadableDocument(problem.message, hint=problem.hint)


def _number_chapters(
    story: Document, outline: BookOutline
) -> Sequence[BookChapterStart]:
    """Return the chapters with their story-order numbers, as in the book's library."""
    chapters, count = [], 0
    for chapter in story.chapters:
        count += not chapter.opening
        number = count + 1 if chapter.opening and count else count
        start = outline.find_paragraph(chapter.span.start)
        chapters.append(BookChapterStart(number, chapter.title, start))
    return chapters


async def open_bounded_book(
    workspace: Workspace, record: BookRecord, position: int
) -> BoundedBook:
    """Return the book up to `position` from its library; the file is not needed.

    Raises:
        NotFound: The library lacks the book.
        StoreProblem: The library cannot be read.
    """
    stored = await workspace.passages.text(record.document)
    return BoundedBook(record.outline, record.chapters, stored.text, position)


def select_book(
    settings: Settings, name: str, *, whole: bool
) -> tuple[Settings, str | None]:
    """Return the settings of the library of a book on the shelf, and the reader's
    horizon in it; None with `whole`.

    Raises:
        NotFound: There is no such book.
        StoreProblem: The shelf cannot be read.
    """
    shelf = open_bookshelf()
    record = shelf.find(name)
    book_settings = build_book_settings(settings, shelf.folder_of(record.id))
    if whole:
        return book_settings, None
    # The horizon needs no text.
    position = shelf.position(record.id)
    book = BoundedBook(record.outline, record.chapters, "", position)
    return book_settings, build_horizon_text(book)


def _load(file: Path, kind: type[StoredT]) -> StoredT:
    try:
        return decode_json(file.read_text(encoding="utf-8"), kind)
    except (OSError, UnicodeDecodeError, InvalidData) as error:
        raise StoreProblem(
            f"{file} is damaged or cannot be read",
            hint="Remove the book's folder, and add the book again.",
        ) from error


def _store(file: Path, value: object) -> None:
    try:
        write_private_file(file, encode_json(value))
    except OSError as error:
        raise _store_error(file, error) from error


def _store_error(path: Path, error: OSError) -> StoreProblem:
    return StoreProblem(
        f"{path} cannot be written: {error.strerror}",
        hint="Check the folder's permissions and the disk.",
    )
