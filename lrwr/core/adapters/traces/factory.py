"""Where the settings have traces kept, and what may be in them."""

from collections.abc import Callable

from lrwr.core.adapters.http.egress_log import Noting
from lrwr.core.adapters.traces.experiments import LangSmithExperiments
from lrwr.core.adapters.traces.http import LANGSMITH, Connection
from lrwr.core.adapters.traces.langsmith import LangSmithTracer
from lrwr.core.settings.addresses import address_in, host_of, is_here
from lrwr.core.settings.consent import traces_texts
from lrwr.core.settings.model import Settings


def connection_of(settings: Settings) -> Connection | None:
    """Return where traces are sent, None where they are off.

    Raises:
        SettingsProblem: The address is none, or a downloaded one leads elsewhere.
    """
    traces = settings.traces
    if traces.keeper == "off":
        return None
    address = address_in(settings, "traces.base_url", LANGSMITH, secret=True)
    return Connection(
        project=traces.project.strip() or "lrwr",
        base_url=address,
        texts=traces_texts(settings),
        timeout=float(traces.timeout),
        own=is_here(host_of(address)),
    )


def choose_tracer(
    settings: Settings,
    key: Callable[[], str],
    noting: Noting,
    say: Callable[[str], None] | None,
) -> LangSmithTracer | None:
    """Return who keeps traces, None where nobody does. Nothing is sent or opened yet.

    What is sent is noted before it leaves, whatever the address.

    Raises:
        SettingsProblem: The address is none, or a downloaded one leads elsewhere.
    """
    connection = connection_of(settings)
    return LangSmithTracer(connection, key, noting, say) if connection else None


def choose_experiments(
    settings: Settings, key: Callable[[], str], noting: Noting
) -> LangSmithExperiments | None:
    """Return who keeps results of evaluations, None where nobody does.

    Raises:
        SettingsProblem: The address is none, or a downloaded one leads elsewhere.
    """
    connection = connection_of(settings)
    return LangSmithExperiments(connection, key, noting) if connection else None
