"""A loopback server that speaks the part of Qdrant's HTTP API that lrwr uses.

    with QdrantServer(key="k") as server:
        server.will(Refuse(429, retry_after="2"))

A request is checked against the documented shape of its body, and answered by the
client's own engine in memory. The real server cannot be had from a registry.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from threading import Lock

from pydantic import ValidationError
from qdrant_client import QdrantClient, models

from tests.fakes.hosted_server import Asked as Asked
from tests.fakes.hosted_server import HostedServer, Refuse, Say, Turn
from tests.fakes.hosted_server import Json as Json
from tests.fakes.qdrant_memory import known_differences

KEY = "qdr-test-0123456789"


@dataclass
class QdrantServer(HostedServer):
    """The server. `engine` is what answers, one request after another."""

    engine: QdrantClient = field(
        default_factory=lambda: QdrantClient(
            ":memory:", force_disable_check_same_thread=True
        )
    )
    _always: Turn | None = None
    _busy: Lock = field(default_factory=Lock)

    @property
    def url(self) -> str:
        """Where the API is."""
        return self.origin

    @property
    def paths(self) -> list[str]:
        """What was asked for: method and place."""
        return [f"{one.method} {one.place}" for one in self.asked]

    def always(self, turn: Turn | None) -> None:
        """Say what every request gets from now on; None: an answer."""
        self._always = turn

    def turn(self, asked: Asked) -> Turn:
        """Choose what a request gets."""
        if self._always and not self._turns:
            return self._always
        return super().turn(asked)

    def forbidden(self, asked: Asked) -> Refuse | None:
        """Refuse who has not the key, or has one where none is asked for."""
        given = asked.headers.get("api-key", "")
        return None if given == self.key else Refuse(401)

    def reply(self, asked: Asked) -> Turn:
        """Answer, or say why not."""
        try:
            result = self.answer(asked)
        except LookupError as error:
            return Refuse(404, str(error))
        except ValidationError as error:
            return Refuse(400, f"Format error in JSON body: {error}")
        return Say({"result": result, "status": "ok", "time": 0.001})

    def answer(self, asked: Asked) -> Json:
        """Return the result of a request.

        Raises:
            LookupError: The API has no such place, or no such collection.
            ValidationError: The body is not as documented.
        """
        name, _, rest = asked.place.removeprefix("/collections/").partition("/")
        route = _ROUTES[asked.method, rest]
        if rest not in ("", "exists") and not self.engine.collection_exists(name):
            raise LookupError(f"Collection `{name}` doesn't exist!")
        if asked.method == "PUT" and rest and "wait=true" not in asked.query:
            raise LookupError("nobody waits for this")
        with self._busy, known_differences():
            return route(self.engine, name, asked.body)

    def error(self, refuse: Refuse) -> Json:
        """Return an error as Qdrant writes it."""
        return {"status": {"error": refuse.message}, "time": 0.001}


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
