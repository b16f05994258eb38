"""Check that tests notice seeded faults: `python -m bench.faults [--only NAME] [--sound]`.

Each fault replaces one expression in a copy of this checkout and runs the tests of its
package. A failing test notices the fault; a module that no longer imports is an error
of the fault. Code is found by its text, and tests in those of the named folders that
exist, so files may move. With --sound the tests run without a fault, and must pass.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.children import REPO

COPIED = ("lrwr", "tests", "bench", "tools", "examples", "docs")
LEFT_OUT = shutil.ignore_patterns("__pycache__", ".lrwr*", "results")
FAILED = re.compile(r"^FAILED (\S+)", re.MULTILINE)
TESTS_FAILED = 1
"""How pytest ends where tests ran and some failed."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One wrong expression to put into the code: `wrong` in place of `right`.

    `name` describes it. `right` occurs once in the package. `tests` are folders and
    files with tests to run; missing ones are left out. `chosen` selects tests by name,
    like pytest's `-k`; empty for all.
    """

    name: str
    right: str
    wrong: str
    tests: tuple[str, ...]
    chosen: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Whether tests failed because of a fault.

    `by` is the first failed test, empty if none failed. `seconds` is the duration of
    the test run.
    """

    fault: Fault
    noticed: bool
    by: str
    seconds: float


class FaultFailed(Exception):
    """A fault cannot be put into the code, or its tests cannot be run."""


FAULTS = (
    Fault(
        "chunking: chunks overlap by twice the bound",
        "repeated <= overlap",
        "repeated <= 2 * overlap",
        ("tests/unit/pipeline", "tests/unit/stages"),
        "recursive or chunk or split",
    ),
    Fault(
        "names: two people named at once are made one",
        "_NOBODY).isdisjoint(person.forms)",
        "_NOBODY).isdisjoint(())",
        ("tests/unit/english", "tests/unit/nlp"),
        "name or people or cluster or group",
    ),
    Fault(
        "speakers: a form of a name that is not sure counts as sure",
        "page.name_at(person.at).lower()) in sure",
        "page.name_at(person.at).lower()) is not None",
        ("tests/unit/english", "tests/unit/nlp"),
        "speaker or attribut",
    ),
    Fault(
        "horizon: an excerpt may go beyond the end in sight",
        "not all(0 <= span.start < span.end <= until for span in spans)",
        "not all(0 <= span.start < span.end for span in spans)",
        ("tests/unit/bible", "tests/unit/retrieval"),
    ),
    Fault(
        "ranking: every way of searching weighs the same",
        "total.get(chunk, 0.0) + weight * score",
        "total.get(chunk, 0.0) + score",
        ("tests/unit/retrieval",),
        "fuse or fusion or rank",
    ),
    Fault(
        "citations: an invented quotation stands beside any citation",
        "if not _occurs_in(quote, [source.text for source in sources]):",
        "if not [source.text for source in sources]:",
        ("tests/unit/chat", "tests/unit/answering"),
        "check or cit",
    ),
    Fault(
        "canon: names merged into another person stay with the first",
        "if n == canonical_name or n not in member_names",
        "if n == canonical_name or n",
        ("tests/unit/canon",),
        "name or service or decision",
    ),
    Fault(
        "continuity: a look that is told twice always conflicts",
        "bool(hues and other_hues) and hues.isdisjoint(other_hues)",
        "bool(hues and other_hues)",
        ("tests/unit/continuity", "tests/unit/attribution"),
        "meaning or guard or conflict or contradict",
    ),
    Fault(
        "settings: the environment outranks flags",
        "**from_env,\n        **collect_flag_settings(flags),",
        "**collect_flag_settings(flags),\n        **from_env,",
        ("tests/unit/settings",),
        "load or sett or preced",
    ),
    Fault(
        "threads: searching finds conversations that were deleted",
        "where turn_fts match ? and thread.deleted_at is null",
        "where turn_fts match ?",
        (
            "tests/contracts/test_thread_store.py",
            "tests/contracts/test_conversation_store.py",
        ),
    ),
    Fault(
        "planning: what a look could not have found counts as gone",
        "{version for version in before.values() if covers(version.id)}",
        "{version for version in before.values()}",
        ("tests/unit/pipeline",),
        "change or plan",
    ),
    Fault(
        "consent: a service that nobody asked about may be sent to",
        "return ConsentState.UNASKED if is_library_setting else ConsentState.GIVEN",
        "return ConsentState.GIVEN",
        ("tests/unit/settings", "tests/unit/egress", "tests/unit/app"),
        "consent or egress",
    ),
)


@contextmanager
def _copied(repo: Path) -> Iterator[Path]:
    """Lend a copy of the checkout, without its environment and history."""
    with tempfile.TemporaryDirectory(prefix="lrwr-faults-") as scratch:
        copy = Path(scratch).resolve()
        for name in COPIED:
            shutil.copytree(repo / name, copy / name, ignore=LEFT_OUT)
        for path in repo.iterdir():
            if path.is_file():
                shutil.copy2(path, copy / path.name)
        yield copy


@contextmanager
def _seeded(copy: Path, fault: Fault) -> Iterator[None]:
    path = _place(copy, fault)
    sound = path.read_text(encoding="utf-8")
    path.write_text(sound.replace(fault.right, fault.wrong), encoding="utf-8")
    try:
        yield
    finally:
        path.write_text(sound, encoding="utf-8")


def _place(copy: Path, fault: Fault) -> Path:
    """Return the one file that holds the code to be changed, once."""
    held = {
        path: times
        for path in sorted((copy / "lrwr").rglob("*.py"))
        if (times := path.read_text(encoding="utf-8").count(fault.right))
    }
    if sum(held.values()) != 1:
        raise FaultFailed(f"{fault.name}: its code is there {sum(held.values())} times")
    return next(iter(held))


def _run(copy: Path, fault: Fault) -> Outcome:
    began = time.monotonic()
    done = subprocess.run(
        _tests(copy, fault),
        cwd=copy,
        # Compiled files would be told apart by the second in which a file was written.
        env={**os.environ, "PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    seconds = time.monotonic() - began
    if done.returncode not in (0, TESTS_FAILED):
        raise FaultFailed(f"{fault.name}: no tests were run\n{done.stdout[-1500:]}")
    by = FAILED.search(done.stdout)
    noticed = done.returncode == TESTS_FAILED
    return Outcome(fault, noticed, by[1] if by else "", seconds)


def _tests(copy: Path, fault: Fault) -> list[str]:
    there = [name for name in fault.tests if (copy / name).exists()]
    if not there:
        raise FaultFailed(f"{fault.name}: none of {', '.join(fault.tests)} is there")
    flags = ["-q", "-x", "--tb=no", "-rf", "-p", "no:cacheprovider"]
    narrowed = ["-k", fault.chosen] if fault.chosen else []
    return [sys.executable, "-m", "pytest", *flags, *narrowed, *there]


def check(faults: Sequence[Fault], *, sound: bool = False) -> Iterator[Outcome]:
    """Put each of `faults` into a copy of the code in turn, and run its tests.

    Yield an outcome for each, in the same order. With `sound`, the tests run without
    the fault and must pass.

    Raises:
        FaultFailed: A fault cannot be put into the code, or its tests cannot be run.
    """
    with _copied(REPO) as copy:
        for fault in faults:
            if sound:
                yield _run(copy, fault)
                continue
            with _seeded(copy, fault):
                yield _run(copy, fault)


def main(arguments: Sequence[str] | None = None) -> int:
    """Try one fault after another and print which were noticed.

    Return 0 if tests noticed all of them, or with `--sound` if all tests passed, else
    1. `arguments` are those of the command line; None reads them from there.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="faults with this in their name")
    parser.add_argument("--sound", action="store_true", help="run without any fault")
    args = parser.parse_args(arguments)
    chosen = [fault for fault in FAULTS if args.only in fault.name]
    right = 0
    for one in check(chosen, sound=args.sound):
        right += one.noticed is not args.sound
        word = "noticed" if one.noticed else "not noticed"
        print(f"{word:12} {one.seconds:5.1f} s  {one.fault.name}", flush=True)
        if one.by:
            print(f"{'':22}{one.by}", flush=True)
    print(f"{right} of {len(chosen)} {'sound' if args.sound else 'noticed'}")
    return 0 if right == len(chosen) else 1


if __name__ == "__main__":
    sys.exit(main())
