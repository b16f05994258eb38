"""`lrwr draft prompts`: the prompts of `draft write`, and the writer's own."""

from pathlib import Path

import pytest

from lrwr.core.model.errors import ExitCode
from tests.e2e.test_draft import add_plan
from tests.fakes.terminal import Terminal, check_refusal

WITH_MODEL = {
    "LRWR_MODEL_USE": "local",
    "LRWR_MODEL_NAME": "small",
    "LRWR_MODEL_BASE_URL": "http://127.0.0.1:9/v1",
}


@pytest.fixture
def desk(read_sample: Terminal) -> Terminal:
    assert read_sample.run("draft", "board", "--from-text").code == 0
    add_plan(read_sample)
    return read_sample


def file_of(desk: Terminal, name: str) -> Path:
    return desk.folder / "drafts" / "prompts" / name


def test_prompts_are_listed_and_shown(desk: Terminal) -> None:
    rows = desk.run("draft", "prompts", "--json").json
    assert [row["prompt"] for row in rows] == [
        *("write", "beat", "revise", "review", "plan")
    ]
    assert not any(row["is_changed"] for row in rows)
    shown = desk.run("draft", "prompts", "show", "write")
    assert "Length: $length." in shown.out
    assert "It may contain $length." in shown.err
    assert not file_of(desk, "write.md").exists()
    check_refusal(desk.run("draft", "prompts", "show", "poem"), ExitCode.SETTINGS)


def test_an_own_prompt_is_sent_and_reset_leaves_it_under_another_name(
    desk: Terminal,
) -> None:
    done = desk.run("draft", "prompts", "edit", "write")
    assert done.code == 0, done
    file = file_of(desk, "write.md")
    assert "drafts/prompts/write.md:1" in done.out.replace("\\", "/")
    file.write_text("Write it in verse, $length.\n", encoding="utf-8")
    prompt = desk.run("draft", "write", "new", "--show-prompt", **WITH_MODEL)
    assert "Write it in verse, about 900 words." in prompt.out
    assert desk.run("draft", "prompts", "--json").json[0]["is_changed"]
    reset = desk.run("draft", "prompts", "reset", "write")
    assert "drafts/prompts/write.old.md" in reset.err
    assert not file.exists()
    assert "verse" in file_of(desk, "write.old.md").read_text("utf-8")
    prompt = desk.run("draft", "write", "new", "--show-prompt", **WITH_MODEL)
    assert "verse" not in prompt.out


def test_an_unknown_name_is_an_error_that_says_which_are_allowed(
    desk: Terminal,
) -> None:
    desk.run("draft", "prompts", "edit", "write")
    file_of(desk, "write.md").write_text("Write $title.", encoding="utf-8")
    for words in (("prompts",), ("write", "new", "--show-prompt")):
        done = desk.run("draft", *words, **WITH_MODEL)
        check_refusal(done, ExitCode.SETTINGS, "`$title`", "allowed are `$length`")
    assert desk.run("draft", "prompts", "reset", "write").code == 0
    assert desk.run("draft", "prompts").code == 0
