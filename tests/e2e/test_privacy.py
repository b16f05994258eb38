"""What leaves the machine: noted before it does, and only with the writer's leave."""

import contextlib
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from lrwr.app.presenters.answers import NO_MODEL
from lrwr.core.model.errors import ExitCode
from tests.e2e.test_close_reading import read
from tests.fakes.model_server import KEY, Asked, Hang, ModelServer, Say, Turn
from tests.fakes.terminal import LRWR, Ran, Terminal

SECRET = "heron, heron, crane"
FILES = {
    "1.md": (
        "# One\n\n“The lamp must never go out,” said Nell Tallow. “Not once.”\n\n"
        f"Nell Tallow climbed the ladder. “It opens on {SECRET},” said Mags to Nell.\n"
    ),
    "2.md": "# Two\n\nCorin Vale came over the marsh. “Late,” said Corin Vale.\n",
}
PLAIN = {
    "LRWR_EMBEDDING_MODEL": "off",
    "LRWR_MODEL_STEPS": "0",
    "OPENAI_API_KEY": KEY,
}
ON = 'use = "openai"'
NOTHING = "Nothing was sent from this machine."


LAMP = "What does Nell say about the lamp?"


def planning(asked: Asked) -> str:
    if asked.shape == "Tools":
        choice = {"tool": "manuscript", "intention": "dialogue_of", "confidence": 0.9}
        return json.dumps({"intent": "analytical", "tools": [choice]})
    return json.dumps({"entities": [{"name": "Nell Tallow", "confidence": 1.0}]})


def answered(asked: Asked) -> str | Turn:
    """Read, plan and answer as a model does."""
    if asked.shape in ("Tools", "Entities"):
        return planning(asked)
    return read(asked) if asked.shape else Say("The lamp must never go out [1].")


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as opened:
        opened.answering(answered)
        yield opened


@pytest.fixture
def place(server: ModelServer, tmp_path: Path) -> Path:
    """A book that brings settings along, and a home where OpenAI is the server."""
    (tmp_path / "book").mkdir()
    for name, text in FILES.items():
        (tmp_path / "book" / name).write_text(text, encoding="utf-8")
    (tmp_path / "book/lrwr.toml").write_text(f"[model]\n{ON}\n", encoding="utf-8")
    (tmp_path / "home/config/lrwr").mkdir(parents=True)
    own = tmp_path / "home/config/lrwr/lrwr.toml"
    own.write_text(f'[model]\nbase_url = "{server.base_url}"\n', encoding="utf-8")
    return tmp_path


@pytest.fixture
def stranger(place: Path) -> Terminal:
    """A folder whose own lrwr.toml turns on OpenAI."""
    return Terminal(place / "book", home=place / "home", **PLAIN)


@pytest.fixture
def book(place: Path) -> Terminal:
    """The same, where the writer has turned it on."""
    (place / "book/lrwr.toml").unlink()
    own = place / "home/config/lrwr/lrwr.toml"
    own.write_text(f"{own.read_text(encoding='utf-8')}{ON}\n", encoding="utf-8")
    return Terminal(place / "book", home=place / "home", **PLAIN)


def purposes(terminal: Terminal) -> dict[str, int]:
    report = terminal.run("privacy", "--json").json
    return {one["purpose"]: one["requests"] for one in report["totals"]}


def service(ran: Ran, name: str = "openai") -> dict[str, object]:
    return next(one for one in ran.json["services"] if one["service"] == name)


def test_before_anything_is_sent_that_is_what_is_said(stranger: Terminal) -> None:
    ran = stranger.run("privacy")
    assert (ran.code, ran.err) == (0, "")
    assert f"\n{NOTHING}\n" in ran.out
    assert re.search(r"^openai +not allowed yet +lrwr.toml:2 +env", ran.out, re.M)
    assert re.search(r"^tavily +off ", ran.out, re.M)
    assert KEY not in ran.out
    assert not (stranger.folder / ".lrwr").exists()


def test_all_that_was_sent_is_listed_with_its_bytes(
    book: Terminal, server: ModelServer
) -> None:
    assert book.run("ingest", ".").code == 0
    assert book.run("ask", LAMP).code == 0
    report = book.run("privacy", "--json").json
    sent = sum(int(asked.headers["content-length"]) for asked in server.asked)
    assert sum(one["sent_bytes"] for one in report["totals"]) == sent
    assert purposes(book) == {"reading": 4, "planning": 2, "answering": 1}
    assert len(report["newest"]) == len(server.asked) == 7
    for one in report["newest"]:
        assert (one["host"], one["outcome"]) == ("127.0.0.1", "answered")
        assert one["model"] == "gpt-6-luna"
        assert one["received_bytes"] > 0
        assert one["price"] > 0
    shown = book.run("privacy").out
    assert NOTHING not in shown
    assert re.search(r"^127.0.0.1 +planning +2 ", shown, re.M)
    assert len(book.run("privacy", "--json", "-n", "2").json["newest"]) == 2


def test_neither_text_nor_key_is_in_the_list(book: Terminal) -> None:
    book.run("ingest", ".")
    book.run("ask", f"Does it open on {SECRET}?")
    for ran in (book.run("privacy"), book.run("privacy", "--json")):
        for secret in (KEY, "heron", "Nell"):
            assert secret not in ran.out
    for file in (book.folder / ".lrwr").iterdir():
        assert not file.is_file() or KEY.encode() not in file.read_bytes()


def test_the_first_use_says_what_will_leave_and_then_no_more(book: Terminal) -> None:
    first = book.run("ingest", ".")
    assert first.err.count("OpenAI is on (") == 1
    assert "config/lrwr/lrwr.toml:3" in first.err
    assert "the scenes of your manuscript" in first.err
    for words in (["ask", LAMP], ["ingest"]):
        assert "OpenAI is on (" not in book.run(*words).err
    shutil.copytree(book.folder, book.folder.parent / "copy")
    elsewhere = Terminal(
        book.folder.parent / "copy", home=book.folder.parent / "home", **PLAIN
    )
    assert "OpenAI is on (" in elsewhere.run("ask", LAMP).err


def test_what_only_looks_sends_and_notes_nothing(
    book: Terminal, server: ModelServer
) -> None:
    book.run("ingest", ".", "--dry-run")
    book.run("ingest", ".", LRWR_MODEL_USE="off")
    for words in (
        ["ask", LAMP, "--show-prompt"], ["ingest", "--dry-run"], ["status"], [],
        ["search", "lamp"], ["characters"], ["privacy"], ["recap"],
    ):  # fmt: skip
        ran = book.run(*words)
        assert ran.code == 0, words
        assert "OpenAI is on (" not in ran.err
    assert server.asked == []
    assert NOTHING in book.run("privacy").out


def test_the_doctor_lists_that_it_asked_for_the_models_and_sends_no_text(
    book: Terminal, server: ModelServer
) -> None:
    server.models = ("gpt-6-luna",)
    book.run("ingest", ".", LRWR_MODEL_USE="off")
    ran = book.run("doctor")
    assert (ran.code, ran.err) == (0, "")
    assert [(one.method, one.size) for one in server.asked] == [("GET", 0)]
    (newest,) = book.run("privacy", "--json").json["newest"]
    assert (newest["outcome"], newest["price"]) == ("answered", 0)


def test_a_server_on_this_machine_is_not_listed(
    book: Terminal, server: ModelServer
) -> None:
    server.key = ""
    local = {"LRWR_MODEL_USE": "local", "LRWR_MODEL_NAME": "gpt-6-luna"}
    ran = book.run("ingest", ".", **local)
    assert (ran.code, ran.err) == (0, "")
    assert server.asked
    assert NOTHING in book.run("privacy", **local).out


@pytest.mark.exhaustive
def test_a_run_that_is_killed_leaves_what_it_had_sent(
    book: Terminal, server: ModelServer
) -> None:
    book.run("ingest", ".", LRWR_MODEL_USE="off")
    server.answering(lambda asked: Hang())
    running = book.start("ask", LAMP)
    assert server.was_asked(60)
    running.kill()
    running.wait()
    newest = book.run("privacy", "--json").json["newest"]
    assert len(newest) >= len(server.asked) >= 1
    assert {one["outcome"] for one in newest} == {"no reply seen"}
    assert all(one["sent_bytes"] > 0 for one in newest)


def test_the_list_can_be_narrowed_and_cleared(book: Terminal) -> None:
    book.run("ingest", ".")
    assert purposes(book) == {"reading": 4}
    assert book.run("privacy", "--since", "7d", "--json").json["totals"]
    later = book.run("privacy", "--since", "2999-01-01")
    assert "Nothing was sent from this machine since 2999-01-01 00:00." in later.out
    refused = book.run("privacy", "clear")
    assert (refused.code, refused.out) == (ExitCode.SETTINGS, "")
    assert "lrwr privacy clear --force" in refused.err
    assert (
        book.run("privacy", "clear", "--force").out
        == "Deleted 4 requests from the log.\n"
    )
    shown = book.run("privacy").out
    assert NOTHING in shown
    assert "Log started " in shown


@pytest.mark.parametrize("since", ["", "soon", "7", "-1d", "2026-13-01", "99999d"])
def test_a_time_that_is_none_is_refused(book: Terminal, since: str) -> None:
    ran = book.run("privacy", "--since", since)
    assert (ran.code, ran.out) == (ExitCode.SETTINGS, "")
    assert "7d" in ran.err


def test_a_backup_takes_the_list_along(book: Terminal) -> None:
    book.run("ingest", ".")
    before = book.run("privacy", "--json").json["newest"]
    assert book.run("backup", "../kept.zip").code == 0
    assert book.run("privacy", "clear", "--force").code == 0
    assert book.run("restore", "../kept.zip", "--force").code == 0
    assert book.run("privacy", "--json").json["newest"] == before
    assert book.run("repair").code == 0
    assert book.run("privacy", "--json").json["newest"] == before


def test_a_stranger_s_folder_sends_nothing_unasked(
    stranger: Terminal, server: ModelServer
) -> None:
    read_by_rules = stranger.run("ingest", ".")
    assert read_by_rules.code == 0
    assert "lrwr.toml:2 turns on OpenAI, and you have not allowed" in read_by_rules.out
    assert "To allow it, run `lrwr privacy allow openai`" in read_by_rules.out
    ran = stranger.run("ask", LAMP, "--json")
    assert (ran.code, ran.json["model"]) == (0, None)
    assert "The lamp must never go out" in ran.json["answer"]
    (remark,) = (one for one in ran.json["remarks"] if "without a language" in one)
    assert "lrwr privacy allow openai" in remark
    asked = stranger.run("ask", LAMP).out
    assert "lrwr privacy allow openai" in asked
    assert NO_MODEL not in asked
    assert "you have not allowed it" in stranger.run("doctor").out
    assert server.asked == []
    assert stranger.run("privacy", "--json").json["totals"] == []


def test_what_was_allowed_is_sent_and_what_was_denied_is_not(
    stranger: Terminal, server: ModelServer
) -> None:
    stranger.run("ingest", ".")
    allowed = stranger.run("privacy", "allow", "openai")
    assert (allowed.code, allowed.err) == (0, "")
    assert "Other folders need their own consent" in allowed.out
    assert service(stranger.run("privacy", "--json"))["state"] == "allowed"
    completed = stranger.run("ingest")
    assert (completed.code, completed.err) == (0, "")
    assert "gpt-6-luna: 4 calls" in completed.out
    assert stranger.run("ask", LAMP, "--json").json["model"] == "gpt-6-luna"
    asked = len(server.asked)
    assert stranger.run("privacy", "deny", "openai").code == 0
    assert service(stranger.run("privacy", "--json"))["may_leave"] is False
    refused = stranger.run("ask", LAMP, "--json", LRWR_MODEL_USE="openai")
    assert any("You denied OpenAI" in one for one in refused.json["remarks"])
    assert len(server.asked) == asked
    unknown = stranger.run("privacy", "allow", "opanai")
    assert unknown.code == ExitCode.SETTINGS
    assert "Did you mean openai?" in unknown.err


def test_what_a_model_read_before_is_not_lost_with_the_leave(
    stranger: Terminal, server: ModelServer
) -> None:
    stranger.run("privacy", "allow", "openai")
    stranger.run("ingest", ".")
    asked = len(server.asked)
    stranger.run("privacy", "deny", "openai")
    (stranger.folder / "2.md").write_text("# Two\n\nThe pony ate.", encoding="utf-8")
    again = stranger.run("ingest")
    assert "You denied OpenAI for this folder" in again.out
    traits = stranger.run("characters", "Nell", "--json").json["personality_traits"]
    assert [trait["value"] for trait in traits] == ["wary"] if traits else True
    assert len(server.asked) == asked


def test_a_copy_of_a_folder_that_was_allowed_is_asked_about_again(
    stranger: Terminal, server: ModelServer
) -> None:
    stranger.run("privacy", "allow", "openai")
    stranger.run("ingest", ".", LRWR_MODEL_USE="off")
    place = stranger.folder.parent
    shutil.copytree(stranger.folder, place / "copy")
    copied = Terminal(place / "copy", home=place / "home", **PLAIN)
    assert "have not allowed it" in copied.run("ask", LAMP).out
    assert server.asked == []


def test_each_role_is_asked_and_paid_for_on_its_own(
    book: Terminal, server: ModelServer
) -> None:
    own = {
        "LRWR_MODEL_PLANNER": "small",
        "LRWR_MODEL_ANALYST": "reader",
        "LRWR_MODEL_AVATAR": "large",
        "LRWR_MODEL_PRICES": os.pathsep.join(
            ["small 1 1", "reader 2 2", "large 90 90"]
        ),
    }
    book.run("ingest", ".", **own)
    assert book.run("status", "--json", **own).json["read_by"] == ["reader"]
    told = book.run("status", **own).out
    assert "small for planning, reader for reading, large for answering" in told
    turn = book.run("ask", LAMP, "--json", **own).json
    newest = book.run("privacy", "--json").json["newest"]
    by_purpose = {one["purpose"]: one["model"] for one in newest}
    assert by_purpose == {
        "planning": "small",
        "reading": "reader",
        "answering": "large",
    }
    paid = [one["price"] for one in newest if one["purpose"] != "reading"]
    assert turn["price"] == pytest.approx(sum(paid))
    assert {asked.body["model"] for asked in server.asked} == {
        "small",
        "reader",
        "large",
    }


def on_a_terminal(terminal: Terminal, said: str, *words: str) -> str:
    """Run a command where a writer sits, who types `said`; return what they see."""
    pytest.importorskip("pty")
    ours, theirs = os.openpty()
    os.write(ours, said.encode())
    seen = b""
    with subprocess.Popen(
        [LRWR, *words],
        cwd=terminal.folder,
        env=terminal.env,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    ):
        os.close(theirs)
        with contextlib.suppress(OSError):  # the terminal is gone with its last user
            while part := os.read(ours, 65_536):
                seen += part
    os.close(ours)
    return " ".join(re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", seen.decode()).split())


def test_a_writer_at_a_terminal_is_asked_once(
    stranger: Terminal, server: ModelServer
) -> None:
    refused = on_a_terminal(stranger, "n\n", "ingest", ".")
    assert "turns on OpenAI; this file may have come with the folder." in refused
    assert "Allow it for this folder? [y/N]" in refused
    assert "You denied OpenAI" in refused
    assert server.asked == []
    assert "Allow it" not in on_a_terminal(stranger, "y\n", "ask", LAMP)
    assert server.asked == []


def test_a_writer_at_a_terminal_is_asked_once_for_a_local_server(
    book: Terminal, server: ModelServer
) -> None:
    server.key = ""
    text = (
        f'model.use = "local"\nmodel.name = "m"\nmodel.base_url = "{server.base_url}"'
    )
    (book.folder / "lrwr.toml").write_text(text, encoding="utf-8")
    piped = book.run("ingest", ".")
    assert piped.code == 0
    assert "lrwr.toml:1 turns on the model server at http://127.0.0.1:" in piped.out
    assert "To allow it, run `lrwr privacy allow model-server`." in piped.out
    assert server.asked == []
    shown = on_a_terminal(book, "y\n", "ask", LAMP)
    assert f"turns on the model server at {server.base_url}; this file" in shown
    assert "Allow it for this folder? [y/N]" in shown
    assert server.asked
    assert "Allow it" not in on_a_terminal(book, "", "ask", LAMP)


def test_a_password_in_an_address_is_never_shown(
    book: Terminal, server: ModelServer
) -> None:
    server.key = ""
    address = server.base_url.replace("//", "//nell:heron-4711@")
    own = {
        "LRWR_MODEL_USE": "local",
        "LRWR_MODEL_NAME": "m",
        "LRWR_MODEL_BASE_URL": address,
    }
    lines = [["ingest", "."], ["ask", LAMP], ["config", "show"], ["doctor"]]
    lines += [
        ["config", "show", "--json"],
        ["privacy"],
        ["status"],
        ["doctor", "--json"],
    ]
    for line in lines:
        ran = book.run(*line, **own)
        assert ran.code == 0
        assert "heron-4711" not in ran.out + ran.err, line
    failed = book.run("ask", LAMP, **{**own, "LRWR_MODEL_BASE_URL": address + "?x"})
    assert "heron-4711" not in failed.out + failed.err
    assert server.asked


@pytest.mark.exhaustive
def test_a_writer_who_says_yes_is_answered(
    stranger: Terminal, server: ModelServer
) -> None:
    stranger.run("ingest", ".", LRWR_MODEL_USE="off")
    shown = on_a_terminal(stranger, "y\n", "ask", LAMP)
    assert "Allow it for this folder? [y/N]" in shown
    assert "OpenAI is on (" not in shown
    assert len(server.asked) == 3
    assert "Allow it" not in on_a_terminal(stranger, "", "ask", LAMP)
    assert len(server.asked) == 6


def test_the_list_says_nothing_of_a_library_that_is_not_there(
    stranger: Terminal,
) -> None:
    report = stranger.run("privacy", "--json").json
    assert (report["began"], report["totals"], report["newest"]) == (None, [], [])
    assert json.dumps(report).count(KEY) == 0
