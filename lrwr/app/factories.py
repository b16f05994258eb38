"""What services are fitted with, chosen by settings: recipes, readers, avatars."""

import os
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Protocol
from uuid import uuid4

from lrwr.app.egress import (
    ExternalAccess,
    ModelAccess,
    create_price_lookup,
    describe_refusal,
)
from lrwr.core.model.errors import LrwrError
from lrwr.core.settings.library import Library
from lrwr.core.settings.model import Settings
from lrwr.core.settings.places import CANON_FILE_NAME

if TYPE_CHECKING:
    from lrwr.core.adapters.chat.factory import ModelRole
    from lrwr.core.adapters.embed.local import LocalEmbedder
    from lrwr.core.bible.service import BibleService
    from lrwr.core.bible.values import Bible
    from lrwr.core.canon.service import CanonService
    from lrwr.core.chat.extractive.sentence_ranking import PassageSource
    from lrwr.core.chat.service import AvatarSessionService
    from lrwr.core.chat.state import TurnQuestion
    from lrwr.core.chat.turn_models import TurnModels
    from lrwr.core.continuity.judge import PairJudge
    from lrwr.core.model.turns import QuestionPlan
    from lrwr.core.ports.analysis_store import AnalysisStore
    from lrwr.core.ports.chat_model import ChatModel
    from lrwr.core.ports.embedder import Embedder
    from lrwr.core.ports.lexical_index import LexicalIndex
    from lrwr.core.ports.record_store import PassageStore
    from lrwr.core.ports.reranker import Reranker
    from lrwr.core.ports.thread_store import ThreadStore
    from lrwr.core.ports.tracer import Tracer
    from lrwr.core.ports.vector_index import VectorIndex
    from lrwr.core.ports.web_search import WebSearch
    from lrwr.core.retrieval.service import PassageFinder

MOST_THREADS = 8
"""More threads than this make a small model no faster."""

PASSAGES = 20
"""Passages that an answer may draw on: as many as are looked at twice. How many a
model is given is a matter of tokens."""

NO_KEY: Mapping[str, str] = {"OPENAI_API_KEY": "none"}
"""Stands for the key where nothing is sent."""


class Lender(Protocol):
    """What a service of conversations is made from."""

    @property
    def settings(self) -> Settings:
        """The settings that hold."""
        ...

    @property
    def threads(self) -> "ThreadStore":
        """Conversations."""
        ...

    @property
    def passages(self) -> "PassageStore":
        """What answering reads."""
        ...

    @property
    def canon(self) -> "CanonService":
        """The writer's decisions."""
        ...

    def bible(self) -> "BibleService":
        """Return what is known of the story."""
        ...

    def finder(self) -> "PassageFinder":
        """Return what finds passages."""
        ...


def create_turn_models(
    settings: Settings, shelf: "PassageSource", reach: ModelAccess
) -> "Callable[[], TurnModels]":
    """Return what makes a turn's voices: a language model where one is set, else text.

    All turns ask the same models, and each counts what it asks.

    Raises:
        SettingsProblem: The language model that is set has no key or no name.
    """
    from lrwr.core.adapters.chat.factory import ModelRole
    from lrwr.core.chat.generation.avatars import AvatarWithRemark, ExtractiveAvatar
    from lrwr.core.chat.turn_models import TurnModels, plan_without_model

    quoting = ExtractiveAvatar(shelf)
    if reach.asking and reach.refused is not None:
        why = f"Answered without a language model. {describe_refusal(reach.refused)}"
        return partial(TurnModels, plan_without_model, AvatarWithRemark(quoting, why))
    planner = create_chat_model(settings, ModelRole.PLANNER, reach)
    avatar = create_chat_model(settings, ModelRole.AVATAR, reach)
    if planner is None or avatar is None:
        return partial(TurnModels, plan_without_model, quoting)
    return partial(_model_voices, settings, planner, avatar, shelf)


def _model_voices(
    settings: Settings,
    planner: "ChatModel",
    avatar: "ChatModel",
    shelf: "PassageSource",
) -> "TurnModels":
    from lrwr.core.chat.context.gap_finder import GapFinder
    from lrwr.core.chat.context.tool_loop import LookupLoop
    from lrwr.core.chat.generation.avatars import ModelAvatar
    from lrwr.core.chat.history import MeteredChatModel
    from lrwr.core.chat.planning.model import ModelPlanner
    from lrwr.core.chat.planning.rules import plan_by_rules
    from lrwr.core.chat.turn_models import TurnModels
    from lrwr.core.model.usage import compute_total_price

    planning, answering = MeteredChatModel(planner), MeteredChatModel(avatar)
    model = settings.model
    plans = ModelPlanner(planning, model.plan_timeout)

    async def by_model(question: "TurnQuestion", bible: "Bible") -> "QuestionPlan":
        return await plans.plan(question, bible, plan_by_rules(question, bible))

    def paid() -> float | None:
        asked = ((one.usage, one.name) for one in (planning, answering))
        return compute_total_price(asked, create_price_lookup(settings))

    return TurnModels(
        by_model,
        ModelAvatar(answering, shelf),
        lambda: planning.taken() + answering.taken(),
        seeker=LookupLoop(planning, model.plan_timeout, model.steps)
        if model.steps
        else None,
        gaps=GapFinder(planning, model.plan_timeout),
        cost=paid,
        asked_first=plans.messages,
    )


def create_chat_model(
    settings: Settings, role: "ModelRole", reach: ModelAccess
) -> "ChatModel | None":
    """Return who is asked in a role; a mute one where nobody may be asked."""
    from lrwr.core.adapters.chat.factory import (
        build_chat_connection,
        create_openai_chat_model,
    )
    from lrwr.core.adapters.chat.placeholder import UnavailableChatModel

    if reach.line is None:
        return None
    if reach.asking and reach.refused is None:
        line, waited = reach.line, reach.waited
        return create_openai_chat_model(settings, os.environ, role, line, waited=waited)
    connection = build_chat_connection(settings, {**os.environ, **NO_KEY}, role)
    why = reach.refused or LrwrError("Nothing is to be sent now.")
    return UnavailableChatModel(connection.name, why) if connection else None


def create_session_service(
    lender: Lender,
    voices: "Callable[[], TurnModels]",
    web: "WebSearch | None",
    *,
    now: Callable[[], float],
    tracer: "Tracer | None" = None,
) -> "AvatarSessionService":
    """Return the service that answers questions and keeps conversations.

    `tracer` keeps a trace of each turn.

    Raises:
        SettingsProblem: A language model is set, and `model.prices` cannot be read.
    """
    from lrwr.app.telemetry.turns import TracedSessionService
    from lrwr.core.model.usage import compute_price, parse_prices

    model = lender.settings.model
    prices = parse_prices(model.prices) if model.use != "off" else {}
    made = TracedSessionService(
        bible=lender.bible(),
        finder=lender.finder(),
        passages=lender.passages,
        threads=lender.threads,
        voices=voices,
        price=partial(compute_price, table=prices),
        web=web,
        decide=lender.canon.decide,
        pipeline=lender.settings.pipeline,
        limit=PASSAGES,
        now=now,
        new_id=lambda: uuid4().hex,
    )
    return made.traced(tracer)


def create_pair_judge(
    settings: Settings,
    store: "AnalysisStore",
    reach: ModelAccess,
    calls: int = 0,
) -> "PairJudge | None":
    """Return who judges what no rule compares; None where no language model is set.

    `calls` bounds what it is asked; 0 does not. Where the writer has not allowed it,
    what was judged before is still told.

    Raises:
        SettingsProblem: The language model that is set has no key or no name.
    """
    from lrwr.core.adapters.chat.factory import ModelRole
    from lrwr.core.continuity.judge import PairJudge
    from lrwr.pipeline.budget import ModelBudget

    asked = create_chat_model(settings, ModelRole.ANALYST, reach)
    if asked is None:
        return None
    price, name = create_price_lookup(settings), asked.name
    meter = ModelBudget(
        lambda usage: price(usage, name), settings.model.budget, most_calls=calls
    )
    if reach.refused is not None:
        meter.stop(describe_refusal(reach.refused))
    return PairJudge(asked, store, meter)


def create_local_embedder(settings: Settings, library: Library) -> "LocalEmbedder":
    """Return the model that turns text into vectors, not loaded yet; close it."""
    from lrwr.core.adapters.embed.local import LocalEmbedder

    embedding = settings.embedding
    folder = library.resolve(embedding.folder) if embedding.folder else None
    threads = embedding.threads or min(os.cpu_count() or 1, MOST_THREADS)
    return LocalEmbedder(folder, threads=threads)


def create_local_reranker(
    settings: Settings, local: "LocalEmbedder", lexical: "LexicalIndex"
) -> "Reranker | None":
    """Return what compares word by word on this machine; None when it is turned off."""
    if settings.rerank.model == "off" or settings.embedding.model == "off":
        return None
    from lrwr.core.adapters.rerank.late_interaction import LateInteractionReranker
    from lrwr.core.adapters.source.sentence_splitter import find_sentence_spans

    frequencies = partial(lexical.document_frequencies, pipeline=settings.pipeline)
    return LateInteractionReranker(local, find_sentence_spans, frequencies)


def create_canon_service(
    library: Library, prepare: Callable[[], None], now: Callable[[], float]
) -> "CanonService":
    """Return the writer's decisions; `prepare` makes the state folder."""
    from lrwr.core.adapters.vectors.lock import FileLock
    from lrwr.core.canon.service import CanonService

    state = library.state_dir
    return CanonService(
        library.root / CANON_FILE_NAME,
        history=state / "canon-history.jsonl",
        lock=partial(FileLock, state / "canon.lock"),
        prepare=prepare,
        now=now,
    )


async def open_configured_vectors(
    settings: Settings,
    passages: "PassageStore",
    embedder: "Embedder",
    outward: ExternalAccess,
) -> "VectorIndex | None":
    """Open the index of the pipeline that is set; None when nothing is embedded.

    Raises:
        SettingsProblem: The address of a server that is to keep it cannot be used.
    """
    from lrwr.core.adapters.storage.sqlite.change_feed import SqliteChangeFeed
    from lrwr.core.adapters.vectors import factory

    pipeline, library = settings.pipeline, outward.library
    feed = SqliteChangeFeed(outward.database)
    counts = await passages.counts(pipeline)
    if not counts.embedded:
        return None
    if settings.vectors.keeper == "qdrant":
        from lrwr.core.adapters.vectors.qdrant import (
            build_library_key,
            create_qdrant_index,
        )

        return create_qdrant_index(
            settings,
            os.environ,
            library.index_dir,
            feed,
            library=build_library_key(library.root, await feed.library()),
            space=embedder.space,
            dimensions=embedder.dimensions,
            refused=outward.refusal("qdrant"),
            noting=outward.noting,
        )
    return await factory.open_local_vector_index(
        library.index_dir,
        feed,
        pipeline=pipeline,
        space=embedder.space,
        dimensions=embedder.dimensions,
        chunks=counts.embedded,
    )
