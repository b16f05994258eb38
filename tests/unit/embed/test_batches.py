"""Which texts go to a server together."""

from hypothesis import given
from hypothesis import strategies as st

from lrwr.core.adapters.embed.connection import (
    MAX_EMBEDDED_TEXT_BYTES,
    EmbeddingBatchLimit,
    plan_embedding_batches,
    truncate_for_embedding,
)

COUNTS = st.lists(st.integers(0, 40), max_size=40)


@given(COUNTS, st.integers(1, 60), st.integers(1, 8))
def test_every_text_goes_once_and_no_request_is_over_its_budget(
    counts: list[int], tokens: int, texts: int
) -> None:
    parts = plan_embedding_batches(counts, EmbeddingBatchLimit(tokens, texts))
    assert sorted(place for part in parts for place in part) == [*range(len(counts))]
    for part in parts:
        assert 0 < len(part) <= texts
        held = sum(max(1, counts[place]) for place in part)
        assert held <= tokens or len(part) == 1


@given(COUNTS)
def test_texts_of_like_length_go_together(counts: list[int]) -> None:
    parts = plan_embedding_batches(counts, EmbeddingBatchLimit(50, 5))
    flat = [counts[place] for part in parts for place in part]
    assert flat == sorted(flat)


@given(st.text(max_size=60), st.integers(0, 400))
def test_a_text_is_cut_at_a_character_and_only_if_it_is_too_long(
    text: str, times: int
) -> None:
    whole = text * times
    cut = truncate_for_embedding(whole)
    assert len(cut.encode()) <= MAX_EMBEDDED_TEXT_BYTES
    if len(whole.encode(errors="replace")) <= MAX_EMBEDDED_TEXT_BYTES:
        assert cut.encode() == whole.encode(errors="replace")
    else:
        assert whole.encode(errors="replace").startswith(cut.encode())
        assert len(cut.encode()) > MAX_EMBEDDED_TEXT_BYTES - 4
