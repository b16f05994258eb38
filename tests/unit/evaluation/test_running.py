"""Runs go on where they were stopped, and nothing is measured twice."""

import asyncio
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

import pytest

from lrwr.core.model.errors import SettingsProblem, StoreProblem
from lrwr.core.model.language_model import Usage
from lrwr.pipeline.evaluation.questions import QuestionKind
from lrwr.pipeline.evaluation.runner import (
    EvalRunner,
    RunEstimate,
    RunEvent,
    RunProgress,
    RunSetup,
    RunStart,
    build_eval_plan,
)
from lrwr.pipeline.evaluation.runs import (
    OUTCOMES,
    EvalRun,
    list_eval_runs,
    load_eval_run,
)
from tests.fakes.arms import SetArm, SetMeasure, a_plan, asked, means_of
from tests.fakes.evaluation_process import evaluate, two_arms
from tests.fakes.processes import ROOT

NOW = 1_800_000_000.0
PRICES = {"a-model": 0.25}
QUESTIONS = asked("q1", "q2", "q3")


def runner(folder: Path, means: RunSetup, **changes: str) -> EvalRunner:
    return EvalRunner(folder, a_plan(means, QUESTIONS, **changes), means, lambda: NOW)


async def ran(runner: EvalRunner) -> list[RunEvent]:
    async with aclosing(runner.run()) as events:
        return [event async for event in events]


async def run_of(folder: Path, means: RunSetup, **changes: str) -> EvalRun:
    began = (await ran(runner(folder, means, **changes)))[0]
    assert isinstance(began, RunStart)
    return load_eval_run(folder, began.run)


def estimate(runner: EvalRunner) -> RunEstimate:
    return runner.estimate(lambda usage, name: usage.calls * PRICES[name])


class Held:
    """A lock that another process holds, or nobody."""

    def __init__(self, *, by_another: bool) -> None:
        self.by_another = by_another
        self.steps: list[str] = []

    def acquire(self) -> bool:
        self.steps.append("acquire")
        return not self.by_another

    def release(self) -> None:
        self.steps.append("release")


async def test_every_question_goes_through_every_arm_and_is_kept(
    tmp_path: Path,
) -> None:
    measure = SetMeasure(found={"mrr": 0.5})
    events = await ran(
        runner(tmp_path, means_of([SetArm("A"), SetArm("B", recipe="b")], measure))
    )
    assert events[0] == RunStart(list_eval_runs(tmp_path)[0].id, 6, 0, 0)
    measured = [event for event in events[1:] if isinstance(event, RunProgress)]
    assert [event.done for event in measured] == [1, 2, 3, 4, 5, 6]
    assert measure.asked == [(a, q.id) for q in QUESTIONS for a in ("A", "B")]
    (run,) = list_eval_runs(tmp_path)
    assert run.complete
    assert {outcome.figures["mrr"] for outcome in run.outcomes} == {0.5}
    assert {outcome.kind for outcome in run.outcomes} == {QuestionKind.OTHER}


async def test_a_second_run_measures_nothing_and_says_so(tmp_path: Path) -> None:
    await run_of(tmp_path, means_of([SetArm("A")]))
    arm, measure = SetArm("A"), SetMeasure()
    again = runner(tmp_path, means_of([arm], measure))
    assert estimate(again).reused == 3
    run = await run_of(tmp_path, means_of([arm], measure))
    first = list_eval_runs(tmp_path)[-1]
    assert (run.reused, run.part_count, measure.asked, arm.asked) == (3, 3, [], [])
    assert run.outcomes == first.outcomes
    assert {line.first for line in run.lines} == {first.id}


@pytest.mark.parametrize("changed", ["library", "arm", "measure", "question"])
async def test_what_depends_on_something_else_is_measured_anew(
    tmp_path: Path, changed: str
) -> None:
    await run_of(tmp_path, means_of([SetArm("A")]))
    measure = SetMeasure(recipe="measure 2" if changed == "measure" else "measure 1")
    arm = SetArm("A", recipe="new" if changed == "arm" else "set")
    means = means_of([arm], measure)
    questions = [replace(q, as_of="ch1") for q in QUESTIONS]
    plan = a_plan(
        means,
        questions if changed == "question" else QUESTIONS,
        library="book 2" if changed == "library" else "book 1",
    )
    await ran(EvalRunner(tmp_path, plan, means, lambda: NOW))
    assert len(measure.asked) == 3


async def test_what_a_question_is_called_is_no_part_of_it(tmp_path: Path) -> None:
    await run_of(tmp_path, means_of([SetArm("A")]))
    measure = SetMeasure()
    means = means_of([SetArm("other")], measure)
    renamed = [replace(q, id=f"new {q.id}", made="a quotation") for q in QUESTIONS]
    await ran(EvalRunner(tmp_path, a_plan(means, renamed), means, lambda: NOW))
    assert measure.asked == []


async def test_arms_that_do_the_same_are_asked_once(tmp_path: Path) -> None:
    measure = SetMeasure()
    run = await run_of(tmp_path, means_of([SetArm("B"), SetArm("+ all")], measure))
    assert [arm for arm, _ in measure.asked] == ["B"] * 3
    assert len(run.outcomes) == 6


async def test_a_failure_is_told_and_stops_nothing_else(tmp_path: Path) -> None:
    measure = SetMeasure(found={"mrr": 1.0, "seconds": 0.1})
    arms = [SetArm("A", broken=frozenset({"q2"})), SetArm("B", recipe="b")]
    run = await run_of(tmp_path, means_of(arms, measure))
    failed = {(o.arm, o.question): o.failed for o in run.outcomes if o.failed}
    why = "A cannot do q2"
    assert failed == {("A", "q2"): {"mrr": why, "seconds": why}}
    assert sum(bool(o.figures) for o in run.outcomes) == 5


async def test_what_failed_is_tried_again_by_the_next_run(tmp_path: Path) -> None:
    await run_of(
        tmp_path, means_of([SetArm("A")], SetMeasure(broken=frozenset({"q3"})))
    )
    measure = SetMeasure()
    run = await run_of(tmp_path, means_of([SetArm("A")], measure))
    assert measure.asked == [("A", "q3")]
    assert (run.reused, [o.failed for o in run.outcomes]) == (2, [{}, {}, {}])


async def test_a_single_try_of_a_judge_that_failed_is_a_result(tmp_path: Path) -> None:
    failed = {"faithfulness#2": "It is no JSON."}
    first = SetMeasure(found={"faithfulness": 1.0}, failed=failed)
    await run_of(tmp_path, means_of([SetArm("A")], first))
    again = SetMeasure()
    run = await run_of(tmp_path, means_of([SetArm("A")], again))
    assert again.asked == []
    assert [o.failed for o in run.outcomes] == [failed] * 3


async def test_what_is_no_number_has_failed(tmp_path: Path) -> None:
    found = {"faithfulness": float("nan"), "mrr": 1.0}
    run = await run_of(tmp_path, means_of([SetArm("A")], SetMeasure(found=found)))
    assert {**run.outcomes[0].figures} == {"mrr": 1.0}
    assert {**run.outcomes[0].failed} == {"faithfulness": "The result is not a number."}


async def test_a_further_measure_is_added_without_searching_figures_again(
    tmp_path: Path,
) -> None:
    await run_of(tmp_path, means_of([SetArm("A")], SetMeasure()))
    search, judge = SetMeasure(), SetMeasure("judge", {"faithfulness": 0.75})
    run = await run_of(tmp_path, means_of([SetArm("A")], search, judge))
    assert (search.asked, len(judge.asked)) == ([], 3)
    assert {**run.outcomes[0].figures} == {"mrr": 1.0, "faithfulness": 0.75}


async def test_what_could_exceed_the_budget_is_not_begun(tmp_path: Path) -> None:
    judge = SetMeasure("judge", {"faithfulness": 1.0, "dollars": 0.3}, usage=Usage(1))
    means = means_of([SetArm("A")], SetMeasure(), judge, budget=0.5)
    run = await run_of(tmp_path, replace(means, price=lambda usage, model: 0.3))
    assert len(judge.asked) == 1
    assert "$0.50" in run.outcomes[1].failed["faithfulness"]


async def test_when_the_budget_is_spent_the_rest_is_searched_and_not_judged(
    tmp_path: Path,
) -> None:
    judge = SetMeasure("judge", {"faithfulness": 1.0, "dollars": 0.3})
    search = SetMeasure()
    means = means_of([SetArm("A")], search, judge, budget=0.5)
    run = await run_of(tmp_path, means)
    assert (len(search.asked), len(judge.asked)) == (3, 2)
    assert (
        "it could exceed the budget of $0.50" in run.outcomes[2].failed["faithfulness"]
    )
    assert run.outcomes[2].figures == {"mrr": 1.0}
    more = await run_of(tmp_path, replace(means, budget=1.0))
    assert len(judge.asked) == 3
    assert more.reused == 5
    assert sum(o.figures["dollars"] for o in more.outcomes) == pytest.approx(0.9)


@pytest.mark.parametrize("together", [1, 2, 5])
async def test_judges_are_asked_side_by_side_and_all_of_it_is_kept(
    tmp_path: Path, together: int
) -> None:
    judge = SetMeasure("judge", {"faithfulness": 1.0})
    means = means_of([SetArm("A")], SetMeasure(), judge, together=together)
    run = await run_of(tmp_path, means)
    assert run.complete
    assert len(judge.asked) == 3


def test_an_estimate_sends_nothing_and_writes_nothing(tmp_path: Path) -> None:
    arm, search = SetArm("A"), SetMeasure()
    usage = Usage(calls=4, prompt_tokens=100, completion_tokens=10)
    judge = SetMeasure("judge", usage=usage)
    estimated = estimate(runner(tmp_path / "runs", means_of([arm], search, judge)))
    assert estimated == RunEstimate(6, 0, 3, Usage(12, 300, 30), 12 * PRICES["a-model"])
    assert (arm.asked, search.asked, judge.asked) == ([], [], [])
    assert list_eval_runs(tmp_path / "runs") == []


async def test_what_nobody_knows_the_price_of_has_none(tmp_path: Path) -> None:
    judge = SetMeasure("judge", usage=Usage(calls=1))
    means = means_of([SetArm("A")], judge)
    assert runner(tmp_path, means).estimate(lambda usage, name: None).dollars is None


async def test_one_evaluation_runs_at_a_time(tmp_path: Path) -> None:
    lock = Held(by_another=True)
    with pytest.raises(StoreProblem, match="Another evaluation"):
        await ran(runner(tmp_path, means_of([SetArm("A")], lock=lock)))
    assert list_eval_runs(tmp_path) == []
    free = Held(by_another=False)
    await ran(runner(tmp_path, means_of([SetArm("A")], lock=free)))
    assert free.steps == ["acquire", "release"]


def test_questions_need_ids_of_their_own() -> None:
    means = means_of([SetArm("A")])
    with pytest.raises(SettingsProblem, match="id q1"):
        a_plan(means, asked("q1", "q1"))


@pytest.mark.parametrize("dropped", [True, False])
def test_dropped_questions_are_not_asked(dropped: bool) -> None:
    questions = [replace(q, dropped=dropped or n > 0) for n, q in enumerate(QUESTIONS)]
    means = means_of([SetArm("A")])

    def plan() -> Sequence[str]:
        made = build_eval_plan(questions, means, budgets=(1,), library="", lrwr="")
        return [q.id for q in made.questions]

    if dropped:
        with pytest.raises(SettingsProblem, match="no question"):
            plan()
    else:
        assert plan() == ["q1"]


async def test_a_run_that_is_stopped_goes_on(tmp_path: Path) -> None:
    means = means_of([SetArm("A"), SetArm("B", recipe="b")])
    async with aclosing(runner(tmp_path, means).run()) as events:
        async for event in events:
            if isinstance(event, RunProgress) and event.done == 2:
                break
    then = await ran(runner(tmp_path, means))
    (run,) = list_eval_runs(tmp_path)
    assert then[0] == RunStart(run.id, 6, 2, 0)
    assert run.complete


@pytest.mark.skipif(sys.platform == "win32", reason="nothing kills like SIGKILL there")
def test_killed_at_any_moment_a_run_ends_with_each_outcome_once(
    tmp_path: Path,
) -> None:
    for left in (0, 3, 4, 1, 4):  # the first two are spent on warming up
        command = [sys.executable, "-m", "tests.fakes.evaluation_process"]
        ended = subprocess.run([*command, str(tmp_path), str(left)], cwd=ROOT)
        assert ended.returncode == -signal.SIGKILL
        path = next(tmp_path.glob(f"*/{OUTCOMES}"))
        with path.open("ab") as file:
            file.write(b'{"arm": "A", "quest')
    asyncio.run(evaluate(tmp_path, two_arms()))
    (run,) = list_eval_runs(tmp_path)
    assert run.complete
    lines = (tmp_path / run.id / OUTCOMES).read_text(encoding="utf-8").splitlines()
    assert len(lines) == len(run.lines) == 6
    assert [one.name for one in tmp_path.iterdir()] == [run.id]
