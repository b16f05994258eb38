"""The steps of a turn as functions of the results of earlier steps."""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from lrwr.core.bible.name_lookup import match_entity
from lrwr.core.bible.values import Bible
from lrwr.core.chat.context.builder import (
    BiblePartReader,
    complete_moments,
    gather_context,
)
from lrwr.core.chat.context.gap_finder import GapFinderResult, may_reveal_gap
from lrwr.core.chat.context.lookups import (
    BoundedLookupTools,
    LookupRequest,
    add_chapter_passages,
    add_planned_searches,
    add_whole_chapters,
    merge_passages,
)
from lrwr.core.chat.context.outline import read_outline
from lrwr.core.chat.planning.rules import select_bible_parts
from lrwr.core.chat.state import (
    RetrievalResult,
    StoryOutline,
    TurnQuestion,
    select_web_pages,
)
from lrwr.core.model.turns import (
    AnswerSource,
    Citation,
    GapFlag,
    NarrativeState,
    QuestionPlan,
    ResolvedEntity,
    SupervisorOutput,
    TurnEvent,
    TurnStageStarted,
)
from lrwr.core.retrieval.search_model import SearchResult
from lrwr.core.retrieval.story import StoryOrder
from lrwr.core.web.citations import find_web_citations
from lrwr.core.web.search import WebLookup

if TYPE_CHECKING:
    from lrwr.core.attribution.claims import CitationFinding

TurnEventEmitter = Callable[[TurnEvent], None]
"""Receives the events of a turn as they happen."""

LookupToolFactory = Callable[[TurnQuestion, Bible], BoundedLookupTools]
"""Returns what may be looked up for a question."""

WebLookupRunner = Callable[
    [TurnQuestion, QuestionPlan, TurnEventEmitter], Coroutine[None, None, WebLookup]
]
"""Searches the web for a question, after emitting what will be sent."""

GapFinderRunner = Callable[
    [TurnQuestion, QuestionPlan, RetrievalResult, Bible, str],
    Coroutine[None, None, GapFinderResult],
]
"""Finds what a question and the text of its answer show to be undefined."""


@dataclass(frozen=True, slots=True)
class TurnBibleReader:
    """Reads parts of the story bible up to the horizon of a turn, with `read`. `order`
    is the story order.
    """

    read: BiblePartReader
    order: StoryOrder


MAX_ENTITIES_IN_PLAY = 8
"""Entities that a thread remembers, the most recently named first."""


@dataclass(frozen=True, slots=True)
class AvatarAnswer:
    """An avatar's answer to a question.

    `citations` are those that `text` uses, by number. `findings` are the parts of `text`
    that no citation supports. `gaps` are undefined things that the question asks
    for, `remarks` sentences about failures. `model` is the language model that wrote
    it, empty if it consists of quotations. `is_cut` says that the model broke off.
    `is_silent` says that it begins by saying that the text does not tell. With a
    `request`, the model asks for look-ups instead of answering: `text` is empty, and
    `citations` are those to keep.
    """

    text: str
    citations: tuple[Citation, ...] = ()
    gaps: tuple[GapFlag, ...] = ()
    findings: "tuple[CitationFinding, ...]" = ()
    remarks: tuple[str, ...] = ()
    model: str = ""
    is_cut: bool = False
    is_silent: bool = False
    request: LookupRequest | None = None


class Avatar(Protocol):
    """Writes the answer of a turn, with a language model or from quotations."""

    @property
    def model(self) -> str:
        """The name of the language model that answers; empty if answers are quotations."""
        ...

    async def answer(
        self,
        question: TurnQuestion,
        plan: QuestionPlan,
        result: RetrievalResult,
        emit: TurnEventEmitter,
        lookups: int = 0,
    ) -> AvatarAnswer:
        """Return an answer made only from `result`, and emit each piece when it is
        ready.

        A language model may return a request for at most `lookups` look-ups instead.

        Raises:
            StoreProblem: The library cannot be read.
        """
        ...


@dataclass(frozen=True, slots=True)
class TurnDependencies:
    """The functions and objects that the steps of a turn use.

    `plan` makes the plan; `search` finds passages within the question's horizon.
    `read_parts` reads the parts of the story bible that the question and its plan need;
    None if the bible that the turn begins with is complete.
    `notes` are the titles of the manuscript's notes. `lookup_tools` reads chapters and
    searches further, `search_web` searches the web, `find_gaps` finds undefined
    attributes; each is None if it is off. A model may request `max_lookups` look-ups.
    `has_outline` says that the prompt of a model opens with an outline.
    """

    plan: Callable[[TurnQuestion, Bible], Coroutine[None, None, QuestionPlan]]
    search: Callable[[TurnQuestion], Coroutine[None, None, SearchResult]]
    avatar: Avatar
    read_parts: TurnBibleReader | None = None
    notes: tuple[str, ...] = ()
    lookup_tools: LookupToolFactory | None = None
    max_lookups: int = 0
    has_outline: bool = False
    search_web: WebLookupRunner | None = None
    find_gaps: GapFinderRunner | None = None


async def plan_and_search(
    question: TurnQuestion,
    bible: Bible,
    dependencies: TurnDependencies,
    emit: TurnEventEmitter,
) -> tuple[QuestionPlan, SearchResult]:
    """Make the plan and search passages for `question` at the same time; return both.

    The searches that the plan asks for follow and join the passages by best rank.
    `emit` receives the events of all.
    """
    emit(TurnStageStarted("plan", "Reading the question"))
    emit(TurnStageStarted("search", "Searching the manuscript"))
    async with asyncio.TaskGroup() as group:
        planned = group.create_task(dependencies.plan(question, bible))
        task = group.create_task(dependencies.search(question))
    plan, result = planned.result(), task.result()
    if dependencies.lookup_tools is not None and plan.searches:
        # What a witness cannot know is removed with the scenes, which are not read yet.
        tools = dependencies.lookup_tools(replace(question, witnessed=False), bible)
        result = await add_planned_searches(plan, result, tools, emit)
    return plan, result


async def read_turn_bible(
    question: TurnQuestion,
    plan: QuestionPlan,
    names: Bible,
    search_result: SearchResult,
    dependencies: TurnDependencies,
) -> Bible:
    """Return what the story bible says about the subjects of the question.

    `names` are the names of the bible; it is returned if it is the whole bible.
    """
    reader = dependencies.read_parts
    if reader is None:
        return names
    return await reader.read(
        select_bible_parts(question, plan, names, search_result, reader.order)
    )


async def gather_turn_context(
    question: TurnQuestion,
    plan: QuestionPlan,
    resolved_entities: Sequence[ResolvedEntity],
    bible: Bible,
    search_result: SearchResult,
    dependencies: TurnDependencies,
) -> RetrievalResult:
    """Return the story data and passages for `question`; see `gather_context`.

    The chapters that the plan asks for come first, whole, if a language model answers;
    else passages of them replace those of other chapters.
    """
    result = gather_context(question, plan, resolved_entities, bible, search_result)
    reader = dependencies.read_parts
    if reader is not None:
        result = await complete_moments(result, reader.read)
    if dependencies.lookup_tools is None or not plan.chapters:
        return result
    tools = dependencies.lookup_tools(question, bible)
    if not dependencies.has_outline:
        return await add_chapter_passages(question, plan, result, tools)
    chapters = [(number, await tools.chapter(number)) for number in plan.chapters]
    passages = merge_passages(*(p for _, p in chapters), result.ranked_chunks)
    sizes = add_whole_chapters(result.whole_chapters, chapters)
    return replace(result, ranked_chunks=passages, whole_chapters=sizes)


async def read_story_outline(
    question: TurnQuestion, names: Bible, dependencies: TurnDependencies
) -> StoryOutline:
    """Return the outline and cast for the prompt; empty without a language model."""
    reader, make_tools = dependencies.read_parts, dependencies.lookup_tools
    if not dependencies.has_outline or reader is None or make_tools is None:
        return StoryOutline()
    # The scenes that limit a witness are read with the outline, so the titles are not
    # limited yet.
    titles = make_tools(replace(question, witnessed=False), names).contents()
    return await read_outline(question, names, titles, reader.read)


async def add_web_pages(
    question: TurnQuestion,
    plan: QuestionPlan,
    result: RetrievalResult,
    dependencies: TurnDependencies,
    emit: TurnEventEmitter,
) -> RetrievalResult:
    """Search the web and return `result` with the pages, the query and any remarks.

    Unchanged if web search is off or the plan does not select the web.
    """
    if dependencies.search_web is None or AnswerSource.WEB not in plan.sources:
        return result
    web_lookup = await dependencies.search_web(question, plan, emit)
    return replace(
        result,
        pages=web_lookup.pages,
        web_query=web_lookup.query,
        remarks=(*result.remarks, *web_lookup.remarks),
    )


async def find_turn_gaps(
    question: TurnQuestion,
    plan: QuestionPlan,
    result: RetrievalResult,
    bible: Bible,
    answer: AvatarAnswer,
    dependencies: TurnDependencies,
) -> GapFinderResult:
    """Return what the question needs and the text leaves undefined.

    Empty without asking a model if that step is off, if the model did not answer, or if
    neither the answer nor the question speaks of something undefined.
    """
    is_silent = answer.is_silent or bool(answer.gaps)
    has_model = bool(answer.model) and not answer.is_cut
    find_gaps = dependencies.find_gaps if has_model else None
    if find_gaps is None or not may_reveal_gap(plan, result, is_silent=is_silent):
        return GapFinderResult()
    return await find_gaps(question, plan, result, bible, answer.text)


def assemble_output(
    question: TurnQuestion,
    plan: QuestionPlan,
    resolved_entities: Sequence[ResolvedEntity],
    bible: Bible,
    result: RetrievalResult,
    gaps: GapFinderResult,
    answer: AvatarAnswer,
) -> SupervisorOutput:
    """Combine the results of all steps of a turn into its output.

    Duplicate gaps and remarks are dropped, and the gaps of the answer if the model that
    looks for gaps named some: these are the same in better words. The confidence of the search is None if the
    answer cites only story data, not passages.
    """
    places = [
        place.name
        for resolved_entity in resolved_entities
        for place in resolved_entity.places
    ]
    matches = (
        match_entity(r.entity.name, bible) for r in resolved_entities if r.places
    )
    people = tuple(dict.fromkeys(p.name for match in matches for p in match.people))
    element_names = (
        name for name in places if any(e.name == name for e in bible.world)
    )
    entities = dict.fromkeys((*people, *element_names, *question.state.entities))
    pages = select_web_pages(question, result)
    return SupervisorOutput(
        response_text=answer.text,
        intent=plan.intent,
        resolved_characters=people,
        citations=answer.citations,
        gap_flags=_drop_duplicate_gaps(gaps.gaps or answer.gaps),
        narrative_state_delta=_build_state_after(question, tuple(entities)),
        low_confidence=_select_low_confidence(result, answer),
        unsupported=tuple(finding.span for finding in answer.findings),
        lacking_words=tuple(finding.words for finding in answer.findings),
        remarks=_group_by_cause((*result.remarks, *gaps.remarks), answer.remarks),
        model=answer.model,
        tavily_used=bool(result.web_query),
        web=find_web_citations(answer.text, pages) if pages else (),
        web_query=result.web_query,
        plan=plan,
        entities=tuple(resolved_entities),
    )


def _select_low_confidence(
    result: RetrievalResult, answer: AvatarAnswer
) -> bool | None:
    """Return the search's `low_confidence` if the answer cites its passages or nothing;
    else None, and if a model that answers with citations judged them sufficient.
    """
    if answer.model and answer.citations and not answer.is_silent:
        return None
    chunks = [passage.chunk for passage in result.ranked_chunks]
    rests_on_search = not answer.citations or any(
        citation.document == chunk.document
        and chunk.span.start <= citation.span.start
        and citation.span.end <= chunk.span.end
        for citation in answer.citations
        for chunk in chunks
    )
    return result.low_confidence if rests_on_search else None


def _group_by_cause(
    step_remarks: Sequence[str], answer_remarks: Sequence[str]
) -> tuple[str, ...]:
    """Return all remarks without duplicates; those with the same cause become one.

    A remark on a failed step is a consequence, a colon and the cause. It is dropped if
    a remark on the answer names its cause.
    """
    grouped: dict[str, str] = {}
    for remark in dict.fromkeys(step_remarks):
        consequence, colon, cause = remark.partition(": ")
        if cause and any(cause.rstrip(".") in other for other in answer_remarks):
            continue
        if colon and cause in grouped:
            first = grouped[cause].removesuffix(f": {cause}")
            remark = f"{first}; {consequence[:1].lower()}{consequence[1:]}: {cause}"
        grouped[cause or remark] = remark
    return tuple(dict.fromkeys((*grouped.values(), *answer_remarks)))


def _drop_duplicate_gaps(gaps: Iterable[GapFlag]) -> tuple[GapFlag, ...]:
    gaps_by_key: dict[tuple[str, str], GapFlag] = {}
    for gap in gaps:
        gaps_by_key.setdefault((gap.about, gap.undefined_attribute.casefold()), gap)
    return tuple(gaps_by_key.values())


def _build_state_after(
    question: TurnQuestion, entities: Sequence[str]
) -> NarrativeState:
    return replace(
        question.state,
        character=question.character,
        mode=question.mode,
        witnessed=question.witnessed,
        entities=tuple(entities[:MAX_ENTITIES_IN_PLAY]),
    )
