"""Where the settings have traces kept, and what may be in them."""

from collections.abc import Callable

from lrwr.core.adapters.http.egress_log import EgressLogger
from lrwr.core.adapters.traces.experiments import LangSmithExperimentLog
from lrwr.core.adapters.traces.http import LANGSMITH_URL, LangSmithConnection
from lrwr.core.adapters.traces.langsmith import LangSmithTracer
from lrwr.core.settings.consent import is_tracing_texts
from lrwr.core.settings.model import Settings
from lrwr.core.settings.service_access import (
    is_loopback_host,
    parse_host,
    resolve_address,
)


def build_langsmith_connection(settings: Settings) -> LangSmithConnection | None:
    """Return where traces are sent, None where they are off.

    Raises:
        SettingsProblem: The address is none, or a downloaded one leads elsewhere.
    """
    traces = settings.traces
    if traces.keeper == "off":
        return None
    address = resolve_address(settings, "traces.base_url", LANGSMITH_URL, secret=True)
    return LangSmithConnection(
        project=traces.project.strip() or "lrwr",
        base_url=address,
        texts=is_tracing_texts(settings),
        timeout=float(traces.timeout),
        own=is_loopback_host(parse_host(address)),
    )


def create_langsmith_tracer(
    settings: Settings,
    key: Callable[[], str],
    noting: EgressLogger,
    say: Callable[[str], None] | None,
) -> LangSmithTracer | None:
    """Return who keeps traces, None where nobody does. Nothing is sent or opened yet.

    What is sent is noted before it leaves, whatever the address.

    Raises:
        SettingsProblem: The address is none, or a downloaded one leads elsewhere.
    """
    connection = build_langsmith_connection(settings)
    return LangSmithTracer(connection, key, noting, say) if connection else None


def create_langsmith_experiment_log(
    settings: Settings, key: Callable[[], str], noting: EgressLogger
) -> LangSmithExperimentLog | None:
    """Return who keeps results of evaluations, None where nobody does.

    Raises:
        SettingsProblem: The address is none, or a downloaded one leads elsewhere.
    """
    connection = build_langsmith_connection(settings)
    return LangSmithExperimentLog(connection, key, noting) if connection else None
