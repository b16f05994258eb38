"""Whether a prompt ever holds words from after its horizon.

`python -m bench.inside.prompts DATA WORK [EVERY]`: WORK holds the libraries that
`python -m bench --only retrieval --work WORK` made; EVERY asks one question of so many.
What a language model would be sent is made as `lrwr ask --show-prompt` makes it.
"""

import asyncio
import re
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from bench.data import DataFolder, read_lines
from lrwr.app.container import open_workspace
from lrwr.core.chat.service import TurnRequest
from lrwr.core.model.errors import LrwrError
from lrwr.core.model.turns import AnswerMode
from lrwr.core.settings.loader import load_settings

RUN = 8
"""Words in a row that no two chapters share by chance."""

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_ENV = {"LRWR_MODEL_USE": "local", "LRWR_MODEL_NAME": "nobody"}


def main() -> None:
    data, work = (Path(argument).resolve() for argument in sys.argv[1:3])
    every = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    folder = DataFolder(data)
    asked = [*_questions(folder, "asof"), *_questions(folder, "contact")]
    made = late = refused = held = 0
    began = time.perf_counter()
    for novel in sorted({str(question["novel"]) for question in asked}):
        own = [question for question in asked if question["novel"] == novel][::every]
        root = work / f"novel-{novel}"
        if root.exists():
            counts = asyncio.run(_asked(root, own))
            made, late, refused, held = (
                whole + part
                for whole, part in zip((made, late, refused, held), counts, strict=True)
            )
            print(f"{novel}: {counts[0]} prompts, {counts[1]} with later words")
    seconds = (time.perf_counter() - began) / max(1, made)
    print(f"{late} of {made} prompts hold words from after their horizon;")
    print(f"each holds {held / max(1, made):.0f} runs of {RUN} words of its novel;")
    print(f"{refused} were refused: nobody of that name so far. {seconds:.2f} s each")


def _questions(folder: DataFolder, name: str) -> list[dict[str, Any]]:
    path = folder.questions(name)
    return read_lines(path) if path else []


async def _asked(
    root: Path, questions: Sequence[dict[str, Any]]
) -> tuple[int, int, int, int]:
    """Count prompts, those with later words, refusals, and runs of the novel's words."""
    first = _first_chapters(root)
    made = late = refused = held = 0
    async with AsyncExitStack() as stack:
        settings = load_settings(root, _ENV, {})
        workspace = await stack.enter_async_context(open_workspace(settings))
        sessions = workspace.sessions(may_ask=False)
        for question in questions:
            try:
                sendings = await sessions.prompt(_asking(question))
            except LrwrError:
                refused += 1
                continue
            made += 1
            told = "\n".join(sending.text for sending in sendings)
            limit = int(question["asof_chapter"])
            chapters = {run: first[run] for run in _runs(told) if run in first}
            held += len(chapters)
            later = [run for run, chapter in chapters.items() if chapter > limit]
            if later:
                late += 1
                print(f"  {question['id']}: {later[0]}")
    return made, late, refused, held


def _asking(question: dict[str, Any]) -> TurnRequest:
    character = question.get("character")
    return TurnRequest(
        text=question["question"],
        character=character,
        mode=AnswerMode.IN_CHARACTER if character else None,
        as_of=f"ch{question['asof_chapter']}",
        witnessed=bool(character) or None,
    )


def _first_chapters(root: Path) -> dict[str, int]:
    """Return the number of the first chapter that has each run of words."""
    first: dict[str, int] = {}
    for path in sorted(root.glob("novel/chapters/*.md")):
        number = int(path.name.split("-")[0])
        for run in _runs(path.read_text(encoding="utf-8")):
            first.setdefault(run, number)
    return first


def _runs(text: str) -> Iterator[str]:
    words = [word[0].lower() for word in _WORD.finditer(text)]
    for start in range(len(words) - RUN + 1):
        yield " ".join(words[start : start + RUN])


if __name__ == "__main__":
    main()
