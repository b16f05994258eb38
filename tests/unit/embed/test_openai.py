"""What is sent to an embedding server, what comes back, and what its errors mean."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import numpy as np
import pytest

from lrwr.core.adapters.chat.connection import ModelServerClient
from lrwr.core.adapters.embed.connection import (
    OPENAI_EMBEDDING_URL,
    EmbeddingBatchLimit,
    EmbeddingConnection,
)
from lrwr.core.adapters.embed.openai import OpenAIEmbedder
from lrwr.core.adapters.http.rate_limit import Clock, RateLimit
from lrwr.core.model.errors import ServiceUnavailable
from tests.fakes.embedding_server import KEY, MODEL, EmbeddingServer, vector_of
from tests.fakes.hosted_server import CutShort, Hang, Nonsense, Refuse, Turn

SIZE = 16
TEXTS = [f"The frog lit lamp number {n}." for n in range(9)]


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with EmbeddingServer() as opened:
        yield opened


class Watch:
    """A clock that nobody has to wait for; `slept` are the seconds."""

    def __init__(self) -> None:
        self.time = 0.0
        self.slept: list[float] = []

    def clock(self) -> Clock:
        return Clock(lambda: self.time, self.sleep, lambda: 1_000.0, lambda: 1.0)

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.time += seconds


def words(texts: Sequence[str]) -> list[int]:
    return [len(text.split()) for text in texts]


@asynccontextmanager
async def embedding(
    server: EmbeddingServer,
    *,
    seconds: float = 15.0,
    patience: float = 0.0,
    budget: EmbeddingBatchLimit | None = None,
    own: bool = False,
    watch: Watch | None = None,
    concurrency: int = 2,
) -> AsyncIterator[OpenAIEmbedder]:
    line = ModelServerClient(
        RateLimit(concurrency, patience=patience), (watch or Watch()).clock()
    )
    where = EmbeddingConnection(
        MODEL,
        SIZE,
        server.base_url,
        shorter=True,
        timeout=seconds,
        own=own,
        budget=budget or EmbeddingBatchLimit(),
    )
    opened = OpenAIEmbedder(where, line, lambda: KEY, words)
    yield opened
    await opened.aclose()


async def refused(server: EmbeddingServer, turn: Turn) -> ServiceUnavailable:
    server.will(turn)
    async with embedding(server) as opened:
        with pytest.raises(ServiceUnavailable) as caught:
            await opened.embed(TEXTS)
    return caught.value


async def test_the_texts_are_sent_and_nothing_else_of_the_writers(
    server: EmbeddingServer,
) -> None:
    async with embedding(server) as opened:
        await opened.embed(["The frog lit the lamp."])
    (asked,) = server.asked
    assert asked.body == {
        "model": MODEL,
        "input": ["The frog lit the lamp."],
        "encoding_format": "float",
        "dimensions": SIZE,
    }
    assert asked.headers["authorization"] == f"Bearer {KEY}"


async def test_a_length_that_is_the_models_own_is_not_asked_for(
    server: EmbeddingServer,
) -> None:
    where = EmbeddingConnection(MODEL, 1536, server.base_url)
    opened = OpenAIEmbedder(where, ModelServerClient(RateLimit(1)), lambda: KEY, words)
    vectors = await opened.embed(["frog"])
    await opened.aclose()
    assert vectors.shape == (1, 1536)
    assert "dimensions" not in server.asked[0].body


async def test_many_texts_go_in_few_requests_and_come_in_their_order(
    server: EmbeddingServer,
) -> None:
    texts = ["one " * n for n in (5, 1, 4, 2, 3)] + TEXTS
    async with embedding(
        server, budget=EmbeddingBatchLimit(tokens=12, texts=3)
    ) as opened:
        vectors = await opened.embed(texts)
    assert len(server.asked) > 1
    assert server.most_at_once <= 2
    assert sorted(text for part in server.texts for text in part) == sorted(texts)
    for vector, text in zip(vectors, texts, strict=True):
        assert np.allclose(vector, vector_of(text, SIZE), atol=1e-6)


async def test_a_text_is_sent_once_however_often_it_occurs(
    server: EmbeddingServer,
) -> None:
    async with embedding(server) as opened:
        vectors = await opened.embed(["frog", "", "frog", " \n"])
    assert server.texts == [["frog"]]
    assert np.array_equal(vectors[0], vectors[2])
    assert np.array_equal(vectors[1], vectors[3])


async def test_where_nothing_is_to_be_embedded_nobody_is_asked_for_a_key(
    server: EmbeddingServer,
) -> None:
    def key() -> str:
        raise ServiceUnavailable("there is no key")

    where = EmbeddingConnection(MODEL, SIZE, server.base_url)
    opened = OpenAIEmbedder(where, ModelServerClient(RateLimit(1)), key, words)
    assert (await opened.embed(["", " "])).shape == (2, SIZE)
    with pytest.raises(ServiceUnavailable, match="no key"):
        await opened.embed(["frog"])
    assert server.asked == []


async def test_no_text_is_longer_than_a_model_reads(server: EmbeddingServer) -> None:
    async with embedding(server) as opened:
        await opened.embed(["灯" * 9_000, "x" * 40_000])
    assert all(len(t.encode()) <= 8_000 for part in server.texts for t in part)


@pytest.mark.parametrize(
    ("turn", "says", "hint", "helps"),
    [
        (
            Refuse(400, f"no lamp {KEY[-9:]}"),
            "refused the request (HTTP 400)",
            "name",
            0,
        ),
        (Refuse(400, "no 'dimensions'"), "because of dimensions (HTTP 400)", "name", 0),
        (
            Refuse(401, f"Incorrect: {KEY}"),
            "not accept the key (HTTP 401)",
            "set-key",
            0,
        ),
        (Refuse(403), "does not let this key use", "embedding.name", 0),
        (Refuse(404), f"has no model {MODEL} (HTTP 404)", "embedding.name", 0),
        (Refuse(429), "too many requests (HTTP 429)", "later", 1),
        (Refuse(429, "see billing"), "no credit left (HTTP 429)", "Add credit", 0),
        (Refuse(500), "failed (HTTP 500)", "Finished work is saved", 1),
        (
            Refuse(302, headers={"location": "http://127.0.0.1:9"}),
            "(HTTP 302)",
            "base",
            0,
        ),
        (CutShort(), "stopped in the middle", "Try again", 1),
        (Nonsense("<html>"), "does not understand", "embedding.base_url", 0),
        (Nonsense("[1, 2]"), "does not understand", "embedding.base_url", 0),
        (Nonsense('{"data": "many"}'), "does not understand", "embedding.base_url", 0),
        (Nonsense('{"data": [{}]}'), "does not understand", "embedding.base_url", 0),
    ],
)
async def test_every_error_is_a_sentence_with_a_hint(
    server: EmbeddingServer, turn: Turn, says: str, hint: str, helps: int
) -> None:
    error = await refused(server, turn)
    assert says in str(error)
    assert hint in error.hint
    assert error.retryable is bool(helps)
    assert KEY not in f"{error}{error.hint}"
    assert len(server.asked) == 1


async def test_a_server_that_says_nothing_is_not_waited_for(
    server: EmbeddingServer,
) -> None:
    server.will(Hang())
    async with embedding(server, seconds=0.3) as opened:
        with pytest.raises(ServiceUnavailable, match=r"within 0\.3 seconds") as caught:
            await opened.embed(TEXTS)
    assert "embedding.timeout" in caught.value.hint


async def test_a_server_that_is_not_there_is_named() -> None:
    with EmbeddingServer() as server:
        base_url = server.base_url
    where = EmbeddingConnection(MODEL, SIZE, base_url, own=True)
    gone = OpenAIEmbedder(
        where, ModelServerClient(RateLimit(1, patience=0.0)), str, words
    )
    with pytest.raises(ServiceUnavailable, match="cannot be reached") as caught:
        await gone.embed(["frog"])
    await gone.aclose()
    assert "Start the server, or correct `embedding.base_url`" in caught.value.hint


def without_a_row(reply: Any) -> Any:
    return {**reply, "data": reply["data"][:-1]}


def twice_the_first(reply: Any) -> Any:
    return {**reply, "data": [reply["data"][0]] * len(reply["data"])}


def with_numbers(*numbers: Any) -> Any:
    def change(reply: Any) -> Any:
        last = {**reply["data"][-1], "embedding": list(numbers)}
        return {**reply, "data": [*reply["data"][:-1], last]}

    return change


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (without_a_row, "does not understand"),
        (twice_the_first, "does not understand"),
        (with_numbers(*[float("nan")] * SIZE), "does not understand"),
        (with_numbers(*[float("inf")] * SIZE), "does not understand"),
        (with_numbers(*[0.0] * SIZE), "does not understand"),
        (with_numbers(*["1"] * SIZE), "does not understand"),
        (with_numbers(), "does not understand"),
        (with_numbers(1.0, 2.0), "vectors of 2 numbers instead of 16"),
    ],
)
async def test_an_odd_reply_is_an_error_and_nothing_of_it_is_kept(
    server: EmbeddingServer, change: Any, says: str
) -> None:
    server.changing = change
    async with embedding(server) as opened:
        with pytest.raises(ServiceUnavailable) as caught:
            await opened.embed(TEXTS)
    assert says in str(caught.value)
    assert not caught.value.retryable


async def test_vectors_in_any_order_and_of_any_length_are_put_right(
    server: EmbeddingServer,
) -> None:
    def change(reply: Any) -> Any:
        rows = [
            {**row, "embedding": [1e300 * one for one in row["embedding"]]}
            for row in reversed(reply["data"])
        ]
        return {**reply, "data": rows, "usage": None}

    server.changing = change
    async with embedding(server) as opened:
        vectors = await opened.embed(TEXTS)
    for vector, text in zip(vectors, TEXTS, strict=True):
        assert np.allclose(vector, vector_of(text, SIZE), atol=1e-6)


async def test_a_server_that_asks_to_wait_is_asked_again_after_that(
    server: EmbeddingServer,
) -> None:
    watch = Watch()
    server.will(Refuse(429, headers={"retry-after": "3"}))
    async with embedding(server, patience=60.0, watch=watch) as opened:
        await opened.embed(TEXTS)
    assert len(server.asked) == 2
    assert watch.slept[0] >= 3.0


async def test_a_limit_that_is_used_up_is_waited_for_before_the_next_request(
    server: EmbeddingServer,
) -> None:
    watch = Watch()
    server.headers = {
        "x-ratelimit-remaining-requests": "12",
        "x-ratelimit-reset-requests": "9m0s",
        "x-ratelimit-remaining-tokens": "0",
        "x-ratelimit-reset-tokens": "1m2s",
    }
    async with embedding(server, watch=watch) as opened:
        await opened.embed(["frog"])
        assert watch.slept == []
        await opened.embed(["lamp"])
    assert watch.slept == [62.0]


async def test_one_question_is_not_waited_for_as_long_as_a_manuscript(
    server: EmbeddingServer,
) -> None:
    watch = Watch()
    server.will(Refuse(429, headers={"retry-after": "30"}))
    async with embedding(server, patience=120.0, watch=watch) as opened:
        with pytest.raises(ServiceUnavailable):
            await opened.embed(["Who lit the lamp?"])
    assert watch.slept == []


async def test_a_server_that_was_waited_for_in_vain_is_not_waited_for_again(
    server: EmbeddingServer,
) -> None:
    watch = Watch()
    server.will(*[Refuse(503)] * 20)
    async with embedding(server, patience=8.0, watch=watch) as opened:
        with pytest.raises(ServiceUnavailable):
            await opened.embed(TEXTS)
        tries, slept = len(server.asked), len(watch.slept)
        assert slept > 1
        with pytest.raises(ServiceUnavailable):
            await opened.embed(TEXTS)
    assert (len(server.asked), len(watch.slept)) == (tries + 1, slept)


async def test_a_batch_that_fails_stops_the_others(server: EmbeddingServer) -> None:
    server.will(Refuse(401), Hang(), Hang())
    async with embedding(
        server, seconds=60.0, budget=EmbeddingBatchLimit(9, 3)
    ) as opened:
        with pytest.raises(ServiceUnavailable, match="401"):
            await asyncio.wait_for(opened.embed(TEXTS), 30)


async def test_a_writer_who_stops_is_not_told_of_a_failure(
    server: EmbeddingServer,
) -> None:
    server.will(Hang())
    async with embedding(server, seconds=60.0) as opened:
        asking = asyncio.create_task(opened.embed(["frog"]))
        await asyncio.to_thread(server.was_asked, 30.0)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking


async def test_ones_own_server_is_told_nothing_of_openai(
    server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_ORG_ID", "org-of-the-writer")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "project-of-the-writer")
    server.key = ""
    where = EmbeddingConnection(MODEL, 1536, server.base_url, own=True)
    opened = OpenAIEmbedder(where, ModelServerClient(RateLimit(1)), str, words)
    await opened.embed(["frog"])
    await opened.aclose()
    told = str(server.asked[0].headers)
    assert KEY not in told
    assert "of-the-writer" not in told


def test_a_space_names_the_server_the_model_and_the_length() -> None:
    assert EmbeddingConnection(MODEL, 256).space == f"openai/{MODEL}/256"
    here = EmbeddingConnection("nomic", 768, "http://127.0.0.1:1234/v1", own=True)
    assert here.space == "127.0.0.1:1234/nomic/768"
    assert here.server == "The embedding server at 127.0.0.1:1234"
    assert EmbeddingConnection(MODEL, 256).base_url == OPENAI_EMBEDDING_URL
