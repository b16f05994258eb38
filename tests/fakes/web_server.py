"""A loopback server that speaks Tavily's HTTP API and finds what a test wants.

    with WebServer() as server:
        server.will(Refuse(429, retry_after="20"))
        server.finds(a_result("Hamlet", "https://example.org/hamlet", "A play."))

What `will` queued comes first, then what was given to `finds`. Errors have the body
that Tavily documents: `{"detail": {"error": "..."}}`.
"""

import json
import threading
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeAlias

Json: TypeAlias = Any

KEY = "tvly-test-0123456789"
MOST_QUERY = 400
"""Characters of a query that Tavily takes."""


@dataclass(frozen=True, slots=True)
class Searched:
    """One request. Names of headers are in lower case."""

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Refuse:
    """An error of the API, or a redirect if `location` is given."""

    status: int
    retry_after: str = ""
    location: str = ""


@dataclass(frozen=True, slots=True)
class Nonsense:
    """A success whose body is no answer."""

    body: str


@dataclass(frozen=True, slots=True)
class CutShort:
    """An answer that promises more than comes."""


@dataclass(frozen=True, slots=True)
class Hang:
    """No answer until the server is closed."""


Turn: TypeAlias = Refuse | Nonsense | CutShort | Hang


def a_result(title: Json, url: Json, content: Json, **others: Json) -> Json:
    """Return a result as the API gives it."""
    return {"title": title, "url": url, "content": content, "score": 0.5, **others}


@dataclass
class WebServer:
    """The server. `key` is asked for; `asked` are the requests so far."""

    key: str = KEY
    asked: list[Searched] = field(default_factory=list)
    results: list[Json] = field(default_factory=list)
    _turns: deque[Turn] = field(default_factory=deque)
    _closing: threading.Event = field(default_factory=threading.Event)
    _was_asked: threading.Event = field(default_factory=threading.Event)
    _http: "_Server | None" = None

    def __enter__(self) -> "WebServer":
        self._http = _Server(self)
        threading.Thread(
            target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        ).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        if self._http is not None:
            self._http.shutdown()
            self._http.server_close()

    @property
    def base_url(self) -> str:
        """Where the API is."""
        assert self._http is not None
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    @property
    def queries(self) -> list[str]:
        """What was searched for."""
        return [str(one.body.get("query")) for one in self.asked]

    def will(self, *turns: Turn) -> None:
        """Queue what the next requests get, one each."""
        self._turns.extend(turns)

    def finds(self, *results: Json) -> None:
        """Say what is found, whatever is searched for."""
        self.results = list(results)

    def was_asked(self, seconds: float) -> bool:
        """Wait for the first request, at most so long; say whether it came."""
        return self._was_asked.wait(seconds)

    def turn(self, searched: Searched) -> Turn | None:
        """Choose what a request gets; None for what is found."""
        self.asked.append(searched)
        self._was_asked.set()
        if self._turns:
            return self._turns.popleft()
        if searched.headers.get("authorization") != f"Bearer {self.key}":
            return Refuse(401)
        query = searched.body.get("query")
        if not isinstance(query, str) or not 0 < len(query) <= MOST_QUERY:
            return Refuse(400)
        return None if searched.path == "/search" else Refuse(404)

    def until_closed(self) -> None:
        """Wait for the end."""
        self._closing.wait(60)


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, web: WebServer) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.web = web


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def handle(self) -> None:
        try:
            super().handle()
        except (ConnectionError, ValueError):
            self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - inherited
        """Say nothing."""

    def do_POST(self) -> None:
        """Answer, or do what was queued."""
        length = int(self.headers.get("content-length", 0))
        body = json.loads(self.rfile.read(length) or b"{}")
        headers = {name.lower(): value for name, value in self.headers.items()}
        web = self.server.web
        match web.turn(Searched(self.path, headers, body)):
            case Refuse(status, retry_after, location):
                detail = {"detail": {"error": f"refused with {status}"}}
                extra = {"retry-after": retry_after, "location": location}
                self._send(status, json.dumps(detail).encode(), extra)
            case Nonsense(text):
                self._send(200, text.encode(), {})
            case CutShort():
                self._send(200, b'{"results": [', {}, promised=4_000)
            case Hang():
                web.until_closed()
            case None:
                found = web.results[: int(body.get("max_results", 5))]
                told = {"query": body["query"], "results": found, "response_time": 0.1}
                self._send(200, json.dumps(told).encode(), {})

    def _send(
        self, status: int, body: bytes, extra: Mapping[str, str], promised: int = 0
    ) -> None:
        self.send_response(status)
        self.send_header("content-type", "application/json")
        for name, value in extra.items():
            if value:
                self.send_header(name, value)
        self.send_header("content-length", str(promised or len(body)))
        self.end_headers()
        self.wfile.write(body)
