"""Who judges an answer: what it is worth, beyond what can be counted."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from lrwr.core.model.usage import Usage


@dataclass(frozen=True, slots=True)
class JudgeSample:
    """An answer that is to be judged.

    `contexts` are the texts that it was made from, best first. `reference` is what a
    good answer says, empty where nobody wrote one. `says_gap` is an answer that says
    that the text does not tell: it claims nothing that could be unfaithful.
    """

    question: str
    answer: str
    contexts: tuple[str, ...]
    reference: str = ""
    says_gap: bool = False


@dataclass(frozen=True, slots=True)
class JudgeResult:
    """What one try at judging brought.

    `values` are from 0.0 to 1.0. `failed` says in a sentence why a figure was tried
    and not got. A figure in neither does not apply to the sample.
    """

    values: Mapping[str, float]
    failed: Mapping[str, str] = field(default_factory=dict)
    usage: Usage = field(default_factory=Usage)


class AnswerJudge(Protocol):
    """A judge that is always the same model: another one is another judge."""

    @property
    def name(self) -> str:
        """Name the language model that judges."""
        ...

    @property
    def revision(self) -> str:
        """Name all that a judgement depends on beside the sample."""
        ...

    @property
    def figures(self) -> tuple[str, ...]:
        """Name the figures that it can give."""
        ...

    def estimate(self, sample: JudgeSample) -> Usage:
        """Return about what one try takes: calls and tokens."""
        ...

    async def judge(self, sample: JudgeSample) -> JudgeResult:
        """Judge a sample once. Doing it again asks again, and may say otherwise.

        A server that does not answer and a reply that cannot be understood are
        failures of the figure, told in the result; nothing is raised for them.
        """
        ...
