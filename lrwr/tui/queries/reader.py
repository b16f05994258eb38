"""Reads the manuscript for the reader: its chapters, their text, and what to mark."""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lrwr.app.continuity import list_findings
from lrwr.app.presenters.contradictions import describe_contradiction
from lrwr.app.presenters.text import sanitize_line, sanitize_text
from lrwr.core.bible.index import BibleParts
from lrwr.core.bible.values import SceneSummary
from lrwr.core.model.codec import InvalidData, decode_json, encode_json
from lrwr.core.model.documents import DocumentId, Scene
from lrwr.core.model.errors import NotFound
from lrwr.core.model.text import Span, format_chapter_title
from lrwr.core.model.turns import Citation
from lrwr.core.ports.stores import DocumentText
from lrwr.core.retrieval.freshness import FreshnessService
from lrwr.core.retrieval.story import StoryOrder, parse_horizon
from lrwr.core.settings.library import READER_FILE_NAME, write_private_file
from lrwr.tui.queries.passages import find_story_point, require_ingested

if TYPE_CHECKING:
    from lrwr.app.container import Workspace

_LINE_SUFFIX = re.compile(r"(?P<file>.+):(?P<line>\d+)")
_QUOTES = {"'": "['’‘]", '"': '["“”]', "’": "['’]", "“": '["“]', "”": '["”]'}


@dataclass(frozen=True, slots=True)
class ReaderPart:
    """What the reader shows at once: a chapter of the story, or a note.

    It is at `span` of `document`. `scenes` are in text order; a note has none. `chapter`
    is its number in story order, None for a note. `title` is its heading, empty for
    none; `name` is how lists show it, such as "Chapter 3 “Ebb”".
    """

    document: DocumentId
    span: Span
    name: str
    title: str
    scenes: tuple[Scene, ...] = ()
    chapter: int | None = None

    def find_scene(self, offset: int) -> int:
        """Return the index of the scene at `offset` of the document; 0 before all."""
        started = [
            n for n, scene in enumerate(self.scenes) if scene.span.start <= offset
        ]
        return started[-1] if started else 0


@dataclass(frozen=True, slots=True)
class ReaderPosition:
    """A position in the manuscript: a character offset in the text of `document`."""

    document: DocumentId
    offset: int


@dataclass(frozen=True, slots=True)
class ReaderFinding:
    """A passage that contradicts another one, at `span`; `text` is what contradicts."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class ReaderContents:
    """All parts of the manuscript, the story's chapters first, then the notes.

    `position` is where to begin.
    """

    parts: tuple[ReaderPart, ...]
    position: ReaderPosition

    def find_part(self, position: ReaderPosition) -> int:
        """Return the index of the part with `position`.

        If no part has it, that of the document's last part before it, else 0.
        """
        before = [
            number
            for number, part in enumerate(self.parts)
            if part.document == position.document and part.span.start <= position.offset
        ]
        same = (n for n, p in enumerate(self.parts) if p.document == position.document)
        return before[-1] if before else next(same, 0)


async def load_reader_contents(
    workspace: "Workspace", start: ReaderPosition | str
) -> ReaderContents:
    """Return the parts of the manuscript.

    `start` is where to begin: a position, or what the user typed, such as "ch3:s2",
    "chapters/03.md" or "chapters/03.md:15"; empty for the stored position, else for the
    first chapter.

    Raises:
        NotFound: No manuscript was ingested, or `start` does not exist.
    """
    require_ingested(workspace)
    await workspace.require_text()
    order = await workspace.finder().story_order()
    parts = (*_list_chapters(order), *_list_notes(order))
    if isinstance(start, str):
        start = await _locate(workspace, start.strip(), order, parts)
    return ReaderContents(parts, start)


def _list_chapters(order: StoryOrder) -> list[ReaderPart]:
    return [
        ReaderPart(
            document,
            chapter.span,
            _name_chapter(number, chapter.title, is_opening=chapter.opening),
            chapter.title,
            chapter.scenes,
            number,
        )
        for document, chapter, number in order.iter_chapters()
    ]


def _name_chapter(number: int, title: str, *, is_opening: bool) -> str:
    if is_opening:
        before = f"Before chapter {number or 1}"
        return f"{before} “{title}”" if title else before
    return f"Chapter {number}{format_chapter_title(number, title)}"


def _list_notes(order: StoryOrder) -> list[ReaderPart]:
    notes = [o for o in order.outlines.values() if o.id not in order.numbers]
    return [
        # The end of a note is the end of its text, whatever its length.
        ReaderPart(note.id, Span(0, 2**62), note.title or note.id, note.title)
        for note in sorted(notes, key=lambda note: note.id)
    ]


async def _locate(
    workspace: "Workspace", words: str, order: StoryOrder, parts: Sequence[ReaderPart]
) -> ReaderPosition:
    if not words:
        if not parts:
            raise NotFound("The manuscript has no text", hint="Press Ctrl+L.")
        stored = _load_position(workspace)
        if stored is not None and stored.document in order.outlines:
            return stored
        chapters = (
            ReaderPosition(document, chapter.span.start)
            for document, chapter, _ in order.iter_chapters()
            if not chapter.opening
        )
        return next(chapters, ReaderPosition(parts[0].document, parts[0].span.start))
    match = _LINE_SUFFIX.fullmatch(words)
    document = DocumentId(match["file"] if match else words)
    if document in order.outlines:
        line = int(match["line"]) if match else 1
        text = await workspace.passages.text(document)
        return ReaderPosition(document, find_line_start(text, line))
    point = find_story_point(parse_horizon(words, order), order)
    return ReaderPosition(*point)


def _load_position(workspace: "Workspace") -> ReaderPosition | None:
    """Return where the reader was closed last; None if that is not known."""
    with suppress(OSError, InvalidData):
        content = (workspace.library.state_dir / READER_FILE_NAME).read_bytes()
        return decode_json(content, ReaderPosition)
    return None


async def save_reader_position(
    workspace: "Workspace", position: ReaderPosition
) -> None:
    """Store where the reader was closed; in a library that cannot be written, nothing."""
    with suppress(OSError):
        file = workspace.library.state_dir / READER_FILE_NAME
        write_private_file(file, encode_json(position))


def find_line_start(text: DocumentText, line: int) -> int:
    """Return the offset at which `line`, counted from 1, starts; the nearest if none."""
    index = text.lines
    numbers = index.numbers or range(1, len(index.starts) + 1)
    pairs = zip(index.starts, numbers, strict=True)
    starts = [start for start, number in pairs if number <= line]
    return starts[-1] if starts else 0


async def load_reader_text(
    workspace: "Workspace", document: DocumentId
) -> DocumentText:
    """Return the text of a document as it was ingested.

    Raises:
        NotFound: The document is not in the library.
    """
    return await workspace.passages.text(document)


async def load_scene_summaries(
    workspace: "Workspace", document: DocumentId
) -> tuple[SceneSummary, ...]:
    """Return the scenes of a document with who is present, in text order."""
    parts = BibleParts(documents=frozenset({document}))
    bible = await workspace.bible().read_parts(parts)
    return tuple(scene for scene in bible.scenes if scene.document == document)


async def load_name_pattern(
    workspace: "Workspace", name: str
) -> "re.Pattern[str] | None":
    """Return a pattern of all names of the character `name`; None if there is none.

    It also matches the names of others, without its groups, so that "John" is not found
    in "John Dashwood"; `match_spans` leaves these out. A name that several have counts
    for nobody.
    """
    forms: dict[str, set[str]] = {}
    for profile in (await workspace.bible().names()).characters:
        for form in (profile.name, *(alias.name for alias in profile.aliases)):
            forms.setdefault(form, set()).add(profile.name)
    if name not in {owner for owners in forms.values() for owner in owners}:
        return None
    longest = sorted(filter(None, forms), key=lambda form: (-len(form), form))
    parts = (
        f"({re.escape(form)})" if forms[form] == {name} else re.escape(form)
        for form in longest
    )
    return re.compile(rf"(?<!\w)(?:{'|'.join(parts)})(?!\w)")


def compile_words_pattern(words: str) -> re.Pattern[str]:
    """Return a pattern of `words` that ignores case, line ends and kinds of quotes."""
    parts = [
        "".join(_QUOTES.get(letter, re.escape(letter)) for letter in word)
        for word in words.split()
    ]
    return re.compile(r"\s+".join(parts), re.IGNORECASE)


async def load_reader_findings(
    workspace: "Workspace",
) -> Mapping[DocumentId, tuple[ReaderFinding, ...]]:
    """Return the contradictions that `lrwr check` reports, by document.

    Those that the user marked as intended are left out. A finding is listed with each
    of its passages, in text order.

    Raises:
        LrwrError: The library or the canon cannot be read.
    """
    findings: dict[DocumentId, list[ReaderFinding]] = {}
    for contradiction in await list_findings(workspace):
        if contradiction.intended:
            continue
        text = sanitize_text(sanitize_line(describe_contradiction(contradiction)))
        sides = (contradiction.canon, contradiction.found)
        for evidence in (passage for side in sides for passage in side.evidence):
            findings.setdefault(evidence.document, []).extend(
                ReaderFinding(span, text) for span in evidence.spans
            )
    return {
        document: tuple(sorted(rows, key=lambda finding: finding.span))
        for document, rows in findings.items()
    }


async def find_next_match(
    workspace: "Workspace",
    parts: Sequence[ReaderPart],
    pattern: re.Pattern[str],
    at: tuple[int, int],
    *,
    forward: bool,
) -> tuple[int, Span] | None:
    """Return the next match of `pattern`: the index of its part, and its span.

    `at` is the index of a part and an offset; matches that begin after the offset
    count, or before it if not `forward`. At the end of the manuscript the search goes
    on at its other end. None if nothing matches.
    """
    here, offset = at
    for step in range(len(parts) + 1):
        number = (here + (step if forward else -step)) % len(parts)
        part = parts[number]
        text = (await workspace.passages.text(part.document)).text
        spans = match_spans(pattern, text, part.span)
        if step == 0:
            spans = [
                span
                for span in spans
                if (span.start > offset if forward else span.start < offset)
            ]
        if spans:
            return number, spans[0 if forward else -1]
    return None


def match_spans(pattern: re.Pattern[str], text: str, within: Span) -> list[Span]:
    """Return the spans of the matches of `pattern` in `text` that lie in `within`.

    If it has groups, only matches of one count.
    """
    end = min(within.end, len(text))
    return [
        Span(*match.span())
        for match in pattern.finditer(text, within.start, end)
        if match.lastindex or not pattern.groups
    ]


async def locate_cited_position(
    workspace: "Workspace", citation: Citation
) -> ReaderPosition:
    """Return the position of a cited passage in the current text.

    If the passage is gone, it is the former one.

    Raises:
        LrwrError: The library cannot be read.
    """
    (anchor,) = await FreshnessService(workspace.passages).anchor([citation])
    if anchor.now is not None:
        return ReaderPosition(anchor.now.document, anchor.now.span.start)
    return ReaderPosition(citation.document, citation.span.start)
