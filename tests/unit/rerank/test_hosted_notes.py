"""What goes to Cohere and to who embeds is noted before, and no key is told anywhere."""

import logging
import traceback
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import pytest

from lrwr.app.egress import Keyring
from lrwr.core.adapters.chat.connection import ModelServerClient
from lrwr.core.adapters.embed import openai as embed
from lrwr.core.adapters.embed.connection import EmbeddingConnection
from lrwr.core.adapters.http.egress_log import EgressLogger
from lrwr.core.adapters.http.rate_limit import Clock, RateLimit
from lrwr.core.adapters.rerank.cohere import CohereConnection, CohereReranker
from lrwr.core.adapters.storage.sqlite.database import SqliteDatabase
from lrwr.core.adapters.storage.sqlite.egress_log import SqliteEgressLog
from lrwr.core.model.egress import OutboundRequest, RequestOutcome, RequestPurpose
from lrwr.core.model.errors import ServiceUnavailable
from lrwr.core.model.language_model import compute_price, load_known_prices
from lrwr.core.settings.consent import ConsentStore
from lrwr.core.settings.library import resolve_library
from lrwr.core.settings.model import Settings
from tests.fakes import embedding_server
from tests.fakes.cohere_server import KEY, CohereServer
from tests.fakes.embedding_server import EmbeddingServer
from tests.fakes.hosted_server import CutShort, Hang, Refuse

MODEL = "rerank-v5.0-fast"
SECRET = "heron, heron, crane"
PASSAGES = [f"It opens on {SECRET}.", "The frog lit the lamp."]
PRICES = partial(compute_price, table=load_known_prices())
HASTY = RateLimit(1, patience=0.0)


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[SqliteDatabase]:
    opened = SqliteDatabase(tmp_path / "library.db", patience=0.2)
    yield opened
    await opened.aclose()


def request_logger(database: SqliteDatabase) -> EgressLogger:
    return EgressLogger(SqliteEgressLog(database), lambda: 1.0, PRICES)


def cohere(
    database: SqliteDatabase, origin: str, pace: RateLimit = HASTY
) -> CohereReranker:
    where = CohereConnection(MODEL, origin, 0.5, own=True)
    return CohereReranker(where, lambda: KEY, request_logger(database), Clock(), pace)


def holds(folder: Path, words: str) -> bool:
    return any(words.encode() in file.read_bytes() for file in folder.iterdir())


async def noted(database: SqliteDatabase) -> list[OutboundRequest]:
    return list(reversed((await SqliteEgressLog(database).report()).newest))


async def test_a_second_look_is_listed_with_its_size_and_its_price(
    database: SqliteDatabase, tmp_path: Path
) -> None:
    with CohereServer() as server:
        await cohere(database, server.origin).rerank("Who opens it?", PASSAGES)
        (asked,) = server.asked
    (sent,) = await noted(database)
    assert (sent.service, sent.host) == ("cohere", "127.0.0.1")
    assert (sent.purpose, sent.model) == (RequestPurpose.RERANKING, MODEL)
    assert (sent.sent_bytes, sent.outcome) == (asked.size, RequestOutcome.ANSWERED)
    assert sent.prompt_tokens
    assert sent.price == pytest.approx(sent.prompt_tokens * 0.02 / 1_000_000)
    await database.aclose()
    assert not holds(tmp_path, SECRET)
    assert not holds(tmp_path, KEY)


async def test_a_search_that_is_billed_by_the_search_has_no_known_price(
    database: SqliteDatabase,
) -> None:
    with CohereServer(tokens=False) as server:
        await cohere(database, server.origin).rerank("Who opens it?", PASSAGES)
    (sent,) = await noted(database)
    assert (sent.outcome, sent.price) == (RequestOutcome.ANSWERED, None)


async def test_what_became_of_each_request_is_told_apart(
    database: SqliteDatabase,
) -> None:
    patient = RateLimit(1, patience=5.0)
    with CohereServer() as server:
        origin = server.origin
        server.will(Refuse(503, headers={"retry-after": "0"}), CutShort(), Hang())
        with pytest.raises(ServiceUnavailable):
            await cohere(database, origin).rerank("Who?", PASSAGES)
        with pytest.raises(ServiceUnavailable):
            await cohere(database, origin).rerank("Who?", PASSAGES)
        with pytest.raises(ServiceUnavailable):
            await cohere(database, origin).rerank("Who?", PASSAGES)
        server.will(Refuse(429, headers={"retry-after": "0"}))
        await cohere(database, origin, patient).rerank("Who?", PASSAGES)
    with pytest.raises(ServiceUnavailable):
        await cohere(database, origin).rerank("Who?", PASSAGES)
    assert [one.outcome for one in await noted(database)] == [
        RequestOutcome.REFUSED,
        RequestOutcome.CUT,
        RequestOutcome.UNSEEN,
        RequestOutcome.REFUSED,
        RequestOutcome.ANSWERED,
        RequestOutcome.UNREACHED,
    ]


async def test_what_cannot_be_noted_is_not_sent(tmp_path: Path) -> None:
    (tmp_path / "library.db").mkdir()
    database = SqliteDatabase(tmp_path / "library.db", patience=0.2)
    with CohereServer() as server, EmbeddingServer() as embeds:
        with pytest.raises(ServiceUnavailable, match="Nothing was sent"):
            await cohere(database, server.origin).rerank("Who?", PASSAGES)
        embedder = embedding(embeds, request_logger(database))
        with pytest.raises(ServiceUnavailable, match="Nothing was sent"):
            await embedder.embed(PASSAGES)
        await embedder.aclose()
        assert (server.asked, embeds.asked) == ([], [])
    await database.aclose()


def embedding(
    server: EmbeddingServer, request_logger: EgressLogger | None
) -> embed.OpenAIEmbedder:
    where = EmbeddingConnection(
        embedding_server.MODEL, 16, server.base_url, shorter=True
    )
    line = ModelServerClient(HASTY, request_logger=request_logger)
    return embed.OpenAIEmbedder(
        where, line, lambda: embedding_server.KEY, lambda texts: [1] * len(texts)
    )


async def test_each_request_to_who_embeds_is_listed_with_its_price(
    database: SqliteDatabase,
) -> None:
    with EmbeddingServer() as server:
        embedder = embedding(server, request_logger(database))
        await embedder.embed(PASSAGES)
        server.will(Refuse(500))
        with pytest.raises(ServiceUnavailable):
            await embedder.embed(["Who?"])
        await embedder.aclose()
        first, second = server.asked
    answered, refused = await noted(database)
    assert (answered.service, answered.purpose) == ("openai", RequestPurpose.EMBEDDING)
    assert answered.model == embedding_server.MODEL
    assert (answered.sent_bytes, refused.sent_bytes) == (first.size, second.size)
    assert answered.prompt_tokens
    assert answered.price == pytest.approx(answered.prompt_tokens * 0.02 / 1_000_000)
    assert (answered.outcome, refused.outcome) == (
        RequestOutcome.ANSWERED,
        RequestOutcome.REFUSED,
    )


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422, 429, 500])
async def test_no_key_is_in_an_error_in_its_causes_or_in_a_log(
    status: int, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with CohereServer() as server, EmbeddingServer() as embeds:
        where = CohereConnection(MODEL, server.origin, own=True)
        reranker = CohereReranker(where, lambda: KEY, None, Clock(), HASTY)
        server.will(Refuse(status, f"what is {KEY}?"))
        embedder = embedding(embeds, None)
        embeds.will(Refuse(status, f"what is {embedding_server.KEY}?"))
        with pytest.raises(ServiceUnavailable) as one:
            await reranker.rerank("Who?", PASSAGES)
        with pytest.raises(ServiceUnavailable) as other:
            await embedder.embed(PASSAGES)
        await embedder.aclose()
    told = f"{one.value.full_text}{other.value.full_text}{one.value!r}{other.value!r}"
    told += f"{reranker!r}{embedder!r}{vars(reranker)!r}{vars(embedder)!r}"
    for key in (KEY, embedding_server.KEY):
        assert key not in told
        assert key not in caplog.text.replace(f"what is {key}?", "")
    shown = "".join(traceback.format_exception_only(one.value))
    assert KEY not in shown


def test_who_knows_keys_does_not_tell_them(tmp_path: Path) -> None:
    settings = Settings(tmp_path)
    env = {"COHERE_API_KEY": KEY}
    keyring = Keyring(settings, resolve_library(settings), ConsentStore(tmp_path), env)
    assert keyring.key("cohere") == KEY
    assert KEY not in repr(keyring)
