"""What a language model was asked, as facts of a trace."""

from lrwr.core.model.metering import Usage
from lrwr.core.ports.tracer import Fact


def used(usage: Usage) -> dict[str, Fact]:
    """Return calls and tokens."""
    return {
        "calls": usage.calls,
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
    }
