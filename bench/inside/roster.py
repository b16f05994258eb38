"""Accuracy of casts inferred from names: `python -m bench.inside.roster DATA`."""

import importlib
import json
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from types import ModuleType
from typing import Any

from lrwr.core.adapters.source.parser import ManuscriptParser
from lrwr.core.model.cast import Cast
from lrwr.core.model.documents import Document, DocumentId
from lrwr.core.nlp.names.evidence import NameEvidence, gather_name_evidence
from lrwr.core.nlp.names.inference import infer_cast
from lrwr.core.nlp.names.mentions import find_mentions


def measure(data: Path) -> dict[str, float]:
    """Score the inferred characters and aliases of all novels.

    Return the mean of each figure by name; those that start with "openings" are of
    excerpts in the LitBank data. `data` is the folder of benchmark data. Prints a line
    for each novel.
    """
    roster = import_scorer(data, "roster_score")
    lines = [_novel(roster, data, gold) for gold in _golds(data)]
    means = {key: fmean(line[key] for line in lines) for key in lines[0]}
    return {**means, **_openings(import_scorer(data, "litbank_score"), data)}


def import_scorer(data: Path, name: str) -> ModuleType:
    """Import and return the scorer `name`, a module beside the folder `data`."""
    folder = str(data.parent / "score")
    if folder not in sys.path:
        sys.path.insert(0, folder)
    return importlib.import_module(name)


def read_novel(folder: Path) -> list[Document]:
    """Return the parsed chapters of the novel in `folder`, by file name."""
    parse = ManuscriptParser()
    return [
        parse(DocumentId(path.name), path.read_bytes())
        for path in sorted((folder / "chapters").glob("*.md"))
    ]


def collect_evidence(documents: Sequence[Document]) -> list[NameEvidence]:
    """Return the evidence for names in the scenes of each document, in their order."""
    found = []
    for document in documents:
        scenes = (scene for chapter in document.chapters for scene in chapter.scenes)
        parts = [part for scene in scenes for part in scene.parts]
        found.append(gather_name_evidence(document.text, parts))
    return found


def cast_as_json(cast: Cast) -> list[dict[str, Any]]:
    """Return the characters of `cast` as objects with `name` and `aliases`, a list."""
    return [
        {"name": character.name, "aliases": [alias.name for alias in character.aliases]}
        for character in cast.characters
    ]


def _golds(data: Path) -> list[Path]:
    return sorted((data / "characters" / "dev").glob("*/roster.json"))


def _novel(roster: ModuleType, data: Path, path: Path) -> dict[str, float]:
    name = path.parent.name
    documents = read_novel(data / "novels" / "dev" / name)
    start = time.process_time()
    evidence = collect_evidence(documents)
    gathered = time.process_time()
    cast = infer_cast(evidence)
    made = time.process_time()
    for document in documents:
        parts = [s.span for chapter in document.chapters for s in chapter.scenes]
        find_mentions(document.text, parts, cast)
    ended = time.process_time()
    words = sum(one.words_read for one in evidence)
    gold = json.loads(path.read_text(encoding="utf-8"))
    score = roster.score(gold, cast_as_json(cast))
    line = _line(score, gold, cast)
    line["words_per_second_gathered"] = words / (gathered - start)
    line["seconds_to_make_cast"] = made - gathered
    line["words_per_second_mentions"] = words / (ended - made)
    shown = " ".join(f"{key}={value:.3g}" for key, value in line.items())
    print(f"{name:30} {shown}")
    return line


def _line(score: Mapping[str, Any], gold: Any, cast: Cast) -> dict[str, float]:
    strict, cubed = score["strict"], score["bcubed"]
    right, asked = _genders(gold["characters"], cast)
    return {
        "listed": score["pred"],
        "strict_p": strict["precision"],
        "strict_r": strict["recall"],
        "strict_f1": strict["f1"],
        "lenient_f1": score["lenient"]["f1"],
        "recall_major": strict["recall_major"],
        "recall_mentioned": strict["recall_mentioned"],
        "split": score["split"],
        "merged": score["merged"],
        "bcubed_p": cubed["p"],
        "bcubed_r": cubed["r"],
        "bcubed_f1": cubed["f1"],
        "gender_right": right / max(1, asked),
    }


def _genders(gold: Sequence[Mapping[str, Any]], cast: Cast) -> tuple[int, int]:
    """Count characters whose gender is told, and told rightly."""
    told = {
        alias.name.lower(): character.gender.value[0].upper()
        for character in cast.characters
        for alias in character.aliases
        if character.gender.value != "unknown"
    }
    pairs = [
        (one["gender"], told[name.lower()])
        for one in gold
        for name in [one["name"], *one["aliases"]][:1]
        if name.lower() in told and one["gender"] in ("M", "F")
    ]
    return sum(one == other for one, other in pairs), len(pairs)


def _openings(litbank: ModuleType, data: Path) -> dict[str, float]:
    scores = []
    for path in sorted((data / "characters_litbank" / "dev").glob("*.json")):
        gold = json.loads(path.read_text(encoding="utf-8"))
        document = ManuscriptParser()(
            DocumentId(path.stem + ".md"), path.with_suffix(".md").read_bytes()
        )
        evidence = collect_evidence([document])
        people = cast_as_json(infer_cast(evidence))
        scores.append(litbank.score(gold, {"people": people, "places": []}))
    return {
        f"openings_people_{key}": fmean(score["people"][key] for score in scores)
        for key in ("precision", "recall", "f1", "recall_by_mentions")
    }


if __name__ == "__main__":
    print(json.dumps({k: round(v, 4) for k, v in measure(Path(sys.argv[1])).items()}))
