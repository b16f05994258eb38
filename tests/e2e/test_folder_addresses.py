"""A downloaded folder that names addresses contacts none of them without consent."""

import shutil
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

import pytest
import typer

from lrwr.cli.main import LazyGroup, app
from lrwr.core.settings.consent import CONSENT_SERVICES
from lrwr.core.settings.model import index_settings
from lrwr.core.settings.service_access import KEY_VARIABLES, HostedService
from tests.fakes.terminal import Terminal

Command: TypeAlias = Any
"""Typer has its own copy of click and does not export its types."""

ADDRESSES = [key for key in index_settings() if key.endswith("url")]

REQUIRED = {
    "model.name": "m",
    "embedding.name": "e",
    "embedding.dimensions": 384,
}
"""Settings without which a server is not contacted anyway."""

KEYS = {
    "OPENAI_API_KEY": "sk-heron-1",
    "COHERE_API_KEY": "co-heron-2",
    "TAVILY_API_KEY": "tvly-heron-3",
    "QDRANT_API_KEY": "q-heron-4",
    "LANGSMITH_API_KEY": "ls-heron-5",
    "MODAL_TOKEN_ID": "ak-heron-6",
    "MODAL_TOKEN_SECRET": "as-heron-7",
    "SUPABASE_KEY": "sb_publishable_heron8",
}

WORDS = {
    "EMAIL": "nell@example.org",
    "FILE": "backup.zip",
    "SERVICE": "openai",
    "KEY": "search.limit",
}
"""What required arguments are given, by the name that help shows; else "Nell"."""

UNRELATED = {"--help", "--version", "--install-completion", "--show-completion"}

ALLOWING = {("privacy", "allow"), ("privacy", "deny"), ("config", "set-key")}
"""Commands that record consent, or wait for a key."""


def walk_commands(
    command: Command, words: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Command]]:
    yield words, command
    for name, inner in getattr(command, "commands", {}).items():
        is_lazy = isinstance(command, LazyGroup)
        loaded = command.load_command(name) if is_lazy else inner
        yield from walk_commands(loaded, (*words, name))


def invocations() -> list[list[str]]:
    """Return every command with its required arguments, alone and with each flag."""
    lines = []
    for words, command in walk_commands(typer.main.get_command(app)):
        if words in ALLOWING:
            continue
        flags = [
            parameter.opts[0]
            for parameter in command.params
            if getattr(parameter, "is_flag", False)
        ]
        flags = [flag for flag in flags if flag not in UNRELATED]
        # `watch` would not end, and `doctor --servers` probes the usual ports.
        once = [flag for flag in flags if flag == "--once"]
        given = [
            WORDS.get((parameter.metavar or parameter.name).upper(), "Nell")
            for parameter in command.params
            if parameter.param_type_name == "argument" and parameter.required
        ]
        lines.append([*words, *once, *given])
        lines += [[*words, *once, flag, *given] for flag in flags if flag not in once]
    return lines


INVOCATIONS = invocations()


class Sink:
    """A port on this machine that counts the connections to it and closes them."""

    def __init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.connections = 0
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self._socket.getsockname()[1]}"

    def close(self) -> None:
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def _accept(self) -> None:
        with suppress(OSError):  # closed
            while True:
                connection, _ = self._socket.accept()
                self.connections += 1
                connection.close()


@pytest.fixture
def sink() -> Iterator[Sink]:
    opened = Sink()
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def ingested(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that was ingested before its settings arrived."""
    place = tmp_path_factory.mktemp("stranger")
    book = place / "book"
    book.mkdir()
    text = "# One\n\n“The lamp must never go out,” said Nell Tallow to Corin.\n"
    (book / "1.md").write_text(text, encoding="utf-8")
    assert Terminal(book, home=place / "home").run("ingest", ".").code == 0
    return place


def keys_of(hosted: HostedService) -> dict[str, str]:
    """Return the user's keys of a service."""
    names = next((names for names in KEY_VARIABLES.values() if hosted.key in names), ())
    return {name: KEYS[name] for name in names}


def stranger(
    ingested: Path, place: Path, settings: dict[str, object], **env: str
) -> Terminal:
    """Return a copy of the folder with `settings` in its own lrwr.toml."""
    shutil.copytree(ingested, place, dirs_exist_ok=True)
    lines = [
        f"{key} = {value if isinstance(value, int) else f'{chr(34)}{value}{chr(34)}'}"
        for key, value in settings.items()
    ]
    (place / "book/lrwr.toml").write_text("\n".join(lines), encoding="utf-8")
    return Terminal(place / "book", home=place / "home", **env)


def contacting(
    terminal: Terminal, sink: Sink, lines: Sequence[list[str]] = INVOCATIONS
) -> list[list[str]]:
    """Run each command in the folder as it was; return those that contacted the sink."""
    found = []
    settings = (terminal.folder / "lrwr.toml").read_text(encoding="utf-8")
    library = terminal.folder / ".lrwr"
    shutil.copytree(library, terminal.folder.parent / "library")
    for line in lines:
        (terminal.folder / "lrwr.toml").write_text(settings, encoding="utf-8")
        if not (library / "library.db").exists():
            shutil.rmtree(library, ignore_errors=True)
            shutil.copytree(terminal.folder.parent / "library", library)
        before = sink.connections
        terminal.run(*line, given="heron, heron, crane\n")
        if sink.connections != before:
            found.append(line)
    return found


def test_every_setting_that_names_an_address_belongs_to_a_service() -> None:
    assert {hosted.address for hosted in CONSENT_SERVICES.values()} == set(ADDRESSES)
    for key, setting in index_settings().items():
        names_address = str(setting.about.example).startswith("http")
        assert names_address == (key in ADDRESSES), key


def test_every_command_is_covered() -> None:
    names = {line[0] for line in INVOCATIONS if line}
    assert {"ask", "ingest", "login", "watch", "doctor", "deploy", "eval"} <= names


@pytest.mark.parametrize("hosted", CONSENT_SERVICES.values(), ids=CONSENT_SERVICES)
def test_an_address_of_the_folder_is_not_contacted_before_consent(
    ingested: Path, tmp_path: Path, sink: Sink, hosted: HostedService
) -> None:
    settings = {hosted.setting: hosted.value, hosted.address: sink.origin, **REQUIRED}
    terminal = stranger(ingested, tmp_path, settings, **keys_of(hosted))
    assert contacting(terminal, sink) == []


@pytest.mark.parametrize("hosted", CONSENT_SERVICES.values(), ids=CONSENT_SERVICES)
def test_it_is_not_contacted_for_a_service_that_the_user_turned_on(
    ingested: Path, tmp_path: Path, sink: Sink, hosted: HostedService
) -> None:
    variable = index_settings()[hosted.setting].variable
    settings = {hosted.address: sink.origin, **REQUIRED}
    env = {variable: hosted.value, **keys_of(hosted)}
    terminal = stranger(ingested, tmp_path, settings, **env)
    lines = [["ingest"], ["ask", "Who?"], ["search", "lamp"], ["doctor"], ["status"]]
    lines += [["login", "a@b.cd"], ["push"], ["pull"], ["deploy", "modal"]]
    assert contacting(terminal, sink, lines) == []


@pytest.mark.parametrize("name", ["model-server", "embedding-server", "qdrant"])
def test_an_allowed_address_is_contacted(
    ingested: Path, tmp_path: Path, sink: Sink, name: str
) -> None:
    hosted = CONSENT_SERVICES[name]
    settings = {hosted.setting: hosted.value, hosted.address: sink.origin, **REQUIRED}
    terminal = stranger(ingested, tmp_path, settings)
    assert terminal.run("privacy", "allow", name).code == 0
    assert contacting(terminal, sink, [["doctor"]]) == [["doctor"]]
