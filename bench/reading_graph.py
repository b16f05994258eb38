"""Whether the reading companion takes the same steps and gives the same answer in this process
and through a LangGraph server, with its tools on the reader's side.

Start a server in an environment of its own. It writes `.langgraph_api` into the folder in which it
is started, so use another one than the repository, which is REPO here:

    pip install "langgraph-cli[inmem]" msgspec
    cd WORK
    export PYTHONPATH=REPO
    langgraph dev --config REPO/bench/langgraph.json --port 2024 --no-browser --no-reload

Then run `python -m bench.reading_graph http://127.0.0.1:2024 BOOK.epub --work WORK`. The model is a
function of its prompt, here and there. Each question is asked at several positions of the book.
"""

import argparse
import asyncio
import json
import os
import re
import time
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import Any

from lrwr.core.model.codec import decode_value, encode_value
from lrwr.core.ports.models import ChatMessage, ChatReply, ReplyShape
from lrwr.core.reading.graph import (
    build_reading_state,
    compile_reading_graph,
    create_checkpointer,
    run_reading_graph,
)
from lrwr.core.reading.steps import ReadingQuestion, ToolCall, ToolResult

QUESTIONS = ("Who is the first person named?", "What is on my page?", "Where are we?")


class PromptModel:
    """Chooses steps by the number of steps in its prompt, and quotes the first passage."""

    name = "prompt-model"

    async def fill(
        self, messages: Sequence[ChatMessage], _shape: ReplyShape
    ) -> ChatReply:
        prompt = messages[-1].text
        words = re.findall(r"[A-Za-z]{4,}", prompt.rpartition("question:")[2])
        plan = (
            {"step": "book_info"},
            {"step": "table_of_contents"},
            {"step": "search", "phrasings": [" ".join(words), *words[:2]]},
            {"step": "read_chapter", "chapter": 1, "part": 1},
            {"step": "current_page"},
            {"step": "answer"},
        )
        step = plan[len(re.findall(r"^Step \d+:", prompt, re.M))]
        reply = {"phrasings": [], "chapter": 0, "part": 0, **step}
        return ChatReply(json.dumps(reply), len(prompt) // 4, 20)

    async def stream(self, messages: Sequence[ChatMessage]) -> AsyncGenerator[str]:
        prompt = messages[-1].text
        passage = re.search(r"^\[(\d+)\] paragraph.*\n(.+)$", prompt, re.M)
        quotation = f"“{passage[2][:60]}” [{passage[1]}]" if passage else "Silent."
        for piece in re.findall(r"\S+\s*", quotation):
            yield piece


graph = compile_reading_graph(PromptModel())
"""What `bench/langgraph.json` serves."""


class Recorder:
    """Runs tools, and remembers calls and results as JSON."""

    def __init__(self, tools: Any) -> None:
        self._tools = tools
        self.steps: list[Any] = []

    async def run(self, call: ToolCall) -> ToolResult:
        result: ToolResult = await self._tools.run(call, None)
        self.steps.append(encode_value((call, result)))
        return result


async def ask_here(question: ReadingQuestion, tools: Recorder) -> str:
    local = compile_reading_graph(PromptModel(), checkpointer=create_checkpointer())
    start = build_reading_state(question, [])
    return await run_reading_graph(local, start, tools.run, lambda _: None)


async def ask_there(url: str, question: ReadingQuestion, tools: Recorder) -> str:
    from langgraph_sdk import get_client

    client = get_client(url=url)
    thread = (await client.threads.create())["thread_id"]
    start: Any = build_reading_state(question, [])
    state: Any = await client.runs.wait(thread, "reading", input=start)
    while "__interrupt__" in state:
        call = decode_value(state["__interrupt__"][0]["value"], ToolCall)
        resume = encode_value(await tools.run(call))
        state = await client.runs.wait(thread, "reading", command={"resume": resume})
    return str(state["answer"])


async def compare(url: str, file: Path, work: Path) -> dict[str, Any]:
    # Not imported by the server, whose environment has the graph's packages only.
    from lrwr.app.books import Bookshelf, add_book, build_book_settings
    from lrwr.app.container import open_workspace
    from lrwr.app.reading_tools import open_reading_tools
    from lrwr.core.settings.loader import load_settings

    shelf, settings = Bookshelf(work / "books"), load_settings(work, os.environ, {})
    record = await add_book(shelf, settings, file, now=time.time(), say=lambda _: None)
    totals = {"questions": 0, "steps": 0, "equal steps": 0, "equal answers": 0}
    seconds = {"here": 0.0, "there": 0.0}
    async with open_workspace(
        build_book_settings(settings, shelf.folder_of(record.id))
    ) as workspace:
        for share in (0.1, 0.5, 1.0):
            position = max(1, int(share * record.outline.length))
            tools = await open_reading_tools(workspace, record, position)
            for text in QUESTIONS:
                question = ReadingQuestion(text)
                here, there = Recorder(tools), Recorder(tools)
                began = time.perf_counter()
                first = await ask_here(question, here)
                seconds["here"] += time.perf_counter() - began
                began = time.perf_counter()
                second = await ask_there(url, question, there)
                seconds["there"] += time.perf_counter() - began
                totals["questions"] += 1
                totals["steps"] += len(here.steps)
                totals["equal steps"] += here.steps == there.steps
                totals["equal answers"] += first == second
    return {**totals, "seconds": {k: round(v, 2) for k, v in seconds.items()}}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url")
    parser.add_argument("book", type=Path)
    parser.add_argument("--work", type=Path, required=True)
    options = parser.parse_args()
    print(json.dumps(asyncio.run(compare(options.url, options.book, options.work))))


if __name__ == "__main__":
    main()
