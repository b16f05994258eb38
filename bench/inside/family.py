"""How `lrwr check` finds the dead who act, and parents who differ.

`python -m bench.inside.family DATA [first|second|third|fourth]`: each set inserts other
sentences into other novels.
"""

import json
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from typing import Any

from bench.inside.continuity import report_novel
from bench.inside.wordings_family import FIRST, FOURTH, SECOND, THIRD, FamilyWordings

SETS: Mapping[str, tuple[FamilyWordings, tuple[str, ...]]] = {
    "first": (
        FIRST,
        ("OliverTwist", "HardTimes", "TheTenantOfWildfellHall", "TheWayOfAllFlesh"),
    ),
    "second": (
        SECOND,
        ("MansfieldPark", "BleakHouse", "TheGreatGatsby", "AdventuresOfSherlockHolmes"),
    ),
    "third": (
        THIRD,
        ("Emma", "SenseAndSensibility", "NorthangerAbbey", "ThisSideOfParadise"),
    ),
    "fourth": (
        FOURTH,
        (
            "PrideAndPrejudice",
            "Persuasion",
            "ThePictureOfDorianGray",
            "TheSignOfTheFour",
        ),
    ),
}
"""Sentences and the novels that they are inserted into."""
DEAD, CHILDREN = 12, 10
"""The most characters of a novel who die, or have parents stated."""
MENTIONS = 4
"""Fewest mentions of those who die."""
GONE = 0.75
"""Who is last named before this share of the chapters may die."""
_FATHERS, _MOTHERS = ("Corin Vale", "Bram Ottley"), ("Ada Vale", "Mags Ottley")
_TITLES = re.compile(r"\b(?:Mr|Mrs|Miss|Lady|Sir|Lord|Dr|Captain|Colonel|the)\b\.? ?")


@dataclass
class _Plan:
    """Paragraphs to insert, by file name and number, and what each one is."""

    files: list[Path]
    inserted: dict[str, dict[int, list[str]]] = field(default_factory=dict)
    wanted: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Sentences that must be reported, with the attribute and the first sentence."""
    harmless: list[str] = field(default_factory=list)
    taken: int = 0

    def insert(self, place: int, text: str) -> None:
        """Insert a paragraph with `text` into the chapter with the number `place`."""
        path = self.files[min(place, len(self.files) - 1)]
        parts = path.read_text(encoding="utf-8").split("\n\n")
        plain = [
            at
            for at, part in enumerate(parts)
            if at and re.fullmatch(r"[A-Z][^\"“”‘*_#>]{80,}\.\s*", part)
        ] or [len(parts) - 1]
        at = plain[self.taken * 7 % len(plain)]
        self.taken += 1
        self.inserted.setdefault(path.name, {}).setdefault(at, []).append(
            f"The rain fell all that week. {text}"
        )


def measure(data: Path, name: str = "first") -> dict[str, float]:
    """Return figures by name for a set of sentences, a key of `SETS`.

    `data` is the folder of benchmark data. Recall is between 0.0 and 1.0; `false` are
    reports of harmless sentences, of anything else, and of the unchanged novels.
    """
    wordings, novels = SETS[name]
    totals = dict.fromkeys(
        ("dead", "dead_found", "parents", "parents_found", "false"), 0
    )
    for novel in novels:
        for key, count in _measure_novel(data / "novels" / "dev" / novel, wordings):
            totals[key] += count
    return {
        **totals,
        "dead_recall": totals["dead_found"] / max(1, totals["dead"]),
        "parents_recall": totals["parents_found"] / max(1, totals["parents"]),
    }


def _measure_novel(folder: Path, wordings: FamilyWordings) -> list[tuple[str, int]]:
    unchanged, people = report_novel(folder / "chapters", {}, {})
    files = sorted((folder / "chapters").glob("*.md"))
    plan = _Plan(files)
    named = [row for row in people if row["gender"] in ("male", "female")]
    named = [row for row in named if row["name"].split()[-1][0].isupper()]
    mortal = _choose_mortal(named, people, files)
    _plant_deaths(plan, mortal, wordings)
    dead = {row["name"] for row, _ in mortal}
    notes = _plant_parents(plan, [r for r in named if r["name"] not in dead], wordings)
    reports, _ = report_novel(folder / "chapters", notes, plan.inserted)
    return _count(folder.name, plan, reports, len(unchanged))


def _choose_mortal(
    named: Sequence[Mapping[str, Any]],
    people: Sequence[Mapping[str, Any]],
    files: Sequence[Path],
) -> list[tuple[Mapping[str, Any], int]]:
    """Return people of whom the last part of the novel does not speak, with the number
    of the chapter that names them last.
    """
    texts = [path.read_text(encoding="utf-8") for path in files]
    found = []
    for row in named:
        words = _words(row)
        shared = any(words & _words(other) for other in people if other is not row)
        forms = "|".join(map(re.escape, (row["name"], *row["aliases"])))
        pattern = re.compile(rf"(?<!\w)(?:{forms})(?!\w)")
        last = max((at for at, t in enumerate(texts) if pattern.search(t)), default=0)
        if row["mentions"] >= MENTIONS and not shared and last < GONE * len(files):
            found.append((row, last))
    return found[:DEAD]


def _words(row: Mapping[str, Any]) -> set[str]:
    names = (row["name"], *row["aliases"])
    return {word for name in names for word in _TITLES.sub("", name).split()}


def _plant_deaths(
    plan: _Plan,
    mortal: Sequence[tuple[Mapping[str, Any], int]],
    wordings: FamilyWordings,
) -> None:
    shift = sum(len(path.name) for path in plan.files)
    deaths, acts, harmless = (
        cycle(texts[shift % len(texts) :] + texts[: shift % len(texts)])
        for texts in (wordings.deaths, wordings.acts, wordings.harmless_acts)
    )
    count = len(plan.files)
    for number, (row, last) in enumerate(mortal):
        death, act = (_say(next(texts), row) for texts in (deaths, acts))
        later = max(last + 2, int(count * 0.75) + number % max(1, count // 4))
        plan.insert(last + 1, death)
        other = _say(next(harmless), row)
        plan.insert(later - 1 if later - 1 > last + 1 else later, other)
        plan.harmless.append(other)
        plan.insert(later, act)
        plan.wanted[act] = ("life", death)


def _plant_parents(
    plan: _Plan, people: Sequence[Mapping[str, Any]], wordings: FamilyWordings
) -> dict[str, str]:
    """Plan a second father or mother of each of `people`: against a note for every
    other one, else against an earlier chapter. Return the notes.
    """
    notes = {
        f"{name}.md": f"---\ntype: character\n---\n# {name}\n\n- **Gender:** {gender}\n"
        for names, gender in ((_FATHERS, "male"), (_MOTHERS, "female"))
        for name in names
    }
    stated, harmless = cycle(wordings.parents), cycle(wordings.harmless_parents)
    count = len(plan.files)
    for number, row in enumerate(people[:CHILDREN]):
        kind, (first, second) = (
            ("mother", _MOTHERS) if number % 4 > 1 else ("father", _FATHERS)
        )
        note = f"---\ntype: character\n---\n# {row['name']}\n\n"
        before = ""
        if number % 2:
            note += f"- **{kind.title()}:** [[{first}]]\n"
        else:
            before = _say(f"{{n}}'s {kind}, {first}, sat below.", row)
            plan.insert(count // 4 + number, before)
        notes[f"{row['name']}.md"] = note
        wrong = _say(next(stated), row, second, kind)
        plan.insert(count * 2 // 3 + number, wrong)
        plan.wanted[wrong] = (kind, before)
        other = _say(next(harmless), row, second, kind)
        plan.insert(count // 2 + number, other)
        plan.harmless.append(other)
    return notes


def _say(wording: str, row: Mapping[str, Any], parent: str = "", kind: str = "") -> str:
    is_woman = row["gender"] == "female"
    return wording.format(
        n=row["name"],
        pos="her" if is_woman else "his",
        child="daughter" if is_woman else "son",
        p=parent,
        ppos="his" if kind == "father" else "her",
        parent=kind,
    )


def _count(
    novel: str, plan: _Plan, reports: Sequence[Mapping[str, Any]], unchanged: int
) -> list[tuple[str, int]]:
    found, false = set(), unchanged
    for report in reports:
        canon, last = (_said(report[side]["evidence"]) for side in ("canon", "found"))
        hit = [
            act
            for act, (kind, before) in plan.wanted.items()
            if report["attribute"] == kind
            and before in canon
            # A question or exclamation ends the quotation and the sentence.
            and (act in last or (len(last) > 8 and act.endswith(last)))
        ]
        found.update(hit)
        false += not hit
        if not hit:
            print(f"  {novel} false: {report['attribute']}: {canon} | {last}")
    for act, (kind, before) in plan.wanted.items():
        if act not in found:
            print(f"  {novel} missed: {kind}: {before} | {act}")
    lives = {act for act, (kind, _) in plan.wanted.items() if kind == "life"}
    return [
        ("dead", len(lives)),
        ("dead_found", len(lives & found)),
        ("parents", len(plan.wanted) - len(lives)),
        ("parents_found", len(found - lives)),
        ("false", false),
    ]


def _said(evidence: Sequence[Mapping[str, Any]]) -> str:
    return " ".join(" ".join(place["text"].split()) for place in evidence)


if __name__ == "__main__":
    result = measure(Path(sys.argv[1]), *sys.argv[2:3])
    print(json.dumps({key: round(value, 4) for key, value in result.items()}))
