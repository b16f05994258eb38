"""The order of one turn's steps, as a LangGraph graph without a memory of its own."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from lrwr.core.bible.values import Bible
from lrwr.core.chat.context.builder import gather_context
from lrwr.core.chat.context.gap_finder import GapFinder, GapFinderResult
from lrwr.core.chat.context.tool_loop import LookupLoop
from lrwr.core.chat.generation.avatars import ModelAvatar
from lrwr.core.chat.nodes import (
    Avatar,
    AvatarAnswer,
    TurnDependencies,
    TurnEventEmitter,
    add_web_pages,
    assemble_output,
    find_turn_gaps,
    plan_and_search,
    run_lookup,
)
from lrwr.core.chat.planning.rules import plan_by_rules, resolve_entities
from lrwr.core.chat.state import RetrievalResult, TurnQuestion
from lrwr.core.model.language_model import Usage
from lrwr.core.model.turns import (
    AnswerIntent,
    AnswerToken,
    Citation,
    PassageCited,
    QuestionPlan,
    ResolvedEntity,
    SupervisorOutput,
    TurnEvent,
    TurnStageStarted,
    WebCitation,
    WebPageCited,
)
from lrwr.core.ports.models import ChatMessage
from lrwr.core.retrieval.service import SearchResult

if TYPE_CHECKING:
    from langgraph.graph.state import CompiledStateGraph
    from langgraph.runtime import Runtime


class TurnGraphState(TypedDict, total=False):
    """What the steps have result; each writes its own part once."""

    question: TurnQuestion
    bible: Bible
    plan: QuestionPlan
    found: SearchResult
    resolved: tuple[ResolvedEntity, ...]
    result: RetrievalResult
    gaps: GapFinderResult
    answer: AvatarAnswer
    output: SupervisorOutput


@dataclass(frozen=True, slots=True)
class TurnContext:
    """What the graph's steps are lent for one turn."""

    dependencies: TurnDependencies
    emit: TurnEventEmitter


@dataclass(frozen=True, slots=True)
class TurnResult:
    """What a turn came to, and how it was said."""

    output: SupervisorOutput
    answer: AvatarAnswer


async def run_turn(
    question: TurnQuestion, bible: Bible, dependencies: TurnDependencies
) -> AsyncGenerator[TurnEvent | TurnResult]:
    """Yield what happens in a turn while it does, and last what it came to.

    Closing the generator stops every step, and what a step asked of a server.
    """
    events: asyncio.Queue[TurnEvent | None] = asyncio.Queue()
    turn = asyncio.create_task(
        _run_graph(question, bible, TurnContext(dependencies, events.put_nowait))
    )
    turn.add_done_callback(lambda _: events.put_nowait(None))
    try:
        while (event := await events.get()) is not None:
            yield event
        yield await turn
    finally:
        turn.cancel()
        await asyncio.gather(turn, return_exceptions=True)


async def _run_graph(
    question: TurnQuestion, bible: Bible, turn_context: TurnContext
) -> TurnResult:
    from langsmith import tracing_context

    initial_state: TurnGraphState = {"question": question, "bible": bible}
    with tracing_context(enabled=False):  # whatever a shell's variables say
        final_state = await compile_turn_graph().ainvoke(
            initial_state, context=turn_context
        )
    return TurnResult(final_state["output"], final_state["answer"])


_STEPS = (
    "look up", "resolve", "retrieve", "seek", "web", "gaps", "avatar", "assemble",
)  # fmt: skip


def compile_turn_graph() -> "CompiledStateGraph[TurnGraphState, TurnContext, Any, Any]":
    """Return the graph; making it takes milliseconds."""
    from langgraph.graph import END, START, StateGraph

    graph = StateGraph(TurnGraphState, context_schema=TurnContext)
    graph.add_node("look up", _look_up)
    graph.add_node("resolve", _resolve)
    graph.add_node("retrieve", _retrieve)
    graph.add_node("seek", _seek)
    graph.add_node("web", _web)
    graph.add_node("gaps", _gaps)
    graph.add_node("avatar", _avatar)
    graph.add_node("assemble", _assemble)
    for source, target in pairwise((START, *_STEPS, END)):
        graph.add_edge(source, target)
    return graph.compile()


async def _look_up(
    state: TurnGraphState, runtime: "Runtime[TurnContext]"
) -> TurnGraphState:
    turn_context = runtime.context
    plan, result = await plan_and_search(
        state["question"], state["bible"], turn_context.dependencies, turn_context.emit
    )
    return {"plan": plan, "found": result}


async def _resolve(
    state: TurnGraphState, runtime: "Runtime[TurnContext]"
) -> TurnGraphState:
    notes = runtime.context.dependencies.notes
    return {"resolved": resolve_entities(state["plan"], state["bible"], notes)}


async def _retrieve(state: TurnGraphState) -> TurnGraphState:
    result = gather_context(
        state["question"],
        state["plan"],
        state["resolved"],
        state["bible"],
        state["found"],
    )
    return {"result": result}


async def _seek(
    state: TurnGraphState, runtime: "Runtime[TurnContext]"
) -> TurnGraphState:
    turn_context = runtime.context
    result = await run_lookup(
        state["question"],
        state["plan"],
        state["result"],
        state["bible"],
        turn_context.dependencies,
        turn_context.emit,
    )
    return {"result": result}


async def _web(
    state: TurnGraphState, runtime: "Runtime[TurnContext]"
) -> TurnGraphState:
    turn_context = runtime.context
    question, plan, result = state["question"], state["plan"], state["result"]
    result = await add_web_pages(
        question, plan, result, turn_context.dependencies, turn_context.emit
    )
    return {"result": result}


async def _gaps(
    state: TurnGraphState, runtime: "Runtime[TurnContext]"
) -> TurnGraphState:
    turn_context = runtime.context
    turn_gaps = await find_turn_gaps(
        state["question"],
        state["plan"],
        state["result"],
        state["bible"],
        turn_context.dependencies,
        turn_context.emit,
    )
    return {"gaps": turn_gaps}


async def _avatar(
    state: TurnGraphState, runtime: "Runtime[TurnContext]"
) -> TurnGraphState:
    turn_context = runtime.context
    turn_context.emit(TurnStageStarted("answer", "Answering"))
    answer = await turn_context.dependencies.avatar.answer(
        state["question"], state["plan"], state["result"], turn_context.emit
    )
    return {"answer": answer}


async def _assemble(state: TurnGraphState) -> TurnGraphState:
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
    """Plan without asking anybody."""
    return plan_by_rules(question, bible)


@dataclass(frozen=True, slots=True)
class TurnModels:
    """Who plans and who answers in one turn; `take_usage` tells what models were asked.

    `cost` tells the US dollars that it came to, None where a price is not known; ask it
    before `take_usage`. Without it, the avatar's model alone was asked. `lookup_loop` goes on
    looking things up, `gaps` finds what is undefined; None where nobody does. `build_planner_prompts` tells what a planner would
    be sent.
    """

    plan: Callable[[TurnQuestion, Bible], Coroutine[None, None, QuestionPlan]]
    avatar: Avatar
    take_usage: Callable[[], Usage] = Usage
    lookup_loop: LookupLoop | None = None
    gaps: GapFinder | None = None
    cost: Callable[[], float | None] | None = None
    build_planner_prompts: Callable[
        [TurnQuestion, Bible], Sequence[Sequence[ChatMessage]]
    ] = _prompt_nothing


@dataclass(frozen=True, slots=True)
class PromptPreview:
    """What a language model would be sent, and what for."""

    purpose: Literal["planning", "answering"]
    messages: Sequence[ChatMessage]

    @property
    def text(self) -> str:
        """The words of all messages."""
        return "\n".join(message.text for message in self.messages)


@dataclass(slots=True)
class PreviewAvatar:
    """Stands in for a model, and keeps what that would be sent for the answer."""

    avatar: ModelAvatar
    messages: Sequence[ChatMessage] = ()

    @property
    def model(self) -> str:
        """Nobody answers."""
        return ""

    async def answer(
        self,
        question: TurnQuestion,
        plan: QuestionPlan,
        result: RetrievalResult,
        _emit: TurnEventEmitter,
    ) -> AvatarAnswer:
        """Say nothing."""
        self.messages = (await self.avatar.prompt(question, plan, result)).messages
        return AvatarAnswer("")


class TurnRecorder:
    """What has come of a turn so far."""

    def __init__(self, question: TurnQuestion, turn_models: TurnModels) -> None:
        self.question = question
        self.turn_models = turn_models
        self.result: TurnResult | None = None
        self._pieces: list[str] = []
        self._cited: list[Citation] = []
        self._web: list[WebCitation] = []

    def record_event(self, event: TurnEvent) -> None:
        """Take in what the graph lets others see."""
        match event:
            case AnswerToken():
                self._pieces.append(event.text)
            case PassageCited(citation):
                self._cited.append(citation)
            case WebPageCited(citation):
                self._web.append(citation)
            case _:
                pass

    def record_direct_answer(self, text: str) -> None:
        """Take in what was settled without asking anybody."""
        output = replace(self._build_stopped_output(""), response_text=text, remarks=())
        output = replace(output, intent=AnswerIntent.GAP_PROBE)
        self.result = TurnResult(output, AvatarAnswer(text))

    def output(self, model: str) -> SupervisorOutput:
        """Return the whole answer, or of a stopped one what had come."""
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
            remarks=("Stopped before the answer was complete.",),
            model=model,
        )


async def record_turn(
    question: TurnQuestion,
    bible: Bible,
    dependencies: TurnDependencies,
    turn_recorder: TurnRecorder,
) -> AsyncGenerator[TurnEvent]:
    """Run a turn, and let `turn_recorder` take in what comes of it."""
    async with aclosing(run_turn(question, bible, dependencies)) as events:
        async for event in events:
            if isinstance(event, TurnResult):
                turn_recorder.result = event
            else:
                turn_recorder.record_event(event)
                yield event
