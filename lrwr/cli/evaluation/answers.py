"""The models that answer questions, and judge answers, in an evaluation."""

import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager

from lrwr.app.container import Workspace
from lrwr.app.egress import create_chat_model, create_price_lookup
from lrwr.app.evaluation import ArmSet, open_answerer
from lrwr.cli.evaluation.request import EvalRequest
from lrwr.cli.runtime.output import Output
from lrwr.core.adapters.judge.model import CorrectnessJudge
from lrwr.core.adapters.judge.ragas import RagasJudge
from lrwr.core.model.errors import LrwrError, SettingsProblem
from lrwr.core.ports.models import AnswerJudge, ChatModel
from lrwr.core.retrieval.confidence import FIRST_PASSAGES
from lrwr.core.retrieval.search_model import SearchRequest
from lrwr.core.settings.chat_models import ModelRole
from lrwr.pipeline.evaluation.answer_measures import (
    AnswerMeasure,
    AnswerMethod,
    build_reader_answer_method,
    build_session_answer_method,
)
from lrwr.pipeline.evaluation.answers import ContextReader
from lrwr.pipeline.evaluation.search_measures import SpanMeasure
from lrwr.pipeline.evaluation.variants import VARIANT_A, VARIANT_B


def require_chat_model(
    workspace: Workspace, *, judging: bool = False, may_ask: bool = True
) -> ChatModel:
    """Return the language model that answers, or with `judging` the one that judges.

    With `may_ask` False the model has only its name; a call raises an error.

    Raises:
        SettingsProblem: No model is configured, or it has no key or no name.
    """
    role = ModelRole.JUDGE if judging else ModelRole.AVATAR
    access = workspace.egress.model_access(may_ask=may_ask)
    chat = create_chat_model(workspace.settings, role, access)
    if chat is None:
        raise SettingsProblem(
            "No language model is configured",
            hint="Set `[model] use`, or use `--answers` instead of `--model`.",
        )
    return chat


def create_answer_probe(workspace: Workspace) -> Callable[[str], Awaitable[bool]]:
    """Return an async function that says whether search finds an answer to a question.

    It is True if the confidence of the search is computed and not low. Such a question
    must not be used as one that the text does not answer.
    """
    finder, pipeline = workspace.finder(), workspace.settings.pipeline

    async def has_evidence(question: str) -> bool:
        result = await finder.find(SearchRequest(question, pipeline, FIRST_PASSAGES))
        return result.low_confidence is False

    return has_evidence


def name_answer_models(answers: AnswerMeasure) -> Mapping[str, str]:
    """Return the names of models by their use; keys are "answers" and "judge".

    Several names are joined by commas. If answers only quote the text, a phrase says
    so; "judge" is empty if none judges.
    """
    answering = sorted({model.model for model in answers.answering.values()})
    return {
        "answers": ", ".join(
            model or "none (quotations from the text)" for model in answering
        ),
        "judge": ", ".join(dict.fromkeys(judge.name for judge in answers.judges)),
    }


async def create_answer_measure(
    workspace: Workspace,
    output: Output,
    eval_request: EvalRequest,
    arm_set: ArmSet,
    spans: SpanMeasure,
    stack: AsyncExitStack,
) -> AnswerMeasure:
    """Return the measure that asks all questions and scores the answers.

    With `--model`, language models answer and judge; otherwise answers quote the text.
    `arm_set` has the ways to search that are compared, `spans` the measure of passages.
    `stack` closes what is opened.

    Raises:
        SettingsProblem: A model is needed and none is configured.
    """
    answering = (
        _create_reader_methods(workspace, eval_request, arm_set, spans)
        if eval_request.read
        else await stack.enter_async_context(
            _open_session_methods(workspace, eval_request)
        )
    )
    judges = (
        await _judges(workspace, output, eval_request) if eval_request.model else []
    )
    return AnswerMeasure(
        spans,
        answering,
        judges,
        create_price_lookup(workspace.settings),
        eval_request.repeats,
    )


@asynccontextmanager
async def _open_session_methods(
    workspace: Workspace, eval_request: EvalRequest
) -> AsyncIterator[dict[str, AnswerMethod]]:
    """Yield for each pipeline's arm the method that answers as `lrwr ask` does."""
    settings = workspace.settings
    context_tokens = settings.answer.budget_context(
        hosted=settings.model.use == "openai"
    )
    async with AsyncExitStack() as stack:
        answering = {}
        for step in (VARIANT_A, VARIANT_B):
            if step.pipeline in eval_request.pipelines:
                answerer = await stack.enter_async_context(
                    open_answerer(
                        workspace,
                        step.pipeline,
                        model=eval_request.model,
                        may_ask=not eval_request.dry_run,
                    )
                )
                answering[step.name] = build_session_answer_method(
                    answerer, context_tokens
                )
        yield answering


def _create_reader_methods(
    workspace: Workspace, eval_request: EvalRequest, arm_set: ArmSet, spans: SpanMeasure
) -> dict[str, AnswerMethod]:
    chat = require_chat_model(workspace, may_ask=not eval_request.dry_run)
    price = create_price_lookup(workspace.settings)
    reader = ContextReader(
        chat, lambda usage: price(usage, chat.name), time.perf_counter
    )
    budget = max(eval_request.budgets)
    return {
        arm.name: build_reader_answer_method(reader, spans, budget)
        for arm in arm_set.arms
    }


async def _judges(
    workspace: Workspace, output: Output, eval_request: EvalRequest
) -> list[AnswerJudge]:
    """Return the judge of correctness, and RAGAS if it is installed."""
    chat = require_chat_model(workspace, judging=True, may_ask=not eval_request.dry_run)
    judges: list[AnswerJudge] = [CorrectnessJudge(chat)]
    try:
        judges.append(await RagasJudge.open(chat))
    except LrwrError as missing:
        output.warn(f"{missing}: its figures are left out. {missing.hint}")
    return judges
