"""Keys and texts are planted and hunted on the ways to containers and to experiments."""

import json
import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from lrwr.app.modal_worker import read_document
from lrwr.core.adapters.modal.wire import decode_modal_order
from lrwr.core.model.errors import ExitCode
from tests.fakes import planted_secrets
from tests.fakes.hostile_gate import Gate, Manner
from tests.fakes.hostile_project import HostileProject
from tests.fakes.langsmith_server import LangSmithServer
from tests.fakes.leak_checks import ASKED, NOSY, Desk
from tests.fakes.modal_server import ModalServer
from tests.fakes.planted_secrets import KEYS, MANUSCRIPT, NOTES, QUESTION, TEXTS, leaks
from tests.fakes.remote_desks import inflated

if os.name == "nt":
    pytest.skip("rights of files are other ones", allow_module_level=True)

pytestmark = pytest.mark.timeout(180)

TOKEN = (KEYS["MODAL_TOKEN_ID"], KEYS["MODAL_TOKEN_SECRET"])
NOWHERE = "http://127.0.0.1:9"
QUOTE = f"She hid the {MANUSCRIPT} below the sluice, and the lamp burned low."


@pytest.fixture
def modal() -> Iterator[ModalServer]:
    with ModalServer(token=TOKEN) as server:
        yield server


@pytest.fixture
def desk(modal: ModalServer, tmp_path: Path) -> Desk:
    env = {"LRWR_INGEST_BASE_URL": modal.address}
    made = Desk(tmp_path / "desk", dict(planted_secrets.SECRETS), **KEYS, **env)
    made.write()
    return made


def check_sent(modal: ModalServer) -> None:
    """Search what Modal was sent: the book is in calls alone, a secret nowhere."""
    for call in modal.calls:
        assert leaks(call.body, planted_secrets.SECRETS) == []
        assert leaks(inflated(call.body), planted_secrets.SECRETS) == []
    calls = {"FunctionMap", "BlobCreate"}
    for name, message in zip(modal.asked, modal.messages, strict=True):
        texts = {} if name in calls else TEXTS
        assert leaks(repr(message), {**planted_secrets.SECRETS, **texts}) == [], name


def test_modal_is_sent_the_book_and_nothing_that_opens_anything(
    desk: Desk, modal: ModalServer
) -> None:
    ran = desk.run("ingest", ".", "--remote", "--json")
    assert ran.code == 0, ran.err
    assert ran.json["processed"] == len(modal.calls) == 2
    known = [inflated(call.body) for call in modal.calls]
    assert {*leaks(b"".join(known), TEXTS)} == {"manuscript", "notes"}
    assert "modal" in desk.sent()
    check_sent(modal)
    desk.hunt()


def test_what_a_container_says_when_it_fails_is_not_passed_on(
    desk: Desk, modal: ModalServer
) -> None:
    def failing(body: bytes) -> object:
        order = decode_modal_order(body)
        if order.document == "1.md":
            raise ValueError(f"{TOKEN}: {order.content!r}, {MANUSCRIPT} {NOTES}")
        return repr((TOKEN, order.content)).encode()

    modal.function = failing
    ran = desk.start("ingest", ".", "--remote", **NOSY)
    assert ran.code == ExitCode.PARTIAL
    assert "its container failed (ValueError)" in ran.out
    assert "the result does not match the file" in ran.out
    desk.hunt()
    modal.function = read_document
    assert desk.run("ingest", ".", "--remote").code == 0
    check_sent(modal)


@pytest.mark.parametrize("wrong", ["token", "dead"])
def test_a_runner_that_cannot_be_asked_is_told_of_without_a_secret(
    desk: Desk, modal: ModalServer, wrong: str
) -> None:
    dead = {"LRWR_INGEST_BASE_URL": NOWHERE, "LRWR_INGEST_TIMEOUT": "2"}
    env = dead if wrong == "dead" else {}
    modal.token = ("ak-another", "as-another")
    ran = desk.start("ingest", ".", "--remote", **NOSY, **env)
    assert ran.code == ExitCode.SERVICE
    assert modal.calls == []
    check_sent(modal)
    desk.hunt()


def test_a_deployment_is_told_before_it_is_made_and_nothing_leaves(
    desk: Desk, modal: ModalServer
) -> None:
    ran = desk.run("deploy", "modal", "--dry-run")
    assert ran.code == 0, ran.err
    assert leaks(ran.out, TEXTS) == []
    assert modal.asked == []
    desk.hunt()


@pytest.mark.parametrize("status", [400, 413, 422])
def test_what_a_service_refuses_is_not_told_in_its_own_words(
    desk: Desk, status: int
) -> None:
    with HostileProject("") as service:
        on = {
            "LRWR_MODEL_USE": "openai",
            "LRWR_MODEL_BASE_URL": f"{service.origin}/v1",
            "LRWR_MODEL_STEPS": "0",
            "LRWR_EMBEDDING_MODEL": "openai",
            "LRWR_EMBEDDING_BASE_URL": f"{service.origin}/v1",
            "LRWR_RERANK_MODEL": "cohere",
            "LRWR_RERANK_BASE_URL": service.origin,
        }
        with service.doing(status):
            for words in (("ingest", "."), ("ask", ASKED)):
                ran = desk.run(*words, **on)
                assert f"{status})" in ran.out
        sent = "".join(came.body for came in service.asked)
    assert {*leaks(sent, TEXTS)} == {*TEXTS}
    desk.hunt()


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Desk, Gate]]:
    """A desk at which questions were evaluated, and a gate before LangSmith."""
    with ExitStack() as stack:
        key = KEYS["LANGSMITH_API_KEY"]
        server = stack.enter_context(LangSmithServer(takes=key))
        gate = stack.enter_context(Gate(behind=server.origin))
        env = {"LRWR_TRACES_BASE_URL": gate.origin}
        place = tmp_path_factory.mktemp("evaluated")
        desk = Desk(place / "desk", dict(planted_secrets.SECRETS), **KEYS, **env)
        desk.write()
        told = {
            "id": "one",
            "question": f"Which {QUESTION} waited below the sluice?",
            "answer": f"The {MANUSCRIPT}.",
            "gold": [{"file": "1.md", "quote": QUOTE}],
        }
        (place / "q.jsonl").write_text(json.dumps(told), encoding="utf-8")
        for words in (
            ("ingest", "."),
            ("ingest", "--pipeline", "a"),
            ("eval", "--questions", str(place / "q.jsonl"), "--json"),
        ):
            ran = desk.run(*words)
            assert ran.code == 0, ran.err
        yield desk, gate


@pytest.mark.parametrize(
    "manner", [*(m for m in Manner if m is not Manner.WELL), Manner.WELL]
)
def test_results_are_kept_elsewhere_without_a_word_or_a_key(
    evaluated: tuple[Desk, Gate], manner: Manner
) -> None:
    desk, gate = evaluated
    gate.manner, gate.most = manner, 2
    gate.asked.clear()
    hasty = {} if manner is Manner.WELL else {"LRWR_TRACES_TIMEOUT": "2"}
    ran = desk.run("eval", "send", LRWR_TRACES_KEEPER="langsmith", **hasty)
    assert (ran.code == 0) is (manner is Manner.WELL), ran.err
    assert gate.asked
    for came in gate.asked:
        everything = {**planted_secrets.SECRETS, **TEXTS, "a file": "1.md"}
        assert leaks(came.place + came.body, everything) == []
        assert leaks(came.headers, everything) == ["LANGSMITH_API_KEY"]
    desk.hunt()


def test_the_hunt_finds_what_is_planted(desk: Desk, modal: ModalServer) -> None:
    assert desk.run("ingest", ".", "--remote").code == 0
    modal.calls[0].body += TOKEN[1].encode()
    with pytest.raises(AssertionError):
        check_sent(modal)
    calls = desk.book / ".lrwr/calls"
    calls.mkdir(exist_ok=True)
    (calls / "one.json").write_text(TOKEN[0], encoding="utf-8")
    with pytest.raises(AssertionError):
        desk.hunt()
