"""Traces at LangSmith: what a writer sees, and what leaves the machine."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.hosted_server import Hang, Nonsense, Refuse, Turn
from tests.fakes.langsmith_server import KEY, LangSmithServer
from tests.fakes.model_server import MODEL, ModelServer, Say
from tests.fakes.planning import saying
from tests.fakes.pty_terminal import PtyTerminal
from tests.fakes.terminal import LRWR, Ran
from tests.fakes.traced_book import SENTENCES, TracedBook, patience

QUESTION = "Who lit the lamp again for OchraMags?"
PLANTED = (*SENTENCES, QUESTION, "OchraMags", "Tallow", "Corin", "marsh", "weir")


@pytest.fixture
def server() -> Iterator[LangSmithServer]:
    with LangSmithServer() as opened:
        yield opened


@pytest.fixture
def desk(tmp_path: Path, server: LangSmithServer) -> TracedBook:
    """A desk at which traces are kept, and nothing is read yet."""
    opened = TracedBook(tmp_path, "book")
    opened.set(server.origin)
    return opened


@pytest.fixture
def read(desk: TracedBook, server: LangSmithServer) -> TracedBook:
    """A desk whose book is read, and traces are kept from now on."""
    desk.set(server.origin, "off")
    assert desk.run("ingest", ".").code == 0
    desk.set(server.origin)
    return desk


def bodies(server: LangSmithServer) -> str:
    return repr([(one.path, one.headers, one.body) for one in server.asked])


def told(ran: Ran) -> str:
    return " ".join(ran.err.split())


def test_reading_and_asking_leave_a_trace_each_without_a_word_of_the_text(
    desk: TracedBook, server: LangSmithServer
) -> None:
    first = desk.run("ingest", ".")
    assert first.code == 0
    assert "LangSmith is on (" in told(first)
    assert "counts, models and scores, without your text" in told(first)
    answered = desk.run("ask", QUESTION)
    assert answered.code == 0
    assert SENTENCES[2] in answered.out
    assert "trace" not in answered.err

    ingest, turn = server.traces
    assert ingest["name"] == "ingest"
    assert ingest["extra"]["metadata"]["processed"] == 3
    documents = server.within(ingest)
    assert [one["name"] for one in documents] == ["document"] * 3 + ["weaving"]
    stages = [one["name"] for one in server.within(documents[0])]
    assert stages[:2] == ["reading", "splitting"]
    assert stages[-1] == "storing"

    facts = turn["extra"]["metadata"]
    (thread,) = desk.run("threads", "--json").json
    assert facts["thread_id"] == thread["id"]
    assert (facts["state"], facts["number"]) == ("complete", 1)
    assert facts["citations"] > 0
    kinds = {one["name"]: one["run_type"] for one in server.within(turn)}
    assert kinds == {"plan": "chain", "search": "retriever", "answer": "chain"}

    sent = bodies(server).replace(repr(KEY), "")
    for planted in (*PLANTED, KEY):
        assert planted not in sent
    (total,) = desk.run("privacy", "--json").json["totals"]
    assert (total["service"], total["purpose"]) == ("langsmith", "traces")
    assert total["requests"] == len(server.asked) == 2


def test_a_question_that_fails_is_traced_by_the_kind_of_its_error(
    read: TracedBook, server: LangSmithServer
) -> None:
    assert read.run("ask", QUESTION, "--character", "Purple Weir").code != 0
    (turn,) = server.traces
    assert turn["error"] == "NotFound"
    assert "Weir" not in bodies(server)


def test_with_texts_the_writer_is_told_so_and_the_text_goes_along(
    read: TracedBook, server: LangSmithServer
) -> None:
    read.set(server.origin, own="texts = true\n")
    asked = read.run("ask", QUESTION)
    assert "with your questions, the answers, the passages they cite" in told(asked)
    (turn,) = server.traces
    assert turn["inputs"]["question"] == QUESTION
    assert any(SENTENCES[2] in one for one in turn["outputs"]["citations"])


def test_a_folder_can_turn_on_neither_traces_nor_their_texts(
    read: TracedBook, server: LangSmithServer
) -> None:
    read.set(server.origin, library="[traces]\ntexts = true\n")
    assert read.run("ask", QUESTION).code == 0
    assert len(server.traces) == 1
    assert QUESTION not in bodies(server)

    mine = f'[embedding]\nmodel = "off"\n[traces]\nbase_url = "{server.origin}"\n'
    read.set(server.origin, library='[traces]\nkeeper = "langsmith"\ntexts = true\n')
    read.own.write_text(mine, encoding="utf-8")
    asked = read.run("ask", QUESTION)
    assert asked.code == 0
    assert "you have not allowed it. Nothing was sent" in told(asked)
    assert "lrwr privacy allow langsmith" in told(asked)
    assert len(server.traces) == 1
    assert read.run("privacy", "allow", "langsmith").code == 0
    assert read.run("ask", QUESTION).code == 0
    assert len(server.traces) == 2
    assert QUESTION not in bodies(server)


def test_neither_a_key_nor_the_variables_of_langsmith_turn_anything_on(
    read: TracedBook, server: LangSmithServer
) -> None:
    read.set(server.origin, "off")
    shell = {
        "LANGSMITH_TRACING": "true",
        "LANGCHAIN_TRACING_V2": "true",
        "LANGSMITH_ENDPOINT": server.origin,
    }
    assert read.run("ask", QUESTION, **shell).code == 0
    assert server.asked == []
    assert "trace" not in read.run("doctor").out


def test_what_a_model_is_sent_and_says_is_in_no_trace(
    read: TracedBook, server: LangSmithServer
) -> None:
    shell = {"LANGSMITH_TRACING": "true", "LANGSMITH_ENDPOINT": server.origin}
    with ModelServer(key="") as models:
        models.answering(saying(Say("OchraMags lit the lamp", " at the weir [1].")))
        local = {
            "LRWR_MODEL_USE": "local",
            "LRWR_MODEL_NAME": MODEL,
            "LRWR_MODEL_BASE_URL": models.base_url,
        }
        asked = read.run("ask", QUESTION, **local, **shell)
        assert asked.code == 0
        assert len(models.asked) > 2
    (turn,) = server.traces
    assert {one.path for one in server.asked} == {"/runs/batch"}
    facts = turn["extra"]["metadata"]
    assert (facts["model"], facts["calls"]) == (MODEL, len(models.asked))
    answer = next(one for one in server.within(turn) if one["name"] == "answer")
    assert answer["run_type"] == "llm"
    assert answer["extra"]["metadata"]["ls_model_name"] == MODEL
    sent = bodies(server)
    for planted in (*PLANTED, "lit the lamp"):
        assert planted not in sent


@pytest.mark.parametrize(
    ("turn", "says"),
    [
        (Refuse(401, QUESTION), "LangSmith does not accept the key (HTTP 401)."),
        (
            Refuse(404, QUESTION),
            "There is no LangSmith API at this address (HTTP 404).",
        ),
        (
            Refuse(429, QUESTION, {"retry-after": "60"}),
            "received too many requests (HTTP 429)",
        ),
        (Refuse(500, QUESTION), "LangSmith failed (HTTP 500)."),
        (Hang(), "LangSmith did not answer within 2 seconds."),
        (Nonsense("<html>"), "answer did not come from LangSmith's API."),
    ],
)
def test_an_answer_is_given_whole_whatever_becomes_of_its_trace(
    read: TracedBook, server: LangSmithServer, turn: Turn, says: str
) -> None:
    server.will(*[turn] * 20)
    asked = read.run("ask", QUESTION, "--json", **patience(turn))
    assert asked.code == 0
    assert asked.json["citations"]
    assert told(asked).count("A trace was not sent.") == 1
    assert says in told(asked)
    assert QUESTION not in asked.err


def test_the_writing_room_says_it_once_when_it_is_left(
    read: TracedBook, server: LangSmithServer
) -> None:
    server.takes = "another"
    words = [str(LRWR), "chat"]
    env = dict(read.terminal.env)
    with PtyTerminal(words, folder=read.book, env=env) as room:
        room.expect("Ask your manuscript")
        room.press(*QUESTION, "enter")
        room.expect("[1]")
        room.press("ctrl+q")
        room.expect("A trace was not sent.")
        assert room.leave() == 0
    assert len(server.asked) == 1


def test_a_setting_without_a_key_says_so_and_nothing_is_sent(
    read: TracedBook, server: LangSmithServer
) -> None:
    asked = read.run("ask", QUESTION, LANGSMITH_API_KEY="")
    assert asked.code == 0
    assert "`traces.keeper` is langsmith, but there is no API key" in told(asked)
    assert "lrwr config set-key langsmith" in told(asked)
    assert server.asked == []


def finding(ran: Ran, part: str) -> tuple[str, str]:
    for one in ran.json["findings"]:
        if one["part"] == part:
            return one["state"], f"{one['detail']} {one['remedy']}".strip()
    raise LookupError(part)


def test_the_doctor_tries_the_key_and_sends_no_trace(
    read: TracedBook, server: LangSmithServer
) -> None:
    looked = read.run("doctor", "--json")
    state, says = finding(looked, "traces")
    assert state == "ok"
    assert says == "LangSmith answers; project lrwr, without your texts."
    assert "LangSmith receives the steps" in finding(looked, "hosted services")[1]
    assert [one.method for one in server.asked] == ["GET"]
    server.takes = "another"
    state, says = finding(read.run("doctor", "--json"), "traces")
    assert state == "broken"
    assert "lrwr config set-key langsmith" in says
    assert server.runs == {}
