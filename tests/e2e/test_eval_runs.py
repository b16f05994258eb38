"""`lrwr eval` compares the pipelines, on a small book whose answers are known."""

import json
from pathlib import Path
from typing import Any

import pytest

from lrwr.core.model.errors import ExitCode
from tests.fakes.model_server import Asked, ModelServer
from tests.fakes.room import with_model
from tests.fakes.terminal import Terminal, check_refusal

pytestmark = pytest.mark.timeout(180)

ROOMS = ("attic", "cellar", "kitchen", "stable", "hall")
THINGS = (
    "kettle", "ledger", "anchor", "violin", "candle", "hammer", "mirror", "lantern",
    "saddle", "basket", "compass", "thimble", "bucket", "feather", "pistol", "rosary",
    "spindle", "trumpet", "whistle", "ribbon", "bottle", "carpet", "dagger", "easel",
)  # fmt: skip


def sentence(n: int) -> str:
    return f"Nell Tallow hid the {THINGS[n]} in the {ROOMS[n % len(ROOMS)]}."


FEW = 5


def questions() -> list[dict[str, Any]]:
    there = [
        {
            "id": f"there-{n}",
            "question": f"Where is the {thing} hidden?",
            "kind": "fact",
            "answer": f"In the {ROOMS[n % len(ROOMS)]}.",
            "gold": [{"file": f"{n + 1:02}.md", "quote": sentence(n)}],
        }
        for n, thing in enumerate(THINGS)
    ]
    return [*there, {"id": "no", "question": "Who?", "kind": "unanswerable"}]


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> Terminal:
    place = tmp_path_factory.mktemp("eval")
    folder = place / "book"
    folder.mkdir()
    for n in range(len(THINGS)):
        text = f"# {n}\n\n{sentence(n)} Rain fell, and Corin Vale went home.\n"
        (folder / f"{n + 1:02}.md").write_text(text, encoding="utf-8")
    lines = [json.dumps(one) for one in questions()]
    (place / "q.jsonl").write_text("\n".join(lines), encoding="utf-8")
    (place / "few.jsonl").write_text("\n".join(lines[:FEW]), encoding="utf-8")
    terminal = Terminal(folder, home=place / "home")
    assert terminal.run("ingest", ".").code == 0
    check_refusal(
        terminal.run("eval", "--questions", "../q.jsonl"),
        ExitCode.NOT_FOUND,
        "lrwr ingest --pipeline a",
    )
    assert terminal.run("ingest", ".", "--pipeline", "a").code == 0
    return terminal


def evaluated(book: Terminal, *words: str, questions: str = "q", **env: str) -> Any:
    file = f"../{questions}.jsonl"
    ran = book.run("eval", "--questions", file, "--json", *words, **env)
    assert ran.code == 0, ran.err
    return ran.json


def test_each_arm_is_asked_the_same_and_nothing_twice(read: Terminal) -> None:
    words = ["--budget-tokens", "20,100"]
    told = evaluated(read, *words, questions="few")
    assert [arm["name"] for arm in told["arms"]] == ["A", "B"]
    assert {arm["questions"] for arm in told["arms"]} == {FEW}
    (headline,) = [o for o in told["comparisons"] if o["figure"] == "recall@20"]
    assert "Too few questions" in headline["verdict"]
    again = read.run("eval", "--questions", "../few.jsonl", *words)
    assert "Reusing 10 of 10 results of earlier runs" in again.err


def test_the_ladder_is_an_unknown_option(read: Terminal) -> None:
    ran = read.run("eval", "--ladder")
    assert ran.code == 2
    assert "No such option" in ran.err


@pytest.mark.exhaustive
def test_a_report_is_written_listed_shown_and_compared(read: Terminal) -> None:
    evaluated(read, "--budget-tokens", "50", "--report", "../report.md")
    report = (read.folder.parent / "report.md").read_text(encoding="utf-8")
    assert report.startswith("# Evaluation of ")
    assert "| arm | recall@50 |" in report
    there = read.run("eval", "--budget-tokens", "50", "--report", "../report.md")
    check_refusal(there, ExitCode.SETTINGS, "report.md")
    evaluated(read, "--budget-tokens", "50", "--report", "../report.md", "--force")
    runs = read.run("eval", "runs", "--json").json["runs"]
    ids = [run["id"] for run in runs]
    shown = read.run("eval", "show", ids[0], "--json").json
    assert shown["run"] == ids[0]
    found = read.run("eval", "compare", ids[1], ids[0], "--json").json
    assert (found["questions"], found["left_out"]) == (25, [])
    assert all(not one["claimed"] for one in found["comparisons"])


def test_questions_are_made_where_there_are_none_and_can_be_dropped(
    read: Terminal,
) -> None:
    ran = read.run("eval", "--make", "20", "--pipeline", "b", "--json")
    assert ran.code == 0, ran.err
    file = read.folder / ".lrwr/questions.jsonl"
    made = [json.loads(line) for line in file.read_text().splitlines()]
    assert ran.json["questions"] == len(made) > 4
    assert "lrwr eval review" in ran.err
    assert read.run("eval", "review", "--drop", made[0]["id"]).code == 0
    fewer = read.run("eval", "--pipeline", "b", "--json").json
    assert fewer["questions"] == len(made) - 1


def test_answers_are_counted_without_a_model(read: Terminal) -> None:
    told = evaluated(read, "--answers", "--budget-tokens", "50", questions="few")
    for arm in told["arms"]:
        if arm["name"] in "AB":
            assert arm["figures"]["resolved"]["value"] == 1.0
            # Not every passage with the place is doubted.
            assert arm["figures"]["false_gap"]["value"] < 1.0
            assert "correctness" not in arm["figures"]


@pytest.mark.exhaustive
def test_a_model_answers_and_judges_and_is_priced_before(read: Terminal) -> None:
    def reply(asked: Asked) -> str:
        if asked.shape == "Marked":
            return json.dumps({"reason": "It says so.", "correct": 1})
        return json.dumps({"answer": "In the attic [1].", "told": True})

    with ModelServer(key="") as server:
        server.answering(reply)
        env = with_model(server)
        words = ["--model", "--read", "--budget-tokens", "50", "--repeats", "1"]
        priced = evaluated(read, *words, "--dry-run", **env)
        assert priced["calls"] >= 90
        assert server.asked == []
        told = evaluated(read, *words, **env)
        assert len(server.asked) >= 50
    assert told["models"]["judge"] == "pretend-1"
    (b,) = [arm for arm in told["arms"] if arm["name"] == "B"]
    assert b["figures"]["invented"]["value"] == 1.0
    assert b["figures"]["correctness"]["value"] == 1.0
    assert {"invented"} <= {one["figure"] for one in told["wrong"]}


def test_ragas_says_how_it_is_added(read: Terminal) -> None:
    with ModelServer(key="") as server:
        ran = read.run(
            *("eval", "--questions", "../q.jsonl", "--model", "--dry-run"),
            **with_model(server),
        )
    assert ran.code == 0
    assert 'pip install "lrwr[eval]"' in ran.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--pipeline", "c"], "Choose from"),
        (["--budget-tokens", "some"], "--budget-tokens"),
        (["--read"], "--model"),
        (["--model"], "No language model is configured"),
        (["--make", "3", "--calibrate"], "cannot be combined"),
        (["--report", "report.txt"], ".md"),
    ],
)
def test_what_cannot_be_done_is_refused(
    read: Terminal, words: list[str], said: str
) -> None:
    check_refusal(read.run("eval", *words), ExitCode.SETTINGS, said)


def test_no_question_is_lost_by_a_file_that_is_not_there(read: Terminal) -> None:
    check_refusal(
        read.run("eval", "--questions", "nowhere.jsonl"),
        ExitCode.NOT_FOUND,
        "nowhere.jsonl",
    )
    assert not Path(read.folder / "nowhere.jsonl").exists()
