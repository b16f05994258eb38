"""Record which functions of lrwr a command enters; run it in its own process.

`python -m bench.inside.entered REPORT WORDS...` runs `lrwr WORDS` under a profiler in
all threads and writes REPORT as JSON. See `bench.journeys` for what counts.
"""

import json
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from inspect import CO_ASYNC_GENERATOR, CO_COROUTINE, CO_GENERATOR, CO_OPTIMIZED
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

SUSPENDS = CO_ASYNC_GENERATOR | CO_COROUTINE | CO_GENERATOR

Key = tuple[str, str]
"""A module, and the qualified name of a function in it."""


@dataclass(slots=True)
class Recorder:
    """A profiler hook that records which functions of a package are entered.

    `package` is its folder. `functions` maps each function to the first and the last
    time it was entered. `steps` has an entry for each time that a thread moved to
    another module: time, thread id, module. Times are seconds of the monotonic clock.
    """

    package: Path
    functions: dict[Key, list[float]] = field(default_factory=dict)
    steps: list[tuple[float, int, str]] = field(default_factory=list)
    _keys: dict[CodeType, Key | None] = field(default_factory=dict)
    _last: dict[int, str] = field(default_factory=dict)

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        """Record the function of `frame` if `event` is a call in the package."""
        if event != "call":
            return
        code = frame.f_code
        if code not in self._keys:
            self._keys[code] = self._key(code)
        key = self._keys[code]
        if key is not None and not _resumed(code, frame.f_lasti):
            self._enter(key)

    def _enter(self, key: Key) -> None:
        now, thread = time.monotonic(), threading.get_ident()
        self.functions.setdefault(key, [now, now])[1] = now
        if self._last.get(thread) != key[0]:
            self._last[thread] = key[0]
            self.steps.append((now, thread, key[0]))

    def _key(self, code: CodeType) -> Key | None:
        path = Path(code.co_filename)
        if not code.co_flags & CO_OPTIMIZED or path.name == "__init__.py":
            return None
        if not path.is_relative_to(self.package):
            return None
        parts = path.relative_to(self.package.parent).with_suffix("").parts
        return ".".join(parts), code.co_qualname


def _resumed(code: CodeType, instruction: int) -> bool:
    """Say whether a suspended function goes on, rather than being entered.

    The interpreter marks both by the same instruction; its argument is 0 at the start.
    """
    if not code.co_flags & SUSPENDS:
        return False
    return bool(code.co_code[instruction + 1] & 3)


def main(words: Sequence[str]) -> None:
    """Run a command under the profiler, write the report, and exit as it exits.

    The first of `words` is the path of the report, the others are arguments of `lrwr`.
    """
    report, *typed = words
    sys.argv = ["lrwr", *typed]
    # The import stands here so that the profiler sees only what the command does.
    import lrwr
    from lrwr.cli.main import run

    recorder = Recorder(Path(lrwr.__file__).parent)
    threading.setprofile(recorder)
    sys.setprofile(recorder)
    try:
        run()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
        _write(Path(report), recorder)


def _write(report: Path, recorder: Recorder) -> None:
    told = {
        "functions": [
            [*key, *times] for key, times in list(recorder.functions.items())
        ],
        "steps": list(recorder.steps),
    }
    report.write_text(json.dumps(told), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
