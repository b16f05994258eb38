"""Results of `lrwr eval` at LangSmith: what a writer sees, and what leaves."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from lrwr.core.model.errors import ExitCode
from tests.fakes.hosted_server import CutShort, Hang, Nonsense, Refuse, Turn
from tests.fakes.langsmith_server import KEY, LangSmithServer
from tests.fakes.terminal import Ran, check_refusal
from tests.fakes.traced_book import SENTENCES, TracedBook, patience

pytestmark = pytest.mark.timeout(180)

QUESTIONS = (
    "Who climbed the ladder?",
    "Who brought the Reeve a letter?",
    "Who lit the lamp again?",
)
ANSWER = "Purple Tallow did it."
PLANTED = (
    *SENTENCES, *QUESTIONS, ANSWER, "Tallow", "Corin", "OchraMags", "Reeve", "weir",
    "heron-novel", "tallow-1",
)  # fmt: skip


@pytest.fixture
def server() -> Iterator[LangSmithServer]:
    with LangSmithServer() as opened:
        yield opened


class Desk(TracedBook):
    """A book that both pipelines have read, and what its writer set."""

    def __init__(self, place: Path) -> None:
        super().__init__(place, "heron-novel")
        lines = [
            {
                "id": f"tallow-{n}",
                "question": question,
                "answer": ANSWER,
                "gold": [{"file": f"weir-{n}.md", "quote": SENTENCES[n - 1]}],
            }
            for n, question in enumerate(QUESTIONS, 1)
        ]
        told = "\n".join(json.dumps(one) for one in lines)
        (place / "q.jsonl").write_text(told, encoding="utf-8")
        self.set("", "off")
        for words in (("ingest", "."), ("ingest", ".", "--pipeline", "a")):
            assert self.run(*words).code == 0

    def evaluate(self, *words: str, **env: str) -> Ran:
        """Ask the questions of both pipelines, and of the whole text."""
        ran = self.run("eval", "--questions", "../q.jsonl", *words, **env)
        assert ran.code == 0, ran.err
        return ran


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    """A desk whose book is read once, for all tests."""
    return Desk(tmp_path_factory.mktemp("experiments"))


@pytest.fixture
def desk(read: Desk, server: LangSmithServer) -> Desk:
    """A desk at which traces are kept from now on, and nothing has left yet."""
    read.set(server.origin)
    assert read.run("privacy", "clear", "--force").code == 0
    return read


def bodies(server: LangSmithServer) -> str:
    told = repr([(one.path, one.headers, one.body) for one in server.asked])
    return told.replace(repr(KEY), "")


def told(ran: Ran) -> str:
    return " ".join(ran.err.split())


def test_an_evaluation_is_kept_as_experiments_without_a_word_of_the_text(
    desk: Desk, server: LangSmithServer
) -> None:
    ran = desk.evaluate("--answers", "--json")
    assert "Sent 3 experiments on 3 questions to the LangSmith dataset" in told(ran)
    assert ran.json["run"]
    (dataset,) = server.desk.datasets.values()
    assert f"dataset “{dataset['name']}”" in told(ran)
    a, b, whole = server.desk.sessions.values()
    assert a["name"].startswith("lrwr: A ")
    facts = b["extra"]["metadata"]
    assert (facts["pipeline"], facts["measures"]) == ("b", "search, answers")
    assert facts["run"] == ran.json["run"]
    assert whole["extra"]["metadata"]["arm"] == "whole text"
    assert len(server.runs) == 9
    for run in server.runs.values():
        assert set(run["inputs"]) == {"number"}
        assert run["outputs"]["seconds"] >= 0

    means = {arm["name"]: arm["figures"] for arm in ran.json["arms"]}
    for session, figures in zip((a, b), (means["A"], means["B"]), strict=True):
        scores = [
            row["score"]
            for row in server.desk.feedback.values()
            if (row["session_id"], row["key"]) == (session["id"], "mrr")
        ]
        assert sum(scores) / 3 == pytest.approx(figures["mrr"]["value"])

    for planted in PLANTED:
        assert planted not in bodies(server)
    assert KEY not in bodies(server)
    (total,) = desk.run("privacy", "--json").json["totals"]
    assert total["service"] == "langsmith"
    assert total["requests"] == len(server.asked) == 14
    assert total["sent_bytes"] == sum(one.size for one in server.asked)


def test_with_texts_questions_and_quotes_go_along_and_the_writer_is_told(
    desk: Desk, server: LangSmithServer
) -> None:
    desk.set(server.origin, own="texts = true\n")
    ran = desk.evaluate()
    assert "Sent 3 experiments" in told(ran)
    (dataset,) = server.desk.datasets.values()
    assert "heron-novel" in dataset["name"]
    example = next(iter(server.desk.examples.values()))
    assert example["inputs"]["question"] == QUESTIONS[0]
    assert example["outputs"]["quotes"] == [f"weir-1.md: {SENTENCES[0]}"]


def test_a_folder_can_turn_on_neither_sending_nor_texts(
    desk: Desk, server: LangSmithServer
) -> None:
    desk.set(server.origin, library="[traces]\ntexts = true\n")
    assert "without your text" in told(desk.evaluate())
    for planted in PLANTED:
        assert planted not in bodies(server)
    server.asked.clear()
    desk.set(server.origin, library='[traces]\nkeeper = "langsmith"\n')
    address = f'[embedding]\nmodel = "off"\n[traces]\nbase_url = "{server.origin}"\n'
    desk.own.write_text(address, encoding="utf-8")
    ran = desk.evaluate()
    assert "The results were not sent." in told(ran)
    assert "lrwr privacy allow langsmith" in told(ran)
    assert server.asked == []


def test_evaluating_again_doubles_nothing(desk: Desk, server: LangSmithServer) -> None:
    desk.evaluate()
    numbers = [len(server.runs), len(server.desk.feedback), len(server.desk.sessions)]
    desk.evaluate()
    assert desk.run("eval", "send").code == 0
    assert numbers == [
        len(server.runs), len(server.desk.feedback), len(server.desk.sessions)
    ]  # fmt: skip
    assert len(server.desk.datasets) == 1


def test_dry_runs_and_traces_that_are_off_send_nothing(
    desk: Desk, server: LangSmithServer
) -> None:
    ran = desk.evaluate("--dry-run")
    assert "LangSmith" not in ran.err
    desk.set(server.origin, "off")
    shell = {"LANGSMITH_TRACING": "true", "LANGSMITH_ENDPOINT": server.origin}
    desk.evaluate(**shell)
    check_refusal(desk.run("eval", "send"), ExitCode.SETTINGS, "keeper", "langsmith")
    assert server.asked == []


@pytest.mark.parametrize(
    ("turn", "says"),
    [
        (Refuse(401, SENTENCES[0]), "LangSmith does not accept the key (HTTP 401)."),
        (
            Refuse(404, SENTENCES[0]),
            "There is no LangSmith API at this address (HTTP 404).",
        ),
        (
            Refuse(429, SENTENCES[0], {"retry-after": "60"}),
            "received too many requests (HTTP 429)",
        ),
        (Refuse(500, SENTENCES[0]), "LangSmith failed (HTTP 500)."),
        (Hang(), "LangSmith did not answer within 2 seconds."),
        (CutShort(), "LangSmith closed the connection before its answer was complete."),
        (Nonsense("<html>"), "answer did not come from LangSmith's API."),
    ],
)
def test_an_evaluation_is_told_whole_whatever_becomes_of_its_results(
    desk: Desk, server: LangSmithServer, turn: Turn, says: str
) -> None:
    server.will(*[turn] * 20)
    ran = desk.evaluate("--json", **patience(turn))
    assert len(ran.json["arms"]) == 3
    assert told(ran).count("The results were not sent.") == 1
    assert says in told(ran)
    for planted in PLANTED:
        assert planted not in ran.err
    assert f"lrwr eval send {ran.json['run']}" in told(ran)


def test_results_that_could_not_be_sent_are_sent_later(
    desk: Desk, server: LangSmithServer
) -> None:
    ran = desk.evaluate("--json", LANGSMITH_API_KEY="")
    assert "there is no API key" in told(ran)
    assert server.asked == []
    server.will(Refuse(401))
    run = ran.json["run"]
    check_refusal(desk.run("eval", "send", run), ExitCode.SERVICE, "set-key langsmith")
    sent = desk.run("eval", "send", run)
    assert sent.code == 0
    assert "to the LangSmith dataset" in told(sent)
    assert len(server.runs) == 9
    check_refusal(
        desk.run("eval", "send", "2001"), ExitCode.NOT_FOUND, "lrwr eval runs"
    )


def test_a_run_that_is_not_complete_is_not_sent(
    desk: Desk, server: LangSmithServer
) -> None:
    desk.set(server.origin, "off")
    run = desk.evaluate("--json").json["run"]
    desk.set(server.origin)
    lines = desk.book / ".lrwr/evaluations" / run / "outcomes.jsonl"
    lines.write_bytes(lines.read_bytes().split(b"\n")[0] + b"\n")
    check_refusal(desk.run("eval", "send"), ExitCode.SETTINGS, "lrwr eval")
    assert server.asked == []
