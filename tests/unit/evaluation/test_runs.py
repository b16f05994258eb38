"""Runs as they are kept: begun once, read whatever a crash has torn, compared."""

import json
import shutil
import stat
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lrwr.core.model.errors import NotFound, StoreProblem
from lrwr.pipeline.evaluation.questions import GoldQuote
from lrwr.pipeline.evaluation.runs import (
    ASKED,
    OUTCOMES,
    QUESTIONS,
    EvalPlan,
    EvalRun,
    EvalRunWriter,
    OutcomePart,
    begin_eval_run,
    list_eval_runs,
    load_eval_run,
    load_latest_eval_run,
    match_runs,
)
from tests.fakes.arms import SetArm, a_plan, asked, means_of
from tests.fakes.suite import examples

NOW = 1_800_000_000.0
FILES = {ASKED, QUESTIONS, OUTCOMES}


def plan(**changes: object) -> EvalPlan:
    made = a_plan(means_of([SetArm("A"), SetArm("B", recipe="other")]))
    return replace(made, **changes)  # type: ignore[arg-type]


def line(arm: str, question: str, run: str = "r", **figures: float) -> OutcomePart:
    return OutcomePart(arm, question, "search", f"{arm} {question}", figures, {}, run)


def begun(
    folder: Path, *lines: OutcomePart, now: float = NOW, of: EvalPlan | None = None
) -> EvalRun:
    run = begin_eval_run(folder, of or plan(), now)
    EvalRunWriter(folder, run).add(lines)
    return load_eval_run(folder, run.id)


ALL = (
    line("A", "q1", mrr=1.0),
    line("A", "q2", mrr=0.5),
    line("B", "q1", mrr=0.25),
    line("B", "q2", mrr=0.0),
)


def test_a_run_is_read_as_it_was_kept(tmp_path: Path) -> None:
    run = begun(tmp_path, *ALL)
    assert run.plan == plan()
    assert run.lines == ALL
    assert (run.made, run.complete, run.reused) == (NOW, True, 4)
    assert [(o.arm, o.question) for o in run.outcomes] == [
        ("A", "q1"), ("A", "q2"), ("B", "q1"), ("B", "q2")
    ]  # fmt: skip
    assert {one.name for one in (tmp_path / run.id).iterdir()} == FILES


def test_nobody_else_may_read_the_questions(tmp_path: Path) -> None:
    run = begun(tmp_path, *ALL)
    modes = [(tmp_path / run.id / name).stat().st_mode for name in FILES]
    assert all(stat.S_IMODE(mode) == 0o600 for mode in modes)


def test_a_run_that_is_not_complete_goes_on_and_a_complete_one_does_not(
    tmp_path: Path,
) -> None:
    first = begun(tmp_path, ALL[0])
    assert begin_eval_run(tmp_path, plan(), NOW + 9).id == first.id
    assert begin_eval_run(tmp_path, plan(seed=8), NOW + 9).id != first.id
    begun(tmp_path, *ALL[1:])
    assert begin_eval_run(tmp_path, plan(), NOW + 9).id != first.id


def test_two_runs_of_one_second_have_two_names(tmp_path: Path) -> None:
    one, other = (begun(tmp_path, *ALL) for _ in range(2))
    assert one.id != other.id
    assert {run.id for run in list_eval_runs(tmp_path)} == {one.id, other.id}
    assert (
        load_eval_run(tmp_path, one.id).id == one.id
    )  # though the other begins with it


def test_the_newest_run_comes_first_and_what_is_removed_is_gone(tmp_path: Path) -> None:
    old = begun(tmp_path, *ALL)
    new = begun(tmp_path, ALL[0], now=NOW + 60)
    assert [run.id for run in list_eval_runs(tmp_path)] == [new.id, old.id]
    assert load_latest_eval_run(tmp_path).id == new.id
    shutil.rmtree(tmp_path / new.id)
    assert load_latest_eval_run(tmp_path).id == old.id
    with pytest.raises(NotFound, match="No run"):
        load_eval_run(tmp_path, new.id)


@pytest.mark.parametrize("name", ["", "..", "../book", "nothing", "/etc"])
def test_no_name_leads_out_of_the_folder(tmp_path: Path, name: str) -> None:
    begun(tmp_path / "runs", *ALL)
    with pytest.raises(NotFound):
        load_eval_run(tmp_path / "runs", name)
    assert len(list_eval_runs(tmp_path / "runs")) == 1


def test_where_nothing_was_evaluated_a_hint_says_how(tmp_path: Path) -> None:
    assert list_eval_runs(tmp_path / "none") == []
    with pytest.raises(NotFound) as caught:
        load_latest_eval_run(tmp_path / "none")
    assert "lrwr eval" in caught.value.hint


def test_the_beginning_of_a_name_is_enough_where_one_run_has_it(tmp_path: Path) -> None:
    one, other = begun(tmp_path, *ALL), begun(tmp_path, *ALL, now=NOW + 86_400)
    day = next(n for n in range(99) if one.id[:n] != other.id[:n])
    assert load_eval_run(tmp_path, one.id[:day]).id == one.id
    with pytest.raises(NotFound, match="More than one"):
        load_eval_run(tmp_path, one.id[: day - 1])


@settings(max_examples=examples(30))
@given(st.integers(min_value=0, max_value=10_000))
def test_a_file_that_was_cut_anywhere_goes_on_as_if_it_had_not_been(cut: int) -> None:
    with TemporaryDirectory() as place:
        folder = Path(place)
        path = folder / begun(folder, *ALL[:3]).id / OUTCOMES
        whole = path.read_bytes()
        path.write_bytes(whole[: cut % (len(whole) + 1)])
        run = list_eval_runs(folder)[0]
        assert run.lines == ALL[: len(run.lines)]
        EvalRunWriter(folder, run).add(ALL[len(run.lines) :])
        assert load_eval_run(folder, run.id).lines == ALL
        assert path.read_bytes().startswith(whole)


def doubled(content: bytes) -> bytes:
    return content + content


def holed(content: bytes) -> bytes:
    return b"\0\0\n{}\n[]\nnull\n" + content


@pytest.mark.parametrize("change", [doubled, holed])
def test_what_is_no_line_or_there_twice_is_passed_over(
    tmp_path: Path, change: Callable[[bytes], bytes]
) -> None:
    path = tmp_path / begun(tmp_path, *ALL).id / OUTCOMES
    path.write_bytes(change(path.read_bytes()))
    assert list_eval_runs(tmp_path)[0].lines == ALL


@pytest.mark.parametrize("told", ["", "{", "[]", "null", '{"format": 99}'])
def test_a_damaged_run_is_left_out_and_reported(tmp_path: Path, told: str) -> None:
    run = begun(tmp_path, *ALL)
    (tmp_path / run.id / ASKED).write_text(told, encoding="utf-8")
    assert list_eval_runs(tmp_path) == []
    with pytest.raises(StoreProblem, match="cannot be read"):
        load_eval_run(tmp_path, run.id)


def test_a_run_that_ended_before_it_began_leaves_nothing(tmp_path: Path) -> None:
    run = begun(tmp_path, *ALL)
    (tmp_path / run.id / ASKED).unlink()
    again = begin_eval_run(tmp_path, plan(), NOW)
    assert [one.name for one in tmp_path.iterdir()] == [again.id]


def test_a_link_is_no_run(tmp_path: Path) -> None:
    run = begun(tmp_path / "elsewhere", *ALL)
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / run.id).symlink_to(tmp_path / "elsewhere" / run.id)
    assert list_eval_runs(tmp_path / "runs") == []


def test_parts_of_an_outcome_are_put_together(tmp_path: Path) -> None:
    made = a_plan(means_of([SetArm("A")]), asked("q1"))
    told = made.parts[0]
    made = replace(made, parts=(told, replace(told, name="answers")))
    first = {"seconds": 1.0, "leak": 1.0, "dollars": 0.1}
    then = {"seconds": 2.0, "leak": 0.0, "dollars": 0.2, "gap": 0.0}
    lines = [
        OutcomePart("A", "q1", "search", "k", first, {"mrr": "Away."}, "r"),
        OutcomePart("A", "q1", "answers", "l", then, {}, "r"),
    ]
    (outcome,) = begun(tmp_path, *lines, of=made).outcomes
    assert outcome.figures == {
        "seconds": 1.0,
        "answers seconds": 2.0,
        "leak": 1.0,
        "dollars": pytest.approx(0.3),
        "gap": 0.0,
    }
    assert outcome.failed == {"mrr": "Away."}


def test_runs_are_compared_where_their_questions_are_the_same(tmp_path: Path) -> None:
    one = begun(tmp_path, *ALL)
    other_questions = [
        *asked("q1"),
        replace(asked("q2")[0], gold=(GoldQuote("1.md", "Another quote."),)),
        *asked("q3"),
    ]
    other_plan = plan(
        questions=tuple(other_questions),
        library="book 2",
        budgets=(500,),
        models={"meaning": "other"},
        arms=(replace(plan().arms[0], recipe="new"), replace(plan().arms[1], name="C")),
    )
    lines = [line("A", "q1", mrr=0.0), line("A", "q3", mrr=1.0)]
    other = begun(tmp_path, *lines, now=NOW + 60, of=other_plan)
    found = match_runs(one, other)
    assert found.questions == ("q1",)
    assert found.left_out == ("q2", "q3")
    assert [o.figures["mrr"] for o in found.outcomes[0]] == [1.0, 0.25]
    assert [o.figures["mrr"] for o in found.outcomes[1]] == [0.0]
    assert found.differences == (
        "The manuscript or its story data changed.",
        "The budgets were 500, 1000, then 500 tokens.",
        "The model for embeddings was words-32, then other.",
        "The arm “A” was configured differently.",
        "The arm “B” is only in the first run.",
        "The arm “C” is only in the second run.",
    )
    assert match_runs(one, one).differences == ()


def test_a_run_says_what_was_asked(tmp_path: Path) -> None:
    run = begun(tmp_path, *ALL)
    told = json.loads((tmp_path / run.id / ASKED).read_text(encoding="utf-8"))
    assert told["made"] == NOW
    assert told["seed"] == 7
    assert told["library"] == "book 1"
    assert [arm["recipe"] for arm in told["arms"]] == ["set", "other"]
