"""How long a server asks to be left alone, in all the ways that servers say it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrwr.core.adapters.http.errors import (
    HttpRequestInfo,
    build_timeout_error,
    parse_rate_limit_reset,
    parse_retry_after,
)


def limits(remaining: str, reset: str) -> dict[str, str]:
    return {
        "x-ratelimit-remaining-tokens": remaining,
        "x-ratelimit-reset-tokens": reset,
    }


@pytest.mark.parametrize(
    ("reset", "seconds"),
    [
        ("6m0s", 360.0),
        ("1s", 1.0),
        ("120ms", 0.12),
        ("1h2m3s", 3723.0),
        ("1.5s", 1.5),
        ("7", 7.0),
        ("soon", None),
        ("", None),
        ("-3s", None),
        ("nan", None),
    ],
)
def test_a_limit_that_is_used_up_says_till_when(
    reset: str, seconds: float | None
) -> None:
    told = parse_rate_limit_reset(limits("0", reset))
    assert told == (None if seconds is None else pytest.approx(seconds))


def test_a_limit_that_is_not_used_up_is_not_waited_for() -> None:
    assert parse_rate_limit_reset(limits("1", "6m0s")) is None
    assert parse_retry_after(limits("1", "6m0s"), now=0.0) is None


def test_what_a_server_says_outright_counts_before_its_limits() -> None:
    assert (
        parse_retry_after({**limits("0", "9m0s"), "retry-after": "2"}, now=0.0) == 2.0
    )
    assert parse_retry_after(limits("0", "9m0s"), now=0.0) == 540.0


@given(
    st.dictionaries(
        st.sampled_from(["retry-after", "retry-after-ms", *limits("", "")]),
        st.text(max_size=30),
    )
)
def test_whatever_a_server_says_the_wait_is_a_number_or_none(
    headers: dict[str, str],
) -> None:
    wait = parse_retry_after(headers, now=0.0)
    assert wait is None or 0 <= wait < float("inf")


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(1.0, "1 second"), (0.5, "0.5 seconds"), (300.0, "300 seconds")],
)
def test_one_second_is_singular(seconds: float, words: str) -> None:
    request = HttpRequestInfo("OpenAI", "m", seconds, is_local=False)
    assert str(build_timeout_error(request)) == f"OpenAI did not answer within {words}"
