"""A loopback server that speaks Cohere's rerank API, version 2.

    with CohereServer() as server:
        server.will(Refuse(429, headers={"retry-after": "1"}))

A passage scores by the share of the question's words that it holds; results come best
first. Errors have the body that Cohere documents: `{"message": "..."}`.
"""

import re
from dataclasses import dataclass

from tests.fakes.hosted_server import Asked, HostedServer, Json, Refuse, Say, Turn

KEY = "cohere-test-0123456789"
MODELS = ("rerank-v5.0-fast", "rerank-english-v3.0")
CHAT_MODEL = "command-test"
"""A model that does not rerank."""

_WORD = re.compile(r"\w+")


@dataclass
class CohereServer(HostedServer):
    """The server. Without `tokens` it bills by the search, as for older models."""

    key: str = KEY
    tokens: bool = True

    def answer(self, asked: Asked) -> Turn:
        """Rerank, or tell of a model."""
        if asked.method == "GET" and asked.path.startswith("/v1/models/"):
            return _model(asked.path.removeprefix("/v1/models/"))
        if (asked.method, asked.path) != ("POST", "/v2/rerank"):
            return Refuse(404, "page not found")
        wrong = _faults(asked.body)
        return wrong or Say(self._ranked(asked.body))

    def error(self, refuse: Refuse) -> Json:
        """Return an error as Cohere writes it."""
        return {"id": "an-id", "message": refuse.message}

    def _ranked(self, body: Json) -> Json:
        words = _words(body["query"])
        scores = [_share(words, _words(text)) for text in body["documents"]]
        order = sorted(range(len(scores)), key=lambda n: (-scores[n], n))
        billed = {"input_tokens": sum(len(t) for t in body["documents"]) // 4}
        return {
            "id": "an-id",
            "results": [{"index": n, "relevance_score": scores[n]} for n in order],
            "meta": {
                "api_version": {"version": "2"},
                "billed_units": billed if self.tokens else {"search_units": 1},
            },
        }


def _faults(body: Json) -> Refuse | None:
    if body.get("model") not in MODELS:
        return Refuse(404, f"model '{body.get('model')}' not found")
    if not body["query"].strip():
        return Refuse(400, "invalid request: query must not be empty")
    if not body["documents"] or not all(text.strip() for text in body["documents"]):
        return Refuse(400, "invalid request: list of documents must not be empty")
    return None


def _model(name: str) -> Turn:
    if name in MODELS:
        return Say({"name": name, "endpoints": ["rerank"], "context_length": 4096})
    if name == CHAT_MODEL:
        return Say({"name": name, "endpoints": ["chat"]})
    return Refuse(404, f"model '{name}' not found")


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _share(words: list[str], held: list[str]) -> float:
    """Return the share of words held, a little more for a text that has no others."""
    if not words:
        return 0.0
    asked, there = set(words), set(held)
    both = len(asked & there)
    return 0.9 * both / len(asked) + 0.1 * both / max(1, len(asked | there))
