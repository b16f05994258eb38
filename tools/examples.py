"""Run the examples of README.md and docs, and compare or rewrite their output.

Every block that is fenced as `console` is an example. Lines that start with `$ ` are
commands, the lines below them are expected on stdout. A line `…` stands for any number
of lines, and `…` within a line for any characters. Commands run in the order of the
page, in a fresh copy of the sample manuscript for each page, which is ingested first
unless the page does so; commands other than
`lrwr`, `echo` and `cat`, commands without output below them, and blocks with the
language `shell` are not run.

    python -m tools.examples            # compare; exit code 1 if any output differs
    python -m tools.examples --write    # rewrite the output of blocks that differ
"""

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

SAMPLE = Path("examples/marsh-lantern")
WORKSPACE = Path("build/examples")
PAGES = (Path("README.md"), *sorted(Path("docs").glob("*.md")))
RUNNABLE = ("lrwr ", "echo ", "cat ")
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.M | re.S)
VOLATILE = re.compile(r"\d+\.\d+ s\b|\d{4}-\d\d-\d\d \d\d:\d\d|\b[0-9a-f]{6}\b")
"""Durations, times and random ids, which differ between runs."""

PLAIN = {
    "LRWR_OUTPUT_PAGER": "false",
    "PYTHONUTF8": "1",
    "NO_COLOR": "1",
    "COLUMNS": "100",
}


@dataclass(slots=True)
class Example:
    """One command of a page; `output` has the lines that it is to print."""

    command: str
    output: list[str] = field(default_factory=list)

    @property
    def is_runnable(self) -> bool:
        """Whether the command is one of `RUNNABLE`, and the page shows its output."""
        return self.command.startswith(RUNNABLE) and bool(self.output)


def parse_block(block: str) -> list[Example]:
    """Return the commands of a `console` block, with outputs, in text order.

    Lines before the first command are ignored.
    """
    examples: list[Example] = []
    for line in block.splitlines():
        if line.startswith("$ "):
            examples.append(Example(line[2:]))
        elif examples:
            examples[-1].output.append(line)
    return examples


def matches(expected: Sequence[str], actual: Sequence[str]) -> bool:
    """Return whether the lines `actual` fit `expected`, in which `…` is a wildcard.

    Durations, times and random ids may differ.
    """
    expected = [VOLATILE.sub("…", line) for line in expected]
    pattern = "".join(
        r"(?:.*\n)*?" if line.strip() == "…" else f"{_line_pattern(line)}\n"
        for line in expected
    )
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in actual)) is not None


def shorten(expected: Sequence[str], actual: Sequence[str]) -> list[str]:
    """Return the lines `actual`, cut at the same line as `expected`.

    If a line of `expected` is `…`, only the lines before its index are returned, then
    `…`; otherwise all lines.
    """
    if not expected or "…" not in (line.strip() for line in expected):
        return list(actual)
    first = next(i for i, line in enumerate(expected) if line.strip() == "…")
    return [*actual[:first], expected[first]]


def run_page(page: Path) -> Iterator[tuple[Example, list[str]]]:
    """Run the commands of `page` in page order, in a fresh copy of the sample.

    Yield each command that can be run, and the lines that it printed.
    """
    folder = WORKSPACE / page.stem
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(SAMPLE, folder, ignore=shutil.ignore_patterns(".lrwr"))
    blocks = BLOCK.findall(page.read_text(encoding="utf-8"))
    examples = [example for block in blocks for example in parse_block(block)]
    runnable = [example for example in examples if example.is_runnable]
    if runnable and not runnable[0].command.startswith("lrwr ingest"):
        _run("lrwr ingest .", folder)
    for example in runnable:
        yield example, _run(example.command, folder)


def rewrite_page(page: Path, outputs: Sequence[tuple[Example, list[str]]]) -> None:
    """Replace the expected output of commands in the file `page` where it differs.

    `outputs` has every runnable command of the page, in page order, with the lines that
    it printed.
    """
    remaining = list(outputs)

    def rewrite(block: re.Match[str]) -> str:
        lines: list[str] = []
        for example in parse_block(block[1]):
            output = example.output
            if example.is_runnable:
                actual = remaining.pop(0)[1]
                if not matches(output, actual):
                    output = shorten(output, actual)
            lines += [f"$ {example.command}", *output]
        return "\n".join(["```console", *lines, "```"])

    page.write_text(BLOCK.sub(rewrite, page.read_text(encoding="utf-8")), "utf-8")


def _line_pattern(line: str) -> str:
    return ".*".join(re.escape(part) for part in line.rstrip().split("…"))


def _run(command: str, folder: Path) -> list[str]:
    script = f'lrwr() {{ {shlex.quote(sys.executable)} -m lrwr "$@"; }}\n{command}'
    home = {"XDG_CONFIG_HOME": ".home", "XDG_STATE_HOME": ".home"}
    completed = subprocess.run(
        ["sh", "-c", script],
        cwd=folder,
        env=os.environ | PLAIN | home,
        check=False,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )
    printed = completed.stdout.replace(str(folder.resolve()), "~/my-novel")
    return [line.rstrip() for line in printed.rstrip().splitlines()]


def main() -> int:
    """Compare all pages, or rewrite them with `--write`; return the exit code.

    It is 1 if outputs differ and `--write` is not used, else 0.
    """
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("pages", nargs="*", type=Path, help="only these pages")
    parser.add_argument("--write", action="store_true", help="rewrite what differs")
    options = parser.parse_args()
    different = 0
    for page in options.pages or PAGES:
        outputs = list(run_page(page))
        for example, actual in outputs:
            if not matches(example.output, actual):
                different += 1
                print(f"{page}: `{example.command}` prints:")
                print("\n".join(f"    {line}" for line in actual[:40]))
        if options.write:
            rewrite_page(page, outputs)
    return 1 if different and not options.write else 0


if __name__ == "__main__":
    sys.exit(main())
