"""Confidence intervals and tests for means over questions.

Questions about one file are alike, so files are resampled instead of questions (Efron
and Tibshirani, "An Introduction to the Bootstrap", 1993, chapter 8).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import atan, comb, cos, pi, sin, sqrt
from statistics import NormalDist, fmean
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

RESAMPLED = 10_000
"""Number of bootstrap resamples."""

LEVEL = 0.05
"""Significance level; intervals cover 1 - LEVEL."""

FEW_GROUPS = 10
"""Below this number of groups, resampling groups alone gives too narrow bounds."""

_AT_ONCE = 500
_HALVINGS = 60


@dataclass(frozen=True, slots=True)
class Interval:
    """A value with the lower and upper bound of its 95 % confidence interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class MeanEstimate:
    """A mean with its interval.

    `chance` is the p-value of the mean against zero, by Student's t with the bootstrap
    error. `spread` is the standard deviation that independent questions would need for
    the same error.
    """

    interval: Interval
    chance: float
    spread: float


def bootstrap_mean(
    values: Sequence[float], groups: Sequence[str], *, seed: int = 0
) -> MeanEstimate:
    """Return the mean of `values` with a 95 % bootstrap interval over `groups`.

    `groups` names the group of each value, in the same order; there is at least one
    value. For a paired comparison, pass the differences. Bounds are percentiles of
    `RESAMPLED` (10,000) resamples drawn with `seed`, widened for few groups as
    Hesterberg advises ("What Teachers Should Know about the Bootstrap", 2015). With
    fewer than `FEW_GROUPS` (10) groups, single values are resampled too, Student's
    bounds are computed as well, and the widest bounds are returned. The bounds of a
    single value are infinite.
    """
    bounds = [_bounds(values, groups, seed)]
    if len(set(groups)) < FEW_GROUPS:
        singly = [str(n) for n in range(len(values))]
        bounds.append(_bounds(values, singly, seed))
    finite_bounds = [bound for bound in bounds if bound is not None]
    value = fmean(values)
    if not finite_bounds:
        return MeanEstimate(Interval(value, float("-inf"), float("inf")), 1.0, 0.0)
    low = min(value, *(bound.low for bound in finite_bounds))
    high = max(value, *(bound.high for bound in finite_bounds))
    error = max(bound.error for bound in finite_bounds)
    return MeanEstimate(
        Interval(value, low, high),
        max(bound.chance for bound in finite_bounds),
        error * sqrt(len(values)),
    )


def mcnemar_p_value(a: Sequence[bool], b: Sequence[bool]) -> float:
    """Return the p-value of McNemar's exact two-sided test (1947) on paired outcomes.

    `a` and `b` say for each question whether the one and the other were right. It is
    the binomial test on the questions where only one of the two is right; 1.0 if they
    never disagree.
    """
    only_a = sum(right_a and not right_b for right_a, right_b in zip(a, b, strict=True))
    only_b = sum(right_b and not right_a for right_a, right_b in zip(a, b, strict=True))
    number = only_a + only_b
    tail = sum(comb(number, k) for k in range(min(only_a, only_b) + 1))
    return min(1.0, 2 * tail / (1 << number))


def correct_p_values(p_values: Sequence[float]) -> list[float]:
    """Return p-values corrected for testing all of them, in the order of `p_values`.

    Bonferroni's correction: each is multiplied by their number, at most 1.0.
    """
    return [min(1.0, len(p_values) * p_value) for p_value in p_values]


def estimate_questions_needed(difference: float, spread: float) -> float:
    """Return how many questions would show a mean difference at the 5 % level with 80 %
    power.

    `spread` is the standard deviation of the differences. Infinite for no difference.
    """
    if not difference:
        return float("inf")
    normal = NormalDist()
    reach = normal.inv_cdf(1 - LEVEL / 2) + normal.inv_cdf(0.8)
    needed: float = (reach * spread / difference) ** 2
    return needed


@dataclass(frozen=True, slots=True)
class _Bounds:
    low: float
    high: float
    chance: float
    error: float


def _bounds(
    values: Sequence[float], groups: Sequence[str], seed: int
) -> _Bounds | None:
    """Return bounds by resampling groups; None for a single group."""
    names = {name: n for n, name in enumerate(dict.fromkeys(groups))}
    if len(names) < 2:
        return None
    own = np.array([names[group] for group in groups])
    sums = np.bincount(own, weights=np.array(values, dtype=float)).astype(np.float64)
    means = _resampled(sums, np.bincount(own).astype(np.float64), seed)
    # Groups vary less around their own mean than around the true one.
    widened = sqrt(len(names) / (len(names) - 1))
    reach = _reach(LEVEL, len(names) - 1)
    outside = NormalDist().cdf(-widened * reach)
    low, high = map(float, np.quantile(means, [outside, 1 - outside]))
    error = float(means.std()) * widened
    if len(names) < FEW_GROUPS:
        low = min(low, max(min(values), fmean(values) - reach * error))
        high = max(high, min(max(values), fmean(values) + reach * error))
    return _Bounds(low, high, _chance(fmean(values), error, len(names) - 1), error)


def _resampled(
    sums: "NDArray[np.float64]", sizes: "NDArray[np.float64]", seed: int
) -> "NDArray[np.float64]":
    drawn, number = np.random.default_rng(seed), len(sums)
    means = []
    for _ in range(RESAMPLED // _AT_ONCE):
        chosen = drawn.integers(0, number, size=(_AT_ONCE, number))
        means.append(sums[chosen].sum(axis=1) / sizes[chosen].sum(axis=1))
    return np.concatenate(means)


def _chance(value: float, error: float, freedom: int) -> float:
    """Return the p-value of a mean against 0, by Student's t."""
    if not error:
        return 0.0 if value else 1.0
    return _outside(abs(value) / error, freedom)


def _outside(reach: float, freedom: int) -> float:
    """Return the two-sided tail probability of Student's t beyond `reach`.

    By the finite sums for whole degrees of freedom (Abramowitz and Stegun, 26.7.3-4).
    """
    angle = atan(reach / sqrt(freedom))
    term, total = 1.0, 1.0
    odd = freedom % 2
    for n in range(3 if odd else 2, freedom, 2):
        term *= (n - 1) / n * cos(angle) ** 2
        total += term
    if odd:
        rest = sin(angle) * cos(angle) * total if freedom > 1 else 0.0
        inside = 2 / pi * (angle + rest)
    else:
        inside = sin(angle) * total
    return min(1.0, max(0.0, 1 - inside))


def _reach(level: float, freedom: int) -> float:
    """Return the two-sided critical value of Student's t, by bisection."""
    low, high = 0.0, 1000.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if _outside(middle, freedom) > level:
            low = middle
        else:
            high = middle
    return high
