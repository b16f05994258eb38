"""A loopback server that speaks what lrwr uses of LangSmith's API.

    with LangSmithServer() as server:
        server.will(Refuse(429, headers={"retry-after": "1"}))

Runs come by `POST /runs/batch`, and are refused unless they fit together as documented:
each names its trace, and stands below the run that it is within. A run that is there
already is a conflict. Datasets, examples, sessions and feedback are kept in `desk`.
Errors have the body `{"detail": "..."}`.
"""

from dataclasses import dataclass, field
from uuid import UUID

from tests.fakes.hosted_server import Asked, HostedServer, Json, Refuse, Say, Turn
from tests.fakes.langsmith_desk import LangSmithDesk

KEY = "lsv2-test-0123456789"
MOST_RUNS = 100
MOST_BYTES = 20_971_520
KINDS = {"chain", "retriever", "tool", "llm"}


@dataclass
class LangSmithServer(HostedServer):
    """The server. `runs` are those taken, by id, in the order they came."""

    takes: str = KEY
    runs: dict[str, Json] = field(default_factory=dict)
    desk: LangSmithDesk = field(default_factory=LangSmithDesk)

    @property
    def traces(self) -> list[Json]:
        """The outermost run of each trace."""
        return [run for run in self.runs.values() if run["trace_id"] == run["id"]]

    def within(self, run: Json) -> list[Json]:
        """The runs just below a run, as they came."""
        return [one for one in self.runs.values() if parent(one) == run["id"]]

    def answer(self, asked: Asked) -> Turn:
        """Take runs and what belongs to experiments, or list projects."""
        if asked.headers.get("x-api-key") != self.takes:
            return Refuse(401, f"Invalid token {asked.headers.get('x-api-key')}")
        if asked.size > MOST_BYTES:
            return Refuse(413, "Payload too large")
        if (asked.method, asked.place) == ("GET", "/sessions"):
            return Say([])
        if (asked.method, asked.place) == ("POST", "/runs/batch"):
            return self._take(asked.body)
        return self.desk.answer(asked, self.runs) or Refuse(404, "Not Found")

    def error(self, refuse: Refuse) -> Json:
        """Return an error as LangSmith writes it."""
        return {"detail": refuse.message}

    def _take(self, body: Json) -> Turn:
        runs = body["post"]
        if not runs or len(runs) > MOST_RUNS:
            return Refuse(422, f"{len(runs)} runs")
        if there := [run["id"] for run in runs if run["id"] in self.runs]:
            return Refuse(409, f"payloads already received: {there}")
        for run in runs:
            if wrong := self._fault(run) or self.desk.fault_of_run(run):
                return Refuse(422, f"{wrong}: {run}")
            self.runs[run["id"]] = run
        return Say({"message": "Runs batch ingested"})

    def _fault(self, run: Json) -> str:
        UUID(run["id"])
        project = run.get("session_name") or run.get("session_id")
        if run["run_type"] not in KINDS or not run["name"] or not project:
            return "a run without a name, a kind or a project"
        if run["end_time"] < run["start_time"]:
            return "a run that ended before it began"
        above = self.runs.get(parent(run))
        path = f"{above['dotted_order']}." if above else ""
        root = above["trace_id"] if above else run["id"]
        last = run["dotted_order"].removeprefix(path)
        if "." in last or not last.endswith(f"Z{run['id']}") or run["trace_id"] != root:
            return "a run that stands nowhere"
        return ""


def parent(run: Json) -> str:
    """Return the id of the run that a run is within, empty for the outermost."""
    return str(run.get("parent_run_id", ""))
