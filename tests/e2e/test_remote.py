"""Reading at Modal: what a writer sees, what leaves, and what is kept."""

import shutil
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lrwr.app.modal_worker import read_document
from lrwr.core.model.errors import ExitCode
from tests.fakes.invented import chapter, write_book
from tests.fakes.modal_server import ContainerDied, ModalServer, TookTooLong
from tests.fakes.model_server import KEY, MODEL, ModelServer
from tests.fakes.remote_desks import Desk, dumped, inflated, read_here, until


@pytest.fixture
def server() -> Iterator[ModalServer]:
    with ModalServer() as opened:
        yield opened


@pytest.fixture
def desk(tmp_path: Path, server: ModalServer) -> Desk:
    """A desk by words alone: most of what is tested does not depend on vectors."""
    return Desk(tmp_path / "there", server, model="off")


@pytest.fixture(scope="module")
def read_before(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A book that was read on this machine by words alone; copy it."""
    place = tmp_path_factory.mktemp("before")
    write_book(place / "book", 4)
    return read_here(place / "read", place / "book", LRWR_EMBEDDING_MODEL="off")


@pytest.mark.timeout(150)
@pytest.mark.parametrize("pipeline", ["a", "b"])
def test_a_book_read_at_modal_is_known_as_one_read_here(
    tmp_path: Path, server: ModalServer, pipeline: str
) -> None:
    there = Desk(tmp_path / "there", server, chapters=12)
    ran = there.ingest("--pipeline", pipeline, LRWR_INGEST_CONTAINERS="5")
    assert ran.code == 0, ran.err
    assert "Modal is on (" in ran.err
    assert (ran.json["processed"], ran.json["problems"]) == (there.files, [])
    assert len(server.calls) == there.files
    assert 1 < server.most_at_once <= 5
    assert there.noted == 0
    here = read_here(tmp_path / "here", there.book, LRWR_PIPELINE=pipeline)
    assert dumped(there.book) == dumped(here)

    again = there.ingest("--pipeline", pipeline)
    assert again.json["unchanged"] == there.files
    assert len(server.calls) == there.files

    totals = there.run("privacy", "--json").json["totals"]
    (total,) = [one for one in totals if one["service"] == "modal"]
    assert (total["purpose"], total["requests"]) == ("reading", there.files + 1)
    assert total["sent_bytes"] == sum(len(call.body) for call in server.calls)


def test_an_edit_sends_what_is_known_along_and_embeds_only_what_is_new(
    tmp_path: Path, server: ModalServer
) -> None:
    desk = Desk(tmp_path / "there", server, chapters=1)
    path = desk.book / "02.md"
    path.write_text(chapter(2, 24), encoding="utf-8")
    assert desk.ingest().code == 0
    text = chapter(2, 24).replace(
        "# Chapter 2\n", "# Chapter 2\n\nA heron stood there.\n"
    )
    path.write_text(text, encoding="utf-8")
    ran = desk.ingest()
    assert ran.json["processed"] == 1
    assert 0 < ran.json["embedded"] < ran.json["chunks"]
    assert ran.json["reused"] > 0
    here = desk.run("ingest", "--verify", "--json")
    assert here.json["unchanged"] == desk.files + 1


def test_documents_that_fail_stop_no_other_and_are_told_in_a_sentence(
    desk: Desk, server: ModalServer
) -> None:
    def sometimes(body: bytes) -> object:
        from lrwr.core.adapters.modal.wire import decode_modal_order

        match decode_modal_order(body).document:
            case "01.md":
                raise ContainerDied
            case "02.md":
                raise TookTooLong
            case "03.md":
                return b"something else"
            case "04.md":
                raise ValueError(f"the lamp room: {body!r}")
        return read_document(body)

    (desk.book / "05.docx").write_bytes(b"this is no zip file")
    server.function = sometimes
    ran = desk.ingest()
    assert ran.code == ExitCode.PARTIAL
    assert ran.json["processed"] == desk.files - 4
    told = {one["document"]: one["message"] for one in ran.json["problems"]}
    assert sorted(told) == ["01.md", "02.md", "03.md", "04.md", "05.docx"]
    assert (
        told["01.md"]
        == "01.md was not processed at Modal: its container failed (RemoteError)"
    )
    assert "took longer than a container may" in told["02.md"]
    assert "the result does not match the file" in told["03.md"]
    assert "its container failed (ValueError)" in told["04.md"]
    assert all(one["hint"] for one in ran.json["problems"])
    assert len(server.calls) == desk.files  # what cannot be parsed never leaves
    assert desk.noted == 0
    server.function = read_document
    (desk.book / "05.docx").unlink()
    assert desk.ingest().json["processed"] == 4


def test_a_run_that_is_killed_goes_on_with_the_same_calls(
    tmp_path: Path, server: ModalServer
) -> None:
    desk = Desk(tmp_path / "there", server)
    server.hold()
    started = desk.terminal.start("ingest", ".", "--remote")
    until(lambda: desk.noted == desk.files)
    started.kill()
    started.wait()
    made = [call.id for call in server.calls]
    server.release()
    ran = desk.ingest()
    assert ran.code == 0, ran.err
    assert ran.json["processed"] == desk.files
    assert [call.id for call in server.calls] == made
    assert set(server.waited_for) >= set(made)
    assert not any(call.cancelled for call in server.calls)
    assert desk.noted == 0
    assert dumped(desk.book) == dumped(read_here(tmp_path / "here", desk.book))


def test_calls_that_modal_forgot_are_made_anew_and_outdated_ones_are_cancelled(
    desk: Desk, server: ModalServer
) -> None:
    server.hold()
    started = desk.terminal.start("ingest", ".", "--remote")
    until(lambda: desk.noted == desk.files)
    started.kill()
    started.wait()
    made = {one.id for one in server.calls}
    (desk.book / "01.md").write_text(chapter(77), encoding="utf-8")
    (outdated,) = [
        one.id for one in server.calls if chapter(1).encode()[:50] in inflated(one.body)
    ]
    server.forgotten = set(sorted(made - {outdated})[:2])
    server.release()
    assert desk.ingest().json["processed"] == desk.files
    assert len(server.calls) == desk.files + 3
    assert [one.id for one in server.calls if one.cancelled] == [outdated]


def test_ctrl_c_cancels_the_calls(desk: Desk, server: ModalServer) -> None:
    server.hold()
    started = desk.terminal.start("ingest", ".", "--remote")
    until(lambda: desk.noted == desk.files)
    started.send_signal(signal.SIGINT)
    assert started.wait() == ExitCode.INTERRUPTED
    assert all(call.cancelled for call in server.calls)
    assert desk.noted == 0


def test_no_more_calls_than_containers_are_under_way(
    tmp_path: Path, server: ModalServer
) -> None:
    desk = Desk(tmp_path / "there", server, model="off")
    toml = "[ingest]\ncontainers = 2\n"
    (desk.book / "lrwr.toml").write_text(toml, encoding="utf-8")
    server.hold()
    started = desk.terminal.start("ingest", ".", "--remote")
    until(lambda: server.asked.count("FunctionGetOutputs") > 4)
    assert len(server.calls) == 2
    server.release()
    assert started.wait() == 0
    assert len(server.calls) == desk.files
    assert server.most_at_once <= 2


@pytest.mark.timeout(50)
@pytest.mark.parametrize("wrong", ["absent", "token", "half", "none", "silent", "dead"])
def test_where_modal_cannot_be_asked_one_sentence_says_why_and_the_rest_is_done(
    desk: Desk, server: ModalServer, read_before: Path, wrong: str
) -> None:
    shutil.copytree(read_before, desk.book, dirs_exist_ok=True)
    (desk.book / "01.md").unlink()
    for name in ("02.md", "03.md", "04.md"):
        (desk.book / name).write_text(chapter(50), encoding="utf-8")
    env = {"LRWR_INGEST_TIMEOUT": "2"} if wrong in ("silent", "dead") else {}
    server.deployed = wrong != "absent"
    server.silent = wrong == "silent"
    match wrong:
        case "token":
            env["MODAL_TOKEN_SECRET"] = "as-another-0000"
        case "half":
            env["MODAL_TOKEN_SECRET"] = ""
        case "none":
            env["MODAL_TOKEN_ID"] = ""
        case "dead":
            env["LRWR_INGEST_BASE_URL"] = "http://127.0.0.1:9"
            desk.apart = True
    ran = desk.ingest(**env)
    assert ran.code == ExitCode.SERVICE
    says = {
        "absent": "lrwr is not deployed at Modal: there is no app 'lrwr' with lrwr's function",
        "token": "Modal does not accept the token",
        "half": "A Modal token has two parts, but MODAL_TOKEN_SECRET is not set",
        "none": "`ingest.runner` is modal, but there is no API key",
        "silent": "Modal did not answer within 2 seconds",
        "dead": "Modal did not answer within 2 seconds",
    }
    assert "lrwr: " not in ran.err
    assert ran.json["error"]["message"] == says[wrong]
    assert ran.json["error"]["hint"]
    assert (ran.json["forgotten"], ran.json["waiting"]) == (1, 3)
    assert ran.json["library"]["documents"] == desk.files - 1
    assert server.calls == []
    assert desk.noted == 0


def without_prompt_tokens(folder: Path) -> dict[str, Counter[Any]]:
    """Return what is stored, without the length of prompts: here they list the cast."""
    tables = dict(dumped(folder))
    tables["reply"] = Counter((row[0], *row[2:]) for row in tables["reply"].elements())
    return tables


def test_a_language_model_is_asked_from_there_once_and_its_key_is_not_sent(
    tmp_path: Path, server: ModalServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with ModelServer(key=KEY) as models:
        env = {
            "LRWR_MODEL_USE": "openai",
            "LRWR_MODEL_NAME": MODEL,
            "LRWR_MODEL_BASE_URL": models.base_url,
        }
        there = Desk(tmp_path / "there", server, chapters=2, model="off")
        there.apart = True  # the key is the containers', which run here
        ran = there.ingest(**env)
        assert ran.code == 0, ran.err
        assert ran.json["remarks"] == []
        asked = len(models.asked)
        assert ran.json["model"]["calls"] == asked > 0
        assert not any(KEY.encode() in inflated(one.body) for one in server.calls)
        own = {"OPENAI_API_KEY": KEY, "LRWR_EMBEDDING_MODEL": "off"}
        here = read_here(tmp_path / "here", there.book, **env, **own)
        assert without_prompt_tokens(there.book) == without_prompt_tokens(here)

        before, calls = len(models.asked), len(server.calls)
        path = there.book / "02.md"
        path.write_text(f"{chapter(2)}\nA heron stood there.\n", encoding="utf-8")
        ran = there.ingest(**env)
        assert 0 < ran.json["model"]["calls"] == len(models.asked) - before < asked
        assert ran.json["model"]["cached"] > 0
        assert len(server.calls) == calls + 2

        monkeypatch.delenv("OPENAI_API_KEY")
        path.write_text(f"{chapter(3)}\nA heron stood there.\n", encoding="utf-8")
        ran = there.ingest(**env)
        assert ran.code == 0
        assert "There is no OpenAI key at Modal." in ran.json["remarks"][0]


def test_a_language_model_at_modal_is_shown_the_cast_of_the_library(
    tmp_path: Path, server: ModalServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    there = Desk(tmp_path / "there", server, chapters=1, model="off")
    there.apart = True  # the key is the containers', which run here
    note = there.book / "characters" / "mags.md"
    note.parent.mkdir(exist_ok=True)
    note.write_text("---\naliases: [Mags]\n---\n# OchraMags\n\nEyes: brown.\n")
    assert there.ingest().code == 0
    with ModelServer(key=KEY) as models:
        ran = there.ingest(
            LRWR_MODEL_USE="openai",
            LRWR_MODEL_NAME=MODEL,
            LRWR_MODEL_BASE_URL=models.base_url,
        )
        assert ran.code == 0, ran.err
        prompts = [chat.body["messages"][-1]["content"] for chat in models.chats]
        assert any("OchraMags = Mags" in prompt for prompt in prompts)


def test_a_folder_cannot_send_itself_to_modal(desk: Desk, server: ModalServer) -> None:
    toml = '[ingest]\nrunner = "modal"\n'
    (desk.book / "lrwr.toml").write_text(toml, encoding="utf-8")
    ran = desk.run("ingest", ".")
    assert ran.code == ExitCode.SERVICE
    assert "turns on Modal, and you have not allowed it. Nothing was sent" in ran.err
    assert server.asked == []
    assert desk.run("privacy", "allow", "modal").code == 0
    assert desk.run("ingest", ".").code == 0
    assert len(server.calls) == desk.files


def test_a_dry_run_and_a_watch_send_nothing(desk: Desk, server: ModalServer) -> None:
    assert desk.ingest("--dry-run").json["processed"] == desk.files
    assert desk.run("watch", ".", "--once", LRWR_INGEST_RUNNER="modal").code == 0
    assert server.asked == []


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("LRWR_EMBEDDING_FOLDER", "models", "does not have the embedding model"),
        ("LRWR_MODEL_USE", "local", "the language model on your own machine"),
    ],
)
def test_what_only_this_machine_can_reach_is_refused_before_anything_is_sent(
    desk: Desk, server: ModalServer, name: str, value: str, says: str
) -> None:
    env = {"LRWR_EMBEDDING_MODEL": "local", "LRWR_MODEL_NAME": "m", name: value}
    ran = desk.run("ingest", ".", "--remote", **env)
    assert ran.code == ExitCode.SETTINGS
    assert says in ran.err
    assert server.asked == []
