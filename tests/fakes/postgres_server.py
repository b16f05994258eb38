"""A PostgreSQL 15 of the tests' own: a new cluster on loopback, gone afterwards."""

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

MAJOR = "15"
SUPERUSER = "postgres"

_USUAL = Path("/usr/lib/postgresql") / MAJOR / "bin"
"""Where Debian puts the server's programs."""

_QUICK = ("fsync=off", "synchronous_commit=off", "full_page_writes=off")
"""Nobody needs what is in it after a power cut."""


@dataclass(frozen=True, slots=True)
class Postgres:
    """A running server, which trusts everybody on this machine."""

    port: int
    programs: Path

    @property
    def url(self) -> str:
        """Return where the database is, with the user who may do everything."""
        return f"postgresql://{SUPERUSER}@127.0.0.1:{self.port}/postgres"

    def run(self, sql: str) -> str:
        """Run statements as the superuser, all or nothing; return what they print."""
        done = subprocess.run(
            [self.programs / "psql", self.url, *["-X", "-q", "-1", "-A", "-t"]],
            input=f"\\set ON_ERROR_STOP on\n{sql}",
            env={**os.environ, "PGOPTIONS": "--client-min-messages=warning"},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise AssertionError(done.stderr)
        return done.stdout.strip()


def programs_of_postgres() -> Path | None:
    """Return the folder of a PostgreSQL of the right version, None without one."""
    found = shutil.which("postgres")
    folders = [_USUAL, *([Path(found).resolve().parent] if found else [])]
    return next((folder for folder in folders if _is_right(folder)), None)


@contextmanager
def postgres_server(programs: Path) -> Iterator[Postgres]:
    """Run a server with nothing in it."""
    with tempfile.TemporaryDirectory(prefix="lrwr-postgres-") as name:
        folder = Path(name)
        owner = _owner()
        if owner is not None:
            os.chown(folder, owner, -1)
        port = free_port()
        cluster = folder / "cluster"
        _call(
            owner,
            programs / "initdb",
            *("-D", cluster, "-U", SUPERUSER, "-A", "trust"),
            *("--no-sync", "-E", "UTF8", "--locale=C"),
        )
        control = programs / "pg_ctl"
        options = ["listen_addresses=127.0.0.1", "unix_socket_directories=''", *_QUICK]
        told = " ".join([f"-p {port}", *(f"-c {option}" for option in options)])
        log = folder / "log"
        _call(owner, control, "-D", cluster, "-o", told, "-l", log, "-w", "start")
        try:
            yield Postgres(port, programs)
        finally:
            _call(owner, control, "-D", cluster, "-m", "immediate", "-w", "stop")


def free_port() -> int:
    """Return a port of this machine that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _is_right(folder: Path) -> bool:
    wanted = ("postgres", "initdb", "pg_ctl", "psql")
    if not all((folder / name).exists() for name in wanted):
        return False
    told = subprocess.run(
        [folder / "postgres", "--version"], capture_output=True, text=True, check=False
    )
    return f" {MAJOR}." in told.stdout


def _owner() -> int | None:
    """Return the user who runs the server: PostgreSQL refuses root."""
    if os.geteuid() != 0:
        return None
    import pwd

    names = {user.pw_name: user.pw_uid for user in pwd.getpwall()}
    return names.get(SUPERUSER) or names["nobody"]


def _call(owner: int | None, program: Path, *arguments: object) -> None:
    done = subprocess.run(
        [str(program), *map(str, arguments)],
        user=owner,
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode:
        raise AssertionError(f"{program.name}: {done.stderr}")
