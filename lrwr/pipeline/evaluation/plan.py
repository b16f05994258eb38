"""What a run of an evaluation asks, what came of it, and where two can be compared."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from hashlib import sha256

from lrwr.pipeline.evaluation.judgements import is_single_try_figure
from lrwr.pipeline.evaluation.outcomes import QuestionOutcome
from lrwr.pipeline.evaluation.questions import (
    WRITER_SOURCE,
    EvalQuestion,
    QuestionKind,
    serialize_questions,
)

DOLLARS, LEAK = "dollars", "leak"


@dataclass(frozen=True, slots=True)
class EvalComponent:
    """An arm or a way of measuring; `recipe` is all that its results depend on."""

    name: str
    told: str
    recipe: str


@dataclass(frozen=True, slots=True)
class EvalPlan:
    """What a run asks. `parts` are the ways of measuring, in order.

    `library` tells one state of the library from another. `models` are names by what
    they do. `seed` is for intervals; `budgets` are in tokens.
    """

    questions: tuple[EvalQuestion, ...]
    arms: tuple[EvalComponent, ...]
    parts: tuple[EvalComponent, ...]
    budgets: tuple[int, ...]
    library: str
    lrwr: str
    seed: int = 0
    models: Mapping[str, str] = field(default_factory=dict)

    @property
    def fingerprint(self) -> str:
        """Tell this plan from every other."""
        return _hash(
            json.dumps([eval_plan_as_json(self), serialize_questions(self.questions)])
        )


@dataclass(frozen=True, slots=True)
class OutcomePart:
    """One part of an outcome, as it is kept.

    `key` says what it depends on: the same key is never measured twice. `first` is the
    run that measured it, so its seconds are of that time and not of this.
    """

    arm: str
    question: str
    part: str
    key: str
    figures: Mapping[str, float]
    failed: Mapping[str, str]
    first: str

    @property
    def whole(self) -> bool:
        """Whether nothing failed but single tries of a judge, which count as such."""
        return all(is_single_try_figure(name) for name in self.failed)

    @property
    def pair(self) -> tuple[str, str, str]:
        """Tell it from the other lines of a run."""
        return self.arm, self.question, self.part


@dataclass(frozen=True)
class EvalRun:
    """One run, as far as it has come. `made` is in seconds since 1970, UTC."""

    id: str
    made: float
    plan: EvalPlan
    lines: tuple[OutcomePart, ...]

    @cached_property
    def outcomes(self) -> tuple[QuestionOutcome, ...]:
        """The outcome of each question in each arm, in the order of the plan."""
        parts_by_pair: dict[tuple[str, str], list[OutcomePart]] = {}
        for line in self.lines:
            parts_by_pair.setdefault((line.arm, line.question), []).append(line)
        return tuple(
            assemble_outcome(question, arm.name, parts_by_pair[arm.name, question.id])
            for arm in self.plan.arms
            for question in self.plan.questions
            if (arm.name, question.id) in parts_by_pair
        )

    @property
    def taken(self) -> int:
        """How many lines were measured by an earlier run."""
        return sum(line.first != self.id for line in self.lines)

    @property
    def wanted(self) -> int:
        """How many lines the whole run has."""
        return len(self.plan.arms) * len(self.plan.questions) * len(self.plan.parts)

    @property
    def complete(self) -> bool:
        """Whether nothing is left to do."""
        return len(self.lines) >= self.wanted


@dataclass(frozen=True, slots=True)
class RunOverlap:
    """Two runs where they can be compared.

    `questions` are the ids of those that are the same in both; `left_out` are in one
    alone or differ. `outcomes` are those of these questions, of the first run and the
    second. `differences` say what else was not the same, a sentence each.
    """

    questions: tuple[str, ...]
    left_out: tuple[str, ...]
    outcomes: tuple[tuple[QuestionOutcome, ...], tuple[QuestionOutcome, ...]]
    differences: tuple[str, ...]


def assemble_outcome(
    question: EvalQuestion, arm: str, lines: Sequence[OutcomePart]
) -> QuestionOutcome:
    """Put the parts of an outcome together, in order.

    `leak` is the worst of all parts, and `dollars` are added up. Another figure that
    an earlier part has too, such as `seconds`, stands behind its part's name.
    """
    figures: dict[str, float] = {}
    failed: dict[str, str] = {}
    for line in lines:
        for name, value in line.figures.items():
            if name == DOLLARS:
                figures[name] = figures.get(name, 0.0) + value
            elif name == LEAK:
                figures[name] = max(figures.get(name, 0.0), value)
            else:
                figures[f"{line.part} {name}" if name in figures else name] = value
        failed |= line.failed
    return QuestionOutcome(arm, question.id, question.kind, figures, failed)


def compute_outcome_key(
    plan: EvalPlan, arm: EvalComponent, part: EvalComponent, question: EvalQuestion
) -> str:
    """Return what a part of an outcome depends on, in few letters."""
    plain = replace(
        question, id="", made=WRITER_SOURCE, dropped=False, kind=QuestionKind.OTHER
    )
    key_parts = [plan.library, plan.lrwr, arm.recipe, part.name, part.recipe]
    return _hash("\n".join([*key_parts, serialize_questions([plain])]))


def match_runs(eval_run: EvalRun, other: EvalRun) -> RunOverlap:
    """Return the questions on which two runs can be compared, and how the runs differ."""
    questions_by_id, other_by_id = (
        {q.id: q for q in run.plan.questions} for run in (eval_run, other)
    )
    matching_ids = [
        id_
        for id_, q in questions_by_id.items()
        if id_ in other_by_id and _alike(q, other_by_id[id_])
    ]
    shared_ids = set(matching_ids)
    return RunOverlap(
        questions=tuple(matching_ids),
        left_out=tuple(
            id_ for id_ in {**questions_by_id, **other_by_id} if id_ not in shared_ids
        ),
        outcomes=(
            tuple(o for o in eval_run.outcomes if o.question in shared_ids),
            tuple(o for o in other.outcomes if o.question in shared_ids),
        ),
        differences=tuple(_differences(eval_run.plan, other.plan)),
    )


def _differences(eval_plan: EvalPlan, other: EvalPlan) -> Iterator[str]:
    if eval_plan.library != other.library:
        yield "The manuscript, or what is known of it, was not the same."
    if eval_plan.lrwr != other.lrwr:
        yield f"lrwr was {eval_plan.lrwr}, then {other.lrwr}."
    if eval_plan.budgets != other.budgets:
        before, after = (
            ", ".join(map(str, plan.budgets)) for plan in (eval_plan, other)
        )
        yield f"The budgets were {before}, then {after} tokens."
    for use in sorted({*eval_plan.models, *other.models}):
        before, after = (plan.models.get(use) or "none" for plan in (eval_plan, other))
        if before != after:
            yield f"For {use} it was {before}, then {after}."
    for field_name in ("arms", "parts"):
        yield from _told_apart(
            field_name, getattr(eval_plan, field_name), getattr(other, field_name)
        )
    if eval_plan.seed != other.seed:
        yield f"The seed was {eval_plan.seed}, then {other.seed}."


def _told_apart(
    field_name: str,
    eval_components: Sequence[EvalComponent],
    other: Sequence[EvalComponent],
) -> Iterator[str]:
    noun = "arm" if field_name == "arms" else "measure"
    components_by_name, other_by_name = (
        {component.name: component for component in side}
        for side in (eval_components, other)
    )
    for name in {**components_by_name, **other_by_name}:
        if name not in other_by_name:
            yield f"The {noun} “{name}” is in the first alone."
        elif name not in components_by_name:
            yield f"The {noun} “{name}” is in the second alone."
        elif components_by_name[name].recipe != other_by_name[name].recipe:
            yield f"The {noun} “{name}” was not made in the same way."


def _alike(eval_question: EvalQuestion, other: EvalQuestion) -> bool:
    return replace(eval_question, made="", dropped=False) == replace(
        other, made="", dropped=False
    )


def eval_plan_as_json(plan: EvalPlan) -> dict[str, object]:
    """Return a plan as JSON; the questions are reduced to a hash."""
    plain_fields = {n: getattr(plan, n) for n in ("library", "lrwr", "seed", "budgets")}
    return {
        **plain_fields,
        "models": dict(plan.models),
        "arms": [asdict(arm) for arm in plan.arms],
        "parts": [asdict(part) for part in plan.parts],
        "questions": _hash(serialize_questions(plan.questions)),
    }


def _hash(text: str) -> str:
    return sha256(text.encode("utf-8", "replace")).hexdigest()[:32]
