"""A loopback store of what is too large for a message: as Modal has one beside it."""

import hashlib
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class BlobStore:
    """Blobs by name, put and got over HTTP."""

    blobs: dict[str, bytes] = field(default_factory=dict)
    _http: "_Server | None" = None

    def __enter__(self) -> "BlobStore":
        self._http = _Server(self)
        threading.Thread(
            target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        ).start()
        return self

    def __exit__(self, *_: object) -> None:
        assert self._http is not None
        self._http.shutdown()
        self._http.server_close()

    def new(self) -> str:
        """Return the name of a blob that is to come."""
        name = f"bl-{len(self.blobs)}"
        self.blobs[name] = b""
        return name

    def address(self, name: str) -> str:
        """Return where a blob is put and got."""
        assert self._http is not None
        return f"http://127.0.0.1:{self._http.server_address[1]}/{name}"


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, store: BlobStore) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.store = store


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def handle(self) -> None:
        try:
            super().handle()
        except (ConnectionError, ValueError):
            self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - inherited
        """Say nothing."""

    def do_PUT(self) -> None:
        """Take a blob, and say what came by its MD5."""
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        self.server.store.blobs[self.path.strip("/")] = body
        self._answer(b"", hashlib.md5(body).hexdigest())

    def do_GET(self) -> None:
        """Give a blob."""
        self._answer(self.server.store.blobs[self.path.strip("/")], "")

    def _answer(self, body: bytes, mark: str) -> None:
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        if mark:
            self.send_header("etag", f'"{mark}"')
        self.end_headers()
        self.wfile.write(body)
