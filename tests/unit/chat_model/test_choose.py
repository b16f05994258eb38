"""Which model the settings ask for, and where a downloaded folder may not lead."""

from collections.abc import Iterator
from pathlib import Path

import keyring
import pytest

from lrwr.core.adapters.chat.connection import ModelServerClient
from lrwr.core.adapters.chat.factory import (
    build_chat_connection,
    create_openai_chat_model,
    is_chat_remote,
)
from lrwr.core.adapters.http.rate_limit import Clock, RateLimit
from lrwr.core.model.egress import RequestPurpose
from lrwr.core.model.errors import ServiceUnavailable, SettingsProblem
from lrwr.core.ports.models import ChatMessage, ReplyShape
from lrwr.core.settings.chat_models import ModelRole, list_chat_models
from lrwr.core.settings.loader import load_settings
from lrwr.core.settings.model import Settings
from lrwr.core.settings.service_access import is_loopback_host
from tests.fakes.keyrings import MemoryKeyring
from tests.fakes.model_server import ModelServer, Refuse

ENV = {"OPENAI_API_KEY": "sk-1"}
SHAPE = ReplyShape(
    "Who",
    '{"type": "object", "properties": {"who": {"type": "string"}},'
    ' "required": ["who"], "additionalProperties": false}',
)


@pytest.fixture(autouse=True)
def empty_keyring() -> Iterator[None]:
    kept = keyring.get_keyring()
    keyring.set_keyring(MemoryKeyring())
    yield
    keyring.set_keyring(kept)


def settings(folder: Path, library: str, user: str = "") -> Settings:
    own = folder / "user.toml"
    own.write_text(f"[model]\n{user}", encoding="utf-8")
    novel = folder / "novel"
    novel.mkdir(exist_ok=True)
    (novel / "lrwr.toml").write_text(f"[model]\n{library}", encoding="utf-8")
    return load_settings(novel, {}, {}, user=own)


def test_nothing_is_asked_unless_it_is_set(tmp_path: Path) -> None:
    line = ModelServerClient(RateLimit(1))
    assert (
        create_openai_chat_model(settings(tmp_path, ""), ENV, ModelRole.AVATAR, line)
        is None
    )
    assert not is_chat_remote(settings(tmp_path, ""))
    assert list_chat_models(settings(tmp_path, "")) == {}


def test_openai_is_asked_with_the_key_of_the_environment(tmp_path: Path) -> None:
    connection = build_chat_connection(settings(tmp_path, 'use = "openai"'), ENV)
    assert connection is not None
    assert (connection.name, connection.server) == ("gpt-6-luna", "OpenAI")
    assert (connection.key, connection.effort) == ("sk-1", "none")
    assert not connection.own


@pytest.mark.parametrize(
    ("lines", "effort"),
    [
        ('name = "gpt-4o-mini"', ""),
        ('name = "gpt-6-sol"', "none"),
        ('reasoning_effort = "low"', "low"),
    ],
)
def test_a_model_is_asked_to_think_as_it_can(
    tmp_path: Path, lines: str, effort: str
) -> None:
    connection = build_chat_connection(
        settings(tmp_path, f'use = "openai"\n{lines}'), ENV
    )
    assert connection is not None
    assert connection.effort == effort


def test_a_local_server_gets_no_key(tmp_path: Path) -> None:
    lines = 'use = "local"\nname = "llama3"\nbase_url = "http://localhost:1234/v1/"'
    connection = build_chat_connection(settings(tmp_path, lines), ENV)
    assert connection is not None
    assert connection.base_url == "http://localhost:1234/v1"
    assert connection.server == "The model server at localhost:1234"
    assert (connection.key, connection.own) == ("", True)


def test_choosing_opens_a_model_of_that_name(tmp_path: Path) -> None:
    chosen = settings(tmp_path, 'use = "local"\nname = "llama3"')
    chat = create_openai_chat_model(
        chosen, {}, ModelRole.ANALYST, ModelServerClient(RateLimit(1))
    )
    assert chat is not None
    assert chat.name == "llama3"


async def test_whoever_waits_for_an_answer_hears_within_half_a_minute(
    tmp_path: Path,
) -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    clock = Clock(now=lambda: sum(slept), sleep=sleep, chance=lambda: 1.0)
    with ModelServer(key="sk-1") as server:
        server.answering(lambda asked: Refuse(500))
        chosen = settings(
            tmp_path, "", f'use = "openai"\nbase_url = "{server.base_url}"'
        )
        line = ModelServerClient(RateLimit(4, patience=120.0), clock)
        for role in (ModelRole.PLANNER, ModelRole.AVATAR):
            chat = create_openai_chat_model(chosen, ENV, role, line, waited=True)
            assert chat is not None
            with pytest.raises(ServiceUnavailable, match="500"):
                await chat.fill([ChatMessage("user", "Who lit the lamp?")], SHAPE)
        assert 0 < sum(slept) <= 30
        patient = create_openai_chat_model(chosen, ENV, ModelRole.ANALYST, line)
        assert patient is not None
        with pytest.raises(ServiceUnavailable):
            await patient.fill([ChatMessage("user", "Who lit the lamp?")], SHAPE)
        assert sum(slept) > 60
        await line.aclose()


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ('use = "openai"', "no API key"),
        ('use = "local"', "model.name"),
        (
            'use = "local"\nname = "a"\nbase_url = "ftp://localhost"',
            "not a server address",
        ),
        ('use = "local"\nname = "a"\nbase_url = "http://[::1"', "not a server address"),
        (
            'use = "local"\nname = "a"\nbase_url = "http://localhost:x"',
            "not a server address",
        ),
        (
            'use = "local"\nname = "a"\nbase_url = "localhost:1234"',
            "not a server address",
        ),
    ],
)
def test_what_is_missing_is_told_with_something_to_do(
    tmp_path: Path, lines: str, says: str
) -> None:
    with pytest.raises(SettingsProblem, match=says) as caught:
        build_chat_connection(settings(tmp_path, lines), {})
    assert caught.value.hint


AFAR = 'base_url = "https://models.example/v1"'


@pytest.mark.parametrize(
    "address",
    [
        "https://models.example/v1",
        "http://127.0.0.1@models.example/v1",
        "http://127.0.0.1.models.example/v1",
        "http://10.0.0.7:11434/v1",
    ],
)
@pytest.mark.parametrize("use", ["openai", "local"])
def test_a_folder_cannot_lead_the_text_elsewhere(
    tmp_path: Path, use: str, address: str
) -> None:
    lines = f'use = "{use}"\nname = "a"\nbase_url = "{address}"'
    with pytest.raises(SettingsProblem, match="points to another machine") as caught:
        build_chat_connection(settings(tmp_path, lines), ENV)
    assert "your own settings file" in caught.value.hint


def test_the_writer_can(tmp_path: Path) -> None:
    chosen = settings(tmp_path, 'use = "openai"', AFAR)
    connection = build_chat_connection(chosen, ENV)
    assert connection is not None
    assert connection.base_url == "https://models.example/v1"


def test_a_key_is_not_sent_for_all_to_read(tmp_path: Path) -> None:
    chosen = settings(tmp_path, 'use = "openai"', AFAR.replace("https", "http"))
    with pytest.raises(SettingsProblem, match="without encryption"):
        build_chat_connection(chosen, ENV)


@pytest.mark.parametrize(
    ("host", "here"),
    [("localhost", True), ("127.0.0.9", True), ("::1", True), ("10.0.0.1", False)],
)
def test_this_machine_is_known(host: str, here: bool) -> None:
    assert is_loopback_host(host) is here


@pytest.mark.parametrize(
    ("lines", "user", "away"),
    [
        ('use = "openai"', "", True),
        ('use = "openai"', 'base_url = "http://127.0.0.1:9/v1"', True),
        ('use = "local"\nname = "a"', "", False),
        ('use = "local"\nname = "a"\nbase_url = "http://localhost:9/v1"', "", False),
        ('use = "local"\nname = "a"', 'base_url = "http://192.168.1.20:9/v1"', True),
    ],
)
def test_what_leaves_this_machine_is_known(
    tmp_path: Path, lines: str, user: str, away: bool
) -> None:
    assert is_chat_remote(settings(tmp_path, lines, user)) is away


def test_each_role_may_have_a_model_of_its_own(tmp_path: Path) -> None:
    lines = 'use = "openai"\nanalyst = "gpt-4o-mini"\navatar = "gpt-6-sol"'
    lines += '\njudge = "gpt-6-terra"'
    chosen = settings(tmp_path, lines)
    assert list_chat_models(chosen) == {
        RequestPurpose.PLANNING: "gpt-6-luna",
        RequestPurpose.CHECKING: "gpt-6-luna",
        RequestPurpose.WRITING: "gpt-6-luna",
        RequestPurpose.READING: "gpt-4o-mini",
        RequestPurpose.ANSWERING: "gpt-6-sol",
        RequestPurpose.JUDGING: "gpt-6-terra",
    }
    asked = [build_chat_connection(chosen, ENV, role) for role in ModelRole]
    assert [(one.name, one.effort) for one in asked if one] == [
        ("gpt-6-luna", "none"),
        ("gpt-4o-mini", ""),
        ("gpt-6-sol", "none"),
        ("gpt-6-terra", "none"),
        ("gpt-6-luna", "none"),
        ("gpt-6-luna", "none"),
        ("gpt-6-luna", "none"),
    ]


def test_a_role_without_a_model_of_its_own_has_the_one_that_is_named(
    tmp_path: Path,
) -> None:
    lines = 'use = "local"\nname = "a"\nplanner = "b"'
    assert set(list_chat_models(settings(tmp_path, lines)).values()) == {"a", "b"}
    with pytest.raises(SettingsProblem, match=r"model\.name"):
        build_chat_connection(settings(tmp_path, 'use = "local"\nplanner = "b"'), {})
