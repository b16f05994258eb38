"""What stands before `@supabase/lite`, so that it answers as Supabase itself does.

Two things differ: times in what it says of users are as PostgreSQL prints them, and a
link to a file is spelled otherwise. All else goes through untouched. A test may have
the gate refuse requests, or keep them waiting.
"""

import http.client
import re
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.fakes.loopback import Line, Loopback

_PRINTED_TIME = re.compile(rb'"(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?)\+00"')
_OF_ONE_LINK = frozenset(
    {"connection", "keep-alive", "transfer-encoding", "content-length", "host"}
)
"""Headers that speak of one connection, not of what is asked."""


@dataclass
class _Stop:
    """Where a test has the server answer no more."""

    words: str
    times: int
    done: bool
    reached: threading.Event = field(default_factory=threading.Event)
    over: threading.Event = field(default_factory=threading.Event)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def at(self, path: str) -> bool:
        """Count a request; say whether it is not to be answered."""
        with self._lock:
            if self.words in path:
                self.times -= 1
            return self.times <= 0


@dataclass
class SupabaseGate(Loopback):
    """A loopback server in front of another, which listens on port `behind`.

    `asked` are the requests so far, as method and path; `refusals` are states that the
    next requests are answered with; while `held` is set no request gets an answer.
    """

    behind: int
    asked: list[str] = field(default_factory=list)
    refusals: deque[int] = field(default_factory=deque)
    held: threading.Event = field(default_factory=threading.Event)
    _stop: "_Stop | None" = None

    @contextmanager
    def stopping(
        self, words: str, *, times: int = 1, done: bool = False
    ) -> Iterator[threading.Event]:
        """Answer no more from the so-manieth request on whose path holds `words`.

        Lends out what is set then. With `done` the request is passed on first, and its
        answer is lost.
        """
        stop = self._stop = _Stop(words, times, done)
        try:
            yield stop.reached
        finally:
            self._stop = None
            stop.over.set()

    @property
    def url(self) -> str:
        """Return the address that a client is given."""
        return self.origin

    def serve(self, line: Line) -> None:
        """Refuse a request, keep it waiting, or pass it on."""
        body = line.received()
        self.asked.append(f"{line.command} {line.path}")
        if self._stops(line, body) or self._waits():
            line.close_connection = True
        elif self.refusals:
            line.send(self.refusals.popleft(), b'{"message": "not now"}', {})
        else:
            self._pass_on(line, body)

    def _waits(self) -> bool:
        """Wait as long as nothing is to be answered; say whether there was a wait."""
        held = self.held.is_set()
        while self.held.is_set() and not self._closing.wait(0.02):
            pass
        return held

    def _stops(self, line: Line, body: bytes) -> bool:
        """Wait where a test stops the server; say whether it does."""
        stop = self._stop
        if stop is None or not stop.at(line.path):
            return False
        if stop.done and not stop.reached.is_set():
            self._ask(line, body)
        stop.reached.set()
        stop.over.wait()
        return True

    def _pass_on(self, line: Line, body: bytes) -> None:
        status, headers, came = self._ask(line, body)
        told = {
            name: value for name, value in headers if name.lower() not in _OF_ONE_LINK
        }
        line.send(status, _as_supabase(line.path, came), told)

    def _ask(self, line: Line, body: bytes) -> tuple[int, list[tuple[str, str]], bytes]:
        link = http.client.HTTPConnection("127.0.0.1", self.behind, timeout=30)
        try:
            link.request(line.command, line.path, body, self._headers(line))
            came = link.getresponse()
            return came.status, came.getheaders(), came.read()
        finally:
            link.close()

    def _headers(self, line: Line) -> dict[str, str]:
        passed = {
            name: value
            for name, value in line.headers.items()
            if name.lower() not in {*_OF_ONE_LINK, "accept-encoding"}
        }
        return {**passed, "host": self.url.removeprefix("http://")}


def _as_supabase(path: str, body: bytes) -> bytes:
    if not path.startswith(("/auth/", "/storage/")):
        return body
    body = _PRINTED_TIME.sub(rb'"\1T\2Z"', body)
    return body.replace(b'"signedUrl":"/storage/v1/', b'"signedURL":"/')
