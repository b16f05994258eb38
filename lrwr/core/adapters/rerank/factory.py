"""Which service the settings ask for a second look, and where it may be."""

from collections.abc import Callable

from lrwr.core.adapters.http.egress_log import EgressLogger
from lrwr.core.adapters.rerank.cohere import (
    COHERE_URL,
    CohereConnection,
    CohereReranker,
)
from lrwr.core.settings.addresses import is_loopback_host, parse_host, resolve_address
from lrwr.core.settings.model import Settings


def build_cohere_connection(settings: Settings) -> CohereConnection | None:
    """Return which model of Cohere's looks again, None where that is not set.

    Raises:
        SettingsProblem: The address is none, or a downloaded one leads elsewhere.
    """
    rerank = settings.rerank
    if rerank.model != "cohere":
        return None
    address = resolve_address(settings, "rerank.base_url", COHERE_URL, secret=True)
    is_local = is_loopback_host(parse_host(address))
    return CohereConnection(
        rerank.cohere_model, address, float(rerank.timeout), is_local
    )


def create_cohere_reranker(
    settings: Settings, key: Callable[[], str], noting: EgressLogger
) -> CohereReranker | None:
    """Return who looks again elsewhere, None where nobody there does.

    What is sent is noted before it leaves, whatever the address. Nothing is sent or
    opened yet.

    Raises:
        SettingsProblem: The address is none, or a downloaded one leads elsewhere.
    """
    connection = build_cohere_connection(settings)
    return CohereReranker(connection, key, noting) if connection else None
