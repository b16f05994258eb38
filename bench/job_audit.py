"""Counts what happens to the jobs of a library, with triggers in its database."""

import math
import sqlite3
from collections import Counter
from collections.abc import Mapping
from contextlib import closing, suppress
from pathlib import Path

from lrwr.core.adapters.storage.sqlite.database import SCHEMA_VERSION

DONE_TWICE, AT_ONCE = "done twice", "two at once"
TAKEN, FROM_THE_LIVING = "taken over", "taken over from the living"
AUDIT = """
create table if not exists audit (
  what text not null, job integer not null, worker text, day real
);
create trigger if not exists audit_done after update of state on job
when new.state = 'complete' begin
  insert into audit values ('done', new.id, new.worker, julianday('now'));
end;
create trigger if not exists audit_both after update of state on job
when new.state = 'running' and exists (
  select 1 from job o where o.state = 'running' and o.id <> new.id
    and o.document_id = new.document_id and o.pipeline = new.pipeline
) begin
  insert into audit values ('two at once', new.id, new.worker, julianday('now'));
end;
create trigger if not exists audit_taken after update of attempts on job
when old.state = 'running' begin
  insert into audit values ('taken over', new.id, old.worker, julianday('now'));
end;
create trigger if not exists audit_again before insert on processed
when exists (
  select 1 from processed p where p.document_id = new.document_id
    and p.pipeline = new.pipeline and p.content = new.content and p.recipe = new.recipe
) begin
  insert into audit values ('read again for nothing', 0, '', julianday('now'));
end;
"""
"""Counts a job that is completed, one begun while another on the same document runs,
one that is taken over from another worker, and a document that is stored as it was
stored before."""

_CLOCK_STEP = 0.002
"""Seconds by which a time of SQLite, in whole milliseconds, may be too early."""
_UNIX_DAY = 2440587.5
DAY_SECONDS = 86400.0


def audit(folder: Path) -> None:
    """Install the triggers of `AUDIT` in the library of `folder`.

    They record what happens to jobs. Nothing is installed if there is no library yet,
    if it is locked, or if they are there already.
    """
    database = folder / ".lrwr" / "library.db"
    if not database.exists():
        return
    with (
        suppress(sqlite3.Error),  # it is being made: at the next look, then
        closing(sqlite3.connect(database, timeout=0)) as connection,
    ):
        (schema,) = connection.execute("pragma user_version").fetchone()
        there = "select count(*) from sqlite_master where name = 'audit'"
        if schema == SCHEMA_VERSION and connection.execute(there).fetchone() == (0,):
            connection.executescript(f"begin immediate; {AUDIT} commit;")


def count_job_states(database: Path, deaths: Mapping[int, float]) -> Counter[str]:
    """Return counts of the audit by name, such as of jobs that were done twice.

    `deaths` maps process ids to the times of their ends, in seconds since 1970. A job
    that was taken over from a process before its end counts as `FROM_THE_LIVING`.
    """
    with closing(sqlite3.connect(database)) as connection:
        rows = connection.execute("select what, job, worker, day from audit").fetchall()
        given_up = connection.execute(
            "select count(*) from job where error like '%never finished%'"
        ).fetchone()
    counted: Counter[str] = Counter(what for what, *_ in rows)
    counter = Counter(job for what, job, *_ in rows if what == "done")
    counted[DONE_TWICE] = sum(count > 1 for count in counter.values())
    counted[FROM_THE_LIVING] = sum(
        (day - _UNIX_DAY) * DAY_SECONDS + _CLOCK_STEP
        < deaths.get(int(worker.split("/")[1]), math.inf)
        for what, _, worker, day in rows
        if what == TAKEN
    )
    counted["given up"] = given_up[0]
    counted[AT_ONCE] += 0
    return counted


def count_stuck_jobs(database: Path) -> int:
    """Return the number of jobs that are waiting or running; no process may be working."""
    with closing(sqlite3.connect(database)) as connection:
        sql = "select count(*) from job where state in ('pending', 'running')"
        (count,) = connection.execute(sql).fetchone()
    return int(count)
