"""What stands before a loopback server: lets all through, or does its worst.

    with Gate(behind=server.origin) as gate:
        gate.manner = Manner.DENIES

A gate in a bad manner says back, wherever an error can say anything, the headers and
the body of the request: the key and the text that it was sent.
"""

import http.client
import json
from dataclasses import dataclass, field
from enum import Enum
from urllib.parse import urlsplit

from tests.fakes.loopback import Line, Loopback

_OF_ONE_LINK = frozenset(
    {"connection", "keep-alive", "transfer-encoding", "content-length", "host"}
)

_LATER = "3600"
"""Seconds that a busy gate asks to wait: longer than anybody does."""


class Manner(Enum):
    """How a gate treats requests."""

    WELL = "well"
    DENIES = "denies"
    BUSY = "busy"
    FAILS = "fails"
    SILENT = "silent"
    CUTS = "cuts"
    NONSENSE = "nonsense"


@dataclass(frozen=True, slots=True)
class Came:
    """One request. `place` is the path with whatever follows it."""

    method: str
    place: str
    headers: str
    body: str


@dataclass
class Gate(Loopback):
    """The gate. `asked` are the requests so far.

    With `most` it keeps to a bad manner for so many requests, and denies the rest: who
    may try again for minutes then need not.
    """

    behind: str
    manner: Manner = Manner.WELL
    most: int | None = None
    asked: list[Came] = field(default_factory=list)

    def serve(self, line: Line) -> None:
        """Treat a request as it treats all."""
        body = line.received()
        came = Came(line.command, line.path, str(line.headers), body.decode())
        self.asked.append(came)
        said = _said_back(came)
        match self._manner():
            case Manner.WELL:
                self._pass_on(line, body)
            case Manner.DENIES:
                line.send(401, said, _JSON)
            case Manner.BUSY:
                line.send(429, said, {**_JSON, "retry-after": _LATER})
            case Manner.FAILS:
                line.send(500, said, _JSON)
            case Manner.SILENT:
                self.until_closed()
                line.close_connection = True
            case Manner.CUTS:
                line.send(200, said, _JSON, promised=len(said) + 4_000)
                line.close_connection = True
            case Manner.NONSENSE:
                line.send(200, b"<html>" + said, _JSON)

    def _manner(self) -> Manner:
        if self.most is None or self.manner is Manner.WELL:
            return self.manner
        self.most -= 1
        return self.manner if self.most >= 0 else Manner.DENIES

    def _pass_on(self, line: Line, body: bytes) -> None:
        place = urlsplit(self.behind)
        assert place.hostname is not None
        link = http.client.HTTPConnection(place.hostname, place.port, timeout=30)
        try:
            link.request(line.command, line.path, body, _passed(line.headers.items()))
            came = link.getresponse()
            line.send(came.status, came.read(), _passed(came.getheaders()))
        finally:
            link.close()


_JSON = {"content-type": "application/json"}


def _passed(headers: "list[tuple[str, str]]") -> dict[str, str]:
    return {name: text for name, text in headers if name.lower() not in _OF_ONE_LINK}


def _said_back(came: Came) -> bytes:
    """Return an error in the words of every service at once."""
    told = f"You sent {came.headers} {came.body}"
    names = ("message", "detail", "msg", "error_description", "error_code", "hint")
    error = {"message": told, "type": told, "code": told, "error": told}
    whole = {**dict.fromkeys(names, told), "error": error, "status": {"error": told}}
    return json.dumps(whole).encode()


@dataclass
class SigningInServer(Loopback):
    """A loopback server that signs anybody in, as Supabase Auth does."""

    token: str
    renewing: str

    def serve(self, line: Line) -> None:
        """Answer with a session, or with whose it is."""
        line.received()
        user = {
            "id": "8f2b1c9e-0000-4000-8000-000000000001",
            "aud": "authenticated",
            "email": "nell@example.org",
            "app_metadata": {},
            "user_metadata": {},
            "created_at": "2026-11-22T10:00:00Z",
        }
        session = {
            "access_token": self.token,
            "refresh_token": self.renewing,
            "token_type": "bearer",
            "expires_in": 3600,
            "user": user,
        }
        told = session if "/token" in line.path else user
        line.send(200, json.dumps(told).encode(), _JSON)
