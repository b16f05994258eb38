"""What an ingestion did, counted as it goes."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

from lrwr.core.model.chunks import Chunk, Knowledge, TextHash
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.errors import LrwrError, UnreadableDocument
from lrwr.core.model.jobs import DocumentFinished, IngestEvent
from lrwr.core.model.language_model import Usage
from lrwr.core.ports.sources import SkippedFile
from lrwr.pipeline.speaker_attribution import AttributionSummary

MODEL_SKIPPED_TEXT = "Not all was read by the language model."
"""Begins the remark on documents that wait for a language model."""

EmitIngestEvent = Callable[[IngestEvent], None]


@dataclass(frozen=True, slots=True)
class DocumentProblem:
    """A document that could not be read: what happened, what to try."""

    document: DocumentId
    message: str
    hint: str
    exit_code: int


@dataclass(slots=True)
class IngestReport:
    """What an ingestion did, or with `dry_run` would do.

    `processed` documents were read and stored; of their `chunks`, `embedded` cost a
    run of the model and `reused` did not. `words` are those of the processed
    documents. `usage` is what the language model `model` was asked, or would be. `woven` says
    what became of the cast. `renamed` maps new ids to old ones. `remarks` are sentences for the
    writer. `away` says why those who read elsewhere could not be asked: the `waiting`
    documents are as they were.
    """

    dry_run: bool = False
    found: int = 0
    unchanged: int = 0
    processed: int = 0
    forgotten: int = 0
    words: int = 0
    chunks: int = 0
    tokens: int = 0
    embedded: int = 0
    reused: int = 0
    model: str = ""
    usage: Usage = field(default_factory=Usage)
    woven: AttributionSummary | None = None
    renamed: dict[DocumentId, DocumentId] = field(default_factory=dict)
    skipped: tuple[SkippedFile, ...] = ()
    problems: list[DocumentProblem] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    away: LrwrError | None = None
    waiting: int = 0


class IngestProgress:
    """Counts what has been done, each document once, and lets it be seen."""

    def __init__(self, report: IngestReport, emit: EmitIngestEvent) -> None:
        self._report = report
        self._done: set[DocumentId] = set()
        self.emit = emit

    def learned(self, knowledge: Knowledge) -> None:
        """Count a document that was read and stored."""
        document = knowledge.document
        if not self._is_first(document.id):
            return
        stored_hashes = {chunk.text_hash for chunk in knowledge.chunks} - set(
            knowledge.vectors
        )
        count_knowledge(self._report, knowledge, stored_hashes)
        self._report.remarks += [f"{document.id}: {w}" for w in document.warnings]
        self.emit(DocumentFinished(document.id))

    def stood(self, document: DocumentId) -> None:
        """Count a document that is known as it is."""
        if self._is_first(document):
            self._report.unchanged += 1
            self.emit(DocumentFinished(document))

    def forgot(self, document: DocumentId) -> None:
        """Count a document that is gone."""
        if self._is_first(document):
            self._report.forgotten += 1
            self.emit(DocumentFinished(document))

    def failed(self, document: DocumentId, error: LrwrError) -> None:
        """Note a document that could not be read."""
        if self._is_first(document):
            problem = problem_from_error(document, error)
            self._report.problems.append(problem)
            self.emit(DocumentFinished(document, problem.message, problem.hint))

    def away(self, document: DocumentId, error: LrwrError) -> None:
        """Note a document that waits for whoever reads elsewhere; why, once for all."""
        if self._is_first(document):
            self._report.away = self._report.away or error
            self._report.waiting += 1
            self.emit(DocumentFinished(document))

    def _is_first(self, document: DocumentId) -> bool:
        new = document not in self._done
        self._done.add(document)
        return new

    def words_only(self, error: LrwrError) -> None:
        """Note that something could not be embedded, once for all documents."""
        self._remark(
            f"Found by words alone until the next ingestion. {error.full_text}"
        )

    def unread(self, reason: str) -> None:
        """Note that a language model was not asked everything, once for all."""
        self._remark(f"{MODEL_SKIPPED_TEXT} {reason}")

    def _remark(self, remark: str) -> None:
        if remark not in self._report.remarks:
            self._report.remarks.append(remark)


def describe_files_of_other_machines(documents: Sequence[DocumentId]) -> str:
    """Tell of documents that are let be, since only another machine had their files."""
    others = len(documents) - 1
    more = f" and {others:,} more" if others else ""
    return (
        f"{documents[0]}{more}: read on another machine, and never a file of this one;"
        " kept as it is. `lrwr pull --into FOLDER` brings the files, `lrwr ingest"
        " --forget-missing` forgets what has none here."
    )


def problem_from_error(document: DocumentId, error: LrwrError) -> DocumentProblem:
    """Tell an error as the problem of a document."""
    return DocumentProblem(document, str(error), error.hint, int(error.exit_code))


def wrap_unexpected_error(document: DocumentId, error: Exception) -> UnreadableDocument:
    """Return what the writer is told of an error in one file that nobody foresaw.

    What the error itself says may quote the text, and is left out.
    """
    return UnreadableDocument(
        f"{document} cannot be read: an internal problem, {type(error).__name__}.",
        hint="All other files are read. Please tell lrwr's makers what is special"
        " about this one.",
    )


def count_knowledge(
    report: IngestReport, knowledge: Knowledge, stored_hashes: Collection[TextHash]
) -> None:
    """Count a document's knowledge, whose `stored_hashes` texts need no embedding."""
    missing: dict[TextHash, Chunk] = {
        c.text_hash: c for c in knowledge.chunks if c.text_hash not in stored_hashes
    }
    report.processed += 1
    report.usage += knowledge.usage
    report.words += knowledge.document.words
    report.chunks += len(knowledge.chunks)
    if knowledge.space:
        report.embedded += len(missing)
        report.reused += len(knowledge.chunks) - len(missing)
        report.tokens += sum(chunk.tokens for chunk in missing.values())
