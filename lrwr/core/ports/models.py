"""Interfaces of language models, embedding models, rerankers, analysts and judges."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol

from lrwr.core.model.chunks import Chunk, TextHash
from lrwr.core.model.facts import Fact
from lrwr.core.model.language_model import Usage
from lrwr.core.model.text import Span

if TYPE_CHECKING:
    from lrwr.core.model.chunks import Vectors
    from lrwr.core.model.turns import Citation


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message of a request to a language model: its role (system, user or
    assistant) and text.
    """

    role: Literal["system", "user", "assistant"]
    text: str


@dataclass(frozen=True, slots=True)
class ReplyShape:
    """The format in which a language model must reply.

    `schema` is the text of a strict JSON schema; `name` is the name under which it is
    sent to the model. `most_tokens` limits the length of the reply, which is then cut
    off; 0 means the limit that the settings name.
    """

    name: str
    schema: str
    most_tokens: int = 0


@dataclass(frozen=True, slots=True)
class ChatReply:
    """A language model's reply, with the numbers of tokens that the server reports."""

    text: str
    prompt_tokens: int
    completion_tokens: int

    @property
    def usage(self) -> Usage:
        """The use of one call."""
        return Usage(1, self.prompt_tokens, self.completion_tokens)


class ChatModel(Protocol):
    """One language model of one server.

    The adapter limits concurrent calls and retries when the server asks for it;
    callers do not retry.
    """

    @property
    def name(self) -> str:
        """The model's name, as its server knows it."""
        ...

    async def fill(
        self, messages: Sequence[ChatMessage], shape: ReplyShape
    ) -> ChatReply:
        """Return a reply to `messages` in the JSON format `shape`, without validating
        it.

        Raises:
            ServiceUnavailable: The server did not answer, or refused the request.
        """
        ...

    def stream(self, messages: Sequence[ChatMessage]) -> AsyncGenerator[str]:
        """Yield the pieces of a free-text reply to `messages` as the server sends them.

        Raises:
            ServiceUnavailable: The server did not answer, refused the request, or
                closed the connection early.
        """
        ...


UNSURE_MARK = " (a person?)"
"""Ends the line of a character in `Excerpt.cast` that may be no person."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A section of one document that is analysed in one call.

    `text` is the document's text at `span`, verbatim. `before` is preceding text, for
    context only. `known` are canonical names of characters that occur in it. `where`
    describes the location in words ("The Marsh Lantern, chapter 3, scene 2"); no result
    depends on it. `cast` are lines of characters with their aliases; if there are any,
    a prompt shows them instead of `known`. No cache key depends on them.
    """

    span: Span
    text: str
    before: str
    known: tuple[str, ...]
    where: str
    cast: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ExcerptFinding:
    """Facts found in one excerpt, with spans in the document.

    `failed` is a reason, for users, why the excerpt could not be analysed; `facts` is
    then empty. If `failed` is empty, the excerpt was analysed, even if it has no facts.
    """

    facts: tuple[Fact, ...]
    failed: str = ""


class Analyst(Protocol):
    """Extracts facts from excerpts, by rules or with a language model.

    Results depend on an excerpt's content only.
    """

    @property
    def name(self) -> str:
        """`rules`, or the language model's name; stored with each fact as its
        source.
        """
        ...

    @property
    def revision(self) -> str:
        """A text that identifies everything that results depend on besides the excerpt,
        such as the prompts; part of cache keys.
        """
        ...

    def prompt_tokens(self, excerpts: Sequence[Excerpt], *, extracting: bool) -> int:
        """Estimate the number of prompt tokens of one request; 0 without a language
        model.

        With `extracting`, for the request of `extract`, otherwise for that of
        `classify`.
        """
        ...

    async def classify(
        self, excerpts: Sequence[Excerpt]
    ) -> tuple[list[ExcerptFinding], Usage]:
        """Return the passage labels and gaps of each excerpt, in the order of
        `excerpts`.

        The findings are facts about `PASSAGE` and `GAP`. Up to `EXCERPTS_PER_CALL`
        consecutive excerpts of one document share one model call, so pass them in text
        order.

        Raises:
            ServiceUnavailable: The language model did not answer.
        """
        ...

    async def extract(self, excerpt: Excerpt) -> tuple[ExcerptFinding, Usage]:
        """Return the facts of an excerpt of several pages, except passage labels and
        gaps, and the calls and tokens used.

        Raises:
            ServiceUnavailable: The language model did not answer.
        """
        ...


EXCERPTS_PER_CALL = 16
"""Excerpts that are classified in one call."""
EXTRACTION_WINDOW_TOKENS = 6000
"""Tokens of an excerpt to extract from, at most, if no single scene is longer."""


@dataclass(frozen=True, slots=True)
class JudgeSample:
    """A question with an answer that a language model is to judge.

    `contexts` are the texts from which the answer was made, best first. `reference` is
    the expected answer, empty if there is none. `says_gap` marks an answer that reports
    a gap; it states nothing that could be unfaithful.
    """

    question: str
    answer: str
    contexts: tuple[str, ...]
    reference: str = ""
    says_gap: bool = False


@dataclass(frozen=True, slots=True)
class JudgeResult:
    """Scores of one judgement, with the calls and tokens used.

    `values` maps names of figures (measures such as faithfulness) to scores from 0.0 to
    1.0. `failed` maps figures that could not be computed to a reason. A figure in
    neither does not apply to the sample.
    """

    values: Mapping[str, float]
    failed: Mapping[str, str] = field(default_factory=dict)
    usage: Usage = field(default_factory=Usage)


class AnswerJudge(Protocol):
    """Scores answers with one language model, for example for faithfulness."""

    @property
    def name(self) -> str:
        """The judging language model's name."""
        ...

    @property
    def revision(self) -> str:
        """A text that identifies everything that a judgement depends on besides the
        sample, such as the prompts.
        """
        ...

    @property
    def figures(self) -> tuple[str, ...]:
        """The names of the figures (measures such as faithfulness) that the judge can
        compute.
        """
        ...

    def estimate(self, sample: JudgeSample) -> Usage:
        """Estimate the calls and tokens of judging `sample` once, without a request."""
        ...

    async def judge(self, sample: JudgeSample) -> JudgeResult:
        """Judge a sample once. Not deterministic: another call may return other scores.

        A server that does not answer, or an invalid reply, is reported in
        `JudgeResult.failed`; nothing is raised.
        """
        ...


@dataclass(frozen=True, slots=True)
class GroundedAnswer:
    """An answer to a golden question (one with a known answer), and its sources.

    `citations` are the passages behind the numbers in brackets; a citation without text
    stands for a number that the model invented. `contexts` are the retrieved texts,
    best first. `says_gap` marks an answer that reports a gap, `doubts` one that warns
    that the search found little. `seconds` is the time that the answer took. `price` is
    in US dollars, None if unknown.
    """

    text: str
    citations: "tuple[Citation, ...]"
    contexts: tuple[str, ...]
    says_gap: bool
    seconds: float
    doubts: bool = False
    usage: Usage = field(default_factory=Usage)
    price: float | None = None


class Answerer(Protocol):
    """Answers questions of a golden set, each in a new thread that is not saved."""

    @property
    def name(self) -> str:
        """The name of the language model that answers; empty if answers consist of
        quotations.
        """
        ...

    async def answer(self, question: str, as_of: str) -> GroundedAnswer:
        """Answer a question from the story up to the horizon `as_of`; if empty, from
        all of it.

        Raises:
            NotFound: The horizon does not exist in the story.
            ServiceUnavailable: The language model did not answer.
            StoreProblem: The library cannot be read.
        """
        ...


EmbeddingRole = Literal["passage", "query"]
"""What an embedded text is for: a passage is found, a query finds passages."""


class TokenStateModel(Protocol):
    """An embedding model that can do more with the states of its tokens.

    Only the model that comes with lrwr can; it runs on this machine.
    """

    async def embed_with_states(
        self, chunks: Sequence[Chunk]
    ) -> "tuple[Vectors, Sequence[bytes]]":
        """Return the vectors of `chunks`, a row for each as `Embedder.embed` computes
        them, and the encoded token states of their texts, from which search reranks.

        Raises:
            ServiceUnavailable: The model cannot be loaded.
        """
        ...

    async def sketch(self, texts: Sequence[str]) -> "Vectors":
        """Return a rough vector of length 1.0 per text, in the order of `texts`.

        It takes a hundredth of the time of `embed`; both kinds are not comparable.

        Raises:
            ServiceUnavailable: The model cannot be loaded.
        """
        ...


class Embedder(Protocol):
    """An embedding model: turns texts into vectors."""

    @property
    def token_states(self) -> TokenStateModel | None:
        """What computes token states with this model; None if nothing can."""
        ...

    @property
    def space(self) -> str:
        """The name of the embedding space.

        Vectors of different spaces are not comparable.
        """
        ...

    @property
    def dimensions(self) -> int:
        """The number of elements of a vector."""
        ...

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text, in the order of `texts`, without
        special tokens.
        """
        ...

    async def embed(
        self, texts: Sequence[str], role: EmbeddingRole = "passage"
    ) -> "Vectors":
        """Return one vector of length 1.0 per text, in the order of `texts`.

        A vector depends on its own text and on `role` only, not on the batch. Some
        models embed a query differently from a passage.

        Raises:
            ServiceUnavailable: The model cannot be loaded or did not answer.
        """
        ...


@dataclass(frozen=True, slots=True)
class SentenceRating:
    """How well one sentence of a passage fits a question; `span` is its place in the
    passage's text, and a higher `score`, about 0.0 to 1.0, is better.
    """

    span: Span
    score: float


class Reranker(Protocol):
    """A model that scores passages by reading the question and each passage
    together.
    """

    @property
    def name(self) -> str:
        """The reranker's name. Score thresholds are calibrated for each name."""
        ...

    async def rerank(
        self, question: str, passages: Sequence[str], stored: Sequence[TextHash] = ()
    ) -> list[float]:
        """Return a relevance score per passage, in the order of `passages`; higher is
        better. `passages` are best first, if they were ranked before.

        `stored` are the text hashes of the passages, in the same order, if all are
        chunks of the library: what is stored for them may be used. Scores of different
        calls are not comparable.

        Raises:
            ServiceUnavailable: The model cannot be loaded or did not answer.
        """
        ...

    async def rate_sentences(
        self, question: str, passages: Sequence[str], stored: Sequence[TextHash]
    ) -> list[list[SentenceRating]]:
        """Return the rating of each sentence of each passage, in the order of the
        passages and of their text.

        `stored` are the text hashes of the passages, in the same order. No ratings for
        a passage whose sentences would need a further request to a service, or of which
        nothing is stored. Never sends anything.

        Raises:
            ServiceUnavailable: The model cannot be loaded.
        """
        ...
