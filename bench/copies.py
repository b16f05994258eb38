"""Puts conflict copies and merge markers beside a manuscript: nothing may change.

Run: python -m bench.copies [FOLDER] [--seed 1] [--share 0.01].

A copy of the folder is ingested. Then chapters get edited copies, named by each of the
schemes in `NAMES`, and one chapter gets git conflict markers. After another ingestion
lrwr must say the same about chapters, characters, mentions, quotations and the story up
to several chapters. `--share` is the share of words that an edit of a copy changes.
"""

import argparse
import json
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.children import environment, lrwr

SAMPLE = Path(__file__).parent.parent / "examples" / "marsh-lantern"
NAMES = {
    "Syncthing": "{stem}.sync-conflict-20261123-101500-ABCDEFG{ending}",
    "Dropbox": "{stem} (Nell's conflicted copy 2026-11-23){ending}",
    "Nextcloud": "{stem} (conflicted copy 2026-11-23 101500){ending}",
    "ownCloud": "{stem}_conflict-20261123-101500{ending}",
    "OneDrive": "{stem}-DESKTOP-4F5G6H7{ending}",
    "iCloud": "{stem} 2{ending}",
    "Google Drive": "{stem} (1){ending}",
    "Google Drive, copied": "Copy of {stem}{ending}",
    "Seafile": "{stem} (SFConflict nell@marsh.example 2026-11-23-10-15-00){ending}",
    "Obsidian Sync": "{stem} (Conflicted copy iPad 202611231015){ending}",
    "Synology Drive": "{stem}_DiskStation_Nov-23-101500-2026_Conflict{ending}",
    "Windows": "{stem} - Copy{ending}",
}
CONFLICT = "\n<<<<<<< HEAD\nHe came.\n=======\nHe went.\n>>>>>>> other\n"
PARTIAL = 7
"""Exit code of an ingestion in which a file could not be read."""


class CopyTrial:
    """A copy of a manuscript in the folder `place`, with a library of its own."""

    def __init__(self, source: Path, place: Path) -> None:
        self.folder = place / "book"
        self._environment = environment(place, {"LRWR_EMBEDDING_MODEL": "off"})
        shutil.copytree(source, self.folder, ignore=shutil.ignore_patterns(".lrwr*"))

    def run(self, *words: str, expected: int = 0) -> str:
        """Run lrwr in the manuscript, and return what it prints on stdout.

        Raises:
            RuntimeError: It exited with another code than `expected`.
        """
        done = subprocess.run(
            [*lrwr(), *words],
            cwd=self.folder,
            env=self._environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != expected:
            raise RuntimeError(f"{words} ended with {done.returncode}: {done.stderr}")
        return done.stdout

    def chapters(self) -> list[Path]:
        """Return the text files of the story, in story order."""
        return [
            self.folder / row["file"]
            for row in self._order()
            if row["file"].endswith(".md")
        ]

    def _order(self) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = json.loads(
            self.run("canon", "order", "--show", "--json")
        )
        return rows

    def answers(self) -> dict[str, object]:
        """Return what lrwr says about the story, by command, as parsed JSON."""
        last = max(number for row in self._order() for number in row["chapters"])
        horizons = sorted({1, 2, max(1, last // 2), last})
        commands = [
            "canon order --show", "characters", "quotes", "relations", "timeline",
            "world", "gaps", *(f"characters --as-of ch{n}" for n in horizons),
            *(f"timeline --as-of ch{n}" for n in horizons),
        ]  # fmt: skip
        return {
            command: json.loads(self.run(*command.split(), "--json"))
            for command in commands
        }

    def skipped(self) -> set[str]:
        """Return the paths of the conflict copies that `lrwr status` lists."""
        status = json.loads(self.run("status", "--json"))
        rows = status["skipped"]
        return {row["path"] for row in rows if row["cause"] == "conflict copy"}


def write_copies(
    chapters: Sequence[Path], dice: random.Random, share: float
) -> Iterator[tuple[str, Path]]:
    """Write one edited copy of a random chapter for each scheme of `NAMES`.

    Yields the scheme and the path of the copy. `share` is the share of words that is
    replaced.
    """
    for scheme, name in NAMES.items():
        original = dice.choice(chapters)
        words = original.read_text(encoding="utf-8").split(" ")
        for at in dice.sample(range(len(words)), round(share * len(words))):
            words[at] = "lantern"
        copy = original.with_name(
            name.format(stem=original.stem, ending=original.suffix)
        )
        copy.write_text(" ".join(words), encoding="utf-8")
        yield scheme, copy


def run_trial(
    source: Path, place: Path, *, seed: int, share: float
) -> Mapping[str, object]:
    """Return what was skipped, and the commands whose answers changed."""
    dice, trial = random.Random(seed), CopyTrial(source, place)
    trial.run("ingest", ".")
    before, chapters = trial.answers(), trial.chapters()
    copies = dict(write_copies(chapters, dice, share))
    trial.run("ingest")
    skipped, after_copies = trial.skipped(), trial.answers()
    marked = dice.choice(chapters)
    with marked.open("a", encoding="utf-8") as file:
        file.write(CONFLICT)
    (trial.folder / "zz-new.md").write_text(CONFLICT, encoding="utf-8")
    trial.run("ingest", expected=PARTIAL)
    after_markers = trial.answers()
    return {
        "chapters": len(chapters),
        "copies": len(copies),
        "read as chapters": [
            scheme
            for scheme, copy in copies.items()
            if copy.relative_to(trial.folder).as_posix() not in skipped
        ],
        "changed by copies": [c for c in before if before[c] != after_copies[c]],
        "changed by markers": [c for c in before if before[c] != after_markers[c]],
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, print one JSON object, and return 0 if nothing changed, else 1.

    `arguments` are those of the command line; None reads them from there.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=SAMPLE)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--share", type=float, default=0.01)
    args = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as place:
        found = run_trial(
            args.folder.resolve(), Path(place), seed=args.seed, share=args.share
        )
    print(json.dumps(found, indent=2))
    held = not any(isinstance(value, list) and value for value in found.values())
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
