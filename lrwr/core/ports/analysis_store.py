"""What analysis needs to remember, so that nothing is done or paid for twice."""

from collections.abc import Collection, Mapping
from typing import Protocol

from lrwr.core.model.documents import DocumentId
from lrwr.core.model.usage import Usage


class AnalysisStore(Protocol):
    """Kept by content: what was worked out once is found again wherever it stands."""

    async def seams(self, document: DocumentId, space: str) -> Mapping[str, float]:
        """Return the document's distances between sentences, by their key."""
        ...

    async def replies(self, keys: Collection[str]) -> Mapping[str, str]:
        """Return those replies of language models that are kept, by key."""
        ...

    async def keep_replies(self, replies: Mapping[str, str], usage: Usage) -> None:
        """Keep replies at once: they were paid for. `usage` is that of all of them."""
        ...
