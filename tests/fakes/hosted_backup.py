"""A backup of a library that a project keeps, put back as Supabase would do it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from uuid import uuid4

from tests.fakes.postgres_server import Postgres

_TABLES = ("lrwr_thread", "lrwr_turn", "lrwr_record", "lrwr_vector", "lrwr_reply")


@contextmanager
def backup(postgres: Postgres, library: str) -> Iterator[Callable[[], None]]:
    """Back a library up, and yield a function that restores the backup."""
    kept = f"kept_{uuid4().hex}"
    made = [
        f"create table {kept}.{table} as select * from {table}"
        f" where library = '{library}';"
        for table in _TABLES
    ]
    postgres.run(
        f"create schema {kept}; {''.join(made)} create table {kept}.lrwr_library as"
        f" select * from lrwr_library where id = '{library}'"
    )

    def put_back() -> None:
        gone = [
            f"delete from {table} where library = '{library}';" for table in _TABLES
        ]
        back = [
            f"insert into {table} select * from {kept}.{table};" for table in _TABLES
        ]
        postgres.run(
            f"{''.join(gone)} {''.join(back)} update lrwr_library now"
            f" set version = kept.version, spoken = kept.spoken"
            f" from {kept}.lrwr_library kept where now.id = kept.id"
        )

    try:
        yield put_back
    finally:
        postgres.run(f"drop schema {kept} cascade")
