"""Fitting how much the embeddings of another model count."""

from pathlib import Path

import pytest

from lrwr.core.retrieval.confidence import (
    delete_calibrations,
    get_calibration_path,
    load_calibrations,
    load_embedding_weights,
    save_calibrations,
)
from lrwr.core.retrieval.retrievers import EmbeddingWeight, compute_dense_weight
from lrwr.core.settings.library import Library
from lrwr.pipeline.evaluation.embedding_weight import (
    FACTORS,
    LEAST_ANSWERABLE,
    RankCollector,
    choose_embedding_weight,
)
from lrwr.pipeline.evaluation.questions import EvalQuestion, GoldQuote
from tests.fakes.desks import Desk, a_desk

MANY = 4 * LEAST_ANSWERABLE


def test_a_factor_that_helps_everywhere_is_chosen() -> None:
    ranks = {f: [0.2] * MANY for f in FACTORS} | {2.0: [0.2, 0.9] * (MANY // 2)}
    weight = choose_embedding_weight("other", ranks)
    assert weight is not None
    assert (weight.space, weight.factor, weight.questions) == ("other", 2.0, MANY)
    assert weight.default_mrr == pytest.approx(0.2)
    assert weight.mrr == pytest.approx(0.55)


def test_a_factor_that_helps_one_question_is_not_chosen() -> None:
    ranks = {f: [0.2] * MANY for f in FACTORS} | {2.0: [1.0] + [0.2] * (MANY - 1)}
    weight = choose_embedding_weight("other", ranks)
    assert weight is not None
    assert weight.factor == 1.0


def test_a_factor_that_ranks_alike_is_not_chosen() -> None:
    weight = choose_embedding_weight("other", {f: [0.5] * MANY for f in FACTORS})
    assert weight is not None
    assert (weight.factor, weight.mrr, weight.default_mrr) == (1.0, 0.5, 0.5)


def test_few_questions_fit_nothing() -> None:
    few = {f: [1.0] * (LEAST_ANSWERABLE - 1) for f in FACTORS}
    assert choose_embedding_weight("other", few) is None


def test_a_factor_scales_the_weight_of_embeddings() -> None:
    for coverage in (0.0, 0.6, 1.0):
        doubled = compute_dense_weight(coverage, 2.0)
        assert doubled == pytest.approx(2 * compute_dense_weight(coverage))


def test_weights_are_saved_beside_calibrations(tmp_path: Path) -> None:
    library = Library(tmp_path, tmp_path / ".lrwr")
    path = get_calibration_path(library)
    assert load_embedding_weights(path) == []
    weight = EmbeddingWeight("other", 0.5, 40, 0.3, 0.4)
    save_calibrations(library, [], [weight])
    assert load_embedding_weights(path) == [weight]
    assert load_calibrations(path) == ([], "")
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("0.5", "-0.5"), encoding="utf-8")
    assert load_embedding_weights(path) == []
    assert "damaged" in load_calibrations(path)[1]
    assert delete_calibrations(library)


async def test_each_factor_ranks_the_answers(tmp_path: Path) -> None:
    async with a_desk(tmp_path) as desk:
        await check_ranks(desk)


async def check_ranks(desk: Desk) -> None:
    desk.write("1.md", "# One\n\nThe lamp burns in the mill.")
    desk.write("2.md", "# Two\n\nA boat lies on the mud.")
    await desk.ingest()
    finders = {f: desk.finder(dense_factors={"words-32": f}) for f in (0.0, 1.0)}
    order = await finders[1.0].story_order()
    collector = RankCollector(finders, desk.library.passages, desk.pipeline, order)
    gold = GoldQuote("2.md", "A boat lies on the mud.")
    questions = [
        EvalQuestion("1", "Where does the boat lie?", (gold,)),
        EvalQuestion("2", "Where is the boat?", (GoldQuote("9.md", "Gone."),)),
        EvalQuestion("3", "Who sold it?", ()),
    ]
    done: list[int] = []
    ranks = await collector.collect(questions, done.append)
    assert ranks == {0.0: [1.0], 1.0: [1.0]}
    assert len(done) == 3
