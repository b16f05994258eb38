"""Putting lrwr at Modal: what goes there, what does not, and what the doctor says."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from lrwr.core.model.errors import ExitCode
from tests.fakes.modal_server import ModalServer
from tests.fakes.model_server import KEY
from tests.fakes.remote_desks import PLANTED, Desk

NOWHERE = {"LRWR_INGEST_BASE_URL": "http://127.0.0.1:9", "LRWR_INGEST_TIMEOUT": "2"}


@pytest.fixture
def server() -> Iterator[ModalServer]:
    with ModalServer() as opened:
        yield opened


@pytest.fixture
def desk(tmp_path: Path, server: ModalServer) -> Desk:
    return Desk(tmp_path / "there", server, chapters=1, model="off")


def test_the_doctor_says_whether_lrwr_is_there(desk: Desk, server: ModalServer) -> None:
    assert desk.run("ingest", ".").code == 0
    env = {"LRWR_INGEST_RUNNER": "modal"}

    def finding() -> tuple[str, str]:
        ran = desk.run("doctor", "--json", **env)
        (one,) = [one for one in ran.json["findings"] if one["part"] == "ingestion"]
        return one["state"], f"{one['detail']} {one['remedy']}".strip()

    assert finding() == (
        "ok",
        "Modal answers and has the app lrwr; at most 10 containers.",
    )
    server.deployed = False
    state, says = finding()
    assert state == "broken"
    assert "lrwr deploy modal" in says


def test_a_deployment_takes_lrwr_there_and_nothing_of_the_book(
    desk: Desk, server: ModalServer
) -> None:
    for words in (["init", "-q"], ["commit", "-qm", "lamp room", "--allow-empty"]):
        who = ["-c", "user.name=Nell Tallow", "-c", "user.email=nell@example.org"]
        desk.terminal.command(["git", *who, *words])
    server.deployed = False
    dry = desk.run("deploy", "modal", "--dry-run")
    assert dry.code == 0
    assert "App lrwr at 127.0.0.1, with one function" in dry.out
    assert "No API key" in dry.out
    assert "Cost: about $0.055" in dry.out
    assert server.asked == []

    done = desk.run("deploy", "modal")
    assert done.code == 0, done.err
    assert "Deployed as lrwr." in done.out
    (function,) = server.functions
    assert (function.module_name, function.implementation_name) == (
        "lrwr.app.modal_worker",
        "read_document",
    )
    assert function.autoscaler_settings.max_containers == 10
    root = "/" + "root/lrwr/"  # where a container has what is mounted
    shipped = {name.removeprefix(root) for name in server.files}
    assert {"app/modal_worker.py", "core/adapters/embed/assets/minilm.onnx"} <= shipped
    assert all(name.startswith(root) for name in server.files)
    assert any("numpy==" in step for step in server.steps)
    sent = repr(server.messages)
    for planted in (*PLANTED, "nell@example.org", "01.md"):
        assert planted not in sent
    assert desk.ingest().code == 0


def test_a_deployment_with_a_model_wants_its_key_in_a_secret_of_modals(
    desk: Desk, server: ModalServer
) -> None:
    env = {"LRWR_MODEL_USE": "openai", "OPENAI_API_KEY": KEY}
    refused = desk.run("deploy", "modal", **env)
    assert refused.code == ExitCode.SERVICE
    assert "modal secret create lrwr-openai" in refused.err
    server.secrets.add("lrwr-openai")
    assert desk.run("deploy", "modal", **env).code == 0
    assert [list(one.secret_ids) for one in server.functions] == [["st-1"]]
    assert KEY not in repr(server.messages)


@pytest.mark.timeout(50)
@pytest.mark.parametrize(
    ("env", "says"),
    [
        ({"MODAL_TOKEN_ID": ""}, "The Modal token is missing"),
        ({"MODAL_TOKEN_SECRET": "as-another"}, "Modal does not accept the token"),
        (NOWHERE, "did not answer within 2"),
    ],
)
def test_a_deployment_that_cannot_be_says_why(
    desk: Desk, env: dict[str, str], says: str
) -> None:
    desk.apart = env is NOWHERE
    ran = desk.run("deploy", "modal", **env)
    assert ran.code == ExitCode.SERVICE
    assert says in ran.err
    assert "hint: " in ran.err
