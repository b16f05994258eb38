"""What the doctor says of a Qdrant server, where one is set."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import keyring
import numpy as np
import pytest

from lrwr.app.container import open_workspace
from lrwr.app.maintenance.check_result import HealthFinding, HealthState
from lrwr.app.maintenance.doctor import DoctorContext, run_doctor
from lrwr.app.maintenance.repair import repair_library
from lrwr.core.adapters.storage.sqlite.database import SqliteDatabase
from lrwr.core.model.choices import Pipeline
from lrwr.core.model.chunks import SearchScope
from lrwr.core.settings.library import resolve_library
from lrwr.core.settings.loader import load_settings
from tests.fakes.hosted_server import Refuse
from tests.fakes.keyrings import MemoryKeyring
from tests.fakes.libraries import Library, over
from tests.fakes.qdrant_server import QdrantServer
from tests.fakes.records import ONE, TWO, Clock, some_chunks, some_knowledge

TEXTS = ["The heron waits.", "Rain fell."]


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
def env(
    server: QdrantServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> dict[str, str]:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return {"LRWR_VECTORS_KEEPER": "qdrant", "LRWR_VECTORS_URL": server.url}


@pytest.fixture
async def library(tmp_path: Path) -> AsyncIterator[Library]:
    database = SqliteDatabase(tmp_path / "novel" / ".lrwr" / "library.db")
    kept = over(database, Clock())
    await embed(kept, ONE, tmp_path)
    yield kept
    await database.aclose()


async def embed(library: Library, document: str, folder: Path) -> None:
    """Keep two passages with vectors as the local model makes them."""
    settings = load_settings(folder / "novel", {}, {})
    async with open_workspace(settings) as workspace:
        local = workspace.embedders.local
        space = local.space
        chunks = some_chunks(TEXTS, document=ONE, pipeline=Pipeline.AGENTIC)
        if document == TWO:
            chunks = some_chunks(TEXTS, document=TWO, pipeline=Pipeline.AGENTIC)
        vectors = {}
        for n, chunk in enumerate(chunks):
            vector = np.zeros(local.dimensions, np.float32)
            vector[n] = 1.0
            vectors[chunk.text_hash] = vector
    await library.keep(
        some_knowledge(chunks, pipeline=Pipeline.AGENTIC, space=space, vectors=vectors)
    )


async def search(folder: Path, env: dict[str, str]) -> str:
    """Search by meaning once, as a command does; return what the index remarks."""
    settings = load_settings(folder / "novel", env, {})
    async with open_workspace(settings) as workspace:
        index = await workspace.retrieval.vector_index.open()
        assert index is not None
        await index.catch_up()
        query = np.ones(workspace.embedders.local.dimensions, np.float32)
        assert len(await index.nearest(query, scope=SearchScope(), limit=9)) >= 2
        return index.remark


async def found(folder: Path, env: dict[str, str]) -> HealthFinding:
    what = DoctorContext(folder / "novel", env, {}, now=1_000_000.0)
    (one,) = [one for one in await run_doctor(what) if one.part == "vector index"]
    return one


async def test_a_server_is_looked_at_before_and_after_the_first_search(
    tmp_path: Path, library: Library, env: dict[str, str], server: QdrantServer
) -> None:
    before = await found(tmp_path, env)
    assert (before.state, before.remedy) == (HealthState.OK, "")
    assert "no collection for this library yet" in before.detail
    assert await search(tmp_path, env) == ""
    after = await found(tmp_path, env)
    assert after.state is HealthState.OK
    assert "2 vectors, matching the database" in after.detail
    await embed(library, TWO, tmp_path)
    assert "2 changes behind" in (await found(tmp_path, env)).detail


async def test_a_collection_that_lost_vectors_is_broken_until_it_is_repaired(
    tmp_path: Path, library: Library, env: dict[str, str], server: QdrantServer
) -> None:
    await search(tmp_path, env)
    (made,) = server.engine.get_collections().collections
    (first, *_) = some_chunks(TEXTS, document=ONE, pipeline=Pipeline.AGENTIC)
    server.engine.delete(made.name, [str(first.id)])
    lost = await found(tmp_path, env)
    assert (lost.state, lost.remedy) == (HealthState.BROKEN, "Run `lrwr repair`.")
    repair_library(resolve_library(load_settings(tmp_path / "novel", {}, {})), now=1.0)
    assert "outdated" in (await found(tmp_path, env)).detail
    assert await search(tmp_path, env) == ""
    assert (await found(tmp_path, env)).state is HealthState.OK


async def test_a_server_that_refuses_is_a_warning_with_a_remedy(
    tmp_path: Path, library: Library, env: dict[str, str], server: QdrantServer
) -> None:
    server.always(Refuse(401))
    refused = await found(tmp_path, env)
    assert refused.state is HealthState.WARNING
    assert "does not accept the key" in refused.detail
    assert "compared on this machine" in refused.detail
    assert "lrwr config set-key qdrant" in refused.remedy


async def test_a_server_elsewhere_is_asked_only_with_leave(
    tmp_path: Path, library: Library, env: dict[str, str]
) -> None:
    (tmp_path / "novel" / "lrwr.toml").write_text('[vectors]\nkeeper = "qdrant"\n')
    elsewhere = {"LRWR_VECTORS_URL": "https://qdrant.example:6333"}
    unasked = await found(tmp_path, elsewhere)
    assert unasked.state is HealthState.WARNING
    assert "lrwr privacy allow qdrant" in unasked.remedy
    remark = await search(tmp_path, elsewhere)
    assert "lrwr privacy allow qdrant" in remark


async def test_it_is_not_asked_where_none_is_set(
    tmp_path: Path, library: Library, env: dict[str, str], server: QdrantServer
) -> None:
    assert "compared in memory" in (await found(tmp_path, {})).detail
    assert server.asked == []
