from collections.abc import Iterator
from pathlib import Path

import keyring
import pytest
import typer
from keyring.backends import fail
from typer.testing import CliRunner

from lrwr.cli.commands import config as commands
from lrwr.core.model.errors import LrwrError, ServiceUnavailable, SettingsProblem
from lrwr.core.settings.loader import load_settings
from lrwr.core.settings.model import index_settings
from lrwr.core.settings.service_access import (
    KEY_VARIABLES,
    MAX_KEY_CHARS,
    KeyLocation,
    KeyState,
    delete_key,
    find_key,
    list_key_states,
    list_key_variables,
    mask_credentials,
    resolve_address,
    store_key,
)
from tests.fakes.keyrings import LockedKeyring, MemoryKeyring

SECRET = "sk-very-secret"


@pytest.fixture(autouse=True)
def before() -> Iterator[None]:
    kept = keyring.get_keyring()
    yield
    keyring.set_keyring(kept)


@pytest.fixture
def ring() -> MemoryKeyring:
    made = MemoryKeyring()
    keyring.set_keyring(made)
    return made


def run(*words: str, given: str = "") -> tuple[str, str]:
    app = typer.Typer()
    app.command("set-key")(commands.config_set_key_command)
    app.command("unset-key")(commands.config_unset_key_command)
    app.command("keys")(commands.config_keys_command)
    ran = CliRunner().invoke(app, words, input=given, catch_exceptions=False)
    return ran.stdout, ran.stderr


def test_a_key_goes_into_the_keyring_and_comes_out_again(ring: MemoryKeyring) -> None:
    store_key("OPENAI_API_KEY", f" {SECRET}\n")
    assert find_key("OPENAI_API_KEY", {}) == SECRET
    assert ring.kept == {("lrwr", "OPENAI_API_KEY"): SECRET}


def test_the_environment_wins_over_the_keyring(ring: MemoryKeyring) -> None:
    store_key("COHERE_API_KEY", SECRET)
    assert find_key("COHERE_API_KEY", {"COHERE_API_KEY": "other"}) == "other"
    assert find_key("COHERE_API_KEY", {"COHERE_API_KEY": ""}) == SECRET


def test_states_say_where_a_key_is_and_never_the_key(ring: MemoryKeyring) -> None:
    store_key("OPENAI_API_KEY", SECRET)
    states = list_key_states({"TAVILY_API_KEY": SECRET})
    assert KeyState("openai", "OPENAI_API_KEY", KeyLocation.KEYRING) in states
    assert KeyState("tavily", "TAVILY_API_KEY", KeyLocation.ENVIRONMENT) in states
    assert KeyState("cohere", "COHERE_API_KEY", KeyLocation.NOWHERE) in states
    assert {state.name for state in states} == set(KEY_VARIABLES)
    assert SECRET not in repr(states)


def test_a_key_that_is_taken_out_is_gone(ring: MemoryKeyring) -> None:
    store_key("QDRANT_API_KEY", SECRET)
    assert delete_key("QDRANT_API_KEY") is True
    assert delete_key("QDRANT_API_KEY") is False
    assert find_key("QDRANT_API_KEY", {}) is None


@pytest.mark.parametrize(
    "given", ["", "  \n", "two\nlines", "é", "x" * (MAX_KEY_CHARS + 1)]
)
def test_what_cannot_be_a_key_is_refused_and_never_repeated(
    ring: MemoryKeyring, given: str
) -> None:
    with pytest.raises(SettingsProblem, match="not a valid key") as caught:
        store_key("OPENAI_API_KEY", given)
    assert caught.value.hint
    assert not given.strip() or given not in str(caught.value)
    assert ring.kept == {}


def test_a_misspelt_service_gets_the_nearest_name() -> None:
    with pytest.raises(SettingsProblem, match="opnai") as caught:
        list_key_variables("opnai")
    assert "Did you mean openai?" in caught.value.hint
    assert list_key_variables(" OpenAI ") == ("OPENAI_API_KEY",)


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("http://nell:heron@127.0.0.1:9/v1", "http://***@127.0.0.1:9/v1"),
        ("https://heron@h.example", "https://***@h.example"),
        ("http://nell:he/ron@h/v1", "http://***@h/v1"),
        ("http://nell:he?ron@h/v1", "http://***@h/v1"),
        ("nell:heron@h", "***@h"),
        ("nell:heron//@h", "***@h"),
        ("http:/nell:heron@h", "***@h"),
        ("http://h/v1?key=heron", "http://h/v1?***"),
        ("http://h:80/@nell", "http://h:80/@nell"),
        ("http://[::1]:80/v1", "http://[::1]:80/v1"),
        ("", ""),
    ],
)
def test_an_address_is_shown_without_its_password(address: str, shown: str) -> None:
    assert mask_credentials(address) == shown


@pytest.mark.parametrize(
    ("address", "problem"),
    [
        ("http://127.0.0.1:9/v1?x=", "no query"),
        ("http://127.0.0.1:9/v1#heron", "no query"),
        ("http://127.0.0.1:9/v1?", "no query"),
        ("http://127.0.0.1:9/v1 /x", "not a server address"),
        ("http://127.0.0.1:9/\nv1", "not a server address"),
        ("http://nell:heron@127.0.0.1:99999", "not a server address"),
        ("ftp://nell:heron@127.0.0.1", "not a server address"),
        ("nell:heron@127.0.0.1:9", "not a server address"),
    ],
)
@pytest.mark.parametrize("key", [k for k in index_settings() if k.endswith("url")])
def test_an_address_has_no_query_and_its_password_is_not_shown(
    tmp_path: Path, key: str, address: str, problem: str
) -> None:
    env = {index_settings()[key].variable: address}
    settings = load_settings(tmp_path, env, {}, user=tmp_path / "user.toml")
    with pytest.raises(SettingsProblem, match=problem) as caught:
        resolve_address(settings, key, "http://127.0.0.1:1", secret=False)
    assert caught.value.hint
    assert "heron" not in caught.value.full_text


def test_a_password_in_an_address_and_an_api_key_exclude_each_other(
    tmp_path: Path,
) -> None:
    env = {"LRWR_MODEL_BASE_URL": "https://nell:heron@h.example/v1"}
    settings = load_settings(tmp_path, env, {}, user=tmp_path / "user.toml")
    address = resolve_address(settings, "model.base_url", "", secret=False)
    assert address == env["LRWR_MODEL_BASE_URL"]
    with pytest.raises(SettingsProblem, match="besides your API key") as caught:
        resolve_address(settings, "model.base_url", "", secret=True)
    assert "heron" not in caught.value.full_text


def test_a_machine_without_a_keyring_is_told_of_the_variable() -> None:
    none = fail.Keyring()  # type: ignore[no-untyped-call]  # keyring has no types
    keyring.set_keyring(none)
    for act in (
        lambda: store_key("OPENAI_API_KEY", SECRET),
        lambda: delete_key("X_KEY"),
    ):
        with pytest.raises(SettingsProblem, match="no keyring") as caught:
            act()
        assert "environment variable" in caught.value.hint
    assert find_key("OPENAI_API_KEY", {}) is None
    assert {state.location for state in list_key_states({})} == {KeyLocation.NOWHERE}


def test_a_locked_keyring_is_told(ring: MemoryKeyring) -> None:
    keyring.set_keyring(LockedKeyring())
    with pytest.raises(ServiceUnavailable, match="unlock") as caught:
        find_key("OPENAI_API_KEY", {})
    assert "OPENAI_API_KEY" in caught.value.hint


def test_the_commands_never_show_a_key(
    ring: MemoryKeyring, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variables in KEY_VARIABLES.values():
        for variable in variables:
            monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("COHERE_API_KEY", SECRET)
    said = [
        run("set-key", "openai", given=f"{SECRET}\n"),
        run("set-key", "cohere", given=f"{SECRET}\n"),
        run("keys"),
        run("keys", "--json"),
        run("unset-key", "openai"),
        run("unset-key", "openai"),
    ]
    assert SECRET not in repr(said)
    assert "Stored OPENAI_API_KEY in the keyring" in said[0][0]
    assert "takes precedence" in said[1][1]
    assert ["openai", "keyring", "OPENAI_API_KEY"] in [
        line.split() for line in said[2][0].splitlines()
    ]
    assert "Deleted" in said[4][0]
    assert "is not in" in said[5][0]


def test_modal_wants_two_parts_and_takes_them_line_by_line(
    ring: MemoryKeyring,
) -> None:
    run("set-key", "modal", given="ak-1\nas-2\n")
    assert ring.kept == {
        ("lrwr", "MODAL_TOKEN_ID"): "ak-1",
        ("lrwr", "MODAL_TOKEN_SECRET"): "as-2",
    }


def test_nothing_given_is_refused(ring: MemoryKeyring) -> None:
    with pytest.raises(LrwrError, match="not a valid key"):
        run("set-key", "openai")
