import math
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from lrwr.core.model.chunks import ChunkId, ScoredChunk
from lrwr.core.model.documents import DocumentId
from lrwr.core.retrieval.retrievers import (
    NEIGHBOUR_WEIGHT,
    add_neighbour_scores,
    fuse_weighted_scores,
    rank_chunks,
    scale_by_maximum,
    scale_min_max,
)
from tests.fakes.records import a_chunk

ONE = DocumentId("01.md")
A, B, C = ChunkId("a"), ChunkId("b"), ChunkId("c")

scores = st.dictionaries(
    st.text("abcdef", min_size=1, max_size=2).map(ChunkId),
    st.floats(-100, 100, allow_nan=False).map(lambda x: round(x, 3)),
    max_size=6,
)


@given(scores)
def test_unit_scores_lie_between_nought_and_one_and_keep_the_order(
    given_scores: dict[ChunkId, float],
) -> None:
    unit = scale_by_maximum(given_scores)
    assert unit.keys() == given_scores.keys()
    assert all(0.0 <= score <= 1.0 for score in unit.values())
    if max(given_scores.values(), default=0.0) > 0:
        assert max(unit.values()) == 1.0
    for one in unit:
        for two in unit:
            if given_scores[one] <= given_scores[two]:
                assert unit[one] <= unit[two]


@given(scores)
def test_spread_scores_reach_from_nought_to_one(
    given_scores: dict[ChunkId, float],
) -> None:
    spread = scale_min_max(given_scores)
    assert spread.keys() == given_scores.keys()
    assert all(0.0 <= score <= 1.0 for score in spread.values())
    if len(set(given_scores.values())) > 1:
        assert (min(spread.values()), max(spread.values())) == (0.0, 1.0)
    else:
        assert set(spread.values()) <= {0.0}


@given(st.lists(st.tuples(st.floats(0, 1), scores), max_size=3))
def test_a_sum_counts_what_is_absent_as_nought(
    parts: list[tuple[float, dict[ChunkId, float]]],
) -> None:
    total = fuse_weighted_scores(parts)
    assert total.keys() == {chunk for _, found in parts for chunk in found}
    for chunk, score in total.items():
        expected = math.fsum(weight * found.get(chunk, 0.0) for weight, found in parts)
        assert math.isclose(score, expected, abs_tol=1e-9)


def test_weights_decide_between_two_rankings() -> None:
    one, two = {A: 1.0, B: 0.5}, {B: 1.0, C: 0.8}
    total = fuse_weighted_scores([(0.7, one), (0.3, two)])
    assert [scored.chunk for scored in rank_chunks(total)] == [A, B, C]
    total = fuse_weighted_scores([(0.3, one), (0.7, two)])
    assert [scored.chunk for scored in rank_chunks(total)] == [B, C, A]


def test_the_best_come_first_and_equals_by_id() -> None:
    assert rank_chunks({C: 1.0, B: 2.0, A: 1.0}) == [
        ScoredChunk(B, 2.0),
        ScoredChunk(A, 1.0),
        ScoredChunk(C, 1.0),
    ]
    assert rank_chunks({}) == []


def test_a_passage_gains_by_its_better_neighbour_in_the_document() -> None:
    texts = ("The fog.", "The lamp.", "The mill.")
    chunks = [
        replace(a_chunk(text), document=ONE, ordinal=number, id=ChunkId(f"c{number}"))
        for number, text in enumerate(texts)
    ]
    elsewhere = replace(chunks[0], document=DocumentId("02.md"), id=ChunkId("far"))
    given_scores = {chunk.id: float(n) for n, chunk in enumerate(chunks)} | {
        elsewhere.id: 4.0
    }
    total = add_neighbour_scores(given_scores, [*chunks, elsewhere])
    assert total == {
        "c0": NEIGHBOUR_WEIGHT,
        "c1": 1 + 2 * NEIGHBOUR_WEIGHT,
        "c2": 2 + NEIGHBOUR_WEIGHT,
        "far": 4.0,
    }
    assert add_neighbour_scores(given_scores, []) == given_scores
