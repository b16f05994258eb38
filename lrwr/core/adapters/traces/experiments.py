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

from lrwr.core.adapters.http.egress_log import Noting
from lrwr.core.adapters.http.errors import Refused
from lrwr.core.adapters.http.rate_limit import Clock
from lrwr.core.adapters.traces.errors import RESULTS
from lrwr.core.adapters.traces.http import MOST_RUNS, Call, Connection, Reply, Wire
from lrwr.core.adapters.traces.records import (
    DIGEST,
    Row,
    batches,
    dataset_id,
    dataset_of,
    digest,
    end_of,
    examples_of,
    feedback_of,
    runs_of_experiment,
    said_of,
    session_of,
)
from lrwr.core.ports.experiment_log import Experiment, GoldenSet

if TYPE_CHECKING:
    from httpx import AsyncClient

MOST_BYTES = 1_000_000
"""Bytes of rows in one request: the service takes 20 million, a slow line does not."""

MOST_ROWS = 250
"""Examples or judgements in one request."""

PAGE = 100
"""Rows of one page of a list: the service gives no more."""

_PAUSE = 1.0
"""Seconds before the second try, where the service does not say."""


class LangSmithExperiments:
    """Keeps the ExperimentLog port over HTTP. Nothing is opened before it is used.

    `key` gives the key each time: it raises `ServiceUnavailable` where nothing may be
    sent. With `noting` each request is noted before it leaves.
    """

    def __init__(
        self,
        connection: Connection,
        key: Callable[[], str],
        noting: Noting | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._connection = connection
        self._key = key
        self._clock = clock or Clock()
        self._wire = Wire(connection, noting, self._clock, RESULTS)

    async def keep(
        self,
        golden: GoldenSet,
        experiments: Sequence[Experiment],
        kept: Callable[[], None] | None = None,
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
            line = _Line(self._wire, http, key, timeout, self._clock)
            name = await self._keep_set(line, golden)
            for experiment in experiments:
                await self._keep(line, golden, experiment)
                if kept is not None:
                    kept()
        return name

    async def _keep_set(self, line: "_Line", golden: GoldenSet) -> str:
        about = self._connection
        dataset = dataset_of(golden, about.project, texts=about.texts)
        rows = examples_of(golden, texts=about.texts)
        made = await line.ask(Call("POST", "/datasets", body=dataset))
        if made.there:
            query = {"dataset": str(dataset["id"])}
            rows = _without(rows, await line.listed("/examples", query, len(rows)))
        await line.send("/examples/bulk", rows, MOST_ROWS)
        return str(dataset["name"])

    async def _keep(
        self, line: "_Line", golden: GoldenSet, experiment: Experiment
    ) -> None:
        about, now = self._connection, self._clock.today()
        dataset = dataset_id(golden, texts=about.texts)
        longest = max((one.seconds for one in experiment.results), default=0.0)
        session = session_of(experiment, dataset, about.project, now - longest)
        runs = runs_of_experiment(experiment, golden, texts=about.texts, now=now)
        own = str(session["id"])
        made = await line.ask(Call("POST", "/sessions", body=session))
        if made.there:
            if await line.has_all(own, digest(experiment)):
                return
            runs = _without(runs, await line.runs(own, len(runs)))
        await line.send("/runs/batch", runs, MOST_RUNS, _posted)
        await self._judge(line, experiment, dataset, own, before=made.there)
        await line.ask(Call("PATCH", f"/sessions/{own}", body=end_of(experiment, now)))

    async def _judge(
        self,
        line: "_Line",
        experiment: Experiment,
        dataset: UUID,
        session: str,
        *,
        before: bool,
    ) -> None:
        rows = feedback_of(experiment, dataset)
        if before:
            query = {"session": session}
            there = await line.listed("/feedback", query, len(rows))
            await line.correct(rows, there)
            rows = _without(rows, there)
        await line.send("/feedback/batch", rows, MOST_ROWS)


@dataclass(frozen=True, slots=True)
class _Line:
    """One connection with one key. A request has `timeout` seconds, second try included."""

    wire: Wire
    http: "AsyncClient"
    key: str
    timeout: float
    clock: Clock

    async def ask(
        self, call: Call, expects: type | tuple[type, ...] = (dict, list)
    ) -> Reply:
        """Return what comes back, at the second try where waiting helps.

        Raises:
            Refused: LangSmith did not answer, or refused, or said something else.
        """
        began = self.clock.now()
        try:
            return await self.wire.ask(self.http, self.key, call, expects)
        except Refused as refused:
            pause = _PAUSE if refused.after is None else refused.after
            left = began + self.timeout - self.clock.now() - pause
            if not refused.retryable or left <= 0:
                raise
        await self.clock.sleep(pause)
        return await self.wire.ask(self.http, self.key, call, expects, left)

    async def send(
        self,
        path: str,
        rows: Mapping[str, Row],
        most: int,
        body: Callable[[list[Row]], object] = list,
    ) -> None:
        """Send rows in as many requests as it takes.

        Those of a request that is refused as there already are there: it has been sent
        before, and its answer was lost.
        """
        for some in batches(list(rows.values()), most, MOST_BYTES):
            await self.ask(Call("POST", path, body=body(some)))

    async def listed(
        self, path: str, query: Mapping[str, str], about: int
    ) -> dict[str, Row]:
        """Return rows by id, of which there are `about` so many, from all pages."""
        found: dict[str, Row] = {}
        for offset in range(0, about + PAGE, PAGE):
            page: dict[str, str | int] = {**query, "limit": PAGE, "offset": offset}
            reply = await self.ask(Call("GET", path, page), list)
            rows = _rows(reply.said)
            found |= rows
            if len(rows) < PAGE:
                break
        return found

    async def runs(self, session: str, about: int) -> dict[str, Row]:
        """Return the runs of a session by id, of which there are `about` so many."""
        found: dict[str, Row] = {}
        asked: Row = {"session": [session], "select": ["id"], "limit": PAGE}
        for _ in range(0, about + PAGE, PAGE):
            reply = await self.ask(Call("POST", "/runs/query", body=asked), dict)
            said = reply.said if isinstance(reply.said, dict) else {}
            found |= _rows(said.get("runs"))
            cursors = said.get("cursors")
            if not isinstance(cursors, dict) or not cursors.get("next"):
                break
            asked = {**asked, "cursor": cursors["next"]}
        return found

    async def has_all(self, session: str, results: str) -> bool:
        """Say whether all of these results were sent to a session before."""
        reply = await self.ask(Call("GET", f"/sessions/{session}"), dict)
        said = reply.said if isinstance(reply.said, dict) else {}
        extra = said.get("extra")
        facts = extra.get("metadata") if isinstance(extra, dict) else None
        return isinstance(facts, dict) and facts.get(DIGEST) == results

    async def correct(self, rows: Mapping[str, Row], there: Mapping[str, Row]) -> None:
        """Bring judgements up to date that are there and say something else."""
        for own, row in rows.items():
            if own in there and not _alike(said_of(row), said_of(there[own])):
                score, comment = said_of(row)
                body = {"score": score, "comment": comment}
                await self.ask(Call("PATCH", f"/feedback/{own}", body=body))


def _posted(runs: list[Row]) -> object:
    return {"post": runs, "patch": []}


def _without(rows: Mapping[str, Row], there: Mapping[str, Row]) -> dict[str, Row]:
    return {own: row for own, row in rows.items() if own not in there}


def _rows(said: object) -> dict[str, Row]:
    """Return rows by id; what is none is passed over."""
    rows = said if isinstance(said, list) else []
    return {
        str(row["id"]): row for row in rows if isinstance(row, dict) and "id" in row
    }


def _alike(one: tuple[object, str], other: tuple[object, str]) -> bool:
    """Say whether two judgements say the same; a score may have been rounded."""
    (mine, own), (theirs, said) = one, other
    if isinstance(mine, int | float) and isinstance(theirs, int | float):
        return isclose(mine, theirs, abs_tol=1e-6) and own == said
    return mine == theirs and own == said
