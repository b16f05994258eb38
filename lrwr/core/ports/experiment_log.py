"""Results of evaluations, kept where runs can be looked at and held together."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from lrwr.core.ports.tracer import TraceFacts, TraceTexts


@dataclass(frozen=True, slots=True)
class GoldenExample:
    """A question whose answer is known; `number` is its place in its set, from 1.

    `facts` hold no word of the writer's; `inputs` and `outputs` may.
    """

    number: int
    facts: TraceFacts
    inputs: TraceTexts = field(default_factory=dict)
    outputs: TraceTexts = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class GoldenSet:
    """The questions of an evaluation.

    `key` tells it from every other set, of any library; it is never sent. `title` may
    hold words of the writer's.
    """

    key: str
    title: str
    examples: tuple[GoldenExample, ...]


@dataclass(frozen=True, slots=True)
class MeasureScore:
    """What a measure says of a question: 0.0 to 1.0, None where that failed."""

    measure: str
    value: float | None


@dataclass(frozen=True, slots=True)
class ExperimentResult:
    """What came of a question, by its number. `seconds` is how long that took."""

    number: int
    seconds: float
    facts: TraceFacts
    scores: tuple[MeasureScore, ...]
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Experiment:
    """One way of answering, tried on a golden set.

    `key` tells it from the others on its set, and is never sent. `name`, `told` and
    `facts` hold no word of the writer's.
    """

    key: str
    name: str
    told: str
    facts: TraceFacts
    results: tuple[ExperimentResult, ...]


class ExperimentLog(Protocol):
    """Where results of evaluations are kept."""

    async def keep(
        self,
        golden: GoldenSet,
        experiments: Sequence[Experiment],
        on_stored: Callable[[], None] | None = None,
    ) -> str:
        """Store a set and its experiments, in order, and return the set's name in the log.

        `on_stored` is called after each experiment. Idempotent: what is already stored
        is updated where it differs, and what is missing is added, even after an
        earlier call failed.

        Raises:
            ServiceUnavailable: Not all could be kept; try again later.
        """
        ...
