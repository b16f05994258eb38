"""The reading companion on the reader's side: tools on a book, bounded by the position, and
steps that outlast a stopped process.
"""

import hashlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from lrwr.app.books import BookRecord, open_bookshelf, open_bounded_book
from lrwr.app.container import Workspace
from lrwr.app.presenters.books import describe_position, describe_progress
from lrwr.core.adapters.source.text import find_sentence_spans
from lrwr.core.attribution.answer_sentences import states_silence
from lrwr.core.attribution.citations import strip_answer_citation_marks
from lrwr.core.attribution.claims import CheckedAnswer, check_citations
from lrwr.core.attribution.details import stem_words
from lrwr.core.attribution.sources import StoryContext
from lrwr.core.chat.context.lookups import merge_by_best_rank
from lrwr.core.chat.generation.avatars import ModelAvatar
from lrwr.core.chat.nodes import AvatarAnswer, TurnEventEmitter
from lrwr.core.chat.state import TurnQuestion
from lrwr.core.model.codec import InvalidData, decode_json, encode_json
from lrwr.core.model.documents import Horizon
from lrwr.core.model.errors import NotFound, ServiceUnavailable, StoreProblem
from lrwr.core.model.text import Span
from lrwr.core.model.turns import (
    AnswerSpeaker,
    AnswerToken,
    Citation,
    PassageCited,
    TurnStageStarted,
)
from lrwr.core.ports.models import ChatMessage
from lrwr.core.ports.stores import DocumentText
from lrwr.core.reading.annotations import find_quote
from lrwr.core.reading.bounded_book import BoundedBook, build_horizon_text
from lrwr.core.reading.steps import (
    ReadingPassage,
    ReadingQuestion,
    ReadingStep,
    ReadingTool,
    ToolCall,
    ToolResult,
    build_step_messages,
    number_passages,
)
from lrwr.core.retrieval.search_model import SearchRequest
from lrwr.core.retrieval.story import parse_horizon
from lrwr.core.settings.library import write_private_file

if TYPE_CHECKING:
    from lrwr.core.model.chunks import Passage

SEARCH_PASSAGES = 10
PART_CHARS = 12_000
"""Characters of a part of a chapter."""

BLOCK_CHARS = 600
"""Characters of a passage of a chapter, unless its only paragraph is longer."""

AROUND_PARAGRAPHS = 3
"""Paragraphs before and after a selected passage that are read with it."""

RECENT_PARAGRAPHS = 24
MIN_SHARED_WORDS = 0.5
MAX_RECENT = 3
"""Passages before the position that a search adds, from how many paragraphs, and which
share of the words of a phrasing they have."""

MAX_UNFINISHED = 20
_UNFINISHED = "questions"

FindPassages = Callable[[str, Horizon | None], Awaitable["Sequence[Passage]"]]
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
    def _read_stems(self) -> frozenset[str]:
        return frozenset(stem_words(self._text))

    def describe(self, call: ToolCall) -> str:
        """Return what a call does, for the reader: only with phrasings whose words all
        occur in what has been read, since a model may know the book.
        """
        words = {line: stem_words(line) for line in call.phrasings}
        fitting = [line for line in words if words[line] <= self._read_stems]
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
        spans = find_quote(self._text, passage)
        if not spans:
            raise NotFound(
                "The passage is not in what you have read",
                hint="Give its words as they stand in the book, or leave it out.",
            )
        outline = self._book.outline
        first = outline.find_paragraph(spans[0].start) - AROUND_PARAGRAPHS
        end = outline.find_paragraph(spans[0].end - 1) + AROUND_PARAGRAPHS + 1
        call = ToolCall(ReadingTool.SELECTION)
        return ReadingStep(call, ToolResult(self._read_blocks(first, end)))

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
        later = [c.paragraph for c in chapters if c.paragraph > matches[-1].paragraph]
        end = min((*later, self._book.position))
        parts: list[list[ReadingPassage]] = [[]]
        size = 0
        for block in self._read_blocks(matches[0].paragraph, end):
            if size + len(block.text) > PART_CHARS and parts[-1]:
                parts.append([])
                size = 0
            parts[-1].append(block)
            size += len(block.text)
        if call.part > len(parts):
            return ToolResult(text=f"Chapter {call.chapter} has {len(parts)} parts.")
        text = f"Part {call.part} of {len(parts)} of chapter {call.chapter}, as far as read."
        return ToolResult(tuple(parts[call.part - 1]), text)

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
            f" {chapter.paragraph + 1})"
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


@dataclass(frozen=True, slots=True)
class UnfinishedQuestion:
    """The steps of a question without an answer yet."""

    question: ReadingQuestion
    position: int
    steps: tuple[ReadingStep, ...]


class UnfinishedQuestions:
    """Stores the steps of questions in `folder`, a file for each question, so that a
    question that is asked again after a crash continues where it was.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def load(self, question: ReadingQuestion, position: int) -> list[ReadingStep]:
        """Return the stored steps of the question at this position; empty for none."""
        try:
            text = self._path(question, position).read_text(encoding="utf-8")
            return list(decode_json(text, UnfinishedQuestion).steps)
        except (OSError, UnicodeDecodeError, InvalidData):
            return []  # absent or damaged: the question starts anew, nothing is lost

    def save(
        self, question: ReadingQuestion, position: int, steps: Sequence[ReadingStep]
    ) -> None:
        """Store the steps; the oldest questions beyond `MAX_UNFINISHED` are deleted.

        Raises:
            StoreProblem: They cannot be written.
        """
        unfinished = UnfinishedQuestion(question, position, tuple(steps))
        try:
            self._folder.mkdir(0o700, parents=True, exist_ok=True)
            write_private_file(self._path(question, position), encode_json(unfinished))
            files = sorted(self._folder.glob("*.json"), key=_get_change_time)
            for file in files[:-MAX_UNFINISHED]:
                file.unlink(missing_ok=True)
        except OSError as error:
            raise StoreProblem(
                f"{self._folder} cannot be written: {error.strerror}",
                hint="Check the folder's permissions and the disk.",
            ) from error

    def delete(self, question: ReadingQuestion, position: int) -> None:
        """Delete the steps of a question that is answered."""
        self._path(question, position).unlink(missing_ok=True)

    def _path(self, question: ReadingQuestion, position: int) -> Path:
        key = hashlib.sha256(encode_json((question, position)).encode()).hexdigest()
        return self._folder / f"{key[:32]}.json"


def _get_change_time(file: Path) -> int:
    return file.stat().st_mtime_ns


@dataclass(frozen=True, slots=True)
class ReadingCompanion:
    """Answers questions about a book with steps of a language model; see
    `core.reading.graph`.

    `passage` are the words that the questions are about, empty for none.
    """

    tools: ReadingTools
    record: BookRecord
    text: DocumentText
    position: int
    unfinished: UnfinishedQuestions
    passage: str = ""

    def preview(
        self, question: TurnQuestion, avatar: ModelAvatar
    ) -> Sequence[ChatMessage]:
        """Return the first prompt that `answer` would send.

        Raises:
            NotFound: The passage is not in what has been read.
        """
        asked_question = self._build_question(question)
        return build_step_messages(
            asked_question, self._begin(asked_question), avatar.context_tokens
        )

    async def answer(
        self, avatar: ModelAvatar, question: TurnQuestion, emit: TurnEventEmitter
    ) -> AvatarAnswer:
        """Let the model take its steps, and emit each, then the answer.

        Steps are stored until the answer is complete. Citations are checked as in
        every answer.

        Raises:
            NotFound: The passage is not in what has been read.
            ServiceUnavailable: The model did not answer.
            StoreProblem: The library or the steps cannot be read or written.
        """
        reading_graph = _import_graph()
        asked_question = self._build_question(question)
        steps = self.unfinished.load(asked_question, self.position)
        if steps:
            emit(TurnStageStarted("resume", f"Continuing after step {len(steps)}"))
        steps = steps or self._begin(asked_question)
        graph = reading_graph.compile_reading_graph(
            avatar.chat, avatar.context_tokens, reading_graph.create_checkpointer()
        )
        has_cited = False

        async def run_tool(call: ToolCall) -> ToolResult:
            emit(TurnStageStarted(call.tool, self.tools.describe(call)))
            result = await self.tools.run(call, question.horizon)
            steps.append(ReadingStep(call, result))
            self.unfinished.save(asked_question, self.position, steps)
            return result

        def write(piece: str) -> None:
            nonlocal has_cited
            if not has_cited:
                has_cited = True
                for citation in self._list_citations(steps):
                    emit(PassageCited(citation))
            emit(AnswerToken(piece, AnswerSpeaker.AVATAR))

        start = reading_graph.build_reading_state(asked_question, steps)
        try:
            text = await reading_graph.run_reading_graph(graph, start, run_tool, write)
        except ServiceUnavailable as error:
            raise _keep_steps(error, len(steps)) from error
        self.unfinished.delete(asked_question, self.position)
        return self._check_answer(text, question, steps, avatar.model)

    def _build_question(self, question: TurnQuestion) -> ReadingQuestion:
        text = question.text.removesuffix(f" “{self.passage}”")
        turns = [
            f"Reader: {turn.question}\n"
            f"You: {strip_answer_citation_marks(turn.output.response_text).strip()}"
            for turn in question.history
        ]
        history = "\n".join(filter(None, (question.before, *turns)))
        return ReadingQuestion(text, self.passage, history, self.tools.place)

    def _begin(self, question: ReadingQuestion) -> list[ReadingStep]:
        return [self.tools.select(question.passage)] if question.passage else []

    def _list_citations(self, steps: Sequence[ReadingStep]) -> list[Citation]:
        """Return the passages of the steps as citations; each is verbatim."""
        citations = []
        for passage, number in number_passages(steps).items():
            span = Span(passage.start, passage.end)
            if self.text.text[span.start : span.end] == passage.text:
                lines = self.text.lines.lines_of(span)
                citation = Citation(
                    number,
                    self.record.document,
                    span,
                    lines,
                    passage.text,
                    passage.chapter,
                )
                citations.append(citation)
        return citations

    def _check_answer(
        self,
        text: str,
        question: TurnQuestion,
        steps: Sequence[ReadingStep],
        model: str,
    ) -> AvatarAnswer:
        chapter = question.horizon.chapter if question.horizon else None
        checked: CheckedAnswer = check_citations(
            text,
            self._list_citations(steps),
            find_sentence_spans,
            question=question.text,
            decided=[self.tools.place, *filter(None, (s.result.text for s in steps))],
            story=StoryContext(
                question.cast,
                texts={self.record.document: self.text},
                chapters=frozenset(() if chapter is None else (chapter,)),
                narrators=question.narrators,
            ),
        )
        return AvatarAnswer(
            checked.text,
            checked.citations,
            findings=checked.findings,
            remarks=tuple(moved.remark for moved in checked.moved),
            model=model,
            is_silent=states_silence(checked.text, find_sentence_spans),
        )


def _import_graph() -> ModuleType:
    # Imported when a model answers: importing LangGraph takes longer than a search.
    return import_module("lrwr.core.reading.graph")


def _keep_steps(error: ServiceUnavailable, steps: int) -> ServiceUnavailable:
    """Return the error with a hint that the question can be continued."""
    if not steps:
        return error
    again = "Ask the same question again to continue after the steps so far."
    hint = f"{error.hint} {again}".strip()
    return ServiceUnavailable(str(error), hint=hint, retryable=error.retryable)


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

    async def find(words: str, horizon: Horizon | None) -> "Sequence[Passage]":
        bounded = replace(request, question=words, horizon=horizon or end)
        return (await finder.find(bounded, order)).passages

    return ReadingTools(book, record, text.text, find)


async def open_reading_companion(
    workspace: Workspace, name: str, *, whole: bool, passage: str = ""
) -> ReadingCompanion:
    """Return the companion for a book on the shelf, in the workspace of its library.

    With `whole` the position does not bound what it reads. `passage` are words of the
    book that the questions are about.

    Raises:
        NotFound: There is no such book.
        StoreProblem: The shelf or the library cannot be read.
    """
    shelf = open_bookshelf()
    record = shelf.find(name)
    position = record.outline.length if whole else shelf.position(record.id)
    return ReadingCompanion(
        await open_reading_tools(workspace, record, position),
        record,
        await workspace.passages.text(record.document),
        position,
        UnfinishedQuestions(shelf.folder_of(record.id) / _UNFINISHED),
        " ".join(passage.split()),
    )
