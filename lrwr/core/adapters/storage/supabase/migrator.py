"""The tables of a project: numbered scripts, each safe to run again."""

from collections.abc import Collection
from dataclasses import dataclass
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class SupabaseMigration:
    """One script, which the project's owner runs. `number` counts from 1."""

    number: int
    name: str
    sql: str


def list_supabase_migrations() -> list[SupabaseMigration]:
    """Return lrwr's scripts in the order in which they are run."""
    folder = files("lrwr.core.adapters.storage.supabase") / "migrations"
    migrations = [
        SupabaseMigration(
            int(file.name[:3]), file.name, file.read_text(encoding="utf-8")
        )
        for file in folder.iterdir()
        if file.name.endswith(".sql")
    ]
    return sorted(migrations, key=lambda migration: migration.number)


def find_missing_migrations(run: Collection[int]) -> list[SupabaseMigration]:
    """Return the scripts that a project has not run, given the numbers of those it has.

    A later lrwr may have run more than this one knows.
    """
    return [
        supabase_migration
        for supabase_migration in list_supabase_migrations()
        if supabase_migration.number not in run
    ]
