"""The folder of benchmark data. Nothing here writes to it."""

import json
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.children import REPO

EXAMPLE = REPO / "examples" / "marsh-lantern"
SUFFIXES = (".md", ".docx", ".txt")


@dataclass(frozen=True, slots=True)
class DataFolder:
    """The folder of benchmark data, `root`.

    If it is None, there is only the sample manuscript.
    """

    root: Path | None

    def manuscript(self) -> Path:
        """Return the first manuscript folder by name, else the sample's."""
        for folder in _folders(self._side("manuscript")):
            return folder
        return EXAMPLE

    def novels(self) -> list[Path]:
        """Return the folders of whole novels, sorted by name; empty if there are none."""
        return _folders(self._side("novels"))

    def novel_root(self) -> Path | None:
        """Return the folder that contains the novels; None if it is missing."""
        return self._side("novels")

    def tales(self) -> Path | None:
        """Return the folder of the fairy tales; None if it is missing."""
        return self._found("retrieval", "fairytale/stories")

    def questions(self, name: str) -> Path | None:
        """Return the file of the question set `name`; None if it is missing.

        Names are `fairytale`, `novel_dialogue`, `asof` and `contact`.
        """
        if name in ("asof", "contact"):
            end = "_retrieval" if name == "asof" else ""
            return self._found("temporal", f"{name}{end}.jsonl")
        return self._found("retrieval", f"{name}/questions.jsonl")

    def scorer(self) -> Path | None:
        """Return the scorer's script beside the data folder; None if it is missing."""
        if self.root is None:
            return None
        path = self.root.parent / "score" / "retrieval_score.py"
        return path if path.is_file() else None

    def _side(self, kind: str) -> Path | None:
        if self.root is None or not (self.root / kind).is_dir():
            return None
        if (self.root / kind / "dev").is_dir():
            return self.root / kind / "dev"
        return next(iter(_folders(self.root / kind)), None)

    def _found(self, kind: str, name: str) -> Path | None:
        side = self._side(kind)
        return side / name if side and (side / name).exists() else None


def read_lines(path: Path) -> list[dict[str, Any]]:
    """Return the objects of a JSON Lines file, in the order of its lines.

    Blank lines are skipped.
    """
    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def write_lines(path: Path, objects: list[dict[str, Any]]) -> None:
    """Replace `path` by a JSON Lines file of `objects`, one a line."""
    text = "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in objects)
    path.write_text(text, encoding="utf-8")


def copy_in(sources: Mapping[str, Path], target: Path) -> None:
    """Copy manuscript files into subfolders of `target`.

    `sources` maps the name of each subfolder to the folder whose files it gets. Hidden
    files, other file types and file permissions are not copied.
    """
    for name, source in sources.items():
        for path in _texts(source):
            copy = target / name / path.relative_to(source)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)


def _texts(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if path.is_file() and path.suffix.lower() in SUFFIXES and not hidden:
            yield path


def _folders(parent: Path | None) -> list[Path]:
    if parent is None:
        return []
    return sorted(path for path in parent.iterdir() if path.is_dir())
