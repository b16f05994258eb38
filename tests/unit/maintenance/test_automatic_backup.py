"""Automatic backups: written once a day, rotated, merged back, and emptied of deletions."""

import gzip
import sqlite3
from contextlib import closing
from datetime import datetime
from pathlib import Path

import pytest

from lrwr.app.maintenance.automatic_backup import (
    back_up_if_due,
    drop_send_log_from_backups,
    drop_threads_from_backups,
    list_backup_files,
    load_backup_rows,
    load_newest_backup,
)
from lrwr.app.maintenance.repair import recover_from_backups
from lrwr.core.adapters.storage.sqlite.checksums import (
    register_row_checksum,
    seal_sql,
)
from lrwr.core.model.errors import NotFound, StoreProblem
from lrwr.core.settings.library import Library
from tests.fakes.damaged import a_talkative_library, read_plainly

DAY = 86_400.0
NOW = datetime(2026, 11, 23, 12).timestamp()


@pytest.fixture
def library(tmp_path: Path) -> Library:
    library = Library(tmp_path, tmp_path / ".lrwr")
    a_talkative_library(library.database)
    return library


def change(
    library: Library, sql: str = "update thread set title = title || '!'"
) -> None:
    with closing(sqlite3.connect(library.database)) as connection:
        connection.execute("pragma foreign_keys = on")
        connection.execute(sql)
        register_row_checksum(connection)
        for table in ("thread", "turn"):
            connection.execute(seal_sql(table, "true"))
        connection.commit()


def names(library: Library) -> list[str]:
    return [file.name for file in list_backup_files(library)]


def test_a_backup_is_private_small_and_says_its_day(library: Library) -> None:
    assert back_up_if_due(library, now=NOW) == ""
    (file,) = list_backup_files(library)
    assert file.name == "2026-11-23.jsonl.gz"
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.parent.stat().st_mode & 0o777 == 0o700
    newest = load_newest_backup(library)
    assert newest is not None
    assert str(newest.day) == "2026-11-23"


def test_at_most_one_is_written_a_day(library: Library) -> None:
    back_up_if_due(library, now=NOW)
    content = list_backup_files(library)[0].read_bytes()
    change(library)
    back_up_if_due(library, now=NOW + 60)
    assert list_backup_files(library)[0].read_bytes() == content


def test_none_is_written_if_nothing_has_changed(library: Library) -> None:
    back_up_if_due(library, now=NOW)
    back_up_if_due(library, now=NOW + DAY)
    assert names(library) == ["2026-11-23.jsonl.gz"]
    change(library)
    back_up_if_due(library, now=NOW + DAY + 60)  # it was looked at today
    back_up_if_due(library, now=NOW + 2 * DAY)
    assert names(library) == ["2026-11-23.jsonl.gz", "2026-11-25.jsonl.gz"]


def test_seven_days_are_kept(library: Library) -> None:
    with library.database.open("ab") as file:
        file.truncate(100_000_000)
    for day in range(10):
        change(library)
        back_up_if_due(library, now=NOW + day * DAY)
    assert len(names(library)) == 7
    assert names(library)[-1] == "2026-12-02.jsonl.gz"


def test_few_are_kept_where_they_are_large_beside_the_library(library: Library) -> None:
    for day in range(10):
        change(library)
        back_up_if_due(library, now=NOW + day * DAY)
    assert len(names(library)) == 2


def test_what_is_lost_comes_back_from_any_backup_and_nothing_is_overwritten(
    library: Library,
) -> None:
    original = read_plainly(library.database)
    back_up_if_due(library, now=NOW)
    change(library, "delete from thread where id like '%1'")
    change(library, "delete from reply")
    change(library, "update thread set title = 'Newer', updated_at = 9e6")
    back_up_if_due(library, now=NOW + DAY)  # after the loss
    report = recover_from_backups(library, now=NOW + DAY)
    restored = read_plainly(library.database)
    assert restored["turn"].keys() == original["turn"].keys()
    assert restored["reply"] == original["reply"]
    assert [row[1] for row in restored["thread"].values()].count("Newer") == 5
    assert restored["sent"] == original["sent"]
    assert report.recovered["turn"].copied == 12
    again = recover_from_backups(library, now=NOW + DAY)
    assert not any(counts.copied for counts in again.recovered.values())
    assert read_plainly(library.database) == restored


def test_a_lost_library_comes_back_from_its_backups(library: Library) -> None:
    original = read_plainly(library.database)
    back_up_if_due(library, now=NOW)
    library.database.unlink()
    assert back_up_if_due(library, now=NOW + DAY) == ""
    recover_from_backups(library, now=NOW + DAY)
    restored = read_plainly(library.database)
    assert restored["thread"] == original["thread"]
    assert restored["turn"] == original["turn"]
    assert restored["reply"] == original["reply"]


def test_an_empty_library_writes_none_over_those_of_a_lost_one(
    library: Library,
) -> None:
    back_up_if_due(library, now=NOW)
    library.database.unlink()
    a_talkative_library(library.database, threads=0, turns=0)
    back_up_if_due(library, now=NOW + DAY)
    assert names(library) == ["2026-11-23.jsonl.gz"]


def test_a_damaged_backup_is_named_and_the_others_are_used(library: Library) -> None:
    back_up_if_due(library, now=NOW)
    change(library)
    back_up_if_due(library, now=NOW + DAY)
    newest = list_backup_files(library)[-1]
    newest.write_bytes(newest.read_bytes()[:500])
    change(library, "delete from thread")
    report = recover_from_backups(library, now=NOW + DAY)
    assert any(newest.name in step for step in report.steps)
    assert report.recovered["turn"].copied == 72
    list_backup_files(library)[0].write_bytes(b"none")
    with pytest.raises(StoreProblem, match="cannot be read"):
        recover_from_backups(library, now=NOW + DAY)


@pytest.mark.parametrize(
    "line",
    [
        b"[",
        b"[1]",
        b'["turn", []]',
        b'["turn", {}]',
        b'["turn", {"id": [], "thread_id": 1, "number": "", "asked_at": "x"}]',
        b'["sent", {"at": 5}]',
        b'["thread", {"id": "a", "deleted_at": "x"}]',
        b"[" * 100_000,
    ],
)
def test_a_crafted_backup_costs_only_itself(library: Library, line: bytes) -> None:
    back_up_if_due(library, now=NOW)
    (file,) = list_backup_files(library)
    before = read_plainly(library.database)
    content = gzip.decompress(file.read_bytes()) + line + b"\n"
    file.write_bytes(gzip.compress(content))
    try:
        recover_from_backups(library, now=NOW)
    except StoreProblem as error:
        assert file.name in str(error)
    assert read_plainly(library.database) == before


def test_a_thread_deleted_for_good_leaves_every_backup(library: Library) -> None:
    back_up_if_due(library, now=NOW)
    change(library)
    back_up_if_due(library, now=NOW + DAY)
    gone = next(iter(read_plainly(library.database)["thread"]))
    assert isinstance(gone, str)
    drop_threads_from_backups(library, [gone])
    for file in list_backup_files(library):
        rows = load_backup_rows(file)
        assert len(rows["thread"]) == 5
        assert len(rows["turn"]) == 60
        assert gone.encode() not in gzip.decompress(file.read_bytes())


def test_a_thread_deleted_long_ago_leaves_the_backups_on_the_next_day(
    library: Library,
) -> None:
    back_up_if_due(library, now=NOW)
    change(
        library,
        f"update thread set deleted_at = {NOW}, deletion = 1 where id like '%3'",
    )
    back_up_if_due(library, now=NOW + DAY)
    assert len(load_backup_rows(list_backup_files(library)[-1])["thread"]) == 6
    back_up_if_due(library, now=NOW + 32 * DAY)
    assert len(load_backup_rows(list_backup_files(library)[-1])["thread"]) == 5


def test_a_cleared_send_log_leaves_every_backup(library: Library) -> None:
    back_up_if_due(library, now=NOW)
    drop_send_log_from_backups(library)
    (file,) = list_backup_files(library)
    assert load_backup_rows(file)["sent"] == []
    assert len(load_backup_rows(file)["turn"]) == 72


def test_a_backup_that_cannot_be_written_is_said_and_stops_nothing(
    library: Library,
) -> None:
    (library.state_dir / "backups").write_text("in the way")
    assert "could not be written" in back_up_if_due(library, now=NOW)


def test_a_library_that_cannot_be_read_keeps_its_backups(library: Library) -> None:
    back_up_if_due(library, now=NOW)
    library.database.write_bytes(b"no library " * 999)
    assert "could not be written" in back_up_if_due(library, now=NOW + DAY)
    assert names(library) == ["2026-11-23.jsonl.gz"]


def test_links_among_the_backups_are_not_followed(
    library: Library, tmp_path: Path
) -> None:
    back_up_if_due(library, now=NOW)
    Path(library.state_dir / "backups/2026-11-24.jsonl.gz").symlink_to(
        list_backup_files(library)[0]
    )
    assert names(library) == ["2026-11-23.jsonl.gz"]


def test_where_no_backup_is_nothing_is_restored(library: Library) -> None:
    with pytest.raises(NotFound, match="no automatic backup"):
        recover_from_backups(library, now=NOW)
