"""Replies of a fake language model: quotations of what it is shown.

One quotation in `FALSE` occurs nowhere, and the others have plain punctuation instead
of typographic, so that the checks of quotations are tested.
"""

import json
import re
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256

from tests.fakes.model_replies import Json, prompt_tokens
from tests.fakes.model_server import Asked

FALSE = 10
WORDS = 7
"""Words of a quote."""

NONSENSE = "I am sorry, and here is a poem."

_BLOCK = re.compile(r"<(\w{10})>\n(.*)\n</\1>", re.DOTALL)
_ENTRY = re.compile(r"^\[\w{4}:(\d+)\] ", re.MULTILINE)
_PLAIN = str.maketrans({"“": '"', "”": '"', "’": "'", "‘": "'", "—": "-"})


@dataclass
class Reader:
    """Replies to requests of any thread, and counts requests and quotations.

    Every `stumble`-th reply is nonsense; 0 means none is. `true` and `false` count
    quotations that are in the text and that are not, `prompt` all tokens of prompts.
    `kinds` counts requests by the requested schema, `questions` by their text.
    """

    stumble: int = 0
    true: int = 0
    false: int = 0
    prompt: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    questions: Counter[str] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def calls(self) -> int:
        """The number of requests."""
        return sum(self.kinds.values())

    @property
    def twice(self) -> int:
        """The number of requests that repeated an earlier one word for word."""
        return self.calls - len(self.questions)

    def __call__(self, asked: Asked) -> str:
        question = asked.texts[1]
        with self._lock:
            self.kinds[asked.shape] += 1
            self.prompt += prompt_tokens(asked.body)
            self.questions["\0".join(asked.texts)] += 1
            stumbles = self.stumble and self.calls % self.stumble == 0
        if stumbles:
            return NONSENSE
        reply = self._passages if asked.shape == "Passages" else self._extracted
        return json.dumps(reply(question), ensure_ascii=False)

    def _quote(self, text: str, salt: str) -> str:
        words = text.split()
        number = int(sha256(f"{salt}{text}".encode()).hexdigest()[:8], 16)
        if number % FALSE == 0:
            with self._lock:
                self.false += 1
            return f"the {number} brass herons of Ochra refused their supper"
        at = (number // FALSE) % max(1, len(words) - WORDS)
        with self._lock:
            self.true += 1
        return " ".join(words[at : at + WORDS]).translate(_PLAIN)

    def _passages(self, question: str) -> Json:
        passage = {
            "content": "dialogue",
            "function": "plot_event",
            "tag": "none",
            "present": ["Nell Tallow"],
            "references": [],
        }
        return {"passages": [{"id": n, **passage} for n, _ in _entries(question)]}

    def _extracted(self, question: str) -> Json:
        text = _pages(question)
        who, to = "Nell Tallow", "Mrs. Gannet"

        def quoted(salt: str, **fields: Json) -> Json:
            return {**fields, "quote": self._quote(text, salt)}

        with self._lock:
            self.true += 1
        opening = " ".join(text.split()[:6]).translate(_PLAIN)
        relation = {"person": to, "is": "employer", "of": who}
        claim = {"who": who, "kind": "trait", "what": "", "value": "stubborn"}
        return {
            "scenes": [{"opening": opening, "pov": who, "recap": "Something happens."}],
            "people": [quoted(f"claim {n}", **claim) for n in range(4)],
            "relations": [
                quoted("relation", valence="ally", **relation)
            ],
            "world": [
                quoted("world", name="the ledger", type="artifact", people=[who],
                       about="a book of debts")
            ],
            "events": [
                quoted(f"event {n}", what="Somebody leaves.", people=[who], tag="none",
                       feelings=[f"{who}: sorry"])
                for n in range(3)
            ],
            "told": [quoted("told", who=who, to=[to], fact="The oil is out.")],
            "gaps": [
                quoted("gap", who=who, what="motive", implied="money", fill="say")
            ],
        }  # fmt: skip


def _entries(question: str) -> Iterator[tuple[int, str]]:
    """Yield the numbered passages, without what only comes before."""
    parts = _ENTRY.split(_pages(question))[1:]
    for number, text in zip(parts[::2], parts[1::2], strict=True):
        if number != "0":
            yield int(number), text.strip()


def _pages(question: str) -> str:
    return list(_BLOCK.finditer(question))[-1][2]
