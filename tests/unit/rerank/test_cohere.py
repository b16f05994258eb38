"""What is sent to Cohere, what comes back, and what each of its errors means."""

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest

from lrwr.core.adapters.http.rate_limit import Clock, RateLimit
from lrwr.core.adapters.rerank.cohere import CohereConnection, CohereReranker
from lrwr.core.model.errors import ServiceUnavailable
from tests.fakes.cohere_server import CHAT_MODEL, KEY, CohereServer
from tests.fakes.hosted_server import CutShort, Hang, Nonsense, Refuse, Say, Turn

MODEL = "rerank-v5.0-fast"
QUESTION = "Who lit the lamp?"
PASSAGES = ["The page was too neat.", "The frog lit the lamp.", "  "]


@pytest.fixture
def server() -> Iterator[CohereServer]:
    with CohereServer() as opened:
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


def cohere(
    server: CohereServer,
    *,
    model: str = MODEL,
    timeout: float = 15.0,
    patience: float = 0.0,
    watch: Watch | None = None,
) -> CohereReranker:
    where = CohereConnection(model, server.origin, timeout, own=True)
    clock = (watch or Watch()).clock()
    return CohereReranker(
        where, lambda: KEY, None, clock, RateLimit(2, patience=patience)
    )


async def refused(server: CohereServer, turn: Turn) -> ServiceUnavailable:
    server.will(turn)
    with pytest.raises(ServiceUnavailable) as caught:
        await cohere(server).rerank(QUESTION, PASSAGES)
    return caught.value


async def test_the_question_and_its_passages_are_sent_and_nothing_else(
    server: CohereServer,
) -> None:
    scores = await cohere(server).rerank(QUESTION, PASSAGES)
    (asked,) = server.asked
    assert (asked.method, asked.path) == ("POST", "/v2/rerank")
    assert asked.body == {
        "model": MODEL,
        "query": QUESTION,
        "documents": PASSAGES[:2],
    }
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert scores[1] > scores[0] > scores[2] == 0.0


async def test_another_model_is_asked_for_by_its_name(server: CohereServer) -> None:
    older = cohere(server, model="rerank-english-v3.0")
    await older.rerank(QUESTION, PASSAGES)
    assert server.asked[0].body["model"] == "rerank-english-v3.0"
    assert older.name == "cohere/rerank-english-v3.0"


async def test_what_says_nothing_is_not_sent(server: CohereServer) -> None:
    assert await cohere(server).rerank(QUESTION, ["", " \n"]) == [0.0, 0.0]
    assert await cohere(server).rerank("  ", PASSAGES) == [0.0] * 3
    assert server.asked == []


@pytest.mark.parametrize(
    ("turn", "says", "hint", "helps"),
    [
        (
            Refuse(400, f"no {QUESTION} {KEY[-9:]}"),
            "refused the request (HTTP 400)",
            "model",
            0,
        ),
        (
            Refuse(400, "too many tokens: 9"),
            "too long for the context",
            "rerank.cohere_model",
            0,
        ),
        (
            Refuse(401, f"invalid {KEY}"),
            "not accept the key (HTTP 401)",
            "key cohere",
            0,
        ),
        (Refuse(402), "no credit left (HTTP 402)", "Add credit", 0),
        (Refuse(403), "does not let this key use", "rerank.cohere_model", 0),
        (
            Refuse(404),
            f"Cohere has no model {MODEL} (HTTP 404)",
            "rerank.cohere_model",
            0,
        ),
        (Refuse(422), "refused the request (HTTP 422)", "rerank.cohere_model", 0),
        (Refuse(429, "a Trial key"), "too many requests (HTTP 429)", "a minute", 1),
        (Refuse(500), "failed (HTTP 500)", "later", 1),
        (
            Refuse(302, headers={"location": "http://127.0.0.1:9"}),
            "(HTTP 302)",
            "base",
            0,
        ),
        (CutShort(), "stopped in the middle", "Try again", 1),
        (Nonsense("<html>"), "does not understand", "rerank.base_url", 0),
        (Nonsense("\x00"), "does not understand", "rerank.base_url", 0),
        (Nonsense("[1, 2]"), "does not understand", "rerank.base_url", 0),
        (Nonsense('{"results": "many"}'), "does not understand", "rerank.base_url", 0),
    ],
)
async def test_every_error_is_a_sentence_with_a_hint(
    server: CohereServer, turn: Turn, says: str, hint: str, helps: int
) -> None:
    error = await refused(server, turn)
    assert says in str(error)
    assert hint in error.hint
    assert error.retryable is bool(helps)
    for told in (KEY, KEY[-9:], QUESTION):
        assert told not in f"{error}{error.hint}"
    assert len(server.asked) == 1


def results(*rows: Any) -> Nonsense:
    return Nonsense(json.dumps({"id": "1", "results": list(rows)}))


def row(index: Any, score: Any) -> Any:
    return {"index": index, "relevance_score": score}


@pytest.mark.parametrize(
    "turn",
    [
        results(row(0, 0.5)),
        results(row(0, 0.5), row(0, 0.4)),
        results(row(0, 0.5), row(2, 0.4)),
        results(row(0, 0.5), row(-1, 0.4)),
        results(row(0, 0.5), row(1, float("nan"))),
        results(row(0, 0.5), row(1, "high")),
        results(row(0, 0.5), row(None, 0.4)),
        results(row(0, 0.5), None),
        results(row(0, 0.5), row(1, 0.4), row(1, 0.3)),
    ],
)
async def test_scores_that_are_not_one_for_each_passage_are_no_answer(
    server: CohereServer, turn: Turn
) -> None:
    error = await refused(server, turn)
    assert "does not understand" in str(error)


async def test_scores_come_in_the_order_of_the_passages(server: CohereServer) -> None:
    server.will(Say({"results": [row(1, 0.9), row(0, 0.1)], "meta": None}))
    assert await cohere(server).rerank(QUESTION, PASSAGES) == [0.1, 0.9, 0.0]


async def test_a_server_that_says_nothing_is_not_waited_for(
    server: CohereServer,
) -> None:
    server.will(Hang())
    with pytest.raises(ServiceUnavailable, match=r"within 0\.3 seconds") as caught:
        await cohere(server, timeout=0.3).rerank(QUESTION, PASSAGES)
    assert "rerank.timeout" in caught.value.hint


async def test_a_server_that_is_not_there_is_named() -> None:
    with CohereServer() as server:
        gone = cohere(server)
    with pytest.raises(ServiceUnavailable, match="Cohere cannot be reached"):
        await gone.rerank(QUESTION, PASSAGES)


async def test_a_server_that_asks_to_wait_is_asked_again_once_it_may(
    server: CohereServer,
) -> None:
    watch = Watch()
    server.will(Refuse(429, headers={"retry-after": "2"}))
    scores = await cohere(server, patience=6.0, watch=watch).rerank(QUESTION, PASSAGES)
    assert scores[1] > scores[0]
    assert len(server.asked) == 2
    assert watch.slept[0] >= 2.0


async def test_a_search_does_not_wait_for_long(server: CohereServer) -> None:
    watch = Watch()
    server.will(Refuse(429, headers={"retry-after": "60"}))
    with pytest.raises(ServiceUnavailable, match="429"):
        await cohere(server, patience=6.0, watch=watch).rerank(QUESTION, PASSAGES)
    assert watch.slept == []


async def test_without_leave_or_key_nothing_is_sent(server: CohereServer) -> None:
    def key() -> str:
        raise ServiceUnavailable("there is no key")

    where = CohereConnection(MODEL, server.origin, own=True)
    with pytest.raises(ServiceUnavailable, match="no key"):
        await CohereReranker(where, key).rerank(QUESTION, PASSAGES)
    assert server.asked == []


async def test_a_writer_who_stops_is_not_told_of_a_failure(
    server: CohereServer,
) -> None:
    server.will(Hang())
    asking = asyncio.create_task(
        cohere(server, timeout=60.0).rerank(QUESTION, PASSAGES)
    )
    await asyncio.to_thread(server.was_asked, 30.0)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking


async def test_whether_a_model_is_known_is_asked_without_any_text(
    server: CohereServer,
) -> None:
    assert await cohere(server).has_model()
    (asked,) = server.asked
    assert (asked.method, asked.path) == ("GET", f"/v1/models/{MODEL}")
    assert asked.size == 0
    assert not await cohere(server, model=CHAT_MODEL).has_model()
    with pytest.raises(ServiceUnavailable, match="has no model rerank-v9"):
        await cohere(server, model="rerank-v9").has_model()
