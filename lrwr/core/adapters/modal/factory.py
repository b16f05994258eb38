"""Creates from the settings the connection to Modal, and selects what is sent there."""

from collections.abc import Callable, Mapping

from lrwr.core.adapters.http.egress_log import EgressLogger
from lrwr.core.adapters.modal.calls import (
    MODAL_URL,
    ModalCallLedger,
    ModalConnection,
    ModalFunctionClient,
    ModalToken,
)
from lrwr.core.model.errors import ServiceUnavailable, SettingsProblem
from lrwr.core.ports.jobs import RunnerUnavailable
from lrwr.core.settings.library import Library
from lrwr.core.settings.model import Settings
from lrwr.core.settings.service_access import find_key, resolve_address

REMOTE_SETTINGS = (
    "pipeline",
    "chunk.size",
    "chunk.overlap",
    "chunk.smallest",
    "chunk.largest",
    "embedding.model",
    "embedding.name",
    "embedding.base_url",
    "embedding.dimensions",
    "embedding.timeout",
    "model.use",
    "model.name",
    "model.analyst",
    "model.base_url",
    "model.timeout",
    "model.concurrency",
    "model.requests_per_minute",
    "model.reasoning_effort",
    "model.prices",
)
"""The settings that affect the result; they are sent along with each document."""

CALLS_FOLDER = "calls"
"""Folder in `.lrwr/`: the ids of calls whose results were not stored yet."""

_SECRET = "MODAL_TOKEN_SECRET"

_LOCAL = 'or process documents on this machine: `[ingest] runner = "local"`.'


def find_modal_connection(settings: Settings) -> ModalConnection | None:
    """Return the connection to Modal, or None if `ingest.runner` is "local".

    Nothing is sent.

    Raises:
        SettingsProblem: `ingest.base_url` is invalid or not allowed in this folder.
    """
    if settings.ingest.runner == "local":
        return None
    return build_modal_connection(settings)


def build_modal_connection(settings: Settings) -> ModalConnection:
    """Return the connection to Modal, even if `ingest.runner` is "local".

    Nothing is sent.

    Raises:
        SettingsProblem: `ingest.base_url` is invalid or not allowed in this folder.
    """
    address = resolve_address(settings, "ingest.base_url", MODAL_URL, secret=True)
    app = settings.ingest.app.strip() or "lrwr"
    return ModalConnection(app, address, float(settings.ingest.timeout))


def select_remote_settings(settings: Settings) -> Mapping[str, object]:
    """Return the settings that affect results, by dotted name such as "model.name".

    They are sent to Modal with each document.

    Raises:
        SettingsProblem: One names a server or folder that only this machine can reach.
    """
    _check_reachable(settings)
    values = {key: settings.value(key) for key in REMOTE_SETTINGS}
    return {k: list(v) if isinstance(v, tuple) else v for k, v in values.items()}


def create_modal_function_client(
    connection: ModalConnection,
    library: Library,
    token: Callable[[], ModalToken],
    request_logger: EgressLogger | None,
) -> ModalFunctionClient:
    """Return the client of lrwr's function at Modal; nothing is opened yet.

    It stores the ids of calls in the `library`. `token` returns the API token and
    raises `ServiceUnavailable` if nothing may be sent. With a `request_logger`,
    requests are recorded in the send log.
    """
    ledger = ModalCallLedger(library.state_dir / CALLS_FOLDER)
    return ModalFunctionClient(connection, token, ledger, request_logger)


def build_modal_token(key: Callable[[], str], env: Mapping[str, str]) -> ModalToken:
    """Return the API token of Modal, from its two parts.

    `key` returns the first part, and raises `ServiceUnavailable` if the user has not
    consented. `env` are the environment variables; one of them may hold the second
    part.

    Raises:
        RunnerUnavailable: Consent or a part of the token is missing, or the system
            keyring is locked.
    """
    try:
        first, second = key(), find_key(_SECRET, env)
    except ServiceUnavailable as error:
        raise RunnerUnavailable(str(error), hint=error.hint) from error
    if not second:
        raise RunnerUnavailable(
            f"A Modal token has two parts, but {_SECRET} is not set",
            hint="Store both parts with `lrwr config set-key modal`.",
        )
    return ModalToken(first, second)


def _check_reachable(settings: Settings) -> None:
    if settings.embedding.model == "server":
        raise SettingsProblem(
            "Modal cannot reach the embedding server of your settings",
            hint=f'Set `embedding.model` to "local" or "openai", {_LOCAL}',
        )
    if settings.embedding.model == "fastembed":
        raise SettingsProblem(
            "Modal does not have the embedding models of fastembed",
            hint=f'Set `embedding.model` to "local" or "openai", {_LOCAL}',
        )
    if settings.embedding.model == "local" and settings.embedding.folder:
        raise SettingsProblem(
            "Modal does not have the embedding model in `embedding.folder`",
            hint=f"Clear `embedding.folder`, {_LOCAL}",
        )
    if settings.model.use == "local":
        raise SettingsProblem(
            "Modal cannot reach the language model on your own machine",
            hint=f'Set `model.use` to "off" or "openai", {_LOCAL}',
        )
