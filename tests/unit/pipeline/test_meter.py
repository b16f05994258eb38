"""What one run may spend."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrwr.core.model.language_model import Usage
from lrwr.pipeline.analysis import ModelBudget


def by_tokens(usage: Usage) -> float:
    return float(usage.prompt_tokens)


def unknown(usage: Usage) -> None:
    return None


def call(tokens: int) -> Usage:
    return Usage(calls=1, prompt_tokens=tokens)


def test_without_a_budget_everything_may_be_asked() -> None:
    meter = ModelBudget(by_tokens)
    for _ in range(9):
        reserved = meter.reserve(call(1000))
        assert reserved == 1000.0
        meter.settle(reserved, call(1100))
    assert (meter.spent, meter.stopped) == (9900.0, "")


def test_an_unknown_price_is_counted_in_calls_alone() -> None:
    meter = ModelBudget(unknown)
    reserved = meter.reserve(call(5))
    assert reserved == 0.0
    meter.settle(reserved, call(5))
    assert (meter.spent, meter.usage.calls) == (None, 1)


def test_an_unknown_price_cannot_keep_a_budget() -> None:
    meter = ModelBudget(unknown, budget=5)
    assert meter.reserve(call(1)) is None
    assert "price is unknown" in meter.stopped


def test_what_is_under_way_counts_at_its_estimate() -> None:
    meter = ModelBudget(by_tokens, budget=10)
    assert meter.reserve(call(6)) == 6.0
    assert meter.reserve(call(5)) is None
    assert meter.stopped.startswith("The next call would exceed the budget of $10.00.")


def test_what_cost_less_than_was_thought_leaves_room() -> None:
    meter = ModelBudget(by_tokens, budget=10)
    meter.settle(meter.reserve(call(6)) or 0.0, call(2))
    assert meter.reserve(call(8)) == 8.0


def test_the_first_reason_to_stop_stays() -> None:
    meter = ModelBudget(by_tokens, budget=1)
    meter.stop("The server is away.")
    meter.stop("Something else.")
    assert meter.reserve(call(0)) is None
    assert meter.stopped == "The server is away."


@given(
    st.lists(st.tuples(st.integers(0, 50), st.floats(0, 1)), max_size=30),
    st.integers(1, 200),
)
def test_a_budget_is_never_passed_where_estimates_are_not_too_low(
    calls: list[tuple[int, float]], budget: int
) -> None:
    meter = ModelBudget(by_tokens, budget=budget)
    waiting: list[tuple[float, int]] = []
    for tokens, share in calls:
        reserved = meter.reserve(call(tokens))
        if reserved is not None:
            waiting.append((reserved, int(tokens * share)))
        if len(waiting) > 3:
            meter.settle(waiting[0][0], call(waiting.pop(0)[1]))
    for reserved, taken in waiting:
        meter.settle(reserved, call(taken))
    assert meter.spent == pytest.approx(meter.usage.prompt_tokens)
    assert meter.usage.prompt_tokens <= budget
