from dataclasses import replace

import pytest

from lrwr.core.model.errors import ExitCode
from tests.fakes.hosted import PASSWORD, sign_up
from tests.fakes.moved import (
    Desk,
    edit,
    keep_there,
    own_settings,
    records_of,
    write_manuscript,
)
from tests.fakes.supabase_server import SupabaseServer
from tests.fakes.terminal import Ran, Terminal, check_refusal

pytestmark = pytest.mark.supabase

PATIENCE = 60.0
"""Seconds that a command may take to come to the point where it is killed."""


def test_a_library_that_is_pushed_and_pulled_is_the_same_and_finds_the_same(
    pushed: Terminal, desk: Desk
) -> None:
    other = desk("second")
    ran = other.run("pull", "--into", "manuscript")
    assert ran.code == 0
    assert ran.out.startswith("Downloaded book from 127.0.0.1: ")
    assert records_of(other.folder) == records_of(pushed.folder)
    # Token states are not uploaded; without them reranked scores differ a little.
    for words in (
        ["lantern", "--no-rerank"],
        ["who counts the stones?", "--no-rerank"],
    ):
        theirs = other.run("search", *words, "--json").json["passages"]
        assert theirs == pushed.run("search", *words, "--json").json["passages"]
        assert theirs
    for path in (pushed.folder / "chapters").iterdir():
        brought = other.folder / "manuscript" / "chapters" / path.name
        assert brought.read_bytes() == path.read_bytes()


def test_what_is_there_already_is_not_moved_again(
    pushed: Terminal, desk: Desk, supabase: SupabaseServer
) -> None:
    other = desk("second")
    other.run("pull")
    supabase.gate.asked.clear()
    again = pushed.run("push", "--json").json
    assert (again["documents"], again["unchanged"]) == (0, 4)
    assert (again["conversations"], again["files"]["moved"]) == (0, 0)
    assert other.run("pull", "--json").json["records"] == 0
    sent = [one for one in supabase.gate.asked if "put_" in one or "/object/" in one]
    assert [one for one in sent if "/object/list/" not in one] == []
    edit(pushed.folder, "The stones came up again.")
    pushed.run("ingest")
    more = pushed.run("push", "--json").json
    assert (more["documents"], more["unchanged"], more["files"]["moved"]) == (1, 3, 1)
    assert other.run("pull").code == 0
    assert records_of(other.folder) == records_of(pushed.folder)


@pytest.mark.parametrize(
    ("request_", "times", "done"),
    [
        ("new_library", 1, True),
        ("put_vectors", 2, False),
        ("put_record", 3, True),
        ("put_record", 6, False),
        ("put_thread", 1, True),
    ],
)
def test_a_push_that_is_killed_goes_on_where_it_was(
    desk: Desk, supabase: SupabaseServer, request_: str, times: int, *, done: bool
) -> None:
    terminal, other = desk("first"), desk("second")
    write_manuscript(terminal.folder)
    terminal.run("ingest", ".")
    terminal.run("ask", "How old is Nell?")
    kill_at(terminal, supabase, ["push"], f"lrwr_{request_}", times=times, done=done)
    assert terminal.run("push").code == 0
    assert other.run("pull").code == 0
    assert records_of(other.folder) == records_of(terminal.folder)


@pytest.mark.parametrize(
    ("request_", "times"),
    [("lrwr_changes", 1), ("lrwr_vectors", 2), ("thread_whole", 1), ("/object/", 3)],
)
def test_a_pull_that_is_killed_goes_on_where_it_was(
    pushed: Terminal, desk: Desk, supabase: SupabaseServer, request_: str, times: int
) -> None:
    other = desk("second")
    kill_at(other, supabase, ["pull"], request_, times=times)
    assert other.run("pull", "--into", "manuscript").code == 0
    assert records_of(other.folder) == records_of(pushed.folder)
    assert len([*(other.folder / "manuscript").rglob("*.md")]) == 4


def test_a_library_kept_there_is_one_on_every_machine(
    pushed: Terminal, desk: Desk
) -> None:
    keep_there(pushed)
    other = keep_there(desk("second"))
    assert other.run("pull").code == 0
    edit(pushed.folder, "Corin Vale found a brass whistle under the lantern.")
    assert pushed.run("ingest").code == 0
    found = other.run("search", "brass whistle", "--json").json["passages"]
    assert "brass whistle" in found[0]["text"]
    assert other.run("ask", "Who counts the stones?").code == 0
    titles = pushed.run("threads", "--json").json
    assert len(titles) == len(other.run("threads", "--json").json) == 2
    assert pushed.run("jobs", "--json").json == other.run("jobs", "--json").json != []
    assert records_of(pushed.folder) == records_of(other.folder)


def test_what_is_only_tried_is_written_nowhere(
    pushed: Terminal, supabase: SupabaseServer
) -> None:
    keep_there(pushed)
    edit(pushed.folder, "A whistle lay there.")
    before = records_of(pushed.folder)
    supabase.gate.asked.clear()
    assert pushed.run("diff").code == 0
    assert pushed.run("ingest", "--dry-run").code == 0
    writing = ("put_", "enqueue", "claim", "keep_", "complete", "/object/")
    assert supabase.gate.asked
    assert [one for one in supabase.gate.asked if any(w in one for w in writing)] == []
    assert records_of(pushed.folder) == before


def test_without_the_project_what_is_here_is_read_and_nothing_is_lost(
    pushed: Terminal, supabase: SupabaseServer
) -> None:
    keep_there(pushed)
    edit(pushed.folder, "A whistle lay there.")
    before = records_of(pushed.folder)
    supabase.gate.refusals.extend([503] * 60)
    ran = pushed.run("search", "lantern")
    assert ran.code == 0
    assert "lantern" in ran.out
    assert "Changes made on other machines are not available yet" in ran.err
    failed = pushed.run("ingest")
    assert failed.code == ExitCode.SERVICE
    assert "127.0.0.1 failed (503)" in failed.err
    supabase.gate.refusals.clear()
    assert records_of(pushed.folder) == before
    assert pushed.run("ingest").code == 0
    assert "whistle" in pushed.run("search", "whistle").out


@pytest.mark.parametrize("done", [False, True], ids=["before", "after"])
def test_an_ingestion_that_is_killed_is_finished_by_another_machine(
    pushed: Terminal, desk: Desk, supabase: SupabaseServer, *, done: bool
) -> None:
    keep_there(pushed)
    other = keep_there(desk("second"))
    write_manuscript(other.folder)
    assert other.run("pull").code == 0
    edit(pushed.folder, "A whistle lay there.")
    edit(other.folder, "A whistle lay there.")
    kill_at(pushed, supabase, ["ingest"], "lrwr_put_record", times=1, done=done)
    assert other.run("ingest", ".").code == 0
    assert pushed.run("ingest").code == 0
    assert records_of(pushed.folder) == records_of(other.folder)
    assert "whistle" in other.run("search", "whistle").out


def test_what_others_changed_there_is_not_overwritten_unasked(
    pushed: Terminal, desk: Desk
) -> None:
    other = desk("second")
    write_manuscript(other.folder)
    other.run("pull")
    edit(other.folder, "A whistle lay there.")
    other.run("ingest", ".")
    assert other.run("push").code == 0
    edit(pushed.folder, "A bell lay there.")
    pushed.run("ingest")
    check_refusal(
        without_story(pushed.run("push")),
        ExitCode.STORE,
        "Another machine has changed",
        "lrwr push --over",
    )
    assert pushed.run("pull").code == 0
    assert pushed.run("ingest").code == 0
    assert pushed.run("push").code == 0
    assert other.run("pull").code == 0
    assert "bell" in other.run("search", "bell").out


def test_a_library_belongs_to_one_account_and_one_name(
    pushed: Terminal, desk: Desk, supabase: SupabaseServer
) -> None:
    other = desk("second")
    write_manuscript(other.folder)
    other.run("ingest", ".")
    refused = without_story(other.run("push"))
    check_refusal(refused, ExitCode.STORE, "a library 'book'", "lrwr push --new")
    check_refusal(other.run("pull"), ExitCode.STORE, "already has a library")
    assert other.run("push", "--name", "another").code == 0
    third = desk("third")
    assert third.run("pull", "another").code == 0
    check_refusal(third.run("pull", "book"), ExitCode.STORE, "'another', not 'book'")
    check_refusal(desk("fourth").run("pull", "x"), ExitCode.NOT_FOUND, "another, book")
    stranger = sign_up(supabase)
    third.run("login", stranger.email, given=f"{PASSWORD}\n")
    check_refusal(third.run("pull"), ExitCode.STORE, "a different account")
    assert third.run("push", "--new", "--name", "mine").code == 0


def test_what_is_pulled_into_its_own_folder_need_not_be_read_again(
    pushed: Terminal, desk: Desk
) -> None:
    other = desk("second")
    assert other.run("pull", "--into", ".").code == 0
    assert other.run("pull", "--into", ".").code == 0
    assert other.run("ingest", ".", "--json").json["processed"] == 0
    edit(other.folder, "A whistle lay there.")
    written = {path: path.read_bytes() for path in other.folder.rglob("*.md")}
    refused = other.run("pull", "--into", ".")
    check_refusal(refused, ExitCode.STORE, "already exists")
    assert written == {path: path.read_bytes() for path in written}


def test_what_the_writer_denied_goes_nowhere(
    first: Terminal, supabase: SupabaseServer
) -> None:
    assert first.run("privacy", "deny", "supabase").code == 0
    supabase.gate.asked.clear()
    check_refusal(first.run("push"), ExitCode.SETTINGS, "You denied Supabase")
    check_refusal(first.run("pull"), ExitCode.SETTINGS, "You denied Supabase")
    assert supabase.gate.asked == []


def test_keeping_records_there_asks_for_a_push_first(desk: Desk) -> None:
    terminal = keep_there(desk("first"))
    check_refusal(terminal.run("search", "x"), ExitCode.NOT_FOUND, "lrwr pull")
    write_manuscript(terminal.folder)
    check_refusal(terminal.run("ingest", "."), ExitCode.SETTINGS, "lrwr push")
    assert terminal.run("push").code == 0
    assert terminal.run("ingest", ".").code == 0
    own_settings(terminal).unlink()
    edit(terminal.folder, "A whistle lay there.")
    assert terminal.run("ingest").code == 0
    keep_there(terminal)
    check_refusal(terminal.run("ingest"), ExitCode.SETTINGS, "not been uploaded yet")
    assert terminal.run("push").code == 0
    assert terminal.run("ingest").code == 0


@pytest.mark.parametrize("anew", [False, True])
def test_a_library_of_which_a_part_is_there_asks_for_the_rest(
    first: Terminal, desk: Desk, supabase: SupabaseServer, *, anew: bool
) -> None:
    name = ["--name", "half"]
    if anew:
        assert first.run("push").code == 0
        name.append("--new")
    kill_at(first, supabase, ["push", *name], "lrwr_put_record", times=2)
    keep_there(first)
    for words in (["ingest"], ["search", "lantern"]):
        check_refusal(
            first.run(*words), ExitCode.SETTINGS, "not been uploaded yet", "lrwr push"
        )
    assert "lrwr push" in first.run("doctor").out
    assert first.run("pull", "--no-files").code == 0
    check_refusal(
        first.run("ingest"), ExitCode.SETTINGS, "not been uploaded yet", "lrwr push"
    )
    assert first.run("push", "--json").json["unchanged"] == 1
    assert first.run("ingest").code == 0
    other = desk("second")
    assert other.run("pull", "half").code == 0
    assert records_of(other.folder) == records_of(first.folder)


def without_story(ran: Ran) -> Ran:
    """Return a run as if it had only told what was wrong."""
    return replace(ran, err=ran.err[ran.err.index("lrwr: ") :])


def kill_at(
    terminal: Terminal,
    supabase: SupabaseServer,
    words: list[str],
    request_: str,
    *,
    times: int,
    done: bool = False,
) -> None:
    """Kill a command at its so-manieth request of a kind, which was done or was not."""
    with supabase.gate.stopping(request_, times=times, done=done) as reached:
        process = terminal.start(*words)
        assert reached.wait(PATIENCE)
        process.kill()
        process.wait()
