"""Look-ups: lets a language model search and read the story step by step, within the
question's horizon.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TypeAlias

from lrwr.core.bible.values import Bible
from lrwr.core.chat.context.items import estimate_material_tokens
from lrwr.core.chat.context.witness import WitnessFilter
from lrwr.core.chat.state import RetrievalResult, TurnQuestion
from lrwr.core.model.chunks import Passage
from lrwr.core.model.errors import ServiceUnavailable
from lrwr.core.model.language_model import (
    FENCE_RULE,
    MalformedReply,
    build_strict_schema,
    extract_json_object,
    flatten_reply_text,
    generate_fence_mark,
    wrap_in_fence,
)
from lrwr.core.model.text import format_seconds
from lrwr.core.model.turns import TurnEvent, TurnStageStarted
from lrwr.core.ports.models import ChatMessage, ChatModel, ReplyShape
from lrwr.core.retrieval.search_model import SearchResult
from lrwr.core.retrieval.story import ChapterReader, ChapterTitle

PassageSearcher = Callable[[TurnQuestion], Awaitable[SearchResult]]
"""Finds passages for a question, within its horizon."""

MAX_SEARCH_CHARS = 200
"""Maximum length of a model's search text in characters."""

LOOKUP_TOKEN_BUDGET = 4_000
"""Tokens of passages shown to the model in one prompt; the newest come first."""

LOOKUP_PART_TOKENS = 1_500
"""Tokens of a chapter that one step reads."""

MAX_SHOWN_CHAPTERS = 200
"""Chapter titles shown to the model; of longer stories the last ones."""

_LOOKUP_PROMPT = f"""\
You look up what answers a novelist's question about their unfinished book; somebody \
else will answer. Reply with one step as JSON:
search: passages for `words`, as the book itself would put it.
read_chapter: the `part` (1, 2, …) of the chapter with that number.
table_of_contents: the chapters so far.
enough: as soon as the passages answer it, or none will; `keep` lists the numbers of \
those that bear on the question, best first.
Leave fields that a step does not use empty or 0. Never repeat a step.
{FENCE_RULE}"""


class BoundedLookupTools:
    """What a model may look up for `question`: passages, chapter titles and chapters.

    Nothing after the horizon is returned: `bible`, `search` and `reader` must end
    there. If the question is limited to what its character witnessed, text that the
    character cannot know is not returned either.
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
        """Search the manuscript for `words` and return the passages, best first.

        Empty if nothing is found within the limits of the question.
        """
        search_result = await self._search(replace(self._question, text=words))
        return self._filter_known(search_result.passages)

    def contents(self) -> Sequence[ChapterTitle]:
        """Return the numbers and titles of the chapters up to the horizon, in story
        order.

        If the question is limited to what its character witnessed, only chapters with a
        scene in which they act or speak are returned.
        """
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
        """Return the passages of the chapter `number`, counted in story order, in text
        order.

        Empty if there is no such chapter up to the horizon.
        """
        return self._filter_known(await self._reader.chapter(number))

    def _filter_known(self, passages: Iterable[Passage]) -> Sequence[Passage]:
        return [
            passage
            for passage in passages
            if self._witness is None
            or self._witness.knows(passage.chunk.document, passage.chunk.span)
        ]


@dataclass(frozen=True, slots=True)
class ListChaptersStep:
    """A model's request to list the chapter titles."""


@dataclass(frozen=True, slots=True)
class ReadChapterStep:
    """A model's request to read one part of a chapter.

    `number` is the chapter in story order. Parts have `LOOKUP_PART_TOKENS` tokens at
    most; `part` counts from 1.
    """

    number: int
    part: int


@dataclass(frozen=True, slots=True)
class SearchStep:
    """A model's request to search the manuscript for `words`."""

    words: str


@dataclass(frozen=True, slots=True)
class FinishStep:
    """A model's request to stop.

    `keep` are the numbers of the passages that it finds relevant, from 1, best first.
    """

    keep: tuple[int, ...]


LookupStep: TypeAlias = ListChaptersStep | ReadChapterStep | SearchStep | FinishStep


@cache
def build_step_shape() -> ReplyShape:
    """Return the JSON schema of one look-up step.

    Every field must be present; fields that the step does not use are empty or 0.
    """
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
    """Return the step that a model's `reply` requests.

    The text to search for is cut to `MAX_SEARCH_CHARS`.

    Raises:
        MalformedReply: The reply does not have the requested shape or names no known
            step.
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


@dataclass(frozen=True, slots=True)
class LookupResult:
    """The passages of the first search and of the look-up steps that a model requested.

    Those that the model selected come first, in its order; then the others, in the
    order found. `sufficient` means that the model judged that those answer the question.
    `remarks` say why a step failed.
    """

    passages: tuple[Passage, ...]
    sufficient: bool = False
    remarks: tuple[str, ...] = ()


class LookupLoop:
    """Lets a language model request look-up steps until it stops, at most `steps`.

    `timeout`, in seconds, limits each reply of the model. A reply that fails, or that
    repeats a step, ends the loop.
    """

    def __init__(self, model: ChatModel, timeout: float, steps: int) -> None:
        self._model = model
        self._timeout = timeout
        self._steps = steps

    async def look_up(
        self,
        question: TurnQuestion,
        result: RetrievalResult,
        lookup_tools: BoundedLookupTools,
        emit: Callable[[TurnEvent], None],
    ) -> LookupResult:
        """Run the steps and return their passages together with those of `result`.

        `emit` receives an event before each step. If the model fails, the passages
        found so far are returned, with a remark.
        """
        lookup = _LookupState(question, first=result.ranked_chunks)
        for steps_left in range(self._steps, 0, -1):
            try:
                step = await self._request_step(lookup, steps_left)
            except (ServiceUnavailable, TimeoutError, MalformedReply) as error:
                return lookup.build_result(_explain_failure(error, self._timeout))
            if isinstance(step, FinishStep):
                lookup.keep = step.keep
                break
            if step in lookup.done:
                break  # a model that repeats a step will not find more
            await _run_step(step, lookup, lookup_tools, emit)
        return lookup.build_result()

    async def _request_step(
        self, lookup: "_LookupState", steps_left: int
    ) -> LookupStep:
        async with asyncio.timeout(self._timeout):
            reply = await self._model.fill(
                lookup.messages(steps_left), build_step_shape()
            )
        return parse_lookup_step(reply.text)


@dataclass(slots=True)
class _LookupState:
    """What the model sees: numbered passages, and the steps so far with their results."""

    question: TurnQuestion
    first: Sequence[Passage]
    passages: list[Passage] = field(init=False)
    done: dict[LookupStep, str] = field(default_factory=dict)
    shown: list[int] = field(init=False)
    contents: str = ""
    keep: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        self.passages = list(self.first)
        self.shown = list(range(len(self.first)))

    def add(self, step: LookupStep, passages: Sequence[Passage]) -> None:
        """Add the passages of a step, shown first; known passages keep their numbers."""
        places = {
            passage.chunk.id: place for place, passage in enumerate(self.passages)
        }
        new_places = []
        for passage in passages:
            place = places.setdefault(passage.chunk.id, len(self.passages))
            if place == len(self.passages):
                self.passages.append(passage)
            new_places.append(place)
        self.shown = [
            *new_places,
            *(place for place in self.shown if place not in new_places),
        ]
        numbers = ", ".join(str(place + 1) for place in new_places)
        self.done[step] = f"{_format_step(step)}: {numbers or 'nothing'}"

    def messages(self, steps_left: int) -> list[ChatMessage]:
        """Return the prompt for the next step; all text of the story is fenced."""
        blocks = {
            "question": self.question.text,
            "steps so far": "\n".join(self.done.values()),
            "table of contents": self.contents,
            "passages": "\n\n".join(self._iter_shown_passages()),
        }
        mark = generate_fence_mark(*blocks.values())
        prompt_parts = [
            wrap_in_fence(label, text, mark) for label, text in blocks.items() if text
        ]
        prompt_parts.append(f"Steps left: {steps_left}.")
        return [
            ChatMessage("system", _LOOKUP_PROMPT),
            ChatMessage("user", "\n".join(prompt_parts)),
        ]

    def build_result(self, remark: str = "") -> LookupResult:
        """Return the passages: those the model selected, in its order, then the others."""
        kept_places = [n - 1 for n in self.keep if 1 <= n <= len(self.passages)]
        order = dict.fromkeys((*kept_places, *range(len(self.passages))))
        return LookupResult(
            passages=tuple(self.passages[place] for place in order),
            sufficient=bool(kept_places),
            remarks=(remark,) if remark else (),
        )

    def _iter_shown_passages(self) -> Iterator[str]:
        remaining_tokens = LOOKUP_TOKEN_BUDGET
        for place in self.shown:
            passage = self.passages[place]
            remaining_tokens -= estimate_material_tokens(passage.chunk.text)
            if remaining_tokens < 0:
                return
            where = "a note" if passage.chapter is None else f"ch. {passage.chapter}"
            yield f"{place + 1} ({where}): {passage.chunk.text}"


async def _run_step(
    step: LookupStep,
    lookup: _LookupState,
    lookup_tools: BoundedLookupTools,
    emit: Callable[[TurnEvent], None],
) -> None:
    """Run one step and emit an event about it."""
    match step:
        case SearchStep(words):
            emit(TurnStageStarted("search", f"Searching the manuscript for “{words}”"))
            lookup.add(step, await lookup_tools.search(words))
        case ReadChapterStep(number, part):
            emit(
                TurnStageStarted(
                    "read", f"Reading chapter {number}{_format_part(part)}"
                )
            )
            lookup.add(step, _select_part(await lookup_tools.chapter(number), part))
        case ListChaptersStep():
            emit(TurnStageStarted("contents", "Reading the table of contents"))
            lines = [
                f"{chapter_title.number}. {chapter_title.title}".strip()
                for chapter_title in lookup_tools.contents()
            ]
            lookup.contents = "\n".join(lines[-MAX_SHOWN_CHAPTERS:])
            lookup.done[step] = _format_step(step)
        case FinishStep():
            raise TypeError("stopping is nothing to do")


def _select_part(passages: Sequence[Passage], part: int) -> Sequence[Passage]:
    """Return the passages of one part of a chapter; empty after its last part."""
    parts: list[list[Passage]] = [[]]
    size = 0
    for passage in passages:
        size += estimate_material_tokens(passage.chunk.text)
        if size > LOOKUP_PART_TOKENS and parts[-1]:
            parts.append([])
            size = estimate_material_tokens(passage.chunk.text)
        parts[-1].append(passage)
    return parts[part - 1] if part <= len(parts) else ()


def _format_step(step: LookupStep) -> str:
    match step:
        case SearchStep(words):
            return f"search “{words}”"
        case ReadChapterStep(number, part):
            return f"read_chapter {number}{_format_part(part)}"
        case ListChaptersStep() | FinishStep():
            return "table_of_contents"


def _format_part(part: int) -> str:
    return f", part {part}" if part > 1 else ""


def _explain_failure(error: Exception, timeout: float) -> str:
    if isinstance(error, TimeoutError):
        why = (
            f"the model took more than {format_seconds(timeout)} (`model.plan_timeout`)"
        )
    elif isinstance(error, MalformedReply):
        why = "the model's reply was not in the requested format"
    else:
        why = str(error).rstrip(".")
    return f"The search for more passages stopped: {why}."
