"""`lrwr draft plan --suggest`: a language model answers what a plan leaves open."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from lrwr.core.model.errors import ExitCode
from tests.e2e.test_draft import add_plan, manuscript
from tests.fakes.model_server import Asked, ModelServer
from tests.fakes.scene_writer import with_writer
from tests.fakes.terminal import Terminal, check_refusal

PLAN = """

#### The new keeper ^new
- people: OchraMags, Perdita Vane

Nell shows the lamp to a stranger.
"""


def reply(asked: Asked) -> str:
    questions = re.findall(r"^(\d+)\. ([^:]*)", asked.texts[1], re.M)
    rows = []
    for number, about in questions:
        text = "750" if about.endswith("words") else f"suggested for {about}"
        rows.append({"question": int(number), "answer": text})
    return json.dumps({"answers": rows})


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as opened:
        opened.answering(reply)
        yield opened


@pytest.fixture
def desk(read_sample: Terminal, server: ModelServer, tmp_path: Path) -> Terminal:
    assert read_sample.run("draft", "board", "--from-text").code == 0
    add_plan(read_sample, plan=PLAN)
    return with_writer(read_sample, server, tmp_path / "home")


def text_of(desk: Terminal, name: str) -> str:
    return (desk.folder / "drafts" / name).read_text("utf-8")


def test_answers_are_inserted_and_what_the_writer_wrote_stays(
    desk: Terminal, server: ModelServer
) -> None:
    before, chapters = text_of(desk, "board.md"), manuscript(desk.folder)
    done = desk.run("draft", "plan", "scenes", "--suggest", "--json")
    assert done.code == 0, done
    new = text_of(desk, "board.md").splitlines()
    rows = iter(new)
    assert all(line in rows for line in before.splitlines())
    assert "- words: 750" in new
    assert "##### suggested for The new keeper, beats" in new
    assert {row["file"] for row in done.json["insertions"]} == {"drafts/board.md"}
    for row in done.json["insertions"]:
        assert row["text"].split("\n")[0] in new[row["line"] - 1 : row["line"] + 1]
    assert desk.run("draft", "plan", "scenes", "--json").json == []
    repeated = desk.run("draft", "plan", "scenes", "--suggest")
    assert "Nothing was inserted." in repeated.out
    assert len(server.chats) == 1
    assert manuscript(desk.folder) == chapters


def test_people_without_a_sheet_get_one(desk: Terminal) -> None:
    done = desk.run("draft", "plan", "sheets", "--suggest")
    assert done.code == 0, done
    sheet = text_of(desk, "sheets/Perdita Vane.md")
    assert sheet.startswith("# Perdita Vane\n\nsuggested for Perdita Vane")
    assert desk.run("draft", "plan", "sheets", "--json").json == []


def test_the_intent_is_filled(desk: Terminal) -> None:
    assert desk.run("draft", "plan", "intent", "--suggest").code == 0
    assert "- genre: suggested for genre\n" in text_of(desk, "intent.md")


def test_a_dry_run_and_the_prompt_send_nothing(
    desk: Terminal, server: ModelServer
) -> None:
    words = ("draft", "plan", "scenes", "--suggest")
    request = desk.run(*words, "--dry-run", "--json").json
    assert (request["calls"], request["questions"]) == (1, 4)
    shown = desk.run(*words, "--show-prompt").out
    assert "You help a novelist plan a novel" in shown
    assert "The new keeper, beats" in shown
    assert server.chats == []
    check_refusal(desk.run("draft", "plan", "scenes", "--dry-run"), ExitCode.SETTINGS)


def test_a_bad_reply_inserts_nothing(desk: Terminal, server: ModelServer) -> None:
    before = text_of(desk, "board.md")
    server.answering(lambda _: '{"answers": [{"question": 1, "answer": "# Heading"}]}')
    done = desk.run("draft", "plan", "scenes", "--suggest")
    assert done.code == ExitCode.SERVICE
    assert done.err.count("has markup") == 2
    assert text_of(desk, "board.md") == before


def test_without_a_model_questions_are_asked(desk: Terminal) -> None:
    off = {"LRWR_MODEL_USE": "off"}
    assert desk.run("draft", "plan", "scenes", **off).code == 0
    done = desk.run("draft", "plan", "scenes", "--suggest", **off)
    check_refusal(done, ExitCode.SETTINGS, "No language model")
