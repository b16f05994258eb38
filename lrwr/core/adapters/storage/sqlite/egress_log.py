"""The send log: the requests that left this machine, in the library's file."""

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import fields

from lrwr.core.adapters.storage.sqlite.checksums import (
    check_types,
    replace_unless,
)
from lrwr.core.adapters.storage.sqlite.database import SqliteDatabase
from lrwr.core.model.codec import decode_value
from lrwr.core.model.egress import (
    EgressReport,
    EgressTotal,
    OutboundRequest,
    OutboundRequestId,
    RequestCompletion,
    RequestOutcome,
)

_BEGIN = """
insert into sent (at, service, host, purpose, model, sent_bytes, received_bytes,
  prompt_tokens, completion_tokens, price, outcome)
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
returning n
"""

_END = """
update sent set outcome = ?, received_bytes = ?, prompt_tokens = ?,
  completion_tokens = ?, price = ?
where n = ?
"""

_TOTALS = """
select 1, service, host, purpose, count(*),
  cast(total(iif(outcome = :unreached, 0, sent_bytes)) as integer) as left_here,
  cast(total(received_bytes) as integer), total(price),
  sum(price is null and outcome in (:answered, :cut))
from sent where at >= :since
group by service, host, purpose order by left_here desc, service, host, purpose
"""

_NEWEST = """
select 1, service, host, purpose, model, at, sent_bytes, received_bytes, prompt_tokens,
  completion_tokens, price, outcome
from sent where at >= :since order by at desc, n desc limit :limit
"""

_LOG_START = "select max(at) from sent_since"


class SqliteEgressLog:
    """The send log in the library's file.

    It stores when, where to and how much was sent, but never the content or a key.
    """

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database

    async def begin(self, outbound_request: OutboundRequest) -> OutboundRequestId:
        """Record a request that is about to be sent, and return its id for `end`.

        The entry is on disk when this returns.

        Raises:
            StoreProblem: It cannot be recorded. Then the request must not be sent.
        """
        row = (
            outbound_request.when,
            outbound_request.service,
            outbound_request.host,
            outbound_request.purpose.value,
            outbound_request.model,
            outbound_request.sent_bytes,
            outbound_request.received_bytes,
            outbound_request.prompt_tokens,
            outbound_request.completion_tokens,
            outbound_request.price,
            outbound_request.outcome.value,
        )
        return await self._database.write(
            lambda connection: OutboundRequestId(
                connection.execute(_BEGIN, row).fetchone()[0]
            )
        )

    async def end(
        self,
        outbound_request_id: OutboundRequestId,
        request_completion: RequestCompletion,
    ) -> None:
        """Record the outcome of a request; do nothing if its entry was deleted
        meanwhile.

        Raises:
            StoreProblem: It cannot be recorded.
        """
        row = (
            request_completion.outcome.value,
            request_completion.received_bytes,
            request_completion.prompt_tokens,
            request_completion.completion_tokens,
            request_completion.price,
            outbound_request_id,
        )
        await self._database.write(
            lambda connection: connection.execute(_END, row).rowcount
        )

    async def report(self, *, since: float = 0.0, limit: int = 20) -> EgressReport:
        """Return totals of all requests since `since`, and the newest `limit` requests.

        `since` is in seconds since 1970; the default means the start of the log. Totals
        are sorted by bytes sent, largest first; requests by time, newest first. Both
        belong to one state of the log.

        Raises:
            StoreProblem: The log cannot be read.
        """
        parameters = {
            "since": since,
            "limit": max(0, limit),
            "unreached": RequestOutcome.UNREACHED.value,
            "answered": RequestOutcome.ANSWERED.value,
            "cut": RequestOutcome.CUT.value,
        }
        return await self._database.read(
            lambda connection: self._report(connection, parameters)
        )

    def _report(
        self, connection: sqlite3.Connection, parameters: Mapping[str, object]
    ) -> EgressReport:
        decode_rows = self._database.decode_rows
        (began,) = connection.execute(_LOG_START).fetchone()
        return EgressReport(
            began=None if began is None else replace_unless(began, 0.0),
            totals=tuple(
                decode_rows(connection.execute(_TOTALS, parameters), _decode_total)
            ),
            newest=tuple(
                decode_rows(connection.execute(_NEWEST, parameters), _decode_request)
            ),
        )

    async def clear(self, at: float) -> int:
        """Delete all entries, and return their number.

        The time `at`, in seconds since 1970, is stored as the start of the log.

        Raises:
            StoreProblem: The log cannot be written.
        """
        return await self._database.write(lambda connection: _clear(connection, at))


def _decode_total(row: Sequence[object]) -> EgressTotal:
    names = [field.name for field in fields(EgressTotal)]  # in the order of _TOTALS
    return decode_value(dict(zip(names, row, strict=True)), EgressTotal)


def _decode_request(row: Sequence[object]) -> OutboundRequest:
    names = [field.name for field in fields(OutboundRequest)]  # in the order of _NEWEST
    request = decode_value(dict(zip(names, row, strict=True)), OutboundRequest)
    check_types([request.when], float)
    return request


def _clear(connection: sqlite3.Connection, at: float) -> int:
    row_count = connection.execute("delete from sent").rowcount
    connection.execute("update sent_since set at = ?", (at,))
    return row_count
