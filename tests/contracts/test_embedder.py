from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import numpy as np
import pytest

from lrwr.core.adapters.chat.connection import ModelServerClient
from lrwr.core.adapters.embed.connection import EmbeddingConnection
from lrwr.core.adapters.embed.fastembed_model import (
    FastembedEmbedder,
    resolve_fastembed_model,
)
from lrwr.core.adapters.embed.local import LocalEmbedder
from lrwr.core.adapters.embed.openai import OpenAIEmbedder
from lrwr.core.adapters.http.rate_limit import RateLimit
from lrwr.core.ports.models import Embedder
from lrwr.core.settings.model import EmbeddingSettings
from tests.fakes.embedder import WordEmbedder
from tests.fakes.embedding_server import KEY, MODEL, EmbeddingServer
from tests.fakes.fastembed_path import put_fastembed_on_the_path

TEXTS = [
    "The frog lit the lamp.",
    "Mags opened the ledger, and looked at the page for a long time.",
    "Fog.",
    "灯をともす。",
    "“Who’s out there?” — *nobody* answered.",
    "The frog lit the lamp.",
    "word " * 900,
    "",
    " \n\t ",
]


@pytest.fixture(scope="module")
def local() -> Iterator[LocalEmbedder]:
    opened = LocalEmbedder(None, threads=2)
    yield opened
    opened.close()


@pytest.fixture
def named(
    local: LocalEmbedder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> FastembedEmbedder:
    put_fastembed_on_the_path(monkeypatch)
    settings = EmbeddingSettings(model="fastembed")
    model = resolve_fastembed_model(settings, tmp_path)
    (tmp_path / model.name.replace("/", "--")).touch()
    return FastembedEmbedder(model, threads=1, count=local.count_tokens)


@pytest.fixture(params=["local", "openai", "words", "fastembed"])
async def embedder(
    request: pytest.FixtureRequest, local: LocalEmbedder, named: FastembedEmbedder
) -> AsyncIterator[Embedder]:
    if request.param == "fastembed":
        yield named
        return
    if request.param != "openai":
        yield WordEmbedder() if request.param == "words" else local
        return
    with EmbeddingServer() as server:
        where = EmbeddingConnection(MODEL, 256, server.base_url, shorter=True)
        line = ModelServerClient(RateLimit(concurrency=2))
        opened = OpenAIEmbedder(where, line, lambda: KEY, local.count_tokens)
        yield opened
        await opened.aclose()


async def test_vectors_come_in_the_order_of_the_texts(embedder: Embedder) -> None:
    vectors = await embedder.embed(TEXTS)
    assert vectors.shape == (len(TEXTS), embedder.dimensions)
    assert vectors.dtype == np.float32
    backwards = await embedder.embed(TEXTS[::-1])
    assert np.array_equal(vectors, backwards[::-1])
    assert np.array_equal(vectors[0], vectors[5])


async def test_vectors_have_the_length_one(embedder: Embedder) -> None:
    vectors = await embedder.embed(TEXTS)
    assert np.isfinite(vectors).all()
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)


async def test_a_vector_does_not_depend_on_its_neighbours(embedder: Embedder) -> None:
    together = await embedder.embed(TEXTS)
    for text, vector in zip(TEXTS, together, strict=True):
        alone = await embedder.embed([text])
        assert np.array_equal(alone[0], vector)


async def test_texts_that_mean_the_like_are_nearer(embedder: Embedder) -> None:
    question, near, far = await embedder.embed(
        ["Who lit the lamp?", "The frog lit the lamp.", "Seven cakes were baked."]
    )
    assert question @ near > question @ far


async def test_no_texts_have_no_vectors(embedder: Embedder) -> None:
    vectors = await embedder.embed([])
    assert vectors.shape == (0, embedder.dimensions)
    assert embedder.count_tokens([]) == []


async def test_tokens_are_counted_in_order_and_without_a_limit(
    embedder: Embedder,
) -> None:
    counted = embedder.count_tokens(TEXTS)
    assert len(counted) == len(TEXTS)
    assert counted[0] == counted[5] > 0
    assert counted[6] == 900
    assert counted[7:] == [0, 0]
    assert [embedder.count_tokens([text]) for text in TEXTS] == [[n] for n in counted]


async def test_the_space_has_a_name(embedder: Embedder) -> None:
    assert embedder.space
    assert embedder.dimensions > 0
