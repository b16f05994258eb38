"""A loopback server that speaks the part of Qdrant's HTTP API that lrwr uses.

    with QdrantServer(key="k") as server:
        server.will(Refuse(429, retry_after="2"))

What `will` queued comes first; else a request is checked against the documented shape
of its body and answered by the client's own engine in memory. The real server cannot
be had from a registry.
"""

import json
import threading
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from pydantic import ValidationError
from qdrant_client import QdrantClient, models

from tests.fakes.qdrant_memory import known_differences
from tests.fakes.web_server import CutShort, Hang, Nonsense, Refuse, Turn

Json: TypeAlias = Any

KEY = "qdr-test-0123456789"


@dataclass(frozen=True, slots=True)
class Asked:
    """One request. Names of headers are in lower case."""

    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    body: Json
    size: int


@dataclass
class QdrantServer:
    """The server. `key` is asked for, empty for none; `asked` are the requests so far."""

    key: str = ""
    asked: list[Asked] = field(default_factory=list)
    _turns: deque[Turn] = field(default_factory=deque)
    _always: Turn | None = None
    _closing: threading.Event = field(default_factory=threading.Event)
    _http: "_Server | None" = None

    def __post_init__(self) -> None:
        self.engine = QdrantClient(":memory:", force_disable_check_same_thread=True)
        self.busy = threading.Lock()

    def __enter__(self) -> "QdrantServer":
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
    def url(self) -> str:
        """Where the API is."""
        assert self._http is not None
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    @property
    def paths(self) -> list[str]:
        """What was asked for: method and path."""
        return [f"{one.method} {one.path}" for one in self.asked]

    def will(self, *turns: Turn) -> None:
        """Queue what the next requests get, one each."""
        self._turns.extend(turns)

    def always(self, turn: Turn | None) -> None:
        """Say what every request gets from now on; None: an answer."""
        self._always = turn

    def turn(self, asked: Asked) -> Turn | None:
        """Choose what a request gets; None for an answer."""
        self.asked.append(asked)
        if self._turns:
            return self._turns.popleft()
        if self._always is None and self.key != asked.headers.get("api-key", ""):
            return Refuse(401)
        return self._always

    def until_closed(self) -> None:
        """Wait for the end."""
        self._closing.wait(60)

    def answer(self, asked: Asked) -> Json:
        """Return the result of a request.

        Raises:
            LookupError: The API has no such place, or no such collection.
            ValidationError: The body is not as documented.
        """
        name, _, rest = asked.path.removeprefix("/collections/").partition("/")
        route = _ROUTES[asked.method, rest]
        if rest not in ("", "exists") and not self.engine.collection_exists(name):
            raise LookupError(f"Collection `{name}` doesn't exist!")
        if asked.method == "PUT" and rest and "wait=true" not in asked.query:
            raise LookupError("nobody waits for this")
        with self.busy, known_differences():
            return route(self.engine, name, asked.body)


@cache
def lasting_server(folder: Path) -> QdrantServer:
    """Return the server of a test's folder, which runs until the tests end."""
    return QdrantServer().__enter__()


def _exists(engine: QdrantClient, name: str, _: Json) -> Json:
    return {"exists": engine.collection_exists(name)}


def _create(engine: QdrantClient, name: str, body: Json) -> Json:
    said = models.CreateCollection.model_validate(body)
    assert said.vectors is not None
    return engine.create_collection(name, vectors_config=said.vectors)


def _delete(engine: QdrantClient, name: str, _: Json) -> Json:
    return engine.delete_collection(name)


def _index(engine: QdrantClient, name: str, body: Json) -> Json:
    said = models.CreateFieldIndex.model_validate(body)
    assert isinstance(said.field_schema, models.PayloadSchemaType)
    done = engine.create_payload_index(name, said.field_name, said.field_schema)
    return done.model_dump(mode="json")


def _upsert(engine: QdrantClient, name: str, body: Json) -> Json:
    said = models.PointsList.model_validate(body)
    return engine.upsert(name, said.points).model_dump(mode="json")


def _retrieve(engine: QdrantClient, name: str, body: Json) -> Json:
    said = models.PointRequest.model_validate(body)
    found = engine.retrieve(
        name,
        said.ids,
        with_payload=bool(said.with_payload),
        with_vectors=said.with_vector or False,
    )
    return [one.model_dump(mode="json", exclude_none=True) for one in found]


def _remove(engine: QdrantClient, name: str, body: Json) -> Json:
    said = models.PointIdsList.model_validate(body)
    return engine.delete(name, said).model_dump(mode="json")


def _count(engine: QdrantClient, name: str, body: Json) -> Json:
    said = models.CountRequest.model_validate(body)
    return {"count": engine.count(name, said.filter).count}


def _query(engine: QdrantClient, name: str, body: Json) -> Json:
    said = models.QueryRequest.model_validate(body)
    query = (
        said.query.nearest
        if isinstance(said.query, models.NearestQuery)
        else said.query
    )
    found = engine.query_points(
        name,
        query=query,
        using=said.using,
        query_filter=said.filter,
        limit=said.limit or 10,
        with_payload=bool(said.with_payload),
        with_vectors=said.with_vector or False,
    )
    dumped = [one.model_dump(mode="json", exclude_none=True) for one in found.points]
    return {"points": dumped}


_ROUTES: Mapping[tuple[str, str], Callable[[QdrantClient, str, Json], Json]] = {
    ("GET", "exists"): _exists,
    ("PUT", ""): _create,
    ("DELETE", ""): _delete,
    ("PUT", "index"): _index,
    ("PUT", "points"): _upsert,
    ("POST", "points"): _retrieve,
    ("POST", "points/delete"): _remove,
    ("POST", "points/count"): _count,
    ("POST", "points/query"): _query,
}


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, qdrant: QdrantServer) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.qdrant = qdrant


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
        length = int(self.headers.get("content-length", 0))
        body = json.loads(self.rfile.read(length) or b"{}")
        headers = {name.lower(): value for name, value in self.headers.items()}
        place = urlsplit(self.path)
        asked = Asked(self.command, place.path, place.query, headers, body, length)
        match self.server.qdrant.turn(asked):
            case Refuse(status, retry_after, location):
                extra = {"retry-after": retry_after, "location": location}
                self._send(status, _failed(f"refused with {status}"), extra)
            case Nonsense(text):
                self._send(200, text.encode(), {})
            case CutShort():
                self._send(200, b'{"result": {', {}, promised=4_000)
            case Hang():
                self.server.qdrant.until_closed()
            case None:
                self._answer(asked)

    do_POST = do_PUT = do_DELETE = do_GET  # noqa: N815 - inherited

    def _answer(self, asked: Asked) -> None:
        try:
            result = self.server.qdrant.answer(asked)
        except LookupError as error:
            self._send(404, _failed(str(error)), {})
        except ValidationError as error:
            self._send(400, _failed(f"Format error in JSON body: {error}"), {})
        else:
            told = {"result": result, "status": "ok", "time": 0.001}
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


def _failed(why: str) -> bytes:
    return json.dumps({"status": {"error": why}, "time": 0.001}).encode()
