"""An ingestion that leaves a trace: its documents, and the stages of each."""

import asyncio
from collections.abc import Callable, Mapping
from types import MappingProxyType

from lrwr.core.model.documents import DocumentId
from lrwr.core.model.events import DocumentFinished, IngestEvent, StageStarted
from lrwr.core.model.jobs import JobStage
from lrwr.core.ports.tracer import (
    TraceError,
    TraceFactValue,
    Tracer,
    TraceSpan,
    TraceStepKind,
    usage_to_facts,
)
from lrwr.pipeline.report import EmitIngestEvent, IngestReport
from lrwr.pipeline.service import DocumentProcessingService

STAGES: Mapping[JobStage, TraceStepKind] = MappingProxyType(
    {JobStage.READ: TraceStepKind.TOOL, JobStage.STORE: TraceStepKind.TOOL}
)
"""What the stages of a document are, besides links of a chain."""

MOST_DOCUMENTS = 100
"""Documents of one ingestion whose stages are traced; the others are counted."""

IngestionClock = Callable[[], float]
"""Tells seconds since 1970."""


class TracedProcessingService(DocumentProcessingService):
    """Reads the manuscript, and has a trace of each reading kept once it is over."""

    _tracer: Tracer | None = None
    _now: IngestionClock | None = None

    def traced(self, tracer: Tracer, now: IngestionClock) -> "TracedProcessingService":
        """Let `tracer` keep what comes from now on."""
        self._tracer, self._now = tracer, now
        return self

    async def process(
        self, emit: EmitIngestEvent, *, dry_run: bool = False, verify: bool = False
    ) -> IngestReport:
        """Bring the library up to date, and say what was done; a dry run has no trace."""
        if dry_run or self._tracer is None or self._now is None:
            return await super().process(emit, dry_run=dry_run, verify=verify)
        heard = IngestionTraceRecorder(self._now, emit)
        try:
            heard.report = await super().process(heard.hear, verify=verify)
        except (Exception, asyncio.CancelledError) as error:
            heard.failed = TraceError(type(error).__name__, str(error))
            raise
        finally:
            self._tracer.keep(heard.trace())
        return heard.report


class IngestionTraceRecorder:
    """What the events of an ingestion tell of it; each is handed on to `emit`."""

    def __init__(self, now: IngestionClock, emit: EmitIngestEvent) -> None:
        self._now = now
        self._emit = emit
        self._began = self._last = now()
        self._open: dict[DocumentId, list[tuple[JobStage, float]]] = {}
        self._over: list[TraceSpan] = []
        self.report: IngestReport | None = None
        self.failed: TraceError | None = None

    def hear(self, event: IngestEvent) -> None:
        """Take in what happens, and hand it on."""
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

    def trace(self) -> TraceSpan:
        """Return the ingestion as it is, all steps ended."""
        for document in list(self._open):
            self._finish(document, "")
        ended = self._now()
        steps, report = self._over, self.report
        if report is not None and report.woven is not None:
            steps = [
                *steps,
                TraceSpan("weaving", TraceStepKind.CHAIN, self._last, ended),
            ]
        return TraceSpan(
            "ingest",
            TraceStepKind.CHAIN,
            self._began,
            ended,
            facts=_counted(report) if report else {},
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


def _counted(report: IngestReport) -> dict[str, TraceFactValue]:
    return {
        "found": report.found,
        "processed": report.processed,
        "unchanged": report.unchanged,
        "forgotten": report.forgotten,
        "problems": len(report.problems),
        "words": report.words,
        "chunks": report.chunks,
        "tokens": report.tokens,
        "embedded": report.embedded,
        "reused": report.reused,
        "model": report.model,
        **usage_to_facts(report.usage),
    }
