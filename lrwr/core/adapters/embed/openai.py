"""Embeddings behind OpenAI's API: OpenAI itself, or a server that speaks like it."""

import asyncio
import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from lrwr.core.adapters.chat.connection import ModelServerClient
from lrwr.core.adapters.embed.connection import (
    EmbeddingConnection,
    plan_embedding_batches,
    truncate_for_embedding,
)
from lrwr.core.adapters.http.errors import (
    ErrorHints,
    HttpRequestInfo,
    ServiceCallError,
    build_invalid_response_error,
    parse_rate_limit_reset,
)
from lrwr.core.adapters.http.rate_limit import INTERACTIVE_RETRY_SECONDS
from lrwr.core.model.chunks import compute_norm
from lrwr.core.model.egress import OutboundRequest, RequestPurpose

if TYPE_CHECKING:
    from openai import AsyncOpenAI

    from lrwr.core.model.chunks import Vectors

if TYPE_CHECKING:
    from numpy.typing import NDArray

    UnitVector: TypeAlias = NDArray[np.float32]
    UnitVectors: TypeAlias = list[UnitVector]


class InvalidEmbeddingReply(Exception):
    """A reply that is none. `dimensions` is what it has where that alone is wrong."""

    def __init__(self, dimensions: int | None = None, expected: int = 0) -> None:
        super().__init__("an odd reply")
        self.dimensions = dimensions
        self.expected = expected


def parse_unit_vectors(items: object, texts: int, dimensions: int) -> "UnitVectors":
    """Return one vector of length 1.0 for each text, in order.

    Raises:
        InvalidEmbeddingReply: A vector is missing, twice there, too long, too short, or
            no number.
    """
    if not isinstance(items, Sequence) or len(items) != texts:
        raise InvalidEmbeddingReply
    rows: dict[int, UnitVector] = {}
    for item in items:
        place = getattr(item, "index", None)
        if not isinstance(place, int) or not 0 <= place < texts or place in rows:
            raise InvalidEmbeddingReply
        rows[place] = _row(getattr(item, "embedding", None), dimensions)
    return [rows[place] for place in range(texts)]


def _row(values: object, dimensions: int) -> "UnitVector":
    if not isinstance(values, list) or not all(_is_number(value) for value in values):
        raise InvalidEmbeddingReply
    if len(values) != dimensions:
        raise (
            InvalidEmbeddingReply(len(values), dimensions)
            if values
            else InvalidEmbeddingReply
        )
    vector = np.array(values, dtype=np.float64)
    largest = float(np.abs(vector).max())
    if not np.isfinite(largest) or largest <= 0:
        raise InvalidEmbeddingReply
    vector /= largest
    return (vector / compute_norm(vector)).astype(np.float32)


def _is_number(value: object) -> bool:
    return isinstance(value, float | int) and not isinstance(value, bool)


def build_blank_vector(dimensions: int) -> "UnitVector":
    """Return the vector of a text that says nothing; its length is 1.0."""
    return np.full(dimensions, 1 / math.sqrt(dimensions), dtype=np.float32)


_NO_KEY = "none"


class VectorLengthMismatch(ServiceCallError):
    """A server whose vectors are of another length. `gives` are their numbers."""

    def __init__(self, server: str, gives: int, expected: int) -> None:
        super().__init__(
            f"{server} gives vectors of {gives} numbers instead of {expected}",
            hint=f"Set `embedding.dimensions` to {gives}, and run `lrwr ingest`.",
            retryable=False,
        )
        self.server = server
        self.gives = gives


class OpenAIEmbedder:
    """Keeps the Embedder port over HTTP. Nothing is imported or opened before a call.

    `key` gives the key, empty where none is told, at the first text: it raises
    `ServiceUnavailable` where nothing may be sent. `count` counts tokens nearly: no
    table of the server's own is there. Texts of white space alone are never sent.
    """

    def __init__(
        self,
        connection: EmbeddingConnection,
        line: ModelServerClient,
        key: Callable[[], str],
        count: Callable[[Sequence[str]], list[int]],
    ) -> None:
        self._connection = connection
        self._line = line
        self._key = key
        self._count = count
        self._opening = asyncio.Lock()
        self._client: AsyncOpenAI | None = None
        self._in_vain = False
        service = "server" if connection.own else "openai"
        self._about = OutboundRequest(
            service, connection.host, RequestPurpose.EMBEDDING, connection.name
        )
        self._asked = HttpRequestInfo(
            server=connection.server,
            model=connection.name,
            timeout=connection.timeout,
            is_local=connection.own,
            hints=ErrorHints(
                section="embedding",
                model="embedding.name",
                key="openai",
                overload="Try again later; what is embedded is kept.",
                request="`embedding.name` and `embedding.base_url`",
            ),
        )

    @property
    def space(self) -> str:
        """Name the embedding space."""
        return self._connection.space

    @property
    def dimensions(self) -> int:
        """Return the length of a vector."""
        return self._connection.dimensions

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return how many tokens each text has, as the local tokenizer counts."""
        return self._count(texts)

    async def embed(self, texts: Sequence[str]) -> "Vectors":
        """Embed texts, each once, in requests of like length; all of them or none."""
        nothing = build_blank_vector(self.dimensions)
        unique_texts = list(
            dict.fromkeys(
                truncate_for_embedding(text) for text in texts if text.strip()
            )
        )
        vector_by_text = dict(
            zip(unique_texts, await self._embedded(unique_texts), strict=True)
        )
        rows = [
            vector_by_text[truncate_for_embedding(t)] if t.strip() else nothing
            for t in texts
        ]
        return np.array(rows, dtype=np.float32).reshape(len(texts), self.dimensions)

    async def aclose(self) -> None:
        """Let go of connections. Safe to call twice."""
        self._client = None
        await self._line.aclose()

    async def _embedded(self, texts: Sequence[str]) -> "UnitVectors":
        if not texts:
            return []
        client = await self._open()
        counts = await asyncio.to_thread(self._count, texts)
        parts = plan_embedding_batches(counts, self._connection.budget)
        batches = [[texts[place] for place in part] for part in parts]
        rows: UnitVectors = [build_blank_vector(self.dimensions)] * len(texts)
        for part, batch_rows in zip(
            parts, await self._together(client, batches), strict=True
        ):
            for place, row in zip(part, batch_rows, strict=True):
                rows[place] = row
        return rows

    async def _together(
        self, client: "AsyncOpenAI", batches: Sequence[Sequence[str]]
    ) -> "list[UnitVectors]":
        """Ask for several batches at once; the first that fails stops the others.

        One text alone is a question, for whose answer somebody waits.
        """
        patience = (
            INTERACTIVE_RETRY_SECONDS
            if [len(batch) for batch in batches] == [1]
            else None
        )
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [
                    group.create_task(self._asked_for(client, texts, patience))
                    for texts in batches
                ]
        except ExceptionGroup as failed:
            raise failed.exceptions[0] from failed
        return [task.result() for task in tasks]

    async def _asked_for(
        self, client: "AsyncOpenAI", texts: Sequence[str], patience: float | None
    ) -> "UnitVectors":
        """Return the vectors of one batch.

        A server that was waited for in vain is asked, and not waited for, until it
        answers: a manuscript has many files.
        """

        async def call() -> "UnitVectors":
            return await self._tried(client, texts)

        rate_limiter = self._line.rate_limiter
        async with rate_limiter.slot():
            try:
                rows = await rate_limiter.call_with_retries(
                    call, 0.0 if self._in_vain else patience
                )
            except ServiceCallError as refused:
                self._in_vain = refused.retryable
                raise
        self._in_vain = False
        return rows

    async def _tried(
        self, client: "AsyncOpenAI", texts: Sequence[str]
    ) -> "UnitVectors":
        async with aclosing(self._line.new_log_entry(self._about)) as note:
            with self._line.log_to(note):
                headers, rows, tokens = await self._translated(
                    lambda: self._answered(client, texts)
                )
            note.record_usage(sum(self._count(texts)) if tokens is None else tokens, 0)
        wait = parse_rate_limit_reset(headers)
        if wait is not None:
            self._line.rate_limiter.delay(wait)
        return rows

    async def _answered(
        self, client: "AsyncOpenAI", texts: Sequence[str]
    ) -> "tuple[Mapping[str, str], UnitVectors, int | None]":
        about = self._connection
        shorter: dict[str, Any] = (
            {"dimensions": about.dimensions} if about.shorter else {}
        )
        raw = await client.embeddings.with_raw_response.create(
            model=about.name,
            input=list(texts),
            encoding_format="float",
            **shorter,
        )
        reply = raw.parse()
        rows = await asyncio.to_thread(
            parse_unit_vectors, reply.data, len(texts), about.dimensions
        )
        prompt_tokens = reply.usage.prompt_tokens if reply.usage else None
        return (
            raw.headers,
            rows,
            prompt_tokens if isinstance(prompt_tokens, int) else None,
        )

    async def _translated(
        self,
        call: "Callable[[], Awaitable[tuple[Mapping[str, str], UnitVectors, int | None]]]",
    ) -> "tuple[Mapping[str, str], UnitVectors, int | None]":
        try:
            return await call()
        except InvalidEmbeddingReply as odd:
            raise _odd(odd, self._asked) from odd
        except Exception as error:  # three libraries deep, anything may be raised
            raise self._line.translate_error(error, self._asked) from error

    async def _open(self) -> "AsyncOpenAI":
        async with self._opening:
            if self._client is None:
                about = self._connection
                key = await asyncio.to_thread(self._key)
                http = await self._line.http(
                    about.base_url, seconds=about.timeout, is_local=about.own
                )
                self._client = self._line.create_openai_client(
                    about.base_url, key or _NO_KEY, http, about.timeout
                )
                if about.own:  # what a shell says of OpenAI is nobody else's business
                    self._client.organization = self._client.project = None
            return self._client


def _odd(
    odd: InvalidEmbeddingReply, http_request_info: HttpRequestInfo
) -> ServiceCallError:
    if odd.dimensions is None:
        return build_invalid_response_error(http_request_info)
    return VectorLengthMismatch(http_request_info.server, odd.dimensions, odd.expected)
