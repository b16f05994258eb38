"""Runs of an evaluation, kept in a folder each: listed, read, begun and removed."""

import json
import math
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from lrwr.core.model.errors import NotFound, StoreProblem
from lrwr.core.settings.library import write_private_file
from lrwr.pipeline.evaluation.plan import (
    EvalComponent,
    EvalPlan,
    EvalRun,
    OutcomePart,
    eval_plan_as_json,
)
from lrwr.pipeline.evaluation.questions import (
    EvalQuestion,
    parse_questions,
    serialize_questions,
)

ASKED, QUESTIONS, OUTCOMES = "run.json", "questions.jsonl", "outcomes.jsonl"

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
