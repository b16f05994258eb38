"""What the doctor says of OpenAI's models and of the web, where they are on."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from lrwr.app.maintenance.check_result import HealthFinding, HealthState
from lrwr.app.maintenance.doctor import DoctorContext, run_doctor
from lrwr.core.adapters.storage.sqlite.database import SqliteDatabase
from lrwr.core.adapters.storage.sqlite.egress_log import SqliteEgressLog
from lrwr.core.model.egress import RequestOutcome, RequestPurpose
from lrwr.core.settings.consent import ConsentStore
from lrwr.core.settings.library import get_consent_folder, resolve_library
from lrwr.core.settings.loader import load_settings
from tests.fakes import model_server, web_server
from tests.fakes.hosted_server import CutShort, Nonsense, Refuse, Turn
from tests.fakes.model_server import ModelServer
from tests.fakes.web_server import WebServer

pytestmark = pytest.mark.usefixtures("home")

WEB, MODEL = "web search", "language model"
NOWHERE = "http://127.0.0.1:9"
SCOPES = "You have insufficient permissions. Missing scopes: api.model.read."


@pytest.fixture
def web() -> Iterator[WebServer]:
    with WebServer() as opened:
        yield opened


@pytest.fixture
def models() -> Iterator[ModelServer]:
    with ModelServer() as opened:
        yield opened


def searching(base_url: str) -> dict[str, str]:
    return {
        "LRWR_WEB_USE": "tavily",
        "LRWR_WEB_BASE_URL": base_url,
        "TAVILY_API_KEY": web_server.KEY,
    }


def asking(base_url: str, name: str = model_server.MODEL) -> dict[str, str]:
    return {
        "LRWR_MODEL_USE": "openai",
        "LRWR_MODEL_BASE_URL": base_url,
        "LRWR_MODEL_NAME": name,
        "OPENAI_API_KEY": model_server.KEY,
    }


async def found(folder: Path, env: Mapping[str, str]) -> dict[str, HealthFinding]:
    whole = {"LRWR_EMBEDDING_MODEL": "off", **env}
    findings = await run_doctor(DoctorContext(folder, whole, {}, now=1_000_000.0))
    for one in findings:
        for key in (web_server.KEY, model_server.KEY):
            assert key not in one.detail + one.remedy
    return {one.part: one for one in findings}


def deny(folder: Path, service: str) -> None:
    library = resolve_library(load_settings(folder, {}, {}))
    ConsentStore(get_consent_folder()).store_answer(library, service, allowed=False)


async def test_web_search_that_is_off_has_no_row_though_there_is_a_key(
    folder: Path,
) -> None:
    assert WEB not in await found(folder, {"TAVILY_API_KEY": web_server.KEY})


async def test_web_search_without_a_key_is_broken_with_its_remedy(
    folder: Path, web: WebServer
) -> None:
    env = {**searching(web.base_url), "TAVILY_API_KEY": ""}
    row = (await found(folder, env))[WEB]
    assert row.state is HealthState.BROKEN
    assert "there is no API key" in row.detail
    assert "lrwr config set-key tavily" in row.remedy
    assert web.asked == []


async def test_a_key_of_the_web_is_tried_without_a_search(
    folder: Path, web: WebServer, library: SqliteDatabase
) -> None:
    findings = await found(folder, searching(web.base_url))
    row = findings[WEB]
    assert (row.state, row.remedy) == (HealthState.OK, "")
    assert row.detail == (
        "Tavily accepts the key; 44 of the plan's 1,000 credits are used."
    )
    assert "Tavily receives short queries" in findings["hosted services"].detail
    assert [(one.method, one.path) for one in web.asked] == [("GET", "/usage")]
    (sent,) = (await SqliteEgressLog(library).report()).newest
    assert (sent.service, sent.purpose) == ("tavily", RequestPurpose.WEB_SEARCH)
    assert (sent.sent_bytes, sent.outcome) == (0, RequestOutcome.ANSWERED)


@pytest.mark.parametrize(
    "used", [{}, {"account": None}, {"account": {"plan_usage": 1}}]
)
async def test_counts_that_are_not_told_are_left_out(
    folder: Path, web: WebServer, used: Mapping[str, object]
) -> None:
    web.used = used
    row = (await found(folder, searching(web.base_url)))[WEB]
    assert (row.state, row.detail) == (HealthState.OK, "Tavily accepts the key.")


@pytest.mark.parametrize(
    ("turn", "state", "says", "remedy"),
    [
        (Refuse(401), HealthState.BROKEN, "does not accept the key", "set-key tavily"),
        (Refuse(403), HealthState.BROKEN, "does not let this key", "access"),
        (Refuse(432), HealthState.BROKEN, "are used up", "Raise the limit"),
        (
            Refuse(429, retry_after="240"),
            HealthState.WARNING,
            "(HTTP 429)",
            "in 4 minutes",
        ),
        (Refuse(503), HealthState.WARNING, "failed (HTTP 503)", "later"),
        (Refuse(404), HealthState.NOT_CHECKED, "does not report", "web.base_url"),
        (
            Refuse(302, location=NOWHERE),
            HealthState.BROKEN,
            "redirects requests",
            "web.base_url",
        ),
        (Nonsense(), HealthState.BROKEN, "does not understand", "web.base_url"),
        (CutShort(), HealthState.WARNING, "stopped in the middle", "Try again"),
    ],
    ids=str,
)
async def test_a_web_that_refuses_is_told_with_what_to_do(
    folder: Path, web: WebServer, turn: Turn, state: HealthState, says: str, remedy: str
) -> None:
    web.will(turn)
    row = (await found(folder, searching(web.base_url)))[WEB]
    assert row.state is state
    assert says in row.detail
    assert remedy in row.remedy
    assert len(web.asked) == 1


async def test_a_web_that_cannot_be_reached_is_a_warning(folder: Path) -> None:
    row = (await found(folder, searching(NOWHERE)))[WEB]
    assert row.state is HealthState.WARNING
    assert "cannot be reached" in row.detail


async def test_what_was_denied_is_not_asked(
    folder: Path, web: WebServer, models: ModelServer, library: SqliteDatabase
) -> None:
    deny(folder, "tavily")
    deny(folder, "openai")
    env = {**searching(web.base_url), **asking(models.base_url)}
    findings = await found(folder, {**env, "TAVILY_API_KEY": ""})
    for part, service in ((WEB, "tavily"), (MODEL, "openai")):
        assert findings[part].state is HealthState.OFF
        assert "You denied" in findings[part].detail
        assert f"lrwr privacy allow {service}" in findings[part].remedy
    assert (web.asked, models.asked) == ([], [])


async def test_openai_is_asked_for_its_models_and_no_model_is(
    folder: Path, models: ModelServer, library: SqliteDatabase
) -> None:
    row = (await found(folder, asking(models.base_url)))[MODEL]
    assert (row.state, row.remedy) == (HealthState.OK, "")
    assert f"{model_server.MODEL}: " in row.detail
    assert row.detail.endswith("accepts the key and has it.")
    (asked,) = models.asked
    assert (asked.method, asked.path, asked.size) == ("GET", "/v1/models", 0)
    (sent,) = (await SqliteEgressLog(library).report()).newest
    assert (sent.service, sent.model) == ("openai", model_server.MODEL)
    assert (sent.sent_bytes, sent.outcome) == (0, RequestOutcome.ANSWERED)


async def test_a_model_that_openai_does_not_have_is_named(
    folder: Path, models: ModelServer
) -> None:
    row = (await found(folder, asking(models.base_url, "pretned-1")))[MODEL]
    assert row.state is HealthState.WARNING
    assert "has no model pretned-1" in row.detail
    assert row.remedy.startswith("Did you mean pretend-1?")


@pytest.mark.parametrize(
    ("turn", "state", "says", "remedy"),
    [
        (Refuse(401), HealthState.BROKEN, "does not accept the key", "set-key openai"),
        (
            Refuse(401, SCOPES),
            HealthState.NOT_CHECKED,
            "does not list",
            "first request",
        ),
        (
            Refuse(403, SCOPES),
            HealthState.NOT_CHECKED,
            "does not list",
            "first request",
        ),
        (Refuse(404), HealthState.NOT_CHECKED, "does not list", "first request"),
        (Refuse(429), HealthState.WARNING, "too many requests", "later"),
        (
            Refuse(429, code="insufficient_quota"),
            HealthState.BROKEN,
            "credit",
            "Add credit",
        ),
        (Refuse(503), HealthState.WARNING, "failed (HTTP 503)", "later"),
        (
            Refuse(302, location=NOWHERE),
            HealthState.BROKEN,
            "redirects",
            "model.base_url",
        ),
        (Nonsense(), HealthState.BROKEN, "does not understand", "model.base_url"),
        (
            Nonsense('{"data": 3}'),
            HealthState.BROKEN,
            "does not understand",
            "model.base_url",
        ),
        (Nonsense("[]"), HealthState.BROKEN, "does not understand", "model.base_url"),
        (CutShort(), HealthState.WARNING, "stopped in the middle", "Try again"),
    ],
    ids=str,
)
async def test_an_openai_that_refuses_is_told_with_what_to_do(
    folder: Path,
    models: ModelServer,
    turn: Turn,
    state: HealthState,
    says: str,
    remedy: str,
) -> None:
    models.listing = turn
    row = (await found(folder, asking(models.base_url)))[MODEL]
    assert row.state is state
    assert says in row.detail
    assert remedy in f"{row.detail} {row.remedy}"
    assert len(models.asked) == 1


async def test_an_openai_that_cannot_be_reached_is_a_warning(folder: Path) -> None:
    row = (await found(folder, asking(f"{NOWHERE}/v1")))[MODEL]
    assert row.state is HealthState.WARNING
    assert "cannot be reached" in row.detail


async def test_nobody_is_asked_of_what_cannot_be_noted(
    folder: Path, web: WebServer, models: ModelServer, library: SqliteDatabase
) -> None:
    await library.aclose()
    file = folder / ".lrwr/library.db"
    file.write_bytes(file.read_bytes()[:4096] + b"\xff" * 8192)
    env = {**searching(web.base_url), **asking(models.base_url)}
    findings = await found(folder, env)
    for part in (WEB, MODEL):
        assert findings[part].state is HealthState.NOT_CHECKED
    assert (web.asked, models.asked) == ([], [])
