"""What LangSmith keeps of experiments: datasets, examples, sessions and feedback.

Each list has pages of at most 100; what has an id or a name that is there already is a
conflict, and then nothing of the request is taken.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs
from uuid import UUID

from tests.fakes.hosted_server import Asked, Json, Refuse, Say, Turn

PAGE = 100
LONGEST_KEY = 180
NOT_BEFORE = timedelta(hours=24)
"""How long ago a run of an experiment may have begun."""

Rows = dict[str, Json]
Fault = Callable[[Json], str]


@dataclass
class LangSmithDesk:
    """Rows by id, as they are now."""

    datasets: Rows = field(default_factory=dict)
    examples: Rows = field(default_factory=dict)
    sessions: Rows = field(default_factory=dict)
    feedback: Rows = field(default_factory=dict)

    def answer(self, asked: Asked, runs: Mapping[str, Json]) -> Turn | None:
        """Answer what concerns experiments, None for anything else."""
        query = {name: values[0] for name, values in parse_qs(asked.query).items()}
        match asked.method, *asked.place.strip("/").split("/"):
            case "POST", "datasets":
                return self._named(self.datasets, asked.body)
            case "GET", "examples":
                return page(self.examples.values(), "dataset_id", "dataset", query)
            case "POST", "examples", "bulk":
                return self._take(self.examples, asked.body, self._fault_of_example)
            case "POST", "runs", "query":
                return listed(runs, asked.body)
            case "GET", "feedback":
                return page(self.feedback.values(), "session_id", "session", query)
            case "POST", "feedback", "batch":
                return self._judged(asked.body, runs)
            case "PATCH", "feedback", own:
                return patched(self.feedback, own, asked.body)
            case _:
                return self._session(asked)

    def fault_of_run(self, run: Json) -> str:
        """Say what is wrong with a run of an experiment, empty for nothing."""
        if "session_id" not in run:
            return ""
        session = self.sessions.get(run["session_id"])
        example = self.examples.get(run.get("reference_example_id", ""))
        if not session or not example:
            return "a run of no session, or on no example"
        if example["dataset_id"] != session["reference_dataset_id"]:
            return "a run on an example of another dataset"
        began = datetime.fromisoformat(run["start_time"])
        if abs(datetime.now(UTC) - began) > NOT_BEFORE:
            return "a run that began too long ago"
        return ""

    def _session(self, asked: Asked) -> Turn | None:
        match asked.method, *asked.place.strip("/").split("/"):
            case "POST", "sessions":
                if asked.body["reference_dataset_id"] not in self.datasets:
                    return Refuse(404, "Dataset not found")
                return self._named(self.sessions, asked.body)
            case "GET", "sessions", own if own in self.sessions:
                return Say(self.sessions[own])
            case "PATCH", "sessions", own:
                return patched(self.sessions, own, asked.body)
            case _:
                return None

    def _named(self, rows: Rows, row: Json) -> Turn:
        UUID(row["id"])
        names = {one["name"] for one in rows.values()}
        if row["id"] in rows or row["name"] in names:
            return Refuse(409, f"{row['name']} already exists")
        rows[row["id"]] = dict(row)
        return Say(row)

    def _take(self, rows: Rows, given: Json, fault: Fault) -> Turn:
        if not isinstance(given, list) or not given:
            return Refuse(422, "no list")
        if there := [row["id"] for row in given if row["id"] in rows]:
            return Refuse(409, f"already there: {there}")
        if wrong := [found for row in given if (found := fault(row))]:
            return Refuse(422, wrong[0])
        rows |= {row["id"]: dict(row) for row in given}
        return Say(given)

    def _fault_of_example(self, row: Json) -> str:
        UUID(row["id"])
        if row["dataset_id"] not in self.datasets:
            return "an example of no dataset"
        shapes = (row["inputs"], row["outputs"], row["metadata"])
        return "" if all(isinstance(one, dict) for one in shapes) else "no objects"

    def _judged(self, given: Json, runs: Mapping[str, Json]) -> Turn:
        def fault(row: Json) -> str:
            UUID(row["id"])
            run = runs.get(row["run_id"])
            if not run or run["session_id"] != row["session_id"]:
                return "feedback on no run"
            if not row["key"] or len(row["key"]) > LONGEST_KEY:
                return "feedback without a key"
            score = row["score"]
            good = score is None or (isinstance(score, int | float) and 0 <= score <= 1)
            return "" if good else "a score that is none"

        taken = self._take(self.feedback, given, fault)
        return Say({"message": "ok"}) if isinstance(taken, Say) else taken


def page(rows: Iterable[Json], name: str, asked: str, query: Mapping[str, str]) -> Turn:
    """Return a page of the rows whose `name` is what is asked for."""
    limit, offset = int(query["limit"]), int(query["offset"])
    if limit > PAGE:
        return Refuse(422, f"limit {limit}")
    found = [row for row in rows if row[name] == query[asked]]
    return Say(found[offset : offset + limit])


def listed(runs: Mapping[str, Json], body: Json) -> Turn:
    """Return a page of the runs of some sessions, with what leads to the next."""
    if body["limit"] > PAGE:
        return Refuse(422, f"limit {body['limit']}")
    found = [run for run in runs.values() if run.get("session_id") in body["session"]]
    start = int(body.get("cursor") or 0)
    end = start + body["limit"]
    told = [{name: run[name] for name in body["select"]} for run in found[start:end]]
    following = str(end) if end < len(found) else None
    return Say({"runs": told, "cursors": {"next": following}})


def patched(rows: Rows, own: str, body: Json) -> Turn:
    """Change what is named of a row."""
    if own not in rows:
        return Refuse(404, "Not Found")
    rows[own] |= body
    return Say(rows[own])
