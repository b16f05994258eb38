"""The file that keeps what a writer's own questions said of searches."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from lrwr.core.model.chunks import Pipeline
from lrwr.core.model.errors import StoreProblem
from lrwr.core.retrieval.confidence import SIGNAL_NAMES, Calibration, SignalTerm
from lrwr.core.settings.library import Library, prepare_state_dir, write_private_file

CALIBRATION_FILE_NAME = "confidence.json"

_FORMAT = 1
_NUMBERS = ("bias", "threshold", "auroc")
_LARGEST = 1_000_000
"""Bytes; a larger file is none of ours."""


def get_calibration_path(library: Library) -> Path:
    """Return where it is, whether it exists or not."""
    return library.state_dir / CALIBRATION_FILE_NAME


def load_calibrations(path: Path) -> tuple[list[Calibration], str]:
    """Return what is kept, and a sentence for the writer if the file is no good.

    A file that cannot be understood counts as none: what lrwr ships is used then.
    """
    try:
        if not path.exists():
            return [], ""
        if path.stat().st_size > _LARGEST:
            raise ValueError("too large")
        told = json.loads(path.read_text(encoding="utf-8"))
        if told["format"] != _FORMAT:
            raise ValueError("another format")
        return [_calibration(one) for one in told["calibrations"]], ""
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return [], (
            f"{path} is damaged or of another lrwr, and not used. `lrwr eval --reset`"
            " removes it."
        )


def save_calibrations(library: Library, calibrations: Sequence[Calibration]) -> Path:
    """Keep `calibrations` and nothing else, and return where.

    Raises:
        StoreProblem: The file cannot be written.
    """
    path = get_calibration_path(library)
    told = {"format": _FORMAT, "calibrations": [asdict(one) for one in calibrations]}
    prepare_state_dir(library)
    try:
        write_private_file(path, json.dumps(told, ensure_ascii=False, indent=2) + "\n")
    except OSError as error:
        raise StoreProblem(
            f"{path} cannot be written: {error.strerror}",
            hint="Check the disk and your rights there.",
        ) from error
    return path


def delete_calibrations(library: Library) -> bool:
    """Go back to what lrwr ships; False where nothing else was kept.

    Raises:
        StoreProblem: The file cannot be removed.
    """
    path = get_calibration_path(library)
    try:
        path.unlink()
    except FileNotFoundError:
        return False
    except OSError as error:
        raise StoreProblem(
            f"{path} cannot be removed: {error.strerror}",
            hint="Check your rights there.",
        ) from error
    return True


def _calibration(told: Mapping[str, object]) -> Calibration:
    bias, threshold, auroc = (_number(told[name]) for name in _NUMBERS)
    terms, questions = told["terms"], told["questions"]
    if not isinstance(terms, list) or not isinstance(questions, int):
        raise ValueError("no calibration")
    return Calibration(
        ranking=str(told["ranking"]),
        pipeline=Pipeline(str(told["pipeline"])),
        bias=bias,
        terms=tuple(_term(term) for term in terms),
        threshold=threshold,
        questions=questions,
        auroc=auroc,
        source=str(told["source"]),
    )


def _term(told: Mapping[str, object]) -> SignalTerm:
    weight, mean, scale = (_number(told[name]) for name in ("weight", "mean", "scale"))
    if told["signal"] not in SIGNAL_NAMES or scale <= 0:
        raise ValueError("no such signal")
    return SignalTerm(str(told["signal"]), weight, mean, scale)


def _number(told: object) -> float:
    if not isinstance(told, int | float) or not math.isfinite(told):
        raise ValueError("no number")
    return float(told)
