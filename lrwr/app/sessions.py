"""Builds the service that answers questions, with its models and its traces."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING
from uuid import uuid4

from lrwr.app.egress import (
    ModelAccess,
    create_chat_model,
    create_price_lookup,
    describe_refusal,
)
from lrwr.core.adapters.source.text import find_sentence_spans
from lrwr.core.bible.service import BibleService
from lrwr.core.chat.context.gap_finder import GapFinder
from lrwr.core.chat.generation.avatars import (
    AvatarWithRemark,
    ExtractiveAvatar,
    ModelAvatar,
)
from lrwr.core.chat.graph import TurnModels, plan_without_model
from lrwr.core.chat.history import MeteredChatModel, QuestionBudget
from lrwr.core.chat.planning.model import ModelPlanner
from lrwr.core.chat.planning.rules import plan_by_rules
from lrwr.core.chat.service import AvatarSessionService
from lrwr.core.model.language_model import (
    Usage,
    compute_price,
    compute_total_price,
    parse_prices,
)
from lrwr.core.model.turns import ModelCall
from lrwr.core.retrieval.excerpts import PassageSource
from lrwr.core.retrieval.search_model import SearchRequest
from lrwr.core.settings.chat_models import ModelRole
from lrwr.core.settings.model import Settings

if TYPE_CHECKING:
    from lrwr.app.ranker import PricedRanker
    from lrwr.core.adapters.traces.langsmith import LangSmithTracer
    from lrwr.core.bible.values import Bible
    from lrwr.core.canon.decision import CanonChange, Decision
    from lrwr.core.chat.generation.avatars import TurnCompanion
    from lrwr.core.chat.state import TurnQuestion
    from lrwr.core.model.choices import Pipeline
    from lrwr.core.model.chunks import Passage
    from lrwr.core.model.documents import Horizon
    from lrwr.core.model.turns import QuestionPlan
    from lrwr.core.ports.indexes import LexicalIndex
    from lrwr.core.ports.models import ChatModel, Reranker
    from lrwr.core.ports.sources import WebSearch
    from lrwr.core.ports.stores import PassageStore
    from lrwr.core.ports.threads import ThreadStore
    from lrwr.core.retrieval.model_ranker import MeteredModel
    from lrwr.core.retrieval.service import PassageFinder

PASSAGE_LIMIT = 20
"""Passages that an answer may use; a model gets as many as fit its token budget."""

WORD_SEARCH_LIMIT = 60
"""Passages in which a value of a person is looked for, found by words alone."""


@dataclass(frozen=True, slots=True)
class SessionDependencies:
    """The stores and services that a chat session uses.

    `decide` records a decision of the user in the canon. `reranker` ranks the sentences
    of answers that quote the text; None preserves the order of the search. `now`
    returns seconds since 1970. `ranker` is the language model that `finder` reranks
    with, None for none; its usage counts as that of the turn.
    """

    settings: Settings
    bible: BibleService
    finder: "PassageFinder"
    passages: "PassageStore"
    lexical_index: "LexicalIndex"
    reranker: "Reranker | None"
    threads: "ThreadStore"
    decide: "Callable[[Decision], CanonChange]"
    now: Callable[[], float]
    ranker: "PricedRanker | None" = None


def create_session_service(
    parts: SessionDependencies,
    access: ModelAccess,
    *,
    web: "WebSearch | None" = None,
    tracer: "LangSmithTracer | None" = None,
    companion: "TurnCompanion | None" = None,
) -> AvatarSessionService:
    """Return the service that answers questions and stores threads.

    `web` searches the web, `tracer` receives a trace of each turn, `companion` answers
    about a book that is read; None turns each off.

    Raises:
        SettingsProblem: The configured model has no key or no name, or `model.prices`
            cannot be parsed.
    """
    model = parts.settings.model
    prices = parse_prices(model.prices) if model.use != "off" else {}
    service: Callable[..., AvatarSessionService] = AvatarSessionService
    if tracer is not None:
        from lrwr.app.telemetry.turns import TracedSessionService

        service = partial(TracedSessionService, tracer)
    return service(
        bible=parts.bible,
        finder=parts.finder,
        passages=parts.passages,
        threads=parts.threads,
        make_turn_models=_create_turn_models(parts, access),
        price=partial(compute_price, table=prices),
        web=web,
        decide=parts.decide,
        pipeline=parts.settings.pipeline,
        limit=PASSAGE_LIMIT,
        now=parts.now,
        new_id=lambda: uuid4().hex,
        companion=companion,
    )


def _create_turn_models(
    parts: SessionDependencies, access: ModelAccess
) -> Callable[[], TurnModels]:
    """Return a factory for the models of one turn.

    They are language models, or an extractive answerer. Turns share connections, but
    each counts its own usage.
    """
    settings = parts.settings
    source = PassageSource(
        parts.passages,
        parts.lexical_index,
        parts.reranker,
        find_sentence_spans,
        settings.pipeline,
        partial(_search_words, parts.finder, settings.pipeline),
    )
    extractive = ExtractiveAvatar(source)
    if access.may_ask and access.refusal is not None:
        reason = describe_refusal(access.refusal)
        remark = f"This answer was written without a language model. {reason}"
        avatar = AvatarWithRemark(extractive, remark)
        return partial(TurnModels, plan_without_model, avatar)
    planner = create_chat_model(settings, ModelRole.PLANNER, access)
    answerer = create_chat_model(settings, ModelRole.AVATAR, access)
    if planner is None or answerer is None:
        return partial(TurnModels, plan_without_model, extractive)
    budget = QuestionBudget(create_price_lookup(settings), settings.model.budget)
    chats: tuple[MeteredModel, ...] = ()
    if parts.ranker is not None:
        budget, chats = parts.ranker.budget, (parts.ranker.chat,)
    return partial(
        _use_language_models, settings, planner, answerer, source, budget, chats
    )


async def _search_words(
    finder: "PassageFinder", pipeline: "Pipeline", words: str, horizon: "Horizon | None"
) -> "Sequence[Passage]":
    """Return the passages that have most of `words`, found by words alone."""
    request = SearchRequest(
        words,
        pipeline,
        WORD_SEARCH_LIMIT,
        dense=False,
        rerank=False,
        horizon=horizon,
        names=False,
        boosts=False,
    )
    return (await finder.find(request)).passages


def _use_language_models(
    settings: Settings,
    planner: "ChatModel",
    answerer: "ChatModel",
    source: PassageSource,
    budget: QuestionBudget,
    others: "Sequence[MeteredModel]",
) -> TurnModels:
    planning = MeteredChatModel(planner, budget)
    answering = MeteredChatModel(answerer, budget)
    model = settings.model
    plans = ModelPlanner(
        planning, model.plan_timeout, model.source_confidence, model.name_confidence
    )

    async def plan(question: "TurnQuestion", bible: "Bible") -> "QuestionPlan":
        return await plans.plan(question, bible, plan_by_rules(question, bible))

    def compute_cost() -> float | None:
        usages = (
            (chat_model.usage, chat_model.name)
            for chat_model in (planning, answering, *others)
        )
        return compute_total_price(usages, create_price_lookup(settings))

    return TurnModels(
        plan,
        ModelAvatar(
            answering,
            source,
            settings.answer.budget_context(hosted=model.use == "openai"),
        ),
        lambda: sum(
            (chat_model.take_usage() for chat_model in (planning, answering, *others)),
            Usage(),
        ),
        take_calls=partial(_take_calls, (planning, answering)),
        max_lookups=model.steps,
        gaps=GapFinder(planning, model.plan_timeout),
        cost=compute_cost,
        build_planner_prompts=plans.messages,
    )


def _take_calls(chats: Sequence[MeteredChatModel]) -> tuple[ModelCall, ...]:
    """Return the calls of a turn, in the order in which they began."""
    calls = [call for chat_model in chats for call in chat_model.take_calls()]
    return tuple(call for _, call in sorted(calls, key=lambda pair: pair[0]))
