"""The demo: ingests the sample manuscript and shows the story bible and search.

It works on a copy in `build/demo`, with the commands that a user types.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

SAMPLE = Path("examples/marsh-lantern")
PLACE = Path("build/demo")
ALL = 1000

TOUR = (
    (["ask", "How do the tide rules work?"], ALL),
    (["characters"], ALL),
    (["characters", "Nell", "--as-of", "ch3"], ALL),
    (["quotes", "--speaker", "Mags"], 8),
    (["search", "What does Mags say about the ledger?", "--limit", "1"], ALL),
    (["search", "belt", "--as-of", "ch3", "--limit", "1"], ALL),
    (["recap", "--as-of", "ch1"], ALL),
)
"""Commands, and how many lines of their answers are shown."""

UNPAGED = {"LRWR_OUTPUT_PAGER": "false", "PYTHONUTF8": "1"}


def lrwr(*words: str, lines: int = ALL) -> None:
    """Print a command and run it in the copy; exit the demo if it fails.

    `words` are the arguments of `lrwr`. At most `lines` lines of its output are shown.
    """
    shown = " ".join(f'"{word}"' if " " in word else word for word in words)
    print(f"\n$ lrwr {shown}", flush=True)
    done = subprocess.run(
        [sys.executable, "-m", "lrwr", *words],
        cwd=PLACE,
        env=os.environ | UNPAGED,
        check=False,
        stdout=None if lines == ALL else subprocess.PIPE,
        encoding="utf-8",
    )
    told = (done.stdout or "").splitlines()
    for line in told[:lines]:
        print(line)
    if len(told) > lines:
        print(f"… and {len(told) - lines:,} lines more", flush=True)
    if done.returncode:
        sys.exit(done.returncode)


def main() -> None:
    """Copy the sample manuscript and run all commands of the demo."""
    shutil.rmtree(PLACE, ignore_errors=True)
    leave = shutil.ignore_patterns(".lrwr")
    shutil.copytree(SAMPLE, PLACE, ignore=leave)
    print(f"A copy of the sample manuscript, “The Marsh Lantern”, is in {PLACE}.")
    lrwr("ingest", ".")
    for words, lines in TOUR:
        lrwr(*words, lines=lines)
    here = Path(sys.executable).parent
    print(
        f"""
Now with your own text:
  {here / "lrwr"} ingest PATH/TO/YOUR/MANUSCRIPT
  {here / "lrwr"} ask "…"
  {here / "lrwr"} --help
lrwr never changes your manuscript. It stores its data in .lrwr/, in the folder where
you run it. Nothing leaves this machine.""",
    )


if __name__ == "__main__":
    main()
