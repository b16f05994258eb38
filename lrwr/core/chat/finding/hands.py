"""What a step of looking things up can reach: what the question's asker may know."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace

from lrwr.core.bible.values import Bible
from lrwr.core.chat.finding.witness import Witness
from lrwr.core.chat.state import Question
from lrwr.core.model.search import Passage
from lrwr.core.retrieval.reading import ChapterReader, ChapterTitle
from lrwr.core.retrieval.search import SearchResult

Searching = Callable[[Question], Awaitable[SearchResult]]
"""Finds passages for a question, within its horizon."""


class BoundedHands:
    """Searches and reads within the horizon, and within what a character witnessed.

    `bible` is what is known at the horizon; `search` and `reader` keep to it.
    """

    def __init__(
        self,
        question: Question,
        bible: Bible,
        search: Searching,
        reader: ChapterReader,
    ) -> None:
        self._question = question
        self._bible = bible
        self._search = search
        self._reader = reader
        self._witness: Witness | None = None
        if question.witnessed and question.character:
            self._witness = Witness(question.character, bible)

    async def search(self, words: str) -> Sequence[Passage]:
        """Return passages for `words`, best first."""
        found = await self._search(replace(self._question, text=words))
        return self._known(found.passages)

    def contents(self) -> Sequence[ChapterTitle]:
        """Return the chapters so far, in order; of a witness those they are in."""
        titles = self._reader.contents()
        if self._witness is None:
            return titles
        present = {
            scene.chapter
            for scene in self._bible.scenes
            if self._question.character in scene.present
        }
        return [title for title in titles if title.number in present]

    async def chapter(self, number: int) -> Sequence[Passage]:
        """Return a chapter's passages in order; none where there is no such chapter."""
        return self._known(await self._reader.chapter(number))

    def _known(self, passages: Iterable[Passage]) -> Sequence[Passage]:
        return [
            one
            for one in passages
            if self._witness is None
            or self._witness.knows(one.chunk.document, one.chunk.span)
        ]
