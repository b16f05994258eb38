"""Accuracy of casts and speaker attribution by rules, on novels with known answers."""

import json
from typing import Any

from bench.children import inside, run
from bench.data import EXAMPLE
from bench.library import Bench
from bench.report import Line, skipped

PART = "characters"


def measure(bench: Bench) -> list[Line]:
    root = bench.data.root
    if root is None or not (root / "characters").is_dir():
        lines = skipped(PART, "no gold rosters here")
    elif not (root.parent / "score" / "roster_score.py").is_file():
        lines = skipped(PART, "no score/roster_score.py beside the data")
    else:
        lines = _roster(_last_line("roster", root)) + _quotes(
            _last_line("quotes", root)
        )
    return lines + _sample(_last_line("noted", EXAMPLE))


def _last_line(module: str, *arguments: Any) -> dict[str, Any]:
    """Run a module of `bench.inside`; its last line is JSON."""
    done = run([*inside(module), *map(str, arguments)], cwd=EXAMPLE)
    told: dict[str, Any] = json.loads(done.out.splitlines()[-1])
    return told


def _roster(means: dict[str, float]) -> list[Line]:
    strict = {"precision": means["strict_p"], "recall": means["strict_r"]}
    cubed = {"precision": means["bcubed_p"], "recall": means["bcubed_r"]}
    major = {"major": means["recall_major"], "mentioned": means["recall_mentioned"]}
    people = {key: means[f"openings_people_{key}"] for key in ("precision", "recall")}
    return [
        Line(PART, "roster: strict F1", means["strict_f1"], goal=0.87, sense=">=",
             note="mean over the novels with gold", also={**strict, **major}),
        Line(PART, "aliases: B-cubed F1", means["bcubed_f1"], goal=0.70, sense=">=",
             also={**cubed, "split": means["split"], "merged": means["merged"]}),
        Line(PART, "roster: genders told rightly", means["gender_right"]),
        Line(PART, "openings: people F1", means["openings_people_f1"], also=people),
        Line(PART, "CPU to make the cast of a novel", means["seconds_to_make_cast"],
             "CPU s", note=f"{means['words_per_second_gathered']:,.0f} words a second"
             " read for names"),
    ]  # fmt: skip


def _quotes(means: dict[str, float]) -> list[Line]:
    kinds = {
        kind.lower(): means[kind] for kind in ("Explicit", "Anaphoric", "Implicit")
    }
    return [
        Line(PART, "quotations: speaker told rightly", means["all"], goal=0.79,
             sense=">=", note="with the cast of our own", also=kinds),
        Line(PART, "quotations: right where asserted", means["precision"], goal=0.975,
             sense=">=", also={"asserted": means["asserted"]}),
        Line(PART, "quotations: found", means["detection"]),
        Line(PART, "quotations: addressee told rightly", means["addressee"]),
        Line(PART, "quotations: addressee right where asserted",
             means["addressee_precision"], goal=0.95, sense=">=",
             also={"asserted": means["asserted_addressees"]}),
    ]  # fmt: skip


def _sample(told: dict[str, list[str]]) -> list[Line]:
    """Judge the example by its own notes, of which the cast was told nothing."""
    wanted, missing, unknown = (len(told[k]) for k in ("wanted", "missing", "unknown"))
    name, forms = EXAMPLE.name, len(told["forms"])
    note = f"{wanted - missing} of {wanted} that prose names; not: {told['missing']}"
    return [
        Line(PART, f"{name}: people of the notes found", (wanted - missing) / wanted,
             goal=1, sense=">=", note=note if missing else ""),
        Line(PART, f"{name}: people in more than one piece", len(told["split"]),
             note=", ".join(told["split"])),
        Line(PART, f"{name}: names of theirs known", (forms - unknown) / forms,
             note=f"{forms} names; not known: {', '.join(told['unknown'])}"),
        Line(PART, f"{name}: characters listed", len(told["listed"])),
    ]  # fmt: skip
