"""The files of a library that a project keeps, and machines that have not all of them."""

import shutil
import signal
import time

import pytest

from lrwr.core.model.errors import ExitCode
from tests.fakes.hosted_backup import backup
from tests.fakes.moved import (
    EDITED,
    Desk,
    edit,
    keep_there,
    own_settings,
    write_manuscript,
)
from tests.fakes.supabase_server import SupabaseServer
from tests.fakes.terminal import Terminal, check_refusal

pytestmark = pytest.mark.supabase

PATIENCE = 60.0
"""Seconds until a save must have been read."""


def test_the_files_of_a_library_kept_there_can_be_had_as_they_were_read_last(
    pushed: Terminal, desk: Desk, supabase: SupabaseServer
) -> None:
    keep_there(pushed)
    (pushed.folder / "notes/world/tides.md").unlink()
    edit(pushed.folder, "A whistle lay there.")
    assert pushed.run("ingest").code == 0
    other = desk("second")
    assert other.run("pull", "--into", ".").code == 0
    theirs = {path.name: path.read_bytes() for path in other.folder.rglob("*.md")}
    assert theirs == {p.name: p.read_bytes() for p in pushed.folder.rglob("*.md")}
    supabase.gate.asked.clear()
    again = pushed.run("push", "--json").json["files"]
    assert (again["moved"], again["there"]) == (0, 3)
    assert not [one for one in supabase.gate.asked if one.startswith("DELETE")]


def test_files_that_are_to_be_kept_out_are(
    first: Terminal, desk: Desk, supabase: SupabaseServer
) -> None:
    keep_there(first)
    with own_settings(first).open("a") as settings:
        settings.write("files = false\n")
    supabase.gate.asked.clear()
    assert first.run("push").code == 0
    edit(first.folder, "A whistle lay there.")
    assert first.run("ingest").code == 0
    assert not [one for one in supabase.gate.asked if "/object/" in one]
    other = desk("second")
    pulled = other.run("pull", "--into", ".")
    assert pulled.code == ExitCode.PARTIAL
    assert (
        "does not have these files: chapters/01-the-stones.md"
        in pulled.out + pulled.err
    )
    assert "whistle" in other.run("search", "whistle").out


def test_a_name_that_leads_out_of_the_folder_is_named_and_nothing_is_written_there(
    desk: Desk,
) -> None:
    terminal, other = desk("first"), desk("second")
    write_manuscript(terminal.folder.parent / "manuscript")
    assert terminal.run("ingest", "../manuscript").code == 0
    assert terminal.run("push").code == 0
    pulled = other.run("pull", "--into", ".")
    assert pulled.code == ExitCode.PARTIAL
    assert "outside of the folder" in pulled.out + pulled.err
    assert "../manuscript/chapters/01-the-stones.md" in pulled.out + pulled.err
    assert not (other.folder.parent / "manuscript").exists()
    assert (
        len(other.run("pull", "--into", ".", "--json").json["files"]["left_out"]) == 4
    )


def test_what_is_here_is_read_on_and_kept_when_the_project_was_restored(
    pushed: Terminal, supabase: SupabaseServer
) -> None:
    keep_there(pushed)
    newest = "select id from lrwr_library order by created_at desc limit 1"
    with backup(supabase.postgres, supabase.postgres.run(newest)) as restore:
        edit(pushed.folder, "A whistle lay there.")
        assert pushed.run("ingest").code == 0
        restore()
        found = pushed.run("search", "whistle")
        assert found.code == 0
        assert "A whistle lay there" in found.out
        assert "restored from a backup. Run `lrwr push --over`" in found.err
        edit(pushed.folder, "A bell lay there.")
        refused = pushed.run("ingest")
        assert refused.code == ExitCode.PARTIAL
        assert "is older than this copy" in refused.err
        check_refusal(
            pushed.run("pull"),
            ExitCode.STORE,
            "is older than this copy",
            "lrwr push --over",
        )
        assert "A whistle lay there" in pushed.run("search", "whistle").out


def test_a_machine_that_never_had_a_file_forgets_it_only_when_told(
    pushed: Terminal, desk: Desk
) -> None:
    keep_there(pushed)
    other = keep_there(desk("second"))
    assert other.run("pull").code == 0
    stones = "chapters/01-the-stones.md"
    (other.folder / "chapters").mkdir()
    shutil.copy(pushed.folder / stones, other.folder / stones)
    read = other.run("ingest", ".", "--json").json
    assert (read["forgotten"], read["unchanged"]) == (0, 1)
    assert (
        "02-the-lantern.md and 2 more: not changed, because another"
        in read["remarks"][0]
    )
    assert "climbed to the lantern" in pushed.run("search", "climbed").out
    edit(pushed.folder, "A whistle lay there.")
    assert pushed.run("ingest").code == 0
    assert other.run("ingest", "--json").json["forgotten"] == 0
    told = other.run("ingest", "--forget-missing", "--yes", "--json").json
    assert (told["forgotten"], told["remarks"]) == (3, [])
    assert "climbed to the lantern" not in pushed.run("search", "climbed").out


def test_a_file_that_another_machine_changed_is_forgotten_by_who_removes_it(
    pushed: Terminal, desk: Desk
) -> None:
    keep_there(pushed)
    other = keep_there(desk("second"))
    assert other.run("pull", "--into", ".").code == 0
    assert other.run("ingest", ".").code == 0
    edit(pushed.folder, "A whistle lay there.")
    assert pushed.run("ingest").code == 0
    (other.folder / EDITED).unlink()
    assert other.run("ingest", "--json").json["forgotten"] == 1


def test_a_save_that_is_watched_is_there_for_the_other_machine(
    pushed: Terminal, desk: Desk
) -> None:
    keep_there(pushed)
    other = keep_there(desk("second"))
    assert other.run("pull").code == 0
    watch = pushed.start("watch")
    try:
        time.sleep(1)  # the save may come at any moment: before it looks, or after
        edit(pushed.folder, "A whistle lay there.")
        until = time.monotonic() + PATIENCE
        while "A whistle lay" not in other.run("search", "whistle").out:
            assert time.monotonic() < until
    finally:
        watch.send_signal(signal.SIGTERM)
        assert watch.wait(timeout=PATIENCE) == 0
    assert other.run("pull", "--into", ".").code == 0
    brought = (other.folder / EDITED).read_bytes()
    assert brought == (pushed.folder / EDITED).read_bytes()
