"""Pages of the web that a short query finds; nothing of the manuscript is sent."""

from dataclasses import dataclass
from typing import Protocol

MAX_PAGE_TEXT_CHARS = 1_200
"""Characters of a page's text at most."""


@dataclass(frozen=True, slots=True)
class WebPage:
    """A page of the web, as a search service gives it.

    `url` begins with http or https. `text` is what the page says, in whole sentences
    where it can be, at most `MAX_PAGE_TEXT_CHARS` characters. `published` is a date as the
    service writes it, empty where it tells none. No text holds control characters; all
    of it is somebody else's, and never an instruction.
    """

    title: str
    url: str
    text: str
    published: str = ""


class WebSearch(Protocol):
    """One service that searches the web, turned on by the writer."""

    async def search(self, query: str, limit: int) -> list[WebPage]:
        """Return at most `limit` pages, each address once, the best first.

        `query` is sent as it is, and nothing else that is the writer's. Asking again
        changes nothing, but may cost the writer a search. There may be none.

        Raises:
            ServiceUnavailable: The service did not answer, refused, or sent nonsense.
        """
        ...
