"""What every log of what leaves this machine promises."""

from dataclasses import replace

from lrwr.core.model.egress import (
    EgressTotal,
    OutboundRequest,
    RequestCompletion,
    RequestOutcome,
    RequestPurpose,
)
from tests.fakes.libraries import Library

READING = OutboundRequest(
    "openai",
    "api.openai.com",
    RequestPurpose.READING,
    "gpt-6-luna",
    when=100.0,
    sent_bytes=50,
)
WEB = OutboundRequest(
    "tavily", "api.tavily.com", RequestPurpose.WEB_SEARCH, when=200.0, sent_bytes=9
)
DONE = RequestCompletion(RequestOutcome.ANSWERED, 30, 12, 5, 0.25)


async def test_a_new_library_has_sent_nothing(library: Library) -> None:
    report = await library.sent.report()
    assert (report.totals, report.newest) == ((), ())
    assert report.began is not None


async def test_a_request_is_there_before_anything_comes_of_it(
    library: Library,
) -> None:
    await library.sent.begin(READING)
    (found,) = (await library.sent.report()).newest
    assert found == READING
    assert found.outcome is RequestOutcome.UNSEEN
    assert not found.succeeded


async def test_what_came_of_it_completes_it(library: Library) -> None:
    row = await library.sent.begin(READING)
    await library.sent.end(row, DONE)
    (found,) = (await library.sent.report()).newest
    assert found == replace(
        READING,
        outcome=RequestOutcome.ANSWERED,
        received_bytes=30,
        prompt_tokens=12,
        completion_tokens=5,
        price=0.25,
    )
    assert found.succeeded


async def test_the_newest_come_first_and_no_more_than_are_wanted(
    library: Library,
) -> None:
    for when in (5.0, 3.0, 9.0, 9.0):
        await library.sent.begin(replace(READING, when=when, sent_bytes=int(when)))
    last = await library.sent.begin(replace(READING, when=9.0, sent_bytes=77))
    report = await library.sent.report(limit=3)
    assert [one.when for one in report.newest] == [9.0, 9.0, 9.0]
    assert report.newest[0].sent_bytes == 77
    assert report.totals[0].requests == last
    assert (await library.sent.report(limit=0)).newest == ()


async def test_totals_are_by_recipient_and_purpose_the_most_bytes_first(
    library: Library,
) -> None:
    await library.sent.begin(WEB)
    for came in (
        DONE,
        RequestCompletion(RequestOutcome.REFUSED, 4),
        RequestCompletion(RequestOutcome.ANSWERED, 1, 2, 3),
    ):
        await library.sent.end(await library.sent.begin(READING), came)
    unreached = await library.sent.begin(replace(WEB, when=300.0, sent_bytes=1_000))
    await library.sent.end(unreached, RequestCompletion(RequestOutcome.UNREACHED))
    openai, web = (await library.sent.report()).totals
    assert openai == EgressTotal(
        "openai", "api.openai.com", RequestPurpose.READING, 3, 150, 35, 0.25, 1
    )
    assert web == EgressTotal(
        "tavily", "api.tavily.com", RequestPurpose.WEB_SEARCH, 2, 9, 0, 0.0, 0
    )


async def test_only_what_left_since_then_is_told(library: Library) -> None:
    await library.sent.begin(READING)
    await library.sent.begin(WEB)
    report = await library.sent.report(since=200.0)
    assert [one.service for one in report.newest] == ["tavily"]
    assert [one.service for one in report.totals] == ["tavily"]


async def test_clearing_forgets_all_and_keeps_when_that_was(library: Library) -> None:
    row = await library.sent.begin(READING)
    await library.sent.begin(WEB)
    assert await library.sent.clear(1_234.5) == 2
    report = await library.sent.report()
    assert (report.began, report.totals, report.newest) == (1_234.5, (), ())
    await library.sent.end(row, DONE)
    assert (await library.sent.report()).newest == ()
