"""Writes the figures of the documentation: an evaluation of the sample on handwritten
questions.

It works on a copy in `build/figures` and writes the report to `docs/figures.md`.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

SAMPLE = Path("examples/marsh-lantern")
QUESTIONS = Path("examples/marsh-lantern.questions.jsonl")
PLACE = Path("build/figures")
REPORT = Path("docs/figures.md")
UNPAGED = {"LRWR_OUTPUT_PAGER": "false", "PYTHONUTF8": "1"}


def main() -> None:
    """Ingest the sample with both pipelines, evaluate, and write the report."""
    shutil.rmtree(PLACE, ignore_errors=True)
    shutil.copytree(SAMPLE, PLACE, ignore=shutil.ignore_patterns(".lrwr"))
    lrwr("ingest", ".")
    lrwr("ingest", ".", "--pipeline", "a")
    asked = ["--questions", str(QUESTIONS.resolve()), "--answers"]
    lrwr("eval", *asked, "--report", str(REPORT.resolve()), "--force")


def lrwr(*words: str) -> None:
    """Run `lrwr` with the arguments `words` in the copy; exit if it fails."""
    done = subprocess.run(
        [sys.executable, "-m", "lrwr", *words],
        cwd=PLACE,
        env=os.environ | UNPAGED,
        check=False,
    )
    if done.returncode:
        sys.exit(done.returncode)


if __name__ == "__main__":
    main()
