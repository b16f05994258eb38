"""Who answers questions of a golden set, so that the answers can be judged."""

from dataclasses import dataclass, field
from typing import Protocol

from lrwr.core.model.turns import Citation
from lrwr.core.model.usage import Usage


@dataclass(frozen=True, slots=True)
class GroundedAnswer:
    """An answer, and what it was made from.

    `citations` are what its numbers stand for; one without words stands for a number
    that was made up. `contexts` are the texts that were given, best first. `says_gap`
    is an answer that says that the text does not tell; `doubts` is one that was given
    with the warning that its evidence is weak. `seconds` is how long it took. `price`
    is in US dollars, None where it is not known.
    """

    text: str
    citations: tuple[Citation, ...]
    contexts: tuple[str, ...]
    says_gap: bool
    seconds: float
    doubts: bool = False
    usage: Usage = field(default_factory=Usage)
    price: float | None = None


class Answerer(Protocol):
    """Answers questions about one library, each as if it were the first."""

    @property
    def name(self) -> str:
        """Name the language model that answers; empty where the text speaks itself."""
        ...

    async def answer(self, question: str, as_of: str) -> GroundedAnswer:
        """Answer from what the story tells by `as_of`; empty is all of it.

        Nothing of it is kept among the writer's conversations.

        Raises:
            NotFound: The story has no such place.
            ServiceUnavailable: The model did not answer.
            StoreProblem: The library cannot be read.
        """
        ...
