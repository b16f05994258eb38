"""Tools of the reading companion on a book, bounded by the position."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import cached_property

from lrwr.app.books import BookRecord, open_bookshelf, open_bounded_book
from lrwr.app.container import Workspace
from lrwr.app.presenters.books import describe_position, describe_progress
from lrwr.core.attribution.details import stem_words
from lrwr.core.chat.context.lookups import merge_by_best_rank
from lrwr.core.model.chunks import Passage
from lrwr.core.model.documents import Horizon
from lrwr.core.model.errors import NotFound
from lrwr.core.model.text import Span
from lrwr.core.ports.stores import PassageStore
from lrwr.core.reading.annotations import find_typed_words
from lrwr.core.reading.bounded_book import BoundedBook, build_horizon_text
from lrwr.core.reading.steps import (
    ReadingPassage,
    ReadingStep,
    ReadingTool,
    ToolCall,
    ToolResult,
)
from lrwr.core.retrieval.search_model import SearchRequest
from lrwr.core.retrieval.story import parse_horizon

SEARCH_PASSAGES = 10
PART_CHARS = 12_000
"""Characters of a part of a chapter."""

BLOCK_CHARS = 600
"""Characters of a passage of a chapter, unless its only paragraph is longer."""

AROUND_PARAGRAPHS = 8
"""Paragraphs before a selected passage, and after it up to the position, that are read
with it."""

RECENT_PARAGRAPHS = 24
MIN_SHARED_WORDS = 0.5
MAX_RECENT = 3
"""Passages before the position that a search adds, from how many paragraphs, and which
share of the words of a phrasing they have."""

FindPassages = Callable[[str, Horizon | None], Awaitable[Sequence[Passage]]]
"""Searches the library of the book up to a horizon; returns passages, best first."""


class ReadingTools:
    """Runs the tools of the companion on the part of `book` that has been read.

    `find` searches the library of the book.
    """

    def __init__(
        self, book: BoundedBook, record: BookRecord, text: str, find: FindPassages
    ) -> None:
        self._book, self._record = book, record
        self._text, self._find = text[: book.end], find

    @property
    def place(self) -> str:
        """How far the reader is: title, chapter, paragraph and share."""
        return describe_position(self._book)

    @cached_property
    def _read_stems(self) -> list[frozenset[str]]:
        """The stems of the words of each paragraph that has been read."""
        paragraphs = self._book.outline.paragraphs[: self._book.position]
        return [stem_words(self._text[p.span.start : p.span.end]) for p in paragraphs]

    def describe(self, call: ToolCall, own_words: str = "") -> str:
        """Return what a call does, for the reader: only with phrasings whose words stand
        together in a paragraph that has been read, or in `own_words`, the reader's.

        A model may know the book: words that have been read apart from each other may
        tell a later event. A chapter that has not been read is looked for, not read.
        """
        begun = {chapter.number for chapter in self._book.chapters()}
        if call.tool is ReadingTool.READ_CHAPTER and call.chapter not in begun:
            return f"Looking for chapter {call.chapter} in what you have read"
        texts = (*self._read_stems, stem_words(own_words))
        words = {line: stem_words(line) for line in call.phrasings}
        fitting = [line for line in words if any(words[line] <= t for t in texts)]
        return call.describe(fitting)

    async def run(self, call: ToolCall, horizon: Horizon | None) -> ToolResult:
        """Return the result of a call; nothing after the position is in it.

        Raises:
            StoreProblem: The library cannot be read.
        """
        match call.tool:
            case ReadingTool.SEARCH:
                return ToolResult(await self._search(call.phrasings, horizon))
            case ReadingTool.READ_CHAPTER:
                return self._read_chapter(call)
            case ReadingTool.CURRENT_PAGE:
                page = self._book.page()
                first = page[0].index if page else 0
                return ToolResult(self._read_blocks(first, self._book.position))
            case ReadingTool.TABLE_OF_CONTENTS:
                return ToolResult(text=self._list_contents())
            case _:
                return ToolResult(text=self._describe_book())

    def select(self, passage: str) -> ReadingStep:
        """Return a step with what stands around a selected passage.

        Raises:
            NotFound: The passage is not in what has been read.
        """
        first, end = self._find_paragraphs(passage)
        blocks = self._read_blocks(first - AROUND_PARAGRAPHS, end + AROUND_PARAGRAPHS)
        return ReadingStep(ToolCall(ReadingTool.SELECTION), ToolResult(blocks))

    def read_selection(self, passage: str) -> tuple[ReadingPassage, ...]:
        """Return the paragraphs of a selected passage, up to the position.

        Raises:
            NotFound: The passage is not in what has been read.
        """
        return self._read_blocks(*self._find_paragraphs(passage))

    def quote(self, passage: str) -> str:
        """Return a selected passage as it stands in the book: with its capitals.

        Raises:
            NotFound: The passage is not in what has been read.
        """
        span = self._find_span(passage)
        return self._text[span.start : span.end]

    def _find_paragraphs(self, passage: str) -> tuple[int, int]:
        outline, span = self._book.outline, self._find_span(passage)
        first = outline.find_paragraph(span.start)
        return first, outline.find_paragraph(span.end - 1) + 1

    def _find_span(self, passage: str) -> Span:
        spans = find_typed_words(self._text, passage)
        if not spans:
            raise NotFound(
                "The passage is not in what you have read",
                hint="Give its words as they stand in the book, or leave it out.",
            )
        return spans[0]

    async def _search(
        self, phrasings: Sequence[str], horizon: Horizon | None
    ) -> tuple[ReadingPassage, ...]:
        rankings = [await self._find(words, horizon) for words in phrasings]
        passages = [
            self._build_passage(
                passage.chunk.span.start, passage.chunk.span.end, passage.chapter
            )
            for passage in merge_by_best_rank(*rankings)
            if passage.chunk.document == self._record.document
            and passage.chunk.span.start < self._book.end
        ]
        passages = passages[:SEARCH_PASSAGES]
        recent = [
            block
            for block in self._find_recent(phrasings)
            if not any(p.start <= block.start < p.end for p in passages)
        ]
        return (*recent, *passages)

    def _find_recent(self, phrasings: Sequence[str]) -> list[ReadingPassage]:
        """Return passages just before the position that share words with a phrasing.

        A search leaves out the passage of the library in which the position is.
        """
        end = self._book.position
        blocks = self._read_blocks(end - RECENT_PARAGRAPHS, end)
        targets = [stems for words in phrasings if (stems := stem_words(words))]

        def measure(block: ReadingPassage) -> float:
            stems = stem_words(block.text)
            return max((len(w & stems) / len(w) for w in targets), default=0.0)

        scores = {block: measure(block) for block in blocks}
        fitting = [block for block in blocks if scores[block] >= MIN_SHARED_WORDS]
        return sorted(fitting, key=lambda block: -scores[block])[:MAX_RECENT]

    def _read_chapter(self, call: ToolCall) -> ToolResult:
        chapters = self._book.chapters()
        matches = [c for c in chapters if c.number == call.chapter]
        if not matches:
            return ToolResult(text=f"What has been read has no chapter {call.chapter}.")
        parts = self._split_chapter(matches[0].paragraph, matches[-1].paragraph)
        listed = self._describe_parts(parts)
        if call.part > len(parts):
            text = f"Chapter {call.chapter} has {len(parts)} parts{listed}."
            return ToolResult(text=text)
        text = (
            f"Part {call.part} of {len(parts)} of chapter {call.chapter}, as far as"
            f" read{listed}."
        )
        return ToolResult(tuple(parts[call.part - 1]), text)

    def _split_chapter(self, first: int, last: int) -> list[list[ReadingPassage]]:
        """Return the passages of a chapter up to the position, in parts; it begins at the
        paragraph `first`, and its last section at `last`.
        """
        later = [c.paragraph for c in self._book.chapters() if c.paragraph > last]
        end = min((*later, self._book.position))
        parts: list[list[ReadingPassage]] = [[]]
        size = 0
        for block in self._read_blocks(first, end):
            if size + len(block.text) > PART_CHARS and parts[-1]:
                parts.append([])
                size = 0
            parts[-1].append(block)
            size += len(block.text)
        return parts

    def _describe_parts(self, parts: Sequence[Sequence[ReadingPassage]]) -> str:
        """Return the paragraphs of each part, such as ": part 1 is paragraphs 5 to 60";
        empty for a single part.
        """
        ranges = [
            f"part {number} is paragraphs {part[0].paragraph} to"
            f" {self._book.outline.find_paragraph(part[-1].end - 1) + 1}"
            for number, part in enumerate(parts, 1)
            if len(parts) > 1
        ]
        return f": {', '.join(ranges)}" if ranges else ""

    def _read_blocks(self, first: int, end: int) -> tuple[ReadingPassage, ...]:
        """Return neighbouring paragraphs as passages of about `BLOCK_CHARS`."""
        spans: list[Span] = []
        for paragraph in self._book.paragraphs(first, end):
            span = self._book.outline.paragraphs[paragraph.index].span
            last = spans[-1] if spans else None
            if last is not None and span.end - last.start <= BLOCK_CHARS:
                spans[-1] = Span(last.start, span.end)
            else:
                spans.append(span)
        return tuple(
            self._build_passage(span.start, span.end, self._find_chapter(span.start))
            for span in spans
        )

    def _find_chapter(self, offset: int) -> int | None:
        paragraph = self._book.outline.find_paragraph(offset)
        begun = [c.number for c in self._book.chapters() if c.paragraph <= paragraph]
        return begun[-1] if begun else None

    def _build_passage(
        self, start: int, end: int, chapter: int | None
    ) -> ReadingPassage:
        end = min(end, self._book.end)
        paragraph = self._book.outline.find_paragraph(start) + 1
        return ReadingPassage(start, end, self._text[start:end], chapter, paragraph)

    def _list_contents(self) -> str:
        lines = [
            f"chapter {chapter.number}: {chapter.title} (from paragraph"
            f" {chapter.paragraph + 1}"
            f"{self._describe_parts(self._split_chapter(*2 * (chapter.paragraph,)))})"
            for chapter in self._book.chapters()
        ]
        lines.append("Later chapters are not shown.")
        return "\n".join(lines)

    def _describe_book(self) -> str:
        outline, book = self._book.outline, self._book
        share = describe_progress(book.position, outline.length)
        lines = (
            f"title: {outline.title}",
            f"authors: {', '.join(outline.authors) or 'unknown'}",
            f"language: {outline.language or 'unknown'}",
            f"read: {book.position} of {outline.length} paragraphs ({share})",
        )
        return "\n".join(lines)


async def open_reading_tools(
    workspace: Workspace, record: BookRecord, position: int
) -> ReadingTools:
    """Return the tools on the first `position` paragraphs of a book, in the workspace of
    its library.

    Raises:
        StoreProblem: The library cannot be read.
    """
    book = await open_bounded_book(workspace, record, position)
    text = await workspace.passages.text(record.document)
    finder, order = workspace.finder(), await workspace.finder().story_order()
    request = SearchRequest("", workspace.settings.pipeline, SEARCH_PASSAGES)
    end = parse_horizon(build_horizon_text(book), order)

    async def find(words: str, horizon: Horizon | None) -> Sequence[Passage]:
        bounded = replace(request, question=words, horizon=horizon or end)
        return (await finder.find(bounded, order)).passages

    return ReadingTools(book, record, text.text, find)


async def describe_unfinished_matches(
    passages: PassageStore, name: str, words: str
) -> tuple[str, ...]:
    """Return a remark on the paragraphs up to the position of a book that contain `words`
    verbatim though a search finds no passage: its end has not been read. Empty without
    any.

    Raises:
        NotFound: There is no such book.
        StoreProblem: The shelf or the library cannot be read.
    """
    shelf = open_bookshelf()
    record = shelf.find(name)
    stored = await passages.text(record.document)
    position = shelf.position(record.id)
    book = BoundedBook(record.outline, record.chapters, stored.text, position)
    numbers = [
        str(paragraph.index + 1)
        for paragraph in book.paragraphs(0, position)
        if find_typed_words(paragraph.text, words)
    ]
    if not numbers:
        return ()
    noun = "paragraph" if len(numbers) == 1 else "paragraphs"
    return (
        f"“{words}” is in {noun} {', '.join(numbers)} of what you have read. A search"
        " shows passages that you have read to their end.",
    )
