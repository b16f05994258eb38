"""Where the settings have documents read, and what goes along with them."""

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
"""The settings that knowledge is made by: they go along with each document."""

CALLS_FOLDER = "calls"
"""In the state folder: the ids of calls that are not used yet."""

_SECRET = "MODAL_TOKEN_SECRET"

_HERE = 'or read here: [ingest] runner = "local".'


def find_modal_connection(settings: Settings) -> ModalConnection | None:
    """Return which app of Modal's reads documents, None where this machine does.

    Raises:
        SettingsProblem: The address is none, or a downloaded one leads elsewhere.
    """
    if settings.ingest.runner == "local":
        return None
    return build_modal_connection(settings)


def build_modal_connection(settings: Settings) -> ModalConnection:
    """Return where Modal is and which app is lrwr's, whoever reads documents.

    Raises:
        SettingsProblem: The address is none, or a downloaded one leads elsewhere.
    """
    address = resolve_address(settings, "ingest.base_url", MODAL_URL, secret=True)
    app = settings.ingest.app.strip() or "lrwr"
    return ModalConnection(app, address, float(settings.ingest.timeout))


def select_remote_settings(settings: Settings) -> Mapping[str, object]:
    """Return the settings that go along with each document.

    Raises:
        SettingsProblem: They name what only this machine can reach.
    """
    _check_reach(settings)
    values = {key: settings.value(key) for key in REMOTE_SETTINGS}
    return {k: list(v) if isinstance(v, tuple) else v for k, v in values.items()}


def create_modal_function_client(
    connection: ModalConnection,
    library: Library,
    token: Callable[[], ModalToken],
    request_logger: EgressLogger | None,
) -> ModalFunctionClient:
    """Return what makes calls, and keeps their ids; nothing is opened yet."""
    ledger = ModalCallLedger(library.state_dir / CALLS_FOLDER)
    return ModalFunctionClient(connection, token, ledger, request_logger)


def build_modal_token(key: Callable[[], str], env: Mapping[str, str]) -> ModalToken:
    """Return both parts of the token; `key` gives the first, if it may be used.

    Raises:
        RunnerUnavailable: The writer has not allowed it, a part is missing, or the keyring is
            locked.
    """
    try:
        first, second = key(), find_key(_SECRET, env)
    except ServiceUnavailable as error:
        raise RunnerUnavailable(str(error), hint=error.hint) from error
    if not second:
        raise RunnerUnavailable(
            f"Modal's token has two parts, and there is no {_SECRET}",
            hint="Keep both with `lrwr config set-key modal`.",
        )
    return ModalToken(first, second)


def _check_reach(settings: Settings) -> None:
    if settings.embedding.model == "server":
        raise SettingsProblem(
            "Modal cannot ask the server that `embedding.model` names",
            hint=f'Set `embedding.model` to "local" or "openai", {_HERE}',
        )
    if settings.embedding.model == "local" and settings.embedding.folder:
        raise SettingsProblem(
            "Modal does not have the model in `embedding.folder`",
            hint=f"Leave `embedding.folder` empty, {_HERE}",
        )
    if settings.model.use == "local":
        raise SettingsProblem(
            "Modal cannot ask the language model on your own machine",
            hint=f'Set `model.use` to "off" or "openai", {_HERE}',
        )
