"""What is given for a question, measured against where its answer stands."""

from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrwr.core.model.chunks import Chunk, ChunkId, ChunkKind, TextHash
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.text import LineRange, Span
from lrwr.pipeline.evaluation.outcomes import ContextPiece, RetrievedContext
from lrwr.pipeline.evaluation.questions import (
    AnswerPlace,
    covers_answer_place,
    has_gold,
)
from lrwr.pipeline.evaluation.search_measures import compute_retrieval_figures

FOG, LAMP = DocumentId("chapters/fog.md"), DocumentId("chapters/lamp.md")
BUDGETS = (5, 20, 60)


def piece(start: int, end: int, document: DocumentId = FOG) -> ContextPiece:
    """Words of a text in which each character is a token."""
    return ContextPiece(document, Span(start, end), "x" * (end - start), end - start)


def place(start: int, end: int, document: DocumentId = FOG) -> AnswerPlace:
    return AnswerPlace(document, Span(start, end))


def figures(
    pieces: list[ContextPiece], *gold: list[AnswerPlace], every: bool = False
) -> dict[str, float]:
    found = RetrievedContext(tuple(pieces), 0.5)
    return compute_retrieval_figures(
        found, gold, every=every, budgets=BUDGETS, late=None
    )


SPANS = st.tuples(st.integers(0, 60), st.integers(1, 25)).map(
    lambda pair: Span(pair[0], pair[0] + pair[1])
)
DOCUMENTS = st.sampled_from([FOG, LAMP])
PIECES = st.lists(
    st.builds(lambda s, d: piece(s.start, s.end, d), SPANS, DOCUMENTS), max_size=6
)
PLACES = st.builds(AnswerPlace, DOCUMENTS, SPANS)
GOLD = st.lists(st.lists(PLACES, min_size=1, max_size=2), min_size=1, max_size=3)


@given(PIECES, GOLD, st.booleans())
def test_every_figure_of_a_question_is_a_share(
    pieces: list[ContextPiece], gold: list[list[AnswerPlace]], every: bool
) -> None:
    for name, value in figures(pieces, *gold, every=every).items():
        assert name in ("tokens", "seconds") or 0 <= value <= 1 + 1e-9


@given(PIECES, GOLD, st.booleans())
def test_a_larger_budget_never_finds_less(
    pieces: list[ContextPiece], gold: list[list[AnswerPlace]], every: bool
) -> None:
    found = figures(pieces, *gold, every=every)
    recalls = [found[f"recall@{budget}"] for budget in BUDGETS]
    assert recalls == sorted(recalls)
    assert found["hit@1"] <= found["hit@5"] <= found["hit@10"]


@given(PIECES, GOLD, st.booleans())
def test_what_is_in_both_is_no_larger_a_share_of_both_than_of_either(
    pieces: list[ContextPiece], gold: list[list[AnswerPlace]], every: bool
) -> None:
    found = figures(pieces, *gold, every=every)
    for budget in BUDGETS:
        either = min(found[f"recall@{budget}"], found[f"precision@{budget}"])
        assert found[f"iou@{budget}"] <= either + 1e-9


@given(PIECES, GOLD, st.booleans())
def test_a_piece_given_twice_is_worth_no_more_than_once(
    pieces: list[ContextPiece], gold: list[list[AnswerPlace]], every: bool
) -> None:
    whole = RetrievedContext(tuple(pieces), 0.5)
    doubled = RetrievedContext((*pieces, *pieces), 0.5)
    kept = [
        compute_retrieval_figures(one, gold, every=every, budgets=(1000,), late=None)
        for one in (whole, doubled)
    ]
    for name in ("recall@1000", "precision@1000", "iou@1000"):
        assert kept[0][name] == pytest.approx(kept[1][name])


@given(
    PIECES.flatmap(lambda p: st.tuples(st.just(p), st.permutations(p))),
    GOLD,
    st.booleans(),
)
def test_spans_do_not_depend_on_the_order_of_what_fits_the_budget(
    orders: tuple[list[ContextPiece], list[ContextPiece]],
    gold: list[list[AnswerPlace]],
    every: bool,
) -> None:
    kept = [
        compute_retrieval_figures(
            RetrievedContext(tuple(one), 0.5),
            gold,
            every=every,
            budgets=(1000,),
            late=None,
        )
        for one in orders
    ]
    for name in ("recall@1000", "precision@1000", "iou@1000", "tokens"):
        assert kept[0][name] == pytest.approx(kept[1][name])


@given(PIECES, GOLD)
def test_needing_every_quote_is_never_easier_than_needing_any(
    pieces: list[ContextPiece], gold: list[list[AnswerPlace]]
) -> None:
    some, whole = figures(pieces, *gold), figures(pieces, *gold, every=True)
    for budget in BUDGETS:
        assert whole[f"recall@{budget}"] <= some[f"recall@{budget}"] + 1e-9


@given(st.lists(st.tuples(SPANS, DOCUMENTS), max_size=6), GOLD)
def test_a_hit_is_what_questions_call_holding_the_answer(
    found: list[tuple[Span, DocumentId]], gold: list[list[AnswerPlace]]
) -> None:
    pieces = [piece(span.start, span.end, document) for span, document in found]
    chunks = [chunk(one) for one in pieces]
    hit = figures(pieces, *gold)["hit@10"] == 1.0
    assert hit is has_gold(chunks, gold, every=False)


def chunk(one: ContextPiece) -> Chunk:
    return Chunk(
        id=ChunkId("1"),
        document=one.document,
        ordinal=0,
        span=one.span,
        lines=LineRange(1, 1),
        chapter=0,
        scene=0,
        kind=ChunkKind.PROSE,
        text=one.text,
        text_hash=TextHash(""),
        tokens=one.tokens,
    )


def test_recall_counts_characters_of_the_answer_that_fit_the_budget() -> None:
    found = figures([piece(0, 10), piece(10, 30)], [place(5, 25)])
    assert found["recall@5"] == 0.0
    assert found["recall@20"] == pytest.approx(15 / 20)
    assert found["precision@20"] == pytest.approx(15 / 20)
    assert found["iou@20"] == pytest.approx(15 / 25)
    assert found["recall@60"] == 1.0
    assert found["precision@60"] == pytest.approx(20 / 30)
    assert (found["tokens"], found["seconds"]) == (30.0, 0.5)


def test_overlapping_pieces_cost_twice_and_count_once() -> None:
    found = figures([piece(0, 20), piece(10, 30)], [place(0, 30)])
    assert found["recall@20"] == pytest.approx(20 / 30)
    assert found["precision@60"] == found["recall@60"] == found["iou@60"] == 1.0
    assert found["tokens"] == 40.0


def test_any_quote_is_enough_unless_every_one_is_needed() -> None:
    gold = [place(0, 10)], [place(40, 50)]
    some = figures([piece(40, 50)], *gold)
    assert (some["recall@20"], some["iou@20"], some["ndcg@10"]) == (1.0, 1.0, 1.0)
    every = figures([piece(40, 50)], *gold, every=True)
    assert (every["recall@20"], every["iou@20"]) == (0.5, 0.5)
    assert every["precision@20"] == 1.0
    assert every["ndcg@10"] == pytest.approx(1 / (1 + 1 / log2(3)))


def test_a_quote_that_stands_twice_is_found_at_either_place() -> None:
    twice = [place(0, 10), place(40, 50, LAMP)]
    found = figures([piece(38, 52, LAMP)], twice)
    assert (found["recall@20"], found["hit@1"]) == (1.0, 1.0)
    assert found["precision@20"] == pytest.approx(10 / 14)


def test_ranks_are_those_of_the_first_piece_that_covers() -> None:
    pieces = [piece(50, 60), piece(0, 4), piece(0, 12), piece(20, 30)]
    found = figures(pieces, [place(2, 22)], [place(20, 30)], every=True)
    assert (found["hit@1"], found["hit@5"]) == (0.0, 1.0)
    assert found["mrr"] == pytest.approx(1 / 2)
    gain, ideal = 1 / log2(3) + 1 / log2(5), 1 + 1 / log2(3)
    assert found["ndcg@10"] == pytest.approx(gain / ideal)


def test_what_comes_after_the_tenth_piece_is_no_hit() -> None:
    pieces = [piece(n, n + 1, LAMP) for n in range(10)]
    found = figures([*pieces, piece(0, 10)], [place(0, 10)])
    assert (found["hit@10"], found["ndcg@10"]) == (0.0, 0.0)
    assert found["mrr"] == pytest.approx(1 / 11)


def test_nothing_given_has_nothing() -> None:
    found = figures([], [place(0, 10)])
    assert set(found.values()) == {0.0, 0.5}


def test_without_gold_there_are_leaks_tokens_and_seconds() -> None:
    found = compute_retrieval_figures(
        RetrievedContext((piece(0, 10), piece(0, 10, LAMP)), 0.25),
        [],
        every=False,
        budgets=(8, 15),
        late=lambda one: one.document == LAMP,
    )
    assert found == {"leak": 1.0, "tokens": 15.0, "seconds": 0.25}


def test_a_question_that_nothing_can_leak_for_has_no_leak() -> None:
    assert "leak" not in figures([piece(0, 10)], [place(0, 10)])


def test_a_leak_counts_although_the_budget_leaves_it_out() -> None:
    found = compute_retrieval_figures(
        RetrievedContext((piece(0, 60), piece(0, 10, LAMP)), 0.0),
        [[place(0, 10)]],
        every=False,
        budgets=(20,),
        late=lambda one: one.document == LAMP,
    )
    assert found["leak"] == 1.0


@pytest.mark.parametrize(
    ("given_", "wanted", "so"),
    [
        (piece(0, 10), place(5, 30), True),
        (piece(0, 10), place(6, 30), False),
        (piece(0, 100), place(95, 105), True),
        (piece(0, 10), place(10, 11), False),
        (piece(0, 10), place(0, 10, LAMP), False),
    ],
)
def test_half_of_the_shorter_is_enough(
    given_: ContextPiece, wanted: AnswerPlace, so: bool
) -> None:
    assert covers_answer_place(given_, wanted) is so


def test_a_quote_that_stands_nowhere_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="was not found"):
        figures([piece(0, 10)], [place(0, 10)], [])
