"""Asks questions of the library in the working directory, each in a conversation anew.

Arguments: a file of JSON Lines with `id`, `question` and maybe `as_of`, `character` and
`mode`; `prompts` after it shows what a model would be sent too. Prints JSON.
"""

import asyncio
import json
import os
import sys
from contextlib import aclosing
from pathlib import Path
from typing import Any

from bench.data import read_lines
from lrwr.app.container import open_workspace
from lrwr.core.chat.service import AvatarSessionService, TurnRequest
from lrwr.core.model.turns import AnswerMode, Citation, TurnDone
from lrwr.core.settings.loader import load_settings


async def _main(questions: list[dict[str, Any]], *, prompts: bool) -> None:
    settings = load_settings(Path.cwd(), os.environ, {})
    async with open_workspace(settings) as workspace:
        sessions = workspace.sessions()
        told = []
        for question in questions:
            asking = _asking(question)
            row = await _asked(sessions, asking)
            if prompts:
                sent = await sessions.prompt(asking)
                row["sent"] = "\n".join(one.text for one in sent)
            told.append({"id": question["id"], **row})
    print(json.dumps(told, ensure_ascii=False))


def _asking(question: dict[str, Any]) -> TurnRequest:
    mode = question.get("mode")
    return TurnRequest(
        text=question["question"],
        as_of=question.get("as_of"),
        character=question.get("character"),
        mode=AnswerMode(mode) if mode else None,
    )


async def _asked(sessions: AvatarSessionService, asking: TurnRequest) -> dict[str, Any]:
    async with aclosing(sessions.ask(asking)) as events:
        async for event in events:
            if isinstance(event, TurnDone):
                said = event.turn.output
    gaps = [[gap.about, gap.undefined_attribute] for gap in said.gap_flags]
    return {
        "answer": said.response_text,
        "citations": [_cited(citation) for citation in said.citations],
        "gaps": gaps,
        "low_confidence": said.low_confidence,
        "unsupported": len(said.unsupported),
        "model": said.model,
    }


def _cited(citation: Citation) -> dict[str, Any]:
    return {
        "file": citation.document,
        "chapter": citation.chapter,
        "text": citation.text,
    }


if __name__ == "__main__":
    asked = read_lines(Path(sys.argv[1]))
    asyncio.run(_main(asked, prompts=sys.argv[2:] == ["prompts"]))
