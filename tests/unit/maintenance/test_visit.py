import asyncio
import hashlib
import socket
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import keyring
import pytest

from lrwr.app.maintenance.check_result import HealthFinding, HealthState
from lrwr.app.maintenance.doctor import DoctorContext, run_doctor
from lrwr.core.adapters.chat.local_servers import LocalServer, list_local_servers
from lrwr.core.adapters.storage.sqlite.database import SqliteDatabase
from tests.fakes.keyrings import MemoryKeyring
from tests.fakes.libraries import over
from tests.fakes.listing import serving
from tests.fakes.records import ONE, Clock

WORDS_ONLY = {"LRWR_EMBEDDING_MODEL": "off"}


@pytest.fixture
def novel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    folder = tmp_path / "novel"
    folder.mkdir()
    return folder


@pytest.fixture
async def library(novel: Path) -> Path:
    database = SqliteDatabase(novel / ".lrwr" / "library.db")
    await over(database, Clock()).keep_texts(ONE, ["The frog sat.", "It rained."])
    await database.aclose()
    return novel


async def parts(
    folder: Path,
    env: Mapping[str, str] = WORDS_ONLY,
    servers: tuple[LocalServer, ...] = (),
) -> dict[str, HealthFinding]:
    what = DoctorContext(folder, env, {}, now=1_000_000.0, servers=servers)
    return {finding.part: finding for finding in await run_doctor(what)}


def hashes(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(
            path.read_bytes()
        ).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


async def test_where_nothing_was_ingested_nothing_is_broken_and_nothing_is_made(
    novel: Path,
) -> None:
    found = await parts(novel)
    states = {part: finding.state for part, finding in found.items()}
    assert states["database"] is HealthState.OFF
    assert states["state folder"] is HealthState.OFF
    assert states["manuscript"] is HealthState.OFF
    assert set(states.values()) == {HealthState.OK, HealthState.OFF}
    assert hashes(novel) == {}


async def test_a_healthy_library_is_looked_at_and_left_as_it_was(
    library: Path,
) -> None:
    before = hashes(library)
    found = await parts(library)
    assert found["database"].state is HealthState.OK
    assert found["word index"].state is HealthState.OK
    assert found["jobs"].state is HealthState.OK
    assert found["vectors"].state is HealthState.OFF
    assert found["hosted services"].state is HealthState.OFF
    assert hashes(library) == before


async def test_with_the_model_its_weights_its_vectors_and_its_index_are_looked_at(
    library: Path,
) -> None:
    found = await parts(library, {})
    assert found["embedding"].state is HealthState.OK
    assert found["reranker"].state is HealthState.OK
    assert found["vector index"].state is HealthState.OK


async def test_a_model_folder_without_a_model_is_broken(
    library: Path, tmp_path: Path
) -> None:
    env = {"LRWR_EMBEDDING_FOLDER": str(tmp_path / "nowhere")}
    found = await parts(library, env)
    assert found["embedding"].state is HealthState.BROKEN
    assert found["embedding"].remedy
    assert found["reranker"].state is HealthState.OFF
    assert "vector index" not in found


async def test_a_damaged_database_is_broken_and_names_repair(library: Path) -> None:
    database = library / ".lrwr" / "library.db"
    content = await asyncio.to_thread(database.read_bytes)
    damaged = content[:4096] + b"\xff" * (len(content) - 4096)
    await asyncio.to_thread(database.write_bytes, damaged)
    found = await parts(library)
    assert found["database"].state is HealthState.BROKEN
    assert "lrwr repair" in found["database"].remedy
    assert "jobs" not in found


async def test_an_older_library_is_not_changed_by_a_look(library: Path) -> None:
    database = library / ".lrwr" / "library.db"
    (library / "book").mkdir()
    memory = '{"folders": ["book"]}'
    await asyncio.to_thread((library / ".lrwr/library.json").write_text, memory)
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("pragma user_version = 0")
    found = await parts(library)
    assert found["database"].state is HealthState.WARNING
    assert found["manuscript"].state is HealthState.NOT_CHECKED
    with closing(sqlite3.connect(database)) as connection:
        assert connection.execute("pragma user_version").fetchone() == (0,)


async def test_settings_that_cannot_be_read_are_told_and_the_rest_waits(
    novel: Path,
) -> None:
    found = await parts(novel, {"LRWR_SEARCH_LIMIT": "many"})
    assert found["settings"].state is HealthState.BROKEN
    assert "LRWR_SEARCH_LIMIT" in found["settings"].detail
    assert found["everything else"].state is HealthState.NOT_CHECKED


async def test_an_unknown_variable_is_a_warning(novel: Path) -> None:
    found = await parts(novel, {**WORDS_ONLY, "LRWR_SERCH_LIMIT": "3"})
    assert found["settings"].state is HealthState.WARNING
    assert "LRWR_SERCH_LIMIT" in found["settings"].detail


LOCAL = {**WORDS_ONLY, "LRWR_MODEL_USE": "local", "LRWR_MODEL_NAME": "qwen3"}
OPENAI = {**WORDS_ONLY, "LRWR_MODEL_USE": "openai", "OPENAI_API_KEY": "sk-frog"}


async def test_the_writers_own_model_server_is_asked_what_it_offers(
    novel: Path,
) -> None:
    with serving(b'{"data": [{"id": "qwen3"}]}') as (server, paths):
        base = f"http://127.0.0.1:{server.port}/v1"
        env = {**LOCAL, "LRWR_MODEL_BASE_URL": base}
        found = await parts(novel, env, (server,))
        away = await parts(novel, {**env, "LRWR_MODEL_NAME": "gemma"})
    assert set(paths) == {"/v1/models"}
    assert found["language model"].state is HealthState.OK
    assert found["hosted services"].detail == "Nothing is sent from this machine."
    assert found["Test"].remedy == ""
    assert "no model gemma" in away["language model"].detail
    gone = await parts(novel, env)
    assert gone["language model"].state is HealthState.WARNING
    assert f"no server answers at {base}" in gone["language model"].detail


async def test_a_language_model_that_is_half_set_up_is_broken_with_a_remedy(
    library: Path,
) -> None:
    folders = {"LRWR_MANUSCRIPT_FOLDERS": str(library)}
    nameless = await parts(library, {**LOCAL, "LRWR_MODEL_NAME": ""})
    assert nameless["language model"].state is HealthState.BROKEN
    assert "model.name" in nameless["language model"].remedy
    kept = keyring.get_keyring()
    keyring.set_keyring(MemoryKeyring())
    try:
        keyless = await parts(library, {**OPENAI, **folders, "OPENAI_API_KEY": ""})
    finally:
        keyring.set_keyring(kept)
    assert keyless["language model"].state is HealthState.BROKEN
    assert "set-key openai" in keyless["language model"].remedy
    assert keyless["manuscript"].state is HealthState.OK


async def test_a_hosted_model_is_told_without_its_key(novel: Path) -> None:
    away = {**OPENAI, "LRWR_MODEL_BASE_URL": "http://127.0.0.1:9/v1"}
    found = await parts(novel, away)
    assert found["language model"].state is HealthState.WARNING
    assert "model is sent to 127.0.0.1" in found["hosted services"].detail
    assert "sk-frog" not in str(found)


async def test_nothing_is_contacted_unless_servers_are_asked_for(
    library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    contacted: list[object] = []

    def note(self: socket.socket, address: object) -> None:
        contacted.append(address)
        raise ConnectionRefusedError

    monkeypatch.setattr(socket.socket, "connect", note)
    await parts(library, {})
    assert contacted == []
    found = await parts(library, servers=list_local_servers())
    assert sorted(str(address) for address in contacted) == [
        f"('127.0.0.1', {port})" for port in (11434, 1234, 8080)
    ]
    assert found["Ollama"].state is HealthState.OFF
