"""Who reads closely: what a passage is, and what it says of people and world."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from lrwr.core.model.facts import Fact
from lrwr.core.model.text import Span
from lrwr.core.model.usage import Usage


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A stretch of one document that is read at once.

    `text` is the document's text at `span`, verbatim. `before` are the sentences that
    stand before it, for understanding only. `known` are names of characters that
    occur in it, as they are to be called. `where` says in words what is read ("The
    Marsh Lantern, chapter 3, scene 2"); no result depends on it.
    """

    span: Span
    text: str
    before: str
    known: tuple[str, ...]
    where: str


@dataclass(frozen=True, slots=True)
class ExcerptFinding:
    """What was read out of one excerpt.

    `facts` have spans of the document. `failed` says why the excerpt could not be
    read, in the writer's words; it has no facts then.
    """

    facts: tuple[Fact, ...]
    failed: str = ""


class Analyst(Protocol):
    """Reads excerpts closely. Results depend on the excerpt's content alone."""

    @property
    def name(self) -> str:
        """Name who reads: `rules`, or the model. It is the keeper of the facts."""
        ...

    @property
    def revision(self) -> str:
        """Name everything that results depend on besides the excerpt."""
        ...

    def prompt_tokens(self, excerpts: Sequence[Excerpt], *, extracting: bool) -> int:
        """Return about how many tokens it takes to ask; 0 where no model is asked."""
        ...

    async def classify(
        self, excerpts: Sequence[Excerpt]
    ) -> tuple[list[ExcerptFinding], Usage]:
        """Return what each excerpt is: facts about `PASSAGE` and `GAP`, in order.

        At most `EXCERPTS_PER_CALL` excerpts, consecutive ones of one document, are read in one
        call; give them in reading order.

        Raises:
            ServiceUnavailable: The model's server did not answer.
        """
        ...

    async def extract(self, excerpt: Excerpt) -> tuple[ExcerptFinding, Usage]:
        """Return what an excerpt of some pages says: all other facts.

        Raises:
            ServiceUnavailable: The model's server did not answer.
        """
        ...


EXCERPTS_PER_CALL = 16
"""Excerpts that are classified in one call."""

EXTRACTION_WINDOW_TOKENS = 6000
"""Tokens of an excerpt to extract from, at most, if no single scene is longer."""
