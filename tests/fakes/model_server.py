"""A loopback server that speaks OpenAI's API and says what a test wants.

    with ModelServer() as server:
        server.will(Say("Once", " upon"), Refuse(429, retry_after="1"))
        server.answering(lambda asked: '{"passages": []}')

What `will` queued comes first; then the function given to `answering`; without one a
reply is made up from the schema, or the last message is echoed. Tokens are characters
/ 4, rounded up.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import TypeAlias

from tests.fakes import hosted_server
from tests.fakes.hosted_server import Hang as Hang
from tests.fakes.hosted_server import Nonsense as Nonsense
from tests.fakes.hosted_server import QueuedServer, send_json
from tests.fakes.hosted_server import Refuse as Refuse
from tests.fakes.hosted_server import Turn as Turn
from tests.fakes.loopback import Line
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
CHAT = "/v1/chat/completions"


@dataclass(frozen=True, slots=True)
class Asked(hosted_server.Asked):
    """One request, read as one for an answer."""

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
class Say(Turn):
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


Answering: TypeAlias = Callable[[Asked], str | Turn]


@dataclass
class ModelServer(QueuedServer[Asked]):
    """The server.

    `wait` and `pause` are seconds: before an answer, and between its pieces. Without
    `usage` no tokens are told. `listing` is what who asks for its models gets instead.
    """

    key: str = KEY
    wait: float = 0.0
    pause: float = 0.0
    usage: bool = True
    models: tuple[str, ...] = (MODEL,)
    listing: Turn | None = None
    _answering: Answering | None = None

    @property
    def base_url(self) -> str:
        """Where the API is."""
        return f"{self.origin}/v1"

    @property
    def chats(self) -> list[Asked]:
        """The requests for an answer, as they came in."""
        return [one for one in self.asked if one.path == CHAT]

    def answering(self, answer: Answering) -> None:
        """Let a function answer what is not queued; it may be called at once."""
        self._answering = answer

    def request(self, asked: hosted_server.Asked) -> Asked:
        """Return a request as one for an answer."""
        return Asked(asked.method, asked.path, asked.headers, asked.body, asked.size)

    def turn(self, asked: Asked) -> Turn:
        """Choose what a request gets; only those for an answer are queued for."""
        if asked.path != CHAT:
            return self._beside(asked)
        self._closing.wait(self.wait)
        return super().turn(asked)

    def answer(self, asked: Asked) -> Turn:
        """Answer as it was told to, or somehow."""
        wrong = list(faults(asked.schema)) if asked.schema else []
        if wrong:
            return Refuse(400, f"Invalid schema for response_format: {wrong[0]}")
        answer = self._answering(asked) if self._answering else _unasked(asked)
        return Say(answer) if isinstance(answer, str) else answer

    def error(self, refuse: Refuse) -> Json:
        """Return an error as OpenAI writes it."""
        told = {"message": refuse.message, "code": refuse.code, "type": "error"}
        return {"error": told}

    def take(self, line: Line, asked: Asked, turn: Turn) -> None:
        """Let a request have its turn."""
        match turn:
            case Say() if asked.body.get("stream"):
                self._stream(line, asked, turn)
            case Say():
                send_json(line, 200, self._completion(asked, turn))
            case _:
                super().take(line, asked, turn)

    def _beside(self, asked: Asked) -> Turn:
        if asked.method == "GET":
            refused = self.listing or self.forbidden(asked)
            if refused is not None:
                return refused
            listed = [{"id": name, "object": "model"} for name in self.models]
            return hosted_server.Say({"object": "list", "data": listed})
        if asked.path == "/v1/embeddings":
            return hosted_server.Say(_embeddings(asked.body))
        return Refuse(404, "no such path")

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
        if not self.usage:
            return {}
        sent, said = prompt_tokens(asked.body), count_tokens(text)
        counts = {"prompt_tokens": sent, "completion_tokens": said}
        return {"usage": {**counts, "total_tokens": sent + said}}

    def _stream(self, line: Line, asked: Asked, turn: Say) -> None:
        chunked = {"transfer-encoding": "chunked"}
        line.begin(200, {"content-type": "text/event-stream", **chunked})
        head = _head(asked, "chat.completion.chunk")
        for piece in turn.pieces:
            delta = {"role": "assistant", "content": piece}
            _send_event(line, {**head, "choices": [{"index": 0, "delta": delta}]})
            self._closing.wait(self.pause)
        if turn.broken:
            line.close_connection = True
            return
        last = {"index": 0, "delta": {}, "finish_reason": turn.finish}
        _send_event(line, {**head, "choices": [last]})
        if (asked.body.get("stream_options") or {}).get("include_usage"):
            usage = self._usage(asked, "".join(turn.pieces))
            _send_event(line, {**head, "choices": [], **usage})
        _send_chunk(line, b"data: [DONE]\n\n")
        _send_chunk(line, b"")


def _unasked(asked: Asked) -> str:
    if asked.schema:
        return json.dumps(made_up(asked.schema))
    return f"You said: {asked.texts[-1]}"


def _send_event(line: Line, event: Json) -> None:
    _send_chunk(line, b"data: " + json.dumps(event).encode() + b"\n\n")


def _send_chunk(line: Line, content: bytes) -> None:
    line.wfile.write(b"%x\r\n%s\r\n" % (len(content), content))


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
