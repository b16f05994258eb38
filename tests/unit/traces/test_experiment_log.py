"""Results of evaluations are stored at LangSmith once, and updated."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import pytest

from lrwr.core.adapters.traces.experiments import LangSmithExperimentLog
from lrwr.core.adapters.traces.http import LangSmithConnection
from lrwr.core.model.traces import (
    Experiment,
    ExperimentResult,
    GoldenExample,
    GoldenSet,
    MeasureScore,
)
from tests.fakes.langsmith_server import KEY, LangSmithServer

SET = GoldenSet(
    "library 1\nquestions 1",
    "the heron novel",
    (GoldenExample(1, {"kind": "fact"}), GoldenExample(2, {"kind": "other"})),
)


def a_result(number: int, mrr: float | None) -> ExperimentResult:
    return ExperimentResult(number, 0.5, {"tokens": 20.0}, (MeasureScore("mrr", mrr),))


A = Experiment("plan 1\nA", "A", "By meaning.", {"lrwr": "1"}, (a_result(1, 0.25),))
B = replace(A, key="plan 1\nB", name="B", results=(a_result(1, 1.0), a_result(2, None)))


@dataclass(frozen=True, slots=True)
class Desk:
    """A log, and what it has kept: figures, how often each."""

    log: LangSmithExperimentLog
    kept: Callable[[], Counter[float | None]]


@pytest.fixture
def desk() -> Iterator[Desk]:
    with LangSmithServer() as server:
        about = LangSmithConnection("book", server.origin, own=True)
        log = LangSmithExperimentLog(about, lambda: KEY)
        rows = server.desk.feedback
        yield Desk(log, lambda: Counter(row["score"] for row in rows.values()))


async def test_each_experiment_is_kept_whole_and_told_of(desk: Desk) -> None:
    told: list[bool] = []
    await desk.log.store(SET, [A, B], lambda: told.append(True))
    assert desk.kept() == {0.25: 1, 1.0: 1, None: 1}
    assert len(told) == 2


async def test_what_is_kept_twice_is_there_once(desk: Desk) -> None:
    name = await desk.log.store(SET, [A, B])
    assert await desk.log.store(SET, [B, A]) == name
    assert desk.kept() == {0.25: 1, 1.0: 1, None: 1}


async def test_what_has_changed_or_come_since_is_brought_up_to_date(desk: Desk) -> None:
    await desk.log.store(SET, [A, B])
    now = replace(A, results=(a_result(1, 0.25), a_result(2, 0.75)))
    then = replace(B, results=(a_result(1, 1.0), a_result(2, 0.5)))
    await desk.log.store(SET, [now, then])
    assert desk.kept() == {0.25: 1, 0.75: 1, 1.0: 1, 0.5: 1}


async def test_another_set_and_another_plan_are_kept_beside(desk: Desk) -> None:
    await desk.log.store(SET, [A])
    await desk.log.store(replace(SET, key="library 2\nquestions 1"), [A])
    await desk.log.store(SET, [replace(A, key="plan 2\nA")])
    assert desk.kept() == {0.25: 3}
