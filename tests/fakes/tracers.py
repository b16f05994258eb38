"""A tracer that keeps traces in memory."""

from lrwr.core.adapters.traces.langsmith import LangSmithTracer
from lrwr.core.model.traces import TraceSpan


class MemoryTracer(LangSmithTracer):
    """Sends nothing; `traces` are what was kept, in order."""

    def __init__(self) -> None:
        self.traces: list[TraceSpan] = []
        self._ended = False

    def send(self, trace: TraceSpan) -> None:
        """Take a trace."""
        if not self._ended:
            self.traces.append(trace)

    async def aclose(self) -> None:
        """Take no more."""
        self._ended = True
