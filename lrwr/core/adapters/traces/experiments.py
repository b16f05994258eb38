"""Sends evaluations to LangSmith as experiments on a dataset."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isclose
from typing import TYPE_CHECKING
from uuid import UUID

from lrwr.core.adapters.http.egress_log import EgressLogger
from lrwr.core.adapters.http.errors import ServiceCallError
from lrwr.core.adapters.http.rate_limit import Clock
from lrwr.core.adapters.traces.http import (
    MAX_RUNS_PER_REQUEST,
    LangSmithConnection,
    LangSmithHttpClient,
    LangSmithRequest,
    LangSmithResponse,
)
from lrwr.core.adapters.traces.records import (
    RESULTS_DIGEST_KEY,
    LangSmithRow,
    build_dataset_row,
    build_example_rows,
    build_experiment_runs,
    build_feedback_rows,
    build_session_end_row,
    build_session_row,
    compute_dataset_id,
    compute_results_digest,
    get_score_and_comment,
    split_rows_by_size,
)
from lrwr.core.model.traces import Experiment, GoldenSet

if TYPE_CHECKING:
    from httpx import AsyncClient

MAX_BYTES_PER_REQUEST = 1_000_000
"""Bytes of rows in one request. LangSmith accepts 20 MB; a slow line does not."""

MAX_ROWS_PER_REQUEST = 250
"""Examples or feedback rows in one request."""

ROWS_PER_PAGE = 100
"""LangSmith's limit of rows on one page of a list."""

_RETRY_PAUSE = 1.0
"""Seconds before the second try, if LangSmith names no other delay."""


class LangSmithExperimentLog:
    """Stores evaluations in LangSmith: sets of questions, and experiments with results.

    Nothing is opened before `store` is called. `key` returns the API key; it raises
    `ServiceUnavailable` if nothing may be sent. With a `request_logger`, each request
    is recorded in the send log before it is sent.
    """

    def __init__(
        self,
        connection: LangSmithConnection,
        key: Callable[[], str],
        request_logger: EgressLogger | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._connection = connection
        self._key = key
        self._clock = clock or Clock()
        self._client = LangSmithHttpClient(connection, request_logger, self._clock)

    async def store(
        self,
        golden: GoldenSet,
        experiments: Sequence[Experiment],
        on_stored: Callable[[], None] | None = None,
    ) -> str:
        """Store the questions `golden` and the experiments on them, and return the name
        of the dataset at LangSmith.

        `on_stored` is called after each experiment. Idempotent: rows that exist are
        updated where they differ and missing rows are added, also after an earlier call
        failed.

        Raises:
            ServiceUnavailable: LangSmith did not answer or refused, or sending is not
                allowed. Rows sent before the error stay there.
        """
        key = await asyncio.to_thread(self._key)
        timeout = self._connection.timeout
        async with self._client.opened() as http:
            session = _LangSmithSession(self._client, http, key, timeout, self._clock)
            name = await self._store_set(session, golden)
            for experiment in experiments:
                await self._store_experiment(session, golden, experiment)
                if on_stored is not None:
                    on_stored()
        return name

    async def _store_set(self, session: "_LangSmithSession", golden: GoldenSet) -> str:
        connection = self._connection
        dataset = build_dataset_row(golden, connection.project, texts=connection.texts)
        rows = build_example_rows(golden, texts=connection.texts)
        response = await session.ask(
            LangSmithRequest("POST", "/datasets", body=dataset)
        )
        if response.already_exists:
            query = {"dataset": str(dataset["id"])}
            rows = _without(
                rows, await session.fetch_rows(query, "/examples", len(rows))
            )
        await session.send("/examples/bulk", rows, MAX_ROWS_PER_REQUEST)
        return str(dataset["name"])

    async def _store_experiment(
        self, session: "_LangSmithSession", golden: GoldenSet, experiment: Experiment
    ) -> None:
        connection, now = self._connection, self._clock.today()
        dataset = compute_dataset_id(golden, texts=connection.texts)
        # The session must begin before its first run does, and all runs end now.
        longest = max((result.seconds for result in experiment.results), default=0.0)
        row = build_session_row(experiment, dataset, connection.project, now - longest)
        runs = build_experiment_runs(
            experiment, golden, texts=connection.texts, now=now
        )
        session_id = str(row["id"])
        response = await session.ask(LangSmithRequest("POST", "/sessions", body=row))
        if response.already_exists:
            digest = compute_results_digest(experiment)
            if await session.is_complete(session_id, digest):
                return
            runs = _without(runs, await session.fetch_runs(session_id, len(runs)))
        await session.send("/runs/batch", runs, MAX_RUNS_PER_REQUEST, _wrap_runs)
        await self._store_feedback(
            session, experiment, dataset, session_id, is_known=response.already_exists
        )
        end = build_session_end_row(experiment, now)
        await session.ask(
            LangSmithRequest("PATCH", f"/sessions/{session_id}", body=end)
        )

    async def _store_feedback(
        self,
        session: "_LangSmithSession",
        experiment: Experiment,
        dataset: UUID,
        session_id: str,
        *,
        is_known: bool,
    ) -> None:
        rows = build_feedback_rows(experiment, dataset)
        if is_known:
            stored = await session.fetch_rows(
                {"session": session_id}, "/feedback", len(rows)
            )
            await session.update_feedback(rows, stored)
            rows = _without(rows, stored)
        await session.send("/feedback/batch", rows, MAX_ROWS_PER_REQUEST)


@dataclass(frozen=True, slots=True)
class _LangSmithSession:
    """One connection with one key. `timeout` seconds bound a request and its retry."""

    client: LangSmithHttpClient
    http: "AsyncClient"
    key: str
    timeout: float
    clock: Clock

    async def ask(
        self, request: LangSmithRequest, expects: type | tuple[type, ...] = (dict, list)
    ) -> LangSmithResponse:
        """Send a request, a second time if the first error is worth a retry.

        Raises:
            ServiceCallError: LangSmith did not answer, refused, or sent other JSON.
        """
        began = self.clock.now()
        try:
            return await self.client.ask(self.http, self.key, request, expects)
        except ServiceCallError as error:
            pause = _RETRY_PAUSE if error.after is None else error.after
            remaining = began + self.timeout - self.clock.now() - pause
            if not error.retryable or remaining <= 0:
                raise
        await self.clock.sleep(pause)
        return await self.client.ask(self.http, self.key, request, expects, remaining)

    async def send(
        self,
        path: str,
        rows: Mapping[str, LangSmithRow],
        most: int,
        wrap: Callable[[list[LangSmithRow]], object] = list,
    ) -> None:
        """Send rows in as many requests as needed.

        A batch that LangSmith reports as existing was sent before; its response was lost.
        """
        for batch in split_rows_by_size(
            list(rows.values()), most, MAX_BYTES_PER_REQUEST
        ):
            await self.ask(LangSmithRequest("POST", path, body=wrap(batch)))

    async def fetch_rows(
        self, query: Mapping[str, str], path: str, expected: int
    ) -> dict[str, LangSmithRow]:
        """Return the rows of all pages by id; about `expected` rows are read at most."""
        rows: dict[str, LangSmithRow] = {}
        for offset in range(0, expected + ROWS_PER_PAGE, ROWS_PER_PAGE):
            page: dict[str, str | int] = {
                **query,
                "limit": ROWS_PER_PAGE,
                "offset": offset,
            }
            response = await self.ask(LangSmithRequest("GET", path, page), list)
            page_rows = _index_rows(response.content)
            rows |= page_rows
            if len(page_rows) < ROWS_PER_PAGE:
                break
        return rows

    async def fetch_runs(
        self, session_id: str, expected: int
    ) -> dict[str, LangSmithRow]:
        """Return the runs of a session by id; about `expected` are read at most."""
        runs: dict[str, LangSmithRow] = {}
        query: LangSmithRow = {
            "session": [session_id],
            "select": ["id"],
            "limit": ROWS_PER_PAGE,
        }
        for _ in range(0, expected + ROWS_PER_PAGE, ROWS_PER_PAGE):
            response = await self.ask(
                LangSmithRequest("POST", "/runs/query", body=query), dict
            )
            content = response.content if isinstance(response.content, dict) else {}
            runs |= _index_rows(content.get("runs"))
            cursors = content.get("cursors")
            if not isinstance(cursors, dict) or not cursors.get("next"):
                break
            query = {**query, "cursor": cursors["next"]}
        return runs

    async def is_complete(self, session_id: str, digest: str) -> bool:
        """Return whether the results with this digest were all sent to a session."""
        response = await self.ask(
            LangSmithRequest("GET", f"/sessions/{session_id}"), dict
        )
        content = response.content if isinstance(response.content, dict) else {}
        extra = content.get("extra")
        metadata = extra.get("metadata") if isinstance(extra, dict) else None
        return isinstance(metadata, dict) and metadata.get(RESULTS_DIGEST_KEY) == digest

    async def update_feedback(
        self, rows: Mapping[str, LangSmithRow], stored: Mapping[str, LangSmithRow]
    ) -> None:
        """Update the stored feedback whose score or comment differs from `rows`."""
        for feedback_id, row in rows.items():
            if feedback_id not in stored or _is_same_feedback(row, stored[feedback_id]):
                continue
            score, comment = get_score_and_comment(row)
            body = {"score": score, "comment": comment}
            await self.ask(
                LangSmithRequest("PATCH", f"/feedback/{feedback_id}", body=body)
            )


def _wrap_runs(runs: list[LangSmithRow]) -> object:
    return {"post": runs, "patch": []}


def _without(
    rows: Mapping[str, LangSmithRow], stored: Mapping[str, LangSmithRow]
) -> dict[str, LangSmithRow]:
    return {row_id: row for row_id, row in rows.items() if row_id not in stored}


def _index_rows(value: object) -> dict[str, LangSmithRow]:
    """Return the JSON objects of a list by id; anything else is skipped."""
    rows = value if isinstance(value, list) else []
    return {
        str(row["id"]): row for row in rows if isinstance(row, dict) and "id" in row
    }


def _is_same_feedback(row: LangSmithRow, stored: LangSmithRow) -> bool:
    """Compare two feedback rows; LangSmith may have rounded the score."""
    score, comment = get_score_and_comment(row)
    stored_score, stored_comment = get_score_and_comment(stored)
    if isinstance(score, int | float) and isinstance(stored_score, int | float):
        is_same_score = isclose(score, stored_score, abs_tol=1e-6)
    else:
        is_same_score = score == stored_score
    return is_same_score and comment == stored_comment
