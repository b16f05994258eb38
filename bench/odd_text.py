"""Cost of odd texts, as a ratio of the cost of an ordinary text of the same size."""

import shutil
from collections.abc import Callable, Mapping
from itertools import islice, product
from math import ceil
from pathlib import Path
from random import Random

from bench.children import BenchFailed, Cost, CpuLimitReached, lrwr, run
from bench.library import Bench
from bench.report import Line, skipped

PART = "odd_text"
MOST_RATIO = 10
"""Goal: at most this many times the cost of an ordinary text."""
_LIMIT_RATIO = 20
"""A command is stopped at this ratio of CPU time."""

_SYLLABLES = [
    "ba",
    "ko",
    "ri",
    "tu",
    "men",
    "lor",
    "si",
    "dan",
    "vel",
    "qua",
    "zo",
    "pi",
    "gra",
    "thu",
]
_WORDS_ONLY = {"LRWR_EMBEDDING_MODEL": "off"}


def measure(bench: Bench) -> list[Line]:
    prose = _read_prose(bench)
    if len(prose) < 5_000_000:
        return skipped(PART, "fewer than 5 MB of novels here")
    share = 4 if bench.quick else 1
    costs: dict[int, Cost] = {}
    lines = []
    for name, make in _TEXTS.items():
        odd = make(share, prose)
        size = round(len(odd), -5)
        if size not in costs:
            costs[size] = _ingest(bench.work / f"ordinary {size}", prose[:size])
        lines += _compare(bench.work / name, odd, costs[size])
    return lines


def _compare(folder: Path, odd: str, ordinary: Cost) -> list[Line]:
    name = f"{folder.name} ({len(odd) / 1e6:.2g} MB)"
    limit = ceil(_LIMIT_RATIO * ordinary.cpu)
    try:
        cost = _ingest(folder, odd, cpu_limit=limit)
    except CpuLimitReached:
        return [
            Line(PART, f"{name}: CPU, ratio", _LIMIT_RATIO, "", MOST_RATIO,
                 note=f"stopped after {limit} CPU s"),
            Line(PART, f"{name}: memory, ratio", None, "", MOST_RATIO),
        ]  # fmt: skip
    except BenchFailed as failure:  # the other texts' figures count
        return [
            Line(PART, f"{name}: {figure}, ratio", None, "", MOST_RATIO,
                 note=" ".join(str(failure).split()))
            for figure in ("CPU", "memory")
        ]  # fmt: skip
    return [
        Line(PART, f"{name}: CPU, ratio", cost.cpu / ordinary.cpu, "", MOST_RATIO,
             note=f"{cost.cpu:.1f} / {ordinary.cpu:.1f} CPU s"),
        Line(PART, f"{name}: memory, ratio", cost.peak_mb / ordinary.peak_mb, "",
             MOST_RATIO, note=f"{cost.peak_mb:.0f} / {ordinary.peak_mb:.0f} MB"),
    ]  # fmt: skip


def _read_prose(bench: Bench) -> str:
    files = (
        path
        for novel in bench.data.novels()
        for path in sorted(novel.rglob("*"))
        if path.suffix in (".md", ".txt")
    )
    return "\n\n".join(path.read_text(encoding="utf-8") for path in files)


def _names(share: int, prose: str) -> str:
    """Return dialogue of 20,000 speakers with one sentence each."""
    del prose
    names = ("".join(parts).capitalize() for parts in product(_SYLLABLES, repeat=4))
    return "\n\n".join(
        f"“Yes,” said {name}." for name in islice(names, 20_000 // share)
    )


def _full_names(share: int, prose: str) -> str:
    """Return dialogue of 20,000 speakers of 196 families with one sentence each."""
    del prose
    words = ["".join(parts).capitalize() for parts in product(_SYLLABLES, repeat=2)]
    names = (f"{given}mo {last}ton" for given, last in product(words, words))
    return "\n\n".join(
        f"“Yes,” said {name}." for name in islice(names, 20_000 // share)
    )


def _dots(share: int, prose: str) -> str:
    del prose
    return ".\n" * (800_000 // share)


def _dots_and_dashes(share: int, prose: str) -> str:
    del prose
    marks = Random(1)
    return "".join(marks.choices(".- \n", k=1_600_000 // share))


def _dots_between_dashes(share: int, prose: str) -> str:
    del prose
    return ". - " * (400_000 // share)


def _dots_between_rules(share: int, prose: str) -> str:
    del prose
    return f"{'. ' * 20}\n\n---\n\n" * (34_000 // share)


def _one_heading(share: int, prose: str) -> str:
    return f"# {_one_paragraph(share, prose)}"


def _one_paragraph(share: int, prose: str) -> str:
    return " ".join(prose[: 5_000_000 // share].replace("#", "").split())


_TEXTS: Mapping[str, Callable[[int, str], str]] = {
    "20,000 speakers": _names,
    "20,000 full names": _full_names,
    "dots": _dots,
    "dots and dashes": _dots_and_dashes,
    "dots between dashes": _dots_between_dashes,
    "dots between rules": _dots_between_rules,
    "one heading": _one_heading,
    "one paragraph": _one_paragraph,
}


def _ingest(folder: Path, text: str, *, cpu_limit: int = 0) -> Cost:
    """Ingest `text` as the only document of the new library `folder`."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "1.md").write_text(f"# One\n\n{text}\n", encoding="utf-8")
    (folder / "lrwr.toml").write_text('manuscript.folders = ["."]\n', encoding="utf-8")
    command = [*lrwr(), "ingest", "--json"]
    return run(command, cwd=folder, env=_WORDS_ONLY, cpu_limit=cpu_limit).cost
