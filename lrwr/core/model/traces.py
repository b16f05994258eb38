"""Values of telemetry: traces of work, and results of evaluations as experiments.

The user's text never occurs in names, kinds, facts and classes of errors. Fields that
may contain it say so; they are sent only if the user allows it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from lrwr.core.model.language_model import Usage

TraceFactValue: TypeAlias = str | int | float | bool
"""One measured or configured value of a step: a count, a duration, a model name, an id."""

TraceFacts: TypeAlias = Mapping[str, TraceFactValue]

TraceTexts: TypeAlias = Mapping[str, str | tuple[str, ...]]
"""Texts by name: words of the user, the manuscript or an answer."""


class TraceStepKind(StrEnum):
    """Kind of a trace step, in the words of LangSmith: retriever, tool, language model
    call, or chain (any other step).
    """

    CHAIN = "chain"
    RETRIEVER = "retriever"
    TOOL = "tool"
    LLM = "llm"


@dataclass(frozen=True, slots=True)
class TraceError:
    """The error of a failed step: `kind` is the name of its class.

    `message` may contain the user's text; `kind` never does.
    """

    kind: str
    message: str = ""


@dataclass(frozen=True, slots=True)
class TraceSpan:
    """A finished step of work, with the steps inside it; the outermost one is the whole
    trace.

    `started` and `ended` are in seconds since 1970, UTC. `facts` are counts, durations,
    names and ids. `inputs`, `outputs` and the message of `error` may contain the user's
    text; nothing else does. `error` is None if the step succeeded.
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


def usage_to_facts(usage: Usage) -> dict[str, TraceFactValue]:
    """Return the numbers of a usage for a trace step, under the keys "calls",
    "prompt_tokens" and "completion_tokens".
    """
    return {
        "calls": usage.calls,
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
    }


@dataclass(frozen=True, slots=True)
class GoldenExample:
    """A question with a known answer; `number` is its position in its set, from 1.

    `inputs` (the question) and `outputs` (the known answer) may contain the user's
    text; `facts` do not.
    """

    number: int
    facts: TraceFacts
    inputs: TraceTexts = field(default_factory=dict)
    outputs: TraceTexts = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class GoldenSet:
    """The questions of an evaluation.

    `key` is unique among all sets of all libraries and is never sent; ids are derived
    from it. `title` may contain the user's text.
    """

    key: str
    title: str
    examples: tuple[GoldenExample, ...]


@dataclass(frozen=True, slots=True)
class MeasureScore:
    """The score of one question on one evaluation measure.

    `measure` is the name of the measure; `value` is from 0.0 to 1.0, None if it could
    not be computed.
    """

    measure: str
    value: float | None


@dataclass(frozen=True, slots=True)
class ExperimentResult:
    """The result for one question of a golden set: the example with this `number`, from
    1.

    `seconds` is the time that the answer took. `scores` has one item per measure.
    `failed` means that the question could not be answered.
    """

    number: int
    seconds: float
    facts: TraceFacts
    scores: tuple[MeasureScore, ...]
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Experiment:
    """The results of one way of answering on all questions of a golden set (questions
    with known answers).

    `key` is unique among the experiments on a set and is never sent. `facts` are
    settings and counts. No field contains the user's text.
    """

    key: str
    name: str
    description: str
    facts: TraceFacts
    results: tuple[ExperimentResult, ...]
