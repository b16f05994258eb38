"""A loopback server that speaks Tavily's HTTP API and finds what a test wants.

    with WebServer() as server:
        server.will(Refuse(429, retry_after="20"))
        server.finds(a_result("Hamlet", "https://example.org/hamlet", "A play."))

Errors have the body that Tavily documents: `{"detail": {"error": "..."}}`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.fakes.hosted_server import Asked, HostedServer, Json, Say, Turn
from tests.fakes.hosted_server import Hang as Hang
from tests.fakes.hosted_server import Refuse as Refuse

KEY = "tvly-test-0123456789"
MOST_QUERY = 400
"""Characters of a query that Tavily takes."""

USED: Mapping[str, Json] = {
    "key": {"usage": 12, "limit": None, "search_usage": 12},
    "account": {"current_plan": "Researcher", "plan_usage": 44, "plan_limit": 1000},
}
"""What Tavily says of an account that has searched a little."""


def a_result(title: Json, url: Json, content: Json, **others: Json) -> Json:
    """Return a result as the API gives it."""
    return {"title": title, "url": url, "content": content, "score": 0.5, **others}


@dataclass
class WebServer(HostedServer):
    """The server. `results` are found, whatever is searched for; `used` is what was."""

    key: str = KEY
    results: list[Json] = field(default_factory=list)
    used: Json = field(default_factory=lambda: dict(USED))

    @property
    def base_url(self) -> str:
        """Where the API is."""
        return self.origin

    @property
    def queries(self) -> list[str]:
        """What was searched for."""
        return [str(one.body.get("query")) for one in self.asked]

    def finds(self, *results: Json) -> None:
        """Say what is found."""
        self.results = list(results)

    def answer(self, asked: Asked) -> Turn:
        """Search, or say what was used: that has no charge."""
        if (asked.method, asked.path) == ("GET", "/usage"):
            return Say(self.used)
        query = asked.body.get("query")
        if not isinstance(query, str) or not 0 < len(query) <= MOST_QUERY:
            return Refuse(400)
        if (asked.method, asked.path) != ("POST", "/search"):
            return Refuse(404)
        found = self.results[: int(asked.body.get("max_results", 5))]
        return Say({"query": query, "results": found, "response_time": 0.1})

    def error(self, refuse: Refuse) -> Json:
        """Return an error as Tavily writes it."""
        return {"detail": {"error": refuse.message}}
