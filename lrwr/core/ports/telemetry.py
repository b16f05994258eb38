"""Traces: what the steps of a turn or an ingestion were, and how long each took."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol, TypeAlias

from lrwr.core.model.language_model import Usage

TraceFactValue: TypeAlias = str | int | float | bool
"""What is told of a step: a count, a time, a model's name, an id."""
TraceFacts: TypeAlias = Mapping[str, TraceFactValue]
TraceTexts: TypeAlias = Mapping[str, str | tuple[str, ...]]
"""Words of the writer's, of the manuscript, or of an answer."""


class TraceStepKind(StrEnum):
    """What a step is."""

    CHAIN = "chain"
    RETRIEVER = "retriever"
    TOOL = "tool"
    LLM = "llm"


@dataclass(frozen=True, slots=True)
class TraceError:
    """Why a step has no end of its own: `kind` is a class of error, `told` its words."""

    kind: str
    told: str = ""


@dataclass(frozen=True, slots=True)
class TraceSpan:
    """A step that is over, with the steps in it; the outermost is a whole trace.

    Times are in seconds since 1970. `name`, `facts` and the error's `kind` hold no word
    of the writer's; `inputs`, `outputs` and what is `told` may.
    """

    name: str
    kind: TraceStepKind
    started: float
    ended: float
    facts: TraceFacts = field(default_factory=dict)
    inputs: TraceTexts = field(default_factory=dict)
    outputs: TraceTexts = field(default_factory=dict)
    error: TraceError | None = None
    steps: tuple["TraceSpan", ...] = ()


class Tracer(Protocol):
    """Where traces are kept."""

    def keep(self, trace: TraceSpan) -> None:
        """Take a trace, and keep it beside whatever goes on.

        It never waits and never raises: a trace that cannot be kept disturbs nothing.
        Each is kept once, whole. After `aclose` nothing is taken.
        """
        ...

    async def aclose(self) -> None:
        """Wait, not for long, for what is under way, and let go. Safe to call twice."""
        ...


def usage_to_facts(usage: Usage) -> dict[str, TraceFactValue]:
    """Return the calls and tokens of a usage as facts of a trace step."""
    return {
        "calls": usage.calls,
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
    }


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
