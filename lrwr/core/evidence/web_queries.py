"""Searches the web for what a text about the story lacks; no words of the book leave.

**What may be sent**: at most `MAX_QUERIES` queries, each the words of a topic without
  names of the story (`build_topic_query`), and only if no `MAX_BOOK_RUN` words of it
  stand in a row in the manuscript or the notes, function words counted or not.
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from lrwr.core.attribution.citations import list_plain_words
from lrwr.core.bible.values import Bible
from lrwr.core.evidence.kinds import PostGap
from lrwr.core.evidence.sources import EvidenceSource, build_page_source
from lrwr.core.model.errors import ServiceUnavailable
from lrwr.core.model.text import STOP_WORDS
from lrwr.core.ports.sources import WebSearch
from lrwr.core.web.search import build_topic_query

MAX_QUERIES = 5
MAX_BOOK_RUN = 5
"""Words in a row of the book that no query has."""

PAGES_PER_QUERY = 4


class BookWords:
    """The words of the manuscript and the notes, to recognize runs of them."""

    def __init__(self, texts: Iterable[str]) -> None:
        words = [list_plain_words(text) for text in texts]
        content = [[w for w in row if w not in STOP_WORDS] for row in words]
        self._texts = tuple(_join(row) for row in (*words, *content))

    def repeats(self, text: str) -> bool:
        """Return whether `MAX_BOOK_RUN` words of `text` stand in a row in the book.

        Function words are counted, or left out on both sides.
        """
        words = list_plain_words(text)
        content = [word for word in words if word not in STOP_WORDS]
        return any(
            _join(row[at : at + MAX_BOOK_RUN]) in stored
            for row in (words, content)
            for at in range(len(row) - MAX_BOOK_RUN + 1)
            for stored in self._texts
        )


def _join(words: Sequence[str]) -> str:
    return f" {' '.join(words)} "


def build_queries(
    topics: Iterable[str], bible: Bible, book: BookWords
) -> tuple[str, ...]:
    """Return the queries that may be sent for `topics`, each once.

    `bible` should be that of the whole story, so that names from later chapters are
    not sent either.
    """
    queries: dict[str, str] = {}
    for topic in topics:
        query = build_topic_query(topic, bible)
        if query and not book.repeats(query):
            queries.setdefault(query.casefold(), query)
    return tuple(queries.values())[:MAX_QUERIES]


def list_topics(gaps: Iterable[PostGap]) -> list[str]:
    """Return the topics of those gaps that a page may fill."""
    return [gap.topic for gap in gaps if gap.topic and gap.kind.is_searchable]


@dataclass(frozen=True, slots=True)
class WebResults:
    """Pages found, best first, and sentences about queries that failed."""

    pages: tuple[EvidenceSource, ...] = ()
    remarks: tuple[str, ...] = ()


async def search_pages(
    queries: Sequence[str], web: WebSearch, notify: Callable[[str], None]
) -> WebResults:
    """Search the web for all `queries` at once.

    `notify` receives each query in a sentence before it is sent. A query that fails
    yields a remark, never an exception.
    """
    for query in queries:
        notify(f"Searching the web for “{query}”")
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(_search(query, web)) for query in queries]
    results = [task.result() for task in tasks]
    pages = [page for result in results for page in result.pages]
    remarks = dict.fromkeys(r for result in results for r in result.remarks)
    return WebResults(tuple(pages), tuple(remarks))


async def _search(query: str, web: WebSearch) -> WebResults:
    try:
        pages = await web.search(query, PAGES_PER_QUERY)
    except ServiceUnavailable as error:
        return WebResults(remarks=(f"Web search failed. {error.full_text}",))
    sources = tuple(build_page_source(page) for page in pages if page.text)
    none = () if sources else (f"Web search found nothing for “{query}”.",)
    return WebResults(sources, none)
