"""Which chat model the settings ask for, and where it may be."""

from collections.abc import Mapping
from enum import StrEnum

from lrwr.core.adapters.chat.connection import (
    OPENAI_CHAT_URL,
    ChatConnection,
    ModelServerClient,
)
from lrwr.core.adapters.chat.openai import OpenAIChatModel
from lrwr.core.adapters.http.egress_log import EgressLogger
from lrwr.core.adapters.http.rate_limit import INTERACTIVE_RETRY_SECONDS, RateLimit
from lrwr.core.model.egress import RequestPurpose
from lrwr.core.model.errors import SettingsProblem
from lrwr.core.settings.model import Settings
from lrwr.core.settings.service_access import (
    find_key,
    is_loopback_host,
    parse_host,
    resolve_address,
)

OLLAMA_CHAT_URL = "http://127.0.0.1:11434/v1"

DEFAULT_CHAT_MODEL = "gpt-6-luna"
"""The model of OpenAI's that is asked when none is named."""

_KEY = "OPENAI_API_KEY"

_WITHOUT_EFFORT = ("gpt-3", "gpt-4", "chatgpt-4")
"""How the names of OpenAI's models begin that know no reasoning effort."""

_PATIENCE_AFAR = 120.0
_PATIENCE_HERE = 10.0


class ModelRole(StrEnum):
    """What a model is asked to do: each may have a model of its own."""

    PLANNER = "planner"
    ANALYST = "analyst"
    AVATAR = "avatar"
    JUDGE = "judge"

    @property
    def purpose(self) -> RequestPurpose:
        """What its requests are for."""
        match self:
            case ModelRole.PLANNER:
                return RequestPurpose.PLANNING
            case ModelRole.ANALYST:
                return RequestPurpose.READING
            case ModelRole.AVATAR:
                return RequestPurpose.ANSWERING
            case ModelRole.JUDGE:
                return RequestPurpose.JUDGING


def create_openai_chat_model(
    settings: Settings,
    env: Mapping[str, str],
    role: ModelRole,
    line: ModelServerClient,
    *,
    waited: bool = False,
) -> OpenAIChatModel | None:
    """Return the model that the settings ask for, None where they ask for none.

    Nothing is sent or opened yet; close the line in the end. `waited` says that somebody
    sits and waits for what it says.

    Raises:
        SettingsProblem: A setting is missing, or a downloaded one leads elsewhere.
        ServiceUnavailable: The keyring is locked.
    """
    connection = build_chat_connection(settings, env, role)
    if connection is None:
        return None
    patience = INTERACTIVE_RETRY_SECONDS if waited else None
    return OpenAIChatModel(connection, line, role.purpose, patience)


def create_chat_server_client(
    settings: Settings, noting: EgressLogger
) -> ModelServerClient:
    """Return the line to the server that the settings name; nothing is opened yet.

    Whatever leaves this machine is noted.

    Raises:
        SettingsProblem: The address is none, or a downloaded one leads elsewhere.
    """
    model = settings.model
    patience = _PATIENCE_HERE if model.use == "local" else _PATIENCE_AFAR
    pace = RateLimit(model.concurrency, model.requests_per_minute, patience)
    return ModelServerClient(pace, noting=noting if is_chat_remote(settings) else None)


def is_chat_remote(settings: Settings) -> bool:
    """Say whether what a model is asked leaves this machine.

    To a hosted service it does, whatever its address: a way through this machine may
    lead on. To a server of the writer's own it does unless that is on this machine.

    Raises:
        SettingsProblem: The address is none, or a downloaded one leads elsewhere.
    """
    match settings.model.use:
        case "off":
            return False
        case "openai":
            return True
        case "local":
            return not is_loopback_host(parse_host(_address(settings, OLLAMA_CHAT_URL)))


def get_chat_model_name(settings: Settings, role: ModelRole) -> str:
    """Return the model that is asked in a role; empty where none is, or none is named."""
    model = settings.model
    match role:
        case ModelRole.PLANNER:
            name = model.planner
        case ModelRole.ANALYST:
            name = model.analyst
        case ModelRole.AVATAR:
            name = model.avatar
        case ModelRole.JUDGE:
            name = model.judge
    default = DEFAULT_CHAT_MODEL if model.use == "openai" else ""
    return "" if model.use == "off" else name or model.name or default


def list_chat_models(settings: Settings) -> dict[RequestPurpose, str]:
    """Return which model is asked for what; empty where none is set."""
    name_by_purpose = {
        role.purpose: get_chat_model_name(settings, role) for role in ModelRole
    }
    return {purpose: name for purpose, name in name_by_purpose.items() if name}


def build_chat_connection(
    settings: Settings, env: Mapping[str, str], role: ModelRole = ModelRole.AVATAR
) -> ChatConnection | None:
    """Return which model of which server is asked in a role, None for none.

    Raises:
        SettingsProblem: A setting is missing, or a downloaded one leads elsewhere.
        ServiceUnavailable: The keyring is locked.
    """
    match settings.model.use:
        case "off":
            return None
        case "openai":
            return _of_openai(settings, env, get_chat_model_name(settings, role))
        case "local":
            return _of_this_machine(settings, get_chat_model_name(settings, role))


def _of_openai(settings: Settings, env: Mapping[str, str], name: str) -> ChatConnection:
    model = settings.model
    address = _address(settings, OPENAI_CHAT_URL)
    key = find_key(_KEY, env)
    if not key:
        raise SettingsProblem(
            "`model.use` is openai, and there is no key for it",
            hint=f"Keep one with `lrwr config set-key openai`, or set {_KEY}.",
        )
    effort: str = model.reasoning_effort
    if effort == "auto":
        effort = "" if name.startswith(_WITHOUT_EFFORT) else "none"
    return ChatConnection(
        name, address, key=key, timeout=float(model.timeout), effort=effort
    )


def _of_this_machine(settings: Settings, name: str) -> ChatConnection:
    model = settings.model
    if not name:
        raise SettingsProblem(
            "`model.use` is local, and `model.name` is empty",
            hint="See what is there with `lrwr doctor --servers`, and set `model.name`.",
        )
    effort = "" if model.reasoning_effort == "auto" else model.reasoning_effort
    return ChatConnection(
        name,
        _address(settings, OLLAMA_CHAT_URL),
        timeout=float(model.timeout),
        effort=effort,
        own=True,
    )


def _address(settings: Settings, default: str) -> str:
    secret = settings.model.use == "openai"
    return resolve_address(settings, "model.base_url", default, secret=secret)
