"""Which web the settings ask for, and where it may be."""

from collections.abc import Mapping
from urllib.parse import urlsplit

from lrwr.core.adapters.chat.choose import is_here
from lrwr.core.adapters.noting import Noting
from lrwr.core.adapters.sentences import sentence_spans
from lrwr.core.adapters.web.tavily import TAVILY, Connection, TavilySearch
from lrwr.core.model.errors import SettingsProblem
from lrwr.core.settings.keys import find_key
from lrwr.core.settings.values import Settings, Source

_KEY = "TAVILY_API_KEY"


def choose_web(
    settings: Settings, env: Mapping[str, str], noting: Noting | None = None
) -> TavilySearch | None:
    """Return the web that the settings ask for, None where it is off.

    What is searched for is noted before it leaves, whatever the address.

    A key that is there turns nothing on. Nothing is sent or opened yet.

    Raises:
        SettingsProblem: It is on without a key, or a downloaded setting leads elsewhere.
        ServiceUnavailable: The keyring is locked.
    """
    connection = connection_of(settings, env)
    if connection is None:
        return None
    return TavilySearch(connection, sentence_spans, noting=noting)


def connection_of(settings: Settings, env: Mapping[str, str]) -> Connection | None:
    """Return where the web is asked and with what key, None where it is off.

    Raises:
        SettingsProblem: It is on without a key, or a downloaded setting leads elsewhere.
        ServiceUnavailable: The keyring is locked.
    """
    if settings.web.use == "off":
        return None
    address = _address(settings)
    key = find_key(_KEY, env)
    if not key:
        raise SettingsProblem(
            "`web.use` is tavily, and there is no key for it",
            hint=f"Keep one with `lrwr config set-key tavily`, or set {_KEY}.",
        )
    own = is_here(_parts(address)[1])
    return Connection(key, address, float(settings.web.timeout), own)


def web_service(settings: Settings) -> str:
    """Name the service that is sent a query; empty where nothing leaves this machine.

    Raises:
        SettingsProblem: `web.base_url` is no address, or a downloaded one leads away.
    """
    if settings.web.use == "off":
        return ""
    address = _address(settings)
    host = _parts(address)[1]
    if is_here(host):
        return ""
    return "Tavily" if address == TAVILY else host


def _address(settings: Settings) -> str:
    """Return where the service is.

    What a downloaded `lrwr.toml` says may lead to this machine and no further: else
    it would carry the writer's questions and key to whomever it likes.
    """
    address = settings.web.base_url.strip().rstrip("/") or TAVILY
    scheme, host = _parts(address)
    if address == TAVILY or is_here(host):
        return address
    if settings.origin("web.base_url").source is Source.LIBRARY:
        raise SettingsProblem(
            f"`web.base_url` leads from this folder to {host}",
            hint="If you want that, set it in your own file (`lrwr config path`) or as"
            " LRWR_WEB_BASE_URL.",
        )
    if scheme == "http":
        raise SettingsProblem(
            f"`web.base_url` would send your key to {host} for all to read",
            hint="Use an address that begins with https.",
        )
    return address


def _parts(address: str) -> tuple[str, str]:
    try:
        place = urlsplit(address)
        if place.scheme in {"http", "https"} and place.hostname and place.port != 0:
            return place.scheme, place.hostname
    except ValueError:
        pass  # brackets or a port that are none
    raise SettingsProblem(
        f"`web.base_url` is {address!r}, which is no address of a server",
        hint="Write it like https://api.tavily.com.",
    )
