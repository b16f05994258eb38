import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrwr.core.adapters.embed.token_states import (
    STATE_DIMENSIONS,
    compare_passage,
    decode_passage_states,
    encode_passage_states,
    project_states,
)
from lrwr.core.model.text import Span

EQUAL = np.full(2, 0.5, np.float32)


def some_states(number: int, seed: int = 0) -> np.ndarray:
    """States as unequal as those of a model."""
    return np.random.default_rng(seed).normal(size=(number, 384)).astype(np.float32)


def encoded(states: np.ndarray, *sentences: int) -> bytes:
    """A passage whose tokens have two characters; `sentences` are numbers of tokens."""
    spans, at = [], 0
    for count in sentences:
        spans.append(Span(at, at + 2 * count))
        at += 2 * count
    return encode_passage_states(states, range(0, 2 * len(states), 2), spans)


@given(st.lists(st.integers(0, 6), min_size=1, max_size=8), st.integers(0, 9))
def test_what_is_decoded_is_near_what_was_encoded(counts: list[int], seed: int) -> None:
    states = some_states(sum(counts), seed)
    decoded = decode_passage_states(encoded(states, *counts))
    assert decoded.counts == tuple(count for count in counts if count)
    assert sum(decoded.counts) == len(states)
    assert list(decoded.ends) == sorted(decoded.ends)
    cosines = (decoded.states * project_states(states)).sum(axis=1)
    assert (cosines > 0.98).all()


def test_a_token_takes_32_bytes() -> None:
    one, two = (encoded(some_states(n), n) for n in (10, 20))
    assert len(two) - len(one) == 10 * STATE_DIMENSIONS / 2 == 320


def test_a_passage_that_is_too_long_is_not_encoded() -> None:
    assert encode_passage_states(some_states(1), [0], [Span(0, 70_000)]) == b""


def test_a_passage_without_sentences_is_one() -> None:
    decoded = decode_passage_states(encode_passage_states(some_states(2), [0, 2], []))
    assert decoded.counts == (2,)


@pytest.mark.parametrize("cut", [1, 2, 5, 40])
def test_damaged_states_are_refused(cut: int) -> None:
    with pytest.raises(ValueError, match="damaged"):
        decode_passage_states(encoded(some_states(3), 3)[:-cut])


def test_the_nearest_token_counts_for_each_token_of_the_question() -> None:
    states = some_states(3)
    passage = decode_passage_states(encoded(states, 1, 2))
    question = project_states(states[[0, 2]])
    same = compare_passage(passage, question, EQUAL, 3)
    assert same.nearest == pytest.approx(1.0, abs=0.02)
    other = compare_passage(passage, project_states(some_states(2, 5)), EQUAL, 3)
    assert other.nearest < 0.8


def test_the_window_with_the_same_meaning_counts() -> None:
    near, far = some_states(2), some_states(6, 1)
    question = project_states(near[:1])
    apart = decode_passage_states(encoded(np.concatenate([far, near[:1]]), 3, 3, 1))
    weights = np.ones(1, np.float32)
    one = compare_passage(apart, question, weights, 1)
    assert one.meaning == pytest.approx(1.0, abs=0.02)
    assert compare_passage(apart, question, weights, 3).meaning < 0.8


def test_an_empty_passage_scores_nothing() -> None:
    passage = decode_passage_states(encode_passage_states(some_states(0), [], []))
    question = project_states(some_states(2))
    comparison = compare_passage(passage, question, EQUAL, 3)
    assert (comparison.nearest, comparison.meaning) == (0.0, 0.0)
