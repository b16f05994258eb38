"""What is heard of turns and ingestions, and becomes their traces."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import pytest

from lrwr.app import container
from lrwr.app.container import Workspace
from lrwr.app.ingestion import create_processing_service
from lrwr.app.telemetry.ingestion import (
    MOST_DOCUMENTS,
    IngestionTraceRecorder,
    TracedProcessingService,
)
from lrwr.app.telemetry.turns import TracedSessionService, TurnTraceRecorder
from lrwr.core.chat.service import TurnRequest
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.errors import NotFound
from lrwr.core.model.jobs import (
    ChunksEmbedded,
    DocumentFinished,
    IngestEvent,
    JobStage,
    StageStarted,
)
from lrwr.core.model.traces import TraceError, TraceSpan, TraceStepKind
from lrwr.core.model.turns import (
    AnswerSpeaker,
    AnswerToken,
    ThreadId,
    TurnEvent,
    TurnStageStarted,
)
from lrwr.core.settings.loader import load_settings
from tests.fakes.tracers import MemoryTracer

ONE, TWO = DocumentId("1.md"), DocumentId("2.md")


class Clock:
    """Time that goes on when a test says so."""

    def __init__(self) -> None:
        self.time = 100.0

    def __call__(self) -> float:
        return self.time


def turn_of(*events: TurnEvent, asking: TurnRequest | None = None) -> TraceSpan:
    """Return what is heard of events that come a second apart."""
    clock = Clock()
    heard = TurnTraceRecorder(asking or TurnRequest("Where is Nell?"), clock)
    for event in events:
        clock.time += 1
        heard.record(event)
    clock.time += 1
    return heard.to_span()


def shape(span: TraceSpan) -> tuple[str, TraceStepKind, float, float]:
    return span.name, span.kind, span.started, span.ended


def test_a_step_ends_where_the_next_begins_but_for_plan_and_first_search() -> None:
    trace = turn_of(
        TurnStageStarted("plan", "Reading the question"),
        TurnStageStarted("search", "Searching the manuscript"),
        TurnStageStarted("search", "Searching the manuscript for “weir”"),
        TurnStageStarted("read", "Reading chapter 2"),
        TurnStageStarted("web", "Searching the web for “weirs”"),
        TurnStageStarted("answer", "Answering"),
        AnswerToken("At the weir.", AnswerSpeaker.AVATAR),
    )
    assert [shape(step) for step in trace.steps] == [
        ("plan", TraceStepKind.CHAIN, 101.0, 103.0),
        ("search", TraceStepKind.RETRIEVER, 102.0, 103.0),
        ("search", TraceStepKind.RETRIEVER, 103.0, 104.0),
        ("read", TraceStepKind.TOOL, 104.0, 105.0),
        ("web", TraceStepKind.TOOL, 105.0, 106.0),
        ("answer", TraceStepKind.CHAIN, 106.0, 108.0),
    ]
    assert shape(trace) == ("turn", TraceStepKind.CHAIN, 100.0, 108.0)
    assert trace.facts["seconds_to_first_word"] == 7.0
    assert trace.facts["state"] == "stopped"


def test_what_a_step_says_is_text_and_never_its_name_or_a_fact() -> None:
    asking = TurnRequest(
        "Where is Nell?", ThreadId("t1"), character="Mags", as_of="weir.md"
    )
    trace = turn_of(TurnStageStarted("search", "Searching for “weir”"), asking=asking)
    assert trace.facts["thread_id"] == "t1"
    assert trace.inputs == {
        "question": "Where is Nell?",
        "character": "Mags",
        "as_of": "weir.md",
    }
    (step,) = trace.steps
    assert step.inputs == {"step": "Searching for “weir”"}
    assert step.facts == {}


def ingestion(*events: IngestEvent) -> TraceSpan:
    """Return what is heard of events that come a second apart."""
    clock, handed = Clock(), list[IngestEvent]()
    heard = IngestionTraceRecorder(clock, handed.append)
    for event in events:
        clock.time += 1
        heard.record(event)
    assert handed == [*events]
    return heard.to_span()


def test_documents_in_work_at_once_have_their_own_stages() -> None:
    trace = ingestion(
        StageStarted(ONE, JobStage.READ),
        StageStarted(TWO, JobStage.READ),
        StageStarted(ONE, JobStage.EMBED),
        StageStarted(ONE, JobStage.EMBED),
        ChunksEmbedded(3),
        StageStarted(ONE, JobStage.STORE),
        DocumentFinished(TWO, "2.md is no text."),
        DocumentFinished(ONE),
    )
    two, one = trace.steps
    assert [shape(step) for step in one.steps] == [
        ("reading", TraceStepKind.TOOL, 101.0, 103.0),
        ("embedding", TraceStepKind.CHAIN, 103.0, 106.0),
        ("storing", TraceStepKind.TOOL, 106.0, 108.0),
    ]
    assert one.inputs == {"file": "1.md"}
    assert shape(two) == ("document", TraceStepKind.CHAIN, 102.0, 107.0)
    assert two.error == TraceError("UnreadableDocument", "2.md is no text.")


def test_of_a_large_library_only_the_first_documents_are_told() -> None:
    names = [DocumentId(f"{n}.md") for n in range(MOST_DOCUMENTS + 5)]
    events: list[IngestEvent] = []
    for name in names:
        events += [StageStarted(name, JobStage.READ), DocumentFinished(name)]
    assert len(ingestion(*events).steps) == MOST_DOCUMENTS


@pytest.fixture
async def workspace(tmp_path: Path) -> AsyncIterator[Workspace]:
    """The services of a book of one page, before it is read."""
    (tmp_path / "1.md").write_text("# One\n\nNell Tallow lit the lamp.\n")
    env = {"LRWR_EMBEDDING_MODEL": "off"}
    settings = load_settings(tmp_path, env, {}, user=tmp_path / "none.toml")
    async with container.open_workspace(settings) as opened:
        yield opened


async def read(workspace: Workspace, tracer: MemoryTracer, *, dry_run: bool) -> None:
    workspace.egress.tracer = tracer
    service = create_processing_service(workspace, [workspace.library.root])
    assert isinstance(service, TracedProcessingService)
    await service.process(lambda _: None, dry_run=dry_run)


async def test_a_reading_is_traced_and_a_dry_run_is_not(workspace: Workspace) -> None:
    tracer = MemoryTracer()
    await read(workspace, tracer, dry_run=True)
    assert tracer.traces == []
    await read(workspace, tracer, dry_run=False)
    (trace,) = tracer.traces
    assert trace.facts["processed"] == 1
    assert [step.name for step in trace.steps] == ["document", "weaving"]


async def test_a_turn_that_is_stopped_or_fails_is_traced_as_such(
    workspace: Workspace,
) -> None:
    tracer = MemoryTracer()
    await read(workspace, MemoryTracer(), dry_run=False)
    workspace.egress.tracer = tracer
    sessions = workspace.sessions()
    assert isinstance(sessions, TracedSessionService)
    async with aclosing(sessions.ask(TurnRequest("Who lit the lamp?"))) as events:
        await anext(events)
        assert tracer.traces == []
    with pytest.raises(NotFound):
        async with aclosing(
            sessions.ask(TurnRequest("Who?", character="Mags Weir"))
        ) as asked:
            await anext(asked)
    stopped, failed = tracer.traces
    assert (stopped.facts["state"], stopped.error) == ("stopped", None)
    assert failed.facts["state"] == "failed"
    assert failed.error is not None
    assert failed.error.kind == "NotFound"
