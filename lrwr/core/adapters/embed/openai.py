"""Embeddings from OpenAI, or from a server with the same API."""

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
from lrwr.core.ports.models import EmbeddingRole

if TYPE_CHECKING:
    from openai import AsyncOpenAI

    from lrwr.core.model.chunks import Vectors

if TYPE_CHECKING:
    from numpy.typing import NDArray

    UnitVector: TypeAlias = NDArray[np.float32]
    UnitVectors: TypeAlias = list[UnitVector]


class InvalidEmbeddingReply(Exception):
    """A server's reply lacks the requested vectors.

    `dimensions` is the length of its vectors if only the length is wrong, else None;
    `expected` is the length that was requested.
    """

    def __init__(self, dimensions: int | None = None, expected: int = 0) -> None:
        super().__init__("an invalid reply")
        self.dimensions = dimensions
        self.expected = expected


def parse_unit_vectors(items: object, texts: int, dimensions: int) -> "UnitVectors":
    """Return the vectors in a server's reply, scaled to length 1.0, in the order of the
    texts sent.

    `items` is the list in the reply, `texts` the number of texts sent, `dimensions` the
    expected length of a vector.

    Raises:
        InvalidEmbeddingReply: A vector is missing, repeated, invalid or of another
            length.
    """
    if not isinstance(items, Sequence) or len(items) != texts:
        raise InvalidEmbeddingReply
    rows: dict[int, UnitVector] = {}
    for item in items:
        index = getattr(item, "index", None)
        if not isinstance(index, int) or not 0 <= index < texts or index in rows:
            raise InvalidEmbeddingReply
        rows[index] = _parse_row(getattr(item, "embedding", None), dimensions)
    return [rows[index] for index in range(texts)]


def _parse_row(values: object, dimensions: int) -> "UnitVector":
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
    """Return the vector of a text of white space, with `dimensions` equal numbers and
    length 1.0.
    """
    return np.full(dimensions, 1 / math.sqrt(dimensions), dtype=np.float32)


_PLACEHOLDER_KEY = "none"


class VectorLengthMismatch(ServiceCallError):
    """The server's vectors have `gives` numbers instead of `expected`, as
    configured.
    """

    def __init__(self, server: str, gives: int, expected: int) -> None:
        super().__init__(
            f"{server} returns vectors of {gives} numbers instead of {expected}",
            hint=f"Set `embedding.dimensions` to {gives} and run `lrwr ingest`.",
            retryable=False,
        )
        self.server = server
        self.gives = gives


class OpenAIEmbedder:
    """The `Embedder` port over HTTP; imports and opens nothing before the first call.

    `key` returns the API key, empty for none; it is called before the first text is
    sent and raises `ServiceUnavailable` if nothing may be sent. `count` counts the
    tokens of texts approximately, with the local tokenizer. Texts of white space are
    never sent.
    """

    def __init__(
        self,
        connection: EmbeddingConnection,
        server_client: ModelServerClient,
        key: Callable[[], str],
        count: Callable[[Sequence[str]], list[int]],
    ) -> None:
        self._connection = connection
        self._server_client = server_client
        self._key = key
        self._count = count
        self._opening = asyncio.Lock()
        self._client: AsyncOpenAI | None = None
        self._is_server_down = False
        service = "server" if connection.own else "openai"
        self._about = OutboundRequest(
            service, connection.host, RequestPurpose.EMBEDDING, connection.name
        )
        self._request = HttpRequestInfo(
            server=connection.server,
            model=connection.name,
            timeout=connection.timeout,
            is_local=connection.own,
            hints=ErrorHints(
                section="embedding",
                model="embedding.name",
                key="openai",
                overload="Try again later. Finished embeddings are saved.",
                request="`embedding.name` and `embedding.base_url`",
            ),
        )

    @property
    def space(self) -> str:
        """The name of the embedding space, the vectors that may be compared with each
        other.
        """
        return self._connection.space

    @property
    def token_states(self) -> None:
        """None: a server returns vectors only."""

    @property
    def dimensions(self) -> int:
        """The number of dimensions of a vector."""
        return self._connection.dimensions

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text, as the local tokenizer counts
        them.
        """
        return self._count(texts)

    async def embed(
        self, texts: Sequence[str], role: EmbeddingRole = "passage"
    ) -> "Vectors":
        """Return one vector of length 1.0 per text, in the order of `texts`.

        The array has the shape (texts, dimensions). Equal texts are sent once; texts of
        similar length share a request. The model's prefix for `role` precedes each
        text. A text with more tokens than the model reads is cut off at about that
        number, as the local tokenizer counts.

        Raises:
            ServiceUnavailable: The server did not answer, refused, or sent an invalid
                reply.
        """
        nothing = build_blank_vector(self.dimensions)
        inputs = {
            text: truncate_for_embedding(
                self._connection.profile.add_prefix(text, role)
            )
            for text in texts
            if text.strip()
        }
        if (most := self._connection.profile.max_tokens) and inputs:
            counts = await asyncio.to_thread(self._count, list(inputs.values()))
            inputs = {
                text: sent[: len(sent) * most // count] if count > most else sent
                for (text, sent), count in zip(inputs.items(), counts, strict=True)
            }
        unique_texts = list(dict.fromkeys(inputs.values()))
        vector_by_text = dict(
            zip(unique_texts, await self._embed_unique(unique_texts), strict=True)
        )
        rows = [
            vector_by_text[inputs[text]] if text in inputs else nothing
            for text in texts
        ]
        return np.array(rows, dtype=np.float32).reshape(len(texts), self.dimensions)

    async def aclose(self) -> None:
        """Close all connections. Idempotent."""
        self._client = None
        await self._server_client.aclose()

    async def _embed_unique(self, texts: Sequence[str]) -> "UnitVectors":
        if not texts:
            return []
        client = await self._open()
        counts = await asyncio.to_thread(self._count, texts)
        parts = plan_embedding_batches(counts, self._connection.budget)
        batches = [[texts[index] for index in part] for part in parts]
        rows: UnitVectors = [build_blank_vector(self.dimensions)] * len(texts)
        for part, batch_rows in zip(
            parts, await self._embed_batches(client, batches), strict=True
        ):
            for index, row in zip(part, batch_rows, strict=True):
                rows[index] = row
        return rows

    async def _embed_batches(
        self, client: "AsyncOpenAI", batches: Sequence[Sequence[str]]
    ) -> "list[UnitVectors]":
        """Request several batches at the same time.

        The first failure cancels the others.

        A single text is a search query, for which the user waits, so retries are short.
        """
        patience = (
            INTERACTIVE_RETRY_SECONDS
            if [len(batch) for batch in batches] == [1]
            else None
        )
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [
                    group.create_task(self._embed_batch(client, texts, patience))
                    for texts in batches
                ]
        except ExceptionGroup as failed:
            raise failed.exceptions[0] from failed
        return [task.result() for task in tasks]

    async def _embed_batch(
        self, client: "AsyncOpenAI", texts: Sequence[str], patience: float | None
    ) -> "UnitVectors":
        """Return the vectors of one batch.

        After retries failed once, later batches are not retried until the server
        answers: a manuscript has many files, and each would wait.
        """

        async def call() -> "UnitVectors":
            return await self._embed_once(client, texts)

        rate_limiter = self._server_client.rate_limiter
        async with rate_limiter.slot():
            try:
                rows = await rate_limiter.call_with_retries(
                    call, 0.0 if self._is_server_down else patience
                )
            except ServiceCallError as refused:
                self._is_server_down = refused.retryable
                raise
        self._is_server_down = False
        return rows

    async def _embed_once(
        self, client: "AsyncOpenAI", texts: Sequence[str]
    ) -> "UnitVectors":
        async with aclosing(self._server_client.new_log_entry(self._about)) as note:
            with self._server_client.log_to(note):
                headers, rows, tokens = await self._translate_errors(
                    lambda: self._request_vectors(client, texts)
                )
            note.record_usage(sum(self._count(texts)) if tokens is None else tokens, 0)
        wait = parse_rate_limit_reset(headers)
        if wait is not None:
            self._server_client.rate_limiter.delay(wait)
        return rows

    async def _request_vectors(
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

    async def _translate_errors(
        self,
        call: "Callable[[], Awaitable[tuple[Mapping[str, str], UnitVectors, int | None]]]",
    ) -> "tuple[Mapping[str, str], UnitVectors, int | None]":
        try:
            return await call()
        except InvalidEmbeddingReply as invalid:
            raise _invalid_reply_error(invalid, self._request) from invalid
        except Exception as error:  # the client passes on errors of its libraries
            raise self._server_client.translate_error(error, self._request) from error

    async def _open(self) -> "AsyncOpenAI":
        async with self._opening:
            if self._client is None:
                about = self._connection
                key = await asyncio.to_thread(self._key)
                http = await self._server_client.http(
                    about.base_url, seconds=about.timeout, is_local=about.own
                )
                self._client = self._server_client.create_openai_client(
                    about.base_url, key or _PLACEHOLDER_KEY, http, about.timeout
                )
                if about.own:  # variables for OpenAI must not reach another server
                    self._client.organization = self._client.project = None
            return self._client


def _invalid_reply_error(
    invalid: InvalidEmbeddingReply, http_request_info: HttpRequestInfo
) -> ServiceCallError:
    if invalid.dimensions is None:
        return build_invalid_response_error(http_request_info)
    return VectorLengthMismatch(
        http_request_info.server, invalid.dimensions, invalid.expected
    )
