"""What a writer sees of a fault in lrwr itself: no traceback, and where it is kept."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from lrwr.cli.runtime.failures import report_crash
from lrwr.core.model.errors import ExitCode

BREAK = """
import os, sqlite3, sys
def connect(*args, **kwargs):
    said = os.environ["SAID"]
    raise {raised}
sqlite3.connect = connect
from lrwr.cli.main import run
sys.argv = ["lrwr", "status"]
run()
"""

SAID = "Nell counts the cans."


def broken(folder: Path, raised: str) -> "subprocess.CompletedProcess[str]":
    (folder / ".lrwr").mkdir()
    (folder / ".lrwr" / "library.db").touch()
    (folder / "temporary").mkdir()
    here = {"SAID": SAID, "TMPDIR": str(folder / "temporary")}
    home = {"HOME": str(folder / "home"), "XDG_CONFIG_HOME": str(folder / "home")}
    return subprocess.run(
        [sys.executable, "-c", BREAK.format(raised=raised)],
        cwd=folder,
        env={**os.environ, **home, **here},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    "raised",
    [
        "ArithmeticError(said)",
        "ExceptionGroup(said, [ArithmeticError(said)])",
    ],
)
def test_a_fault_is_one_sentence_and_a_report_without_any_text(
    tmp_path: Path, raised: str
) -> None:
    ran = broken(tmp_path, raised)
    assert ran.returncode == ExitCode.INTERNAL
    assert ran.stdout == ""
    said, hint = ran.stderr.splitlines()
    assert said == "lrwr: An internal error stopped lrwr: ArithmeticError"
    (report,) = (tmp_path / "temporary").iterdir()
    assert str(report) in hint
    told = report.read_text(encoding="utf-8")
    assert "ArithmeticError" in told
    assert re.search(r"database\.py\", line \d+, in ", told)
    assert SAID not in told + ran.stderr


@pytest.mark.parametrize("raised", ["KeyboardInterrupt", "SystemExit(3)"])
def test_what_ends_a_command_on_purpose_is_no_fault(
    tmp_path: Path, raised: str
) -> None:
    ran = broken(tmp_path, raised)
    assert ran.returncode in {3, ExitCode.INTERRUPTED}
    assert list((tmp_path / "temporary").iterdir()) == []


def test_the_report_says_what_a_fault_came_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    try:
        try:
            raise LookupError("PurpleFrog")
        except LookupError as first:
            raise ValueError("OchraMags") from first
    except ValueError as error:
        report_crash(error)
    (report,) = tmp_path.iterdir()
    told = report.read_text(encoding="utf-8")
    assert told.index("ValueError\n") < told.index("LookupError\n")


def test_where_no_report_can_be_written_the_fault_is_still_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "nowhere"))
    assert "RecursionError" in str(report_crash(RecursionError()))
