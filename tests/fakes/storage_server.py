"""A loopback server that speaks Supabase Storage as the hosted one does.

    with StorageServer() as server:
        server.will(Refuse(429, headers={"retry-after": "7"}))

It lists names without their folder and never more than `most` of them, answers most
refusals with the state 400 and says in the body what they are. `@supabase/lite` does
the first otherwise. What `will` queued comes first.
"""

import json
import threading
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from tests.fakes.hosted_server import CutShort, Hang, Nonsense, Refuse, Say, Turn
from tests.fakes.loopback import Line, Loopback

Json: TypeAlias = Any

KEY = "sb_publishable_storage-test"
OBJECT = "/storage/v1/object/"
MOST_REMOVED = 1000
"""Files that may be removed at once."""


@dataclass(frozen=True, slots=True)
class Request:
    """One request. Names of headers are in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


@dataclass
class StorageServer(Loopback):
    """The server. `accounts` are those signed in, by token; `files` are by path."""

    accounts: dict[str, str] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)
    largest: int = 50_000_000
    most: int = 1000
    bucket: str = "lrwr"
    asked: list[Request] = field(default_factory=list)
    _turns: deque[Turn] = field(default_factory=deque)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def url(self) -> str:
        """Where the project is."""
        return self.origin

    def will(self, *turns: Turn) -> None:
        """Queue what the next requests get, one each."""
        self._turns.extend(turns)

    def turn(self, request: Request) -> "Turn | bytes":
        """Choose what a request gets; bytes are those of a file."""
        with self._lock:
            self.asked.append(request)
            if self._turns:
                return self._turns.popleft()
            return self._answer(request)

    def serve(self, line: Line) -> None:
        """Note a request, and do what it gets."""
        headers = {name.lower(): value for name, value in line.headers.items()}
        match self.turn(Request(line.command, line.path, headers, line.received())):
            case bytes(content):
                line.send(200, content, {})
            case Refuse() as turn:
                line.send(turn.status, turn.message.encode(), turn.headers)
            case Say() as turn:
                line.send(200, json.dumps(turn.body).encode(), turn.headers)
            case Nonsense() as turn:
                line.send(200, turn.body.encode(), {})
            case CutShort():
                line.close_connection = True
                line.send(200, b'[{"name": ', {}, promised=4_000)
            case Hang():
                self.until_closed()
                line.close_connection = True

    def _answer(self, request: Request) -> "Turn | bytes":
        if request.headers.get("apikey") != KEY:
            return Refuse(401, "Invalid API key")
        token = request.headers.get("authorization", "").removeprefix("Bearer ")
        account = self.accounts.get(token)
        if account is None:
            return said(403, "Unauthorized", "AccessDenied")
        path = request.path.removeprefix(OBJECT)
        if path.removeprefix("list/").partition("/")[0] != self.bucket:
            return said(404, "Bucket not found", "NoSuchBucket")
        match request.method, path.partition("/")[0]:
            case "POST", "list":
                return self._listed(account, json.loads(request.body))
            case "POST", _:
                return self._kept(account, path, request)
            case "DELETE", _:
                return self._removed(account, json.loads(request.body))
        content = self.files.get(path) if _owns(account, path) else None
        return said(404, "not_found", "NoSuchKey") if content is None else content

    def _listed(self, account: str, body: Json) -> Turn:
        prefix = f"{self.bucket}/{body['prefix'].rstrip('/')}/"
        below = [
            path.removeprefix(prefix).partition("/")[0]
            for path in self.files
            if path.startswith(prefix) and _owns(account, path)
        ]
        names, first = sorted(set(below)), body["offset"]
        page = names[first : first + min(body["limit"], self.most)]
        return Say([{"name": name, "id": None} for name in page])

    def _kept(self, account: str, path: str, request: Request) -> Turn:
        if not _owns(account, path):
            return said(403, "Unauthorized", "AccessDenied")
        if len(request.body) > self.largest:
            return said(413, "Payload too large", "EntityTooLarge")
        if path in self.files and request.headers.get("x-upsert") != "true":
            return said(409, "Duplicate", "KeyAlreadyExists")
        self.files[path] = request.body
        return Say({"Key": path, "Id": "an-id"})

    def _removed(self, account: str, body: Json) -> Turn:
        if len(body["prefixes"]) > MOST_REMOVED:
            return said(400, "InvalidRequest", "InvalidRequest")
        paths = [f"{self.bucket}/{name}" for name in body["prefixes"]]
        gone = [path for path in paths if path in self.files and _owns(account, path)]
        for path in gone:
            del self.files[path]
        return Say([{"name": path.partition("/")[2]} for path in gone])


def said(status: int, error: str, code: str, *, http: int = 400) -> Refuse:
    """Return a refusal as Storage words it."""
    body = {"statusCode": str(status), "error": error, "code": code, "message": error}
    return Refuse(http, json.dumps(body))


def _owns(account: str, path: str) -> bool:
    return path.split("/")[1:2] == [account]
