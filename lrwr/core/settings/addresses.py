"""Where the servers are that settings name, and where a downloaded one may lead."""

from ipaddress import ip_address
from urllib.parse import urlsplit

from lrwr.core.model.errors import SettingsProblem
from lrwr.core.settings.model import Settings, SettingSource


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
