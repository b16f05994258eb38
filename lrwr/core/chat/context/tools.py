"""What a step of looking things up can reach: what the question's asker may know."""

import json
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TypeAlias

from lrwr.core.bible.values import Bible
from lrwr.core.chat.context.witness import WitnessFilter
from lrwr.core.chat.state import TurnQuestion
from lrwr.core.model.chunks import Passage
from lrwr.core.model.language_model import (
    MalformedReply,
    build_strict_schema,
    extract_json_object,
    flatten_reply_text,
)
from lrwr.core.ports.models import ReplyShape
from lrwr.core.retrieval.chapters import ChapterReader, ChapterTitle
from lrwr.core.retrieval.service import SearchResult

PassageSearcher = Callable[[TurnQuestion], Awaitable[SearchResult]]
"""Finds passages for a question, within its horizon."""


class BoundedLookupTools:
    """Searches and reads within the horizon, and within what a character witnessed.

    `bible` is what is known at the horizon; `search` and `reader` keep to it.
    """

    def __init__(
        self,
        question: TurnQuestion,
        bible: Bible,
        search: PassageSearcher,
        reader: ChapterReader,
    ) -> None:
        self._question = question
        self._bible = bible
        self._search = search
        self._reader = reader
        self._witness: WitnessFilter | None = None
        if question.witnessed and question.character:
            self._witness = WitnessFilter(question.character, bible)

    async def search(self, words: str) -> Sequence[Passage]:
        """Return passages for `words`, best first."""
        search_result = await self._search(replace(self._question, text=words))
        return self._known(search_result.passages)

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
            passage
            for passage in passages
            if self._witness is None
            or self._witness.knows(passage.chunk.document, passage.chunk.span)
        ]


MAX_SEARCH_CHARS = 200
"""Characters of what is searched for."""


@dataclass(frozen=True, slots=True)
class ListChaptersStep:
    """Look at the chapters' titles."""


@dataclass(frozen=True, slots=True)
class ReadChapterStep:
    """Read a chapter by its number in story order; `part` counts from 1."""

    number: int
    part: int


@dataclass(frozen=True, slots=True)
class SearchStep:
    """Search the manuscript for `words`."""

    words: str


@dataclass(frozen=True, slots=True)
class FinishStep:
    """Stop; `keep` are the numbers of the passages that bear on the question."""

    keep: tuple[int, ...]


LookupStep: TypeAlias = ListChaptersStep | ReadChapterStep | SearchStep | FinishStep


@cache
def build_step_shape() -> ReplyShape:
    """Return the shape of a reply: one step, with every field, unused ones empty."""
    number = {"type": "integer"}
    fields = {
        "tool": {
            "type": "string",
            "enum": ["search", "read_chapter", "table_of_contents", "enough"],
        },
        "words": {"type": "string"},
        "chapter": number,
        "part": number,
        "keep": {"type": "array", "items": number},
    }
    return ReplyShape(
        "Step", json.dumps(build_strict_schema(fields), separators=(",", ":"))
    )


def parse_lookup_step(reply: str) -> LookupStep:
    """Return the step that a reply asks for.

    Raises:
        MalformedReply: The reply does not keep to its shape, or asks for nothing known.
    """
    match extract_json_object(reply):
        case {"tool": "search", "words": str(words)} if (
            search_words := flatten_reply_text(words)
        ):
            return SearchStep(search_words[:MAX_SEARCH_CHARS])
        case {"tool": "read_chapter", "chapter": int(chapter), "part": int(part)}:
            return ReadChapterStep(chapter, max(1, part))
        case {"tool": "table_of_contents"}:
            return ListChaptersStep()
        case {"tool": "enough", "keep": [*keep]} if all(map(_is_number, keep)):
            return FinishStep(tuple(dict.fromkeys(int(number) for number in keep)))
    raise MalformedReply("it is no step that there is")


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
