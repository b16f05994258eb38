"""A language model that drafts texts from what its prompts hold, as a good one would.

    writer = PostWriter()
    server.answering(writer.answer)

Its facts are quotations of its sources, its sentences say its facts. `sentences` are
added to each draft, `revised` is what a flagged sentence becomes. So many facts, the
last ones, are `unused`.
"""

import json
import re
from dataclasses import dataclass, field

from tests.fakes.model_replies import made_up
from tests.fakes.model_server import Asked

BLOCK = re.compile(r"^<([^<>\n]*) (\w+)>\n(.*?)\n</\1 \2>$", re.M | re.S)


def blocks(asked: Asked, label: str) -> list[str]:
    """Return the fenced texts of a prompt whose label starts with `label`."""
    return [m[3] for m in BLOCK.finditer(asked.texts[1]) if m[1].startswith(label)]


def quote_of(text: str) -> str:
    """Return the first words of the first long line of a text."""
    lines = [line for line in text.split("\n") if len(line.split()) >= 5]
    plain = [line for line in lines if not line.startswith("#")]
    return " ".join((plain or [text])[0].split()[:9])


@dataclass
class PostWriter:
    """The model. `topics` are what it wants to search the web for."""

    topics: tuple[str, ...] = ()
    sentences: tuple[dict[str, object], ...] = ()
    revised: str = ""
    quotes: tuple[str, ...] = ()
    unused: int = 0
    asked: list[Asked] = field(default_factory=list)

    def answer(self, asked: Asked) -> str:
        """Return the reply to one request."""
        self.asked.append(asked)
        match asked.shape:
            case "Gaps":
                return json.dumps({"searches": [], "gaps": self._gaps()})
            case "Facts":
                return json.dumps({"facts": self._facts(asked)})
            case "Drafts":
                return json.dumps({"variants": self._variants(asked)})
            case "Sentences":
                return json.dumps({"sentences": self._revisions(asked)})
            case "Statements":
                return json.dumps({"statements": self._verdicts(asked)})
        return json.dumps(made_up(asked.schema))

    def shapes(self) -> list[str]:
        """Return what was asked for, in order."""
        return [asked.shape for asked in self.asked]

    def _gaps(self) -> list[dict[str, str]]:
        wanted = [
            {"kind": "background", "need": "how it was done", "topic": topic}
            for topic in self.topics
        ]
        return [*wanted, {"kind": "author", "need": "why you chose it", "topic": ""}]

    def _facts(self, asked: Asked) -> list[dict[str, object]]:
        quotes = [quote_of(text) for text in blocks(asked, "source")]
        facts: list[dict[str, object]] = [
            {"source": n, "fact": quote, "quote": quote, "certainty": "stated"}
            for n, quote in enumerate(quotes, start=1)
        ]
        for quote in self.quotes:
            row = {"fact": "It is so.", "quote": quote, "certainty": "stated"}
            facts.append({"source": 1, **row})
        return facts

    def _variants(self, asked: Asked) -> list[dict[str, object]]:
        numbers = re.findall(r"^<fact (\d+)", asked.texts[1], re.M)
        facts = [text.split("\n")[0] for text in blocks(asked, "fact")]
        rows: list[dict[str, object]] = [
            {"text": fact if fact[-1] in ".!?”" else f"{fact}.", "facts": [int(n)]}
            for n, fact in zip(numbers, facts, strict=True)
        ]
        rows = rows[: len(rows) - self.unused]
        rows += self.sentences
        found = re.search(r"^variants: (\d)", asked.texts[0], re.M)
        count = int(found[1]) if found else 1
        parts = [{"sentences": rows[at : at + 2]} for at in range(0, len(rows), 2)]
        return [{"title": f"Draft {n}", "parts": parts} for n in range(1, count + 1)]

    def _revisions(self, asked: Asked) -> list[dict[str, object]]:
        count = len(blocks(asked, "sentence"))
        row = {"text": self.revised, "facts": [1]}
        return [{"id": number, **row} for number in range(1, count + 1)]

    def _verdicts(self, asked: Asked) -> list[dict[str, object]]:
        passages = blocks(asked, "passage")
        labels = re.findall(r"^<statement (\d+), passages (\d+)", asked.texts[1], re.M)
        return [
            {
                "id": int(number),
                "verdict": "supported",
                "passage": int(passage),
                "quote": quote_of(passages[int(passage) - 1]),
                "why": "it says so",
            }
            for number, passage in labels
        ]
