"""A loopback server that speaks OpenAI's API and says what a test wants.

    with ModelServer() as server:
        server.will(Say("Once", " upon"), Refuse(429, retry_after="1"))
        server.answering(lambda asked: '{"passages": []}')

What `will` queued comes first; then the function given to `answering`; without one a
reply is made up from the schema, or the last message is echoed. Tokens are characters
/ 4, rounded up.
"""

import json
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TypeAlias

from tests.fakes.model_replies import (
    Json,
    count_tokens,
    faults,
    made_up,
    prompt_tokens,
    schema_of,
    text_of,
)

KEY = "sk-test-0123456789"
MODEL = "pretend-1"


@dataclass(frozen=True, slots=True)
class Asked:
    """One request. Names of headers are in lower case."""

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Json]

    @property
    def texts(self) -> list[str]:
        """The messages' texts."""
        return [text_of(one) for one in self.body["messages"]]

    @property
    def roles(self) -> list[str]:
        """The messages' roles."""
        return [one["role"] for one in self.body["messages"]]

    @property
    def schema(self) -> Json:
        """The schema that the reply must keep to, None if there is none."""
        return schema_of(self.body)

    @property
    def shape(self) -> str:
        """The name of that schema, empty if there is none."""
        wanted = self.body.get("response_format") or {}
        return str(wanted.get("json_schema", {}).get("name", ""))


@dataclass(frozen=True, slots=True, init=False)
class Say:
    """An answer, in pieces; `broken` closes the connection after them."""

    pieces: tuple[str, ...]
    broken: bool
    finish: str

    def __init__(
        self, *pieces: str, broken: bool = False, finish: str = "stop"
    ) -> None:
        object.__setattr__(self, "pieces", pieces)
        object.__setattr__(self, "broken", broken)
        object.__setattr__(self, "finish", finish)


@dataclass(frozen=True, slots=True)
class Refuse:
    """An error of the API, or a redirect if `location` is given."""

    status: int
    message: str = "no"
    retry_after: str = ""
    code: str = ""
    location: str = ""


@dataclass(frozen=True, slots=True)
class Hang:
    """No answer until the server is closed."""


@dataclass(frozen=True, slots=True)
class Nonsense:
    """A success whose body is no answer."""

    body: str = "<html>"
    kind: str = "application/json"


Turn: TypeAlias = Say | Refuse | Hang | Nonsense
Answering: TypeAlias = Callable[[Asked], str | Turn]


@dataclass
class ModelServer:
    """The server. `key` is asked for unless it is empty.

    `wait` and `pause` are seconds: before an answer, and between its pieces. Without
    `usage` no tokens are told. `most_at_once` counts requests that overlapped;
    `abandoned` those whose asker went away.
    """

    key: str = KEY
    wait: float = 0.0
    pause: float = 0.0
    usage: bool = True
    models: tuple[str, ...] = (MODEL,)
    asked: list[Asked] = field(default_factory=list)
    most_at_once: int = 0
    abandoned: int = 0
    _turns: deque[Turn] = field(default_factory=deque)
    _answer: Answering | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _closing: threading.Event = field(default_factory=threading.Event)
    _asked: threading.Event = field(default_factory=threading.Event)
    _at_once: int = 0
    _http: "_Server | None" = None

    def __enter__(self) -> "ModelServer":
        self._http = _Server(self)
        threading.Thread(
            target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        ).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        if self._http is not None:
            self._http.shutdown()
            self._http.hang_up()
            self._http.server_close()

    @property
    def base_url(self) -> str:
        """Where the API is."""
        assert self._http is not None
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    @property
    def chats(self) -> list[Asked]:
        """The requests for an answer, as they came in."""
        return [one for one in self.asked if one.path == "/v1/chat/completions"]

    def will(self, *turns: Turn) -> None:
        """Queue what the next requests get, one each."""
        self._turns.extend(turns)

    def answering(self, answer: Answering) -> None:
        """Let a function answer what is not queued; it may be called at once."""
        self._answer = answer

    def was_asked(self, seconds: float) -> bool:
        """Wait for the first request, at most so long; say whether it came."""
        return self._asked.wait(seconds)

    def began(self, asked: Asked) -> None:
        """Note a request."""
        with self._lock:
            self.asked.append(asked)
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
        self._asked.set()

    def ended(self, *, abandoned: bool) -> None:
        """Note that a request was dealt with."""
        with self._lock:
            self._at_once -= 1
            self.abandoned += abandoned

    def turn(self, asked: Asked) -> Turn:
        """Choose what a request gets."""
        self._closing.wait(self.wait)
        with self._lock:
            if self._turns:
                return self._turns.popleft()
        if self.key and asked.headers.get("authorization") != f"Bearer {self.key}":
            return Refuse(401, f"Incorrect API key: {asked.headers['authorization']}")
        wrong = list(faults(asked.schema)) if asked.schema else []
        if wrong:
            return Refuse(400, f"Invalid schema for response_format: {wrong[0]}")
        answer = self._answer(asked) if self._answer else _unasked(asked)
        return Say(answer) if isinstance(answer, str) else answer

    def until_closed(self) -> None:
        """Wait for the end."""
        self._closing.wait(60)

    def rest(self) -> None:
        """Wait between two pieces."""
        self._closing.wait(self.pause)


def _unasked(asked: Asked) -> str:
    if asked.schema:
        return json.dumps(made_up(asked.schema))
    return f"You said: {asked.texts[-1]}"


class _Server(ThreadingHTTPServer):
    """Remembers its connections, to close those that are kept alive."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, model: ModelServer) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.model = model
        self.open_handlers: set[_Handler] = set()

    def hang_up(self) -> None:
        """Close what is still open, and wait for it."""
        for _ in range(200):
            for handler in list(self.open_handlers):
                handler.hang_up()
            if not self.open_handlers:
                return
            time.sleep(0.01)


class _Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    server: _Server

    def setup(self) -> None:
        super().setup()
        self.server.open_handlers.add(self)

    def finish(self) -> None:
        super().finish()
        self.server.open_handlers.discard(self)

    def hang_up(self) -> None:
        import socket

        try:
            self.connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            self.close_connection = True

    def handle(self) -> None:
        try:
            super().handle()
        except (ConnectionError, TimeoutError, ValueError):
            self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - inherited
        """Say nothing."""

    def do_GET(self) -> None:
        """List the models."""
        self._note({})
        listed = [{"id": name, "object": "model"} for name in self.server.model.models]
        self._send(200, {"object": "list", "data": listed})
        self.server.model.ended(abandoned=False)

    def do_POST(self) -> None:
        """Answer, or do what was queued."""
        length = int(self.headers.get("content-length", 0))
        asked = self._note(json.loads(self.rfile.read(length) or b"{}"))
        abandoned = False
        try:
            if self.path == "/v1/embeddings":
                self._send(200, _embeddings(asked.body))
            elif self.path == "/v1/chat/completions":
                self._take(asked, self.server.model.turn(asked))
            else:
                self._send(404, {"error": {"message": "no such path"}})
        except ConnectionError:
            abandoned = True
        finally:
            self.server.model.ended(abandoned=abandoned)

    def _note(self, body: Mapping[str, Json]) -> Asked:
        headers = {name.lower(): value for name, value in self.headers.items()}
        asked = Asked(self.path, headers, body)
        self.server.model.began(asked)
        return asked

    def _take(self, asked: Asked, turn: Turn) -> None:
        match turn:
            case Refuse():
                error = {"message": turn.message, "code": turn.code, "type": "error"}
                extra = {"retry-after": turn.retry_after, "location": turn.location}
                self._send(turn.status, {"error": error}, extra)
            case Hang():
                self.server.model.until_closed()
                self.close_connection = True
            case Nonsense():
                self._raw(200, turn.body.encode(), {"content-type": turn.kind})
            case Say() if asked.body.get("stream"):
                self._stream(asked, turn)
            case Say():
                self._send(200, self._completion(asked, turn))

    def _completion(self, asked: Asked, turn: Say) -> Json:
        text = "".join(turn.pieces)
        choice = {
            "index": 0,
            "message": {"role": "assistant", "content": text},
            "finish_reason": turn.finish,
        }
        whole = {**_head(asked, "chat.completion"), "choices": [choice]}
        return {**whole, **self._usage(asked, text)}

    def _usage(self, asked: Asked, text: str) -> Json:
        if not self.server.model.usage:
            return {}
        sent, said = prompt_tokens(asked.body), count_tokens(text)
        counts = {"prompt_tokens": sent, "completion_tokens": said}
        return {"usage": {**counts, "total_tokens": sent + said}}

    def _stream(self, asked: Asked, turn: Say) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        head = _head(asked, "chat.completion.chunk")
        for piece in turn.pieces:
            delta = {"role": "assistant", "content": piece}
            self._event({**head, "choices": [{"index": 0, "delta": delta}]})
            self.server.model.rest()
        if turn.broken:
            self.close_connection = True
            return
        last = {"index": 0, "delta": {}, "finish_reason": turn.finish}
        self._event({**head, "choices": [last]})
        if (asked.body.get("stream_options") or {}).get("include_usage"):
            usage = self._usage(asked, "".join(turn.pieces))
            self._event({**head, "choices": [], **usage})
        self._chunk(b"data: [DONE]\n\n")
        self._chunk(b"")

    def _event(self, event: Json) -> None:
        self._chunk(b"data: " + json.dumps(event).encode() + b"\n\n")

    def _chunk(self, content: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(content), content))
        self.wfile.flush()

    def _send(
        self, status: int, answer: Json, extra: Mapping[str, str] | None = None
    ) -> None:
        headers = {"content-type": "application/json", **(extra or {})}
        self._raw(status, json.dumps(answer).encode(), headers)

    def _raw(self, status: int, body: bytes, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            if value:
                self.send_header(name, value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _head(asked: Asked, kind: str) -> dict[str, Json]:
    model = asked.body.get("model", MODEL)
    return {"id": "chatcmpl-1", "object": kind, "created": 0, "model": model}


def _embeddings(body: Mapping[str, Json]) -> Json:
    texts = body["input"] if isinstance(body["input"], list) else [body["input"]]
    size = int(body.get("dimensions") or 32)
    rows = [
        {"object": "embedding", "index": index, "embedding": _vector(str(text), size)}
        for index, text in enumerate(texts)
    ]
    tokens = sum(count_tokens(str(text)) for text in texts)
    usage = {"prompt_tokens": tokens, "total_tokens": tokens}
    return {"object": "list", "data": rows, "model": body["model"], "usage": usage}


def _vector(text: str, size: int) -> list[float]:
    """Add up a direction for each word: texts that share words are near."""
    sums = [0.0] * size
    for word in text.lower().split() or [""]:
        digest = sha256(word.encode()).digest()
        sums[digest[0] % size] += 1.0
        sums[digest[1] % size] -= 0.5
    length = sum(one * one for one in sums) ** 0.5 or 1.0
    return [one / length for one in sums]
