"""Drafts a text about the story with a language model, as a LangGraph graph.

The only module of drafting that imports LangGraph; import it only to draft.
"""

from collections.abc import Awaitable, Callable
from itertools import pairwise
from typing import Any, cast

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langsmith import tracing_context

from lrwr.core.evidence.pack import EvidencePack
from lrwr.core.evidence.prompts import WritingRequest
from lrwr.core.evidence.steps import (
    PostDependencies,
    PostResult,
    PostState,
    PostStep,
    build_post_state,
    list_post_steps,
)


async def run_post_graph(
    request: WritingRequest,
    dependencies: PostDependencies,
    stored: EvidencePack | None = None,
) -> PostResult:
    """Draft `request`; `stored` is the pack of an earlier draft, which is used instead
    of new evidence.

    Raises:
        NotFound: There is no evidence for the brief: nothing may be written.
        ServiceUnavailable: The language model did not answer usably.
        StoreProblem: The library cannot be read.
    """
    state = build_post_state(request, stored)
    # LangGraph sends traces if LANGSMITH_TRACING is set; they would contain the text.
    with tracing_context(enabled=False):
        final_state = await compile_post_graph().ainvoke(state, context=dependencies)
    return cast("PostResult", final_state["output"])


def compile_post_graph() -> CompiledStateGraph[PostState, PostDependencies, Any, Any]:
    """Return the compiled graph, a chain of the steps of `list_post_steps`."""
    graph = StateGraph(PostState, context_schema=PostDependencies)
    steps = list_post_steps()
    for name, step in steps:
        graph.add_node(name, _bind_post_step(step))
    for source, target in pairwise((START, *(name for name, _ in steps), END)):
        graph.add_edge(source, target)
    return graph.compile()


def _bind_post_step(step: PostStep) -> Callable[..., Awaitable[PostState]]:
    async def run(state: PostState, runtime: Runtime[PostDependencies]) -> PostState:
        return await step(state, runtime.context)

    return run
