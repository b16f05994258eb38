"""LangSmith: evaluations as experiments on a dataset, through its HTTP API.

A dataset holds the questions, a session is one way of answering, a run is one question
in it, and feedback is what a measure says of a run.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isclose
from typing import TYPE_CHECKING
from uuid import UUID

from lrwr.core.adapters.http.egress_log import EgressLogger
from lrwr.core.adapters.http.errors import ServiceCallError
from lrwr.core.adapters.http.rate_limit import Clock
from lrwr.core.adapters.traces.errors import RESULTS_UPLOAD
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
from lrwr.core.ports.telemetry import Experiment, GoldenSet

if TYPE_CHECKING:
    from httpx import AsyncClient

MAX_BYTES_PER_REQUEST = 1_000_000
"""Bytes of rows in one request: the service takes 20 million, a slow line does not."""

MAX_ROWS_PER_REQUEST = 250
"""Examples or judgements in one request."""

ROWS_PER_PAGE = 100
"""Rows of one page of a list: the service gives no more."""

_PAUSE = 1.0
"""Seconds before the second try, where the service does not say."""


class LangSmithExperimentLog:
    """Keeps the ExperimentLog port over HTTP. Nothing is opened before it is used.

    `key` gives the key each time: it raises `ServiceUnavailable` where nothing may be
    sent. With `noting` each request is noted before it leaves.
    """

    def __init__(
        self,
        connection: LangSmithConnection,
        key: Callable[[], str],
        noting: EgressLogger | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._connection = connection
        self._key = key
        self._clock = clock or Clock()
        self._wire = LangSmithHttpClient(
            connection, noting, self._clock, RESULTS_UPLOAD
        )

    async def keep(
        self,
        golden: GoldenSet,
        experiments: Sequence[Experiment],
        on_stored: Callable[[], None] | None = None,
    ) -> str:
        """Keep a set and experiments on it, and return the name of the dataset.

        What is there is brought up to date.

        Raises:
            ServiceUnavailable: LangSmith did not answer, or refused, or nothing may be
                sent; what was sent by then is kept.
        """
        key = await asyncio.to_thread(self._key)
        timeout = self._connection.timeout
        async with self._wire.opened() as http:
            line = _LangSmithSession(self._wire, http, key, timeout, self._clock)
            name = await self._keep_set(line, golden)
            for experiment in experiments:
                await self._keep(line, golden, experiment)
                if on_stored is not None:
                    on_stored()
        return name

    async def _keep_set(self, line: "_LangSmithSession", golden: GoldenSet) -> str:
        about = self._connection
        dataset = build_dataset_row(golden, about.project, texts=about.texts)
        rows = build_example_rows(golden, texts=about.texts)
        reply = await line.ask(LangSmithRequest("POST", "/datasets", body=dataset))
        if reply.there:
            query = {"dataset": str(dataset["id"])}
            rows = _without(rows, await line.listed("/examples", query, len(rows)))
        await line.send("/examples/bulk", rows, MAX_ROWS_PER_REQUEST)
        return str(dataset["name"])

    async def _keep(
        self, line: "_LangSmithSession", golden: GoldenSet, experiment: Experiment
    ) -> None:
        about, now = self._connection, self._clock.today()
        dataset = compute_dataset_id(golden, texts=about.texts)
        longest = max((result.seconds for result in experiment.results), default=0.0)
        session = build_session_row(experiment, dataset, about.project, now - longest)
        runs = build_experiment_runs(experiment, golden, texts=about.texts, now=now)
        session_id = str(session["id"])
        reply = await line.ask(LangSmithRequest("POST", "/sessions", body=session))
        if reply.there:
            if await line.has_all(session_id, compute_results_digest(experiment)):
                return
            runs = _without(runs, await line.runs(session_id, len(runs)))
        await line.send("/runs/batch", runs, MAX_RUNS_PER_REQUEST, _posted)
        await self._judge(line, experiment, dataset, session_id, before=reply.there)
        await line.ask(
            LangSmithRequest(
                "PATCH",
                f"/sessions/{session_id}",
                body=build_session_end_row(experiment, now),
            )
        )

    async def _judge(
        self,
        line: "_LangSmithSession",
        experiment: Experiment,
        dataset: UUID,
        session: str,
        *,
        before: bool,
    ) -> None:
        rows = build_feedback_rows(experiment, dataset)
        if before:
            query = {"session": session}
            stored_rows = await line.listed("/feedback", query, len(rows))
            await line.correct(rows, stored_rows)
            rows = _without(rows, stored_rows)
        await line.send("/feedback/batch", rows, MAX_ROWS_PER_REQUEST)


@dataclass(frozen=True, slots=True)
class _LangSmithSession:
    """One connection with one key. A request has `timeout` seconds, second try included."""

    wire: LangSmithHttpClient
    http: "AsyncClient"
    key: str
    timeout: float
    clock: Clock

    async def ask(
        self, call: LangSmithRequest, expects: type | tuple[type, ...] = (dict, list)
    ) -> LangSmithResponse:
        """Return what comes back, at the second try where waiting helps.

        Raises:
            ServiceCallError: LangSmith did not answer, or refused, or said something else.
        """
        began = self.clock.now()
        try:
            return await self.wire.ask(self.http, self.key, call, expects)
        except ServiceCallError as refused:
            pause = _PAUSE if refused.after is None else refused.after
            remaining = began + self.timeout - self.clock.now() - pause
            if not refused.retryable or remaining <= 0:
                raise
        await self.clock.sleep(pause)
        return await self.wire.ask(self.http, self.key, call, expects, remaining)

    async def send(
        self,
        path: str,
        rows: Mapping[str, LangSmithRow],
        most: int,
        body: Callable[[list[LangSmithRow]], object] = list,
    ) -> None:
        """Send rows in as many requests as it takes.

        Those of a request that is refused as there already are there: it has been sent
        before, and its answer was lost.
        """
        for some in split_rows_by_size(
            list(rows.values()), most, MAX_BYTES_PER_REQUEST
        ):
            await self.ask(LangSmithRequest("POST", path, body=body(some)))

    async def listed(
        self, path: str, query: Mapping[str, str], about: int
    ) -> dict[str, LangSmithRow]:
        """Return rows by id, of which there are `about` so many, from all pages."""
        all_rows: dict[str, LangSmithRow] = {}
        for offset in range(0, about + ROWS_PER_PAGE, ROWS_PER_PAGE):
            page: dict[str, str | int] = {
                **query,
                "limit": ROWS_PER_PAGE,
                "offset": offset,
            }
            reply = await self.ask(LangSmithRequest("GET", path, page), list)
            rows = _rows(reply.said)
            all_rows |= rows
            if len(rows) < ROWS_PER_PAGE:
                break
        return all_rows

    async def runs(self, session: str, about: int) -> dict[str, LangSmithRow]:
        """Return the runs of a session by id, of which there are `about` so many."""
        runs_by_id: dict[str, LangSmithRow] = {}
        query: LangSmithRow = {
            "session": [session],
            "select": ["id"],
            "limit": ROWS_PER_PAGE,
        }
        for _ in range(0, about + ROWS_PER_PAGE, ROWS_PER_PAGE):
            reply = await self.ask(
                LangSmithRequest("POST", "/runs/query", body=query), dict
            )
            body = reply.said if isinstance(reply.said, dict) else {}
            runs_by_id |= _rows(body.get("runs"))
            cursors = body.get("cursors")
            if not isinstance(cursors, dict) or not cursors.get("next"):
                break
            query = {**query, "cursor": cursors["next"]}
        return runs_by_id

    async def has_all(self, session: str, results: str) -> bool:
        """Say whether all of these results were sent to a session before."""
        reply = await self.ask(LangSmithRequest("GET", f"/sessions/{session}"), dict)
        body = reply.said if isinstance(reply.said, dict) else {}
        extra = body.get("extra")
        facts = extra.get("metadata") if isinstance(extra, dict) else None
        return isinstance(facts, dict) and facts.get(RESULTS_DIGEST_KEY) == results

    async def correct(
        self, rows: Mapping[str, LangSmithRow], stored_rows: Mapping[str, LangSmithRow]
    ) -> None:
        """Bring judgements up to date that are there and say something else."""
        for feedback_id, row in rows.items():
            if feedback_id in stored_rows and not _alike(
                get_score_and_comment(row),
                get_score_and_comment(stored_rows[feedback_id]),
            ):
                score, comment = get_score_and_comment(row)
                body = {"score": score, "comment": comment}
                await self.ask(
                    LangSmithRequest("PATCH", f"/feedback/{feedback_id}", body=body)
                )


def _posted(runs: list[LangSmithRow]) -> object:
    return {"post": runs, "patch": []}


def _without(
    rows: Mapping[str, LangSmithRow], stored_rows: Mapping[str, LangSmithRow]
) -> dict[str, LangSmithRow]:
    return {row_id: row for row_id, row in rows.items() if row_id not in stored_rows}


def _rows(value: object) -> dict[str, LangSmithRow]:
    """Return rows by id; what is none is passed over."""
    rows = value if isinstance(value, list) else []
    return {
        str(row["id"]): row for row in rows if isinstance(row, dict) and "id" in row
    }


def _alike(first: tuple[object, str], second: tuple[object, str]) -> bool:
    """Say whether two judgements say the same; a score may have been rounded."""
    (score, comment), (other_score, other_comment) = first, second
    if isinstance(score, int | float) and isinstance(other_score, int | float):
        return isclose(score, other_score, abs_tol=1e-6) and comment == other_comment
    return score == other_score and comment == other_comment
