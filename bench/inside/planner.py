"""Plans labelled questions on the open library, by rules and with a scripted model.

Works on the library in the working directory; its argument is the file of questions.
The scripted model replies with the labels, so that parsing, thresholds and merging with
the rules are measured, not a model's knowledge: every third reply has a fence and
thoughts around it, every fourth is malformed and is right only when asked again, every
seventh is malformed twice. Prints JSON: for each question, path and field, whether the
plan is as labelled.
"""

import asyncio
import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lrwr.app.container import open_workspace
from lrwr.core.bible.values import Bible
from lrwr.core.chat.planning.model import ModelPlanner
from lrwr.core.chat.planning.rules import plan_by_rules
from lrwr.core.chat.state import TurnQuestion
from lrwr.core.model.turns import (
    INTENTIONS_BY_SOURCE,
    AnswerIntent,
    AnswerSource,
    NarrativeState,
    QuestionPlan,
    SupervisorOutput,
    Turn,
    TurnId,
)
from lrwr.core.ports.models import ChatMessage, ChatReply, ReplyShape
from lrwr.core.settings.loader import load_settings

Label = Mapping[str, Any]
WRAPPED, REPAIRED, BROKEN = 3, 4, 7
"""Of so many replies one is wrapped in words, malformed once, malformed twice."""


class LabelModel:
    """A model that replies with the labels of one question, the `number`th."""

    name = "labels"

    def __init__(self, label: Label, number: int) -> None:
        self._label, self._number = label, number

    async def fill(
        self, messages: Sequence[ChatMessage], shape: ReplyShape
    ) -> ChatReply:
        """Return the reply for `shape`, malformed as the module says."""
        is_repeated = len(messages) > 2
        if self._number % BROKEN == 0 and shape.name == "Tools":
            return ChatReply('{"intent": "unheard-of", "tools": []}', 1, 1)
        if self._number % REPAIRED == 0 and not is_repeated:
            return ChatReply("I would ask the timeline.", 1, 1)
        text = json.dumps(self._build_reply(shape.name))
        if self._number % WRAPPED == 0:
            text = f"<think>Which sources?</think>\n```json\n{text}\n```"
        return ChatReply(text, 1, 1)

    def _build_reply(self, shape: str) -> object:
        if shape == "Entities":
            # A name that the model is not sure of must be dropped.
            named = [
                {"name": name, "confidence": 0.9} for name in self._label["entities"]
            ]
            return {"entities": [*named, {"name": "Thole", "confidence": 0.3}]}
        tools = [
            {
                "tool": source,
                "intention": INTENTIONS_BY_SOURCE[AnswerSource(source)][0],
                "confidence": 0.9,
            }
            for source in self._label["sources"]
        ]
        return {
            "intent": self._label["intent"],
            "tools": tools,
            "question": self._label.get("standalone", self._label["question"]),
            "searches": [],
            "chapters": [],
        }


async def _judge(label: Label, number: int, bible: Bible) -> list[dict[str, object]]:
    question = _build_question(label)
    by_rules = plan_by_rules(question, bible)
    planner = ModelPlanner(LabelModel(label, number), timeout=30)  # type: ignore[arg-type]
    by_model = await planner.plan(question, bible, by_rules)
    return [
        {
            "id": label["id"],
            "part": label["part"],
            "path": path,
            **_compare(plan, label),
        }
        for path, plan in (("rules", by_rules), ("model", by_model))
    ]


def _compare(plan: QuestionPlan, label: Label) -> dict[str, object]:
    found: dict[str, object] = {
        "sources": sorted(plan.sources) == sorted(label["sources"]),
        "intent": plan.intent == label["intent"],
        "entities": {e.name for e in plan.entities} == set(label["entities"]),
    }
    if "standalone" in label:
        found["standalone"] = _plain(plan.question) == _plain(label["standalone"])
    return found


def _plain(text: str) -> str:
    return "".join(
        c for c in text.casefold().replace("’", "'") if c not in "?.!"
    ).strip()


def _build_question(label: Label) -> TurnQuestion:
    if "before" not in label:
        return TurnQuestion(label["question"])
    before = label["before"]
    output = SupervisorOutput(
        before["answer"], AnswerIntent.ANALYTICAL, (), (), (), NarrativeState()
    )
    turn = Turn(TurnId("1"), 1, 0.0, before["question"], output)
    return TurnQuestion(label["question"], history=(turn,))


async def _main(lines: Sequence[str]) -> None:
    settings = load_settings(Path.cwd(), os.environ, {})
    async with open_workspace(settings) as workspace:
        bible = await workspace.bible().read(None)
        rows = [
            row
            for number, line in enumerate(lines, 1)
            for row in await _judge(json.loads(line), number, bible)
        ]
    print(json.dumps(rows))


if __name__ == "__main__":
    asyncio.run(_main(Path(sys.argv[1]).read_text(encoding="utf-8").splitlines()))
