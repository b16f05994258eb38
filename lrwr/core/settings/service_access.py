"""External services: what they receive, their addresses and API keys.

Keys come from the environment or the system's keyring, never from a file. A key alone
turns no service on; only a setting does.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum
from ipaddress import ip_address
from types import ModuleType
from urllib.parse import urlsplit

from lrwr.core.model.errors import ServiceUnavailable, SettingsProblem
from lrwr.core.settings.model import SettingOrigin, Settings, SettingSource

KEYRING_SERVICE = "lrwr"
"""Name under which the keyring stores lrwr's keys."""
MAX_KEY_CHARS = 1_200
"""Characters of the longest key; the keyring of Windows stores little more."""
_MAX_REPEATED_CHARS = 14
"""Characters of the longest word that an error repeats; a longer one may be a key."""
KEY_VARIABLES: Mapping[str, tuple[str, ...]] = {
    "openai": ("OPENAI_API_KEY",),
    "cohere": ("COHERE_API_KEY",),
    "tavily": ("TAVILY_API_KEY",),
    "supabase": ("SUPABASE_KEY",),
    "qdrant": ("QDRANT_API_KEY",),
    "modal": ("MODAL_TOKEN_ID", "MODAL_TOKEN_SECRET"),
    "langsmith": ("LANGSMITH_API_KEY",),
}
"""The services that need a key, and the environment variables that may hold it."""

OLLAMA_URL = "http://127.0.0.1:11434/v1"
"""Default address of a model server on this machine, as Ollama uses it."""
QDRANT_URL = "http://127.0.0.1:6333"
"""Default address of a Qdrant server on this machine."""
_SCHEME = re.compile(r"(?:[a-z][a-z0-9+.-]*:)?", re.I)
_WITHOUT_CREDENTIALS = re.compile(r"https?://[^/?#@:]+(?::\d+)?(?:/[^?#]*)?", re.I)


class KeyLocation(StrEnum):
    """Where an API key is stored: environment, keyring or nowhere.

    The environment overrides the keyring.
    """

    ENVIRONMENT = "environment"
    KEYRING = "keyring"
    NOWHERE = "not set"


@dataclass(frozen=True, slots=True)
class KeyState:
    """Where the API key of one environment variable is stored; never the key itself.

    `name` is the service, such as `openai`.
    """

    name: str
    variable: str
    location: KeyLocation


@dataclass(frozen=True, slots=True)
class HostedService:
    """A service: the setting that turns it on, and the data it receives.

    `title` is its name for users. It is on if `setting` has the value `value`. Its
    server is `host`, unless the setting `address` names another one. `key` is the
    environment variable of its API key, empty if it needs none. `sent` describes the
    data that it receives; `sent_with_texts` describes it for traces that contain texts,
    and is empty for services without that option; `sent_of_book` does so in the library
    of an e-book, and is empty if it is the same there. With `may_be_local`, a server on this
    machine needs no consent, unless the folder's own file turns it on or names it;
    `default_address` is then the address without a setting. `address_suffices` says
    that some commands use the service when only `address` is set.
    """

    name: str
    title: str
    setting: str
    address: str
    host: str
    key: str
    sent: str
    value: str
    may_be_local: bool = False
    sent_with_texts: str = ""
    sent_of_book: str = ""
    default_address: str = ""
    address_suffices: bool = False

    @property
    def capitalized_title(self) -> str:
        """The title for the start of a sentence."""
        return self.title[0].upper() + self.title[1:]

    def is_selected(self, settings: Settings) -> bool:
        """Return whether `setting` has the value that turns the service on."""
        return bool(settings.value(self.setting) == self.value)

    def is_on(self, settings: Settings) -> bool:
        """Return whether the settings turn the service on.

        False for a server on this machine if `may_be_local`, unless the folder's own
        file turns it on or names its address.
        """
        if self.find_folder_origin(settings) is not None:
            return True
        if not self.is_selected(settings):
            return False
        return not (self.may_be_local and is_loopback_host(self.find_host(settings)))

    def find_folder_origin(self, settings: Settings) -> SettingOrigin | None:
        """Return where the folder's own `lrwr.toml` turns the service on, or else names
        its address.

        None if the service is off, or if only the user's own settings do both.
        """
        is_named = self._is_address_of_folder(settings)
        if self.is_selected(settings):
            origin = settings.origin(self.setting)
            if origin.source is SettingSource.LIBRARY:
                return origin
        elif not (self.address_suffices and is_loopback_host(self.find_host(settings))):
            return None  # `resolve_address` refuses other machines
        return settings.origin(self.address) if is_named else None

    def find_folder_address(self, settings: Settings) -> str:
        """Return the address that the folder's own `lrwr.toml` names, without user name
        and password; empty if it names none.
        """
        is_named = self._is_address_of_folder(settings)
        return self.describe_server(settings) if is_named else ""

    def find_host(self, settings: Settings) -> str:
        """Return the host name of the service's server: that of the address in the
        settings, or `host` if it is empty or invalid.
        """
        with suppress(ValueError):  # an invalid address is refused where it is used
            return urlsplit(str(settings.value(self.address))).hostname or self.host
        return self.host

    def describe_server(self, settings: Settings) -> str:
        """Return the address of the service's server, without user name and password,
        or its host name if the settings name no address.
        """
        address = str(settings.value(self.address)).strip().rstrip("/")
        return mask_credentials(address) or self.default_address or self.host

    def describe_sent(self, settings: Settings) -> str:
        """Return a description, for users, of the data that the service receives with
        these settings: `sent_with_texts` if traces contain texts, `sent_of_book` in
        the library of an e-book, else `sent`.
        """
        if settings.is_of_book and self.sent_of_book:
            return self.sent_of_book
        if self.sent_with_texts and is_tracing_texts(settings):
            return self.sent_with_texts
        return self.sent

    def describe_danger(self, settings: Settings) -> str:
        """Return a sentence on who would receive the data, for the user to decide."""
        if is_loopback_host(self.find_host(settings)):
            return "That address is this machine; allow it only if you started a server on it."
        return "Whoever runs that server can read it; allow it only if you trust them."

    def _is_address_of_folder(self, settings: Settings) -> bool:
        is_library_setting = (
            settings.origin(self.address).source is SettingSource.LIBRARY
        )
        return is_library_setting and bool(str(settings.value(self.address)).strip())


def list_key_variables(name: str) -> tuple[str, ...]:
    """Return the environment variables for the API keys of the service `name`, whose
    case is ignored.

    Raises:
        SettingsProblem: There is no such service.
    """
    normalized = name.strip().lower()
    if normalized in KEY_VARIABLES:
        return KEY_VARIABLES[normalized]
    near = get_close_matches(normalized, KEY_VARIABLES, n=1)
    offer = f"Did you mean {near[0]}? " if near else ""
    raise SettingsProblem(
        f"Unknown service {name!r}"
        if len(normalized) <= _MAX_REPEATED_CHARS
        else "That is not the name of a service; lrwr asks for the key in a second step",
        hint=f"{offer}Choose from: {', '.join(KEY_VARIABLES)}.",
    )


def find_key(variable: str, env: Mapping[str, str]) -> str | None:
    """Return the API key for the environment variable `variable`: from `env`, else from
    the keyring; None if neither has it.

    `env` maps environment variables to values; an empty value counts as not set.

    Raises:
        ServiceUnavailable: The keyring is locked or does not answer.
    """
    if env.get(variable):
        return env[variable]
    return _read_keyring(variable)


def list_key_states(env: Mapping[str, str]) -> list[KeyState]:
    """Return where each API key is stored, in the order of `KEY_VARIABLES`.

    `env` maps environment variables to values; it is checked before the keyring.

    Raises:
        ServiceUnavailable: The keyring is locked or does not answer.
    """
    return [
        KeyState(name, variable, locate_key(variable, env))
        for name, variables in KEY_VARIABLES.items()
        for variable in variables
    ]


def store_key(variable: str, key: str) -> None:
    """Store the API key for an environment variable in the keyring; it replaces an
    earlier one.

    Raises:
        SettingsProblem: `key` is not a valid key, or the machine has no keyring.
        ServiceUnavailable: The keyring is locked or does not answer.
    """
    key = key.strip()
    if not key or len(key) > MAX_KEY_CHARS or not (key.isascii() and key.isprintable()):
        raise SettingsProblem(
            f"This is not a valid key for {variable}",
            hint="Copy the complete key again, without other text.",
        )
    with _open_keyring(variable) as keyring:
        keyring.set_password(KEYRING_SERVICE, variable, key)


def delete_key(variable: str) -> bool:
    """Delete the API key for the environment variable `variable` from the keyring;
    return False if there was none.

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
    """Return where the API key for an environment variable is stored.

    `env` is checked before the keyring.

    Raises:
        ServiceUnavailable: The keyring is locked or does not answer.
    """
    if env.get(variable):
        return KeyLocation.ENVIRONMENT
    return (
        KeyLocation.NOWHERE if _read_keyring(variable) is None else KeyLocation.KEYRING
    )


def _read_keyring(variable: str) -> str | None:
    try:
        with _open_keyring(variable) as keyring:
            key: str | None = keyring.get_password(KEYRING_SERVICE, variable)
            return key
    except SettingsProblem:
        return None  # no keyring, so no key


@contextmanager
def _open_keyring(variable: str) -> Iterator[ModuleType]:
    """Yield the `keyring` package, imported at first use because it is slow.

    Translate errors.
    """
    import keyring.errors

    try:
        yield keyring
    except (keyring.errors.NoKeyringError, keyring.errors.InitError) as error:
        raise SettingsProblem(
            "This machine has no keyring that lrwr can use",
            hint=f"Set the environment variable {variable} instead.",
        ) from error
    except keyring.errors.KeyringError as error:
        raise ServiceUnavailable(
            f"The keyring did not answer: {_first_line(error)}",
            hint=f"Unlock it, or set the environment variable {variable} instead.",
        ) from error


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0] or type(error).__name__


def resolve_address(settings: Settings, key: str, default: str, *, secret: bool) -> str:
    """Return the server address in the setting `key`, or `default` if it is empty.

    A library's own `lrwr.toml` may name only this machine: a downloaded file could
    otherwise send the user's text and key anywhere. `secret` means that an API key is
    sent along, which rules out unencrypted addresses of other machines.

    User name and password in an address are sent by HTTP basic authentication; they
    are not allowed together with an API key, which they would replace.

    Raises:
        SettingsProblem: The value is not an address, or the address is not allowed.
    """
    address = str(settings.value(key)).strip().rstrip("/") or default
    scheme, host = _split_address(address, key, default)
    is_local = address == default or is_loopback_host(host)
    if not is_local and settings.origin(key).source is SettingSource.LIBRARY:
        variable = f"LRWR_{key.replace('.', '_').upper()}"
        raise SettingsProblem(
            f"`{key}` in this folder's lrwr.toml points to another machine, {host}",
            hint="If you trust it, set it in your own settings file"
            f" (`lrwr config path`) or as {variable}.",
        )
    if secret and "@" in urlsplit(address).netloc:
        raise SettingsProblem(
            f"`{key}` contains a user name or password, besides your API key",
            hint="Remove it, up to the `@`.",
        )
    if secret and scheme == "http" and not is_local:
        raise SettingsProblem(
            f"`{key}` would send your key to {host} without encryption",
            hint="Use an address that begins with https://.",
        )
    return address


def mask_credentials(address: str) -> str:
    """Return an address with `***` in place of user name and password, and of a query
    or fragment, which may hold a key.

    This includes addresses that are not valid. Other texts are unchanged.
    """
    if _WITHOUT_CREDENTIALS.fullmatch(address):
        return address
    scheme, separator, rest = address.partition("//")
    if separator and not _SCHEME.fullmatch(scheme):
        scheme, separator, rest = "", "", address
    elif not separator:
        scheme, rest = "", address
    _, has_credentials, server = rest.rpartition("@")
    shown = f"{scheme}{separator}{'***@' if has_credentials else ''}{server}"
    return re.sub(r"([?#]).+$", r"\1***", shown, flags=re.DOTALL)


def parse_host(address: str) -> str:
    """Return the host name of a URL; empty if it has none."""
    return urlsplit(address).hostname or ""


def is_loopback_host(host: str) -> bool:
    """Return whether `host` is `localhost` or a loopback IP address.

    Host names are not resolved.
    """
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def is_tracing_texts(settings: Settings) -> bool:
    """Return whether traces contain the user's texts.

    True if the setting `traces.texts` is on, unless the library's own file turns it on.
    """
    is_library_setting = settings.origin("traces.texts").source is SettingSource.LIBRARY
    return settings.traces.texts and not is_library_setting


def _split_address(address: str, key: str, default: str) -> tuple[str, str]:
    """Return scheme and host name of an address.

    Raises:
        SettingsProblem: It is not the address of a server, or has a query or fragment,
            which would swallow the paths that are appended to it.
    """
    shown = mask_credentials(address)
    try:
        parts = urlsplit(address)
        is_address = parts.scheme in {"http", "https"} and parts.port != 0
    except ValueError:  # invalid brackets or port
        is_address = False
    if not is_address or not parts.hostname or not _is_one_word(address):
        raise SettingsProblem(
            f"`{key}` is {shown!r}, which is not a server address",
            hint=f"Write it like `{default}`.",
        )
    if "?" in address or "#" in address:
        raise SettingsProblem(
            f"`{key}` is {shown!r}, and an address of a server has no query",
            hint="Remove the `?` or `#` and what follows it.",
        )
    return parts.scheme, parts.hostname


def _is_one_word(address: str) -> bool:
    """Return whether a text has no spaces and no control characters."""
    return address.isprintable() and " " not in address
