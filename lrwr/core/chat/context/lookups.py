"""Look-ups: what a language model may ask for instead of an answer, within the question's
horizon.
"""

import asyncio
import re
from collections.abc import (
    Awaitable,
    Callable,
    Collection,
    Iterable,
    Iterator,
    Sequence,
)
from dataclasses import dataclass, replace

from lrwr.core.attribution.quotations import occurs_in
from lrwr.core.bible.values import Bible
from lrwr.core.chat.context.witness import WitnessFilter
from lrwr.core.chat.extractive.question_parts import remove_chapter_references
from lrwr.core.chat.state import RetrievalResult, TurnQuestion
from lrwr.core.model.chunks import ChunkId, Passage
from lrwr.core.model.facts import RULES_KEEPER
from lrwr.core.model.language_model import flatten_reply_text
from lrwr.core.model.text import extract_content_words
from lrwr.core.model.turns import (
    AnswerSource,
    Citation,
    QuestionPlan,
    TurnEvent,
    TurnStageStarted,
)
from lrwr.core.retrieval.search_model import SearchResult
from lrwr.core.retrieval.story import ChapterReader, ChapterTitle

PassageSearcher = Callable[[TurnQuestion], Awaitable[SearchResult]]
"""Finds passages for a question, within its horizon."""

MAX_SEARCH_CHARS = 200
"""Maximum length of a model's search text in characters."""

MAX_LOOKUPS_AT_ONCE = 3
"""Searches and chapters in one request."""

MAX_CHAPTER_PASSAGES = 60
"""Passages of the chapters that a question names, at most."""

MAX_REQUEST_CHARS = 1_000
"""Characters of a reply after which no further request is read."""

_KEYWORDS = ("search", "read", "keep")
_LINE = re.compile(
    r"[\s>*`-]*(?P<keyword>search|read|keep)[*`]*\s*:[*`]*\s*(?P<rest>.*)",
    re.IGNORECASE,
)
_LEADING_MARKS = " \t\r\n>*`-"


@dataclass(frozen=True, slots=True)
class LookupRequest:
    """What a model asks to look up instead of answering.

    `searches` are texts to search for, `chapters` numbers of chapters in story order.
    `keep` are the numbers of citations of the prompt that the model found relevant; if
    there are any, the other passages may be dropped.
    """

    searches: tuple[str, ...] = ()
    chapters: tuple[int, ...] = ()
    keep: tuple[int, ...] = ()


def may_become_request(beginning: str) -> bool:
    """Return whether a reply with this `beginning` is, or may become, a request."""
    head = beginning.lstrip(_LEADING_MARKS).lower()
    if _LINE.match(beginning):
        return True
    word = head.rstrip("*` :")
    return any(keyword.startswith(word) for keyword in _KEYWORDS) and len(head) < len(
        "search** :"
    )


def split_possible_request(text: str, *, begins_line: bool) -> tuple[str, str]:
    """Split the end of a reply so far into what is no request, and the rest, which
    begins with a line that is or may become one.

    `begins_line` says that `text` begins a line.
    """
    start = 0 if begins_line else text.find("\n") + 1
    while begins_line or start:
        if may_become_request(text[start:]):
            return text[:start], text[start:]
        start = text.find("\n", start) + 1
        begins_line = False
    return text, ""


def parse_lookup_request(reply: str) -> LookupRequest | None:
    """Return the request at the beginning of `reply`; None if it is none.

    A request is one or several lines such as `search: the lamp went out`, `read: 3` and
    `keep: 1, 4`, also in a code block; several searches in a line are separated by `|`.
    Later lines are ignored, and so are look-ups beyond `MAX_LOOKUPS_AT_ONCE`.
    """
    searches: list[str] = []
    chapters: list[int] = []
    kept_numbers: list[int] = []
    for line in reply.strip().splitlines():
        match = _LINE.match(line)
        if match is None:
            if line.strip(_LEADING_MARKS):
                break
            continue
        match match["keyword"].lower():
            case "search":
                searches += _iter_searches(match["rest"])
            case "read":
                chapters += _iter_numbers(match["rest"])
            case _:
                kept_numbers += _iter_numbers(match["rest"])
    searches = list(dict.fromkeys(searches))[:MAX_LOOKUPS_AT_ONCE]
    chapters = list(dict.fromkeys(chapters))[: MAX_LOOKUPS_AT_ONCE - len(searches)]
    if not searches and not chapters:
        return None
    return LookupRequest(
        tuple(searches), tuple(chapters), tuple(dict.fromkeys(kept_numbers))
    )


def _iter_searches(text: str) -> Iterator[str]:
    for part in text.split("|"):
        words = flatten_reply_text(part).strip(" \"'“”‘’`*")
        if words:
            yield words[:MAX_SEARCH_CHARS]


def _iter_numbers(text: str) -> Iterator[int]:
    yield from (int(number) for number in re.findall(r"(?<!\d)\d{1,5}(?!\d)", text))


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
        return (await self.find(words)).passages

    async def find(self, words: str) -> SearchResult:
        """Search the manuscript for `words` and return the whole result, as `search`."""
        search_result = await self._search(replace(self._question, text=words))
        passages = tuple(self._filter_known(search_result.passages))
        return replace(search_result, passages=passages)

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


async def look_up(
    request: LookupRequest,
    kept_citations: Sequence[Citation],
    result: RetrievalResult,
    lookup_tools: BoundedLookupTools,
    emit: Callable[[TurnEvent], None],
) -> RetrievalResult:
    """Return `result` with what `request` asks for; `emit` receives an event before each
    look-up.

    The passages that contain the `kept_citations` come first, whole; then the new
    chapters and passages. Other passages are dropped if anything was kept, also if a
    search finds them again, else they follow. Keeping something means that the model judged the passages, so that the
    confidence of the search no longer applies and becomes None. If it keeps a note, the
    share of notes is not limited any more.

    Raises:
        StoreProblem: The library cannot be read.
    """
    chapters: list[tuple[int, Sequence[Passage]]] = []
    for number in request.chapters:
        emit(TurnStageStarted("read", f"Reading chapter {number}"))
        chapters.append((number, await lookup_tools.chapter(number)))
    searches: list[tuple[str, Sequence[Passage]]] = []
    for words in request.searches:
        emit(TurnStageStarted("search", f"Searching the manuscript for “{words}”"))
        searches.append((words, await lookup_tools.search(words)))
    first = [
        passage
        for passage in result.ranked_chunks
        if any(_contains(passage, citation) for citation in kept_citations)
    ]
    shown_ids = {passage.chunk.id for passage in result.ranked_chunks}
    rest = () if first else result.ranked_chunks
    found = [passage for _, passages in searches for passage in passages]
    if first:
        found = [passage for passage in found if passage.chunk.id not in shown_ids]
    return replace(
        result,
        ranked_chunks=merge_passages(first, *(p for _, p in chapters), found, rest),
        low_confidence=None if first else result.low_confidence,
        max_note_share=(
            1.0 if any(p.chapter is None for p in first) else result.max_note_share
        ),
        lookups=(
            *result.lookups,
            *(
                f"chapter {number}: {'read' if passages else 'there is none'}"
                for number, passages in chapters
            ),
            *(_describe_search(*search, shown_ids) for search in searches),
        ),
        whole_chapters=add_whole_chapters(result.whole_chapters, chapters),
    )


def add_whole_chapters(
    known: Sequence[tuple[int, int]],
    chapters: Iterable[tuple[int, Sequence[Passage]]],
) -> tuple[tuple[int, int], ...]:
    """Return the numbers of chapters with their number of passages, for `known` and the
    passages of `chapters`, each once.
    """
    sizes = {number: len(passages) for number, passages in chapters if passages}
    return tuple({**dict(known), **sizes}.items())


def merge_passages(*groups: Iterable[Passage]) -> tuple[Passage, ...]:
    """Return the passages of all groups, in order, each once."""
    by_id: dict[ChunkId, Passage] = {}
    for group in groups:
        for passage in group:
            by_id.setdefault(passage.chunk.id, passage)
    return tuple(by_id.values())


async def add_chapter_passages(
    question: TurnQuestion,
    plan: QuestionPlan,
    result: RetrievalResult,
    tools: BoundedLookupTools,
) -> RetrievalResult:
    """Return `result` with passages of the chapters that the plan names, if the search
    found none of them that names the people in question and no scene tells who is there.

    A search of the whole story may miss a chapter. Passages that name most of these
    people come first, then those found, then those that share most words with the
    question. If it has neither people nor words, they are in text order.
    """
    is_answered = any(scene.present for scene in result.scenes)
    if is_answered or AnswerSource.MANUSCRIPT not in plan.sources:
        return result
    text = plan.question or question.text
    people = _list_people_patterns(question, text)
    words = set(extract_content_words(remove_chapter_references(text)))
    chapter_passages = [p for p in result.ranked_chunks if p.chapter in plan.chapters]
    if any(_count_named(p, people) or not people for p in chapter_passages) and words:
        return result
    read = [p for number in plan.chapters for p in await tools.chapter(number)]
    if not read:
        return result

    def shared(passage: Passage) -> int:
        return len(words.intersection(extract_content_words(passage.chunk.text)))

    read.sort(key=lambda passage: -shared(passage))
    passages = sorted(
        merge_passages(chapter_passages if words else (), read),
        key=lambda passage: -_count_named(passage, people),
    )
    return replace(result, ranked_chunks=tuple(passages[:MAX_CHAPTER_PASSAGES]))


def _list_people_patterns(question: TurnQuestion, text: str) -> list[re.Pattern[str]]:
    """Return a pattern of all names of each character whom `text` names."""
    patterns = (
        re.compile(rf"\b(?:{'|'.join(map(re.escape, forms))})\b")
        for forms in question.cast
    )
    return [pattern for pattern in patterns if pattern.search(text)]


def _count_named(passage: Passage, people: Iterable[re.Pattern[str]]) -> int:
    return sum(pattern.search(passage.chunk.text) is not None for pattern in people)


def merge_by_best_rank(*rankings: Sequence[Passage]) -> tuple[Passage, ...]:
    """Return the passages of all rankings, each once, by their best rank in any of
    them; equal ranks in the order of the rankings.
    """
    ranked = sorted(
        (rank, place)
        for place, ranking in enumerate(rankings)
        for rank in range(len(ranking))
    )
    return merge_passages(rankings[place][rank] for rank, place in ranked)


async def add_planned_searches(
    plan: QuestionPlan,
    search_result: SearchResult,
    tools: BoundedLookupTools,
    emit: Callable[[TurnEvent], None],
) -> SearchResult:
    """Search for the rewritten question and the searches of `plan`, and return
    `search_result`, that of the user's words, with their passages by best rank.

    Unknown words are those of the rewritten question, if there is one, and so is the
    confidence, unless one of the planned searches is sure of what it found. Rules rewrite a question before its first search, so theirs is not searched again.
    """
    rewritten = "" if plan.planner == RULES_KEEPER else plan.question
    searches = tuple(filter(None, dict.fromkeys((rewritten, *plan.searches))))
    if not searches:
        return search_result
    for words in searches:
        emit(TurnStageStarted("search", f"Searching the manuscript for “{words}”"))
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(tools.find(words)) for words in searches]
    results = [task.result() for task in tasks]
    rankings = (result.passages for result in results)
    passages = merge_by_best_rank(search_result.passages, *rankings)
    main_result = results[0] if rewritten else search_result
    is_sure = any(result.low_confidence is False for result in results)
    return replace(
        main_result,
        passages=passages,
        low_confidence=False if is_sure else main_result.low_confidence,
    )


def _describe_search(
    words: str, passages: Sequence[Passage], shown_ids: Collection[ChunkId]
) -> str:
    """Return what a search found, so that a model does not take a search for a proof."""
    if not passages:
        return f"“{words}”: nothing found"
    if occurs_in(words, [passage.chunk.text for passage in passages]):
        return f"“{words}”: found word for word"
    new_count = sum(passage.chunk.id not in shown_ids for passage in passages)
    other = f"{new_count} passages that are new" if new_count else "nothing new"
    return f"“{words}”: not found word for word; {other}"


def _contains(passage: Passage, citation: Citation) -> bool:
    chunk = passage.chunk
    return chunk.document == citation.document and chunk.span.holds(citation.span)
