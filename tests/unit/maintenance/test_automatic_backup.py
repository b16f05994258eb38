"""Automatic backups: written once a day, rotated, merged back, and emptied of deletions."""

import bz2
import gzip
import os
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

TOUCH = "update thread set updated_at = updated_at + 1"
"""Changes what is backed up, and no checksum."""


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
    assert file.name == "2026-11-23.jsonl.bz2"
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
    assert names(library) == ["2026-11-23.jsonl.bz2"]
    change(library)
    back_up_if_due(library, now=NOW + DAY + 60)  # it was looked at today
    back_up_if_due(library, now=NOW + 2 * DAY)
    assert names(library) == ["2026-11-23.jsonl.bz2", "2026-11-25.jsonl.bz2"]


def test_seven_days_are_kept(library: Library) -> None:
    with library.database.open("ab") as file:
        file.truncate(100_000_000)
    for day in range(10):
        change(library)
        back_up_if_due(library, now=NOW + day * DAY)
    assert len(names(library)) == 7
    assert names(library)[-1] == "2026-12-02.jsonl.bz2"


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
    assert names(library) == ["2026-11-23.jsonl.bz2"]


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
    content = bz2.decompress(file.read_bytes()) + line + b"\n"
    file.write_bytes(bz2.compress(content))
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
        assert gone.encode() not in bz2.decompress(file.read_bytes())


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
    assert names(library) == ["2026-11-23.jsonl.bz2"]


def test_links_among_the_backups_are_not_followed(
    library: Library, tmp_path: Path
) -> None:
    back_up_if_due(library, now=NOW)
    Path(library.state_dir / "backups/2026-11-24.jsonl.bz2").symlink_to(
        list_backup_files(library)[0]
    )
    assert names(library) == ["2026-11-23.jsonl.bz2"]


def test_where_no_backup_is_nothing_is_restored(library: Library) -> None:
    with pytest.raises(NotFound, match="no automatic backup"):
        recover_from_backups(library, now=NOW)


def test_a_damaged_row_of_the_library_is_not_copied_over_its_sound_copy(
    library: Library,
) -> None:
    original = read_plainly(library.database)
    back_up_if_due(library, now=NOW)
    damage_row(library, "turn", "answer = 'Changed.' || answer", "number = 3")
    damage_row(library, "thread", "title = 'Changed.'", "id like '%2'")
    damage_row(library, "reply", "finding = '[]'", "key < '3'")
    for day in range(1, 12):
        execute(library, TOUCH)
        back_up_if_due(library, now=NOW + day * DAY)
    newest = load_backup_rows(list_backup_files(library)[-1])
    assert "Changed." not in str(newest)
    library.database.unlink()
    recover_from_backups(library, now=NOW)
    restored = read_plainly(library.database)
    assert restored["turn"] == original["turn"]
    assert restored["reply"] == original["reply"]
    assert set(restored["thread"]) == set(original["thread"])


def test_a_damaged_row_without_a_sound_copy_is_backed_up_as_it_is(
    library: Library,
) -> None:
    damage_row(library, "turn", "answer = 'Changed.'", "number = 3")
    back_up_if_due(library, now=NOW)
    (file,) = list_backup_files(library)
    assert str(load_backup_rows(file)).count("Changed.") == 6


def test_a_row_that_is_not_utf8_does_not_stop_the_backup(library: Library) -> None:
    with closing(sqlite3.connect(library.database)) as connection, connection:
        connection.execute(
            "update turn set answer = cast(x'ff41' as text) where number = 1"
        )
    assert back_up_if_due(library, now=NOW) == ""
    (file,) = list_backup_files(library)
    answers = [row["answer"] for row in load_backup_rows(file)["turn"]]
    assert (len(answers), answers.count("\ufffdA")) == (72, 6)


@pytest.mark.parametrize(
    ("table", "column"), [("turn", "id"), ("turn", "thread_id"), ("thread", "id")]
)
def test_a_row_whose_id_was_damaged_stays_in_the_backups(
    library: Library, table: str, column: str
) -> None:
    back_up_if_due(library, now=NOW)
    original = rows_by_id(library)[table]
    damage_row(library, table, f"{column} = 'z' || substr({column}, 2)", "rowid = 4")
    for day in range(1, 12):
        execute(library, TOUCH)
        back_up_if_due(library, now=NOW + day * DAY)
    kept = rows_by_id(library)[table]
    assert original.keys() <= kept.keys()
    assert all(kept[id_][column] == row[column] for id_, row in original.items())


def test_lost_rows_stay_in_the_backups(library: Library) -> None:
    back_up_if_due(library, now=NOW)
    original = rows_by_id(library)
    change(library, "delete from thread where id like '%1'")
    change(library, "delete from turn where number = 3")
    change(library, "delete from reply where key < '3'")
    for day in range(1, 12):
        execute(library, TOUCH)
        back_up_if_due(library, now=NOW + day * DAY)
    kept = rows_by_id(library)
    assert kept["turn"] == original["turn"]
    assert kept["reply"] == original["reply"]
    assert kept["thread"].keys() == original["thread"].keys()


def test_threads_that_were_deleted_in_the_project_of_a_library_leave_its_backups(
    library: Library,
) -> None:
    change(library, "insert into hosted values (1, 'p', 'a', 'l', 'n', 'w', 0, 0, 0)")
    back_up_if_due(library, now=NOW)
    change(library, "delete from thread where id like '%1'")
    back_up_if_due(library, now=NOW + DAY)
    newest = load_backup_rows(list_backup_files(library)[-1])
    assert len(newest["thread"]) == 5
    assert len(newest["turn"]) == 60


def test_backups_that_were_compressed_with_gzip_are_restored(library: Library) -> None:
    original = read_plainly(library.database)
    back_up_if_due(library, now=NOW)
    (file,) = list_backup_files(library)
    old = file.with_suffix(".gz")
    old.write_bytes(gzip.compress(bz2.decompress(file.read_bytes())))
    os.utime(old, (NOW, NOW))
    file.unlink()
    assert load_newest_backup(library) is not None
    gone = next(iter(original["thread"]))
    drop_threads_from_backups(library, [str(gone)])
    library.database.unlink()
    recover_from_backups(library, now=NOW)
    restored = read_plainly(library.database)
    del original["thread"][gone]
    assert restored["thread"] == original["thread"]
    assert restored["reply"] == original["reply"]
    change(library)
    back_up_if_due(library, now=NOW + DAY)
    assert names(library) == ["2026-11-23.jsonl.gz", "2026-11-24.jsonl.bz2"]


def damage_row(library: Library, table: str, setting: str, where: str) -> None:
    """Change rows without their checksums, as a flipped bit does."""
    execute(library, f"update {table} set {setting} where {where}")


def execute(library: Library, sql: str) -> None:
    with closing(sqlite3.connect(library.database)) as connection:
        connection.execute(sql)
        connection.commit()


def rows_by_id(library: Library) -> dict[str, dict[object, dict[str, object]]]:
    """Return the rows of the newest automatic backup by table and key."""
    rows = load_backup_rows(list_backup_files(library)[-1])
    return {
        table: {row[key]: row for row in rows[table]}
        for table, key in (("thread", "id"), ("turn", "id"), ("reply", "key"))
    }
