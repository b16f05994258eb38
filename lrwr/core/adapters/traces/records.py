"""An evaluation as LangSmith's API takes it: a dataset, sessions, runs and feedback.

Every id follows from what it is the id of, and from a key that is not sent: the same
thing has the same id whenever it is sent, and nobody can try out what it is made of.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from hashlib import sha256
from typing import TypeAlias
from uuid import UUID, uuid5

from lrwr.core.adapters.traces.runs import (
    LangSmithRun,
    replace_unsendable_characters,
    select_sendable_texts,
)
from lrwr.core.ports.telemetry import (
    Experiment,
    ExperimentResult,
    GoldenSet,
    MeasureScore,
)

LangSmithRow: TypeAlias = dict[str, object]

_OURS = UUID("5f1c3c5e-8d1e-4a57-9b5c-0f2b9a6d7e31")
"""The name space of ids that lrwr makes."""

_SHOWN = 8
"""Characters of an id that a name ends with, so that no two are alike."""

FAILED_SCORE_COMMENT = (
    "Tried, and not got: it counts as failed, not as 0. `lrwr eval show` says why."
)

RESULTS_DIGEST_KEY = "results"
"""The fact of a session that says of which results all is there."""


def compute_dataset_id(golden: GoldenSet, *, texts: bool) -> UUID:
    """Return the id of a golden set; with texts it is another than without."""
    return uuid5(_OURS, f"{'texts' if texts else 'numbers'}\n{golden.key}")


def build_dataset_row(golden: GoldenSet, project: str, *, texts: bool) -> LangSmithRow:
    """Return a golden set without its examples."""
    dataset_id = compute_dataset_id(golden, texts=texts)
    title = (
        replace_unsendable_characters(golden.title)
        if texts and golden.title
        else "questions"
    )
    return {
        "id": str(dataset_id),
        "name": f"{replace_unsendable_characters(project)}: {title} {str(dataset_id)[:_SHOWN]}",
        "description": f"{len(golden.examples)} questions of `lrwr eval`.",
        "data_type": "kv",
    }


def build_example_rows(golden: GoldenSet, *, texts: bool) -> dict[str, LangSmithRow]:
    """Return the examples of a golden set by id; without texts numbers and kinds."""
    dataset = compute_dataset_id(golden, texts=texts)
    rows: list[LangSmithRow] = [
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
    ]
    return {str(row["id"]): row for row in rows}


def build_session_row(
    experiment: Experiment, dataset: UUID, project: str, started: float
) -> LangSmithRow:
    """Return an experiment without its runs; it begins at `started`."""
    session_id = compute_session_id(experiment, dataset)
    return {
        "id": str(session_id),
        "name": f"{replace_unsendable_characters(project)}: {experiment.name} {str(session_id)[:_SHOWN]}",
        "description": experiment.told,
        "reference_dataset_id": str(dataset),
        "start_time": _moment(started),
        "extra": {"metadata": _facts(experiment)},
    }


def compute_session_id(experiment: Experiment, dataset: UUID) -> UUID:
    """Return the id of an experiment on a dataset."""
    return uuid5(dataset, f"experiment\n{experiment.key}")


def build_session_end_row(experiment: Experiment, ended: float) -> LangSmithRow:
    """Return what an experiment becomes once all of it is there."""
    facts = {
        **_facts(experiment),
        RESULTS_DIGEST_KEY: compute_results_digest(experiment),
    }
    return {"end_time": _moment(ended), "extra": {"metadata": facts}}


def compute_results_digest(experiment: Experiment) -> str:
    """Tell the results of an experiment from any others; they hold no words."""
    results_json = json.dumps(asdict(experiment)["results"], sort_keys=True)
    return sha256(f"{experiment.key}\n{results_json}".encode()).hexdigest()[:16]


def build_experiment_runs(
    experiment: Experiment, golden: GoldenSet, *, texts: bool, now: float
) -> dict[str, LangSmithRun]:
    """Return a run for each result by id, each ending `now`.

    LangSmith takes no run that began more than a day ago, so that a run says how long
    something took, and not when.
    """
    dataset = compute_dataset_id(golden, texts=texts)
    session = compute_session_id(experiment, dataset)
    examples_by_number = {
        golden_example.number: golden_example for golden_example in golden.examples
    }
    runs: list[LangSmithRun] = []
    for result in experiment.results:
        run_id = str(_run_id(session, result))
        began = datetime.fromtimestamp(now - max(0.0, result.seconds), UTC)
        example = examples_by_number[result.number]
        run: LangSmithRun = {
            "id": run_id,
            "trace_id": run_id,
            "dotted_order": f"{began:%Y%m%dT%H%M%S%f}Z{run_id}",
            "session_id": str(session),
            "reference_example_id": str(_example_id(dataset, result.number)),
            "name": "question",
            "run_type": "chain",
            "start_time": began.isoformat(),
            "end_time": _moment(now),
            "inputs": {
                "number": result.number,
                **select_sendable_texts(example.inputs, texts=texts),
            },
            "outputs": dict(result.facts),
            "extra": {"metadata": dict(example.facts)},
        }
        if result.failed:
            run["error"] = FAILED_SCORE_COMMENT
        runs.append(run)
    return {str(run["id"]): run for run in runs}


def build_feedback_rows(
    experiment: Experiment, dataset: UUID
) -> dict[str, LangSmithRow]:
    """Return a judgement for each measure of each result by id."""
    session = compute_session_id(experiment, dataset)
    rows = (
        _judged(score, _run_id(session, result), session)
        for result in experiment.results
        for score in result.scores
    )
    return {str(row["id"]): row for row in rows}


def get_score_and_comment(row: Mapping[str, object]) -> tuple[object, str]:
    """Return what a judgement says: its score and its comment."""
    return row.get("score"), str(row.get("comment") or "")


def split_rows_by_size(
    rows: Sequence[LangSmithRow], most: int, most_bytes: int
) -> Iterator[list[LangSmithRow]]:
    """Yield rows in order, at most `most` and so many bytes of JSON at a time.

    A row that is larger than that stands alone.
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


def _judged(score: MeasureScore, run: UUID, session: UUID) -> LangSmithRow:
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


def _facts(experiment: Experiment) -> LangSmithRow:
    return {
        name: replace_unsendable_characters(value) if isinstance(value, str) else value
        for name, value in experiment.facts.items()
    }


def _example_id(dataset: UUID, number: int) -> UUID:
    return uuid5(dataset, f"question\n{number}")


def _run_id(session: UUID, result: ExperimentResult) -> UUID:
    return uuid5(session, f"question\n{result.number}")


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()
