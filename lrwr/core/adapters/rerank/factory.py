"""Which service the settings ask for a second look, and where it may be."""

from collections.abc import Callable

from lrwr.core.adapters.http.egress_log import Noting
from lrwr.core.adapters.rerank.cohere import COHERE, CohereReranker, Connection
from lrwr.core.settings.addresses import address_in, host_of, is_here
from lrwr.core.settings.model import Settings


def connection_of(settings: Settings) -> Connection | None:
    """Return which model of Cohere's looks again, None where that is not set.

    Raises:
        SettingsProblem: The address is none, or a downloaded one leads elsewhere.
    """
    rerank = settings.rerank
    if rerank.model != "cohere":
        return None
    address = address_in(settings, "rerank.base_url", COHERE, secret=True)
    own = is_here(host_of(address))
    return Connection(rerank.cohere_model, address, float(rerank.timeout), own)


def choose_reranker(
    settings: Settings, key: Callable[[], str], noting: Noting
) -> CohereReranker | None:
    """Return who looks again elsewhere, None where nobody there does.

    What is sent is noted before it leaves, whatever the address. Nothing is sent or
    opened yet.

    Raises:
        SettingsProblem: The address is none, or a downloaded one leads elsewhere.
    """
    connection = connection_of(settings)
    return CohereReranker(connection, key, noting) if connection else None
