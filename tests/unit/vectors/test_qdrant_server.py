"""What is sent to a Qdrant server, and what each of its failures comes to."""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from pathlib import Path

import pytest

from lrwr.core.adapters.http.rate_limit import Clock
from lrwr.core.adapters.vectors.numpy_index import NumpyVectorIndex
from lrwr.core.adapters.vectors.qdrant import (
    UNREACHABLE_SERVER_PAUSE,
    QdrantCollectionIndex,
    QdrantVectorIndex,
)
from lrwr.core.adapters.vectors.qdrant_collection import (
    MAX_REQUEST_BYTES,
    QdrantCollection,
)
from lrwr.core.adapters.vectors.qdrant_http import (
    QdrantConnection,
    QdrantHttpClient,
    build_collection_name,
    delete_collection,
)
from lrwr.core.model.choices import Pipeline
from lrwr.core.model.chunks import ScoredChunk, SearchScope
from lrwr.core.model.errors import ServiceUnavailable
from lrwr.core.settings.files import FileLock
from tests.fakes.hosted_server import CutShort, Hang, Nonsense, Refuse, Turn
from tests.fakes.libraries import Library, sqlite_library
from tests.fakes.qdrant_server import KEY, QdrantServer
from tests.fakes.records import DIMENSIONS, ONE, SPACE, TWO, a_vector

TEXTS = ("The heron waits.", "Corin Vale rows out.", "Rain fell on the weir.")
ALL = SearchScope()
NAME = build_collection_name("a library", Pipeline.NAIVE, SPACE)


class Hours:
    """A clock that goes when told to, or when somebody sleeps."""

    def __init__(self) -> None:
        self.time = 1_000.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.time

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.time += seconds


@pytest.fixture
def server() -> Iterator[QdrantServer]:
    with QdrantServer(key=KEY) as opened:
        yield opened


@pytest.fixture
async def library(tmp_path: Path) -> AsyncIterator[Library]:
    async with sqlite_library(tmp_path) as opened:
        await opened.keep_texts(ONE, TEXTS)
        yield opened


@pytest.fixture
def hours() -> Hours:
    return Hours()


def index_over(
    url: str,
    library: Library,
    folder: Path,
    hours: Hours,
    *,
    key: str = KEY,
    timeout: float = 20.0,
) -> QdrantVectorIndex:
    clock = Clock(now=hours, sleep=hours.sleep, chance=lambda: 0.5)
    wire = QdrantHttpClient(QdrantConnection(url, key, timeout), clock=clock)
    return QdrantVectorIndex(
        QdrantCollectionIndex(
            QdrantCollection(wire, NAME, DIMENSIONS),
            folder / "index",
            library.feed,
            pipeline=Pipeline.NAIVE,
            space=SPACE,
        ),
        fallback=a_scan(library),
        now=hours,
    )


def a_scan(library: Library) -> NumpyVectorIndex:
    return NumpyVectorIndex(
        library.feed, pipeline=Pipeline.NAIVE, space=SPACE, dimensions=DIMENSIONS
    )


async def searched(index: QdrantVectorIndex) -> list[ScoredChunk]:
    await index.catch_up()
    return await index.nearest(a_vector("q"), scope=ALL, limit=9)


async def by_scanning(library: Library) -> list[ScoredChunk]:
    scan = a_scan(library)
    await scan.catch_up()
    return await scan.nearest(a_vector("q"), scope=ALL, limit=9)


@pytest.fixture
async def index(
    server: QdrantServer, library: Library, tmp_path: Path, hours: Hours
) -> AsyncIterator[QdrantVectorIndex]:
    async with aclosing(index_over(server.url, library, tmp_path, hours)) as opened:
        yield opened


async def test_neither_text_nor_names_of_files_are_sent(
    server: QdrantServer, index: QdrantVectorIndex
) -> None:
    assert len(await searched(index)) == 3
    bound = SearchScope(documents=frozenset({ONE}), until={ONE: 20})
    assert len(await index.nearest(a_vector("q"), scope=bound, limit=9)) == 1
    sent = repr(server.asked)
    for word in ("heron", "Corin", "weir", "manuscript", "01.md"):
        assert word not in sent
    known = {"host", "user-agent", "accept", "accept-encoding", "connection"}
    known |= {"content-length", "content-type", "api-key"}
    assert {name for one in server.asked for name in one.headers} <= known
    assert {one.headers["api-key"] for one in server.asked} == {KEY}


async def test_a_collection_is_made_with_indexes_and_each_write_is_waited_for(
    server: QdrantServer, index: QdrantVectorIndex
) -> None:
    await index.catch_up()
    here = f"/collections/{NAME}"
    assert server.paths == [
        f"GET {here}/exists",
        f"DELETE {here}",
        f"PUT {here}",
        *[f"PUT {here}/index"] * 3,
        *[f"PUT {here}/points"] * 2,
    ]
    made = next(one for one in server.asked if one.place == here and one.body)
    assert made.body["vectors"]["text"]["size"] == DIMENSIONS
    indexed = {
        one.body["field_name"]: one.body["field_schema"]
        for one in server.asked
        if one.place.endswith("/index")
    }
    assert indexed == {"document": "keyword", "kind": "keyword", "end": "integer"}
    assert all(
        "wait=true" in one.query for one in server.asked if one.body.get("points")
    )


async def test_how_far_it_came_is_written_in_the_batch_of_the_points(
    server: QdrantServer, index: QdrantVectorIndex, library: Library
) -> None:
    await index.catch_up()
    cursor, *points = server.asked[-1].body["points"]
    assert (cursor["id"], cursor["vector"]) == (0, {})
    assert cursor["payload"]["seq"] == 3
    assert {str(point["id"]) for point in points} == {
        one.chunk for one in await by_scanning(library)
    }
    assert set(points[0]["payload"]) == {"document", "kind", "end"}


async def test_where_nothing_is_new_nothing_is_sent(
    server: QdrantServer, index: QdrantVectorIndex, library: Library
) -> None:
    await index.catch_up()
    server.asked.clear()
    assert await index.catch_up() == 0
    assert server.asked == []
    await library.keep_texts(TWO, TEXTS[:1])
    assert await index.catch_up() == 1


async def test_a_batch_is_bounded_in_bytes(
    server: QdrantServer, library: Library, tmp_path: Path, hours: Hours
) -> None:
    wide = QdrantCollection(QdrantHttpClient(QdrantConnection()), NAME, 3_072)
    assert 1 < wide.page < 30
    await library.keep_texts(TWO, [f"Line {n} of the log." for n in range(30)])
    collection = QdrantCollection(
        QdrantHttpClient(QdrantConnection(server.url, KEY)), NAME, DIMENSIONS
    )
    collection.page = 7
    followed = QdrantCollectionIndex(
        collection, tmp_path, library.feed, pipeline=Pipeline.NAIVE, space=SPACE
    )
    async with aclosing(followed):
        assert await followed.catch_up() == 33
    writes = [one for one in server.asked if one.place.endswith("/points")]
    assert [len(one.body["points"]) for one in writes] == [1, 8, 8, 8, 8, 6]
    assert max(one.size for one in writes) < MAX_REQUEST_BYTES


REFUSALS = [
    (Refuse(401), "does not accept the key (HTTP 401)", "lrwr config set-key qdrant"),
    (Refuse(403), "does not allow this operation", "a key that may write"),
    (Refuse(404), "does not have the collection (HTTP 404)", "vectors.url"),
    (Refuse(400), "refused the request (HTTP 400)", "vectors.url"),
    (Refuse(413), "does not accept requests of this size", "Raise the server"),
    (Refuse(429), "received too many requests (HTTP 429)", "later"),
    (Refuse(500), "failed (HTTP 500)", "later"),
    (Refuse(503, retry_after="3600"), "failed (HTTP 503)", "later"),
    (Refuse(302, location="http://127.0.0.1:1/"), "redirects requests", "url"),
    (Nonsense("<html>Welcome!</html>"), "does not understand", "vectors.url"),
    (Nonsense('{"result": 7, "status": "ok"}'), "does not understand", "vectors.url"),
    (Nonsense('{"result": null}'), "does not understand", "vectors.url"),
    (Nonsense(""), "does not understand", "vectors.url"),
    (CutShort(), "stopped in the middle", "again"),
]


@pytest.mark.parametrize(("turn", "said", "hint"), REFUSALS)
async def test_whatever_the_server_says_the_search_finds_the_same_and_says_why(
    server: QdrantServer,
    index: QdrantVectorIndex,
    library: Library,
    caplog: pytest.LogCaptureFixture,
    turn: Turn,
    said: str,
    hint: str,
) -> None:
    caplog.set_level(logging.DEBUG)
    server.always(turn)
    assert await searched(index) == await by_scanning(library)
    assert index.remark.startswith("Compared on this machine, without Qdrant. ")
    assert said in index.remark
    assert hint in index.remark
    assert KEY not in index.remark + caplog.text


@pytest.mark.parametrize(("turn", "said", "hint"), REFUSALS)
async def test_a_server_that_fails_in_the_middle_of_a_search_changes_no_answer(
    server: QdrantServer,
    index: QdrantVectorIndex,
    library: Library,
    turn: Turn,
    said: str,
    hint: str,
) -> None:
    await searched(index)
    server.always(turn)
    assert await searched(index) == await by_scanning(library)
    assert said in index.remark


async def test_a_server_that_does_not_answer_in_time_is_not_waited_for(
    server: QdrantServer, library: Library, tmp_path: Path, hours: Hours
) -> None:
    server.always(Hang())
    async with aclosing(
        index_over(server.url, library, tmp_path, hours, timeout=0.05)
    ) as index:
        hours.time = 0.0
        assert await searched(index) == await by_scanning(library)
        assert "did not answer within 0.05 seconds" in index.remark
        assert "vectors.timeout" in index.remark


async def test_a_server_that_is_not_there_is_told_from_one_that_fails(
    library: Library, tmp_path: Path, hours: Hours
) -> None:
    with QdrantServer() as gone:
        url = gone.url
    async with aclosing(index_over(url, library, tmp_path, hours)) as index:
        assert await searched(index) == await by_scanning(library)
        assert "cannot be reached" in index.remark


async def test_a_wrong_key_is_refused_and_none_is_shown(
    server: QdrantServer, library: Library, tmp_path: Path, hours: Hours
) -> None:
    wrong = "qdr-wrong-key-999"
    made = index_over(server.url, library, tmp_path, hours, key=wrong)
    async with aclosing(made) as index:
        await searched(index)
        assert "does not accept the key" in index.remark
        http = QdrantHttpClient(QdrantConnection(server.url, wrong))
        with pytest.raises(ServiceUnavailable) as caught:
            await delete_collection(http, NAME)
        await http.aclose()
    told = [repr(caught.value), str(caught.value), caught.value.hint]
    cause: BaseException | None = caught.value
    while cause is not None:
        told.append(f"{cause!r} {cause}")
        cause = cause.__cause__
    assert wrong not in " ".join(told) + repr(
        QdrantConnection("http://127.0.0.1", wrong)
    )


async def test_what_may_help_is_tried_again_after_the_time_that_was_asked_for(
    server: QdrantServer, index: QdrantVectorIndex, hours: Hours
) -> None:
    server.will(Refuse(500), Refuse(429, retry_after="0.5"))
    assert len(await searched(index)) == 3
    assert index.remark == ""
    assert len(hours.slept) == 2
    assert hours.slept[1] >= 0.5


async def test_a_server_that_failed_is_left_alone_for_a_while_and_then_asked_again(
    server: QdrantServer, index: QdrantVectorIndex, hours: Hours
) -> None:
    server.always(Refuse(401))
    await searched(index)
    asked = len(server.asked)
    server.always(None)
    await searched(index)
    assert len(server.asked) == asked
    assert index.remark
    hours.time += UNREACHABLE_SERVER_PAUSE
    assert len(await searched(index)) == 3
    assert len(server.asked) > asked
    assert index.remark == ""


async def test_a_collection_that_somebody_deleted_is_made_anew(
    server: QdrantServer, index: QdrantVectorIndex, library: Library
) -> None:
    await searched(index)
    server.engine.delete_collection(NAME)
    assert await index.nearest(a_vector("q"), scope=ALL, limit=9) == (
        await by_scanning(library)
    )
    assert "does not have" in index.remark
    assert len(await searched(index)) == 3
    assert index.remark == ""
    assert server.engine.collection_exists(NAME)


async def test_forgetting_deletes_the_collection_and_twice_is_safe(
    server: QdrantServer, index: QdrantVectorIndex
) -> None:
    await index.catch_up()
    http = QdrantHttpClient(QdrantConnection(server.url, KEY))
    async with aclosing(http):
        assert await delete_collection(http, NAME)
        assert not server.engine.collection_exists(NAME)
        assert not await delete_collection(http, NAME)
    assert len(await searched(index)) == 3


async def test_a_cleared_index_folder_makes_the_collection_anew(
    server: QdrantServer, index: QdrantVectorIndex, tmp_path: Path
) -> None:
    await index.catch_up()
    (tmp_path / "index" / NAME / "mark").unlink()
    server.asked.clear()
    assert await index.catch_up() == 3
    assert f"DELETE /collections/{NAME}" in server.paths


async def test_a_second_process_finds_what_the_first_one_sent(
    server: QdrantServer, index: QdrantVectorIndex, library: Library, tmp_path: Path
) -> None:
    await index.catch_up()
    async with aclosing(index_over(server.url, library, tmp_path, Hours())) as second:
        server.asked.clear()
        assert await second.catch_up() == 0
        assert await searched(second) == await by_scanning(library)
        assert not [one for one in server.asked if one.method == "PUT"]


async def test_while_another_process_sends_this_one_compares_by_itself(
    server: QdrantServer, index: QdrantVectorIndex, library: Library, tmp_path: Path
) -> None:
    lock = FileLock(tmp_path / "index" / f"{NAME}.lock")
    assert lock.acquire()
    assert await searched(index) == await by_scanning(library)
    assert "Another lrwr process is sending vectors" in index.remark
    assert server.asked == []
    lock.release()


async def test_searches_at_once_send_everything_once(
    server: QdrantServer, index: QdrantVectorIndex, library: Library
) -> None:
    found = await asyncio.gather(*(searched(index) for _ in range(5)))
    assert found == [await by_scanning(library)] * 5
    assert sum(one.place.endswith("/index") for one in server.asked) == 3


def test_the_name_of_a_collection_says_nothing_of_the_library() -> None:
    one = build_collection_name("the-heron-novel", Pipeline.AGENTIC, "all-MiniLM")
    assert one == build_collection_name(
        "the-heron-novel", Pipeline.AGENTIC, "all-MiniLM"
    )
    assert "heron" not in one
    others = {
        build_collection_name("another", Pipeline.AGENTIC, "all-MiniLM"),
        build_collection_name("the-heron-novel", Pipeline.NAIVE, "all-MiniLM"),
        build_collection_name("the-heron-novel", Pipeline.AGENTIC, "another"),
    }
    assert len(others | {one}) == 4
