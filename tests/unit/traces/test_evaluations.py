"""What of an evaluation becomes a golden set and experiments."""

from collections.abc import Mapping
from dataclasses import replace

from lrwr.app.telemetry.evaluations import build_experiments, build_golden_set
from lrwr.core.model.traces import Experiment, MeasureScore
from lrwr.pipeline.evaluation.questions import QuestionKind
from lrwr.pipeline.evaluation.report import build_eval_report
from lrwr.pipeline.evaluation.runs import EvalPlan, EvalRun, OutcomePart
from tests.fakes.arms import SetArm, SetMeasure, a_plan, asked, means_of

PLAN = replace(
    a_plan(
        means_of(
            [SetArm("A"), SetArm("B")], SetMeasure("search"), SetMeasure("answers")
        ),
        asked("nell-1", "nell-2"),
    ),
    models={"meaning": "mini", "the second look": ""},
)


def a_line(
    arm: str,
    question: str,
    figures: Mapping[str, float],
    failed: Mapping[str, str] | None = None,
    part: str = "search",
) -> OutcomePart:
    return OutcomePart(arm, question, part, "key", figures, failed or {}, "r")


def found(
    *lines: OutcomePart, plan: EvalPlan = PLAN, run: str = "r"
) -> tuple[Experiment, ...]:
    return build_experiments(
        build_eval_report(EvalRun(run, 1_000.0, plan, lines), pairs=[])
    )


BOTH = (a_line("A", "nell-1", {"mrr": 0.5}), a_line("B", "nell-2", {"mrr": 1.0}))


def test_shares_are_scores_and_counts_are_facts() -> None:
    figures = {
        "recall@1000": 0.5, "leak": 0.0, "seconds": 0.25, "tokens": 900.0
    }  # fmt: skip
    answers = {"answer_seconds": 2.0, "dollars": 0.01, "resolved": 1.0}
    (a,) = found(
        a_line("A", "nell-1", figures), a_line("A", "nell-1", answers, part="answers")
    )
    (result,) = a.results
    assert [(s.measure, s.value) for s in result.scores] == [
        ("recall@1000", 0.5), ("leak", 0.0), ("resolved", 1.0)
    ]  # fmt: skip
    assert result.facts == {
        "seconds": 0.25, "tokens": 900.0, "answer_seconds": 2.0, "dollars": 0.01
    }  # fmt: skip
    assert (result.number, result.seconds, result.failed) == (1, 2.25, False)


def test_what_failed_has_no_score_and_single_tries_are_left_out() -> None:
    why = {
        "correctness": "Nell said no",
        "correctness#1": "Nell",
        "correctness#2": "no",
    }
    tried = {"faithfulness": 0.5, "faithfulness#1": 0.4}
    (a,) = found(a_line("A", "nell-2", tried, why))
    (result,) = a.results
    assert result.scores == (
        MeasureScore("faithfulness", 0.5),
        MeasureScore("correctness", None),
    )
    assert result.facts == {}
    assert "Nell" not in repr(a)
    assert "not_evaluated" in a.facts
    (b,) = found(a_line("B", "nell-2", {}, {"mrr": "Nell"}))
    assert b.results[0].failed


def test_an_experiment_says_what_it_was_made_with() -> None:
    a, b = found(*BOTH)
    assert a.facts == {
        "arm": "A", "pipeline": "a", "lrwr": PLAN.lrwr, "run": "r", "questions": 2,
        "measures": "search, answers", "budgets_tokens": a.facts["budgets_tokens"],
        "model_meaning": "mini", "model_the_second_look": "none",
    }  # fmt: skip
    assert b.facts["pipeline"] == "b"


def test_the_same_plan_gives_the_same_experiments_and_another_others() -> None:
    keys = [one.key for one in found(*BOTH)]
    assert [one.key for one in found(*BOTH, run="later")] == keys
    other = replace(PLAN, lrwr="another")
    assert not set(keys) & {one.key for one in found(*BOTH, plan=other)}


def test_questions_are_known_by_their_number_and_kind_alone() -> None:
    run = EvalRun("r", 1_000.0, PLAN, ())
    golden = build_golden_set(run, "library 1", "the heron novel")
    assert [one.number for one in golden.examples] == [1, 2]
    told = repr([one.facts for one in golden.examples])
    assert QuestionKind.OTHER.value in told
    assert "nell" not in told
    keys = {
        golden.key,
        build_golden_set(run, "library 2", "").key,
        build_golden_set(
            replace(run, plan=a_plan(means_of([SetArm("A")]))), "library 1", ""
        ).key,
    }
    assert len(keys) == 3
