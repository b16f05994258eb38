"""What a reader of an e-book is told of what comes after the position: it must be nothing.

Run with `python -m bench.positions DATA --work WORK [--each N]`. `DATA` has the novels of
`novels/dev` and the questions of `temporal/dev/asof_retrieval.jsonl`. Each novel becomes an
e-book with a table of contents; each question is asked at random paragraphs. Searched are the
prompts that a language model would get, results of the companion's tools, search results,
chapters and tables of contents, for any stretch of words that stands only after the position,
and for titles of later chapters.
"""

import argparse
import asyncio
import html
import io
import json
import os
import random
import re
import time
import zipfile
from collections import Counter
from dataclasses import replace
from pathlib import Path

from lrwr.app.books import (
    BookRecord,
    Bookshelf,
    add_book,
    build_book_settings,
    open_bounded_book,
)
from lrwr.app.container import Workspace, open_workspace
from lrwr.app.reading_tools import open_reading_tools
from lrwr.core.chat.service import TurnRequest
from lrwr.core.reading.bounded_book import BoundedBook, build_horizon_text
from lrwr.core.reading.steps import (
    ReadingQuestion,
    ReadingStep,
    ReadingTool,
    ToolCall,
    build_answer_messages,
    build_step_messages,
)
from lrwr.core.retrieval.search_model import SearchRequest
from lrwr.core.retrieval.story import ChapterReader, parse_horizon
from lrwr.core.settings.loader import load_settings
from lrwr.core.settings.model import Settings

WINDOW = 8
"""Words of a stretch: shorter ones stand before and after the position by chance."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--each", type=int, default=3)
    parser.add_argument("--novels", type=int, default=99)
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    totals = asyncio.run(measure(options.data, options.work, options))
    print(json.dumps(totals))


async def measure(data: Path, work: Path, options: argparse.Namespace) -> Counter[str]:
    file = data / "temporal" / "dev" / "asof_retrieval.jsonl"
    lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    names = sorted({line["novel"] for line in lines})[: options.novels]
    env = {"LRWR_MODEL_USE": "local", "LRWR_MODEL_NAME": "none"}
    settings = load_settings(work, {**os.environ, **env}, {})
    shelf, totals = Bookshelf(work / "books"), Counter[str]()
    for name in names:
        folder = data / "novels" / "dev" / name
        book = work / f"{name}.epub"
        book.write_bytes(build_book(name, folder))
        record = await add_book(
            shelf, settings, book, now=time.time(), say=lambda _: None
        )
        questions = [line["question"] for line in lines if line["novel"] == name]
        chosen = random.Random(name).sample(
            questions, min(options.each, len(questions))
        )
        totals += await measure_book(shelf, settings, record, chosen)
        print(name, record.words, dict(totals), flush=True)
    return totals


def build_book(name: str, folder: Path) -> bytes:
    """Return an e-book with a file for each Markdown file of `folder`."""
    items, nav, files = [], [], {}
    for number, path in enumerate(sorted(folder.glob("**/*.md"))):
        text = re.sub(r"\A---\n.*?\n---\n", "", path.read_text("utf-8"), flags=re.S)
        title = re.search(r"^#+ (.+)$", text, re.M)
        label = html.escape(title[1] if title else path.stem)
        body = re.sub(r"^#+ .+$", "", text, count=1, flags=re.M)
        paragraphs = [html.escape(p.strip()) for p in re.split(r"\n\s*\n", body)]
        marked = "".join(f"<p>{p}</p>" for p in paragraphs if p)
        files[f"c{number}.xhtml"] = (
            '<html xmlns="http://www.w3.org/1999/xhtml"><body>'
            f"<h1>{label}</h1>{marked}</body></html>"
        )
        items.append(
            f'<item id="c{number}" href="c{number}.xhtml"'
            ' media-type="application/xhtml+xml"/>'
        )
        nav.append(f'<li><a href="c{number}.xhtml">{label}</a></li>')
    spine = "".join(f'<itemref idref="c{n}"/>' for n in range(len(items)))
    package = (
        '<package xmlns="http://www.idpf.org/2007/opf" version="3.0"><metadata'
        f' xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{name}</dc:title>'
        f'</metadata><manifest>{"".join(items)}<item id="nav" href="nav.xhtml"'
        ' properties="nav" media-type="application/xhtml+xml"/></manifest>'
        f"<spine>{spine}</spine></package>"
    )
    navigation = (
        '<html xmlns="http://www.w3.org/1999/xhtml"'
        ' xmlns:epub="http://www.idpf.org/2007/ops"><body><nav epub:type="toc"><ol>'
        f"{''.join(nav)}</ol></nav></body></html>"
    )
    container = (
        '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        '<rootfile full-path="p.opf"/></rootfiles></container>'
    )
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("META-INF/container.xml", container)
        archive.writestr("p.opf", package)
        archive.writestr("nav.xhtml", navigation)
        for member, text in files.items():
            archive.writestr(member, text)
    return packed.getvalue()


async def measure_book(
    shelf: Bookshelf, settings: Settings, record: BookRecord, questions: list[str]
) -> Counter[str]:
    totals: Counter[str] = Counter()
    chance = random.Random(record.title)
    book_settings = build_book_settings(settings, shelf.folder_of(record.id))
    async with open_workspace(book_settings) as workspace:
        text = (await workspace.passages.text(record.document)).text
        for question in questions:
            position = chance.randrange(1, record.outline.length)
            book = await open_bounded_book(workspace, record, position)
            shown = [part async for part in collect(workspace, book, question)]
            shown += await list_steps(workspace, record, position, question)
            later = windows(text[book.end :]) - windows(text[: book.end])
            leaks = sum(len(windows(part) & later) for part in shown)
            titles = [
                entry.title
                for entry in record.outline.toc
                if entry.paragraph >= position and entry.title not in text[: book.end]
            ]
            told = [t for t in titles if len(t) > 12 and any(t in p for p in shown)]
            totals["questions"] += 1
            totals["texts"] += len(shown)
            totals["characters"] += sum(map(len, shown))
            totals["leaked windows"] += leaks
            totals["leaked titles"] += len(told)
            if leaks or told:
                print("LEAK", record.title, position, question, told)
    return totals


async def collect(workspace: Workspace, book: BoundedBook, question: str):  # type: ignore[no-untyped-def]
    """Yield everything that the reader or a language model would be shown."""
    horizon_text = build_horizon_text(book)
    finder, pipeline = workspace.finder(), workspace.settings.pipeline
    order = await finder.story_order()
    horizon = parse_horizon(horizon_text, order)
    request = SearchRequest(question, pipeline, 8, horizon=horizon)
    for passage in (await finder.find(request, order)).passages:
        yield f"{passage.chapter_title}\n{passage.chunk.text}"
    reader = ChapterReader(workspace.passages, pipeline, order, horizon)
    yield "\n".join(title.title for title in reader.contents())
    last = book.chapter.number if book.chapter else 0
    for number in (last, last + 1):
        for passage in await reader.chapter(number):
            yield passage.chunk.text
    yield "\n".join(entry.title for entry in book.contents())
    yield "\n".join(paragraph.text for paragraph in book.page())
    sessions = workspace.sessions(may_ask=False)
    asked = replace(TurnRequest(text=question), as_of=horizon_text)
    for prompt in await sessions.prompt(asked):
        yield prompt.text


async def list_steps(
    workspace: Workspace, record: BookRecord, position: int, question: str
) -> list[str]:
    """Return the results of every tool of the companion, and the prompts with them."""
    tools = await open_reading_tools(workspace, record, position)
    last = max((chapter.number for chapter in record.chapters), default=0)
    calls = [
        ToolCall(ReadingTool.BOOK_INFO),
        ToolCall(ReadingTool.TABLE_OF_CONTENTS),
        ToolCall(ReadingTool.CURRENT_PAGE),
        ToolCall(ReadingTool.SEARCH, (question, *question.split()[:3])),
        *(
            ToolCall(ReadingTool.READ_CHAPTER, chapter=number, part=1)
            for number in range(last + 1)
        ),
    ]
    steps = [ReadingStep(call, await tools.run(call, None)) for call in calls]
    shown = [p.text for step in steps for p in step.result.passages]
    shown += [step.result.text for step in steps]
    reading_question = ReadingQuestion(question)
    for build in (build_step_messages, build_answer_messages):
        # The question is the reader's own text.
        texts = [
            m.text.replace(question, "") for m in build(reading_question, steps, 9_000)
        ]
        shown += texts
    return shown


def windows(text: str) -> set[str]:
    """Return the stretches of `WINDOW` words of `text`, as they are compared."""
    words = re.findall(r"\w+", text.lower())
    return {" ".join(words[at : at + WINDOW]) for at in range(len(words) - WINDOW + 1)}


if __name__ == "__main__":
    main()
