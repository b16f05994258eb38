"""A terminal for tests: lrwr as it is installed, in a home of its own."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lrwr.core.model.errors import ExitCode
from tests.fakes.inside import Call, run_inside
from tests.fakes.several import parted

LRWR = Path(sys.executable).parent / "lrwr"

KEPT = {"PATH", "LANG", "LC_ALL", "SYSTEMROOT", "TMPDIR"}
"""What a command sees of the environment of the tests."""


@dataclass(frozen=True, slots=True)
class Ran:
    """What a command printed, and how it ended."""

    out: str
    err: str
    code: int

    @property
    def json(self) -> Any:
        """What it printed, read as JSON."""
        return json.loads(self.out)


def _hear_ctrl_c() -> None:
    """Listen to SIGINT, though tests run in the background, where nobody does."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Terminal:
    """Runs commands in `folder`; every run is checked for what no run may do."""

    def __init__(self, folder: Path, *, home: Path, **env: str) -> None:
        home.mkdir(exist_ok=True)
        self.folder = folder
        self.env: Mapping[str, str] = {
            **{name: os.environ[name] for name in KEPT & os.environ.keys()},
            "HOME": str(home),
            "USERPROFILE": str(home),
            "XDG_CONFIG_HOME": str(home / "config"),
            "XDG_DATA_HOME": str(home / "data"),
            "XDG_CACHE_HOME": str(home / "cache"),
            **env,
        }

    def run(self, *words: str, given: str = "", **env: str) -> Ran:
        """Run `lrwr` with these words, in the tests' own process.

        `given` is piped in.
        """
        call = Call(words, self.folder, {**self.env, **env}, given)
        return _checked(Ran(*run_inside(call)))

    def process(self, *words: str, given: str = "", **env: str) -> Ran:
        """Run `lrwr` as it is installed, in a process of its own."""
        return self.command([str(LRWR), *words], given=given, **env)

    def start(self, *words: str) -> "subprocess.Popen[bytes]":
        """Start `lrwr` with these words; its output is lost."""
        return subprocess.Popen(
            [str(LRWR), *words],
            cwd=self.folder,
            env=self.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            preexec_fn=_hear_ctrl_c,
        )

    def command(self, words: list[str], *, given: str = "", **env: str) -> Ran:
        """Run any command; there must be no fault of lrwr's and no escape code."""
        done = subprocess.run(
            words,
            cwd=self.folder,
            env={**self.env, **env},
            input=given.encode(),
            capture_output=True,
            check=False,
        )
        ended = Ran(done.stdout.decode(), done.stderr.decode(), done.returncode)
        return _checked(ended)


def each_of(whole: Ran) -> list[Ran]:
    """Return the output of each command that ran in one process; see `several.py`."""
    assert whole.code == 0, whole
    said = zip(parted(whole.out), parted(whole.err), strict=True)
    return [_checked(Ran(out, err, code)) for (out, code), (err, _) in said]


def _checked(ran: Ran) -> Ran:
    assert "Traceback" not in ran.err, ran.err
    assert ran.code != ExitCode.INTERNAL, ran.err
    assert "\x1b" not in ran.out + ran.err
    return ran


def check_refusal(ran: Ran, code: ExitCode, *words: str) -> None:
    """Make sure that a command failed so, and says what to try and all of `words`.

    Stdout may have the same failure as JSON, and nothing else.
    """
    assert ran.code == code
    assert not ran.out or ran.json["error"]["exit_code"] == code
    assert ran.err.startswith("lrwr: ")
    assert "\nhint: " in ran.err
    for word in words:
        assert word in ran.err
