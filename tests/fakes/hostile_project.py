"""What stands before a hosted service: notes what comes, and does its worst at will.

    with HostileProject(behind=server.url) as project:
        with project.doing(401, at="lrwr_put_record"):
            ...

Wherever an error can say anything, it says back the body and the headers of the request.
"""

import http.client
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeAlias
from urllib.parse import urlsplit

from tests.fakes.hostile_gate import Came
from tests.fakes.loopback import Line, Loopback

Worst: TypeAlias = int | str
"""A state of HTTP; or `redirect`, `silent`, `cut`, `nonsense`, or `odd`, which is JSON."""

WORST: tuple[Worst, ...] = (
    400, 401, 404, 413, 429, 500, "redirect", "silent", "cut", "nonsense", "odd",
)  # fmt: skip

_OF_ONE_LINK = frozenset(
    {"connection", "keep-alive", "transfer-encoding", "content-length", "host"}
)
_JSON = {"content-type": "application/json"}
_LATER = "3600"


@dataclass
class HostileProject(Loopback):
    """The project. `asked` are the requests so far.

    Unless it does its worst, all is passed on to what is `behind`. A redirect leads to
    `elsewhere`.
    """

    behind: str
    elsewhere: str = ""
    asked: list[Came] = field(default_factory=list)
    met: int = 0
    _worst: Worst = ""
    _at: str = ""

    @contextmanager
    def doing(self, worst: Worst, *, at: str = "/") -> Iterator[None]:
        """Do so at each request on whose path stands `at`, which has to come."""
        self._worst, self._at, self.met = worst, at, 0
        try:
            yield
        finally:
            self._worst = ""
        assert self.met, f"nothing was asked at {at}"

    def serve(self, line: Line) -> None:
        """Note a request, and pass it on or do the worst."""
        body = line.received()
        told = body.decode(errors="replace")
        came = Came(line.command, line.path, str(line.headers), told)
        self.asked.append(came)
        if self._worst and self._at in line.path:
            self.met += 1
            self._do(line, said_back(came))
        else:
            self._pass_on(line, body)

    def _do(self, line: Line, said: bytes) -> None:
        match self._worst:
            case int() as status:
                line.send(status, said, {**_JSON, "retry-after": _LATER})
            case "redirect":
                line.send(307, said, {"location": f"{self.elsewhere}{line.path}"})
            case "silent":
                self.until_closed()
                line.close_connection = True
            case "cut":
                line.close_connection = True
                line.send(200, said, _JSON, promised=len(said) + 4_000)
            case "nonsense":
                line.send(200, b"<html>" + said, _JSON)
            case "odd":
                line.send(200, said, _JSON)

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


def said_back(came: Came) -> bytes:
    """Return an error in the words of every part of a project at once."""
    told = f"{came.body} {came.headers}"
    names = (
        "message", "details", "hint", "code", "msg", "error_code",
        "error_description", "statusCode", "Key", "name", "id",
    )  # fmt: skip
    error = {"message": told, "type": told, "code": told}
    return json.dumps({**dict.fromkeys(names, told), "error": error}).encode()


def _passed(headers: "list[tuple[str, str]]") -> dict[str, str]:
    return {name: text for name, text in headers if name.lower() not in _OF_ONE_LINK}
