"""RAGAS through our port says what RAGAS says by itself: `make eval-extra`.

Both ask the same loopback server, which judges by words that it finds again.
"""

import asyncio
import json
import math
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

import pytest

from lrwr.core.adapters.chat.connection import ChatConnection, ModelServerClient
from lrwr.core.adapters.chat.openai import OpenAIChatModel
from lrwr.core.adapters.http.rate_limit import RateLimit
from lrwr.core.adapters.judge.ragas import RagasJudge
from lrwr.core.ports.models import JudgeSample
from lrwr.pipeline.evaluation.judgements import judge_answer, summarize_panel_results
from tests.fakes.model_server import KEY, MODEL, Asked, ModelServer, Refuse
from tests.fakes.room import with_model
from tests.fakes.terminal import Terminal

pytestmark = [
    pytest.mark.eval_extra,
    pytest.mark.timeout(300),
    pytest.mark.skipif(
        find_spec("ragas") is None,
        reason="RAGAS is not installed; try make eval-extra",
    ),
]

REPO = Path(__file__).parents[2]
INPUT = re.compile(r"following input\s+input: (\{.*\})\s+Output:", re.DOTALL)

LAMP = "Nell Tallow lit the marsh lantern before the third bell."
EELS = "OchraMags counted the eels and wrote the number in her ledger."
GATE = "The sluice gate was painted tin grey in the autumn."

SAMPLES = [
    JudgeSample(
        "Who lit the lantern?", "Nell Tallow lit the lantern.", (LAMP,), "Nell."
    ),
    JudgeSample(
        "Who counted the eels?",
        "OchraMags counted the eels. She sold them in the market.",
        (EELS, LAMP, GATE),
        "OchraMags counted them. She wrote the number in her ledger.",
    ),
    JudgeSample(
        "What colour is the gate?",
        "The gate was painted scarlet. The gate was painted grey. In autumn.",
        (LAMP, GATE, EELS, GATE),
        "The gate was painted grey. It squeaks always. In autumn.",
    ),
    JudgeSample(
        "Who is the ferryman?", "Corin Vale rows the ferry.", (EELS,), "Corin."
    ),
    JudgeSample(
        "When?", "Before “the third bell”…\nNobody says.", (GATE, LAMP), "At bell."
    ),
    JudgeSample("Why?", "…", (LAMP,), "For the travellers."),
    JudgeSample(
        "How?", "With oil {and} a \\ wick.", (LAMP, LAMP), "It was lit with oil."
    ),
]


def sentences(text: str) -> list[str]:
    return [one for one in re.split(r"[.!?…\n]+\s*", text) if re.search(r"\w", one)]


def words(text: str) -> set[str]:
    return set(re.findall(r"[a-z]{4,}", text.lower()))


def verdict(statement: str, context: str) -> int:
    return int(words(statement) <= words(context))


def by_words(asked: Asked) -> str:
    """Judge, as a model would, what stands at the end of a prompt of RAGAS."""
    prompt = next(text for text in asked.texts if INPUT.search(text))
    found = INPUT.search(prompt)
    assert found is not None
    given = json.loads(found[1])
    if "statements" in given:
        told = [
            {"statement": one, "reason": "-", "verdict": verdict(one, given["context"])}
            for one in given["statements"]
        ]
        return json.dumps({"statements": told})
    if "context" not in given:
        return json.dumps({"statements": sentences(given["answer"])})
    if "useful in arriving" in prompt:
        useful = bool(words(given["answer"]) & words(given["context"]))
        return json.dumps({"reason": "-", "verdict": int(useful)})
    attributed = [
        {
            "statement": one,
            "reason": "-",
            "attributed": verdict(one, given["context"]),
        }
        for one in sentences(given["answer"])
    ]
    return json.dumps({"classifications": attributed})


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as opened:
        opened.answering(by_words)
        yield opened


@asynccontextmanager
async def our_judge(server: ModelServer) -> AsyncIterator[RagasJudge]:
    chat = OpenAIChatModel(
        ChatConnection(MODEL, server.base_url, key=KEY), ModelServerClient(RateLimit(4))
    )
    try:
        yield await RagasJudge.open(chat)
    finally:
        await chat.aclose()


async def by_ragas_itself(server: ModelServer, sample: JudgeSample) -> dict[str, float]:
    """Ask RAGAS as its own documentation does."""
    from openai import AsyncOpenAI
    from ragas.llms import llm_factory
    from ragas.metrics.collections import ContextPrecision, ContextRecall, Faithfulness

    asked = {
        "user_input": sample.question,
        "retrieved_contexts": list(sample.contexts),
    }
    async with AsyncOpenAI(base_url=server.base_url, api_key=KEY) as client:
        model = cast("Any", llm_factory(MODEL, client=client, temperature=0.0))
        scored = {
            "faithfulness": await Faithfulness(llm=model).ascore(
                **asked, response=sample.answer
            ),
            "context_precision": await ContextPrecision(llm=model).ascore(
                **asked, reference=sample.reference
            ),
            "context_recall": await ContextRecall(llm=model).ascore(
                **asked, reference=sample.reference
            ),
        }
    return {name: float(one.value) for name, one in scored.items()}


@pytest.fixture
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """RAGAS itself keeps a name for its user among their files."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.mark.usefixtures("own_home")
async def test_our_figures_are_those_of_ragas_itself(server: ModelServer) -> None:
    async with our_judge(server) as judge:
        ours = [await judge.judge(sample) for sample in SAMPLES]
    calls = len(server.chats)
    theirs = [await by_ragas_itself(server, sample) for sample in SAMPLES]
    for one, other in zip(ours, theirs, strict=True):
        numbers = {name: value for name, value in other.items() if math.isfinite(value)}
        assert one.values == numbers
        assert set(one.failed) == set(other) - set(numbers)
    assert len(server.chats) == 2 * calls
    seen = {round(value, 2) for one in ours for value in one.values.values()}
    assert len(seen) > 3


async def test_what_is_no_number_counts_as_failed_and_never_as_nothing(
    server: ModelServer,
) -> None:
    async with our_judge(server) as judge:
        opinions = [await judge_answer([judge], sample) for sample in SAMPLES]
    faithful, *_ = summarize_panel_results(opinions)
    assert faithful.figure == "faithfulness"
    assert (faithful.answers, faithful.tries, faithful.failed) == (7, 21, 3)
    assert faithful.value is not None
    assert "NaN" in faithful.reasons[0][0]
    assert faithful.spread == 0.0


async def test_a_judge_that_fails_half_the_time_is_not_believed(
    server: ModelServer,
) -> None:
    counted = iter(range(10_000))

    def half(asked: Asked) -> str | Refuse:
        return by_words(asked) if next(counted) % 2 else Refuse(400, "no")

    server.answering(half)
    async with our_judge(server) as judge:
        opinions = [await judge_answer([judge], sample) for sample in SAMPLES]
    for standing in summarize_panel_results(opinions):
        assert standing.value is None
        assert standing.failed > 0.2 * standing.tries
        assert standing.reasons


OFF_THE_RECORD = """
import asyncio, sys
told = []
def hook(event, args):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.sendto"):
        told.append(repr(args[1] if event == "socket.connect" else args))
sys.addaudithook(hook)
from tests.e2e.test_ragas import SAMPLES
from lrwr.core.adapters.chat.connection import ChatConnection, ModelServerClient
from lrwr.core.adapters.chat.openai import OpenAIChatModel
from lrwr.core.adapters.http.rate_limit import RateLimit
from lrwr.core.adapters.judge.ragas import RagasJudge
async def main():
    client = ModelServerClient(RateLimit(4))
    connection = ChatConnection(sys.argv[2], sys.argv[1], key=sys.argv[3])
    chat = OpenAIChatModel(connection, client)
    judge = await RagasJudge.open(chat)
    judged = [await judge.judge(one) for one in SAMPLES]
    await chat.aclose()
    from ragas import _analytics
    _analytics._analytics_batcher.shutdown()
    assert _analytics.do_not_track()
    assert sum(len(one.values) for one in judged) > 15
asyncio.run(main())
print(*sorted(set(told)), sep="\\n")
"""


def test_nothing_is_told_to_anybody_but_the_model(
    server: ModelServer, own_home: Path
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", OFF_THE_RECORD, server.base_url, MODEL, KEY],
        cwd=REPO,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    places = done.stdout.split("\n")
    assert places
    assert all("127.0.0.1" in one for one in places if one)
    assert not own_home.exists()


async def test_several_are_judged_at_once_and_each_is_told_its_own(
    server: ModelServer,
) -> None:
    async with our_judge(server) as judge:
        alone = [await judge.judge(sample) for sample in SAMPLES]
        together = await asyncio.gather(*(judge.judge(sample) for sample in SAMPLES))
    assert [one.values for one in together] == [one.values for one in alone]


def test_an_evaluation_has_answers_judged_by_ragas(tmp_path: Path) -> None:
    def reply(asked: Asked) -> str:
        match asked.shape:
            case "Answer":
                return json.dumps({"answer": f"{LAMP} [1]", "told": True})
            case "Marked":
                return json.dumps({"reason": "-", "correct": 1})
            case _:
                return by_words(asked)

    book = Terminal(tmp_path / "book", home=tmp_path / "home")
    book.folder.mkdir()
    (book.folder / "1.md").write_text(f"# One\n\n{LAMP} {EELS}\n", encoding="utf-8")
    asked = {
        "question": SAMPLES[0].question,
        "kind": "fact",
        "answer": SAMPLES[0].answer,
        "gold": [{"file": "1.md", "quote": LAMP}],
    }
    (tmp_path / "q.jsonl").write_text(json.dumps(asked), encoding="utf-8")
    assert book.run("ingest", ".").code == 0
    with ModelServer(key="") as server:
        server.answering(reply)
        words = ["--pipeline", "b", "--model", "--read", "--questions", "../q.jsonl"]
        ran = book.run("eval", *words, "--json", **with_model(server))
    assert ran.code == 0, ran.err
    figures = ran.json["arms"][0]["figures"]
    judged_by_ragas = ("faithfulness", "context_precision", "context_recall")
    found = {name: figures[name]["value"] for name in judged_by_ragas}
    assert found == pytest.approx(dict.fromkeys(judged_by_ragas, 1.0))
    assert "lrwr[eval]" not in ran.err
