"""Prints a table of what lrwr says about each bad input, alone and all together.

Everything is made in a temporary folder, without embeddings.
"""

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from tools.bad_files import (
    GOOD,
    GOOD_WORD,
    GROWING,
    BadInput,
    bad_inputs,
    good_chapters,
)

TIME_LIMIT = 300
"""Seconds that one ingestion may take."""

_NO_RIGHTS = Path("tests/fakes/restricted_process.py").absolute()
_WORST = 6
"""Lines that are shown of what one input printed."""


@dataclass(frozen=True, slots=True)
class InputTrial:
    """One ingestion with bad input.

    `printed` are its warnings and errors, line by line, `code` is its exit code. `good`
    is the number of valid chapters, of three, that a search finds afterwards.
    """

    printed: tuple[str, ...]
    code: int
    good: int


def try_inputs(inputs: list[BadInput], place: Path) -> InputTrial:
    """Ingest three valid chapters together with `inputs` in a new folder under `place`."""
    book = place / "book"
    book.mkdir(parents=True)
    good_chapters(book)
    for one in inputs:
        one.make(book)
    with _written_to(book / GROWING):
        done = _lrwr(book, place, "ingest", ".")
    found = _lrwr(book, place, "search", GOOD_WORD, "--json", "-k", "100")
    passages = json.loads(found.stdout)["passages"] if found.returncode == 0 else []
    files = {passage["file"] for passage in passages}
    answer = done.stdout.decode().splitlines()
    printed = (
        *(
            line
            for line in answer
            if line.startswith(("warning: ", "Skipped ", "  hint"))
        ),
        *done.stderr.decode().splitlines(),
    )
    return InputTrial(printed, done.returncode, len(files & GOOD.keys()))


def _lrwr(book: Path, place: Path, *words: str) -> "subprocess.CompletedProcess[bytes]":
    command = [sys.executable, "-m", "lrwr", *words]
    if os.name == "posix" and os.geteuid() == 0:
        command = [sys.executable, str(_NO_RIGHTS), "no-rights", *command]
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(place),
        "LRWR_EMBEDDING_MODEL": "off",
        "PYTHONUTF8": "1",
    }
    return subprocess.run(
        command,
        cwd=book,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=TIME_LIMIT,
    )


@contextmanager
def _written_to(path: Path) -> Iterator[None]:
    """Append to `path` without a pause, where there is such a file."""
    if not path.exists():
        yield
        return
    stopped = threading.Event()

    def write() -> None:
        with path.open("ab", buffering=0) as file:
            while not stopped.wait(0.001):
                file.write(b"And on it went. ")

    writer = threading.Thread(target=write)
    writer.start()
    try:
        yield
    finally:
        stopped.set()
        writer.join()


def format_row(name: str, tried: InputTrial) -> str:
    """Return the Markdown table row for the input `name`: name, output, exit code."""
    lines = list(tried.printed)
    if len(lines) > _WORST and name.startswith("all"):
        lines = [f"{len(lines)} lines: those above, and nothing else"]
    told = "<br>".join(_cell(line) for line in lines) or "nothing"
    return f"| {name} | {told} | {tried.code} |"


def _cell(line: str) -> str:
    line = re.sub(r"(q)\1{20,}", "qq…", line)
    return line.strip().replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")


def find_unexplained_lines(together: InputTrial, alone: list[InputTrial]) -> list[str]:
    """Return the lines that only the trial of all inputs printed, in their order.

    `together` is that trial, `alone` are the trials of single inputs.
    """
    known = {line for tried in alone for line in tried.printed}
    return [line for line in together.printed if line not in known]


def main() -> None:
    """Print the table; exit with 1 if a chapter was lost or a traceback was printed."""
    inputs = bad_inputs()
    print("| input | output | exit code |")
    print("| --- | --- | --- |")
    tried: list[InputTrial] = []
    for one in inputs:
        with TemporaryDirectory(prefix="lrwr-bad-") as place:
            tried.append(try_inputs([one], Path(place)))
        print(format_row(one.name, tried[-1]), flush=True)
    with TemporaryDirectory(prefix="lrwr-bad-") as place:
        together = try_inputs(inputs, Path(place))
    print(format_row("all of them in one folder", together))
    for line in find_unexplained_lines(together, tried):
        print(f"\nOnly when all are together: {_cell(line)}")
    everything = [*tried, together]
    lost = any(one.good < len(GOOD) for one in everything)
    sys.exit(lost or any("Traceback" in "".join(one.printed) for one in everything))


if __name__ == "__main__":
    main()
