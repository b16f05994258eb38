"""Which web the settings ask for, and where a downloaded folder may not lead."""

from collections.abc import Iterator
from pathlib import Path

import keyring
import pytest

from lrwr.core.adapters.web.tavily import (
    TAVILY_URL,
    TavilySearch,
    build_tavily_connection,
    create_tavily_search,
)
from lrwr.core.model.errors import SettingsProblem
from lrwr.core.settings.loader import load_settings
from lrwr.core.settings.model import Settings
from tests.fakes.keyrings import MemoryKeyring

ENV = {"TAVILY_API_KEY": "tvly-1"}
ON = 'use = "tavily"\n'


@pytest.fixture(autouse=True)
def empty_keyring() -> Iterator[None]:
    kept = keyring.get_keyring()
    keyring.set_keyring(MemoryKeyring())
    yield
    keyring.set_keyring(kept)


def settings(folder: Path, library: str, user: str = "") -> Settings:
    own = folder / "user.toml"
    own.write_text(f"[web]\n{user}", encoding="utf-8")
    novel = folder / "novel"
    novel.mkdir(exist_ok=True)
    (novel / "lrwr.toml").write_text(f"[web]\n{library}", encoding="utf-8")
    return load_settings(novel, {}, {}, user=own)


def test_a_key_alone_turns_nothing_on(tmp_path: Path) -> None:
    plain = settings(tmp_path, "")
    assert create_tavily_search(plain, ENV) is None


def test_the_setting_and_a_key_turn_it_on(tmp_path: Path) -> None:
    on = settings(tmp_path, "", f"{ON}timeout = 7")
    assert isinstance(create_tavily_search(on, ENV), TavilySearch)
    connection = build_tavily_connection(on, ENV)
    assert connection is not None
    assert (connection.key, connection.base_url) == ("tvly-1", TAVILY_URL)
    assert (connection.timeout, connection.own) == (7.0, False)


def test_on_without_a_key_says_where_to_put_one(tmp_path: Path) -> None:
    with pytest.raises(SettingsProblem, match="no API key") as caught:
        create_tavily_search(settings(tmp_path, "", ON), {})
    assert "lrwr config set-key tavily" in caught.value.hint


@pytest.mark.parametrize(
    "address", ["https://elsewhere.example/v1", "http://192.168.1.5:80"]
)
def test_a_downloaded_file_leads_nowhere_else(tmp_path: Path, address: str) -> None:
    strange = settings(tmp_path, f'base_url = "{address}"', ON)
    with pytest.raises(SettingsProblem, match="points to another machine"):
        create_tavily_search(strange, ENV)


def test_the_writers_own_file_may_lead_elsewhere(tmp_path: Path) -> None:
    own = settings(tmp_path, "", f'{ON}base_url = "https://proxy.example/tavily/"')
    connection = build_tavily_connection(own, ENV)
    assert connection is not None
    assert connection.base_url == "https://proxy.example/tavily"


def test_a_server_on_this_machine_is_no_hosted_service(tmp_path: Path) -> None:
    here = settings(tmp_path, 'base_url = "http://127.0.0.1:9"', ON)
    connection = build_tavily_connection(here, ENV)
    assert connection is not None
    assert connection.own


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("http://proxy.example", "without encryption"),
        ("tavily.com", "not a server address"),
        ("http://[", "not a server address"),
    ],
)
def test_an_address_that_cannot_be_used_is_refused(
    tmp_path: Path, address: str, says: str
) -> None:
    with pytest.raises(SettingsProblem, match=says):
        create_tavily_search(settings(tmp_path, "", f'{ON}base_url = "{address}"'), ENV)


@pytest.mark.parametrize("line", ["results = 0", "results = 11", 'use = "google"'])
def test_what_a_setting_cannot_be_is_refused(tmp_path: Path, line: str) -> None:
    with pytest.raises(SettingsProblem):
        settings(tmp_path, line)
