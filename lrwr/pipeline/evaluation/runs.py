"""Plans, results and comparisons of evaluation runs, and the folder that stores them."""

import json
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from lrwr.core.model.codec import InvalidData, decode_json
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
MODEL_USES = {"meaning": "embeddings", "the second look": "reranker"}
"""Labels of the uses that `EvalPlan.models` stores under another name."""


@dataclass(frozen=True, slots=True)
class EvalComponent:
    """An arm (way of retrieving text) or a measure of a run.

    `told` is its description. `recipe` is a text that changes with anything that its
    results depend on.
    """

    name: str
    told: str
    recipe: str


@dataclass(frozen=True, slots=True)
class EvalPlan:
    """What an evaluation run computes: each of `parts` for each question and arm.

    `parts` are the measures, `arms` the ways of retrieving text. `budgets` are amounts
    of retrieved text, in tokens, at which arms are compared. `library` is a hash of the
    library's state, `lrwr` the version of the program. `models` maps uses to names of
    models. `seed` is for resampling.
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
        """A hash of the plan and its questions."""
        return _hash(
            json.dumps([eval_plan_as_json(self), serialize_questions(self.questions)])
        )


@dataclass(frozen=True, slots=True)
class OutcomePart:
    """The stored result of one question, arm (way of retrieving text) and measure
    (`part`).

    `key` is a hash of everything it depends on; equal keys are measured once. `figures`
    are measured values by name; `failed` maps others to the reason. `first` is the id
    of the run that measured it.
    """

    arm: str
    question: str
    part: str
    key: str
    figures: Mapping[str, float]
    failed: Mapping[str, str]
    first: str

    @property
    def succeeded(self) -> bool:
        """Whether all values were measured; single requests to a judge may have
        failed.
        """
        return all(is_single_try_figure(name) for name in self.failed)

    @property
    def identity(self) -> tuple[str, str, str]:
        """The arm's name, the question's id and the measure's name; unique in a run."""
        return self.arm, self.question, self.part


@dataclass(frozen=True)
class EvalRun:
    """A run with the results (`lines`) that are stored so far.

    `made` is its start in seconds since 1970, UTC.
    """

    id: str
    made: float
    plan: EvalPlan
    lines: tuple[OutcomePart, ...]

    @cached_property
    def outcomes(self) -> tuple[QuestionOutcome, ...]:
        """The measured values of each question in each arm (way of retrieving text).

        Sorted by arm, then question, in the order of the plan. Questions without a
        result are left out.
        """
        parts_by_pair: dict[tuple[str, str], list[OutcomePart]] = {}
        for line in self.lines:
            parts_by_pair.setdefault((line.arm, line.question), []).append(line)
        return tuple(
            _assemble_outcome(question, arm.name, parts_by_pair[arm.name, question.id])
            for arm in self.plan.arms
            for question in self.plan.questions
            if (arm.name, question.id) in parts_by_pair
        )

    @property
    def reused(self) -> int:
        """The number of results reused from earlier runs."""
        return sum(line.first != self.id for line in self.lines)

    @property
    def part_count(self) -> int:
        """The number of results of the complete run: arms times questions times
        measures.
        """
        return len(self.plan.arms) * len(self.plan.questions) * len(self.plan.parts)

    @property
    def complete(self) -> bool:
        """Whether there is a result for each question, way of retrieving text and
        measure of the plan.
        """
        return len(self.lines) >= self.part_count


@dataclass(frozen=True, slots=True)
class RunOverlap:
    """The common part of two runs.

    `questions` are the ids of questions that are equal in both; `left_out` are the ids
    of all others. `outcomes` are those of the common questions, of the first and the
    second run. `differences` are sentences on what else differs, such as models.
    """

    questions: tuple[str, ...]
    left_out: tuple[str, ...]
    outcomes: tuple[tuple[QuestionOutcome, ...], tuple[QuestionOutcome, ...]]
    differences: tuple[str, ...]


def _assemble_outcome(
    question: EvalQuestion, arm: str, lines: Sequence[OutcomePart]
) -> QuestionOutcome:
    """Combine the results of all measures for one question in one arm.

    `arm` is the name of the way of retrieving text. Of `leak`, the maximum is used, of
    `dollars` the sum. If an earlier one of `lines` has a value of the same name, such
    as `seconds`, the name of the measure is put before it.
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
    """Return a hash of everything that one result depends on.

    `part` is the measure. The question's id, source and kind are not included.
    """
    plain = replace(
        question, id="", made=WRITER_SOURCE, dropped=False, kind=QuestionKind.OTHER
    )
    key_parts = [plan.library, plan.lrwr, arm.recipe, part.name, part.recipe]
    return _hash("\n".join([*key_parts, serialize_questions([plain])]))


def match_runs(eval_run: EvalRun, other: EvalRun) -> RunOverlap:
    """Return the questions that are equal in two runs, their outcomes, and what else
    differs.
    """
    questions_by_id, other_by_id = (
        {q.id: q for q in run.plan.questions} for run in (eval_run, other)
    )
    matching_ids = [
        id_
        for id_, q in questions_by_id.items()
        if id_ in other_by_id and _are_equal(q, other_by_id[id_])
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
        yield "The manuscript or its story data changed."
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
            yield f"The model for {MODEL_USES.get(use, use)} was {before}, then {after}."
    for field_name in ("arms", "parts"):
        yield from _component_differences(
            field_name, getattr(eval_plan, field_name), getattr(other, field_name)
        )
    if eval_plan.seed != other.seed:
        yield f"The seed was {eval_plan.seed}, then {other.seed}."


def _component_differences(
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
            yield f"The {noun} “{name}” is only in the first run."
        elif name not in components_by_name:
            yield f"The {noun} “{name}” is only in the second run."
        elif components_by_name[name].recipe != other_by_name[name].recipe:
            yield f"The {noun} “{name}” was configured differently."


def _are_equal(eval_question: EvalQuestion, other: EvalQuestion) -> bool:
    return replace(eval_question, made="", dropped=False) == replace(
        other, made="", dropped=False
    )


def eval_plan_as_json(plan: EvalPlan) -> dict[str, object]:
    """Return a plan as JSON-able values by field name; of the questions only a hash."""
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
    """Return the path of a library's file of evaluation questions; it may not exist."""
    return library.state_dir / QUESTIONS


def locate_evaluations_folder(library: Library) -> Path:
    """Return the path of the folder with a library's evaluation runs; it may not
    exist.
    """
    return library.state_dir / EVALUATIONS


ASKED, OUTCOMES = "run.json", "outcomes.jsonl"
_FORMAT = 1
_ID = re.compile(r"[0-9]{8}-[0-9]{6}-[0-9a-f]{6}(?:-[0-9]+)?")


def list_eval_runs(folder: Path) -> list[EvalRun]:
    """Return the runs stored in `folder`, newest first; unreadable ones are skipped."""
    names = sorted((path.name for path in _folders(folder)), reverse=True)
    runs = []
    for name in names:
        try:
            runs.append(load_eval_run(folder, name))
        except (NotFound, StoreProblem):
            continue
    return sorted(runs, key=lambda run: (run.made, run.id), reverse=True)


def load_latest_eval_run(folder: Path) -> EvalRun:
    """Return the newest readable run stored in `folder`.

    Raises:
        NotFound: There is none.
    """
    eval_runs = list_eval_runs(folder)
    if not eval_runs:
        raise NotFound("There are no runs yet", hint="Run `lrwr eval` first.")
    return eval_runs[0]


def load_eval_run(folder: Path, run: str) -> EvalRun:
    """Return the run whose id is `run` or, unambiguously, begins with it.

    Raises:
        NotFound: No run matches, or more than one does.
        StoreProblem: It cannot be read.
    """
    place = _find_run_folder(folder, run)
    try:
        stored = decode_json((place / ASKED).read_bytes(), _StoredPlan)
        text = (place / QUESTIONS).read_text(encoding="utf-8")
        plan = stored.build_plan(parse_questions(text, f"{place.name}/{QUESTIONS}"))
        return EvalRun(place.name, stored.made, plan, tuple(_lines(place)))
    except (OSError, ValueError) as error:
        raise StoreProblem(
            f"The run {place.name} cannot be read",
            hint=f"Delete the folder {place}.",
        ) from error


def begin_eval_run(folder: Path, plan: EvalPlan, now: float) -> EvalRun:
    """Return the newest incomplete run of this plan, or create one.

    `now` is its start in seconds since 1970, UTC.

    Raises:
        StoreProblem: The folder cannot be written.
    """
    for run in list_eval_runs(folder):
        if not run.complete and run.plan.fingerprint == plan.fingerprint:
            return run
    with _as_store_problem(folder):
        folder.mkdir(0o700, parents=True, exist_ok=True)
        for unfinished in _unstarted_folders(
            folder
        ):  # a run interrupted while it was created
            shutil.rmtree(unfinished)
        place = _create_run_folder(folder, plan, now)
        raw_plan = {"format": _FORMAT, "made": now, **eval_plan_as_json(plan)}
        write_private_file(place / QUESTIONS, serialize_questions(plan.questions))
        (place / OUTCOMES).touch(mode=0o600)
        write_private_file(place / ASKED, json.dumps(raw_plan, indent=2) + "\n")
    return EvalRun(place.name, now, plan, ())


class EvalRunWriter:
    """Appends results to the file of a run; after a crash, each line is complete or
    absent.
    """

    def __init__(self, folder: Path, run: EvalRun) -> None:
        self._path = folder / run.id / OUTCOMES
        with _as_store_problem(self._path):
            _cut_torn(self._path)

    def add(self, lines: Sequence[OutcomePart]) -> None:
        """Append results to the run's file.

        Raises:
            StoreProblem: The file cannot be written.
        """
        text = "".join(
            json.dumps(asdict(line), ensure_ascii=False, allow_nan=False) + "\n"
            for line in lines
        )
        with _as_store_problem(self._path), self._path.open("ab") as file:
            file.write(text.encode("utf-8", "replace"))


@dataclass(frozen=True, slots=True)
class _StoredPlan:
    """The content of `run.json`; the questions are in a file of their own."""

    format: int
    made: float
    library: str
    lrwr: str
    seed: int
    budgets: tuple[int, ...]
    models: Mapping[str, str]
    arms: tuple[EvalComponent, ...]
    parts: tuple[EvalComponent, ...]

    def build_plan(self, questions: Sequence[EvalQuestion]) -> EvalPlan:
        if self.format != _FORMAT:
            raise ValueError("unknown format")
        return EvalPlan(
            tuple(questions),
            self.arms,
            self.parts,
            self.budgets,
            self.library,
            self.lrwr,
            self.seed,
            self.models,
        )


def _lines(place: Path) -> Iterator[OutcomePart]:
    """Yield each result once, without lines torn by a crash."""
    path, yielded = place / OUTCOMES, set()
    content = path.read_bytes() if path.exists() else b""
    for row in content.split(b"\n")[:-1]:
        try:
            line = decode_json(row, OutcomePart)
        except InvalidData:
            continue
        if line.identity not in yielded:
            yielded.add(line.identity)
            yield line


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


def _unstarted_folders(folder: Path) -> list[Path]:
    return [path for path in _folders(folder) if not (path / ASKED).exists()]


def _find_run_folder(folder: Path, run: str) -> Path:
    candidates = [
        path for path in _folders(folder) if run and path.name.startswith(run)
    ]
    matches = [fit for fit in candidates if fit.name == run] or candidates
    if len(matches) != 1:
        problem = "No run matches" if not candidates else "More than one run matches"
        raise NotFound(f"{problem} {run}", hint="Run `lrwr eval runs` to list them.")
    return matches[0]


def _create_run_folder(folder: Path, plan: EvalPlan, now: float) -> Path:
    moment = datetime.fromtimestamp(now, UTC)
    name = f"{moment:%Y%m%d-%H%M%S}-{plan.fingerprint[:6]}"
    place, number = folder / name, 1
    while place.exists():
        number += 1
        place = folder / f"{name}-{number}"
    place.mkdir(0o700)
    return place


@contextmanager
def _as_store_problem(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StoreProblem(
            f"{path} cannot be used: {error.strerror}",
            hint="Check the free disk space and the permissions of the folder.",
        ) from error
