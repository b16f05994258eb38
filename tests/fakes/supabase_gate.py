"""What stands before `@supabase/lite`, so that it answers as Supabase itself does.

Two things differ: times in what it says of users are as PostgreSQL prints them, and a
link to a file is spelled otherwise. All else goes through untouched. A test may have
the gate refuse requests, or keep them waiting.
"""

import http.client
import re
import threading
from collections import deque
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

_PRINTED_TIME = re.compile(rb'"(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?)\+00"')
_OF_ONE_LINK = frozenset(
    {"connection", "keep-alive", "transfer-encoding", "content-length", "host"}
)
"""Headers that speak of one connection, not of what is asked."""


class SupabaseGate:
    """A loopback server in front of another.

    `asked` are the requests so far, as method and path; `refusals` are states that the
    next requests are answered with; while `held` is set no request gets an answer.
    """

    def __init__(self, behind: int) -> None:
        self.behind = behind
        self.asked: list[str] = []
        self.refusals: deque[int] = deque()
        self.held = threading.Event()
        self._closing = threading.Event()
        self._http = _Server(self)
        self._thread = threading.Thread(
            target=self._http.serve_forever, kwargs={"poll_interval": 0.02}
        )

    def __enter__(self) -> "SupabaseGate":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    @property
    def url(self) -> str:
        """Return the address that a client is given."""
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def wait_while_held(self) -> bool:
        """Wait as long as nothing is to be answered; say whether there was a wait."""
        held = self.held.is_set()
        while self.held.is_set() and not self._closing.wait(0.02):
            pass
        return held


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, gate: SupabaseGate) -> None:
        super().__init__(("127.0.0.1", 0), _Passing)
        self.gate = gate

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: a client that went away is no failure of a test."""


class _Passing(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def _pass_on(self) -> None:
        gate = self.server.gate
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        gate.asked.append(f"{self.command} {self.path}")
        if gate.wait_while_held():
            self.close_connection = True
            return
        if gate.refusals:
            self._answer(gate.refusals.popleft(), [], b'{"message": "not now"}')
            return
        link = http.client.HTTPConnection("127.0.0.1", gate.behind, timeout=30)
        try:
            link.request(self.command, self.path, body, self._headers_on(gate))
            came = link.getresponse()
            self._answer(came.status, came.getheaders(), came.read())
        finally:
            link.close()

    def _headers_on(self, gate: SupabaseGate) -> dict[str, str]:
        passed = {
            name: value
            for name, value in self.headers.items()
            if name.lower() not in {*_OF_ONE_LINK, "accept-encoding"}
        }
        return {**passed, "host": gate.url.removeprefix("http://")}

    def _answer(self, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
        if self.path.startswith(("/auth/", "/storage/")):
            body = _PRINTED_TIME.sub(rb'"\1T\2Z"', body)
            body = body.replace(b'"signedUrl":"/storage/v1/', b'"signedURL":"/')
        self.send_response(status)
        for name, value in headers:
            if name.lower() not in _OF_ONE_LINK:
                self.send_header(name, value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = _pass_on  # noqa: N815

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - inherited
        """Say nothing: what went wrong is the test's to tell."""
