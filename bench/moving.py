"""A novel pushed to a project and pulled into an empty folder, both killed on the way.

The project is PostgreSQL 15 with `@supabase/lite` on this machine: what the way to
Supabase takes is not in it. Skipped where `make supabase-tests` was never run.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.children import BenchFailed, Cost, environment, lrwr, run
from bench.library import Bench, Library, of_novel
from bench.report import Line, skipped
from tests.fakes.hosted import PASSWORD, sign_up
from tests.fakes.moved import records_of
from tests.fakes.supabase_server import SupabaseServer, missing, supabase_server

PART = "moving"
NOVEL = "ThePictureOfDorianGray"
"""The folder of the novel that is moved, if it is there."""

PATIENCE = 300.0
"""Seconds until a command must have come to where it is killed."""

WORDS = 20
"""Words that both are searched for: the ones that are names of most chapters' people."""

KILLS = (
    ("push", "lrwr_put_vectors", 1),
    ("push", "lrwr_put_record", 5),
    ("push", "lrwr_put_record", 2),
    ("pull", "lrwr_changes", 2),
    ("pull", "lrwr_vectors", 1),
    ("pull", "/object/", 2),
)


@dataclass(frozen=True, slots=True)
class Desk:
    """A folder, and the settings of whoever sits there."""

    folder: Path
    env: Mapping[str, str]

    def run(self, *words: str) -> tuple[str, Cost]:
        """Run a command to its end."""
        done = run([*lrwr(), *words], cwd=self.folder, env=self.env)
        return done.out, done.cost

    def kill(self, server: SupabaseServer, words: str, request: str, nth: int) -> bool:
        """Kill a command at its so-manieth request; say whether it came so far."""
        with server.gate.stopping(request, times=nth, done=nth % 2 == 0) as reached:
            process = subprocess.Popen(
                [*lrwr(), words],
                cwd=self.folder,
                env=environment(self.folder, self.env),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            came = reached.wait(PATIENCE)
            process.kill()
            process.wait()
        return came


def measure(bench: Bench) -> list[Line]:
    if lacking := missing():
        return skipped(PART, lacking)
    novels = {novel.name: novel for novel in bench.data.novels()}
    if not novels:
        return skipped(PART, "no novels here")
    novel = novels.get(NOVEL, next(iter(novels.values())))
    library = of_novel(bench, novel, "b")
    with supabase_server() as server:
        return _moved(bench.work / PART, novel.name, library, server)


def _moved(
    work: Path, novel: str, library: Library, server: SupabaseServer
) -> list[Line]:
    shutil.rmtree(work, ignore_errors=True)
    here, there = _desk(work, "here", server), _desk(work, "there", server)
    shutil.copytree(library.root, here.folder, dirs_exist_ok=True)
    _sign_in(server, here, there)
    came = [here.kill(server, *kill) for kill in KILLS if kill[0] == "push"]
    _, push = here.run("push", "--json")
    came += [there.kill(server, *kill) for kill in KILLS if kill[0] == "pull"]
    _, pull = there.run("pull", "--json")
    again, nothing = here.run("push", "--json")
    first, second = records_of(here.folder), records_of(there.folder)
    differing = sorted(name for name in first if first[name] != second[name])
    words = _words(first)
    unlike = [word for word in words if _found(here, word) != _found(there, word)]
    rows = sum(map(len, first.values()))
    return [
        killed(came, novel),
        Line(PART, "tables that differ", len(differing), "", 0,
             note=", ".join(differing) or f"{rows:,} rows of {len(first)} tables equal"),
        Line(PART, "searches that differ", len(unlike), "", 0,
             note=f"of {len(words)}, passages and order"),
        Line(PART, "requests", len(server.gate.asked)),
        Line(PART, "push, what was left", push.cpu, "CPU s", note=f"{push.wall:.1f} s"),
        Line(PART, "pull, what was left", pull.cpu, "CPU s", note=f"{pull.wall:.1f} s"),
        Line(PART, "push of what is there", nothing.cpu, "CPU s",
             note=f"{json.loads(again)['documents']} documents sent"),
    ]  # fmt: skip


def killed(came: Sequence[bool], novel: str) -> Line:
    """Return how many commands were killed where they should be; fewer prove nothing."""
    goal = len(KILLS)
    return Line(PART, "killed on the way", sum(came), "", goal, ">=", note=novel)


def _desk(work: Path, name: str, server: SupabaseServer) -> Desk:
    folder = work / name / "book"
    folder.mkdir(parents=True)
    home = str(work / name)
    return Desk(
        folder,
        {
            "HOME": home,
            "XDG_STATE_HOME": f"{home}/state",
            "XDG_CONFIG_HOME": f"{home}/config",
            "LRWR_SUPABASE_URL": server.url,
            "LRWR_SUPABASE_TIMEOUT": "120",
            "SUPABASE_KEY": server.key,
            "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring",
        },
    )


def _sign_in(server: SupabaseServer, *desks: Desk) -> None:
    writer = sign_up(server)
    for desk in desks:
        done = subprocess.run(
            [*lrwr(), "login", writer.email],
            cwd=desk.folder,
            env={**os.environ, **desk.env},
            input=f"{PASSWORD}\n",
            text=True,
            capture_output=True,
            check=False,
        )
        if done.returncode:
            raise BenchFailed(done.stderr)


def _words(records: Mapping[str, list[tuple[object, ...]]]) -> list[str]:
    """Return names of the cast, which are told of in most chapters."""
    cast = json.loads(str(records["story"][0][1]))
    return [one["name"] for one in cast["characters"]][:WORDS]


def _found(desk: Desk, words: str) -> object:
    return json.loads(desk.run("search", words, "--json")[0])["passages"]
