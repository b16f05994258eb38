"""Reading at Modal, against a control plane on this machine: is it the same?

Whatever takes time at Modal itself (containers that start, the way there) is not in it.
"""

import json
from pathlib import Path

from bench.children import lrwr, run
from bench.library import Bench, Library, made, prepare, stamped
from bench.report import Line, skipped
from lrwr.app.modal_worker import CORE_PRICE, CORES, MEMORY, MEMORY_PRICE
from tests.fakes.modal_server import ModalServer
from tests.fakes.remote_desks import dumped

PART = "remote"
CONTAINERS = "4"

EMBEDDED = 2
"""Novels that are embedded, unless it is said how many: all take minutes, twice."""


def measure(bench: Bench) -> list[Line]:
    novels = bench.data.novels()[: bench.novels]
    if not novels:
        return skipped(PART, "no novels here")
    some = novels if bench.novels else novels[:EMBEDDED]
    lines = []
    for pipeline in bench.pipeline or "ab":
        lines += _compared(bench, some, pipeline, vectors=True)
    return [*lines, *_compared(bench, novels, "b", vectors=False)]


def _compared(
    bench: Bench, novels: list[Path], pipeline: str, *, vectors: bool
) -> list[Line]:
    """Read novels here and elsewhere; without `vectors` they are not embedded."""
    sources = {f"novels/{novel.name}": novel for novel in novels}
    name = f"novels-{len(novels)}-{pipeline}{'' if vectors else '-words'}"
    here = made(bench.work / name, sources, pipeline=pipeline, vectors=vectors)
    root = bench.work / f"{name}-remote"
    prepare(root, sources, pipeline, vectors=vectors)
    return _lines(here, root, pipeline if vectors else f"{pipeline}, words alone")


def _lines(here: Library, root: Path, pipeline: str) -> list[Line]:
    with ModalServer() as server:
        env = {**server.env, "LRWR_INGEST_CONTAINERS": CONTAINERS}
        command = [*lrwr(), "ingest", "--remote", "--json"]
        done = run(command, cwd=root, env=env)
        again = run(command, cwd=root, env=env)
    library = stamped(root, _json(done.out), done.cost)
    first, second = dumped(here.root), dumped(root)
    differing = sorted(name for name in first if first[name] != second.get(name))
    sent = sum(len(call.body) for call in server.calls) / 1e6
    return [
        Line(PART, f"{pipeline}: documents", library.summary["processed"],
             note=f"{library.words:,} words"),
        Line(PART, f"{pipeline}: calls", len(server.calls),
             note=f"{_json(again.out)['unchanged']} unchanged in a second run"),
        Line(PART, f"{pipeline}: tables that differ from those read here",
             len(differing), "", 0, note=", ".join(differing) or f"of {len(first)}"),
        Line(PART, f"{pipeline}: most containers at once", server.most_at_once, "",
             float(CONTAINERS)),
        Line(PART, f"{pipeline}: sent", sent, "MB",
             note=f"{sum(map(len, server.blobs.blobs.values())) / 1e6:.1f} MB of blobs"),
        Line(PART, f"{pipeline}: CPU of this machine", done.cost.cpu, "CPU s",
             note=f"{here.cost.cpu:.1f} read here {here.note}".strip()),
        Line(PART, f"{pipeline}: wall", done.cost.wall, "s",
             note=f"{here.cost.wall:.1f} read here"),
        Line(PART, f"{pipeline}: peak memory", done.cost.peak_mb, "MB", 450),
        Line(PART, f"{pipeline}: price at Modal, by the CPU of reading here",
             _price(here.cost.cpu), "US¢", note="starts of containers come on top"),
    ]  # fmt: skip


def _price(cpu: float) -> float:
    """Return US cents for so many seconds of a container with one core."""
    second = CORES * CORE_PRICE + MEMORY / 1024 * MEMORY_PRICE
    return 100 * cpu * second


def _json(text: str) -> dict[str, int]:
    said: dict[str, int] = json.loads(text)
    return said
