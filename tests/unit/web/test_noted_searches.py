"""A search of the web is noted before it leaves, and without the query."""

from collections.abc import AsyncIterator, Iterator
from functools import partial
from pathlib import Path

import pytest

from lrwr.core.adapters.http.egress_log import EgressLogger
from lrwr.core.adapters.source.text import find_sentence_spans
from lrwr.core.adapters.storage.sqlite.database import SqliteDatabase
from lrwr.core.adapters.storage.sqlite.egress_log import SqliteEgressLog
from lrwr.core.adapters.web.tavily import TavilyConnection, TavilySearch
from lrwr.core.model.egress import OutboundRequest, RequestOutcome, RequestPurpose
from lrwr.core.model.errors import ServiceUnavailable
from lrwr.core.model.language_model import compute_price
from tests.fakes.hosted_server import Refuse
from tests.fakes.web_server import KEY, WebServer

QUERY = "novels heron"


@pytest.fixture
def server() -> Iterator[WebServer]:
    with WebServer() as opened:
        yield opened


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[SqliteDatabase]:
    opened = SqliteDatabase(tmp_path / "library.db")
    yield opened
    await opened.aclose()


def searching(database: SqliteDatabase, base_url: str) -> TavilySearch:
    log = SqliteEgressLog(database)
    request_logger = EgressLogger(log, lambda: 1.0, partial(compute_price, table={}))
    connection = TavilyConnection(KEY, base_url, own=True)
    return TavilySearch(connection, find_sentence_spans, request_logger=request_logger)


async def noted(database: SqliteDatabase) -> OutboundRequest:
    (sent,) = (await SqliteEgressLog(database).report()).newest
    return sent


def holds(folder: Path, words: str) -> bool:
    return any(words.encode() in file.read_bytes() for file in folder.iterdir())


async def test_a_search_is_listed_with_its_size(
    server: WebServer, database: SqliteDatabase, tmp_path: Path
) -> None:
    await searching(database, server.base_url).search(QUERY, 3)
    sent = await noted(database)
    (asked,) = server.asked
    assert (sent.service, sent.purpose) == ("tavily", RequestPurpose.WEB_SEARCH)
    assert sent.sent_bytes == int(asked.headers["content-length"])
    assert sent.succeeded
    assert sent.received_bytes
    await database.aclose()
    assert not holds(tmp_path, "heron")
    assert not holds(tmp_path, KEY)


async def test_a_refusal_and_a_service_that_is_not_there_are_told_apart(
    server: WebServer, database: SqliteDatabase
) -> None:
    server.will(Refuse(401))
    with pytest.raises(ServiceUnavailable):
        await searching(database, server.base_url).search(QUERY, 3)
    assert (await noted(database)).outcome is RequestOutcome.REFUSED
    await SqliteEgressLog(database).clear(2.0)
    with WebServer() as gone:
        base_url = gone.base_url
    with pytest.raises(ServiceUnavailable):
        await searching(database, base_url).search(QUERY, 3)
    assert (await noted(database)).outcome is RequestOutcome.UNREACHED
