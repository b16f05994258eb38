"""A loopback server that speaks OpenAI's embeddings API, within its documented limits.

    with EmbeddingServer() as server:
        server.will(Refuse(429, headers={"retry-after": "1"}))

Texts that share words have vectors that are near. Tokens are characters / 4, rounded
up.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256

from tests.fakes.hosted_server import Asked, HostedServer, Json, Refuse, Say, Turn

KEY = "sk-test-0123456789"
MODEL = "text-embedding-3-small"
USUAL = 1536
LONGEST = 8_192
MOST_TEXTS = 2_048
MOST_TOKENS = 300_000

_WORD = re.compile(r"\w+")


@dataclass
class EmbeddingServer(HostedServer):
    """The server. `sizes` are its models, each with the length of its vectors.

    `changing` may change a good reply. `headers` go with it.
    """

    key: str = KEY
    sizes: dict[str, int] = field(default_factory=lambda: {MODEL: USUAL})
    headers: dict[str, str] = field(default_factory=dict)
    changing: Callable[[Json], Json] | None = None

    @property
    def base_url(self) -> str:
        """Where the API is."""
        return f"{self.origin}/v1"

    @property
    def texts(self) -> list[list[str]]:
        """The texts of each request."""
        return [list(one.body["input"]) for one in self.asked]

    def answer(self, asked: Asked) -> Turn:
        """Embed."""
        if (asked.method, asked.path) != ("POST", "/v1/embeddings"):
            return Refuse(404, "no such path")
        wrong = self._fault(asked.body)
        if wrong:
            return wrong
        reply = self._embedded(asked.body)
        changed = self.changing(reply) if self.changing else reply
        return Say(changed, self.headers)

    def error(self, refuse: Refuse) -> Json:
        """Return an error as OpenAI writes it."""
        told = {"message": refuse.message, "type": "error", "param": None, "code": None}
        return {"error": told}

    def _fault(self, body: Json) -> Refuse | None:
        counts = [tokens_of(text) for text in body["input"]]
        if body["model"] not in self.sizes:
            return Refuse(404, f"The model `{body['model']}` does not exist")
        if not all(body["input"]) or not 0 < len(counts) <= MOST_TEXTS:
            return Refuse(400, "'$.input' is invalid")
        if max(counts) > LONGEST or sum(counts) > MOST_TOKENS:
            return Refuse(400, f"maximum context length is {LONGEST} tokens")
        if body.get("dimensions", 1) > self.sizes[body["model"]]:
            return Refuse(400, "Invalid value for 'dimensions'")
        return None

    def _embedded(self, body: Json) -> Json:
        size = body.get("dimensions") or self.sizes[body["model"]]
        rows = [
            {"object": "embedding", "index": n, "embedding": vector_of(text, size)}
            for n, text in enumerate(body["input"])
        ]
        tokens = sum(tokens_of(text) for text in body["input"])
        usage = {"prompt_tokens": tokens, "total_tokens": tokens}
        return {"object": "list", "data": rows, "model": body["model"], "usage": usage}


def tokens_of(text: str) -> int:
    """Return what a text counts for."""
    return -(-len(text) // 4)


def vector_of(text: str, size: int) -> list[float]:
    """Add up a direction for each word; of length 1.0."""
    sums = [0.0] * size
    for word in _WORD.findall(text.lower()) or [text]:
        digest = sha256(word.encode()).digest()
        sums[int.from_bytes(digest[:4], "big") % size] += 1.0
        sums[int.from_bytes(digest[4:8], "big") % size] -= 0.25
    length = sum(one * one for one in sums) ** 0.5 or 1.0
    return [one / length for one in sums]
