"""A trace as LangSmith's API takes it: runs, each knowing the runs that it is within."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import TypeAlias
from uuid import uuid4

from lrwr.core.ports.telemetry import TraceSpan, TraceStepKind, TraceTexts

LangSmithRun: TypeAlias = dict[str, object]

THREAD_METADATA_KEY = "thread_id"
"""By this LangSmith puts the turns of a conversation together."""


def build_trace_runs(
    trace: TraceSpan, project: str, *, texts: bool
) -> list[LangSmithRun]:
    """Return the runs of a trace, each after the one that it is within.

    Unless `texts`, nothing goes in but names, kinds, times, facts and kinds of errors.
    """
    thread = (
        {THREAD_METADATA_KEY: trace.facts[THREAD_METADATA_KEY]}
        if THREAD_METADATA_KEY in trace.facts
        else {}
    )
    return list(_runs(trace, project, thread, texts=texts))


def _runs(
    span: TraceSpan,
    project: str,
    thread: Mapping[str, object],
    *,
    texts: bool,
    within: LangSmithRun | None = None,
) -> Iterator[LangSmithRun]:
    run_id = str(uuid4())
    began = datetime.fromtimestamp(span.started, UTC)
    order = f"{began:%Y%m%dT%H%M%S%f}Z{run_id}"
    run: LangSmithRun = {
        "id": run_id,
        "trace_id": within["trace_id"] if within else run_id,
        "dotted_order": f"{within['dotted_order']}.{order}" if within else order,
        "session_name": project,
        "name": span.name,
        "run_type": span.kind.value,
        "start_time": began.isoformat(),
        "end_time": datetime.fromtimestamp(span.ended, UTC).isoformat(),
        "inputs": select_sendable_texts(span.inputs, texts=texts),
        "outputs": select_sendable_texts(span.outputs, texts=texts),
        "extra": {"metadata": {**_told(span), **thread}},
    }
    if within is not None:
        run["parent_run_id"] = within["id"]
    if span.error is not None:
        message = (
            f": {replace_unsendable_characters(span.error.told)}"
            if texts and span.error.told
            else ""
        )
        run["error"] = f"{span.error.kind}{message}"
    yield run
    for step in span.steps:
        yield from _runs(step, project, thread, texts=texts, within=run)


def select_sendable_texts(trace_texts: TraceTexts, *, texts: bool) -> dict[str, object]:
    """Return words as they are sent: none at all unless `texts`."""
    if not texts:
        return {}
    return {
        name: replace_unsendable_characters(text)
        if isinstance(text, str)
        else [*map(replace_unsendable_characters, text)]
        for name, text in trace_texts.items()
    }


def replace_unsendable_characters(text: str) -> str:
    """Return text without the halves of characters that a terminal may hand us."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _told(span: TraceSpan) -> dict[str, object]:
    facts: dict[str, object] = dict(span.facts)
    if span.kind is TraceStepKind.LLM and "model" in facts:
        facts["ls_model_name"] = facts["model"]
    return facts
