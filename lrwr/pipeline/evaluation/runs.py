"""What a run of an evaluation asks, what came of it, and where two can be compared."""

import json
import math
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from lrwr.core.model.errors import NotFound, StoreProblem
from lrwr.core.settings.library import Library, write_private_file
from lrwr.pipeline.evaluation.judgements import is_single_try_figure
from lrwr.pipeline.evaluation.outcomes import QuestionOutcome
from lrwr.pipeline.evaluation.questions import (
    WRITER_SOURCE,
    EvalQuestion,
    QuestionKind,
    parse_questions,
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


QUESTIONS = "questions.jsonl"
EVALUATIONS = "evaluations"


def locate_questions_file(library: Library) -> Path:
    """Return where the writer's questions are, whether the file exists or not."""
    return library.state_dir / QUESTIONS


def locate_evaluations_folder(library: Library) -> Path:
    """Return where runs are kept, whether the folder exists or not."""
    return library.state_dir / EVALUATIONS


ASKED, OUTCOMES = "run.json", "outcomes.jsonl"
_FORMAT = 1
_ID = re.compile(r"[0-9]{8}-[0-9]{6}-[0-9a-f]{6}(?:-[0-9]+)?")


def list_eval_runs(folder: Path) -> list[EvalRun]:
    """Return the runs that can be read, the newest first."""
    names = sorted((path.name for path in _folders(folder)), reverse=True)
    runs = []
    for name in names:
        try:
            runs.append(load_eval_run(folder, name))
        except (NotFound, StoreProblem):
            continue
    return sorted(runs, key=lambda run: (run.made, run.id), reverse=True)


def load_latest_eval_run(folder: Path) -> EvalRun:
    """Return the newest run.

    Raises:
        NotFound: There is none.
    """
    eval_runs = list_eval_runs(folder)
    if not eval_runs:
        raise NotFound("Nothing was evaluated here", hint="Run `lrwr eval` first.")
    return eval_runs[0]


def load_eval_run(folder: Path, run: str) -> EvalRun:
    """Return a run by its id or by an unambiguous prefix of it.

    Raises:
        NotFound: There is no such run, or more than one.
        StoreProblem: It cannot be read.
    """
    place = _place(folder, run)
    try:
        raw_plan = json.loads((place / ASKED).read_text(encoding="utf-8"))
        text = (place / QUESTIONS).read_text(encoding="utf-8")
        plan = _plan(raw_plan, parse_questions(text, f"{place.name}/{QUESTIONS}"))
        return EvalRun(place.name, float(raw_plan["made"]), plan, tuple(_lines(place)))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise StoreProblem(
            f"The run {place.name} cannot be read",
            hint=f"Remove it: delete the folder {place}",
        ) from error


def delete_eval_run(folder: Path, run: str) -> str:
    """Forget a run and return its id; `NotFound` as for `load_eval_run`.

    Raises:
        StoreProblem: Its files cannot be removed.
    """
    place = _place(folder, run)
    with _as_store_problem(place):
        shutil.rmtree(place)
    return place.name


def begin_eval_run(folder: Path, plan: EvalPlan, now: float) -> EvalRun:
    """Return the newest run of this plan that is not complete, or a new one.

    Raises:
        StoreProblem: The folder cannot be written.
    """
    for run in list_eval_runs(folder):
        if not run.complete and run.plan.fingerprint == plan.fingerprint:
            return run
    with _as_store_problem(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for unfinished in _begun(folder):  # a run that ended before it began
            shutil.rmtree(unfinished)
        place = _new_place(folder, plan, now)
        raw_plan = {"format": _FORMAT, "made": now, **eval_plan_as_json(plan)}
        write_private_file(place / QUESTIONS, serialize_questions(plan.questions))
        (place / OUTCOMES).touch(mode=0o600)
        write_private_file(place / ASKED, json.dumps(raw_plan, indent=2) + "\n")
    return EvalRun(place.name, now, plan, ())


class EvalRunWriter:
    """Adds lines to a run; each is there whole or, after a crash, not at all."""

    def __init__(self, folder: Path, run: EvalRun) -> None:
        self._path = folder / run.id / OUTCOMES
        with _as_store_problem(self._path):
            _cut_torn(self._path)

    def add(self, lines: Sequence[OutcomePart]) -> None:
        """Write lines behind those that are there.

        Raises:
            StoreProblem: They cannot be written.
        """
        text = "".join(
            json.dumps(asdict(line), ensure_ascii=False, allow_nan=False) + "\n"
            for line in lines
        )
        with _as_store_problem(self._path), self._path.open("ab") as file:
            file.write(text.encode("utf-8", "replace"))


def _plan(
    raw_plan: Mapping[str, object], questions: Sequence[EvalQuestion]
) -> EvalPlan:
    arms, parts, budgets, models = (
        raw_plan[name] for name in ("arms", "parts", "budgets", "models")
    )
    if raw_plan["format"] != _FORMAT or not isinstance(models, dict):
        raise ValueError("another format")
    if not all(isinstance(value, list) for value in (arms, parts, budgets)):
        raise ValueError("no lists")
    return EvalPlan(
        questions=tuple(questions),
        arms=tuple(EvalComponent(**arm) for arm in arms),  # type: ignore[attr-defined]
        parts=tuple(EvalComponent(**part) for part in parts),  # type: ignore[attr-defined]
        budgets=tuple(int(budget) for budget in budgets),  # type: ignore[attr-defined]
        library=str(raw_plan["library"]),
        lrwr=str(raw_plan["lrwr"]),
        seed=int(str(raw_plan["seed"])),
        models={str(use): str(name) for use, name in models.items()},
    )


def _lines(place: Path) -> Iterator[OutcomePart]:
    """Yield each line once; skip lines torn by a crash."""
    path, yielded_pairs = place / OUTCOMES, set()
    content = path.read_bytes() if path.exists() else b""
    for row in content.split(b"\n")[:-1]:
        try:
            line = _line(json.loads(row))
        except (ValueError, KeyError, TypeError, AttributeError):
            continue
        if line.pair not in yielded_pairs:
            yielded_pairs.add(line.pair)
            yield line


def _line(raw_line: Mapping[str, object]) -> OutcomePart:
    figures, failed = raw_line["figures"], raw_line["failed"]
    if not isinstance(figures, dict) or not isinstance(failed, dict):
        raise TypeError("no figures")
    names = ("arm", "question", "part", "key", "first")
    arm, question, part, key, first = (str(raw_line[name]) for name in names)
    numbers = {str(name): float(value) for name, value in figures.items()}
    if not all(map(math.isfinite, numbers.values())):
        raise ValueError("no number")
    reasons = {str(name): str(why) for name, why in failed.items()}
    return OutcomePart(arm, question, part, key, numbers, reasons, first)


def _cut_torn(path: Path) -> None:
    content = path.read_bytes() if path.exists() else b""
    complete_size = content.rfind(b"\n") + 1
    if complete_size < len(content):
        with path.open("r+b") as file:
            file.truncate(complete_size)


def _folders(folder: Path) -> Iterator[Path]:
    if folder.is_dir():
        for path in folder.iterdir():
            if _ID.fullmatch(path.name) and path.is_dir() and not path.is_symlink():
                yield path


def _begun(folder: Path) -> list[Path]:
    return [path for path in _folders(folder) if not (path / ASKED).exists()]


def _place(folder: Path, run: str) -> Path:
    candidates = [
        path for path in _folders(folder) if run and path.name.startswith(run)
    ]
    matches = [fit for fit in candidates if fit.name == run] or candidates
    if len(matches) != 1:
        problem = "There is no run" if not candidates else "More than one run is called"
        raise NotFound(f"{problem} {run}", hint="`lrwr eval runs` lists them.")
    return matches[0]


def _new_place(folder: Path, plan: EvalPlan, now: float) -> Path:
    moment = datetime.fromtimestamp(now, UTC)
    name = f"{moment:%Y%m%d-%H%M%S}-{plan.fingerprint[:6]}"
    place, number = folder / name, 1
    while place.exists():
        number += 1
        place = folder / f"{name}-{number}"
    place.mkdir()
    return place


@contextmanager
def _as_store_problem(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StoreProblem(
            f"{path} cannot be used: {error.strerror}",
            hint="Check the disk and your rights there.",
        ) from error
