"""Ingestion report: counts, problems and remarks, updated as documents finish."""

import asyncio
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

from lrwr.core.model.chunks import Chunk, Knowledge, TextHash
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.errors import LrwrError, UnreadableDocument
from lrwr.core.model.jobs import DocumentFinished, IngestEvent
from lrwr.core.model.language_model import Usage
from lrwr.core.ports.sources import (
    DocumentParser,
    ManuscriptSource,
    SkipCause,
    SkippedFile,
)
from lrwr.pipeline.changes import ManuscriptScan
from lrwr.pipeline.recipes import Recipe, RecipeTools
from lrwr.pipeline.scan import describe_post_documents
from lrwr.pipeline.speaker_attribution import AttributionSummary

MODEL_SKIPPED_TEXT = "The language model has not analysed all documents."
"""First sentence of the remark on documents that wait for a language model."""

EmitIngestEvent = Callable[[IngestEvent], None]


@dataclass(frozen=True, slots=True)
class DocumentProblem:
    """A document that could not be read, with the message, hint and exit code of the
    error.
    """

    document: DocumentId
    message: str
    hint: str
    exit_code: int


@dataclass(slots=True)
class IngestReport:
    """What an ingestion did, or with `dry_run` would do.

    `found` files are in the manuscript; `forgotten` documents were deleted from the
    library. `processed` documents were read and stored. Of their `chunks`, `embedded`
    got a new vector and `reused` had one. `words` counts the words of the processed
    documents, `tokens` those of the embedded chunks. `usage` is the real or estimated
    usage of the language model `model`. `attribution` is the result of speaker
    attribution, None if it did not run. `renamed` maps new ids to old ones. `remarks`
    are sentences for the user. `away` is the error of an unreachable remote runner;
    `waiting` counts the documents that were left unchanged because of it. `missing`
    documents have no file and were not deleted, because they are too many. `deleted`
    are the forgotten documents, without those that were renamed.
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
    attribution: AttributionSummary | None = None
    renamed: dict[DocumentId, DocumentId] = field(default_factory=dict)
    skipped: tuple[SkippedFile, ...] = ()
    problems: list[DocumentProblem] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    away: LrwrError | None = None
    waiting: int = 0
    missing: tuple[DocumentId, ...] = ()
    deleted: list[DocumentId] = field(default_factory=list)

    @property
    def has_silent_model(self) -> bool:
        """Whether a language model was asked, and failed to answer every call."""
        is_asked = bool(self.usage.calls) and not self.dry_run
        return is_asked and self.usage.failed == self.usage.calls


class IngestProgress:
    """Updates an ingestion report and emits an event for each finished document.

    A document is counted once, by its first result. `vanished` are the stored documents
    whose files were deleted during the ingestion.
    """

    def __init__(self, report: IngestReport, emit: EmitIngestEvent) -> None:
        self._report = report
        self._done: set[DocumentId] = set()
        self.emit = emit
        self.vanished: set[DocumentId] = set()

    def count_processed(self, knowledge: Knowledge) -> None:
        """Count a document that was processed and stored, with its words, chunks and
        tokens.
        """
        document = knowledge.document
        if not self._is_first(document.id):
            return
        stored_hashes = {chunk.text_hash for chunk in knowledge.chunks} - set(
            knowledge.vectors
        )
        count_knowledge(self._report, knowledge, stored_hashes)
        self._report.remarks += [f"{document.id}: {w}" for w in document.warnings]
        self.emit(DocumentFinished(document.id, words=document.words))

    def count_unchanged(self, document: DocumentId) -> None:
        """Count a document that was already up to date."""
        if self._is_first(document):
            self._report.unchanged += 1
            self.emit(DocumentFinished(document))

    def count_deleted(self, document: DocumentId) -> None:
        """Count a document that was deleted from the library."""
        if self._is_first(document):
            self._report.forgotten += 1
            if document not in self._report.renamed.values():
                self._report.deleted.append(document)
            self.emit(DocumentFinished(document))

    def record_missing(self) -> None:
        """Add the vanished documents to the missing ones of the report."""
        missing = {*self._report.missing, *self.vanished}
        self._report.missing = tuple(sorted(missing))

    def record_failure(self, document: DocumentId, error: LrwrError) -> None:
        """Add a document that could not be read, with its error, to the problems of the
        report.
        """
        if self._is_first(document):
            problem = problem_from_error(document, error)
            self._report.problems.append(problem)
            self.emit(DocumentFinished(document, problem.message))

    def record_waiting(self, document: DocumentId, error: LrwrError) -> None:
        """Record a document that waits for an unreachable remote runner.

        Of several errors, only the first one is stored in the report.
        """
        if self._is_first(document):
            self._report.away = self._report.away or error
            self._report.waiting += 1
            self.emit(DocumentFinished(document))

    def _is_first(self, document: DocumentId) -> bool:
        new = document not in self._done
        self._done.add(document)
        return new

    def remark_without_vectors(self, error: LrwrError) -> None:
        """Remark, once per report, that some documents have no vectors because of
        `error`.
        """
        self._remark(f"Keyword search only until the next ingest. {error.full_text}")

    def remark_not_analysed(self, reason: str) -> None:
        """Remark, once per report, that a language model did not analyse some
        documents.

        `reason` is a sentence that says why.
        """
        self._remark(f"{MODEL_SKIPPED_TEXT} {reason}")

    def _remark(self, remark: str) -> None:
        if remark not in self._report.remarks:
            self._report.remarks.append(remark)


def describe_scan(scan: ManuscriptScan) -> list[str]:
    """Return remarks about conflict copies, about documents that never had a file on
    this machine, and about new documents in a folder called `posts`.
    """
    others = scan.changes.never_here
    ingested = {version.id for version in scan.seen}
    new = [document for document in scan.changes.changed if document not in ingested]
    remarks = (
        describe_files_of_other_machines(others) if others else "",
        describe_conflict_copies(scan.listing.skipped),
        describe_post_documents(new),
    )
    return [remark for remark in remarks if remark]


def describe_files_of_other_machines(documents: Sequence[DocumentId]) -> str:
    """Return a remark about `documents`, which were ingested on another machine and
    have no file on this one; at least one.
    """
    others = len(documents) - 1
    more = f" and {others:,} more" if others else ""
    return (
        f"{documents[0]}{more}: not changed, because another machine ingested them and"
        " the files are not on this machine. Run `lrwr pull --into FOLDER` to download the files, or"
        " `lrwr ingest --forget-missing` to remove the documents from the library."
    )


def describe_documents_outside(documents: Sequence[DocumentId]) -> str:
    """Return a remark about `documents`, at least one, that are in no folder of the
    manuscript any more.
    """
    others = len(documents) - 1
    more = f" and {others:,} more" if others else ""
    return (
        f"{documents[0]}{more}: no longer in a folder of the manuscript; left unchanged."
        " Run `lrwr ingest --forget-missing` to remove them from the library."
    )


def describe_conflict_copies(skipped_files: Sequence[SkippedFile]) -> str:
    """Return a remark about the conflict copies among `skipped_files`; empty if there
    are none.
    """
    copies = [f for f in skipped_files if f.cause is SkipCause.CONFLICT_COPY]
    if not copies:
        return ""
    others = len(copies) - 1
    if not others:
        return f"{copies[0].path} was skipped: it {copies[0].reason}."
    return (
        f"{copies[0].path} and {others:,} more were skipped: they look like copies of"
        " other documents, made by a sync program or by hand. Merge what differs and"
        " delete them; `lrwr status` lists them."
    )


def problem_from_error(document: DocumentId, error: LrwrError) -> DocumentProblem:
    """Return the message, hint and exit code of an error as the problem of a
    document.
    """
    return DocumentProblem(document, str(error), error.hint, int(error.exit_code))


def wrap_unexpected_error(document: DocumentId, error: Exception) -> UnreadableDocument:
    """Return a user-facing error for an unexpected exception in one file.

    Includes only the exception's class: its message may quote the manuscript.
    """
    return UnreadableDocument(
        f"{document} cannot be read because of an internal error:"
        f" {type(error).__name__}",
        hint="Report this as a bug. All other files were processed.",
    )


def count_knowledge(
    report: IngestReport, knowledge: Knowledge, stored_hashes: Collection[TextHash]
) -> None:
    """Add the words, chunks and tokens of a document to the report.

    Texts in `stored_hashes` have a stored vector and count as reused.
    """
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


async def estimate_ingestion(
    documents: Sequence[DocumentId],
    source: ManuscriptSource,
    parse: DocumentParser,
    recipe: Recipe,
    tools: RecipeTools,
    report: IngestReport,
) -> None:
    """Add what ingesting `documents` would take to `report`; store and send nothing.

    Added are words, chunks, tokens to embed and the usage of the language model.
    Documents that cannot be read are added as problems.
    """
    for document in documents:
        try:
            content, _ = await source.read(document)
            parsed = await asyncio.to_thread(parse, document, content)
        except LrwrError as error:
            report.problems.append(problem_from_error(document, error))
            continue
        knowledge = await recipe.draft(parsed, tools)
        report.usage += await recipe.estimate(knowledge)
        texts = {chunk.text_hash for chunk in knowledge.chunks}
        stored_hashes = texts
        if tools.embedder is not None:
            stored_hashes = await tools.known(knowledge.space, texts)
        count_knowledge(report, knowledge, stored_hashes)
