"""Calls of a language model for 100,000 words, and whether any is repeated.

The model is a server on this machine that quotes what it is shown (`bench/reader.py`),
so figures are about calls, tokens and checked quotes, not about the quality of a model.
Nothing is embedded.
"""

import json
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from bench.children import BenchFailed, environment, inside, lrwr, run
from bench.held import KEPT_OF_STORY
from bench.library import Bench, choose_novel, ingest, open_database, prepare
from bench.reader import Reader
from bench.report import Line, say
from tests.fakes.model_server import MODEL, ModelServer

PART = "model"
WORDS = 100_000
EDITS = 100
AT_ONCE = 4
"""Calls under way at once, as the setting has it: those may be lost by a kill."""

PRICES = {"LRWR_MODEL_PRICES": f"{MODEL} 1.0 5.0"}


@dataclass(frozen=True, slots=True)
class Whole:
    """A library that was ingested in one run, to compare others with.

    `root` is its folder, `source` that of its manuscript. `usage` has figures of its
    use of the model by name, `words` is the size of the manuscript, `facts` are the
    rows of its facts.
    """

    root: Path
    source: Path
    usage: Mapping[str, Any]
    words: int
    facts: list[tuple[Any, ...]]


def measure(bench: Bench) -> list[Line]:
    source = choose_novel(bench)
    whole, lines = _read(bench.work / f"model-{source.name}", source)
    for part in (_again, _edited, _budget, _killed, _nonsense):
        say(f"  {part.__name__.strip('_')} …")
        lines += part(bench, whole)
    return [*_plans(bench), *lines]


def _plans(bench: Bench) -> list[Line]:
    """Ask `lrwr ingest --dry-run` of every novel what would be asked."""
    rows = []
    env = _settings("http://127.0.0.1:9/v1")
    for novel in bench.data.novels()[: bench.novels]:
        root = bench.work / f"plan-{novel.name}"
        prepare(root, {"novel": novel})
        done = run([*lrwr(), "ingest", "--dry-run", "--json"], cwd=root, env=env)
        told = json.loads(done.out)
        shutil.rmtree(root)
        rows.append((novel.name, told["words"], told["model"]))
    if not rows:
        return []
    lines = []
    for key, goal in (("calls", 150), ("prompt_tokens", 350_000)):
        total = WORDS * sum(u[key] for _, _, u in rows) / sum(w for _, w, _ in rows)
        most, name = max((WORDS * u[key] / w, n) for n, w, u in rows)
        lines.append(
            Line(PART, f"planned {_plain(key)} for 100,000 words", total, goal=goal,
                 note=f"--dry-run of {len(rows)} novels; most {most:,.0f}, {name}")
        )  # fmt: skip
    return lines


def _read(root: Path, source: Path) -> tuple[Whole, list[Line]]:
    prepare(root, {"novel": source})
    reader = Reader()
    with _serving(reader) as address:
        summary, cost = ingest(root, env=_settings(address))
    usage, words = summary["model"], summary["words"]
    whole = Whole(root, source, usage, words, _facts(root))
    name, scale = source.name, WORDS / words
    asked = {"classify": reader.kinds["Passages"], "extract": reader.kinds["Extracted"]}
    if summary["remarks"]:
        raise BenchFailed(f"{source.name}: {summary['remarks'][0]}")
    kept, true = usage["verified"], reader.true
    return whole, [
        Line(PART, f"{name}: calls for 100,000 words", scale * reader.calls, goal=150,
             note=f"{words:,} words, as the server counts", also=asked),
        Line(PART, f"{name}: prompt tokens for 100,000 words", scale * reader.prompt,
             goal=350_000, note="characters / 4, schemas included"),
        Line(PART, f"{name}: calls told and made differ", abs(
             usage["calls"] - reader.calls), goal=0),
        Line(PART, f"{name}: prompt tokens told ÷ sent",
             usage["prompt_tokens"] / reader.prompt),
        Line(PART, f"{name}: quotes judged rightly", min(kept, true) / max(kept, true),
             goal=0.99, sense=">=", note=f"{usage['quotes']:,} offered, {kept:,} kept,"
             f" {true:,} stand in the text"),
        Line(PART, f"{name}: facts", len(whole.facts)),
        Line(PART, f"{name}: CPU", cost.cpu, "CPU s", note=f"wall {cost.wall:.1f} s"),
        Line(PART, f"{name}: peak memory", cost.peak_mb, "MB"),
    ]  # fmt: skip


def _again(bench: Bench, whole: Whole) -> list[Line]:
    """Ingest once more, and once more with every file elsewhere."""
    root = _copy(bench, whole, "again")
    reader = Reader()
    with _serving(reader) as address:
        ingest(root, env=_settings(address))
        same = reader.calls
        _move_all(root)
        summary, _ = ingest(root, env=_settings(address))
    shutil.rmtree(root)
    cached = summary["model"]["cached"]
    return [
        Line(PART, "second run: calls", same, goal=0),
        Line(PART, "all files moved: calls", reader.calls - same, goal=0,
             note=f"{cached:,} answers known already"),
    ]  # fmt: skip


def _edited(bench: Bench, whole: Whole) -> list[Line]:
    root = _copy(bench, whole, "edited")
    number = EDITS // 5 if bench.quick else EDITS
    with _serving(Reader()) as address:
        done = run([*inside("edit"), str(number)], cwd=root, env=_settings(address))
    shutil.rmtree(root)
    rows = json.loads(done.out)
    calls = [row["calls"] for row in rows]
    prompt = [row["prompt_tokens"] for row in rows]
    tenth = quantiles(calls, n=10, method="inclusive")[-1]
    return [
        Line(PART, "calls an edit, median", median(calls), goal=3,
             note=f"{number} random edits", also={"p90": tenth, "most": max(calls)}),
        Line(PART, "prompt tokens an edit, median", median(prompt)),
    ]  # fmt: skip


def _budget(bench: Bench, whole: Whole) -> list[Line]:
    """Stop half-way for want of money, then go on without a bound."""
    root = _empty(bench, whole, "budget")
    whole_cost = _dollars(whole.usage)
    reader = Reader()
    with _serving(reader) as address:
        bound = {**PRICES, "LRWR_MODEL_BUDGET": f"{whole_cost / 2:.3f}"}
        first, _ = ingest(root, env={**_settings(address), **bound})
        before = reader.calls
        ingest(root, env=_settings(address))
    equal = _facts(root) == whole.facts
    shutil.rmtree(root)
    spent = _dollars(first["model"])
    note = f"{before} and {reader.calls - before}; one run makes {whole.usage['calls']}"
    return [
        Line(PART, "half a budget: share of it spent", 2 * spent / whole_cost, goal=1),
        Line(PART, "half a budget: calls too many over both runs",
             reader.calls - whole.usage["calls"], goal=0, note=note),
        Line(PART, "half a budget: facts are one run's", equal, goal=1, sense=">="),
    ]  # fmt: skip


def _killed(bench: Bench, whole: Whole) -> list[Line]:
    """Kill an ingestion half-way, and let the next one go on."""
    root = _empty(bench, whole, "killed")
    reader = Reader()
    half = whole.usage["calls"] // 2
    with _serving(reader, wait=0.05) as address:
        _kill_after(root, _settings(address), reader, half)
        before = reader.calls
        summary, _ = ingest(root, env=_settings(address))
    equal = _facts(root) == whole.facts
    shutil.rmtree(root)
    cached = summary["model"]["cached"]
    return [
        Line(PART, "killed half-way: calls made twice",
             before + summary["model"]["calls"] - whole.usage["calls"], goal=AT_ONCE,
             note=f"{before} before, {reader.calls - before} after, {cached} answers"
             f" known; {AT_ONCE} are under way at once"),
        Line(PART, "killed half-way: facts are one run's", equal, goal=1, sense=">="),
    ]  # fmt: skip


def _kill_after(root: Path, env: dict[str, str], reader: Reader, calls: int) -> None:
    with subprocess.Popen(
        [*lrwr(), "ingest"],
        cwd=root,
        env=environment(root, env),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        while reader.calls < calls and process.poll() is None:
            time.sleep(0.005)
        process.kill()
    if process.returncode == 0:
        raise BenchFailed("The ingestion was over before it could be killed")


def _nonsense(bench: Bench, whole: Whole) -> list[Line]:
    """Let one answer in ten be nonsense; then read everything anew."""
    root = _empty(bench, whole, "nonsense")
    reader = Reader(stumble=10)
    with _serving(reader) as address:
        usage = ingest(root, env=_settings(address))[0]["model"]
        before, reader.stumble = reader.calls, 0
        lost = len(whole.facts) - len(_facts(root))
        ingest(root, env=_settings(address))
        left = reader.calls - before
        _move_all(root)
        ingest(root, env=_settings(address))
    count = len(_facts(root))
    shutil.rmtree(root)
    return [
        Line(PART, "nonsense: asked for twice", usage["repaired"],
             note=f"of {usage['calls']} answers one in ten is nonsense"),
        Line(PART, "nonsense: not understood even then", usage["failed"],
             note=f"{lost:,} of {len(whole.facts):,} facts lost, the others stored"),
        Line(PART, "nonsense: calls of the next run", left,
             note=f"{reader.calls - before - left} more once all is read anew"),
        Line(PART, "nonsense: facts in the end ÷ one run's", count / len(whole.facts),
             goal=1, sense=">="),
    ]  # fmt: skip


def _move_all(root: Path) -> None:
    """Put every file into a folder deeper: all of them are read anew."""
    (root / "novel").rename(root / "moved")
    (root / "novel").mkdir()
    (root / "moved").rename(root / "novel" / "moved")


@contextmanager
def _serving(reader: Reader, *, wait: float = 0.0) -> Iterator[str]:
    with ModelServer(key="", wait=wait) as server:
        server.answering(reader)
        yield server.base_url


def _settings(address: str) -> dict[str, str]:
    return {
        "LRWR_EMBEDDING_MODEL": "off",
        "LRWR_MODEL_USE": "local",
        "LRWR_MODEL_NAME": MODEL,
        "LRWR_MODEL_BASE_URL": address,
    }


def _empty(bench: Bench, whole: Whole, name: str) -> Path:
    root = bench.work / f"model-{name}"
    prepare(root, {"novel": whole.source})
    return root


def _copy(bench: Bench, whole: Whole, name: str) -> Path:
    root = bench.work / f"model-{name}"
    shutil.rmtree(root, ignore_errors=True)
    shutil.copytree(whole.root, root)
    return root


def _facts(root: Path) -> list[tuple[Any, ...]]:
    with open_database(root / ".lrwr" / "library.db") as connection:
        return sorted(connection.execute(KEPT_OF_STORY["facts"]))


def _dollars(usage: Mapping[str, Any]) -> float:
    return float(usage["prompt_tokens"] + 5 * usage["completion_tokens"]) / 1_000_000


def _plain(key: str) -> str:
    return key.replace("_", " ")
