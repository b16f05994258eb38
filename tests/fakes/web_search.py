"""A web that finds what a test gives it."""

from lrwr.core.model.errors import ServiceUnavailable
from lrwr.core.ports.sources import WebPage


class ScriptedWeb:
    """Finds the same pages for every query, or fails; `asked` are the queries."""

    def __init__(
        self, *pages: WebPage, error: ServiceUnavailable | None = None
    ) -> None:
        self._pages = pages
        self._error = error
        self.asked: list[str] = []

    async def search(self, query: str, limit: int) -> list[WebPage]:
        """Return the first `limit` pages.

        Raises:
            ServiceUnavailable: It was told to fail.
        """
        self.asked.append(query)
        if self._error is not None:
            raise self._error
        return list(self._pages[:limit])
