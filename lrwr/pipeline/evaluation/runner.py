"""Execution of an evaluation: every question in every arm; an interrupted one
continues.
"""

import asyncio
import math
from collections import Counter
from collections.abc import (
    AsyncGenerator,
    Callable,
    Iterator,
    Mapping,
    Sequence,
)
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Protocol, TypeAlias

from lrwr.core.model.errors import LrwrError, SettingsProblem, StoreProblem
from lrwr.core.model.language_model import Usage, compute_total_price
from lrwr.pipeline.evaluation.outcomes import Arm, RetrievedContext
from lrwr.pipeline.evaluation.questions import EvalQuestion
from lrwr.pipeline.evaluation.runs import (
    DOLLARS,
    EvalComponent,
    EvalPlan,
    EvalRun,
    EvalRunWriter,
    OutcomePart,
    begin_eval_run,
    compute_outcome_key,
    list_eval_runs,
    load_eval_run,
)

OTHER_RUN = "Another evaluation of this library is running"


class EvalMeasure(Protocol):
    """Computes figures (measured values, such as recall) for a question, from retrieved
    text.
    """

    @property
    def name(self) -> str:
        """The short name of the measure, the same in every run."""
        ...

    @property
    def recipe(self) -> str:
        """A text that changes with anything that the measured values depend on besides
        question, arm and library; part of keys of stored results.
        """
        ...

    def figure_names(self, question: EvalQuestion, arm: str) -> Sequence[str]:
        """Return the names of the figures (measured values) of a question.

        `arm` is the name of the arm, the way of retrieving text. If the measurement
        fails, all of them are recorded as failed.
        """
        ...

    def estimate_usage(
        self, question: EvalQuestion, arm: str
    ) -> Sequence[tuple[Usage, str]]:
        """Return the estimated usage of each model call for a question, with the
        model's name.

        `arm` is the name of the arm, the way of retrieving text. The estimate is rather
        too high than too low. Nothing is sent.
        """
        ...

    async def measure(
        self, question: EvalQuestion, arm: Arm, retrieved_context: RetrievedContext
    ) -> tuple[Mapping[str, float], Mapping[str, str]]:
        """Return figures (measured values) by name, and the reasons of figures that
        failed.

        The figure `dollars` is the price in US dollars.

        Raises:
            LrwrError: No figure can be measured.
        """
        ...


class EvalLock(Protocol):
    """A lock that prevents two processes from evaluating one library at the same
    time.
    """

    def acquire(self) -> bool:
        """Take the lock without waiting; return False if another process holds it."""
        ...

    def release(self) -> None:
        """Release the lock. Idempotent."""
        ...


@dataclass(frozen=True, slots=True)
class RunStart:
    """Event: the run with the id `run` starts or continues.

    Of its `total` results (one per question, way of retrieving text and measure),
    `kept` were measured before an interruption and `reused` come from earlier runs.
    """

    run: str
    total: int
    kept: int
    reused: int


@dataclass(frozen=True, slots=True)
class RunProgress:
    """Event: one result was stored; `done` is the number of stored results of the run.

    There is one result per question, arm (way of retrieving text) and measure.
    """

    done: int


RunEvent: TypeAlias = RunStart | RunProgress
"""Closed union: consumers match every member."""


@dataclass(frozen=True, slots=True)
class RunEstimate:
    """What a run will compute, estimated without sending anything.

    There are `total` results, one per question, way of retrieving text and measure; of
    these `reused` need not be computed, because an earlier run or another result of
    this run has the same inputs. `searches` is the number of searches, `usage` the
    usage of language models, `dollars` its price in US dollars; None if a price is
    unknown.
    """

    total: int
    reused: int
    searches: int
    usage: Usage
    dollars: float | None


@dataclass(frozen=True, slots=True)
class RunSetup:
    """Arms (ways of retrieving text) and measures of a run; a plan has them in this
    order.

    The first of `measures` uses no language model. `budget` limits the price of the
    others in US dollars, 0.0 for no limit: a measurement is skipped if its estimate by
    `price`, which returns the price of a usage of a model, could exceed what is left.
    An unknown price counts as 0. `together` is how many measurements run
    concurrently. `lock` is held during the run; None for no lock.
    """

    arms: Sequence[Arm]
    measures: Sequence[EvalMeasure]
    budget: float = 0.0
    together: int = 1
    lock: EvalLock | None = None
    price: Callable[[Usage, str], float | None] | None = None


@dataclass(frozen=True, slots=True)
class _Task:
    question: EvalQuestion
    arm: Arm
    measure: EvalMeasure
    key: str

    @property
    def pair(self) -> tuple[str, str, str]:
        return self.arm.name, self.question.id, self.measure.name


@dataclass(slots=True)
class _State:
    """Progress of a run; `known` are results of all runs by key."""

    run: EvalRun
    recording: EvalRunWriter
    known: dict[str, OutcomePart]
    lines: dict[tuple[str, str, str], OutcomePart] = field(default_factory=dict)
    spent: float = 0.0
    reserved: float = 0.0


def build_eval_plan(
    questions: Sequence[EvalQuestion],
    setup: RunSetup,
    *,
    budgets: Sequence[int],
    library: str,
    lrwr: str,
    seed: int = 0,
    models: Mapping[str, str] | None = None,
) -> EvalPlan:
    """Return the plan of a run over all `questions` that are not dropped.

    `budgets` are amounts of retrieved text, in tokens. `library` is a hash of the
    library's state, `lrwr` the version of the program. `seed` is for resampling.
    `models` maps uses, such as embedding, to names of models.

    Raises:
        SettingsProblem: No question is left, or two have the same id.
    """
    selected = tuple(question for question in questions if not question.dropped)
    repeated_ids = [
        id_ for id_, n in Counter(question.id for question in selected).items() if n > 1
    ]
    if repeated_ids:
        raise SettingsProblem(
            f"Two questions have the id {repeated_ids[0]}", hint="Give each its own id."
        )
    if not selected:
        raise SettingsProblem(
            "There are no questions to ask",
            hint="Write some, or run `lrwr eval --make 150`.",
        )
    return EvalPlan(
        questions=selected,
        arms=tuple(
            EvalComponent(arm.name, arm.description, arm.recipe) for arm in setup.arms
        ),
        parts=tuple(
            EvalComponent(measure.name, "", measure.recipe)
            for measure in setup.measures
        ),
        budgets=tuple(budgets),
        library=library,
        lrwr=lrwr,
        seed=seed,
        models=dict(models or {}),
    )


class EvalRunner:
    """Executes a plan and stores the results under `folder`; one run at a time.

    `now` returns seconds since 1970, UTC. Every result is stored as soon as it is
    measured, and none is measured twice: neither after an interruption nor in a later
    run with equal inputs. A result with a failure is measured again by the next run.
    """

    def __init__(
        self, folder: Path, plan: EvalPlan, setup: RunSetup, now: Callable[[], float]
    ) -> None:
        self._folder = folder
        self._plan = plan
        self._setup = setup
        self._now = now
        self._tasks = list(_tasks(plan, setup))

    def estimate(self, price: Callable[[Usage, str], float | None]) -> RunEstimate:
        """Estimate what `run` would compute now. Nothing is sent or written.

        `price` returns the price of a usage of a model in US dollars, None if unknown.

        Raises:
            StoreProblem: Earlier runs cannot be read.
        """
        stored_results, keys = _index_results(list_eval_runs(self._folder)), set[str]()
        usages: list[tuple[Usage, str]] = []
        searched: set[tuple[str, str]] = set()
        reused = 0
        for task in self._tasks:
            if task.key in stored_results or task.key in keys:
                reused += 1
                continue
            keys.add(task.key)
            usages += task.measure.estimate_usage(task.question, task.arm.name)
            searched.add((task.arm.name, task.question.id))
        return RunEstimate(
            total=len(self._tasks),
            reused=reused,
            searches=len(searched),
            usage=sum((usage for usage, _ in usages), Usage()),
            dollars=compute_total_price(usages, price),
        )

    async def run(self) -> AsyncGenerator[RunEvent]:
        """Execute the plan: yield `RunStart`, then `RunProgress` after each stored
        result.

        An arm, a measure or a question that fails does not stop the others: the failure
        is stored with its reason.

        Raises:
            StoreProblem: Another process evaluates this library, or results cannot be
                written.
        """
        lock = self._setup.lock
        if lock is not None and not lock.acquire():
            raise StoreProblem(OTHER_RUN, hint="Wait until that evaluation has ended.")
        try:
            state = self._begun()
            stored_count = len(state.lines)
            reused = self._copy_known_results(state)
            yield RunStart(state.run.id, len(self._tasks), stored_count, reused)
            await self._warm_up(state)
            for task in self._remaining_tasks(state, first=True):
                yield await self._done(task, state)
            remaining = self._remaining_tasks(state, first=False)
            while batch := list(islice(remaining, max(1, self._setup.together))):
                async with asyncio.TaskGroup() as group:
                    running_tasks = [
                        group.create_task(self._done(t, state)) for t in batch
                    ]
                for running_task in running_tasks:
                    yield running_task.result()
        finally:
            if lock is not None:
                lock.release()

    def _begun(self) -> _State:
        run = begin_eval_run(self._folder, self._plan, self._now())
        recording = EvalRunWriter(self._folder, run)
        run = load_eval_run(
            self._folder, run.id
        )  # as it is without what a crash has torn
        lines = {line.identity: line for line in run.lines}
        spent = sum(
            line.figures.get(DOLLARS, 0.0) for line in run.lines if line.first == run.id
        )
        stored_results = _index_results([*list_eval_runs(self._folder), run])
        return _State(run, recording, stored_results, lines, spent)

    def _copy_known_results(self, state: _State) -> int:
        """Copy results of earlier runs; return how many."""
        reused = [
            _reuse(task, state.known[task.key])
            for task in self._tasks
            if task.pair not in state.lines and task.key in state.known
        ]
        state.recording.add(reused)
        state.lines |= {line.identity: line for line in reused}
        return len(reused)

    async def _warm_up(self, state: _State) -> None:
        """Run each arm once, because the first search loads models and indexes."""
        for arm in {
            task.arm.name: task.arm for task in self._remaining_tasks(state)
        }.values():
            try:
                await arm.retrieve(self._plan.questions[0])
            except LrwrError:  # it will fail again where it counts
                continue

    def _remaining_tasks(
        self, state: _State, *, first: bool | None = None
    ) -> Iterator[_Task]:
        for task in self._tasks:
            is_first = task.measure is self._setup.measures[0]
            if task.pair not in state.lines and first in (None, is_first):
                yield task

    async def _done(self, task: _Task, state: _State) -> RunProgress:
        stored_result = state.known.get(task.key)
        line = (
            _reuse(task, stored_result)
            if stored_result
            else await self._measure_task(task, state)
        )
        state.recording.add([line])
        state.lines[line.identity] = line
        if line.succeeded:
            state.known.setdefault(line.key, line)
        return RunProgress(len(state.lines))

    def _estimate_price(self, task: _Task) -> float:
        if self._setup.price is None:
            return 0.0
        usages = task.measure.estimate_usage(task.question, task.arm.name)
        return compute_total_price(usages, self._setup.price) or 0.0

    async def _measure_task(self, task: _Task, state: _State) -> OutcomePart:
        figures: Mapping[str, float] = {}
        failed: Mapping[str, str] = {}
        budget = self._setup.budget
        is_first = task.measure is self._setup.measures[0]
        estimate = 0.0 if is_first or not budget else self._estimate_price(task)
        expected = state.spent + state.reserved + estimate
        if budget and not is_first and (state.spent >= budget or expected > budget):
            failed = _fail_all(
                task, f"Not asked: it could exceed the budget of ${budget:.2f}."
            )
        else:
            state.reserved += estimate
            try:
                context = await task.arm.retrieve(task.question)
                figures, failed = await task.measure.measure(
                    task.question, task.arm, context
                )
            except LrwrError as error:
                failed = _fail_all(task, str(error) or type(error).__name__)
            finally:
                state.reserved -= estimate
        numbers = {name: v for name, v in figures.items() if math.isfinite(v)}
        wrong = {n: "The result is not a number." for n in figures if n not in numbers}
        state.spent += numbers.get(DOLLARS, 0.0)
        return OutcomePart(
            *task.pair, task.key, numbers, {**failed, **wrong}, state.run.id
        )


def _tasks(plan: EvalPlan, setup: RunSetup) -> Iterator[_Task]:
    # Question by question, so that the arms take turns: what slows the machine for a
    # while slows all of them.
    for question in plan.questions:
        for arm, arm_component in zip(setup.arms, plan.arms, strict=True):
            for measure, measure_component in zip(
                setup.measures, plan.parts, strict=True
            ):
                key = compute_outcome_key(
                    plan, arm_component, measure_component, question
                )
                yield _Task(question, arm, measure, key)


def _index_results(eval_runs: Sequence[EvalRun]) -> dict[str, OutcomePart]:
    """Return results without failures by key; the newest if there are several."""
    results: dict[str, OutcomePart] = {}
    for run in eval_runs:
        for line in run.lines:
            if line.succeeded:
                results.setdefault(line.key, line)
    return results


def _reuse(task: _Task, line: OutcomePart) -> OutcomePart:
    return OutcomePart(*task.pair, task.key, line.figures, line.failed, line.first)


def _fail_all(task: _Task, why: str) -> dict[str, str]:
    return dict.fromkeys(task.measure.figure_names(task.question, task.arm.name), why)
