"""Keys of services: kept by the environment or the system's keyring, never by a file.

A key that is there turns nothing on: only a setting does.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum
from ipaddress import ip_address
from types import ModuleType
from urllib.parse import urlsplit

from lrwr.core.model.errors import ServiceUnavailable, SettingsProblem
from lrwr.core.settings.model import Settings, SettingSource

KEYRING_SERVICE = "lrwr"
"""Under this name the keyring keeps what is lrwr's."""
MAX_KEY_CHARS = 1_200
"""Characters of a key: the keyring of Windows takes little more."""
_LONGEST_NAME = 14
"""Characters of what may be the name of a service: more may be a key, which is not
said back."""
KEY_VARIABLES: Mapping[str, tuple[str, ...]] = {
    "openai": ("OPENAI_API_KEY",),
    "cohere": ("COHERE_API_KEY",),
    "tavily": ("TAVILY_API_KEY",),
    "supabase": ("SUPABASE_KEY",),
    "qdrant": ("QDRANT_API_KEY",),
    "modal": ("MODAL_TOKEN_ID", "MODAL_TOKEN_SECRET"),
    "langsmith": ("LANGSMITH_API_KEY",),
}
"""The services that want a key, and the environment variables that may hold it."""


class KeyLocation(StrEnum):
    """Where a key is; the environment wins."""

    ENVIRONMENT = "environment"
    KEYRING = "keyring"
    NOWHERE = "not set"


@dataclass(frozen=True, slots=True)
class KeyState:
    """Where the key of one variable is; never the key itself."""

    name: str
    variable: str
    place: KeyLocation


def list_key_variables(name: str) -> tuple[str, ...]:
    """Return the environment variables of the service `name`, whatever its case.

    Raises:
        SettingsProblem: There is no such service.
    """
    normalized = name.strip().lower()
    if normalized in KEY_VARIABLES:
        return KEY_VARIABLES[normalized]
    near = get_close_matches(normalized, KEY_VARIABLES, n=1)
    offer = f"Did you mean {near[0]}? " if near else ""
    raise SettingsProblem(
        f"lrwr knows no service {name!r}"
        if len(normalized) <= _LONGEST_NAME
        else "That is no service's name; if it is a key, it is asked for afterwards",
        hint=f"{offer}Choose from: {', '.join(KEY_VARIABLES)}.",
    )


def find_key(variable: str, env: Mapping[str, str]) -> str | None:
    """Return the key of `variable`, None where it is not set.

    Raises:
        ServiceUnavailable: The keyring is locked or does not answer.
    """
    if env.get(variable):
        return env[variable]
    return _from_keyring(variable)


def list_key_states(env: Mapping[str, str]) -> list[KeyState]:
    """Return where each key is, in the order of `KEY_VARIABLES`.

    Raises:
        ServiceUnavailable: The keyring is locked or does not answer.
    """
    return [
        KeyState(name, variable, locate_key(variable, env))
        for name, variables in KEY_VARIABLES.items()
        for variable in variables
    ]


def store_key(variable: str, key: str) -> None:
    """Put a key into the keyring, in place of the one that may be there.

    Raises:
        SettingsProblem: `key` is none, or the machine has no keyring.
        ServiceUnavailable: The keyring is locked or does not answer.
    """
    key = key.strip()
    if not key or len(key) > MAX_KEY_CHARS or not (key.isascii() and key.isprintable()):
        raise SettingsProblem(
            f"What was given for {variable} is not a key",
            hint="Copy the key again, whole and alone.",
        )
    with _open_keyring(variable) as keyring:
        keyring.set_password(KEYRING_SERVICE, variable, key)


def delete_key(variable: str) -> bool:
    """Take a key out of the keyring; False when there was none.

    Raises:
        SettingsProblem: The machine has no keyring.
        ServiceUnavailable: The keyring is locked or does not answer.
    """
    with _open_keyring(variable) as keyring:
        if keyring.get_password(KEYRING_SERVICE, variable) is None:
            return False
        keyring.delete_password(KEYRING_SERVICE, variable)
    return True


def locate_key(variable: str, env: Mapping[str, str]) -> KeyLocation:
    """Return where the key of one variable is; the keyring is asked last.

    Raises:
        ServiceUnavailable: The keyring is locked or does not answer.
    """
    if env.get(variable):
        return KeyLocation.ENVIRONMENT
    return (
        KeyLocation.NOWHERE if _from_keyring(variable) is None else KeyLocation.KEYRING
    )


def _from_keyring(variable: str) -> str | None:
    try:
        with _open_keyring(variable) as keyring:
            key: str | None = keyring.get_password(KEYRING_SERVICE, variable)
            return key
    except SettingsProblem:
        return None  # no keyring, so no key in it


@contextmanager
def _open_keyring(variable: str) -> Iterator[ModuleType]:
    """Yield the `keyring` package, which is slow to import, and translate its errors."""
    import keyring.errors

    try:
        yield keyring
    except (keyring.errors.NoKeyringError, keyring.errors.InitError) as error:
        raise SettingsProblem(
            "This machine has no keyring that lrwr could use",
            hint=f"Set the environment variable {variable} instead.",
        ) from error
    except keyring.errors.KeyringError as error:
        raise ServiceUnavailable(
            f"The keyring did not answer: {_said(error)}",
            hint=f"Unlock it, or set the environment variable {variable} instead.",
        ) from error


def _said(error: Exception) -> str:
    return str(error).partition("\n")[0] or type(error).__name__


def resolve_address(settings: Settings, key: str, default: str, *, secret: bool) -> str:
    """Return the address that the setting `key` holds, else `default`.

    What a downloaded `lrwr.toml` says may lead to this machine and no further: else it
    would carry the writer's text and key to whomever it likes. `secret` says that a
    key goes along, which nobody on the way may read.

    Raises:
        SettingsProblem: It is no address, or leads where it must not.
    """
    address = str(settings.value(key)).strip().rstrip("/") or default
    scheme, host = _parts(address, key, default)
    if address == default or is_loopback_host(host):
        return address
    if settings.origin(key).source is SettingSource.LIBRARY:
        variable = f"LRWR_{key.replace('.', '_').upper()}"
        raise SettingsProblem(
            f"`{key}` leads from this folder to {host}",
            hint="If you want that, set it in your own file (`lrwr config path`) or as"
            f" {variable}.",
        )
    if secret and scheme == "http":
        raise SettingsProblem(
            f"`{key}` would send your key to {host} for all to read",
            hint="Use an address that begins with https.",
        )
    return address


def parse_host(address: str) -> str:
    """Return the host of an address that `resolve_address` gave."""
    return urlsplit(address).hostname or ""


def is_loopback_host(host: str) -> bool:
    """Say whether a host is this machine, by its name alone."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _parts(address: str, key: str, default: str) -> tuple[str, str]:
    try:
        place = urlsplit(address)
        if place.scheme in {"http", "https"} and place.hostname and place.port != 0:
            return place.scheme, place.hostname
    except ValueError:
        pass  # brackets or a port that are none
    raise SettingsProblem(
        f"`{key}` is {address!r}, which is no address of a server",
        hint=f"Write it like {default}.",
    )
