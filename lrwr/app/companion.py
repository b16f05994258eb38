"""The reading companion on the reader's side: answers from steps of a language model, which
outlast a stopped process.
"""

import hashlib
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from types import ModuleType

from lrwr.app.books import BookRecord, open_bookshelf
from lrwr.app.container import Workspace
from lrwr.app.reading_tools import ReadingTools, open_reading_tools
from lrwr.core.adapters.source.text import find_sentence_spans
from lrwr.core.attribution.answer_sentences import (
    iter_answer_sentences,
    states_silence,
)
from lrwr.core.attribution.citations import (
    drop_unknown_numbers,
    split_unfinished_mark,
    strip_answer_citation_marks,
)
from lrwr.core.attribution.claims import (
    CheckedAnswer,
    check_citations,
)
from lrwr.core.attribution.details import stem_words
from lrwr.core.attribution.names import find_missing_names
from lrwr.core.attribution.sources import StoryContext
from lrwr.core.attribution.uncited_claims import judge_uncited_claims
from lrwr.core.chat.generation.avatars import ModelAvatar
from lrwr.core.chat.nodes import AvatarAnswer, TurnEventEmitter
from lrwr.core.chat.state import TurnQuestion
from lrwr.core.model.chunks import Chunk, ChunkId, ChunkKind, Passage, TextHash
from lrwr.core.model.codec import InvalidData, decode_json, encode_json
from lrwr.core.model.documents import DocumentType
from lrwr.core.model.errors import ServiceUnavailable, StoreProblem
from lrwr.core.model.language_model import CHARACTERS_PER_TOKEN
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
from lrwr.core.reading.bounded_book import BoundedBook
from lrwr.core.reading.steps import (
    ReadingPassage,
    ReadingQuestion,
    ReadingStep,
    ToolCall,
    ToolResult,
    build_step_messages,
    number_passages,
)
from lrwr.core.retrieval.search_model import SearchResult
from lrwr.core.settings.library import write_private_file

MAX_UNFINISHED = 20
_UNFINISHED = "questions"
_ABOUT_PASSAGES = "mean means meant meaning passage sentence paragraph line word joke"
"""Words of a question about a passage that the book need not have."""


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

        async def run_tool(call: ToolCall) -> ToolResult:
            own_words = f"{asked_question.text} {asked_question.passage}"
            emit(TurnStageStarted(call.tool, self.tools.describe(call, own_words)))
            result = await self.tools.run(call, question.horizon)
            steps.append(ReadingStep(call, result))
            self.unfinished.save(asked_question, self.position, steps)
            return result

        answer = _AnswerStream(emit, lambda: self._list_citations(steps))
        start = reading_graph.build_reading_state(asked_question, steps)
        try:
            text = await reading_graph.run_reading_graph(
                graph, start, run_tool, answer.write
            )
        except ServiceUnavailable as error:
            raise _keep_steps(error, len(steps)) from error
        answer.finish()
        self.unfinished.delete(asked_question, self.position)
        return self._check_answer(text, question, steps, avatar.model)

    def add_selection(self, result: SearchResult) -> SearchResult:
        """Return what a search found, with the paragraphs of the selected passage first;
        no word of them counts as missing.

        The search leaves out the passage of the library in which the position is.

        Raises:
            NotFound: The passage is not in what has been read.
        """
        if not self.passage:
            return result
        selected = self.tools.read_selection(self.passage)
        best = max((passage.score for passage in result.passages), default=0.0)
        passages = [self._build_passage(block, best + 1) for block in selected]
        text = " ".join(block.text for block in selected)
        stems = stem_words(text)
        missing = [p for p in result.missing_phrases if not find_quote(text, p)]
        stems |= stem_words(_ABOUT_PASSAGES)
        unknown = [word for word in result.unknown if not stem_words(word) <= stems]
        return replace(
            result,
            passages=(*passages, *result.passages),
            unknown=tuple(unknown),
            missing_phrases=tuple(missing),
        )

    def _build_passage(self, block: ReadingPassage, score: float) -> Passage:
        digest = hashlib.sha256(block.text.encode()).hexdigest()
        span = Span(block.start, block.end)
        chunk = Chunk(
            id=ChunkId(f"selection {block.start}-{block.end}"),
            document=self.record.document,
            ordinal=0,
            span=span,
            lines=self.text.lines.lines_of(span),
            chapter=max(0, (block.chapter or 1) - 1),
            scene=0,
            kind=ChunkKind.PROSE,
            text=block.text,
            text_hash=TextHash(digest),
            tokens=len(block.text) // CHARACTERS_PER_TOKEN,
        )
        return Passage(chunk, DocumentType.SCENE, block.chapter or 0, "", None, score)

    def _build_question(self, question: TurnQuestion) -> ReadingQuestion:
        text = question.text.removesuffix(f" “{self.passage}”")
        turns = [
            f"Reader: {turn.question}\n"
            f"You: {strip_answer_citation_marks(turn.output.response_text).strip()}"
            for turn in question.history
            if turn.output.response_text.strip()  # else it failed or was cancelled
        ]
        passage = self.tools.quote(self.passage) if self.passage else ""
        history = "\n".join(filter(None, (question.before, *turns)))
        return ReadingQuestion(text, passage, history, self.tools.place)

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
        outline = self.record.outline
        # No finding may depend on what comes after the position.
        book = BoundedBook(outline, self.record.chapters, self.text.text, self.position)
        read_text = DocumentText(book.text, self.text.lines)
        shown = [self.tools.place, *filter(None, (s.result.text for s in steps))]
        story = StoryContext(
            question.cast,
            texts={self.record.document: read_text},
            chapters=frozenset(() if chapter is None else (chapter,)),
            narrators=question.narrators,
        )
        checked: CheckedAnswer = check_citations(
            text,
            self._list_citations(steps),
            find_sentence_spans,
            question=question.text,
            decided=shown,
            story=story,
        )
        findings = judge_uncited_claims(
            checked, find_sentence_spans, question.text, shown, story
        )
        source = "\n".join((read_text.text, outline.title, *outline.authors, *shown))
        unread = _describe_unread_names(checked, source, question.cast)
        return AvatarAnswer(
            checked.text,
            _mark_cited_words(checked.text, checked.citations),
            findings=findings,
            remarks=(*checked.remarks, *unread),
            model=model,
            is_silent=states_silence(checked.text, find_sentence_spans),
        )


def _mark_cited_words(text: str, citations: Sequence[Citation]) -> tuple[Citation, ...]:
    """Return the citations of the answer `text` with the words on which it rests as
    `best`.
    """
    sentences = list(iter_answer_sentences(text, find_sentence_spans))
    marked = []
    for citation in citations:
        citing = [s for s in sentences if citation.number in s.numbers]
        quoted = (q.text for sentence in citing for q in sentence.quotations)
        spans = (s for words in quoted for s in find_quote(citation.text, words))
        statements = " ".join(sentence.own_text for sentence in citing)
        best = next(spans, None) or _find_closest_sentence(citation.text, statements)
        marked.append(replace(citation, best=best))
    return tuple(marked)


def _find_closest_sentence(passage: str, statements: str) -> Span | None:
    """Return the sentence of a passage that shares the most words with `statements`, the
    first of several; None if none does.
    """
    stems = stem_words(statements)
    shared = {
        span: len(stems & stem_words(passage[span.start : span.end]))
        for span in find_sentence_spans(passage)
    }
    best = max(shared, key=lambda span: shared[span], default=None)
    return best if best is not None and shared[best] else None


class _AnswerStream:
    """Emits the pieces of an answer, the citations first, without numbers that do not
    exist: as the answer will be stored. `list_citations` returns those that exist.
    """

    def __init__(
        self, emit: TurnEventEmitter, list_citations: Callable[[], Sequence[Citation]]
    ) -> None:
        self._emit, self._list_citations = emit, list_citations
        self._numbers: frozenset[int] | None = None
        self._unfinished_mark = ""

    def write(self, piece: str) -> None:
        if self._numbers is None:
            citations = self._list_citations()
            self._numbers = frozenset(citation.number for citation in citations)
            for citation in citations:
                self._emit(PassageCited(citation))
        text, self._unfinished_mark = split_unfinished_mark(
            self._unfinished_mark + piece
        )
        self._emit_text(drop_unknown_numbers(text, self._numbers))

    def finish(self) -> None:
        self._emit_text(self._unfinished_mark)

    def _emit_text(self, text: str) -> None:
        if text:
            self._emit(AnswerToken(text, AnswerSpeaker.AVATAR))


def _describe_unread_names(
    checked: CheckedAnswer, read_text: str, cast: Sequence[Collection[str]]
) -> tuple[str, ...]:
    """Return a remark on the names in the statements of an answer that `read_text` lacks,
    without those of its findings; empty if there are none.
    """
    statements = "\n".join(
        sentence.claim
        for sentence in iter_answer_sentences(checked.text, find_sentence_spans)
    )
    reported = {word for finding in checked.findings for word in finding.words}
    missing = find_missing_names(statements, read_text, cast)
    names = [name.text for name in missing if name.text not in reported]
    return (f"Not in what you have read: {', '.join(names)}.",) if names else ()


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
