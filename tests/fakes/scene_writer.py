"""A language model that writes scenes, edits and reviews them.

    writer = SceneWriter()
    server.answering(writer.answer)

Its scenes have a slip, which its edits correct; other findings it leaves as they are.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tests.fakes.model_replies import made_up
from tests.fakes.model_server import KEY, MODEL, Asked, ModelServer
from tests.fakes.post_writer import blocks
from tests.fakes.terminal import Terminal

SLIP = "There were seventeen rungs in the ladder to Half House."
MENDED = "There were nineteen rungs in the ladder to Half House."
PROSE = (
    "Nell Tallow came into Half House with the fog behind her.",
    SLIP,
    "OchraMags had the kettle on, and said so. “You are late,” said OchraMags.",
)


def with_writer(terminal: Terminal, server: ModelServer, home: Path) -> Terminal:
    """Return the terminal's folder with the language model of `server` configured."""
    return Terminal(
        terminal.folder,
        home=home,
        LRWR_EMBEDDING_MODEL="off",
        LRWR_MODEL_USE="openai",
        LRWR_MODEL_NAME=MODEL,
        LRWR_MODEL_BASE_URL=server.base_url,
        OPENAI_API_KEY=KEY,
    )


@dataclass
class SceneWriter:
    """The model. `proof` is what it quotes for a beat; `conflicts` are words of the draft
    and of the brief that it quotes, while it has the former; `edits` replace its own.
    """

    paragraphs: tuple[str, ...] = PROSE
    edits: tuple[dict[str, object], ...] | None = None
    proof: str = "came into Half House"
    conflicts: tuple[tuple[str, str], ...] = ()
    answer_review: Callable[[], object] | None = None
    asked: list[Asked] = field(default_factory=list)

    def answer(self, asked: Asked) -> str:
        """Return the reply to one request."""
        self.asked.append(asked)
        match asked.shape:
            case "Scene":
                return json.dumps({"paragraphs": list(self.paragraphs)})
            case "Edits":
                return json.dumps(self._revise(asked))
            case "Review":
                if self.answer_review is not None:
                    return json.dumps(self.answer_review())
                beats, conflicts = self._prove(asked), self._contradict(asked)
                return json.dumps({"beats": beats, "conflicts": conflicts})
        return json.dumps(made_up(asked.schema))

    def shapes(self) -> list[str]:
        """Return what was asked for, in order."""
        return [asked.shape for asked in self.asked]

    def tokens(self) -> int:
        """Return the tokens of all requests, of about four characters each."""
        return sum(len(text) for asked in self.asked for text in asked.texts) // 4

    def _revise(self, asked: Asked) -> dict[str, object]:
        findings = blocks(asked, "finding")
        edits: list[dict[str, object]] = []
        refused = []
        for number, finding in enumerate(findings, start=1):
            if SLIP in finding and not edits:
                row = {"finding": number, "find": SLIP, "replace": MENDED}
                edits.append(row)
            else:
                refused.append({"finding": number, "why": "It is meant so."})
        if self.edits is not None:
            return {"edits": list(self.edits), "refused": []}
        return {"edits": edits, "refused": refused}

    def _prove(self, asked: Asked) -> list[dict[str, object]]:
        beats = re.findall(r"^(\d+)\. ", "".join(blocks(asked, "beats")), re.M)
        return [{"beat": int(number), "quote": self.proof} for number in beats]

    def _contradict(self, asked: Asked) -> list[dict[str, object]]:
        rows = re.findall(r"^\[(\d+)\] (.*)$", blocks(asked, "brief")[0], re.M)
        draft = blocks(asked, "draft")[0]
        return [
            {"draft": own, "entry": int(number), "brief": words}
            for own, words in self.conflicts
            if own in draft
            for number, text in rows
            if words in text
        ][:1]
