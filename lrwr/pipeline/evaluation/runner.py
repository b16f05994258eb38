"""Running an evaluation: each question through each arm, once, whatever interrupts."""

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
from lrwr.pipeline.evaluation.outcomes import Arm, QuestionOutcome, RetrievedContext
from lrwr.pipeline.evaluation.questions import EvalQuestion
from lrwr.pipeline.evaluation.runs import (
    DOLLARS,
    EvalComponent,
    EvalPlan,
    EvalRun,
    EvalRunWriter,
    OutcomePart,
    assemble_outcome,
    begin_eval_run,
    compute_outcome_key,
    list_eval_runs,
    load_eval_run,
)

OTHER_RUN = "Another evaluation is running in this library"


class EvalMeasure(Protocol):
    """A way of measuring what an arm gives."""

    @property
    def name(self) -> str:
        """Name it, in a word or two, the same in every run."""
        ...

    @property
    def recipe(self) -> str:
        """Tell all that its figures depend on beside question, arm and library."""
        ...

    def gives(self, question: EvalQuestion, arm: str) -> Sequence[str]:
        """Name the figures of a question in an arm; all of them fail where it fails."""
        ...

    def foreseen(self, question: EvalQuestion, arm: str) -> Sequence[tuple[Usage, str]]:
        """Return what models will be asked for a question in an arm, by their names.

        An estimate, rather too much than too little; nothing is sent.
        """
        ...

    async def figures(
        self, question: EvalQuestion, arm: Arm, retrieved_context: RetrievedContext
    ) -> tuple[Mapping[str, float], Mapping[str, str]]:
        """Return figures, and those that were tried and not got, with the reason.

        What it cost is the figure `dollars`.

        Raises:
            LrwrError: Nothing of it can be had.
        """
        ...


class EvalLock(Protocol):
    """Keeps two processes from running one evaluation."""

    def acquire(self) -> bool:
        """Take it without waiting; False when another holds it."""
        ...

    def release(self) -> None:
        """Let go. Safe to call twice."""
        ...


@dataclass(frozen=True, slots=True)
class RunStart:
    """A run begins or goes on.

    Of its `total` parts of outcomes, `kept` were done before it was interrupted, and
    `taken` are taken over from earlier runs.
    """

    run: str
    total: int
    kept: int
    taken: int


@dataclass(frozen=True, slots=True)
class RunProgress:
    """A part of an outcome is there: `outcome` is all of it that is by now.

    `done` of the run's parts are there.
    """

    outcome: QuestionOutcome
    part: str
    done: int


RunEvent: TypeAlias = RunStart | RunProgress
"""Closed on purpose: a screen matches every member."""


@dataclass(frozen=True, slots=True)
class RunEstimate:
    """What a run will do: nothing was sent to learn it.

    `taken` parts of outcomes are known already, of `total`. `dollars` are None where a
    price is not known.
    """

    total: int
    taken: int
    searches: int
    usage: Usage
    dollars: float | None


@dataclass(frozen=True, slots=True)
class RunSetup:
    """What a run works with: each arm and way of measuring in the order of the plan.

    The first of `measures` asks no model. `budget` bounds what others cost together,
    in US dollars, 0 for any amount; what is under way when it is spent is finished.
    `together` of them are asked at once. `lock` is held while a run is under way.
    """

    arms: Sequence[Arm]
    measures: Sequence[EvalMeasure]
    budget: float = 0.0
    together: int = 1
    lock: EvalLock | None = None


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
    """How far a run has come; `known` are results of any run, by key."""

    run: EvalRun
    recording: EvalRunWriter
    known: dict[str, OutcomePart]
    lines: dict[tuple[str, str, str], OutcomePart] = field(default_factory=dict)
    spent: float = 0.0


def build_eval_plan(
    questions: Sequence[EvalQuestion],
    means: RunSetup,
    *,
    budgets: Sequence[int],
    library: str,
    lrwr: str,
    seed: int = 0,
    models: Mapping[str, str] | None = None,
) -> EvalPlan:
    """Return the plan that asks all `questions` that the writer has not dropped.

    Raises:
        SettingsProblem: No question is left, or two have the same id.
    """
    selected = tuple(question for question in questions if not question.dropped)
    repeated_ids = [
        id_ for id_, n in Counter(question.id for question in selected).items() if n > 1
    ]
    if repeated_ids:
        raise SettingsProblem(
            f"Two questions have the id {repeated_ids[0]}", hint="Give each its own."
        )
    if not selected:
        raise SettingsProblem("There is no question to ask", hint="Write some first.")
    return EvalPlan(
        questions=selected,
        arms=tuple(EvalComponent(arm.name, arm.told, arm.recipe) for arm in means.arms),
        parts=tuple(
            EvalComponent(measure.name, "", measure.recipe)
            for measure in means.measures
        ),
        budgets=tuple(budgets),
        library=library,
        lrwr=lrwr,
        seed=seed,
        models=dict(models or {}),
    )


class EvalRunner:
    """Runs a plan, and keeps what comes of it in `folder`; one run at a time.

    `now` tells seconds since 1970, UTC. Every result is kept as soon as it is there,
    and none is measured twice: neither after an interruption, nor in a later run that
    depends on the same. A result with a failure is tried again by the next run.
    """

    def __init__(
        self, folder: Path, plan: EvalPlan, means: RunSetup, now: Callable[[], float]
    ) -> None:
        self._folder = folder
        self._plan = plan
        self._means = means
        self._now = now
        self._tasks = list(_tasks(plan, means))

    def priced(self, price: Callable[[Usage, str], float | None]) -> RunEstimate:
        """Return what `run` would do now. Nothing is sent, and nothing written.

        `price` tells what a usage of a model costs in US dollars, None if unknown.

        Raises:
            StoreProblem: Earlier runs cannot be read.
        """
        stored_results, keys = _known(list_eval_runs(self._folder)), set[str]()
        usages: list[tuple[Usage, str]] = []
        searched: set[tuple[str, str]] = set()
        reused = 0
        for task in self._tasks:
            if task.key in stored_results or task.key in keys:
                reused += 1
                continue
            keys.add(task.key)
            usages += task.measure.foreseen(task.question, task.arm.name)
            searched.add((task.arm.name, task.question.id))
        return RunEstimate(
            total=len(self._tasks),
            taken=reused,
            searches=len(searched),
            usage=sum((usage for usage, _ in usages), Usage()),
            dollars=compute_total_price(usages, price),
        )

    async def run(self) -> AsyncGenerator[RunEvent]:
        """Yield `RunStart`, then each result as it comes; the run can be loaded after.

        An arm, a measure or a question that fails does not stop the others: the
        failure is stored with its reason.

        Raises:
            StoreProblem: Another process runs an evaluation here, or results cannot
                be written.
        """
        lock = self._means.lock
        if lock is not None and not lock.acquire():
            raise StoreProblem(OTHER_RUN, hint="Wait until it has ended.")
        try:
            state = self._begun()
            stored_count = len(state.lines)
            reused = self._take_over(state)
            yield RunStart(state.run.id, len(self._tasks), stored_count, reused)
            await self._warm_up(state)
            for task in self._left(state, first=True):
                yield await self._done(task, state)
            remaining = self._left(state, first=False)
            while batch := list(islice(remaining, max(1, self._means.together))):
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
        lines = {line.pair: line for line in run.lines}
        spent = sum(
            line.figures.get(DOLLARS, 0.0) for line in run.lines if line.first == run.id
        )
        stored_results = _known([*list_eval_runs(self._folder), run])
        return _State(run, recording, stored_results, lines, spent)

    def _take_over(self, state: _State) -> int:
        """Copy results of earlier runs, and return how many were copied."""
        reused = [
            _again(task, state.known[task.key])
            for task in self._tasks
            if task.pair not in state.lines and task.key in state.known
        ]
        state.recording.add(reused)
        state.lines |= {line.pair: line for line in reused}
        return len(reused)

    async def _warm_up(self, state: _State) -> None:
        """Ask each arm once: the first search of all loads what the others need."""
        for arm in {task.arm.name: task.arm for task in self._left(state)}.values():
            try:
                await arm.give(self._plan.questions[0])
            except LrwrError:  # it will fail again where it counts
                continue

    def _left(self, state: _State, *, first: bool | None = None) -> Iterator[_Task]:
        for task in self._tasks:
            is_first = task.measure is self._means.measures[0]
            if task.pair not in state.lines and first in (None, is_first):
                yield task

    async def _done(self, task: _Task, state: _State) -> RunProgress:
        stored_result = state.known.get(task.key)
        line = (
            _again(task, stored_result)
            if stored_result
            else await self._measured(task, state)
        )
        state.recording.add([line])
        state.lines[line.pair] = line
        if line.whole:
            state.known.setdefault(line.key, line)
        parts = [measure.name for measure in self._means.measures]
        pairs = [(line.arm, line.question, part) for part in parts]
        stored_parts = [state.lines[pair] for pair in pairs if pair in state.lines]
        outcome = assemble_outcome(task.question, line.arm, stored_parts)
        return RunProgress(outcome, line.part, len(state.lines))

    async def _measured(self, task: _Task, state: _State) -> OutcomePart:
        figures: Mapping[str, float] = {}
        failed: Mapping[str, str] = {}
        budget = self._means.budget
        is_first = task.measure is self._means.measures[0]
        if budget and state.spent >= budget and not is_first:
            failed = _all(task, f"Not asked: the budget of ${budget:.2f} is spent.")
        else:
            try:
                context = await task.arm.give(task.question)
                figures, failed = await task.measure.figures(
                    task.question, task.arm, context
                )
            except LrwrError as error:
                failed = _all(task, str(error) or type(error).__name__)
        numbers = {name: v for name, v in figures.items() if math.isfinite(v)}
        wrong = {n: "It is not a number." for n in figures if n not in numbers}
        state.spent += numbers.get(DOLLARS, 0.0)
        return OutcomePart(
            *task.pair, task.key, numbers, {**failed, **wrong}, state.run.id
        )


def _tasks(plan: EvalPlan, means: RunSetup) -> Iterator[_Task]:
    # Question by question, so that the arms take turns: what slows the machine for a
    # while slows all of them.
    for question in plan.questions:
        for arm, arm_component in zip(means.arms, plan.arms, strict=True):
            for measure, measure_component in zip(
                means.measures, plan.parts, strict=True
            ):
                key = compute_outcome_key(
                    plan, arm_component, measure_component, question
                )
                yield _Task(question, arm, measure, key)


def _known(eval_runs: Sequence[EvalRun]) -> dict[str, OutcomePart]:
    """Return fully successful results by key; the newest run's if there are several."""
    results: dict[str, OutcomePart] = {}
    for run in eval_runs:
        for line in run.lines:
            if line.whole:
                results.setdefault(line.key, line)
    return results


def _again(task: _Task, line: OutcomePart) -> OutcomePart:
    return OutcomePart(*task.pair, task.key, line.figures, line.failed, line.first)


def _all(task: _Task, why: str) -> dict[str, str]:
    return dict.fromkeys(task.measure.gives(task.question, task.arm.name), why)
