"""Drafts a scene with a language model, as a LangGraph graph.

The only module of drafting that imports LangGraph; import it only to draft. There is no
checkpointer: what was paid for is in the journal, and repeating the run continues.
"""

from collections.abc import Awaitable, Callable
from typing import Any, cast

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langsmith import tracing_context

from lrwr.core.drafting.steps import (
    DraftingDependencies,
    DraftingResult,
    DraftingState,
    DraftingStep,
    build_drafting_state,
    build_result,
    check_proposal,
    revise_proposal,
    write_scene_text,
)


async def run_drafting_graph(
    dependencies: DraftingDependencies, text: str = "", number: int = 0
) -> DraftingResult:
    """Draft a scene, or with the `text` of proposal `number` only check and revise it.

    Raises:
        ServiceUnavailable: The language model did not write a usable text.
        StoreProblem: The library cannot be read, or a reply not stored.
        LrwrError: A proposal cannot be written.
    """
    state = build_drafting_state(text, number)
    # LangGraph sends traces if LANGSMITH_TRACING is set; they would contain the text.
    with tracing_context(enabled=False):
        final = await compile_drafting_graph().ainvoke(state, context=dependencies)
    return build_result(cast("DraftingState", final))


def compile_drafting_graph() -> CompiledStateGraph[
    DraftingState, DraftingDependencies, Any, Any
]:
    """Return the compiled graph: write, check, and revise as long as it is due."""
    graph = StateGraph(DraftingState, context_schema=DraftingDependencies)
    graph.add_node("write", _bind_drafting_step(write_scene_text))
    graph.add_node("check", _bind_drafting_step(check_proposal))
    graph.add_node("revise", _bind_drafting_step(revise_proposal))
    graph.add_edge(START, "write")
    graph.add_edge("write", "check")
    graph.add_conditional_edges("check", _choose_after_check, ["revise", END])
    graph.add_conditional_edges("revise", _choose_after_revision, ["check", END])
    return graph.compile()


def _choose_after_check(state: DraftingState) -> str:
    return "revise" if state["is_revision_due"] else END


def _choose_after_revision(state: DraftingState) -> str:
    return END if state["is_stopped"] else "check"


def _bind_drafting_step(
    step: DraftingStep,
) -> Callable[..., Awaitable[DraftingState]]:
    async def run(
        state: DraftingState, runtime: Runtime[DraftingDependencies]
    ) -> DraftingState:
        return await step(state, runtime.context)

    return run
