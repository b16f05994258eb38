"""`python -m bench`: measure, print a table, store the figures."""

import argparse
import json
import os
import platform
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

from bench.children import REPO
from bench.data import DataFolder
from bench.library import Bench
from bench.report import Line, say, summary, table

PARTS = (
    "startup",
    "ingest",
    "unchanged",
    "odd_text",
    "spans",
    "edit",
    "watch",
    "search",
    "scale",
    "retrieval",
    "ranking",
    "evaluation",
    "characters",
    "story",
    "model",
    "citations",
    "answer_calls",
    "planner",
    "calibrate",
    "screen",
)


def main() -> int:
    namespace = _arguments()
    began = time.strftime("%Y%m%d-%H%M%S")
    root = (
        namespace.data.resolve() if namespace.data and namespace.data.is_dir() else None
    )
    if root is None:
        say("No data folder: measuring on examples/marsh-lantern.")
    with _work_folder(namespace.work) as work:
        bench = Bench(
            DataFolder(root),
            work,
            namespace.quick,
            namespace.full,
            namespace.novels,
            namespace.pipeline,
        )
        lines, failures = _measured(bench, namespace.only)
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    print(table(lines))
    print(f"\n{summary(lines)}")
    print(f"{os.cpu_count()} cores, load {load}; other work here sways every figure.")
    for failure in failures:
        print(f"failed: {failure}")
    path = namespace.json or REPO / "bench" / "results" / f"{began}.json"
    _keep(path, lines, failures, namespace)
    say(f"Figures kept in {path}")
    return 1 if failures else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--data", type=Path, help="a folder shaped like the data")
    parser.add_argument(
        "--only",
        type=_parts,
        default=PARTS,
        help=f"parts, with commas: {','.join(PARTS)}",
    )
    parser.add_argument("--quick", action="store_true", help="a fifth of everything")
    parser.add_argument("--full", action="store_true", help="rerank every question")
    parser.add_argument("--novels", type=int, help="use only the first N novels")
    parser.add_argument(
        "--pipeline", choices="ab", default="", help="whose retrieval to judge"
    )
    parser.add_argument("--work", type=Path, help="keep libraries here, and reuse them")
    parser.add_argument("--json", type=Path, help="write the figures here")
    args = parser.parse_args()
    if args.quick and args.novels is None:
        args.novels = 2
    return args


def _parts(text: str) -> Sequence[str]:
    parts = [part.strip() for part in text.split(",")]
    unknown = set(parts) - set(PARTS)
    if unknown:
        raise argparse.ArgumentTypeError(f"no such part: {', '.join(sorted(unknown))}")
    return [part for part in PARTS if part in parts]


@contextmanager
def _work_folder(asked: Path | None) -> Iterator[Path]:
    if asked is not None:
        asked.mkdir(parents=True, exist_ok=True)
        yield asked.resolve()
        return
    with tempfile.TemporaryDirectory(prefix="lrwr-bench-") as folder:
        yield Path(folder).resolve()


def _measured(bench: Bench, parts: Sequence[str]) -> tuple[list[Line], list[str]]:
    lines, failures = [], []
    for part in parts:
        say(f"{part} …")
        measure: Callable[[Bench], list[Line]] = import_module(f"bench.{part}").measure
        try:
            found = measure(bench)
        except Exception as failure:  # noqa: BLE001 - the other parts' figures count
            failures.append(f"{part}: {type(failure).__name__}: {failure}")
            say(failures[-1])
            continue
        lines += found
        failures += [
            f"{part}: {line.name} is {line.value:.2f}, at most {line.goal:.2f} allowed"
            for line in found
            if line.required and line.verdict == "NOT MET"
        ]
        say(table(found))
    return lines, failures


def _keep(
    path: Path,
    lines: Sequence[Line],
    failures: Sequence[str],
    namespace: argparse.Namespace,
) -> None:
    told = {
        "machine": {
            "cores": os.cpu_count(),
            "load": os.getloadavg(),
            "platform": platform.platform(),
            "python": platform.python_version(),
        },
        "asked": {name: str(value) for name, value in vars(namespace).items()},
        "lines": [line.as_json() for line in lines],
        "failures": list(failures),
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(told, ensure_ascii=False, indent=2)
    path.write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
