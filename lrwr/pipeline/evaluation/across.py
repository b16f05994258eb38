"""Two runs against each other, an arm at a time, where they asked the same."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from lrwr.pipeline.evaluation.comparing import Comparison, compared
from lrwr.pipeline.evaluation.judging import is_a_try
from lrwr.pipeline.evaluation.outcomes import Outcome
from lrwr.pipeline.evaluation.planned import Matched, Run, matched
from lrwr.pipeline.evaluation.reporting import headline_of


@dataclass(frozen=True, slots=True)
class Across:
    """What two runs say of each arm that both have, the second against the first."""

    matched: Matched
    arms: tuple[tuple[Comparison, ...], ...]


def across(one: Run, other: Run) -> Across:
    """Compare two runs; without questions in common nothing is compared."""
    found = matched(one, other)
    before, after = found.outcomes
    names = [arm.name for arm in one.plan.arms]
    groups = {asked.id: asked.group for asked in one.plan.questions}
    headline = headline_of(one.plan.budgets)
    arms = []
    for name in names:
        a, b = _of(before, name, "then"), _of(after, name, "now")
        if a and b:
            shared = [figure for figure in _figures(a) if figure in _figures(b)]
            arms.append(tuple(compared(a, b, shared, groups=groups, headline=headline)))
    return Across(found, tuple(arms))


def _of(outcomes: Sequence[Outcome], arm: str, when: str) -> list[Outcome]:
    return [replace(one, arm=f"{arm} {when}") for one in outcomes if one.arm == arm]


def _figures(outcomes: Sequence[Outcome]) -> list[str]:
    names = dict.fromkeys(
        name for one in outcomes for name in (*one.figures, *one.failed)
    )
    return [name for name in names if not is_a_try(name)]
