"""Asks an open library questions; prints when each was asked and answered, as JSON.

Works on the library in the working directory; its arguments are the questions. Times are
in seconds since 1970.
"""

import asyncio
import json
import os
import sys
import time
from pathlib import Path

from lrwr.app.container import Workspace, open_workspace
from lrwr.core.chat.service import TurnRequest
from lrwr.core.model.turns import AnswerToken, TurnDone
from lrwr.core.settings.loader import load_settings


async def _ask(workspace: Workspace, question: str) -> dict[str, object]:
    began, first = time.time(), 0.0
    async for event in workspace.sessions().ask(TurnRequest(question)):
        if isinstance(event, AnswerToken) and not first:
            first = time.time()
        if isinstance(event, TurnDone):
            turn = event.turn
    usage = turn.usage
    return {
        "began": began,
        "first": first,
        "ended": time.time(),
        "calls": usage.calls,
        "prompt_tokens": usage.prompt_tokens,
        "tokens": usage.prompt_tokens + usage.completion_tokens,
        "model": turn.output.model,
    }


async def _main() -> None:
    settings = load_settings(Path.cwd(), os.environ, {})
    async with open_workspace(settings) as workspace:
        questions = sys.argv[1:]
        answers = [await _ask(workspace, question) for question in questions]
        print(json.dumps(answers))


if __name__ == "__main__":
    asyncio.run(_main())
