"""Runs commands of lrwr one after the other in this process: `several.py COMMANDS`.

COMMANDS are lists of words in JSON. `ENDED` and the exit code follow each on both
streams.
"""

import json
import re
import sys
from collections.abc import Sequence

ENDED = "\0"


def run_all(commands: Sequence[Sequence[str]]) -> None:
    """Run commands, whatever becomes of each."""
    for words in commands:
        sys.argv = ["lrwr", *words]
        code = _ended()
        for stream in (sys.stdout, sys.stderr):
            print(f"{ENDED}{code}", file=stream, flush=True)


def parted(stream: str) -> list[tuple[str, int]]:
    """Return the output of each command on a stream, with its exit code."""
    *parts, rest = re.split(f"{ENDED}(\\d+)\n", stream)
    assert rest == ""
    return [(one, int(code)) for one, code in zip(parts[::2], parts[1::2], strict=True)]


def _ended() -> int:
    from lrwr.cli.main import run

    try:
        run()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(bool(end.code))
    return 0


if __name__ == "__main__":
    run_all(json.loads(sys.argv[1]))
