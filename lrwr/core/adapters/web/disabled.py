"""The web where the writer has not allowed it."""

from lrwr.core.model.errors import LrwrError, ServiceUnavailable
from lrwr.core.ports.web_search import WebPage


class UnavailableWebSearch:
    """Asks nobody; `why` is what whoever searches is told."""

    def __init__(self, why: LrwrError) -> None:
        self._why = why

    async def search(self, query: str, limit: int) -> list[WebPage]:
        """Refuse."""
        del query, limit
        raise ServiceUnavailable(str(self._why), hint=self._why.hint)
