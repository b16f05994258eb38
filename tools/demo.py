"""The demo: read the sample manuscript, ask it three questions, say what is next.

It works on a copy in `build/demo`, with the very commands that a writer types.
"""

import shutil
import subprocess
import sys
from pathlib import Path

SAMPLE = Path("examples/marsh-lantern")
PLACE = Path("build/demo")

QUESTIONS = (
    ["ask", "What does PurpleFrog say about the marsh lantern?"],
    ["ask", "How do the tide rules work?"],
    ["ask", "Who was on the post?", "--as-of", "ch3"],
)


def lrwr(*words: str) -> None:
    """Show a command as it would be typed, and run it in the copy."""
    shown = " ".join(f'"{word}"' if " " in word else word for word in words)
    print(f"\n$ lrwr {shown}", flush=True)
    done = subprocess.run(
        [sys.executable, "-m", "lrwr", *words], cwd=PLACE, check=False
    )
    if done.returncode:
        sys.exit(done.returncode)


def main() -> None:
    """Run the demo."""
    shutil.rmtree(PLACE, ignore_errors=True)
    leave = shutil.ignore_patterns(".lrwr")
    shutil.copytree(SAMPLE, PLACE, ignore=leave)
    print(f"A copy of the sample manuscript, “The Marsh Lantern”, is in {PLACE}.")
    lrwr("ingest", ".")
    for question in QUESTIONS:
        lrwr(*question)
    lrwr("search", "belt", "--limit", "2")
    here = Path(sys.executable).parent
    print(
        f"""
Now with your own text:
  {here / "lrwr"} ingest PATH/TO/YOUR/MANUSCRIPT
  {here / "lrwr"} ask "…"
  {here / "lrwr"} --help
lrwr never writes into your manuscript. What it knows is kept in .lrwr/, in the folder
where you ran it; nothing leaves this machine.""",
    )


if __name__ == "__main__":
    main()
