"""A loopback server of an API: what `will` queued comes first, then answers.

A server of a service stands on `HostedServer`, or on `QueuedServer` if its requests are
read in a way of their own.
"""

import json
import threading
from abc import abstractmethod
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeAlias, TypeVar

from tests.fakes.loopback import Line, Loopback

Json: TypeAlias = Any

JSON: Mapping[str, str] = {"content-type": "application/json"}


@dataclass(frozen=True, slots=True)
class Asked:
    """One request. Names of headers are in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Json]
    size: int

    @property
    def place(self) -> str:
        """The path without what is asked of it."""
        return self.path.partition("?")[0]

    @property
    def query(self) -> str:
        """What is asked of the path, empty for nothing."""
        return self.path.partition("?")[2]


class Turn:
    """What a request gets."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Refuse(Turn):
    """An error of the API, or a redirect if `location` is given."""

    status: int
    message: str = "no"
    headers: Mapping[str, str] = field(default_factory=dict)
    retry_after: str = ""
    location: str = ""
    code: str = ""

    @property
    def told(self) -> Mapping[str, str]:
        """All headers."""
        own = {"retry-after": self.retry_after, "location": self.location}
        return {**own, **self.headers}


@dataclass(frozen=True, slots=True)
class Say(Turn):
    """A success with this body, and these headers."""

    body: Json
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Nonsense(Turn):
    """A success whose body is no answer."""

    body: str = "<html>"
    kind: str = "application/json"


@dataclass(frozen=True, slots=True)
class CutShort(Turn):
    """An answer that promises more than comes."""


@dataclass(frozen=True, slots=True)
class Hang(Turn):
    """No answer until the server is closed."""


Request = TypeVar("Request", bound=Asked)


@dataclass
class QueuedServer(Loopback, Generic[Request]):
    """A server of an API of JSON: what `will` queued comes first, then answers.

    `key` is asked for unless it is empty; `asked` are the requests so far;
    `most_at_once` counts those that overlapped, `abandoned` those whose asker went
    away.
    """

    key: str = ""
    asked: list[Request] = field(default_factory=list)
    most_at_once: int = 0
    abandoned: int = 0
    _turns: deque[Turn] = field(default_factory=deque, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)
    _was_asked: threading.Event = field(default_factory=threading.Event, init=False)
    _at_once: int = field(default=0, init=False)

    def will(self, *turns: Turn) -> None:
        """Queue what the next requests get, one each."""
        self._turns.extend(turns)

    def was_asked(self, seconds: float) -> bool:
        """Wait for the first request, at most so long; say whether it came."""
        return self._was_asked.wait(seconds)

    def serve(self, line: Line) -> None:
        """Note a request, and do what it gets."""
        body = line.received()
        headers = {name.lower(): value for name, value in line.headers.items()}
        told = json.loads(body or b"{}")
        asked = self.request(Asked(line.command, line.path, headers, told, len(body)))
        self._began(asked)
        abandoned = False
        try:
            self.take(line, asked, self.turn(asked))
        except ConnectionError:
            line.close_connection = abandoned = True
        finally:
            self._ended(abandoned=abandoned)

    @abstractmethod
    def request(self, asked: Asked) -> Request:
        """Return a request as the tests of this API read it."""

    @abstractmethod
    def answer(self, asked: Request) -> Turn:
        """Answer as the service does."""

    @abstractmethod
    def error(self, refuse: Refuse) -> Json:
        """Return the body of an error, as the service writes it."""

    def turn(self, asked: Request) -> Turn:
        """Choose what a request gets."""
        with self._lock:
            if self._turns:
                return self._turns.popleft()
        return self.forbidden(asked) or self.reply(asked)

    def forbidden(self, asked: Request) -> Refuse | None:
        """Refuse who has not the key."""
        given = asked.headers.get("authorization", "")
        if not self.key or given == f"Bearer {self.key}":
            return None
        return Refuse(401, f"invalid api token {given}")

    def reply(self, asked: Request) -> Turn:
        """Answer who is let in."""
        return self.answer(asked)

    def take(self, line: Line, asked: Request, turn: Turn) -> None:
        """Let a request have its turn."""
        match turn:
            case Refuse():
                send_json(line, turn.status, self.error(turn), turn.told)
            case Say():
                send_json(line, 200, turn.body, turn.headers)
            case Nonsense():
                line.send(200, turn.body.encode(), {"content-type": turn.kind})
            case CutShort():
                line.close_connection = True
                line.send(200, b'{"results": [', JSON, promised=4_000)
            case Hang():
                self.until_closed()
                line.close_connection = True

    def _began(self, asked: Request) -> None:
        with self._lock:
            self.asked.append(asked)
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
        self._was_asked.set()

    def _ended(self, *, abandoned: bool) -> None:
        with self._lock:
            self._at_once -= 1
            self.abandoned += abandoned


class HostedServer(QueuedServer[Asked]):
    """A server of a paid service."""

    def request(self, asked: Asked) -> Asked:
        """Return it as it is."""
        return asked


def send_json(
    line: Line, status: int, body: Json, headers: Mapping[str, str] | None = None
) -> None:
    """Answer with JSON."""
    line.send(status, json.dumps(body).encode(), {**JSON, **(headers or {})})
