"""Unchanged chapters of novels as drafts: how often their check finds a dead person who
acts, or another detail, age, trade, kinship or animal than the other chapters have.

Run: python -m bench.draft_details DATA WORK [--every 4] [--novels 19].

DATA has `novels/dev/NAME/*.md`; WORK is the folder of libraries of `bench.briefs`. One
chapter in `--every` is taken. Each finding is false: the chapter is part of the novel.
"""

import argparse
import asyncio
import json
import os
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

from bench.briefs import EMBEDDING_OFF, ingest_novel
from lrwr.app.container import Workspace, open_workspace
from lrwr.app.draft_claims import DraftClaimFinder
from lrwr.core.drafting.findings import DraftContext, FindingKind
from lrwr.core.drafting.inspection import describe_other_looks, find_new_names
from lrwr.core.drafting.people_check import find_wrong_people
from lrwr.core.settings.loader import load_settings


async def measure_novel(
    workspace: Workspace, every: int, counts: Counter[str]
) -> list[str]:
    """Count what is found in chapters of a novel, and return it as sentences."""
    knowledge = await workspace.bible().knowledge()
    story = knowledge.order.story
    whole = DraftContext.of(knowledge, story[0], None)
    shown = []
    for at in range(1, len(story), every):
        document = story[at]
        context = replace(whole, draft=document)
        finder = DraftClaimFinder(workspace, frozenset(story[:at]), document)
        findings = await finder.find_differences(context)
        findings += [*find_wrong_people(context), *find_new_names(context)]
        texts = {name: text.text for name, text in knowledge.texts.items()}
        findings += describe_other_looks(context, texts)
        counts["chapters"] += 1
        counts["words"] += len(context.text.split())
        for finding in findings:
            if finding.kind is FindingKind.NAME:
                counts["new names"] += finding.text.count("(line ")
            else:
                counts[finding.kind.value] += 1
                shown.append(f"{document}: {finding.text}")
    return shown


async def run(options: argparse.Namespace) -> int:
    counts: Counter[str] = Counter()
    shown: list[str] = []
    novels = sorted((options.data / "novels" / "dev").iterdir())[: options.novels]
    started = time.process_time()
    for novel in novels:
        root = await ingest_novel(novel, options.work)
        settings = load_settings(root, os.environ, EMBEDDING_OFF)
        async with open_workspace(settings) as workspace:
            shown += await measure_novel(workspace, options.every, counts)
        print(novel.name, dict(counts), file=sys.stderr, flush=True)
    seconds = round(time.process_time() - started, 1)
    print(json.dumps({**counts, "CPU seconds": seconds, "findings": shown}))
    return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--every", type=int, default=4)
    parser.add_argument("--novels", type=int, default=19)
    sys.exit(asyncio.run(run(parser.parse_args())))
