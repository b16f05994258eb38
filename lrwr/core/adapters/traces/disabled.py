"""No traces, as it comes."""

from lrwr.core.ports.tracer import TraceSpan


class NullTracer:
    """Keeps the Tracer port by keeping nothing."""

    def keep(self, trace: TraceSpan) -> None:
        """Let it go."""
        del trace

    async def aclose(self) -> None:
        """Nothing is held open."""
