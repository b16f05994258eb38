"""A damaged library gives back every row that can be read."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lrwr.core.adapters.storage.sqlite.checksums import (
    register_row_checksum,
    seal_sql,
)
from lrwr.core.adapters.storage.sqlite.maintenance import inspect_database
from lrwr.core.adapters.storage.sqlite.pages import StoredRow
from lrwr.core.adapters.storage.sqlite.salvage import (
    correct_row_numbers,
    merge_library,
    merge_unfinished_salvage,
    read_damaged_library,
    rebuild_library,
    salvage_library,
)
from tests.fakes.damaged import (
    PAGE,
    TABLES,
    Rows,
    a_talkative_library,
    count_pages,
    find_root,
    flip_bit,
    read_plainly,
    read_still_readable,
    truncate,
    zero_page,
)

NOW = 2e6


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("library") / "library.db"
    a_talkative_library(path)
    return path


@pytest.fixture(scope="module")
def original(pristine: Path) -> Rows:
    return read_plainly(pristine)


@pytest.fixture
def damaged(pristine: Path, tmp_path: Path) -> Path:
    return Path(shutil.copyfile(pristine, tmp_path / "library.db"))


def salvaged(path: Path) -> Rows:
    """The rows of a new library that was made from a damaged one."""
    target = path.with_name("new.db")
    target.unlink(missing_ok=True)
    rebuild_library([read_damaged_library(path)], target, expired_before=0.0)
    assert inspect_database(target, now=NOW).damage == ()
    return read_plainly(target)


def lacking(rows: Rows, wanted: Rows) -> list[tuple[str, object]]:
    """Rows of `wanted` that `rows` lacks or has otherwise."""
    return [
        (table, key)
        for table in TABLES
        for key, row in wanted[table].items()
        if rows[table].get(key) != row
    ]


def test_a_whole_library_is_copied_whole(damaged: Path, original: Rows) -> None:
    assert salvaged(damaged) == original


@pytest.mark.parametrize(
    "name", ["quotation_by_speaker", "chunk", "document", "change", "turn_fts_data"]
)
def test_a_zeroed_page_of_what_can_be_rebuilt_costs_nothing(
    damaged: Path, original: Rows, name: str
) -> None:
    zero_page(damaged, find_root(damaged, name))
    assert lacking(salvaged(damaged), original) == []


@pytest.mark.parametrize("name", ["turn", "reply", "sent", "job"])
def test_a_zeroed_page_at_the_top_of_a_table_costs_only_its_own_rows(
    damaged: Path, original: Rows, name: str
) -> None:
    zero_page(damaged, find_root(damaged, name))
    lost = lacking(salvaged(damaged), original)
    # The topmost page of `reply`, a table without rowids, holds rows of its own.
    assert len(lost) <= (4 if name == "reply" else 0)


@pytest.mark.parametrize("page", [1, 2, 3, 4])
def test_a_library_without_its_schema_is_read_by_the_shape_of_its_rows(
    damaged: Path, original: Rows, page: int
) -> None:
    zero_page(damaged, page)
    assert lacking(salvaged(damaged), original) == []


@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(data=st.data())
def test_whatever_pages_are_zeroed_every_row_that_sql_reads_is_copied(
    pristine: Path, damaged: Path, original: Rows, data: st.DataObject
) -> None:
    shutil.copyfile(pristine, damaged)
    pages = st.integers(1, count_pages(damaged))
    for page in data.draw(st.sets(pages, min_size=1, max_size=12)):
        zero_page(damaged, page)
    readable = read_still_readable(damaged, original)
    assert lacking(salvaged(damaged), readable) == []


@pytest.mark.parametrize(
    ("stored", "corrected"),
    [
        ([1, 2, 3], [1, 2, 3]),
        ([61, 63, 63, 64], [61, 62, 63, 64]),
        ([62, 63, 63, 65], [62, 63, 64, 65]),
        ([4, 900, 6], [4, 5, 6]),
        ([4, 7, 9], [4, 7, 9]),
        ([3, 4, 8, 2, 9], [3, 4, 8, 2, 9]),
        ([0, 0, 0], [0, 0, 0]),
        ([], []),
    ],
)
def test_a_damaged_number_of_a_row_follows_from_its_neighbours(
    stored: list[int], corrected: list[int]
) -> None:
    rows = correct_row_numbers([StoredRow(number, ()) for number in stored])
    assert [row.rowid for row in rows] == corrected


@pytest.mark.parametrize("seed", range(40))
def test_whatever_bits_are_flipped_every_row_that_sql_reads_is_copied(
    damaged: Path, original: Rows, seed: int
) -> None:
    dice = Random(seed)
    for _ in range(dice.choice((1, 1, 5))):
        flip_bit(damaged, dice.randrange(damaged.stat().st_size), dice.randrange(8))
    readable = read_still_readable(damaged, original)
    assert lacking(salvaged(damaged), readable) == []


@pytest.mark.parametrize("share", [0.2, 0.5, 0.9])
def test_a_truncated_file_gives_back_the_rows_before_the_cut(
    damaged: Path, original: Rows, share: float
) -> None:
    truncate(damaged, int(count_pages(damaged) * share))
    rows = salvaged(damaged)
    found = sum(map(len, rows.values()))
    wanted = sum(map(len, original.values()))
    assert 0 < found <= wanted
    assert (
        lacking(
            original,
            {t: rows[t] for t in ("reply", "sent", "job")} | {"thread": {}, "turn": {}},
        )
        == []
    )


def test_rows_of_a_lost_page_are_counted_as_unreadable(
    damaged: Path, original: Rows
) -> None:
    with closing(sqlite3.connect(damaged)) as connection:
        sql = "select pageno from dbstat where name = 'turn' and pagetype = 'leaf'"
        try:
            leaf = connection.execute(sql).fetchone()[0]
        except sqlite3.OperationalError:
            pytest.skip("this SQLite has no dbstat")
    zero_page(damaged, leaf)
    library = read_damaged_library(damaged)
    assert library.unreadable["turn"] == len(original["turn"]) - len(
        library.rows["turn"]
    )
    assert library.unreadable["turn"] > 0


def test_changes_in_the_log_are_copied_too(damaged: Path, tmp_path: Path) -> None:
    live = tmp_path / "live.db"
    shutil.copyfile(damaged, live)
    with closing(sqlite3.connect(live)) as connection:
        connection.execute("pragma journal_mode = wal")
        connection.execute("update thread set title = 'Changed'")
        connection.commit()
        shutil.copyfile(live, damaged)
        shutil.copyfile(f"{live}-wal", f"{damaged}-wal")
    zero_page(damaged, find_root(live, "chunk"))
    titles = {row["title"] for row in read_damaged_library(damaged).rows["thread"]}
    assert titles == {"Changed"}


def test_a_damaged_entry_of_the_log_ends_it_as_in_sqlite(
    damaged: Path, tmp_path: Path
) -> None:
    live = tmp_path / "live.db"
    shutil.copyfile(damaged, live)
    with closing(sqlite3.connect(live)) as connection:
        connection.execute("pragma journal_mode = wal")
        connection.execute("update thread set title = 'Changed'")
        connection.commit()
        shutil.copyfile(live, damaged)
        shutil.copyfile(f"{live}-wal", f"{damaged}-wal")
    flip_bit(Path(f"{damaged}-wal"), 32 + 24 + 50, 3)
    titles = {row["title"] for row in read_damaged_library(damaged).rows["thread"]}
    assert "Changed" not in titles


def test_a_damaged_value_is_replaced_so_that_the_texts_survive(damaged: Path) -> None:
    with closing(sqlite3.connect(damaged)) as connection:
        connection.execute("pragma ignore_check_constraints = on")
        connection.execute(
            "update turn set output = '{', usage = '[', state = 'complexe', number = 0,"
            " asked_at = 1e300 where n = 1"
        )
        connection.execute("update thread set state = '' where rowid = 1")
        connection.commit()
    target = damaged.with_name("new.db")
    counts = rebuild_library(
        [read_damaged_library(damaged)], target, expired_before=0.0
    )
    assert counts["turn"].mended == 1
    assert counts["thread"].mended == 1
    assert counts["turn"].unreadable == 0
    with closing(sqlite3.connect(target)) as connection:
        (answer,) = connection.execute(
            "select answer from turn where question = 'Who? 0'"
        ).fetchone()
    assert "Nell shut the sluice" in answer


def test_turns_without_their_thread_get_one(damaged: Path, original: Rows) -> None:
    with closing(sqlite3.connect(damaged)) as connection:
        connection.execute("pragma foreign_keys = off")
        connection.execute("delete from thread")
        connection.commit()
    rows = salvaged(damaged)
    assert rows["turn"].keys() == original["turn"].keys()
    assert rows["thread"].keys() == original["thread"].keys()


def test_a_thread_that_was_deleted_long_ago_does_not_come_back(damaged: Path) -> None:
    with closing(sqlite3.connect(damaged)) as connection:
        connection.execute("update thread set deleted_at = 5.0, deletion = 1")
        connection.commit()
    target = damaged.with_name("new.db")
    rebuild_library([read_damaged_library(damaged)], target, expired_before=6.0)
    rows = read_plainly(target)
    assert rows["thread"] == rows["turn"] == {}


def test_merging_twice_adds_nothing_and_overwrites_nothing(
    damaged: Path, tmp_path: Path, original: Rows
) -> None:
    library = tmp_path / "current.db"
    a_talkative_library(library, threads=2, turns=3)
    with closing(sqlite3.connect(library)) as connection:
        connection.execute("update thread set title = 'Newer', updated_at = 9e6")
        register_row_checksum(connection)
        connection.execute(seal_sql("thread", "true"))
        connection.commit()
    before = read_plainly(library)
    source = read_damaged_library(damaged)
    first = merge_library(library, source, expired_before=0.0)
    after = read_plainly(library)
    assert after["turn"].keys() == before["turn"].keys() | original["turn"].keys()
    assert after["reply"].keys() == before["reply"].keys() | original["reply"].keys()
    assert [row[1] for row in after["thread"].values()].count("Newer") == 2
    assert first["turn"].copied == len(original["turn"])
    again = merge_library(library, source, expired_before=0.0)
    assert read_plainly(library) == after
    assert not any(counts.copied for counts in again.values())


def test_turns_that_are_added_to_a_thread_are_numbered_by_time(
    damaged: Path, tmp_path: Path
) -> None:
    library = tmp_path / "current.db"
    a_talkative_library(library, threads=1, turns=3)
    with closing(sqlite3.connect(library)) as connection:
        connection.execute("update turn set asked_at = asked_at + 1e6")
        connection.commit()
    merge_library(library, read_damaged_library(damaged), expired_before=0.0)
    with closing(sqlite3.connect(library)) as connection:
        rows = connection.execute(
            "select number, asked_at from turn where thread_id = ? order by number",
            (f"{0:032}",),
        ).fetchall()
    assert [number for number, _ in rows] == list(range(1, 16))
    assert [at for _, at in rows] == sorted(at for _, at in rows)


def test_a_cleared_send_log_stays_cleared(damaged: Path, tmp_path: Path) -> None:
    library = tmp_path / "current.db"
    a_talkative_library(library, threads=1, turns=1)
    with closing(sqlite3.connect(library)) as connection:
        connection.execute("delete from sent")
        connection.execute("update sent_since set at = at + 100")
        connection.commit()
    merge_library(library, read_damaged_library(damaged), expired_before=0.0)
    assert read_plainly(library)["sent"] == {}


def test_the_damaged_file_is_set_aside_and_the_new_one_takes_its_place(
    damaged: Path, original: Rows
) -> None:
    root = find_root(damaged, "quotation_by_speaker")
    zero_page(damaged, root)
    before = damaged.read_bytes()
    moved, counts = salvage_library(damaged, ending="broken-1", expired_before=0.0)
    assert moved.read_bytes()[PAGE:] == before[PAGE:]
    assert lacking(read_plainly(damaged), original) == []
    assert counts["turn"].copied == len(original["turn"])
    assert sorted(path.name for path in damaged.parent.iterdir()) == [
        "library.db",
        "library.db.broken-1",
    ]


def test_a_repaired_library_keeps_its_id_and_makes_indexes_start_again(
    damaged: Path,
) -> None:
    sql = "select id, generation from library"
    with closing(sqlite3.connect(damaged)) as connection:
        id_, generation = connection.execute(sql).fetchone()
    zero_page(damaged, find_root(damaged, "chunk"))
    salvage_library(damaged, ending="broken-1", expired_before=0.0)
    with closing(sqlite3.connect(damaged)) as connection:
        assert connection.execute(sql).fetchone() == (id_, generation + 1)


def test_what_an_interrupted_repair_had_recovered_is_merged(
    damaged: Path, pristine: Path, original: Rows
) -> None:
    shutil.copyfile(pristine, damaged.with_name("library.db.repaired"))
    damaged.unlink()
    a_talkative_library(damaged, threads=1, turns=1)
    assert merge_unfinished_salvage(damaged, expired_before=0.0)
    assert (
        lacking(
            read_plainly(damaged),
            {**original, "thread": {}, "job": {}, "turn": {}, "sent": {}},
        )
        == []
    )
    assert original["turn"].keys() <= read_plainly(damaged)["turn"].keys()
    assert not merge_unfinished_salvage(damaged, expired_before=0.0)
