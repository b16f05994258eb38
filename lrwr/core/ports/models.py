"""A language model that is asked for an answer of a given shape."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol

from lrwr.core.model.facts import Fact
from lrwr.core.model.language_model import Usage
from lrwr.core.model.text import Span
from lrwr.core.model.turns import Citation

if TYPE_CHECKING:
    from lrwr.core.model.chunks import Vectors


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message to a model."""

    role: Literal["system", "user", "assistant"]
    text: str


@dataclass(frozen=True, slots=True)
class ReplyShape:
    """The JSON that is asked for: a name, and a strict JSON schema as JSON text."""

    name: str
    schema: str


@dataclass(frozen=True, slots=True)
class ChatReply:
    """What a model said, and the tokens that it took, as its server counts them."""

    text: str
    prompt_tokens: int
    completion_tokens: int


class ChatModel(Protocol):
    """One model of one server.

    Calls run at once up to the server's limit, which the adapter keeps; it waits and
    tries again where the server asks for it, and only there are retries made.
    """

    @property
    def name(self) -> str:
        """Name the model, as the server does."""
        ...

    async def fill(
        self, messages: Sequence[ChatMessage], shape: ReplyShape
    ) -> ChatReply:
        """Return a reply that the server was told to keep to `shape`.

        Whether it did is not checked.

        Raises:
            ServiceUnavailable: The server did not answer, or refused.
        """
        ...

    def stream(self, messages: Sequence[ChatMessage]) -> AsyncGenerator[str]:
        """Yield a free answer, piece by piece, as the server sends it.

        Raises:
            ServiceUnavailable: The server did not answer, refused, or broke off.
        """
        ...


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


class Embedder(Protocol):
    """Nearness of meaning as nearness of vectors."""

    @property
    def space(self) -> str:
        """Name the embedding space; vectors of two spaces are never compared."""
        ...

    @property
    def dimensions(self) -> int:
        """Return the length of a vector."""
        ...

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return how many tokens each text has, in the same order.

        Markers that the model adds at the ends are not counted.
        """
        ...

    async def embed(self, texts: Sequence[str]) -> "Vectors":
        """Return one vector for each text, in the same order, of length 1.0.

        The vector of a text does not depend on the texts beside it.

        Raises:
            ServiceUnavailable: The model could not be loaded or did not answer.
        """
        ...


class Reranker(Protocol):
    """Reads question and passage together."""

    @property
    def name(self) -> str:
        """Name the reranker; thresholds are kept for each name."""
        ...

    async def rerank(self, question: str, passages: Sequence[str]) -> list[float]:
        """Return how well each passage answers, in the same order; higher is better.

        Scores compare within one call only.

        Raises:
            ServiceUnavailable: The model could not be loaded or did not answer.
        """
        ...
