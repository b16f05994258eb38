import base64
import json
from collections.abc import Iterator
from pathlib import Path

import keyring
import pytest

from lrwr.core.adapters.auth.project import (
    SupabaseConnection,
    build_supabase_connection,
)
from lrwr.core.model.errors import SettingsProblem
from lrwr.core.settings.loader import load_settings
from lrwr.core.settings.model import Settings
from tests.fakes.keyrings import MemoryKeyring

URL = "https://marsh.example.org"
KEY = {"SUPABASE_KEY": "sb_publishable_abc"}


@pytest.fixture(autouse=True)
def empty_keyring() -> Iterator[None]:
    before = keyring.get_keyring()
    keyring.set_keyring(MemoryKeyring())
    yield
    keyring.set_keyring(before)


def settings(folder: Path, url: str = URL, library: str = "") -> Settings:
    (folder / "lrwr.toml").write_text(library, encoding="utf-8")
    env = {"LRWR_SUPABASE_URL": url} if url else {}
    return load_settings(folder, env, {}, user=folder / "none.toml")


def a_token(role: str) -> str:
    told = json.dumps({"role": role}).encode()
    middle = base64.urlsafe_b64encode(told).decode().rstrip("=")
    return f"eyJhbGciOiJIUzI1NiJ9.{middle}.c2lnbmF0dXJl"


@pytest.mark.parametrize("key", ["sb_publishable_abc", a_token("anon"), "a.b.c"])
def test_a_project_is_asked_with_its_publishable_key(tmp_path: Path, key: str) -> None:
    found = build_supabase_connection(settings(tmp_path), {"SUPABASE_KEY": f" {key}\n"})
    assert found == SupabaseConnection(URL, key, 20.0, own=False)
    assert found.host == "marsh.example.org"
    assert key not in repr(found)


@pytest.mark.parametrize("key", ["sb_secret_abc", a_token("service_role")])
def test_a_key_that_opens_every_account_is_refused(tmp_path: Path, key: str) -> None:
    with pytest.raises(SettingsProblem) as caught:
        build_supabase_connection(settings(tmp_path), {"SUPABASE_KEY": key})
    assert "publishable" in caught.value.hint
    assert key not in f"{caught.value}{caught.value.hint}"


def test_without_a_project_or_a_key_it_is_said_what_to_set(tmp_path: Path) -> None:
    with pytest.raises(SettingsProblem) as caught:
        build_supabase_connection(settings(tmp_path, url=""), KEY)
    assert "LRWR_SUPABASE_URL" in caught.value.hint
    with pytest.raises(SettingsProblem) as caught:
        build_supabase_connection(settings(tmp_path), {})
    assert "set-key supabase" in caught.value.hint


def test_a_folder_from_elsewhere_leads_nobody_to_its_own_project(
    tmp_path: Path,
) -> None:
    theirs = '[supabase]\nurl = "https://theirs.example.org"\n'
    with pytest.raises(SettingsProblem, match="points to another machine"):
        build_supabase_connection(settings(tmp_path, url="", library=theirs), KEY)


def test_a_password_is_sent_to_another_machine_only_where_nobody_can_read_it(
    tmp_path: Path,
) -> None:
    with pytest.raises(SettingsProblem, match="without encryption"):
        build_supabase_connection(
            settings(tmp_path, url="http://marsh.example.org"), KEY
        )
    own = build_supabase_connection(
        settings(tmp_path, url="http://127.0.0.1:54321/"), KEY
    )
    assert own == SupabaseConnection(
        "http://127.0.0.1:54321", KEY["SUPABASE_KEY"], 20.0, own=True
    )
