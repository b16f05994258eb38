"""What every web search promises: the real adapter against a loopback Tavily, and the
fake that other tests are given."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lrwr.core.adapters.source.text import find_sentence_spans
from lrwr.core.adapters.web.tavily import TavilyConnection, TavilySearch
from lrwr.core.model.errors import ServiceUnavailable
from lrwr.core.ports.sources import MAX_PAGE_TEXT_CHARS, WebPage, WebSearch
from tests.fakes.hosted_server import Refuse
from tests.fakes.suite import examples
from tests.fakes.web_search import ScriptedWeb
from tests.fakes.web_server import KEY, WebServer, a_result

HAMLET = ("Hamlet", "https://example.org/hamlet", "A prince sees a ghost.")
LEAR = ("King Lear", "http://example.org/lear", "A king gives his land away.")

Finding = Callable[..., WebSearch]
"""Makes a search that finds what it is given; None lets it fail."""


@pytest.fixture(params=["tavily", "scripted"])
def finding(request: pytest.FixtureRequest) -> Iterator[Finding]:
    with WebServer() as server:

        def tavily(*pages: tuple[str, str, str] | None) -> WebSearch:
            if None in pages:
                server.will(Refuse(500))
            server.finds(*(a_result(*one) for one in pages if one))
            return TavilySearch(
                TavilyConnection(KEY, server.base_url, own=True), find_sentence_spans
            )

        def scripted(*pages: tuple[str, str, str] | None) -> WebSearch:
            error = ServiceUnavailable("no") if None in pages else None
            return ScriptedWeb(*(WebPage(*one) for one in pages if one), error=error)

        yield tavily if request.param == "tavily" else scripted


async def test_pages_come_as_they_are_the_best_first(finding: Finding) -> None:
    pages = await finding(HAMLET, LEAR).search("plays with ghosts", 5)
    assert pages == [WebPage(*HAMLET), WebPage(*LEAR)]


async def test_no_more_come_than_are_asked_for(finding: Finding) -> None:
    assert await finding(HAMLET, LEAR).search("plays", 1) == [WebPage(*HAMLET)]


async def test_there_may_be_none(finding: Finding) -> None:
    assert await finding().search("plays", 3) == []


async def test_asking_again_finds_the_same(finding: Finding) -> None:
    web = finding(HAMLET)
    assert await web.search("plays", 3) == await web.search("plays", 3)


async def test_a_service_that_fails_says_so(finding: Finding) -> None:
    with pytest.raises(ServiceUnavailable):
        await finding(None).search("plays", 3)


ANYTHING = st.none() | st.integers() | st.text(max_size=40) | st.lists(st.text())
URLS = st.sampled_from(
    ["https://a.example/x", "http://b.example", "javascript:alert(1)", "ftp://c", ""]
)
RESULTS = st.lists(
    st.fixed_dictionaries(
        {"url": URLS | ANYTHING, "content": st.text(max_size=3_000) | ANYTHING},
        optional={"title": ANYTHING, "published_date": ANYTHING},
    )
    | ANYTHING,
    max_size=6,
)


@given(results=RESULTS)
@settings(
    max_examples=examples(40),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
async def test_whatever_a_server_sends_a_page_is_safe_to_show(
    results: list[Any],
) -> None:
    from lrwr.core.adapters.web.pages import parse_web_pages

    pages = parse_web_pages(results, 4, find_sentence_spans)
    assert len(pages) <= 4
    assert len({page.url for page in pages}) == len(pages)
    for page in pages:
        assert page.url.startswith(("https://", "http://"))
        assert 0 < len(page.text) <= MAX_PAGE_TEXT_CHARS
        for text in (page.title, page.url, page.text, page.published):
            assert text == "" or text.isprintable()
