"""Which server the settings ask for, when it may be asked, and what is noted of it."""

from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from functools import partial
from pathlib import Path

import keyring
import pytest

from lrwr.core.adapters.http.egress_log import EgressLogger
from lrwr.core.adapters.http.rate_limit import Clock
from lrwr.core.adapters.vectors.qdrant import create_qdrant_index
from lrwr.core.adapters.vectors.qdrant_collection import QdrantCollection
from lrwr.core.adapters.vectors.qdrant_http import (
    QdrantConnection,
    QdrantCursor,
    QdrantHttpClient,
    build_qdrant_connection,
)
from lrwr.core.model.chunks import SearchScope
from lrwr.core.model.egress import RequestOutcome, RequestPurpose
from lrwr.core.model.errors import LrwrError, SettingsProblem
from lrwr.core.model.language_model import compute_price
from lrwr.core.settings.consent import (
    HOSTED_SERVICES,
    ConsentState,
    ConsentStore,
    resolve_consent,
)
from lrwr.core.settings.library import prepare_state_dir, resolve_library
from lrwr.core.settings.loader import load_settings
from lrwr.core.settings.model import Settings
from lrwr.core.settings.service_access import QDRANT_URL
from tests.fakes.keyrings import MemoryKeyring
from tests.fakes.libraries import Library, sqlite_library
from tests.fakes.qdrant_server import KEY, QdrantServer
from tests.fakes.records import DIMENSIONS, ONE, SPACE, a_vector

ENV = {"QDRANT_API_KEY": KEY}
ON = 'keeper = "qdrant"\n'
CLOUD = "https://abc.cloud.qdrant.example:6333"


@pytest.fixture(autouse=True)
def empty_keyring() -> Iterator[None]:
    kept = keyring.get_keyring()
    keyring.set_keyring(MemoryKeyring())
    yield
    keyring.set_keyring(kept)


@pytest.fixture
def server() -> Iterator[QdrantServer]:
    with QdrantServer() as opened:
        yield opened


@pytest.fixture
async def library(tmp_path: Path) -> AsyncIterator[Library]:
    async with sqlite_library(tmp_path) as opened:
        await opened.keep_texts(ONE, ["The heron waits.", "Rain fell."])
        yield opened


def settings(folder: Path, library: str, user: str = "") -> Settings:
    own = folder / "user.toml"
    own.write_text(f'pipeline = "a"\n[vectors]\n{user}', encoding="utf-8")
    novel = folder / "novel"
    novel.mkdir(exist_ok=True)
    (novel / "lrwr.toml").write_text(f"[vectors]\n{library}", encoding="utf-8")
    return load_settings(novel, {}, {}, user=own)


def request_logger(library: Library) -> EgressLogger:
    return EgressLogger(library.sent, lambda: 1.0, partial(compute_price, table={}))


def test_a_key_alone_turns_nothing_on(tmp_path: Path) -> None:
    assert build_qdrant_connection(settings(tmp_path, ""), ENV) is None


def test_without_an_address_it_is_a_server_on_this_machine(tmp_path: Path) -> None:
    found = build_qdrant_connection(settings(tmp_path, ON), {})
    assert found == QdrantConnection(QDRANT_URL, "", 15.0, own=True)


def test_the_key_comes_from_the_environment_or_the_keyring(tmp_path: Path) -> None:
    keyring.set_password("lrwr", "QDRANT_API_KEY", "kept")
    on = settings(tmp_path, "", f'{ON}url = "{CLOUD}"\ntimeout = 7')
    found = build_qdrant_connection(on, {})
    assert found == QdrantConnection(CLOUD, "kept", 7.0, own=False)
    found = build_qdrant_connection(on, ENV)
    assert found is not None
    assert found.key == KEY
    assert KEY not in repr(found)


def test_a_downloaded_file_leads_nowhere_else(tmp_path: Path) -> None:
    with pytest.raises(SettingsProblem, match="points to another machine"):
        build_qdrant_connection(settings(tmp_path, f'{ON}url = "{CLOUD}"'), ENV)


def test_a_key_is_not_sent_for_all_to_read(tmp_path: Path) -> None:
    far = settings(tmp_path, "", f'{ON}url = "http://qdrant.example:6333"')
    with pytest.raises(SettingsProblem, match="without encryption"):
        build_qdrant_connection(far, ENV)
    assert build_qdrant_connection(far, {}) is not None


def test_a_server_on_this_machine_needs_no_consent_and_one_elsewhere_does(
    tmp_path: Path,
) -> None:
    consents = ConsentStore(tmp_path / "consent")
    here = settings(tmp_path, "", ON)
    assert (
        resolve_consent(here, resolve_library(here), "qdrant", consents)
        is ConsentState.OFF
    )
    far = settings(tmp_path, ON, f'url = "{CLOUD}"')
    library = resolve_library(far)
    prepare_state_dir(library)
    assert resolve_consent(far, library, "qdrant", consents) is ConsentState.UNASKED
    assert HOSTED_SERVICES["qdrant"].find_host(far) == "abc.cloud.qdrant.example"
    consents.store_answer(library, "qdrant", allowed=True)
    assert resolve_consent(far, library, "qdrant", consents) is ConsentState.ALLOWED


async def test_without_leave_this_machine_compares_and_nothing_is_sent(
    tmp_path: Path, library: Library, server: QdrantServer
) -> None:
    on = settings(tmp_path, f'{ON}url = "{server.url}"')
    index = create_qdrant_index(
        on,
        {},
        tmp_path / "index",
        library.feed,
        library="here",
        space=SPACE,
        dimensions=DIMENSIONS,
        refused=LrwrError("You denied Qdrant for this folder", hint="Allow it."),
        request_logger=request_logger(library),
    )
    async with aclosing(index):
        await index.catch_up()
        found = await index.nearest(a_vector("q"), scope=SearchScope(), limit=9)
    assert len(found) == 2
    assert index.remark == (
        "Compared on this machine, without Qdrant. You denied Qdrant for this folder."
        " Allow it."
    )
    assert server.asked == []


async def test_a_server_on_this_machine_is_asked_and_not_noted(
    tmp_path: Path, library: Library, server: QdrantServer
) -> None:
    index = create_qdrant_index(
        settings(tmp_path, f'{ON}url = "{server.url}"'),
        {},
        tmp_path / "index",
        library.feed,
        library="here",
        space=SPACE,
        dimensions=DIMENSIONS,
        refused=None,
        request_logger=request_logger(library),
    )
    async with aclosing(index):
        assert await index.catch_up() == 2
        assert index.remark == ""
    assert (await library.sent.report()).totals == ()


async def test_what_leaves_this_machine_is_noted_with_its_size(
    library: Library, server: QdrantServer
) -> None:
    elsewhere = QdrantHttpClient(
        QdrantConnection(server.url, own=False), request_logger=request_logger(library)
    )
    async with aclosing(
        QdrantCollection(elsewhere, "lrwr-x", DIMENSIONS)
    ) as collection:
        await collection.recreate(QdrantCursor("mark", "epoch", 0))
    report = await library.sent.report()
    assert {(one.service, one.purpose) for one in report.newest} == {
        ("qdrant", RequestPurpose.VECTORS)
    }
    assert [one.sent_bytes for one in reversed(report.newest)] == [
        one.size for one in server.asked
    ]
    assert all(one.succeeded and one.received_bytes for one in report.newest)


async def test_a_server_that_nobody_reached_was_sent_nothing(library: Library) -> None:
    with QdrantServer() as gone:
        url = gone.url
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    clock = Clock(now=lambda: 10.0 * len(slept), sleep=sleep)
    wire = QdrantHttpClient(
        QdrantConnection(url), request_logger=request_logger(library), clock=clock
    )
    async with aclosing(QdrantCollection(wire, "lrwr-x", DIMENSIONS)) as collection:
        with pytest.raises(LrwrError, match="cannot be reached"):
            await collection.count()
    newest = (await library.sent.report()).newest
    assert {one.outcome for one in newest} == {RequestOutcome.UNREACHED}
