"""Precision and recall of `lrwr check`: `python -m bench.inside.continuity DATA [SET]`.

SET is `first` (all figures), `second`, `third` or `fourth`: those plant other sentences
in other novels, and nothing else is measured.
"""

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.inside import slips
from bench.inside.roster import collect_evidence
from bench.inside.wordings import SECOND, THIRD, Wordings
from bench.inside.wordings_fourth import FOURTH
from lrwr.core.adapters.analyst.rules import RulesAnalyst
from lrwr.core.adapters.source.parser import ManuscriptParser
from lrwr.core.adapters.source.text import find_sentence_spans
from lrwr.core.bible.projection import StoryKnowledge
from lrwr.core.canon.model import Canon
from lrwr.core.continuity.contradictions import find_contradictions
from lrwr.core.model.documents import Document, DocumentId, DocumentOutline
from lrwr.core.model.text import Span
from lrwr.core.nlp.names.inference import infer_cast
from lrwr.core.ports.models import Excerpt
from lrwr.core.ports.stores import DocumentText
from lrwr.core.ports.story_stores import DocumentFact
from lrwr.core.retrieval.story import build_story_order

EVERY, FIRST = 6, 4
"""Of the novels in order of their folders: which ones are planted in."""

HELD_OUT: Mapping[str, tuple[Wordings, tuple[int, ...]]] = {
    "second": (SECOND, (3, 8, 9, 12)),
    "third": (THIRD, (0, 2, 7, 13, 18)),
    "fourth": (FOURTH, (1, 6, 14, 15)),
}
"""Sentences and novels, by their place, of which neither mended a rule before."""

PEOPLE = 8


@dataclass
class Count:
    """Counts for sentences that were inserted into novels.

    `right` is the number of reports of inserted contradictions, `wrong` that of false
    reports. `planted` is the number of inserted contradictions, `harmless` that of
    other inserted sentences.
    """

    right: int = 0
    wrong: int = 0
    planted: int = 0
    harmless: int = 0

    def add(self, other: "Count") -> None:
        """Add the counts of another novel to these."""
        self.right += other.right
        self.wrong += other.wrong
        self.planted += other.planted
        self.harmless += other.harmless


def measure(data: Path) -> dict[str, float]:
    """Return figures by name, measured on the folder of benchmark data `data`.

    They are precision and recall (0.0 to 1.0) for inserted contradictions, and counts
    of false reports in unchanged novels, in the sample and for new lines.
    """
    folders = sorted((data / "novels" / "dev").iterdir())
    total, unchanged = Count(), 0
    for folder in folders:
        unchanged += len(report_novel(folder / "chapters", {}, {})[0])
    with_notes = 0
    for folder in folders[FIRST::EVERY]:
        count, false = _planted(folder)
        total.add(count)
        with_notes += false
    return {
        "novels_unchanged": len(folders),
        "false_reports_unchanged": unchanged,
        "false_reports_unchanged_with_notes": with_notes,
        **_figures(total),
        **_sample(Path(__file__).parents[2] / "examples"),
        **_new_lines(data / "continuity" / "dev" / "newline_vs_canon.jsonl"),
    }


def measure_held_out(data: Path, name: str) -> dict[str, float]:
    """Return figures by name for a set of contradictions that no rule was adapted to.

    `name` is a key of `HELD_OUT`, `data` the folder of benchmark data. Precision and
    recall are between 0.0 and 1.0.
    """
    wordings, places = HELD_OUT[name]
    folders = sorted((data / "novels" / "dev").iterdir())
    total, with_notes = Count(), 0
    for place in places:
        count, false = _planted(folders[place], wordings)
        total.add(count)
        with_notes += false
    return {**_figures(total), "false_reports_unchanged_with_notes": with_notes}


def _figures(total: Count) -> dict[str, float]:
    reports = total.right + total.wrong
    return {
        "planted": total.planted,
        "harmless": total.harmless,
        "reports": reports,
        "precision": total.right / max(1, reports),
        "recall": total.right / max(1, total.planted),
    }


def _planted(folder: Path, wordings: Wordings = slips.FIRST) -> tuple[Count, int]:
    _, people = report_novel(folder / "chapters", {}, {}, looks=True)
    cast = slips.choose_people(people, PEOPLE)
    notes = slips.write_notes(cast)
    unchanged, _ = report_novel(folder / "chapters", notes, {})
    planted = list(slips.sentences(cast, wordings))
    reports, _ = report_novel(folder / "chapters", notes, _placed(folder, planted))
    wanted = {one.text: one for one in planted}
    count = Count(
        planted=sum(one.slip for one in planted),
        harmless=sum(not one.slip for one in planted),
    )
    found: set[str] = set()
    for passage in _passages(reports):
        hit = next((one for text, one in wanted.items() if text in passage), None)
        right = hit is not None and hit.slip
        count.right += right
        count.wrong += not right
        found.add(hit.text if hit else passage)
        if not right:
            print(f"  false: {passage!r}")
    for one in planted:
        if one.slip and one.text not in found:
            print(f"  missed: {one.text}")
    print(f"{folder.name}: {count}, with notes alone {len(unchanged)}")
    for report in unchanged:
        print(f"  with notes alone: {json.dumps(report, ensure_ascii=False)[:600]}")
    return count, len(unchanged)


def _passages(reports: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield each passage that is said to be wrong, once."""
    seen = set()
    for report in reports:
        for place in report["found"]["evidence"]:
            key = (place["file"], str(place["chars"]), report["attribute"])
            if key not in seen:
                seen.add(key)
                yield " ".join(place["text"].split())


def _placed(
    folder: Path, planted: Sequence[slips.Planted]
) -> dict[str, dict[int, list[str]]]:
    """Spread sentences over the last third of the chapters, behind plain paragraphs."""
    chapters = sorted((folder / "chapters").glob("*.md"))
    places: dict[str, dict[int, list[str]]] = {}
    late = [
        (path.name, number)
        for path in chapters[-(len(chapters) // 3) :]
        for number, text in enumerate(path.read_text(encoding="utf-8").split("\n\n"))
        if number and re.fullmatch(r"[A-Z][^\"“”‘*_#>]{80,}\.\s*", text)
    ]
    step = max(1, len(late) // len(planted))
    for number, one in enumerate(planted):
        name, place = late[number * step % len(late)]
        places.setdefault(name, {}).setdefault(place, []).append(one.text)
    return places


def report_novel(
    chapters: Path,
    notes: Mapping[str, str],
    planted: Mapping[str, Mapping[int, Sequence[str]]],
    *,
    looks: bool = False,
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Ingest a copy of the novel; return what is reported, and who is in it.

    With `looks`, what is known of the main characters, too.
    """
    with tempfile.TemporaryDirectory() as place:
        root = Path(place)
        shutil.copytree(chapters, root / "book" / "chapters")
        for name, inserted in planted.items():
            path = root / "book" / "chapters" / name
            parts = path.read_text(encoding="utf-8").split("\n\n")
            for number in sorted(inserted, reverse=True):
                parts[number + 1 : number + 1] = inserted[number]
            path.write_text("\n\n".join(parts), encoding="utf-8")
        for name, text in notes.items():
            path = root / "book" / "notes" / "characters" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        _lrwr(root, "ingest", "book")
        found = json.loads(_lrwr(root, "check", "--json"))
        people = json.loads(_lrwr(root, "characters", "--json"))
        for one in people[: 2 * PEOPLE] if looks else ():
            known = json.loads(_lrwr(root, "characters", one["name"], "--json"))
            one["attributes"] = known.get("attributes", []) if known else []
    return found, people


def _lrwr(root: Path, *words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "lrwr", *words],
        cwd=root,
        env={**os.environ, "LRWR_EMBEDDING_MODEL": "off"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode not in (0, 9):
        raise SystemExit(done.stderr)
    return done.stdout


def _sample(examples: Path) -> dict[str, float]:
    """Return how many of the sample's slips are reported, and what else is."""
    text = (examples / "marsh-lantern.features.toml").read_text(encoding="utf-8")
    wanted = tomllib.loads(text)["slip"]
    with tempfile.TemporaryDirectory() as place:
        shutil.copytree(examples / "marsh-lantern", Path(place) / "book")
        _lrwr(Path(place), "ingest", "book")
        found = json.loads(_lrwr(Path(place), "check", "--json"))
    passages = list(_passages(found))
    hit = sum(any(slip["b"]["quote"] in p for p in passages) for slip in wanted)
    return {
        "sample_slips": len(wanted),
        "sample_found": hit,
        "sample_false": len(found) - hit,
    }


def _new_lines(path: Path) -> dict[str, float]:
    """Return how lines held against a story's summary are judged."""
    right = wrong = contradicting = 0
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        files = {"1.md": row["canon"], "2.md": row["new_line"]}
        contradictions = find_contradictions(build_knowledge(files))
        contradicting += bool(row["contradicts"])
        right += bool(contradictions and row["contradicts"])
        wrong += bool(contradictions and not row["contradicts"])
    return {
        "new_lines_contradicting": contradicting,
        "new_lines_reported": right,
        "new_lines_false": wrong,
    }


def build_knowledge(files: Mapping[str, str]) -> StoryKnowledge:
    """Return the story data that rules extract from `files`.

    They map names to texts; each text becomes one chapter, titled with its name.
    """
    parse = ManuscriptParser()
    documents = [
        parse(DocumentId(n), f"# {n}\n\n{t}".encode()) for n, t in files.items()
    ]
    cast = infer_cast(collect_evidence(documents))
    names = tuple(
        alias.name for character in cast.characters for alias in character.aliases
    )
    facts = tuple(k for d in documents for k in asyncio.run(_facts(d, names)))
    outlines = [
        DocumentOutline(d.id, d.type, d.title, d.words, d.order, d.chapters)
        for d in documents
    ]
    return StoryKnowledge(
        order=build_story_order(outlines, []),
        texts={d.id: DocumentText(d.text, d.lines) for d in documents},
        cast=cast,
        facts=facts,
        canon=Canon(),
    )


async def _facts(document: Document, names: tuple[str, ...]) -> list[DocumentFact]:
    span = Span(0, len(document.text))
    excerpt = Excerpt(span, document.text, "", names, "")
    finding, _ = await RulesAnalyst(find_sentence_spans).extract(excerpt)
    return [DocumentFact(document.id, fact) for fact in finding.facts]


if __name__ == "__main__":
    given, which = Path(sys.argv[1]), (sys.argv[2:] or ["first"])[0]
    said = measure(given) if which == "first" else measure_held_out(given, which)
    print(json.dumps({k: round(v, 4) for k, v in said.items()}))
