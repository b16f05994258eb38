"""A loopback server of a paid service: what `will` queued comes first, then answers."""

import json
import threading
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeAlias

Json: TypeAlias = Any


@dataclass(frozen=True, slots=True)
class Asked:
    """One request. Names of headers are in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Json]
    size: int


@dataclass(frozen=True, slots=True)
class Refuse:
    """An error of the API, or a redirect if `location` is given."""

    status: int
    message: str = "no"
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Say:
    """A success with this body, and these headers."""

    body: Json
    headers: Mapping[str, str] = field(default_factory=dict)


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


Turn: TypeAlias = Refuse | Say | Nonsense | CutShort | Hang


@dataclass
class HostedServer:
    """The server. `key` is asked for; `asked` are the requests so far."""

    key: str = ""
    asked: list[Asked] = field(default_factory=list)
    most_at_once: int = 0
    _turns: deque[Turn] = field(default_factory=deque)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _closing: threading.Event = field(default_factory=threading.Event)
    _was_asked: threading.Event = field(default_factory=threading.Event)
    _at_once: int = 0
    _http: "_Server | None" = None

    def __enter__(self) -> "HostedServer":
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
    def origin(self) -> str:
        """Where the server is."""
        assert self._http is not None
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def will(self, *turns: Turn) -> None:
        """Queue what the next requests get, one each."""
        self._turns.extend(turns)

    def was_asked(self, seconds: float) -> bool:
        """Wait for the first request, at most so long; say whether it came."""
        return self._was_asked.wait(seconds)

    def turn(self, asked: Asked) -> Turn:
        """Choose what a request gets."""
        with self._lock:
            self.asked.append(asked)
            self._was_asked.set()
            if self._turns:
                return self._turns.popleft()
        if self.key and asked.headers.get("authorization") != f"Bearer {self.key}":
            return Refuse(401, f"invalid api token {asked.headers['authorization']}")
        return self.answer(asked)

    def answer(self, asked: Asked) -> Turn:
        """Answer as the service does."""
        raise NotImplementedError

    def error(self, refuse: Refuse) -> Json:
        """Return the body of an error, as the service writes it."""
        raise NotImplementedError

    def handled(self, by: int) -> None:
        """Count what is under way."""
        with self._lock:
            self._at_once += by
            self.most_at_once = max(self.most_at_once, self._at_once)

    def until_closed(self) -> None:
        """Wait for the end."""
        self._closing.wait(60)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, hosted: HostedServer) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.hosted = hosted


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def handle(self) -> None:
        try:
            super().handle()
        except (ConnectionError, ValueError):
            self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - inherited
        """Say nothing."""

    def do_GET(self) -> None:
        """Answer, or do what was queued."""
        self._handle()

    def do_POST(self) -> None:
        """Answer, or do what was queued."""
        self._handle()

    def _handle(self) -> None:
        length = int(self.headers.get("content-length", 0))
        body = json.loads(self.rfile.read(length) or b"{}")
        headers = {name.lower(): value for name, value in self.headers.items()}
        hosted = self.server.hosted
        hosted.handled(1)
        try:
            self._take(
                hosted.turn(Asked(self.command, self.path, headers, body, length))
            )
        finally:
            hosted.handled(-1)

    def _take(self, turn: Turn) -> None:
        match turn:
            case Refuse():
                body = json.dumps(self.server.hosted.error(turn))
                self._send(turn.status, body, turn.headers)
            case Say():
                self._send(200, json.dumps(turn.body), turn.headers)
            case Nonsense():
                self._send(200, turn.body, {})
            case CutShort():
                self._send(200, '{"results": [', {}, promised=4_000)
            case Hang():
                self.server.hosted.until_closed()

    def _send(
        self, status: int, text: str, extra: Mapping[str, str], promised: int = 0
    ) -> None:
        body = text.encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        for name, value in extra.items():
            self.send_header(name, value)
        self.send_header("content-length", str(promised or len(body)))
        self.end_headers()
        self.wfile.write(body)
