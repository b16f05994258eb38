"""How a failure is printed, and what limits an answer, in text and with `--json`."""

import json
from typing import Any

import pytest

from lrwr.app.presenters.answers import NO_MODEL
from lrwr.core.model.errors import ExitCode
from tests.fakes.terminal import Terminal, check_refusal

FAILURES = [
    (["search", "frog", "--json"], ExitCode.NOT_FOUND),
    (["ask", "Who?", "--json"], ExitCode.NOT_FOUND),
    (["ask", " ", "--json"], ExitCode.SETTINGS),
    (["status", "--json"], ExitCode.NOT_FOUND),
    (["jobs", "--json"], ExitCode.NOT_FOUND),
    (["characters", "--json"], ExitCode.NOT_FOUND),
    (["gaps", "--json"], ExitCode.NOT_FOUND),
    (["check", "--json"], ExitCode.NOT_FOUND),
    (["recap", "--as-of", "ch99", "--json"], ExitCode.NOT_FOUND),
    (["diff", "--json"], ExitCode.NOT_FOUND),
    (["threads", "show", "9", "--json"], ExitCode.NOT_FOUND),
    (["export", "bible", "--json"], ExitCode.NOT_FOUND),
    (["ingest", "nowhere", "--json"], ExitCode.NOT_FOUND),
    (["watch", "nowhere", "--json"], ExitCode.NOT_FOUND),
    (["restore", "nowhere.zip", "--json"], ExitCode.NOT_FOUND),
    (["whoami", "--json"], ExitCode.SETTINGS),
    (["search", "frog", "--limit", "0", "--json"], ExitCode.SETTINGS),
    (["search", "frog", "--json", "--nonsense"], ExitCode.SETTINGS),
    (["serch", "frog", "--json"], ExitCode.SETTINGS),
]


def error_in(out: str) -> Any:
    answer = json.loads(out)
    assert list(answer) == ["error"]
    return answer["error"]


@pytest.mark.parametrize(
    ("words", "code"),
    FAILURES,
    ids=lambda one: " ".join(one) if isinstance(one, list) else "",
)
def test_with_json_a_failure_is_json_too(
    empty: Terminal, words: list[str], code: ExitCode
) -> None:
    ran = empty.run(*words)
    assert ran.code == code
    error = error_in(ran.out)
    assert list(error) == ["message", "hint", "exit_code"]
    assert error["exit_code"] == code
    assert error["message"]
    assert ran.err == ""


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        ("search frog --limt 3", "No such option: --limt", "Did you mean `--limit`?"),
        ("serch frog", "No such command 'serch'", "Did you mean `search`?"),
        (
            "check intend",
            "Missing argument 'ID'",
            "Run `lrwr check intend --help` for its options and arguments.",
        ),
        (
            "restore",
            "No backup is named",
            "Run `lrwr restore FILE` with a file written by `lrwr backup`, or"
            " `lrwr restore --latest`.",
        ),
    ],
)
def test_a_misspelt_command_is_an_error_like_any_other(
    empty: Terminal, words: str, message: str, hint: str
) -> None:
    ran = empty.run(*words.split())
    assert (ran.out, ran.code) == ("", ExitCode.SETTINGS)
    assert ran.err == f"lrwr: {message}\nhint: {hint}\n"


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("[search\nlimit = 3\n", "Write a heading in brackets on a line of its own"),
        ("limit = yes\n", "Put text in quotes and lists in brackets"),
        ("limit 3\n", "Write each setting as a name and a value"),
    ],
)
def test_the_hint_of_a_broken_settings_file_fits_its_fault(
    empty: Terminal, text: str, hint: str
) -> None:
    (empty.folder / "lrwr.toml").write_text(text, encoding="utf-8")
    ran = empty.run("status")
    assert ran.code == ExitCode.SETTINGS
    assert f"\nhint: {hint}" in ran.err


def test_the_usage_of_a_sub_command_shows_no_name_before_it(empty: Terminal) -> None:
    for words, usage in (
        (("check", "intend"), "Usage: lrwr check intend [OPTIONS]"),
        (("characters", "merge"), "Usage: lrwr characters merge [OPTIONS]"),
        (("gaps", "answer"), "Usage: lrwr gaps answer [OPTIONS]"),
    ):
        assert usage in empty.run(*words, "--help").out


def test_an_ingest_that_finds_no_file_says_so(empty: Terminal) -> None:
    check_refusal(
        empty.run("ingest", "."),
        ExitCode.NOT_FOUND,
        "No .md, .docx or .txt files found in ",
        "Run `lrwr ingest FOLDER`",
    )
    assert list(empty.folder.iterdir()) == []


def test_an_unreadable_file_is_counted_apart_until_it_is_deleted(
    empty: Terminal,
) -> None:
    (empty.folder / "1.md").write_text("# One\n\nThe frog slept.\n", encoding="utf-8")
    (empty.folder / "2.docx").write_bytes(b"no zip")
    empty.run("ingest", ".")
    empty.run("ingest", ".")
    status = empty.run("status").out
    assert "1 file could not be read; `lrwr jobs --state failed` says why." in status
    assert "To ingest" not in status
    jobs = empty.run("jobs", "--state", "failed").out
    assert jobs.count("\nJob 3 failed: ") == jobs.count("\n  hint: ") == 1
    assert "1 document could not be processed" in empty.run("doctor").out
    (empty.folder / "2.docx").unlink()
    assert "could not be processed" not in empty.run("doctor").out
    assert "could not be read" not in empty.run("status").out


def test_without_json_a_failure_prints_nothing_on_stdout(empty: Terminal) -> None:
    for words in (["search", "frog"], ["serch"], ["search", "--", "--json"]):
        ran = empty.run(*words)
        assert (ran.out, ran.code != 0) == ("", True)


def test_where_answers_are_lines_the_error_is_one_line(read_sample: Terminal) -> None:
    for words in (
        ["watch", "nowhere", "--json"],
        ["search", "--batch", "nowhere.jsonl", "--json"],
    ):
        ran = read_sample.run(*words)
        assert ran.out.count("\n") == 1
        assert error_in(ran.out)["exit_code"] == ran.code == ExitCode.NOT_FOUND


def test_an_internal_error_is_json_too(
    empty: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    (empty.folder / ".lrwr").mkdir()
    (empty.folder / ".lrwr" / "library.db").mkdir()
    ran = empty.run("status", "--json")
    assert error_in(ran.out)["exit_code"] == ran.code == ExitCode.STORE


def test_what_limits_an_answer_is_part_of_it_and_said_once(
    read_sample: Terminal,
) -> None:
    asked = read_sample.run("ask", "Who lights the lantern?")
    assert asked.out.count(NO_MODEL) == 1
    assert NO_MODEL not in asked.err
    searched = read_sample.run("search", "zyzzyva lantern")
    assert "Not found in the text: “zyzzyva”." in searched.out
    assert searched.err == ""
    listed = read_sample.run("world")
    assert listed.out.count("needs a language model") == 1
    assert "set `use`" not in listed.out  # the hint is in `lrwr status` only
    assert read_sample.run("status").out.count("To use a language model") == 1
    filtered = read_sample.run("search", "lantern", "--function", "plot_event").out
    assert "`--function` finds only what a language model has analysed." in filtered
    shown = read_sample.run("characters", "Nell").out
    assert "counted as a character because: " in shown
    assert listed.err == ""


def test_a_file_that_was_skipped_is_named_in_the_answer(empty: Terminal) -> None:
    (empty.folder / "1.md").write_text("# One\n\nThe frog slept.\n", encoding="utf-8")
    (empty.folder / "2.docx").write_bytes(b"no zip")
    ran = empty.run("ingest", ".")
    assert (ran.code, ran.err) == (ExitCode.PARTIAL, "")
    assert ran.out.startswith("warning: 2.docx ")
    assert "\n  hint: " in ran.out
