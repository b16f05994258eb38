"""How it is shown what searches are worth on questions whose answers are known."""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

from lrwr.app.presenters.text import StyledText
from lrwr.cli.runtime.output import Output
from lrwr.core.retrieval.confidence import Calibration
from lrwr.pipeline.evaluation.calibration_check import CalibrationTrial
from lrwr.pipeline.evaluation.figures import CalibrationFigures, Interval

_RANKINGS = {
    "late-interaction": "looked at a second time",
    "cohere": "looked at a second time by Cohere",
    "off": "not looked at a second time",
    "people": "about who says what",
}


def describe_ranking(ranking: str) -> str:
    """Return how passages were ranked, in words, and the name of it."""
    description = _RANKINGS.get(ranking.partition("/")[0])
    return f"{description} ({ranking})" if description else ranking


def describe_calibrations(calibrations: Sequence[Calibration]) -> list[str]:
    """Say what was fitted on the writer's questions, a sentence for each ranking."""
    return [
        f"How sure a search is, {describe_ranking(calibration.ranking)}: fitted on your"
        f" questions; {calibration.questions} of them, AUROC {_two(calibration.auroc)}; weak below"
        f" {_two(calibration.threshold)}."
        for calibration in calibrations
    ]


def show_calibration_trial(output: Output, trial: CalibrationTrial) -> None:
    """Show one ranking's questions, and the figures side by side."""
    missed = trial.questions - trial.found - trial.unanswerable
    output.answer(StyledText(f"Searches {describe_ranking(trial.ranking)}", "strong"))
    output.answer(
        f"{trial.questions} questions: {trial.found} found among the first passages,"
        f" {missed} missed, {trial.unanswerable} that the text does not answer."
    )
    if trial.short_of:
        output.answer(f"Not fitted: {trial.short_of}.")
    sides = [side for side in (trial.shipped, trial.own) if side is not None]
    if sides:
        headings = ["", *(["as shipped"] if trial.shipped else [])]
        headings += ["fitted here"] if trial.own else []
        output.table(headings, [[n, *map(of, sides)] for n, of in _rows(sides)])
    output.answer()


def print_calibration_advice(
    output: Output, trials: Sequence[CalibrationTrial], saved: Path | None
) -> None:
    """Say what the figures mean, and what was kept."""
    output.story(
        "AUROC: of two questions, how often the right one is the surer; .5 is chance."
        " Brier error: 0 is best; in brackets, of one guess for all. What was fitted is"
        " tried on questions that were left out of the fit."
    )
    if any(trial.calibration and trial.chance for trial in trials):
        output.warn(
            "What was fitted may be no better than chance: then `weak` says little."
        )
    if saved is not None:
        output.story(f"Kept in {saved}; `lrwr eval --reset` goes back.")
    else:
        output.story("Nothing was kept; `--save` does.")


def calibration_trials_as_json(
    trials: Sequence[CalibrationTrial], remarks: Sequence[str], saved: Path | None
) -> dict[str, object]:
    """Return what a script may want to know."""
    return {
        "rankings": [
            {
                "ranking": trial.ranking,
                "questions": trial.questions,
                "found": trial.found,
                "unanswerable": trial.unanswerable,
                "shipped": _figures(trial.shipped),
                "fitted": _figures(trial.own),
                "calibration": trial.calibration
                and calibration_as_json(trial.calibration),
                "short_of": trial.short_of,
            }
            for trial in trials
        ],
        "remarks": list(remarks),
        "saved": None if saved is None else str(saved),
    }


def calibration_as_json(calibration: Calibration) -> dict[str, object]:
    """Return a fitted model, whole."""
    return asdict(calibration)


def _figures(figures: CalibrationFigures | None) -> dict[str, object] | None:
    return None if figures is None else asdict(figures)


_Row = tuple[str, Callable[[CalibrationFigures], str]]


def _rows(sides: Sequence[CalibrationFigures]) -> list[_Row]:
    rows: list[_Row] = [
        ("AUROC, found", lambda side: _interval(side.found)),
        ("AUROC, answerable", lambda side: _interval(side.answerable)),
        ("Brier error", lambda side: f"{_two(side.brier)} ({_two(side.plain_brier)})"),
        ("weak below", lambda side: _two(side.threshold)),
        ("found, called weak", lambda side: _share(side.doubted.found)),
        ("missed, called weak", lambda side: _share(side.doubted.missed)),
        ("unanswerable, called weak", lambda side: _share(side.doubted.unanswerable)),
    ]
    for n, coverage in enumerate(sides[0].coverage):
        name = f"wrong, surest {coverage.coverage:.0%} shown"
        rows.append((name, _wrong(n)))
    return rows


def _wrong(row: int) -> Callable[[CalibrationFigures], str]:
    return lambda side: _two(1 - side.coverage[row].right)


def _interval(interval: Interval | None) -> str:
    if interval is None:
        return "-"
    return f"{_two(interval.value)} ({_two(interval.low)} to {_two(interval.high)})"


def _share(share: float | None) -> str:
    return "-" if share is None else _two(share)


def _two(value: float) -> str:
    return f"{value:.2f}"
