"""A loopback server that speaks what lrwr uses of LangSmith's API.

    with LangSmithServer() as server:
        server.will(Refuse(429, headers={"retry-after": "1"}))

Runs come by `POST /runs/batch`, and are refused unless they fit together as documented:
each names its trace, and stands below the run that it is within. A run that is there
already is a conflict. Errors have the body `{"detail": "..."}`.
"""

from dataclasses import dataclass, field
from uuid import UUID

from tests.fakes.hosted_server import Asked, HostedServer, Json, Refuse, Say, Turn

KEY = "lsv2-test-0123456789"
MOST_RUNS = 100
KINDS = {"chain", "retriever", "tool", "llm"}


@dataclass
class LangSmithServer(HostedServer):
    """The server. `runs` are those taken, by id, in the order they came."""

    takes: str = KEY
    runs: dict[str, Json] = field(default_factory=dict)

    def __enter__(self) -> "LangSmithServer":
        super().__enter__()
        return self

    @property
    def traces(self) -> list[Json]:
        """The outermost run of each trace."""
        return [run for run in self.runs.values() if run["trace_id"] == run["id"]]

    def within(self, run: Json) -> list[Json]:
        """The runs just below a run, as they came."""
        return [one for one in self.runs.values() if parent(one) == run["id"]]

    def answer(self, asked: Asked) -> Turn:
        """Take runs, or list projects."""
        if asked.headers.get("x-api-key") != self.takes:
            return Refuse(401, f"Invalid token {asked.headers.get('x-api-key')}")
        if asked.method == "GET" and asked.path.startswith("/sessions"):
            return Say([])
        if (asked.method, asked.path) != ("POST", "/runs/batch"):
            return Refuse(404, "Not Found")
        return self._take(asked.body)

    def error(self, refuse: Refuse) -> Json:
        """Return an error as LangSmith writes it."""
        return {"detail": refuse.message}

    def _take(self, body: Json) -> Turn:
        runs = body["post"]
        if not runs or len(runs) > MOST_RUNS:
            return Refuse(422, f"{len(runs)} runs")
        for run in runs:
            if run["id"] in self.runs:
                return Refuse(409, f"run {run['id']} exists")
            if wrong := self._fault(run):
                return Refuse(422, f"{wrong}: {run}")
            self.runs[run["id"]] = run
        return Say({"message": "Runs batch ingested"})

    def _fault(self, run: Json) -> str:
        UUID(run["id"])
        if run["run_type"] not in KINDS or not run["name"] or not run["session_name"]:
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
