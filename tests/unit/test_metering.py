"""What tokens cost, as far as anybody knows."""

from functools import partial

import pytest

from lrwr.core.model.errors import SettingsProblem
from lrwr.core.model.language_model import (
    TokenPrice,
    Usage,
    compute_price,
    compute_total_price,
    load_known_prices,
    parse_prices,
)

MILLION = Usage(prompt_tokens=1_000_000, completion_tokens=2_000_000)


def test_a_known_model_has_a_price() -> None:
    assert compute_price(MILLION, "gpt-6-luna", load_known_prices()) == pytest.approx(
        1.10
    )


def test_a_dated_name_costs_what_the_plain_one_does() -> None:
    table = load_known_prices()
    dated = compute_price(MILLION, "gpt-6-luna-2026-09-22", table)
    assert dated == compute_price(MILLION, "gpt-6-luna", table)


@pytest.mark.parametrize("model", ["", "gpt-6", "gpt-6-luna-mini", "llama3"])
def test_an_unknown_price_is_not_invented(model: str) -> None:
    assert compute_price(MILLION, model, load_known_prices()) is None


def test_the_writer_sets_prices() -> None:
    table = parse_prices(["my-model 1 2.5", " gpt-6-luna  0 0 "])
    assert table["my-model"] == TokenPrice(1.0, 2.5)
    assert compute_price(MILLION, "my-model", table) == pytest.approx(6.0)
    assert compute_price(MILLION, "gpt-6-luna", table) == 0.0
    assert "gpt-4o" in table


@pytest.mark.parametrize(
    "line", ["", "a", "a 1", "a b c", "a -1 2", "a 1 2 3", "a 1,5 2"]
)
def test_a_line_that_is_no_price_is_refused(line: str) -> None:
    with pytest.raises(SettingsProblem, match=r"model\.prices") as caught:
        parse_prices([line])
    assert "gpt-6-luna" in caught.value.hint


def test_usage_adds_up() -> None:
    one = Usage(1, 2, 3, 4, 5, 6, 7, 8)
    assert one + one == Usage(2, 4, 6, 8, 10, 12, 14, 16)


def test_several_models_cost_each_at_its_own_price() -> None:
    prices = partial(compute_price, table=parse_prices(["a 1 0", "b 0 10"]))
    sent, said = Usage(1, 1_000_000, 0), Usage(2, 0, 1_000_000)
    assert compute_total_price([(sent, "a"), (said, "b")], prices) == pytest.approx(
        11.0
    )
    assert compute_total_price([(sent, "a"), (said, "unheard of")], prices) is None
    assert compute_total_price(
        [(sent, "a"), (Usage(), "unheard of")], prices
    ) == pytest.approx(1.0)
    assert compute_total_price([], prices) == 0
