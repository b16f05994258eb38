"""The judge with the real adapter, against a server that behaves, or does not."""

import json
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from lrwr.core.adapters.chat.connection import ChatConnection, ModelServerClient
from lrwr.core.adapters.chat.openai import OpenAIChatModel
from lrwr.core.adapters.http.rate_limit import Clock, RateLimit
from lrwr.core.adapters.storage.sqlite.database import SqliteDatabase
from lrwr.core.adapters.storage.sqlite.knowledge_store import SqliteAnalysisStore
from lrwr.core.continuity.judge import PairJudge
from lrwr.core.continuity.pair_selection import find_statement_pairs
from lrwr.pipeline.analysis import ModelBudget
from tests.fakes.model_server import (
    KEY,
    MODEL,
    Asked,
    Hang,
    ModelServer,
    Nonsense,
    Refuse,
    Say,
    Turn,
)
from tests.fakes.records import Clock as Now
from tests.unit.continuity.readers import read

NOTE = "- **Occupation:** lock-keeper"
TEXT = "Nell Tallow, a cooper, came in."


def answered(asked: Asked) -> str:
    numbers = re.findall(r"^<text (\d+) ", asked.texts[1], re.M)
    quotes = {"canon_quote": "lock-keeper", "text_quote": "a cooper", "why": "so"}
    rows = [{"id": int(n), "contradicts": True, **quotes} for n in numbers]
    return json.dumps({"pairs": rows})


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as opened:
        opened.answering(answered)
        yield opened


@asynccontextmanager
async def judging(
    server: ModelServer, folder: Path, patience: float = 30.0
) -> AsyncIterator[PairJudge]:
    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    slept: list[float] = []
    clock = Clock(lambda: sum(slept), sleep, lambda: 0.0, lambda: 1.0)
    connection = ChatConnection(MODEL, server.base_url, KEY, timeout=patience)
    chat = OpenAIChatModel(
        connection, ModelServerClient(RateLimit(4, patience=3.0), clock)
    )
    database = SqliteDatabase(folder / "library.db")
    store = SqliteAnalysisStore(database, now=Now())
    try:
        yield PairJudge(chat, store, ModelBudget(lambda _: None))
    finally:
        await chat.aclose()
        await database.aclose()


async def test_a_pair_goes_out_with_a_strict_schema_and_comes_back_judged(
    server: ModelServer, tmp_path: Path
) -> None:
    asked = find_statement_pairs(read(two=TEXT, note=NOTE))
    async with judging(server, tmp_path) as judge:
        session = await judge.judge(asked)
    ((pair, judgement),) = session.judged
    assert (pair, judgement.contradicts) == (asked[0], True)
    (chat,) = server.chats
    assert chat.shape == "Pairs"
    assert chat.body["response_format"]["json_schema"]["strict"] is True
    assert session.usage.prompt_tokens > 0


@pytest.mark.parametrize(
    ("turn", "said"),
    [
        (Refuse(401, "Incorrect key"), "401"),
        (Refuse(429, "slow down", retry_after="900"), "429"),
        (Refuse(500), "500"),
        (Hang(), "1 second"),
        (Nonsense(), ""),
    ],
)
async def test_a_server_that_fails_is_told_of_and_nothing_is_judged(
    turn: Turn, said: str, server: ModelServer, tmp_path: Path
) -> None:
    server.will(*[turn] * 20)
    patience = 1.0 if isinstance(turn, Hang) else 30.0
    async with judging(server, tmp_path, patience) as judge:
        session = await judge.judge(find_statement_pairs(read(two=TEXT, note=NOTE)))
    assert (session.judged, session.unjudged) == ([], 1)
    assert session.stopped
    assert said in session.stopped
    assert KEY not in session.stopped


async def test_words_that_are_no_json_are_no_judgement(
    server: ModelServer, tmp_path: Path
) -> None:
    server.will(Say("As an honest model,"), Say("I cannot say."))
    async with judging(server, tmp_path) as judge:
        session = await judge.judge(find_statement_pairs(read(two=TEXT, note=NOTE)))
    assert (session.judged, session.unjudged, session.stopped) == ([], 1, "")
    assert len(server.chats) == 2
