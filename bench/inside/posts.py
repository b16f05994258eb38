"""Plants wrong details in sentences of a novel and checks them as a draft.

Usage: python -m bench.inside.posts LIBRARY [COUNT]; LIBRARY is a folder that was ingested.
"""

import asyncio
import json
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lrwr.app.container import Workspace, open_workspace
from lrwr.app.posts import load_checked_story
from lrwr.core.adapters.source.text import find_sentence_spans
from lrwr.core.attribution.details import find_numbers
from lrwr.core.attribution.names import list_named_characters
from lrwr.core.evidence.checker import CheckedStory, DraftChecker, StatementResult
from lrwr.core.evidence.statements import iter_statements
from lrwr.core.model.text import WORD_PATTERN, LineIndex
from lrwr.core.ports.stores import DocumentText
from lrwr.core.settings.loader import load_settings

SENTENCE_WORDS = (8, 40)
"""Words that a sentence must have at least and at most to be taken."""

UNCHANGED = 75
"""Unchanged sentences checked beside them, for one novel."""

_AUXILIARY = re.compile(
    r"\b(was|were|had|could|would|should|is|are|did|will)\b(?! not)"
)
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


async def measure(workspace: Workspace, count: int) -> dict[str, object]:
    """Return how many planted details are reported, and unchanged sentences flagged."""
    story = await load_checked_story(workspace)
    texts = await workspace.passages.texts(story.order.story)
    checker = DraftChecker(workspace.finder(), workspace.passages, find_sentence_spans)
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


async def run(root: Path, count: int) -> None:
    """Print the figures of the library at `root` as JSON."""
    async with open_workspace(load_settings(root, {}, {})) as workspace:
        result = await measure(workspace, count)
    sys.stdout.write(json.dumps(result, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    asyncio.run(run(Path(sys.argv[1]).resolve(), int((*sys.argv, "180")[2])))
