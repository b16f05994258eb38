"""Creates the language models that the settings select."""

from collections.abc import Callable, Mapping

from lrwr.core.adapters.chat.connection import (
    OPENAI_CHAT_URL,
    ChatConnection,
    ModelServerClient,
)
from lrwr.core.adapters.chat.openai import OpenAIChatModel
from lrwr.core.adapters.http.egress_log import EgressLogger
from lrwr.core.adapters.http.rate_limit import INTERACTIVE_RETRY_SECONDS, RateLimit
from lrwr.core.model.errors import SettingsProblem
from lrwr.core.settings.chat_models import ModelRole, get_chat_model_name
from lrwr.core.settings.model import Settings
from lrwr.core.settings.service_access import (
    OLLAMA_URL,
    find_key,
    is_loopback_host,
    parse_host,
    resolve_address,
)

_KEY = "OPENAI_API_KEY"

_NO_REASONING = ("gpt-3", "gpt-4", "chatgpt-4")
"""Prefixes of OpenAI models that reject a reasoning effort."""

_REMOTE_RETRY_SECONDS = 120.0
_LOCAL_RETRY_SECONDS = 10.0


def create_openai_chat_model(
    settings: Settings,
    env: Mapping[str, str],
    role: ModelRole,
    client: ModelServerClient,
    *,
    waited: bool = False,
) -> OpenAIChatModel | None:
    """Return the language model for `role`, or None if `model.use` is off.

    Nothing is sent or opened yet. The caller closes `client`. `env` are the environment
    variables; one of them may hold the key. `waited` means that a user waits for the
    replies: failed calls are retried for a shorter time.

    Raises:
        SettingsProblem: The key or the model name is missing, or the address is not
            allowed in this folder.
        ServiceUnavailable: The system keyring is locked.
    """
    connection = build_chat_connection(settings, env, role)
    if connection is None:
        return None
    patience = INTERACTIVE_RETRY_SECONDS if waited else None
    return OpenAIChatModel(connection, client, role.purpose, patience)


def create_chat_server_client(
    settings: Settings,
    request_logger: EgressLogger,
    notify: Callable[[str], None] | None = None,
) -> ModelServerClient:
    """Return the client of the model server in `settings`; nothing is opened yet.

    Requests that leave this machine are recorded in the send log by `request_logger`.
    `notify` receives a sentence for the user if retries take long.

    Raises:
        SettingsProblem: The address is invalid or not allowed in this folder.
    """
    model = settings.model
    retry_seconds = (
        _LOCAL_RETRY_SECONDS if model.use == "local" else _REMOTE_RETRY_SECONDS
    )
    limit = RateLimit(model.concurrency, model.requests_per_minute, retry_seconds)
    logger = request_logger if is_chat_remote(settings) else None
    return ModelServerClient(limit, request_logger=logger, notify=notify)


def is_chat_remote(settings: Settings) -> bool:
    """Return whether requests to the language model leave this machine.

    Requests to OpenAI do, whatever `model.base_url` is: a proxy on this machine
    forwards them. Requests to the user's own server do unless it runs on this machine.
    False if `model.use` is off.

    Raises:
        SettingsProblem: The address is invalid or not allowed in this folder.
    """
    match settings.model.use:
        case "off":
            return False
        case "openai":
            return True
        case "local":
            return not is_loopback_host(
                parse_host(_resolve_base_url(settings, OLLAMA_URL))
            )


def build_chat_connection(
    settings: Settings, env: Mapping[str, str], role: ModelRole = ModelRole.AVATAR
) -> ChatConnection | None:
    """Return the model and server for `role`, or None if `model.use` is off.

    `env` are the environment variables; one of them may hold the key.

    Raises:
        SettingsProblem: The key or the model name is missing, or the address is not
            allowed in this folder.
        ServiceUnavailable: The system keyring is locked.
    """
    match settings.model.use:
        case "off":
            return None
        case "openai":
            return _build_openai_connection(
                settings, env, get_chat_model_name(settings, role)
            )
        case "local":
            return _build_local_connection(
                settings, get_chat_model_name(settings, role)
            )


def _build_openai_connection(
    settings: Settings, env: Mapping[str, str], name: str
) -> ChatConnection:
    model = settings.model
    address = _resolve_base_url(settings, OPENAI_CHAT_URL)
    key = find_key(_KEY, env)
    if not key:
        raise SettingsProblem(
            "`model.use` is openai, but there is no API key",
            hint="Store a key with `lrwr config set-key openai`, or set the environment"
            f" variable {_KEY}.",
        )
    effort: str = model.reasoning_effort
    if effort == "auto":
        effort = "" if name.startswith(_NO_REASONING) else "none"
    return ChatConnection(
        name,
        address,
        key=key,
        timeout=float(model.timeout),
        effort=effort,
        most_reply=model.answer_tokens,
        answer_timeout=float(model.answer_timeout),
    )


def _build_local_connection(settings: Settings, name: str) -> ChatConnection:
    model = settings.model
    if not name:
        raise SettingsProblem(
            "`model.use` is local, but `model.name` is empty",
            hint="Set `model.name` to a model of your server; `lrwr doctor --servers` lists them.",
        )
    effort = "" if model.reasoning_effort == "auto" else model.reasoning_effort
    return ChatConnection(
        name,
        _resolve_base_url(settings, OLLAMA_URL),
        timeout=float(model.timeout),
        effort=effort,
        own=True,
        most_reply=model.answer_tokens,
        answer_timeout=float(model.answer_timeout),
    )


def _resolve_base_url(settings: Settings, default: str) -> str:
    secret = settings.model.use == "openai"
    return resolve_address(settings, "model.base_url", default, secret=secret)
