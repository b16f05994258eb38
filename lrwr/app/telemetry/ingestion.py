"""Traces of ingestions: the documents, and the stages of each."""

import asyncio
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from lrwr.core.adapters.traces.langsmith import LangSmithTracer
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.jobs import DocumentFinished, IngestEvent, JobStage, StageStarted
from lrwr.core.model.traces import (
    TraceError,
    TraceFactValue,
    TraceSpan,
    TraceStepKind,
    usage_to_facts,
)
from lrwr.pipeline.report import EmitIngestEvent, IngestReport
from lrwr.pipeline.service import DocumentProcessingService

STAGES: Mapping[JobStage, TraceStepKind] = MappingProxyType(
    {JobStage.READ: TraceStepKind.TOOL, JobStage.STORE: TraceStepKind.TOOL}
)
"""Stages of a document with another kind than `CHAIN`."""

MOST_DOCUMENTS = 100
"""Documents of one ingestion with spans of their own; the others are only counted."""


class TracedProcessingService(DocumentProcessingService):
    """Ingests the manuscript, and sends `tracer` a trace of each ingestion at its end.

    `now` returns seconds since 1970. `parts` are further arguments of
    `DocumentProcessingService`.
    """

    def __init__(
        self, tracer: LangSmithTracer, now: Callable[[], float], **parts: Any
    ) -> None:
        super().__init__(**parts)
        self._tracer = tracer
        self._now = now

    async def process(
        self, emit: EmitIngestEvent, *, dry_run: bool = False, verify: bool = False
    ) -> IngestReport:
        """Ingest changed documents, and return the report.

        A trace is sent, unless `dry_run`. Arguments are those of
        `DocumentProcessingService.process`.
        """
        if dry_run:
            return await super().process(emit, dry_run=dry_run, verify=verify)
        recorder = IngestionTraceRecorder(self._now, emit)
        try:
            recorder.report = await super().process(recorder.record, verify=verify)
        except (Exception, asyncio.CancelledError) as error:
            recorder.failed = TraceError(type(error).__name__, str(error))
            raise
        finally:
            self._tracer.send(recorder.to_span())
        return recorder.report


class IngestionTraceRecorder:
    """Builds the trace of one ingestion from its events, and passes them on to `emit`.

    `now` returns seconds since 1970.
    """

    def __init__(self, now: Callable[[], float], emit: EmitIngestEvent) -> None:
        self._now = now
        self._emit = emit
        self._began = self._last = now()
        self._open: dict[DocumentId, list[tuple[JobStage, float]]] = {}
        self._over: list[TraceSpan] = []
        self.report: IngestReport | None = None
        self.failed: TraceError | None = None

    def record(self, event: IngestEvent) -> None:
        """Add an event of the ingestion to the trace, and pass it on."""
        self._last = self._now()
        match event:
            case StageStarted(document, stage):
                stages = self._open.setdefault(document, [])
                if not stages or stages[-1][0] is not stage:
                    stages.append((stage, self._last))
            case DocumentFinished(document, problem):
                self._finish(document, problem)
            case _:
                pass
        self._emit(event)

    def to_span(self) -> TraceSpan:
        """Return the trace of the ingestion: a step for each stage of each document.

        Stages that have not ended end now.
        """
        for document in list(self._open):
            self._finish(document, "")
        ended = self._now()
        steps, report = self._over, self.report
        if report is not None and report.attribution is not None:
            steps = [
                *steps,
                TraceSpan("weaving", TraceStepKind.CHAIN, self._last, ended),
            ]
        return TraceSpan(
            "ingest",
            TraceStepKind.CHAIN,
            self._began,
            ended,
            facts=_report_facts(report) if report else {},
            error=self.failed,
            steps=tuple(steps),
        )

    def _finish(self, document: DocumentId, problem: str) -> None:
        stages = self._open.pop(document, [])
        if len(self._over) >= MOST_DOCUMENTS or not (stages or problem):
            return
        ended = self._now()
        starts = [started for _, started in stages]
        ends = [*starts[1:], ended]
        steps = tuple(
            TraceSpan(stage.value, STAGES.get(stage, TraceStepKind.CHAIN), started, end)
            for (stage, started), end in zip(stages, ends, strict=True)
        )
        document_span = TraceSpan(
            "document",
            TraceStepKind.CHAIN,
            starts[0] if starts else ended,
            ended,
            inputs={"file": document},
            error=TraceError("UnreadableDocument", problem) if problem else None,
            steps=steps,
        )
        self._over.append(document_span)


def _report_facts(report: IngestReport) -> dict[str, TraceFactValue]:
    return {
        "found": report.found,
        "processed": report.processed,
        "unchanged": report.unchanged,
        "forgotten": report.forgotten,
        "missing": len(report.missing),
        "problems": len(report.problems),
        "words": report.words,
        "chunks": report.chunks,
        "tokens": report.tokens,
        "embedded": report.embedded,
        "reused": report.reused,
        "model": report.model,
        **usage_to_facts(report.usage),
    }
