"""Contradictions planted in a draft: whether its check reports what `lrwr check`
reports once the draft is a file of the manuscript, and what the check costs.

Run: python -m bench.draft_slips DATA WORK [--novels 0,2,7,13,18] [--people 8].

DATA has `novels/dev/NAME/*.md`; WORK is the folder of libraries of `bench.briefs`.
The draft consists of sentences of `bench.inside.slips` about people of the novel, whose
notes are added first.
"""

import argparse
import asyncio
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from bench.briefs import EMBEDDING_OFF, ingest_novel
from bench.inside import slips
from bench.inside.wordings import THIRD
from lrwr.app.container import Workspace, open_workspace
from lrwr.app.continuity import list_findings
from lrwr.app.draft_check import check_scene, find_draft_subject
from lrwr.app.drafts import open_draft_folder
from lrwr.app.ingestion import ingest_manuscript
from lrwr.app.pending_changes import IngestTargets
from lrwr.app.presenters.story_json import profile_as_json
from lrwr.core.continuity.statements import Contradiction
from lrwr.core.model.documents import DocumentId
from lrwr.core.settings.loader import load_settings

TARGET = "manuscript/chapters/zz-draft.md"


def describe(contradictions: Sequence[Contradiction], name: str) -> set[str]:
    """Return the contradictions that involve the draft `name`, as comparable texts."""
    rows = set()
    for contradiction in contradictions:
        sides = (contradiction.canon, contradiction.found)
        words = [
            "draft: " + e.text if e.document == name else f"{e.document}: {e.text}"
            for side in sides
            for e in side.evidence
        ]
        if any(word.startswith("draft: ") for word in words):
            values = (contradiction.about, contradiction.attribute)
            rows.add(json.dumps([*values, *(side.value for side in sides), *words]))
    return rows


async def _ingest(workspace: Workspace) -> None:
    targets = IngestTargets((workspace.library.root / "manuscript",), named=True)
    await ingest_manuscript(workspace, targets, lambda _: None)


async def measure_novel(root: Path, people: int) -> dict[str, object]:
    settings = load_settings(root, os.environ, EMBEDDING_OFF)
    async with open_workspace(settings) as workspace:
        bible = await workspace.bible().read()
        rows = [profile_as_json(person, bible) for person in bible.characters[:40]]
        cast = slips.choose_people(rows, people)
        notes = root / "manuscript" / "notes" / "characters"
        notes.mkdir(parents=True)
        for name, text in slips.write_notes(cast).items():
            (notes / name).write_text(text, encoding="utf-8")
        await _ingest(workspace)
        planted = list(slips.sentences(cast, THIRD))
        draft = root / "draft.md"
        draft.write_text(
            "# The End\n\n" + "\n\n".join(p.text for p in planted) + "\n", "utf-8"
        )
        folder = open_draft_folder(workspace)
        target = root / TARGET
        subject = await find_draft_subject(workspace, folder, str(draft), to=target)
        started = time.process_time()
        with tempfile.TemporaryDirectory() as place:
            checked = await check_scene(workspace, subject, Path(place), lambda _: None)
        seconds = time.process_time() - started
        words = (await workspace.passages.counts(settings.pipeline)).words
        shutil.copyfile(draft, target)
        await _ingest(workspace)
        accepted = await list_findings(workspace)
    before = describe(checked.contradictions, subject.name)
    after = describe(accepted, DocumentId(TARGET))
    found = sum(any(p.text[:60] in row for row in before) for p in planted if p.slip)
    return {
        "novel": root.name,
        "words": words,
        "planted": sum(p.slip for p in planted),
        "found": found,
        "check": len(before),
        "accepted": len(after),
        "different": sorted(before ^ after),
        "CPU seconds": round(seconds, 2),
    }


async def run(options: argparse.Namespace) -> int:
    novels = sorted((options.data / "novels" / "dev").iterdir())
    results = []
    for place in map(int, options.novels.split(",")):
        root = await ingest_novel(novels[place], options.work)
        copy = options.work / f"slips-{root.name}"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(root, copy)
        results.append(await measure_novel(copy, options.people))
        print(json.dumps(results[-1]), flush=True)
        shutil.rmtree(copy)
    different = sum(bool(result["different"]) for result in results)
    checks = sum(int(str(result["check"])) for result in results)
    print(json.dumps({"novels": len(results), "different": different, "found": checks}))
    return 1 if different else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--novels", default="0,2,7,13,18")
    parser.add_argument("--people", type=int, default=8)
    sys.exit(asyncio.run(run(parser.parse_args())))
