"""Runs the steps of a turn (one question and its answer), as a LangGraph graph if a
language model answers, and records its events and result.

The only module of chat that imports LangGraph.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from itertools import pairwise
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict, cast

from lrwr.core.bible.values import Bible
from lrwr.core.chat.context.gap_finder import GapFinder, GapFinderResult
from lrwr.core.chat.context.lookups import look_up
from lrwr.core.chat.generation.avatars import ModelAvatar
from lrwr.core.chat.nodes import (
    Avatar,
    AvatarAnswer,
    TurnDependencies,
    TurnEventEmitter,
    add_web_pages,
    assemble_output,
    find_turn_gaps,
    gather_turn_context,
    plan_and_search,
    read_story_outline,
    read_turn_bible,
)
from lrwr.core.chat.planning.rules import plan_by_rules, resolve_entities
from lrwr.core.chat.state import RetrievalResult, StoryOutline, TurnQuestion
from lrwr.core.model.language_model import Usage
from lrwr.core.model.turns import (
    STOPPED_REMARK,
    AnswerIntent,
    AnswerToken,
    Citation,
    GapFound,
    ModelCall,
    PassageCited,
    QuestionPlan,
    ResolvedEntity,
    StepRecord,
    SupervisorOutput,
    TurnEvent,
    TurnStageStarted,
    TurnState,
    WebCitation,
    WebPageCited,
)
from lrwr.core.ports.models import ChatMessage
from lrwr.core.retrieval.search_model import SearchResult

if TYPE_CHECKING:
    from langgraph.graph.state import CompiledStateGraph
    from langgraph.runtime import Runtime


class TurnGraphState(TypedDict, total=False):
    """The state that the steps of the graph read and write.

    `bible` has only names until the question is planned. `found` are the passages of
    the search, `resolved` the entities with their sources. Each key is written by one
    step, except `result`, which later steps extend.
    """

    question: TurnQuestion
    bible: Bible
    plan: QuestionPlan
    found: SearchResult
    outline: StoryOutline
    resolved: tuple[ResolvedEntity, ...]
    result: RetrievalResult
    gaps: GapFinderResult
    answer: AvatarAnswer
    output: SupervisorOutput


@dataclass(frozen=True, slots=True)
class TurnContext:
    """What every step of the graph uses in one turn; `emit` sends events to the caller.

    A `companion` answers instead of the steps.
    """

    dependencies: TurnDependencies
    emit: TurnEventEmitter
    companion: "CompanionTurn | None" = None


CompanionTurn: TypeAlias = Callable[
    [TurnQuestion, TurnEventEmitter], Awaitable[AvatarAnswer]
]
"""Answers a question with tools of its own, and emits what happens."""

TurnStep: TypeAlias = Callable[[TurnGraphState, TurnContext], Awaitable[TurnGraphState]]
"""One step of a turn: gets the state so far, returns the keys that it sets."""


@dataclass(frozen=True, slots=True)
class TurnResult:
    """The output of a complete turn, and the avatar's answer from which it was
    assembled.
    """

    output: SupervisorOutput
    answer: AvatarAnswer


async def run_turn(
    question: TurnQuestion,
    bible: Bible,
    dependencies: TurnDependencies,
    companion: CompanionTurn | None = None,
) -> AsyncGenerator[TurnEvent | TurnResult]:
    """Yield the events of a turn as they happen; the last item is its `TurnResult`.

    An error of a step is raised when the events before it have been consumed. Closing
    the generator cancels the running steps and their requests to services.
    """
    events: asyncio.Queue[TurnEvent | None] = asyncio.Queue()
    turn_context = TurnContext(dependencies, events.put_nowait, companion)
    turn = asyncio.create_task(_run_steps(question, bible, turn_context))
    turn.add_done_callback(lambda _: events.put_nowait(None))
    try:
        while (event := await events.get()) is not None:
            yield event
        yield await turn
    finally:
        turn.cancel()
        await asyncio.gather(turn, return_exceptions=True)


async def _run_steps(
    question: TurnQuestion, bible: Bible, turn_context: TurnContext
) -> TurnResult:
    """Run the steps of a turn: as a LangGraph graph if a language model answers, else
    one after the other, because importing LangGraph takes longer than such an answer.
    """
    state: TurnGraphState = {"question": question, "bible": bible}
    if turn_context.companion is not None:
        answer = await turn_context.companion(question, turn_context.emit)
        plan = await plan_without_model(question, bible)
        nothing = RetrievalResult(), GapFinderResult()
        output = assemble_output(question, plan, (), bible, *nothing, answer)
        return TurnResult(output, answer)
    if turn_context.dependencies.avatar.model:
        state = await _run_graph(state, turn_context)
    else:
        for _, step in list_turn_steps():
            state |= await step(state, turn_context)
    return TurnResult(state["output"], state["answer"])


async def _run_graph(
    initial_state: TurnGraphState, turn_context: TurnContext
) -> TurnGraphState:
    from langsmith import tracing_context

    # LangGraph sends traces if LANGSMITH_TRACING is set; they would contain the text.
    with tracing_context(enabled=False):
        final_state = await compile_turn_graph().ainvoke(
            initial_state, context=turn_context
        )
    return cast("TurnGraphState", final_state)


def list_turn_steps() -> tuple[tuple[str, TurnStep], ...]:
    """Return the steps of a turn with their names, in the order in which they run: plan
    and search, resolve names, gather story data, web search, answer, output.
    """
    return (
        ("look up", _look_up),
        ("resolve", _resolve),
        ("retrieve", _retrieve),
        ("web", _web),
        ("answer", _answer),
        ("assemble", _assemble),
    )


def compile_turn_graph() -> "CompiledStateGraph[TurnGraphState, TurnContext, Any, Any]":
    """Return the compiled graph of a turn, a chain of the steps of `list_turn_steps`.
    Takes milliseconds.
    """
    from langgraph.graph import END, START, StateGraph

    graph = StateGraph(TurnGraphState, context_schema=TurnContext)
    steps = list_turn_steps()
    for name, step in steps:
        graph.add_node(name, _bind_step(step))
    for source, target in pairwise((START, *(name for name, _ in steps), END)):
        graph.add_edge(source, target)
    return graph.compile()


def _bind_step(step: TurnStep) -> Callable[..., Awaitable[TurnGraphState]]:
    """Return `step` as a node, which gets its context from the graph's runtime."""

    async def run(
        state: TurnGraphState, runtime: "Runtime[TurnContext]"
    ) -> TurnGraphState:
        return await step(state, runtime.context)

    return run


async def _look_up(state: TurnGraphState, turn_context: TurnContext) -> TurnGraphState:
    question, names = state["question"], state["bible"]
    dependencies = turn_context.dependencies
    # The outline needs no plan: it is read while the model plans.
    outline = asyncio.create_task(read_story_outline(question, names, dependencies))
    try:
        plan, result = await plan_and_search(
            question, names, dependencies, turn_context.emit
        )
        bible = await read_turn_bible(question, plan, names, result, dependencies)
        return {
            "plan": plan,
            "found": result,
            "bible": bible,
            "outline": await outline,
        }
    finally:
        outline.cancel()


async def _resolve(state: TurnGraphState, turn_context: TurnContext) -> TurnGraphState:
    notes = turn_context.dependencies.notes
    passages = state["found"].passages
    return {
        "resolved": resolve_entities(state["plan"], state["bible"], notes, passages)
    }


async def _retrieve(state: TurnGraphState, turn_context: TurnContext) -> TurnGraphState:
    result = await gather_turn_context(
        state["question"],
        state["plan"],
        state["resolved"],
        state["bible"],
        state["found"],
        turn_context.dependencies,
    )
    return {"result": replace(result, outline=state["outline"])}


async def _web(state: TurnGraphState, turn_context: TurnContext) -> TurnGraphState:
    question, plan, result = state["question"], state["plan"], state["result"]
    result = await add_web_pages(
        question, plan, result, turn_context.dependencies, turn_context.emit
    )
    return {"result": result}


async def _answer(state: TurnGraphState, turn_context: TurnContext) -> TurnGraphState:
    """Answer, then look for gaps, of which the answer is the best sign."""
    question, plan, bible = state["question"], state["plan"], state["bible"]
    dependencies, emit = turn_context.dependencies, turn_context.emit
    result, answer = await _answer_with_lookups(
        question, plan, state["result"], bible, dependencies, emit
    )
    gaps = await find_turn_gaps(question, plan, result, bible, answer, dependencies)
    for gap in gaps.gaps:
        emit(GapFound(gap))
    return {"result": result, "answer": answer, "gaps": gaps}


async def _answer_with_lookups(
    question: TurnQuestion,
    plan: QuestionPlan,
    result: RetrievalResult,
    bible: Bible,
    dependencies: TurnDependencies,
    emit: TurnEventEmitter,
) -> tuple[RetrievalResult, AvatarAnswer]:
    """Return the answer, and `result` with what the model looked up for it.

    The avatar is asked again after each look-up, until it answers or has requested
    `max_lookups`. A repeated request is the last one.
    """
    make_tools, lookups_left = dependencies.lookup_tools, dependencies.max_lookups
    lookups_left = lookups_left if make_tools else 0
    finished_lookups: set[object] = set()
    while True:
        emit(TurnStageStarted("answer", "Answering"))
        answer = await dependencies.avatar.answer(
            question, plan, result, emit, lookups_left
        )
        request = answer.request
        if request is None or make_tools is None:
            return result, answer
        new_lookups = {*request.searches, *request.chapters} - finished_lookups
        lookups_left = max(0, lookups_left - len(new_lookups)) if new_lookups else 0
        finished_lookups |= new_lookups
        tools = make_tools(question, bible)
        result = await look_up(request, answer.citations, result, tools, emit)


async def _assemble(
    state: TurnGraphState, _turn_context: TurnContext
) -> TurnGraphState:
    output = assemble_output(
        state["question"],
        state["plan"],
        state["resolved"],
        state["bible"],
        state["result"],
        state["gaps"],
        state["answer"],
    )
    return {"output": output}


def _prompt_nothing(
    _question: TurnQuestion, _bible: Bible
) -> Sequence[Sequence[ChatMessage]]:
    return ()


async def plan_without_model(question: TurnQuestion, bible: Bible) -> QuestionPlan:
    """Return a plan made by rules, without a language model, with `plan_by_rules`."""
    return plan_by_rules(question, bible)


@dataclass(frozen=True, slots=True)
class TurnModels:
    """The planner, the avatar and the optional steps with a language model of one turn.

    `plan` makes the plan, `gaps` finds undefined attributes, None if that is off. The
    model that answers may request `max_lookups` look-ups. `take_usage` returns the usage of
    all models since its last call, `take_calls` their calls. `cost` returns the price of that usage in US
    dollars, None if unknown; call it before `take_usage`. If `cost` is None, only the
    avatar's model was used. `build_planner_prompts` returns the messages that the
    planner would send, one sequence for each request.
    """

    plan: Callable[[TurnQuestion, Bible], Coroutine[None, None, QuestionPlan]]
    avatar: Avatar
    take_usage: Callable[[], Usage] = Usage
    take_calls: Callable[[], tuple[ModelCall, ...]] = tuple
    max_lookups: int = 0
    gaps: GapFinder | None = None
    cost: Callable[[], float | None] | None = None
    build_planner_prompts: Callable[
        [TurnQuestion, Bible], Sequence[Sequence[ChatMessage]]
    ] = _prompt_nothing


@dataclass(frozen=True, slots=True)
class PromptPreview:
    """Messages that would be sent to a language model.

    `purpose` says whether they ask for a plan or for the answer.
    """

    purpose: Literal["planning", "answering"]
    messages: Sequence[ChatMessage]

    @property
    def text(self) -> str:
        """The texts of all messages, joined by line breaks."""
        return "\n".join(message.text for message in self.messages)


@dataclass(slots=True)
class PreviewAvatar:
    """Replaces a model avatar to show its prompt: stores it in `messages`, sends
    nothing.
    """

    avatar: ModelAvatar
    messages: Sequence[ChatMessage] = ()

    @property
    def model(self) -> str:
        """Always empty, because no model answers."""
        return ""

    async def answer(
        self,
        question: TurnQuestion,
        plan: QuestionPlan,
        result: RetrievalResult,
        _emit: TurnEventEmitter,
        lookups: int = 0,
    ) -> AvatarAnswer:
        """Store the prompt that would be sent in `messages`, and return an empty
        answer.
        """
        prompt = await self.avatar.prompt(question, plan, result, lookups)
        self.messages = prompt.messages
        return AvatarAnswer("")


class TurnRecorder:
    """Collects the events of a turn, so that a stopped turn can be stored, too.

    `turn_models` are those of the turn; `result` is None until the turn is complete.
    `clock` returns seconds. `steps` are the stages so far.
    """

    def __init__(
        self,
        question: TurnQuestion,
        turn_models: TurnModels,
        clock: Callable[[], float] = perf_counter,
    ) -> None:
        self.steps: list[StepRecord] = []
        self._clock, self._began = clock, clock()
        self.question = question
        self.turn_models = turn_models
        self.result: TurnResult | None = None
        self._pieces: list[str] = []
        self._cited: list[Citation] = []
        self._web: list[WebCitation] = []

    @property
    def state(self) -> TurnState:
        """`STOPPED` for an answer that ends early, whatever the reason."""
        is_cut = self.result is None or self.result.answer.is_cut
        return TurnState.STOPPED if is_cut else TurnState.COMPLETE

    def record_event(self, event: TurnEvent) -> None:
        """Collect the text or citation of `event`; ignore other kinds of events."""
        match event:
            case AnswerToken():
                self._pieces.append(event.text)
            case PassageCited(citation):
                self._cited.append(citation)
            case WebPageCited(citation):
                self._web.append(citation)
            case TurnStageStarted(step, text):
                seconds = round(self._clock() - self._began, 3)
                self.steps.append(StepRecord(step, text, seconds))
            case _:
                pass

    def record_direct_answer(self, text: str) -> None:
        """Complete the turn with `text` as its answer, without running the graph."""
        output = replace(self._build_stopped_output(""), response_text=text, remarks=())
        output = replace(output, intent=AnswerIntent.GAP_PROBE)
        self.result = TurnResult(output, AvatarAnswer(text))

    def add_remark(self, remark: str) -> None:
        """Add a remark to a complete answer, if it is not empty."""
        if self.result is not None and remark:
            output = self.result.output
            output = replace(output, remarks=(*output.remarks, remark))
            self.result = replace(self.result, output=output)

    def output(self, model: str) -> SupervisorOutput:
        """Return the output of the turn, complete or stopped.

        For a stopped turn it has the text and the citations collected so far, and a
        remark that says so. `model` names the language model that was answering, empty
        for none; it is used for stopped turns only.
        """
        if self.result is not None:
            return self.result.output
        return self._build_stopped_output(model)

    def _build_stopped_output(self, model: str) -> SupervisorOutput:
        return SupervisorOutput(
            response_text="".join(self._pieces),
            intent=AnswerIntent.ANALYTICAL,
            resolved_characters=(),
            citations=tuple(self._cited),
            web=tuple(self._web),
            gap_flags=(),
            narrative_state_delta=self.question.state,
            remarks=(STOPPED_REMARK,),
            model=model,
        )


async def record_turn(
    question: TurnQuestion,
    bible: Bible,
    dependencies: TurnDependencies,
    turn_recorder: TurnRecorder,
    companion: CompanionTurn | None = None,
) -> AsyncGenerator[TurnEvent]:
    """Run a turn and yield its events.

    `turn_recorder` collects them, and the result, which is not yielded.
    """
    async with aclosing(run_turn(question, bible, dependencies, companion)) as events:
        async for event in events:
            if isinstance(event, TurnResult):
                turn_recorder.result = event
            else:
                turn_recorder.record_event(event)
                yield event
