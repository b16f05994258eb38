"""Measures `lrwr post check` without a language model, and how long a draft takes.

    python -m bench.inside.posts planted LIBRARY      # wrong details in its sentences
    python -m bench.inside.posts later LIBRARY DATA NOVEL   # sentences after a chapter
    python -m bench.inside.posts answers LIBRARY QUESTIONS  # passages for known answers
    python -m bench.inside.posts attribution DATA     # details in supported claims
    python -m bench.inside.posts thread LIBRARY       # seconds of a thread with fakes

LIBRARY is a folder that was ingested, DATA the shared data, NOVEL the name of a novel
there, QUESTIONS a JSON Lines file with answers and their passages.
"""

import asyncio
import json
import os
import random
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lrwr.app.container import Workspace, open_workspace
from lrwr.app.posts import create_draft_checker, load_checked_story
from lrwr.core.adapters.source.text import find_sentence_spans
from lrwr.core.attribution.details import find_numbers
from lrwr.core.attribution.names import list_named_characters
from lrwr.core.attribution.quotations import occurs_in
from lrwr.core.evidence.attribute_check import (
    find_attribute_differences,
    find_count_and_kin_differences,
)
from lrwr.core.evidence.comparison import compare_with_text
from lrwr.core.evidence.results import CheckedStory, StatementResult
from lrwr.core.evidence.statement_search import find_subject
from lrwr.core.evidence.statements import DraftStatement, iter_statements
from lrwr.core.model.choices import Pipeline
from lrwr.core.model.text import WORD_PATTERN, LineIndex
from lrwr.core.ports.stores import DocumentText
from lrwr.core.retrieval.story import StoryOrder
from lrwr.core.settings.loader import load_settings
from tests.fakes.hosted_server import Asked, Turn
from tests.fakes.model_server import KEY, MODEL, ModelServer
from tests.fakes.post_writer import PostWriter
from tests.fakes.web_server import WebServer, a_result

SENTENCE_WORDS = (8, 40)
"""Words that a sentence must have at least and at most to be taken."""

MIN_QUOTED = 6
"""Words from which on a sentence is recognized in a story."""

FIRST = 5
"""Passages of a statement among which one is counted as first."""

UNCHANGED = 75
"""Unchanged sentences checked beside them, for one novel."""

CALL_SECONDS = 1.0
"""How long each call of the fake language model and web search takes."""

_UNSUPPORTED: dict[str, object] = {
    "text": "Nell sells 41 mules to the king.",
    "facts": [1],
}
"""A sentence of the fake model that is flagged and revised."""

_AUXILIARY = re.compile(
    r"\b(was|were|had|could|would|should|is|are|did|will)\b(?! not)"
)
_PRESENT = {
    "was": "is",
    "were": "are",
    "had": "has",
    "said": "says",
    "would": "will",
    "could": "can",
    "did": "does",
    "went": "goes",
    "came": "comes",
    "took": "takes",
    "saw": "sees",
    "knew": "knows",
    "thought": "thinks",
}
_PAST = re.compile(rf"\b(?:{'|'.join(_PRESENT)})\b", re.IGNORECASE)
_SUBJECT_PRONOUN = re.compile(r"\b(?:[Hh]e|[Ss]he|[Tt]hey|I)\b(?!’)")
_NOT = re.compile(r"\b(was|were|had|could|would|should|is|are|did|will) not\b")
_SMALL = (
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "twelve",
)


@dataclass(frozen=True, slots=True)
class Planted:
    """A sentence in which one detail of a `kind` was changed; "" for none."""

    kind: str
    text: str
    original: str


def change_number(sentence: str, chance: random.Random) -> str:
    """Return `sentence` with another number; empty if it has none."""
    numbers = [words for _, words in find_numbers(sentence)]
    if not numbers:
        return ""
    old = chance.choice(numbers)
    if old.isdecimal():
        return sentence.replace(old, str(int(old) + chance.randint(1, 9)), 1)
    new = chance.choice([word for word in _SMALL if word not in sentence.lower()])
    return sentence.replace(old, new, 1) if old.lower() in _SMALL else ""


def change_negation(sentence: str) -> str:
    """Return `sentence` with a negation more or less; empty if it has no auxiliary."""
    if _NOT.search(sentence):
        return _NOT.sub(lambda match: match[1], sentence, count=1)
    if _AUXILIARY.search(sentence):
        return _AUXILIARY.sub(lambda match: f"{match[1]} not", sentence, count=1)
    return ""


def change_name(
    sentence: str, cast: Sequence[Sequence[str]], chance: random.Random
) -> str:
    """Return `sentence` with another character; empty if it names none."""
    present = list_named_characters(sentence, cast)
    for forms in cast[:40]:
        name = next(
            (f for f in forms if re.search(rf"\b{re.escape(f)}\b", sentence)), ""
        )
        if name and len(present) == 1:
            others = [f[0] for f in cast[:20] if name not in f]
            return re.sub(rf"\b{re.escape(name)}\b", chance.choice(others), sentence)
    return ""


def plant(
    texts: Sequence[str], story: CheckedStory, count: int, chance: random.Random
) -> Iterator[Planted]:
    """Yield `count` sentences with a changed detail, then unchanged ones."""
    sentences = [
        " ".join(text[span.start : span.end].split())
        for text in texts
        for span in find_sentence_spans(text)
    ]
    low, high = SENTENCE_WORDS
    sentences = [
        s
        for s in sentences
        if low <= len(WORD_PATTERN.findall(s)) <= high
        and not re.search(r"[“”\"#*_?]", s)
    ]
    chance.shuffle(sentences)
    wanted = Counter({"number": count // 3, "name": count // 3, "negation": count // 3})
    for sentence in sentences:
        for kind, changed in (
            ("number", change_number(sentence, chance)),
            ("name", change_name(sentence, story.cast, chance)),
            ("negation", change_negation(sentence)),
        ):
            if changed and changed != sentence and wanted[kind] > 0:
                wanted[kind] -= 1
                yield Planted(kind, changed, sentence)
                break
    for sentence in sentences[-UNCHANGED:]:
        yield Planted("", sentence, sentence)


async def measure_planted(workspace: Workspace, count: int) -> dict[str, object]:
    """Return how many planted details are reported, and unchanged sentences flagged."""
    story = await load_checked_story(workspace)
    texts = await workspace.passages.texts(story.order.story)
    checker = create_draft_checker(workspace)
    total: Counter[str] = Counter()
    flagged: Counter[str] = Counter()
    missed, chance = [], random.Random(7)
    started = time.process_time()
    rows = list(plant([t.text for t in texts.values()], story, count, chance))
    for row in rows:
        statement = next(
            iter_statements(
                DocumentText(row.text, LineIndex.of(row.text)), find_sentence_spans
            )
        )
        checked = await checker.check(statement, story)
        total[row.kind] += 1
        is_flagged = checked.result is StatementResult.DETAILS_DIFFER
        flagged[row.kind] += is_flagged
        if is_flagged == (not row.kind):
            missed.append([row.kind, row.text, row.original, checked.result.value])
    seconds = time.process_time() - started
    return {
        "total": dict(total),
        "flagged": dict(flagged),
        "cpu_seconds_per_statement": round(seconds / max(1, len(rows)), 4),
        "missed": missed,
    }


async def measure_later(
    workspace: Workspace, data: Path, novel: str
) -> dict[str, object]:
    """Return the results of sentences that stand before and after a chapter, each
    verbatim and in slightly other words.
    """
    checker = create_draft_checker(workspace)
    total: Counter[str] = Counter()
    wrong: list[list[str]] = []
    rows = read_rows(data / "temporal" / "dev" / "asof_retrieval.jsonl")
    chapters = data / "novels" / "dev" / novel / "chapters"
    for row in (row for row in rows if row["novel"] == novel):
        story = await load_checked_story(workspace, f"ch{row['asof_chapter']}")
        name = story.known_cast[0][0] if story.known_cast else ""
        for kind, change, statement in _iter_placed(row, chapters, name):
            checked = await checker.check(statement, story)
            total[f"{kind}, {change}: {checked.result}"] += 1
            is_later = checked.result is StatementResult.LATER
            if is_later == (kind == "gold_passages"):
                wrong.append([kind, change, statement.text, checked.result])
    return {**dict(sorted(total.items())), "wrong": wrong}


def _iter_rewordings(text: str, name: str) -> Iterator[tuple[str, str]]:
    """Yield a sentence as an author may repeat it, with the kind of change: in the
    present tense, without every sixth word, its first half, and with `name` for its
    pronouns and without every fourth word.
    """
    present = _PAST.sub(lambda match: _PRESENT[match[0].lower()], text)
    if present != text:
        yield "present tense", present
    words = text.split()
    yield "words left out", " ".join(w for at, w in enumerate(words) if at % 6 != 4)
    if len(words) >= 2 * MIN_QUOTED:
        half = " ".join(words[: (len(words) + 1) // 2]).rstrip(",;:—-")
        yield "first half", f"{half}."
    named = _SUBJECT_PRONOUN.sub(name, text)
    if named != text:
        words = named.split()
        yield "name", " ".join(w for at, w in enumerate(words) if at % 4 != 3)


def _iter_placed(
    row: dict[str, Any], chapters: Path, name: str
) -> Iterator[tuple[str, str, DraftStatement]]:
    """Yield sentences of the passages of a question, verbatim and reworded, with the
    kinds of passage and of change.
    """
    places = [
        (kind, place)
        for kind in ("gold_passages", "spoiler_passages")
        for place in row[kind][:2]
    ]
    for kind, place in places:
        text = (chapters / place["file"]).read_text(encoding="utf-8")
        statements = list_statements(text[place["start"] : place["end"]])[:2]
        for statement in (s for s in statements if len(s.text.split()) >= MIN_QUOTED):
            yield kind, "verbatim", statement
            for change, words in _iter_rewordings(statement.text, name):
                yield from ((kind, change, s) for s in list_statements(words)[:1])


async def measure_answers(workspace: Workspace, questions: Path) -> dict[str, object]:
    """Return for how many known answers a passage that holds them is among the shown
    ones.
    """
    story = await load_checked_story(workspace)
    checker = create_draft_checker(workspace)
    answered = found = first = flagged = 0
    for row in read_rows(questions):
        if not row.get("gold") or not row.get("answer"):
            continue
        answered, subject = answered + 1, ""
        places_of_gold: list[int] = []
        for statement in list_statements(row["answer"]):
            checked = await checker.check(statement, story, subject)
            subject = find_subject(statement, story) or subject
            flagged += checked.result is StatementResult.DETAILS_DIFFER
            shown = [closest.passage.chunk for closest in checked.passages]
            places = [
                place
                for place, chunk in enumerate(shown)
                for gold in row["gold"]
                if gold["file"] == chunk.document
                and occurs_in(gold["quote"], [chunk.text])
            ]
            places_of_gold += places
        found += bool(places_of_gold)
        first += min(places_of_gold, default=FIRST) < FIRST
    return {
        "answers": answered,
        "found": found,
        "share": round(found / answered, 3),
        "sentences_with_another_detail": flagged,
        "share_in_first_5": round(first / answered, 3),
    }


def measure_attribution(data: Path) -> dict[str, object]:
    """Return how many claims with evidence have another detail than it, by label."""
    figures: dict[str, object] = {}
    story = CheckedStory(StoryOrder({}, (), {}), Pipeline.AGENTIC)
    for name in ("expertqa_dev", "foolmetwice_dev"):
        total: Counter[bool] = Counter()
        differing: Counter[bool] = Counter()
        for row in read_rows(data / "attribution" / f"{name}.jsonl"):
            for statement in list_statements(row["claim"])[:1]:
                evidence = "\n\n".join(row["evidence"])
                compared = compare_with_text(
                    statement.text, evidence, find_sentence_spans
                )
                total[row["supported"]] += 1
                parts = (statement.text, row["evidence"], find_sentence_spans, story)
                is_different = (
                    bool(compared and compared.differences)
                    or bool(find_attribute_differences(*parts))
                    or bool(find_count_and_kin_differences(*parts))
                )
                differing[row["supported"]] += is_different
        figures[name] = {
            "supported": round(differing[True] / total[True], 3),
            "not_supported": round(differing[False] / total[False], 3),
        }
    return figures


class _SlowWeb(WebServer):
    """A web search that takes `CALL_SECONDS`."""

    def answer(self, asked: Asked) -> Turn:
        """Search after a while."""
        time.sleep(CALL_SECONDS)
        return super().answer(asked)


def measure_thread(root: Path) -> dict[str, object]:
    """Return what a checked thread about the sample takes with a language model and a web
    search that take `CALL_SECONDS` a call: seconds by the clock, of them CPU, the calls
    and the tokens sent.
    """
    writer = PostWriter(topics=("lamps",), sentences=(_UNSUPPORTED,))
    words = ("post", "new", "How the lantern is lit", "--kind", "thread", "--as-of")
    with ModelServer(wait=CALL_SECONDS) as server, _SlowWeb() as web:
        server.answering(writer.answer)
        web.finds(a_result("Lamps", "https://a.example/lamps", "A wick is trimmed."))
        env = {
            "LRWR_MODEL_USE": "openai",
            "LRWR_MODEL_NAME": MODEL,
            "LRWR_MODEL_BASE_URL": server.base_url,
            "OPENAI_API_KEY": KEY,
            "LRWR_WEB_USE": "tavily",
            "LRWR_WEB_BASE_URL": web.base_url,
            "TAVILY_API_KEY": web.key,
        }
        started, cpu = time.monotonic(), os.times()
        done = subprocess.run(
            [sys.executable, "-m", "lrwr", *words, "ch3", "--web", "--force", "--json"],
            cwd=root,
            env={**os.environ, **env},
            capture_output=True,
            check=False,
        )
        seconds, used = time.monotonic() - started, os.times()
        return {
            "exit_code": done.returncode,
            "seconds": round(seconds, 1),
            "cpu_seconds": round(
                used.children_user
                + used.children_system
                - cpu.children_user
                - cpu.children_system,
                1,
            ),
            "calls": writer.shapes(),
            "searches": len(web.queries),
            "tokens": sum(len("".join(a.texts)) // 4 for a in writer.asked),
        }


def list_statements(text: str) -> list[DraftStatement]:
    """Return the sentences of `text` as those of a draft."""
    draft = DocumentText(text, LineIndex.of(text))
    return list(iter_statements(draft, find_sentence_spans))


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Return the objects of a JSON Lines file."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


async def run(kind: str, root: Path, more: Sequence[str]) -> dict[str, object]:
    """Return the figures `kind` of the library at `root`."""
    async with open_workspace(load_settings(root, {}, {})) as workspace:
        match kind:
            case "later":
                return await measure_later(workspace, Path(more[0]), more[1])
            case "answers":
                return await measure_answers(workspace, Path(more[0]))
            case _:
                return await measure_planted(workspace, 192)


if __name__ == "__main__":
    command, first, *rest = sys.argv[1:]
    if command in ("attribution", "thread"):
        measure = measure_attribution if command == "attribution" else measure_thread
        result = measure(Path(first))
    else:
        result = asyncio.run(run(command, Path(first).resolve(), rest))
    sys.stdout.write(json.dumps(result, indent=1, ensure_ascii=False) + "\n")
