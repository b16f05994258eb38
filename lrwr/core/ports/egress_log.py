"""The log of what leaves this machine."""

from typing import Protocol

from lrwr.core.model.egress import (
    EgressReport,
    OutboundRequest,
    OutboundRequestId,
    RequestCompletion,
)


class EgressLog(Protocol):
    """Requests, each noted before it leaves; never a word of them, and never a key."""

    async def begin(self, sent: OutboundRequest) -> OutboundRequestId:
        """Note a request that is about to leave. It is kept when this returns.

        Raises:
            StoreProblem: It cannot be noted; then the request must not leave.
        """
        ...

    async def end(self, sent: OutboundRequestId, came: RequestCompletion) -> None:
        """Say what came of a request. One that is not in the log any more is let be.

        Raises:
            StoreProblem: It cannot be noted.
        """
        ...

    async def report(self, *, since: float = 0.0, limit: int = 20) -> EgressReport:
        """Return what left at `since` or later: all in totals, the newest `limit` alone.

        Totals come the most bytes first, entries the newest first, as of one moment.

        Raises:
            StoreProblem: The log cannot be read.
        """
        ...

    async def clear(self, at: float) -> int:
        """Forget every entry, note that the log begins at `at`; return how many went.

        Raises:
            StoreProblem: The log cannot be written.
        """
        ...
