"""Rows of LangSmith's API, built from traces and evaluations.

An evaluation becomes a dataset (the questions, called golden set), a session for each
experiment, a run for each question in it, and feedback for each measure. Their ids are
UUIDs derived from keys that are not sent: sending something twice yields the same ids,
and nobody can guess from an id what it was derived from.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from hashlib import sha256
from typing import TypeAlias
from uuid import UUID, uuid4, uuid5

from lrwr.core.model.text import replace_surrogates
from lrwr.core.model.traces import (
    Experiment,
    ExperimentResult,
    GoldenSet,
    MeasureScore,
    TraceSpan,
    TraceStepKind,
    TraceTexts,
)

LangSmithRow: TypeAlias = dict[str, object]
"""A JSON object of the API."""

THREAD_METADATA_KEY = "thread_id"
"""Metadata key by which LangSmith groups the turns of a thread."""

RESULTS_DIGEST_KEY = "results"
"""Metadata key of a session: the digest of the results that were sent completely."""

FAILED_SCORE_COMMENT = (
    "This could not be evaluated. It counts as failed, not as 0. `lrwr eval show` says"
    " why."
)

_NAMESPACE = UUID("5f1c3c5e-8d1e-4a57-9b5c-0f2b9a6d7e31")
"""UUID namespace of the ids that lrwr derives."""

_ID_CHARS = 8
"""Characters of an id at the end of a name, which make names unique."""


def build_trace_runs(
    trace: TraceSpan, project: str, *, texts: bool
) -> list[LangSmithRow]:
    """Return one run, a row of LangSmith's API, for each span of a trace, parents
    before children.

    `project` is the name of the LangSmith project. Unless `texts`, only names, kinds,
    times, facts (counts, durations and ids) and error classes are included.
    """
    thread = {
        key: value for key, value in trace.facts.items() if key == THREAD_METADATA_KEY
    }
    return list(_build_runs(trace, project, thread, texts=texts))


def _build_runs(
    span: TraceSpan,
    project: str,
    thread: Mapping[str, object],
    *,
    texts: bool,
    parent: LangSmithRow | None = None,
) -> Iterator[LangSmithRow]:
    run_id = str(uuid4())
    order = _dotted_order(span.started, run_id)
    run: LangSmithRow = {
        "id": run_id,
        "trace_id": parent["trace_id"] if parent else run_id,
        "dotted_order": f"{parent['dotted_order']}.{order}" if parent else order,
        "session_name": project,
        "name": span.name,
        "run_type": span.kind.value,
        "start_time": _to_iso(span.started),
        "end_time": _to_iso(span.ended),
        "inputs": select_sendable_texts(span.inputs, texts=texts),
        "outputs": select_sendable_texts(span.outputs, texts=texts),
        "extra": {"metadata": {**_span_metadata(span), **thread}},
    }
    if parent is not None:
        run["parent_run_id"] = parent["id"]
    if span.error is not None:
        message = replace_surrogates(span.error.message) if texts else ""
        run["error"] = f"{span.error.kind}: {message}" if message else span.error.kind
    yield run
    for step in span.steps:
        yield from _build_runs(step, project, thread, texts=texts, parent=run)


def select_sendable_texts(trace_texts: TraceTexts, *, texts: bool) -> dict[str, object]:
    """Return the texts of a trace step by name, with `?` for each lone surrogate.

    JSON cannot encode these. Empty unless `texts`, which says that the user's texts are
    sent.
    """
    if not texts:
        return {}
    return {
        name: replace_surrogates(text)
        if isinstance(text, str)
        else [*map(replace_surrogates, text)]
        for name, text in trace_texts.items()
    }


def compute_dataset_id(golden: GoldenSet, *, texts: bool) -> UUID:
    """Return the id of the dataset of a golden set (the questions of an evaluation) at
    LangSmith.

    It is derived from the set's key, so that equal sets share a dataset. With and
    without `texts`, which says that the user's texts are sent, it is a different one.
    """
    return uuid5(_NAMESPACE, f"{'texts' if texts else 'numbers'}\n{golden.key}")


def build_dataset_row(golden: GoldenSet, project: str, *, texts: bool) -> LangSmithRow:
    """Return the row of a golden set's dataset at LangSmith, without its examples.

    A golden set is the questions of an evaluation. `project` is the name of the
    LangSmith project. Unless `texts`, the set's title is left out.
    """
    dataset_id = str(compute_dataset_id(golden, texts=texts))
    title = golden.title if texts and golden.title else "questions"
    name = replace_surrogates(f"{project}: {title}")
    return {
        "id": dataset_id,
        "name": f"{name} {dataset_id[:_ID_CHARS]}",
        "description": f"{len(golden.examples)} questions of `lrwr eval`.",
        "data_type": "kv",
    }


def build_example_rows(golden: GoldenSet, *, texts: bool) -> dict[str, LangSmithRow]:
    """Return an example, a row of LangSmith's API, for each question of a golden set.

    Keys are the ids of the examples. Unless `texts`, only the question's number and its
    facts are included, none of the user's text.
    """
    dataset = compute_dataset_id(golden, texts=texts)
    return _index_by_id(
        {
            "id": str(_example_id(dataset, example.number)),
            "dataset_id": str(dataset),
            "inputs": {
                "number": example.number,
                **select_sendable_texts(example.inputs, texts=texts),
            },
            "outputs": select_sendable_texts(example.outputs, texts=texts),
            "metadata": dict(example.facts),
        }
        for example in golden.examples
    )


def compute_session_id(experiment: Experiment, dataset: UUID) -> UUID:
    """Return the id of an experiment's session at LangSmith.

    It is derived from the experiment's key and `dataset`, the id of its dataset, so
    that sending it again yields the same id.
    """
    return uuid5(dataset, f"experiment\n{experiment.key}")


def build_session_row(
    experiment: Experiment, dataset: UUID, project: str, started: float
) -> LangSmithRow:
    """Return the row of an experiment's session at LangSmith.

    `dataset` is the id of the experiment's dataset, `project` the name of the LangSmith
    project; `started` is in seconds since 1970.
    """
    session_id = str(compute_session_id(experiment, dataset))
    name = replace_surrogates(f"{project}: {experiment.name}")
    return {
        "id": session_id,
        "name": f"{name} {session_id[:_ID_CHARS]}",
        "description": experiment.description,
        "reference_dataset_id": str(dataset),
        "start_time": _to_iso(started),
        "extra": {"metadata": _experiment_metadata(experiment)},
    }


def build_session_end_row(experiment: Experiment, ended: float) -> LangSmithRow:
    """Return the fields of an experiment's session to change after all its rows were
    sent.

    `ended` is in seconds since 1970. A digest of the results marks the session as
    complete.
    """
    metadata = {
        **_experiment_metadata(experiment),
        RESULTS_DIGEST_KEY: compute_results_digest(experiment),
    }
    return {"end_time": _to_iso(ended), "extra": {"metadata": metadata}}


def compute_results_digest(experiment: Experiment) -> str:
    """Return a digest of an experiment's key and results, as 16 hexadecimal digits."""
    results_json = json.dumps(asdict(experiment)["results"], sort_keys=True)
    return sha256(f"{experiment.key}\n{results_json}".encode()).hexdigest()[:16]


def build_experiment_runs(
    experiment: Experiment, golden: GoldenSet, *, texts: bool, now: float
) -> dict[str, LangSmithRow]:
    """Return a run, a row of LangSmith's API, for each result of an experiment, by run
    id.

    `golden` has the experiment's questions. Each run ends at `now`, in seconds since
    1970, because LangSmith refuses runs that began more than a day ago. So a run
    records how long a question took, but not when. Unless `texts`, none of the user's
    texts are included.
    """
    dataset = compute_dataset_id(golden, texts=texts)
    session = compute_session_id(experiment, dataset)
    examples = {example.number: example for example in golden.examples}

    def build(result: ExperimentResult) -> LangSmithRow:
        run_id = str(_run_id(session, result))
        started = now - max(0.0, result.seconds)
        example = examples[result.number]
        run: LangSmithRow = {
            "id": run_id,
            "trace_id": run_id,
            "dotted_order": _dotted_order(started, run_id),
            "session_id": str(session),
            "reference_example_id": str(_example_id(dataset, result.number)),
            "name": "question",
            "run_type": "chain",
            "start_time": _to_iso(started),
            "end_time": _to_iso(now),
            "inputs": {
                "number": result.number,
                **select_sendable_texts(example.inputs, texts=texts),
            },
            "outputs": dict(result.facts),
            "extra": {"metadata": dict(example.facts)},
        }
        if result.failed:
            run["error"] = FAILED_SCORE_COMMENT
        return run

    return _index_by_id(map(build, experiment.results))


def build_feedback_rows(
    experiment: Experiment, dataset: UUID
) -> dict[str, LangSmithRow]:
    """Return a feedback row for each measure, such as recall, of each result of an
    experiment, by the row's id.

    `dataset` is the id of the experiment's dataset.
    """
    session = compute_session_id(experiment, dataset)
    return _index_by_id(
        _build_feedback(score, _run_id(session, result), session)
        for result in experiment.results
        for score in result.scores
    )


def get_score_and_comment(row: Mapping[str, object]) -> tuple[object, str]:
    """Return the score of a feedback row, None if it has none, and its comment, empty
    if it has none.
    """
    return row.get("score"), str(row.get("comment") or "")


def split_rows_by_size(
    rows: Sequence[LangSmithRow], most: int, most_bytes: int
) -> Iterator[list[LangSmithRow]]:
    """Yield `rows` in their order, in batches of at most `most` rows and `most_bytes`
    of JSON.

    A single row that is larger is a batch of its own.
    """
    batch: list[LangSmithRow] = []
    size = 0
    for row in rows:
        row_size = len(json.dumps(row, ensure_ascii=False).encode()) + 1
        if batch and (len(batch) >= most or size + row_size > most_bytes):
            yield batch
            batch, size = [], 0
        batch.append(row)
        size += row_size
    if batch:
        yield batch


def _build_feedback(score: MeasureScore, run: UUID, session: UUID) -> LangSmithRow:
    row: LangSmithRow = {
        "id": str(uuid5(run, f"measure\n{score.measure}")),
        "run_id": str(run),
        "trace_id": str(run),
        "session_id": str(session),
        "key": score.measure,
        "score": score.value,
        "feedback_source": {"type": "api"},
    }
    if score.value is None:
        row["comment"] = FAILED_SCORE_COMMENT
    return row


def _span_metadata(span: TraceSpan) -> LangSmithRow:
    metadata: LangSmithRow = dict(span.facts)
    if span.kind is TraceStepKind.LLM and "model" in metadata:
        metadata["ls_model_name"] = metadata["model"]  # LangSmith's name for it
    return metadata


def _experiment_metadata(experiment: Experiment) -> LangSmithRow:
    return {
        name: replace_surrogates(value) if isinstance(value, str) else value
        for name, value in experiment.facts.items()
    }


def _example_id(dataset: UUID, number: int) -> UUID:
    return uuid5(dataset, f"question\n{number}")


def _run_id(session: UUID, result: ExperimentResult) -> UUID:
    return uuid5(session, f"question\n{result.number}")


def _index_by_id(rows: Iterable[LangSmithRow]) -> dict[str, LangSmithRow]:
    return {str(row["id"]): row for row in rows}


def _dotted_order(started: float, run_id: str) -> str:
    """Return the key by which LangSmith orders the runs of a trace."""
    return f"{datetime.fromtimestamp(started, UTC):%Y%m%dT%H%M%S%f}Z{run_id}"


def _to_iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()
