"""Cost of odd texts, as a ratio of the cost of an ordinary text of the same size."""

from collections.abc import Callable, Mapping
from itertools import islice, product
from pathlib import Path

from bench.children import Cost
from bench.library import Bench, ingest
from bench.report import Line, skipped

PART = "odd_text"
MOST_RATIO = 10
"""Goal: at most this many times the cost of an ordinary text."""

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
    lines = []
    for name, make in _TEXTS.items():
        odd = make(share, prose)
        ordinary = _ingest(bench.work / f"{name} ordinary", prose[: len(odd)])
        cost = _ingest(bench.work / name, odd)
        size = f"{name} ({len(odd) / 1e6:.2g} MB)"
        cpu, memory = cost.cpu / ordinary.cpu, cost.peak_mb / ordinary.peak_mb
        lines += [
            Line(PART, f"{size}: CPU, ratio", cpu, "", MOST_RATIO,
                 note=f"{cost.cpu:.1f} / {ordinary.cpu:.1f} CPU s"),
            Line(PART, f"{size}: memory, ratio", memory, "", MOST_RATIO,
                 note=f"{cost.peak_mb:.0f} / {ordinary.peak_mb:.0f} MB"),
        ]  # fmt: skip
    return lines


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


def _dots(share: int, prose: str) -> str:
    del prose
    return ".\n" * (800_000 // share)


def _one_paragraph(share: int, prose: str) -> str:
    return " ".join(prose[: 5_000_000 // share].split())


_TEXTS: Mapping[str, Callable[[int, str], str]] = {
    "20,000 speakers": _names,
    "dots": _dots,
    "one paragraph": _one_paragraph,
}


def _ingest(folder: Path, text: str) -> Cost:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "1.md").write_text(f"# One\n\n{text}\n", encoding="utf-8")
    (folder / "lrwr.toml").write_text('manuscript.folders = ["."]\n', encoding="utf-8")
    return ingest(folder, env=_WORDS_ONLY)[1]
