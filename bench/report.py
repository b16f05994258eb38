"""Lines of figures with goals, and the table that shows them."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Literal

Sense = Literal["<=", ">="]


@dataclass(frozen=True, slots=True)
class Line:
    """One figure of a part of the benchmarks.

    `value` None means that it was not measured, and `note` or `name` says why. `sense`
    says whether `goal` is an upper (`<=`) or a lower (`>=`) bound, which may be met
    exactly; `goal` None means that there is none. With `required` the run fails if the
    goal is not met.
    """

    part: str
    name: str
    value: float | None
    unit: str = ""
    goal: float | None = None
    sense: Sense = "<="
    note: str = ""
    also: Mapping[str, float] = field(default_factory=dict)
    """Figures that belong to this one and have no line of their own."""
    required: bool = False

    @property
    def verdict(self) -> str:
        """Whether the goal is met: "met" or "NOT MET"; empty without a goal.

        Without a value it is "not measured" if there is a goal, else "skipped".
        """
        if self.value is None:
            return "skipped" if self.goal is None else "not measured"
        if self.goal is None:
            return ""
        met = self.value <= self.goal if self.sense == "<=" else self.value >= self.goal
        return "met" if met else "NOT MET"

    def as_json(self) -> dict[str, object]:
        """Return the fields and the verdict as JSON values."""
        return {**asdict(self), "verdict": self.verdict}


def skipped(part: str, why: str) -> list[Line]:
    """Return one line for a part that was not measured; `why` is shown as its name."""
    return [Line(part, why, None)]


def table(lines: Sequence[Line]) -> str:
    """Return `lines` as a text table with headings, in their order."""
    rows = [("part", "what", "figure", "goal", "verdict", "")]
    rows += [(n.part, n.name, _figure(n), _goal(n), n.verdict, _rest(n)) for n in lines]
    widths = [max(len(row[column]) for row in rows) for column in range(5)]
    shown = []
    for part, name, figure, goal, verdict, note in rows:
        cells = (
            part.ljust(widths[0]),
            name.ljust(widths[1]),
            figure.rjust(widths[2]),
            goal.rjust(widths[3]),
            verdict.ljust(widths[4]),
            note,
        )
        shown.append("  ".join(cells).rstrip())
    return "\n".join(shown)


def summary(lines: Sequence[Line]) -> str:
    """Return as sentences how many goals are met, and which are not.

    A goal whose figure was not measured counts as not met.
    """
    judged = [line for line in lines if line.goal is not None]
    missed = [line for line in judged if line.verdict != "met"]
    text = f"{len(judged) - len(missed)} of {len(judged)} goals met."
    if missed:
        text += " Not met: " + "; ".join(f"{n.part}: {n.name}" for n in missed) + "."
    return text


def say(text: str) -> None:
    """Print `text`, a message about progress, on stderr."""
    print(text, file=sys.stderr, flush=True)


def _figure(line: Line) -> str:
    return "-" if line.value is None else f"{_number(line.value)} {line.unit}".rstrip()


def _goal(line: Line) -> str:
    if line.goal is None:
        return ""
    return f"{'≤' if line.sense == '<=' else '≥'} {_number(line.goal)}"


def _rest(line: Line) -> str:
    also = [f"{name} {_number(value)}" for name, value in line.also.items()]
    return ", ".join([*also, *([line.note] if line.note else [])])


def _number(value: float) -> str:
    if float(value).is_integer() or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}" if abs(value) >= 1 else f"{value:.3f}"
