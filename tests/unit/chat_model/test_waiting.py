"""How long a server that fails is waited for, and by whom."""

import pytest

from lrwr.core.adapters.http.errors import ServiceCallError
from lrwr.core.adapters.http.rate_limit import (
    INTERACTIVE_RETRY_SECONDS,
    NO_RETRY_SECONDS,
    Clock,
    RateLimit,
    RateLimiter,
)


class Server:
    """Fails until it is well; time passes only when somebody sleeps."""

    def __init__(self) -> None:
        self.well = False
        self.refused = ServiceCallError("It failed", hint="Later.", retryable=True)
        self.calls = 0
        self.slept = self.seconds = 0.0
        self.notices: list[tuple[float, str]] = []

    async def answer(self) -> str:
        self.calls += 1
        self.slept += self.seconds
        if not self.well:
            raise self.refused
        return "well"

    def rate_limiter(self, patience: float = 120.0) -> RateLimiter:
        clock = Clock(now=lambda: self.slept, sleep=self._sleep, chance=lambda: 1.0)
        return RateLimiter(RateLimit(4, patience=patience), clock, self._notify)

    def _notify(self, notice: str) -> None:
        self.notices.append((self.slept, notice))

    async def _sleep(self, seconds: float) -> None:
        self.slept += seconds


async def kept(
    server: Server, rate_limiter: RateLimiter, patience: float | None
) -> float:
    """Return the seconds that somebody was kept waiting."""
    before = server.slept
    with pytest.raises(ServiceCallError):
        await rate_limiter.call_with_retries(server.answer, patience)
    return server.slept - before


async def test_who_waits_for_an_answer_is_not_kept_as_long_as_a_manuscript() -> None:
    server = Server()
    assert (
        0
        < await kept(server, server.rate_limiter(), INTERACTIVE_RETRY_SECONDS)
        <= INTERACTIVE_RETRY_SECONDS
    )
    assert (
        await kept(server, server.rate_limiter(), None) > 6 * INTERACTIVE_RETRY_SECONDS
    )


async def test_the_rest_of_a_question_does_not_wait_in_vain_once_more() -> None:
    server = Server()
    rate_limiter = server.rate_limiter()
    await kept(server, rate_limiter, INTERACTIVE_RETRY_SECONDS)
    calls = server.calls
    assert await kept(server, rate_limiter, INTERACTIVE_RETRY_SECONDS) == 0
    assert server.calls == calls + 1  # it was asked
    assert await kept(server, rate_limiter, None) > 0
    server.slept += NO_RETRY_SECONDS
    assert await kept(server, rate_limiter, INTERACTIVE_RETRY_SECONDS) > 0


@pytest.mark.parametrize(("is_response", "calls"), [(True, 2), (False, 1)])
async def test_an_error_that_a_slow_server_answers_is_retried_and_a_time_out_is_not(
    is_response: bool, calls: int
) -> None:
    server = Server()
    server.seconds = 30.0
    server.refused = ServiceCallError(
        "It failed (HTTP 500)", hint="Later.", retryable=True, is_response=is_response
    )
    with pytest.raises(ServiceCallError, match="HTTP 500"):
        await server.rate_limiter(2.0).call_with_retries(server.answer)
    assert server.calls == calls


async def test_a_server_that_answers_again_is_waited_for_again() -> None:
    server = Server()
    rate_limiter = server.rate_limiter()
    await kept(server, rate_limiter, INTERACTIVE_RETRY_SECONDS)
    server.well = True
    assert (
        await rate_limiter.call_with_retries(server.answer, INTERACTIVE_RETRY_SECONDS)
        == "well"
    )
    server.well = False
    assert await kept(server, rate_limiter, INTERACTIVE_RETRY_SECONDS) > 0


async def test_what_no_waiting_helps_keeps_nobody() -> None:
    server = Server()
    server.refused = ServiceCallError("No such key", hint="Another.", retryable=False)
    rate_limiter = server.rate_limiter()
    assert await kept(server, rate_limiter, INTERACTIVE_RETRY_SECONDS) == 0
    server.refused = ServiceCallError("It failed", hint="Later.", retryable=True)
    assert await kept(server, rate_limiter, INTERACTIVE_RETRY_SECONDS) > 0


async def test_retries_of_more_than_two_seconds_are_reported_once() -> None:
    server = Server()
    rate_limiter = server.rate_limiter()
    await kept(server, rate_limiter, INTERACTIVE_RETRY_SECONDS)
    assert server.notices == [(2.0, "It failed. Trying again.")]
    await kept(server, rate_limiter, INTERACTIVE_RETRY_SECONDS)
    assert len(server.notices) == 1


async def test_a_short_retry_is_not_reported() -> None:
    server = Server()

    async def answer() -> str:
        server.well = server.calls > 0
        return await server.answer()

    assert await server.rate_limiter().call_with_retries(answer) == "well"
    assert server.notices == []
