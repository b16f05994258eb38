"""A tracer that keeps traces in memory."""

from lrwr.core.ports.telemetry import TraceSpan


class MemoryTracer:
    """Keeps the Tracer port; `traces` are what was kept, in order."""

    def __init__(self) -> None:
        self.traces: list[TraceSpan] = []
        self._ended = False

    def keep(self, trace: TraceSpan) -> None:
        """Take a trace."""
        if not self._ended:
            self.traces.append(trace)

    async def aclose(self) -> None:
        """Take no more."""
        self._ended = True
