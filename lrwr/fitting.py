"""What services are fitted with, chosen by settings: recipes, readers, avatars."""

import os
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol
from uuid import uuid4

from lrwr.core.model.chunks import Pipeline
from lrwr.core.settings.values import Settings

if TYPE_CHECKING:
    from lrwr.core.adapters.embed.local import LocalEmbedder
    from lrwr.core.adapters.records.sqlite.database import Database
    from lrwr.core.bible.service import BibleService
    from lrwr.core.bible.values import Bible
    from lrwr.core.canon.model import Canon
    from lrwr.core.chat.picking import Shelf
    from lrwr.core.chat.service import AvatarSessionService, Voices
    from lrwr.core.chat.state import Question
    from lrwr.core.model.turns import Plan
    from lrwr.core.ports.analysis_store import AnalysisStore
    from lrwr.core.ports.chat_model import ChatModel
    from lrwr.core.ports.record_store import PassageStore
    from lrwr.core.ports.thread_store import ThreadStore
    from lrwr.core.ports.vector_index import VectorIndex
    from lrwr.core.retrieval.search import PassageFinder
    from lrwr.pipeline.analysis import CloseReading
    from lrwr.pipeline.recipes import Recipe
    from lrwr.pipeline.weaving import StoryWeaver

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

    def bible(self) -> "BibleService":
        """Return what is known of the story."""
        ...

    def finder(self) -> "PassageFinder":
        """Return what finds passages."""
        ...


def voices(
    settings: Settings, stack: AsyncExitStack, shelf: "Shelf", *, asking: bool
) -> "Callable[[], Voices]":
    """Return what makes a turn's voices: a language model where one is set, else text.

    All turns ask one and the same model, and each counts what it asks.
    """
    from lrwr.core.adapters.chat.choose import choose_chat
    from lrwr.core.chat.avatars import QuotingAvatar
    from lrwr.core.chat.rules_planner import plan_by_rules
    from lrwr.core.chat.service import Voices

    async def by_rules(question: "Question", bible: "Bible") -> "Plan":
        return plan_by_rules(question, bible)

    keys = {} if asking else NO_KEY
    chat = choose_chat(settings, {**os.environ, **keys})
    if chat is None:
        return partial(Voices, by_rules, QuotingAvatar(shelf))
    stack.push_async_callback(chat.aclose)
    return partial(_model_voices, chat, settings.model.plan_timeout, shelf)


def _model_voices(chat: "ChatModel", timeout: float, shelf: "Shelf") -> "Voices":
    from lrwr.core.chat.avatars import ModelAvatar
    from lrwr.core.chat.counting import CountedChat
    from lrwr.core.chat.model_planner import ModelPlanner
    from lrwr.core.chat.rules_planner import plan_by_rules
    from lrwr.core.chat.service import Voices

    counted = CountedChat(chat)
    planner = ModelPlanner(counted, timeout)

    async def by_model(question: "Question", bible: "Bible") -> "Plan":
        return await planner.plan(question, bible, plan_by_rules(question, bible))

    return Voices(by_model, ModelAvatar(counted, shelf), counted.taken)


def sessions(
    lender: Lender, voices: "Callable[[], Voices]", *, now: Callable[[], float]
) -> "AvatarSessionService":
    """Return the service that answers questions and keeps conversations.

    Raises:
        SettingsProblem: A language model is set, and `model.prices` cannot be read.
    """
    from lrwr.core.chat.service import AvatarSessionService
    from lrwr.core.model.metering import price, read_prices

    model = lender.settings.model
    prices = read_prices(model.prices) if model.use != "off" else {}
    return AvatarSessionService(
        bible=lender.bible(),
        finder=lender.finder(),
        threads=lender.threads,
        voices=voices,
        price=partial(price, table=prices),
        pipeline=lender.settings.pipeline,
        limit=lender.settings.search.limit,
        now=now,
        new_id=lambda: uuid4().hex,
    )


async def open_vectors(
    settings: Settings,
    folder: Path,
    passages: "PassageStore",
    embedder: "LocalEmbedder",
    database: "Database",
) -> "VectorIndex | None":
    """Open the index of the pipeline that is set; None when nothing is embedded."""
    from lrwr.core.adapters.records.sqlite.feed import SqliteChangeFeed
    from lrwr.core.adapters.vectors import choose

    pipeline = settings.pipeline
    counts = await passages.counts(pipeline)
    if not counts.embedded:
        return None
    return await choose.open_vectors(
        folder,
        SqliteChangeFeed(database),
        pipeline=pipeline,
        space=embedder.space,
        dimensions=embedder.dimensions,
        chunks=counts.embedded,
    )


def recipe(
    settings: Settings,
    database: "Database",
    now: Callable[[], float],
    stack: AsyncExitStack,
    *,
    asking: bool,
) -> "Recipe":
    """Return how the pipeline that is set makes knowledge of a document.

    Unless `asking`, the language model needs no key: it is not asked.
    """
    from lrwr.pipeline.recipes import NaiveRecipe

    chunk = settings.chunk
    if settings.pipeline is Pipeline.NAIVE:
        return NaiveRecipe(size=chunk.size, overlap=chunk.overlap)
    from lrwr.core.adapters.analyst.rules import RulesAnalyst
    from lrwr.core.adapters.records.sqlite.story import SqliteAnalysisStore
    from lrwr.core.adapters.sentences import sentence_spans
    from lrwr.pipeline.agentic import AgenticRecipe
    from lrwr.pipeline.stages.semantic import Limits

    store = SqliteAnalysisStore(database, now=now)
    return AgenticRecipe(
        limits=Limits(least=chunk.smallest, most=chunk.largest),
        split=sentence_spans,
        rules=RulesAnalyst(sentence_spans),
        store=store,
        reading=_reading(settings, store, stack, NO_KEY if not asking else {}),
    )


def weaver(
    settings: Settings, database: "Database", canon: "Callable[[], Canon]"
) -> "StoryWeaver | None":
    """Return what makes the cast; None in pipeline a, which knows nobody."""
    if settings.pipeline is Pipeline.NAIVE:
        return None
    from lrwr.core.adapters.records.sqlite.passages import SqlitePassageStore
    from lrwr.core.adapters.records.sqlite.story import SqliteCastStore
    from lrwr.pipeline.weaving import StoryWeaver

    return StoryWeaver(
        store=SqliteCastStore(database),
        passages=SqlitePassageStore(database),
        patterns=settings.manuscript.order,
        canon=canon,
    )


def _reading(
    settings: Settings,
    store: "AnalysisStore",
    stack: AsyncExitStack,
    keys: Mapping[str, str],
) -> "CloseReading | None":
    """Return who reads with the language model that is set; None where none is."""
    if settings.model.use == "off":
        return None
    from lrwr.core.adapters.analyst.model import ModelAnalyst
    from lrwr.core.adapters.chat.choose import choose_chat
    from lrwr.core.model.metering import price, read_prices
    from lrwr.pipeline.analysis import CloseReading
    from lrwr.pipeline.metering import Meter

    chat = choose_chat(settings, {**os.environ, **keys})
    if chat is None:
        return None
    stack.push_async_callback(chat.aclose)
    prices = read_prices(settings.model.prices)
    meter = Meter(
        price=partial(price, model=chat.name, table=prices),
        budget=settings.model.budget,
    )
    return CloseReading(ModelAnalyst(chat), store, meter)
