"""Which web the settings ask for, and where it may be."""

from collections.abc import Mapping

from lrwr.core.adapters.http.egress_log import EgressLogger
from lrwr.core.adapters.source.sentence_splitter import find_sentence_spans
from lrwr.core.adapters.web.tavily import TAVILY_URL, TavilyConnection, TavilySearch
from lrwr.core.model.errors import LrwrError, ServiceUnavailable, SettingsProblem
from lrwr.core.ports.sources import WebPage
from lrwr.core.settings.addresses import is_loopback_host, parse_host, resolve_address
from lrwr.core.settings.keys import find_key
from lrwr.core.settings.model import Settings

_KEY = "TAVILY_API_KEY"


def create_tavily_search(
    settings: Settings, env: Mapping[str, str], noting: EgressLogger | None = None
) -> TavilySearch | None:
    """Return the web that the settings ask for, None where it is off.

    What is searched for is noted before it leaves, whatever the address.

    A key that is there turns nothing on. Nothing is sent or opened yet.

    Raises:
        SettingsProblem: It is on without a key, or a downloaded setting leads elsewhere.
        ServiceUnavailable: The keyring is locked.
    """
    connection = build_tavily_connection(settings, env)
    if connection is None:
        return None
    return TavilySearch(connection, find_sentence_spans, noting=noting)


def build_tavily_connection(
    settings: Settings, env: Mapping[str, str]
) -> TavilyConnection | None:
    """Return where the web is asked and with what key, None where it is off.

    Raises:
        SettingsProblem: It is on without a key, or a downloaded setting leads elsewhere.
        ServiceUnavailable: The keyring is locked.
    """
    if settings.web.use == "off":
        return None
    address = resolve_address(settings, "web.base_url", TAVILY_URL, secret=True)
    key = find_key(_KEY, env)
    if not key:
        raise SettingsProblem(
            "`web.use` is tavily, and there is no key for it",
            hint=f"Keep one with `lrwr config set-key tavily`, or set {_KEY}.",
        )
    is_local = is_loopback_host(parse_host(address))
    return TavilyConnection(key, address, float(settings.web.timeout), is_local)


class UnavailableWebSearch:
    """Asks nobody; `why` is what whoever searches is told."""

    def __init__(self, error: LrwrError) -> None:
        self._why = error

    async def search(self, query: str, limit: int) -> list[WebPage]:
        """Refuse."""
        del query, limit
        raise ServiceUnavailable(str(self._why), hint=self._why.hint)
