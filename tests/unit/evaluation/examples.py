"""Questions for tests of fitting: one signal tells what is found, or none does."""

from lrwr.core.retrieval.confidence import SIGNAL_NAMES, RankingSignals
from lrwr.pipeline.evaluation.calibration import CalibrationExample


def example(
    n: int, *, found: bool, answerable: bool = True, **given: float
) -> CalibrationExample:
    """One question of a group of three."""
    row = dict.fromkeys(SIGNAL_NAMES, 0.5) | {"margin": n * 37 % 100 / 100} | given
    return CalibrationExample(
        f"book {n // 3}", RankingSignals(**row), found, answerable or found
    )


def told_by(
    signal: str, number: int = 90, *, upside_down: bool = False
) -> list[CalibrationExample]:
    """Questions of which the half with more of `signal` are found, or with less."""
    return [
        example(
            n,
            found=(value > 0.5) is not upside_down,
            answerable=n % 4 == 0,
            **{signal: value},
        )
        for n, value in enumerate(n * 61 % number / number for n in range(number))
    ]


def told_by_nothing(number: int = 90) -> list[CalibrationExample]:
    """Questions whose signals have nothing to do with what is found."""
    return [
        example(n, found=n % 3 == 0, answerable=n % 2 == 0, top=n * 29 % 31 / 31)
        for n in range(number)
    ]
