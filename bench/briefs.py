"""Briefs of chapters of whole novels as scenes to come: their horizon, their length,
and whether those who return have their last scene in them.

Run: python -m bench.briefs DATA WORK [--every 4] [--tokens 4000] [--novels 19].

DATA has `novels/dev/NAME/*.md`; WORK is a folder for libraries, which are reused. Names
are found by rules, and no embedding model runs. One chapter in `--every` is taken.
"""

import argparse
import asyncio
import json
import os
import shutil
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from lrwr.app.container import Workspace, open_workspace
from lrwr.app.drafts import brief_card, open_draft_folder
from lrwr.app.ingestion import ingest_manuscript
from lrwr.app.pending_changes import IngestTargets
from lrwr.core.bible.values import SceneSummary
from lrwr.core.drafting.board import Board, SceneCard, ScenePlace
from lrwr.core.drafting.brief import Brief, count_brief_tokens
from lrwr.core.settings.loader import load_settings

ABSENCE = 3
"""Chapters from one appearance to the next that make it a return: two lie between."""
MOST_BEATS = 4
"""Beats of a card: sentences of the chapter itself, whose words are searched before it."""
EMBEDDING_OFF = {"embedding.model": "off"}


async def ingest_novel(novel: Path, work: Path) -> Path:
    """Return the folder of a library with the novel."""
    root = work / novel.name
    if not (root / ".lrwr" / "library.db").exists():
        root.mkdir(parents=True, exist_ok=True)
        shutil.copytree(novel, root / "manuscript", dirs_exist_ok=True)
        settings = load_settings(root, os.environ, EMBEDDING_OFF)
        async with open_workspace(settings) as workspace:
            targets = IngestTargets((root / "manuscript",), named=True)
            await ingest_manuscript(workspace, targets, lambda _: None)
    return root


def last_scenes(
    scenes: Sequence[SceneSummary], chapter: int, people: Sequence[str]
) -> dict[str, SceneSummary]:
    """Return the last scene before `chapter` of each of `people` who was away."""
    found = {}
    for name in people:
        earlier = [s for s in scenes if name in s.present and s.chapter < chapter]
        if earlier and chapter - earlier[-1].chapter >= ABSENCE:
            found[name] = earlier[-1]
    return found


def has_last_scene(brief: Brief, name: str, scene: SceneSummary) -> bool:
    place = f"{scene.document}:{scene.lines.first}-{scene.lines.last}"
    return any(
        item.place == place
        and name.split()[-1] in item.text.partition(" last there in ")[0]
        for item in brief.items
    )


async def measure_novel(
    workspace: Workspace, every: int, tokens: int, counts: Counter[str]
) -> list[str]:
    missed = []
    scenes = (await workspace.bible().read()).scenes
    chapters = sorted({scene.chapter for scene in scenes})
    folder = open_draft_folder(workspace)
    for chapter in chapters[1::every]:
        own = [scene for scene in scenes if scene.chapter == chapter]
        people = tuple(dict.fromkeys(name for s in own for name in s.present))
        at = ScenePlace(own[0].document, own[0].lines.first, own[0].lines.last)
        keys = [key.text for scene in own for key in scene.key_sentences[:1]]
        beats = tuple(" ".join(key.split()) for key in keys[:MOST_BEATS])
        title = f"Chapter {chapter}"
        card = SceneCard(id="next", title=title, people=people, beats=beats, at=at)
        brief = await brief_card(workspace, folder, Board((card,)), 0, tokens)
        counts["briefs"] += 1
        counts["too long"] += count_brief_tokens(brief) > tokens
        for item in brief.items:
            counts["items"] += 1
            if item.evidence is not None:
                late = (item.evidence.chapter or 0) >= chapter
                counts["items after the horizon"] += late
                counts["items from notes"] += item.evidence.chapter is None
        for name, scene in last_scenes(scenes, chapter, people).items():
            counts["returns"] += 1
            if has_last_scene(brief, name, scene):
                counts["returns with their last scene"] += 1
            else:
                missed.append(f"{workspace.library.root.name} {chapter} {name}")
    return missed


async def run(options: argparse.Namespace) -> int:
    counts: Counter[str] = Counter()
    missed: list[str] = []
    novels = sorted((options.data / "novels" / "dev").iterdir())[: options.novels]
    for novel in novels:
        started = time.process_time()
        root = await ingest_novel(novel, options.work)
        settings = load_settings(root, os.environ, EMBEDDING_OFF)
        async with open_workspace(settings) as workspace:
            missed += await measure_novel(
                workspace, options.every, options.tokens, counts
            )
        seconds = time.process_time() - started
        print(novel.name, dict(counts), f"{seconds:.1f} s", file=sys.stderr, flush=True)
    share = counts["returns with their last scene"] / max(1, counts["returns"])
    print(json.dumps({**counts, "share of returns": round(share, 4), "missed": missed}))
    return 0 if not counts["items after the horizon"] + counts["too long"] else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--every", type=int, default=4)
    parser.add_argument("--tokens", type=int, default=4_000)
    parser.add_argument("--novels", type=int, default=19)
    sys.exit(asyncio.run(run(parser.parse_args())))
