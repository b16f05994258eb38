"""Who has talked with whom by a chapter: `python -m bench.inside.contact DATA WORK`.

The data say of pairs of characters whether one has spoken to the other by the end of a
chapter, in quoted speech. Compared is the story bible at that horizon: a line of one to
the other, or a scene with both. WORK holds libraries of the novels, as made by
`python -m bench --only retrieval --work WORK`.
"""

import asyncio
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from bench.data import read_lines
from lrwr.app.container import open_workspace
from lrwr.core.bible.service import find_profile_by_name
from lrwr.core.bible.values import Bible
from lrwr.core.model.errors import NotFound
from lrwr.core.settings.loader import load_settings

_ENV = {"LRWR_EMBEDDING_MODEL": "off"}


async def count_contacts(
    root: Path, rows: list[dict[str, Any]]
) -> Counter[tuple[str, str]]:
    """Count the pairs of characters of one novel, by two labels.

    The first is the true answer in `rows`, the facts about the pairs: "yes" or
    "not_yet". The second is what the story bible says: "spoke", "in one scene", "not
    yet" or "unknown so far". `root` is the folder of the novel's library.
    """
    counts: Counter[tuple[str, str]] = Counter()
    async with open_workspace(load_settings(root, _ENV, {})) as workspace:
        service = workspace.bible()
        bibles: dict[int, Bible] = {}
        for row in rows:
            chapter = int(row["asof_chapter"])
            if chapter not in bibles:
                horizon = await service.horizon(f"ch{chapter}")
                bibles[chapter] = await service.read(horizon)
            counts[row["label"], _told(row, bibles[chapter])] += 1
    return counts


def _told(row: dict[str, Any], bible: Bible) -> str:
    try:
        one = find_profile_by_name(row["character"], bible).name
        other = find_profile_by_name(row["other"], bible).name
    except NotFound:
        return "unknown so far"
    pair = {one, other}
    lines = [(line.speaker, line.addressee) for line in bible.quotes]
    if (one, other) in lines:
        return "spoke"
    if any(pair <= set(scene.present) for scene in bible.scenes):
        return "in one scene"
    return "not yet"


def main() -> None:
    data, work = Path(sys.argv[1]), Path(sys.argv[2])
    rows = list(read_lines(data / "temporal" / "dev" / "contact.jsonl"))
    whole: Counter[tuple[str, str]] = Counter()
    for novel in sorted({row["novel"] for row in rows}):
        root = work / f"novel-{novel}"
        if root.is_dir():
            own = [row for row in rows if row["novel"] == novel]
            whole += asyncio.run(count_contacts(root, own))
    for (label, what), count in sorted(whole.items()):
        print(f"{label}: {what} {count}")
    right = whole["yes", "spoke"] + sum(
        count
        for (label, what), count in whole.items()
        if label == "not_yet" and what != "spoke"
    )
    print(f"right by lines alone: {right / max(1, whole.total()):.3f}")


if __name__ == "__main__":
    main()
