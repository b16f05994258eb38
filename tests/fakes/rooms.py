"""A room over two read chapters, for tests of conversations."""

from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from functools import partial
from itertools import count
from pathlib import Path

from lrwr.core.adapters.source.text import find_sentence_spans
from lrwr.core.bible.service import BibleService
from lrwr.core.bible.values import Bible
from lrwr.core.chat.generation.avatars import ExtractiveAvatar, ModelAvatar
from lrwr.core.chat.graph import TurnModels, plan_without_model
from lrwr.core.chat.history import MeteredChatModel
from lrwr.core.chat.nodes import Avatar
from lrwr.core.chat.planning.model import ModelPlanner
from lrwr.core.chat.planning.rules import plan_by_rules
from lrwr.core.chat.service import AvatarSessionService, TurnRequest
from lrwr.core.chat.state import TurnQuestion
from lrwr.core.model.language_model import TokenPrice, compute_price
from lrwr.core.model.turns import QuestionPlan, Turn, TurnDone, TurnEvent
from lrwr.core.ports.models import ChatModel
from lrwr.core.ports.sources import WebSearch
from lrwr.core.retrieval.excerpts import PassageSource
from tests.fakes.story_desks import StoryDesk, a_story_desk

FILES = {
    "1.md": (
        "# One\n\n“The lamp must never go out,” said Nell Tallow. “Not once.”\n\n"
        "Nell climbed the ladder. “The fog is weather,” said Mags to Nell.\n"
    ),
    "2.md": (
        "# Two\n\n“I keep no ledger,” said Nell. Corin Vale came over the marsh.\n\n"
        "“The pony drowned,” said Corin Vale to Nell. Nell said nothing.\n"
    ),
}

PRICES = {"pretend-1": TokenPrice(1.0, 10.0)}


@asynccontextmanager
async def a_read_book(place: Path) -> AsyncIterator[StoryDesk]:
    """A desk whose two chapters are read."""
    async with a_story_desk(place) as opened:
        for name, text in FILES.items():
            opened.write(name, text)
        await opened.ingest()
        yield opened


def shelf(desk: StoryDesk) -> PassageSource:
    """The parts that an extractive answerer needs."""
    library = desk.library
    return PassageSource(
        library.passages, library.words, None, find_sentence_spans, desk.pipeline
    )


def counted(desk: StoryDesk, model: ChatModel) -> TurnModels:
    """A model's voices for one turn; the model plans in two calls and answers."""
    chat = MeteredChatModel(model)

    async def plan(question: TurnQuestion, bible: Bible) -> QuestionPlan:
        by_rule = plan_by_rules(question, bible)
        return await ModelPlanner(chat, 60.0).plan(question, bible, by_rule)

    return TurnModels(plan, ModelAvatar(chat, shelf(desk)), chat.take_usage)


def sessions(
    desk: StoryDesk,
    avatar: Avatar | None = None,
    voices: Callable[[], TurnModels] | None = None,
    web: WebSearch | None = None,
) -> AvatarSessionService:
    """The service over a desk; without a model unless `voices` say so."""
    quoting = partial(
        TurnModels, plan_without_model, avatar or ExtractiveAvatar(shelf(desk))
    )
    ids = count(1)
    return AvatarSessionService(
        bible=BibleService(
            stories=desk.library.story,
            passages=desk.library.passages,
            parts=desk.library.parts,
            patterns=(),
            canon=desk.canon,
            flagged_gaps=desk.library.threads.gaps,
        ),
        finder=desk.finder(),
        passages=desk.library.passages,
        threads=desk.library.threads,
        make_turn_models=voices or quoting,
        price=partial(compute_price, table=PRICES),
        decide=desk.decide,
        web=web,
        pipeline=desk.pipeline,
        limit=5,
        now=lambda: 1_000.0,
        new_id=lambda: f"{next(ids):032x}",
    )


async def whole(service: AvatarSessionService, asking: TurnRequest) -> list[TurnEvent]:
    """Return all that happens in a turn."""
    async with aclosing(service.ask(asking)) as events:
        return [event async for event in events]


def turn_of(events: list[TurnEvent]) -> Turn:
    """Return what a turn came to."""
    done = events[-1]
    assert isinstance(done, TurnDone)
    return done.turn
