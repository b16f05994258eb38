"""Which web the settings ask for, and where it may be."""

from collections.abc import Mapping

from lrwr.core.adapters.http.egress_log import Noting
from lrwr.core.adapters.source.sentence_splitter import sentence_spans
from lrwr.core.adapters.web.tavily import TAVILY, Connection, TavilySearch
from lrwr.core.model.errors import SettingsProblem
from lrwr.core.settings.addresses import address_in, host_of, is_here
from lrwr.core.settings.keys import find_key
from lrwr.core.settings.model import Settings

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
    address = address_in(settings, "web.base_url", TAVILY, secret=True)
    key = find_key(_KEY, env)
    if not key:
        raise SettingsProblem(
            "`web.use` is tavily, and there is no key for it",
            hint=f"Keep one with `lrwr config set-key tavily`, or set {_KEY}.",
        )
    own = is_here(host_of(address))
    return Connection(key, address, float(settings.web.timeout), own)
