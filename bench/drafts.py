"""Checks of drafts on whole novels: how well the voice tells authors apart, how often
unchanged novels repeat runs of words or count the same things differently, and how many
changed numbers are found.

Run: python -m bench.drafts DATA [--words 800] [--plant 200] [--seed 1].

DATA has `novels/dev/NAME/*.md`. A profile is made of every second chapter of a novel;
passages of its other chapters are compared with those of other authors.
"""

import argparse
import json
import random
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from lrwr.core.drafting.style import (
    RUN_WORDS,
    VoiceProfile,
    find_repetitions,
    split_windows,
)
from lrwr.core.drafting.thing_check import compare_counts, list_counted_things
from lrwr.core.model.documents import DocumentId

AUTHORS = {
    "Emma": "Austen", "MansfieldPark": "Austen", "NorthangerAbbey": "Austen",
    "Persuasion": "Austen", "PrideAndPrejudice": "Austen", "SenseAndSensibility": "Austen",
    "BleakHouse": "Dickens", "HardTimes": "Dickens", "OliverTwist": "Dickens",
    "AdventuresOfSherlockHolmes": "Doyle", "TheSignOfTheFour": "Doyle",
    "TheGreatGatsby": "Fitzgerald", "ThisSideOfParadise": "Fitzgerald",
}  # fmt: skip
"""Authors of several of the novels; the others are by different ones."""
OTHERS = 15
"""Passages of each other novel."""


def read_novels(data: Path) -> dict[str, list[str]]:
    """Return the chapters of each novel."""
    return {
        folder.name: [f.read_text("utf-8") for f in sorted(folder.rglob("*.md"))]
        for folder in sorted((data / "novels" / "dev").iterdir())
    }


def compute_auc(own: Sequence[float], others: Sequence[float]) -> float:
    """Return how often an own passage is nearer than another's."""
    near, far = np.array(own)[:, None], np.array(others)[None, :]
    return float(np.mean((near < far) + 0.5 * (near == far)))


def measure_voices(
    novels: dict[str, list[str]], words: int, dice: random.Random
) -> dict[str, float]:
    """Return for each novel how well its voice is told from other authors'."""
    chapters = {name: _split_evenly(texts) for name, texts in novels.items()}
    tests = {
        name: [w for text in texts[1::2] for w in split_windows(text, words)]
        for name, texts in chapters.items()
    }
    results = {}
    for name, texts in chapters.items():
        profile = VoiceProfile(texts[::2], words)
        if not profile.is_known or len(tests[name]) < 4:
            continue
        own = [profile.measure_distance(w).distance for w in tests[name]]
        others = [
            profile.measure_distance(w).distance
            for other, passages in tests.items()
            if AUTHORS.get(other, other) != AUTHORS.get(name, name)
            for w in dice.sample(passages, min(OTHERS, len(passages)))
        ]
        results[name] = compute_auc(own, others)
    return results


def _split_evenly(texts: Sequence[str]) -> list[str]:
    """Return chapters; a novel in few files is cut into parts."""
    if len(texts) >= 6:
        return list(texts)
    paragraphs = "\n\n".join(texts).split("\n\n")
    size = max(1, len(paragraphs) // max(8, len(paragraphs) // 200))
    starts = range(0, len(paragraphs), size)
    return ["\n\n".join(paragraphs[n : n + size]) for n in starts]


def count_runs(chapters: Sequence[str]) -> tuple[int, int]:
    """Return the words of a novel, and its runs that an earlier chapter has."""
    texts = {DocumentId(f"{n}.md"): text for n, text in enumerate(chapters)}
    runs = words = 0
    for number, text in enumerate(chapters):
        earlier = {
            DocumentId(f"{n}.md"): texts[DocumentId(f"{n}.md")]
            for n in range(number + 1)
        }
        found = find_repetitions(DocumentId(f"{number}.md"), earlier)
        runs += sum(r.is_verbatim for r in found)
        words += len(text.split())
    return words, runs


def find_planted(
    chapters: Sequence[str], count: int, dice: random.Random
) -> tuple[int, int]:
    """Return how many planted runs were found, of how many."""
    hits = 0
    for _ in range(count):
        source, target = dice.sample(range(len(chapters)), 2)
        words = chapters[source].split()
        size = dice.randint(RUN_WORDS + 3, 40)
        start = dice.randrange(max(1, len(words) - size))
        planted = " ".join(words[start : start + size])
        draft = f"{chapters[target]}\n\n{planted}\n"
        texts = {
            DocumentId("draft.md"): draft,
            DocumentId("source.md"): chapters[source],
        }
        at = len(chapters[target])
        hits += any(
            r.is_verbatim and r.span.end > at
            for r in find_repetitions(DocumentId("draft.md"), texts)
        )
    return hits, count


DRAFT = DocumentId("draft.md")
CHANGED = "seventeen"


def count_numbers(chapters: Sequence[str]) -> tuple[int, int, int]:
    """Return how many numbers of things differ from those of other chapters; how many
    stand in two chapters; and how many of these are found after a change in one of them.

    Measures are not changed: what is left of their sentence has too few words.
    """
    differing = repeated = hits = 0
    for number, text in enumerate(chapters):
        others = {
            DocumentId(f"{n}.md"): other
            for n, other in enumerate(chapters)
            if n != number
        }
        things = list(list_counted_things(text))
        differing += len(compare_counts(DRAFT, {DRAFT: text, **others}).differing)
        for thing in things:
            if thing.is_measure:
                continue
            sentence = text[thing.sentence.start : thing.sentence.end]
            start = thing.span.start - thing.sentence.start
            changed = f"{sentence[:start]}{CHANGED} {thing.words.split()[-1]}."
            same = {DRAFT: sentence, **others}
            if thing.words.casefold() not in " ".join(others.values()).casefold():
                continue
            if compare_counts(DRAFT, same).differing:
                continue
            repeated += 1
            hits += bool(compare_counts(DRAFT, {DRAFT: changed, **others}).differing)
    return differing, repeated, hits


def main(options: argparse.Namespace) -> int:
    dice, novels = random.Random(options.seed), read_novels(options.data)
    started = time.process_time()
    voices = measure_voices(novels, options.words, dice)
    print(json.dumps({name: round(auc, 3) for name, auc in voices.items()}))
    auc = sum(voices.values()) / len(voices)
    words = runs = 0
    for name, chapters in novels.items():
        own_words, own_runs = count_runs(chapters)
        print(name, own_words, own_runs, file=sys.stderr, flush=True)
        words, runs = words + own_words, runs + own_runs
    counts = [count_numbers(chapters) for chapters in novels.values()]
    differing, repeated, hits = (sum(column) for column in zip(*counts, strict=True))
    longer = [c for c in novels.values() if len(c) > 3]
    found = [
        find_planted(dice.choice(longer), 1, dice)[0] for _ in range(options.plant)
    ]
    figures = {
        "novels": len(novels),
        f"AUC at {options.words} words": round(auc, 3),
        "lowest AUC": round(min(voices.values()), 3),
        f"runs of {RUN_WORDS} words per 1,000 words": round(runs / words * 1000, 3),
        "planted runs found": round(sum(found) / max(1, len(found)), 4),
        "differing numbers per 1,000 words": round(differing / words * 1000, 3),
        "changed numbers": repeated,
        "changed numbers found": round(hits / max(1, repeated), 3),
        "CPU seconds": round(time.process_time() - started, 1),
    }
    print(json.dumps(figures))
    return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("--words", type=int, default=800)
    parser.add_argument("--plant", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    sys.exit(main(parser.parse_args()))
