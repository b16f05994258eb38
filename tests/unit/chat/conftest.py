from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from lrwr.core.adapters.chat.connection import ChatConnection, ModelServerClient
from lrwr.core.adapters.chat.openai import OpenAIChatModel
from lrwr.core.adapters.http.rate_limit import RateLimit
from lrwr.core.bible.values import (
    AliasForm,
    Bible,
    BibleClaim,
    CharacterProfile,
    TextEvidence,
    TimelineMoment,
    TimelineMomentKind,
    WorldElement,
)
from lrwr.core.model.cast import Gender
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.facts import RULES_KEEPER, Certainty, ElementType
from lrwr.core.model.text import LineRange, Span
from tests.fakes.desks import Desk, a_desk
from tests.fakes.model_server import KEY, MODEL, ModelServer

SURE = Certainty.VERIFIED


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async with a_desk(tmp_path) as opened:
        yield opened


@pytest.fixture
def marsh_bible() -> Bible:
    return Bible(
        characters=(
            _person("PurpleFrog", "the Lampkeeper"),
            _person("OchraMags", "Mags"),
            _person("Nell Tallow", "Wren", "Nell"),
            _person("Mrs. Gannet"),
            _person("Ivo Gannet"),
        ),
        world=(
            _thing("the marsh lantern", ElementType.ARTIFACT),
            _thing("tide rules", ElementType.RULE, "PurpleFrog"),
            _thing("Gull Post", ElementType.SETTING, "OchraMags", "Nell Tallow"),
        ),
        timeline=(
            _moment("The marsh lantern goes out.", "PurpleFrog"),
            _moment("Mags and the Lampkeeper quarrel at Gull Post.", "Nell Tallow"),
        ),
        readers=("a-model",),
    )


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as opened:
        yield opened


@pytest.fixture
async def model(server: ModelServer) -> AsyncIterator[OpenAIChatModel]:
    opened = OpenAIChatModel(
        ChatConnection(MODEL, server.base_url, key=KEY),
        ModelServerClient(RateLimit(4, 0, 0.0)),
    )
    yield opened
    await opened.aclose()


def _person(name: str, *others: str) -> CharacterProfile:
    forms = tuple(AliasForm(form, 3, SURE) for form in (name, *others))
    return CharacterProfile(name, forms, Gender.UNKNOWN, SURE, SURE)


def _thing(name: str, kind: ElementType, *people: str) -> WorldElement:
    connected = tuple(BibleClaim(one, (), SURE) for one in people)
    return WorldElement(name, (BibleClaim(kind, (), SURE),), (), connected, SURE)


def _moment(text: str, *people: str) -> TimelineMoment:
    place = DocumentId("1.md"), (Span(0, len(text)),), text, LineRange(1, 1)
    told = TextEvidence(*place, 1, "One", 1, RULES_KEEPER, SURE)
    return TimelineMoment(TimelineMomentKind.EVENT, text, people, told)
