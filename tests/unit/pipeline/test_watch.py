"""The watch over a real folder and library; events come when the test says so."""

import shutil
from collections.abc import AsyncIterator

import pytest

from lrwr.core.model.errors import NotFound, StoreProblem
from lrwr.core.model.facts import FactAbout
from lrwr.core.ports.sources import FolderLost, PollingStarted
from lrwr.pipeline.watch.debounce import WatchIntervals
from lrwr.pipeline.watch.events import (
    ManuscriptAway,
    ManuscriptReturn,
    PollingFallback,
    SaveReport,
    WatchCause,
    WatchFailure,
    WatchStart,
)
from tests.fakes.analysts import ScriptedAnalyst
from tests.fakes.story_desks import StoryDesk
from tests.fakes.watches import Watched, begun, over

GREY = "# One\n\nNell Tallow's eyes were grey. Nell Tallow sang.\n"
BROWN = GREY.replace("grey", "brown")


@pytest.fixture
async def watched(story: StoryDesk) -> AsyncIterator[Watched]:
    story.write("1.md", GREY)
    story.write("2.md", "# Two\n\nThe frog sat on the sluice gate and said nothing.\n")
    async with over(story) as opened:
        yield opened


async def started(watched: Watched) -> SaveReport:
    first = await watched.hear(SaveReport)
    await watched.hear(WatchStart)
    return first


async def test_a_watch_begins_with_a_sweep(watched: Watched) -> None:
    async with begun(watched):
        first = await watched.hear(SaveReport)
        assert first.cause is WatchCause.START
        assert [one.document for one in first.learned.documents] == ["1.md", "2.md"]
        assert (await watched.hear(WatchStart)).documents == 2


async def test_a_save_is_read_and_says_what_changed_in_what_is_known(
    watched: Watched,
) -> None:
    async with begun(watched):
        await started(watched)
        watched.desk.write("1.md", BROWN)
        watched.events.touch("1.md")
        saved = await watched.hear(SaveReport)
        (document,) = saved.learned.documents
        assert (document.document, document.passages_changed) == ("1.md", 1)
        (shift,) = saved.learned.facts_changed
        assert (shift.what, shift.before, shift.after) == ("eyes", "grey", "brown")
    assert any("brown" in text for text in await watched.desk.told())


async def test_events_that_changed_nothing_say_nothing(watched: Watched) -> None:
    async with begun(watched):
        await started(watched)
        watched.events.touch("1.md")
        watched.desk.write("3.md", "# Three\n\nThe tide came in.\n")
        watched.events.touch("3.md")
        saved = await watched.hear(SaveReport)
        assert [one.document for one in saved.learned.documents] == ["3.md"]


async def test_what_nobody_told_is_found_by_the_next_sweep(watched: Watched) -> None:
    watched.pace = WatchIntervals(debounce=0.001, sweep=0.05)
    async with begun(watched):
        await started(watched)
        watched.desk.write("1.md", BROWN)
        assert (await watched.hear(SaveReport)).learned.changed


async def test_a_rename_is_told_as_one(watched: Watched) -> None:
    async with begun(watched):
        await started(watched)
        (watched.desk.folder / "1.md").rename(watched.desk.folder / "9.md")
        watched.events.touch("1.md", "9.md")
        saved = await watched.hear(SaveReport)
        (document,) = saved.learned.documents
        assert (document.document, document.was) == ("9.md", "1.md")
        assert (saved.learned.facts_new, saved.learned.facts_gone) == ((), ())


async def test_a_deleted_file_that_comes_back_was_edited(watched: Watched) -> None:
    async with begun(watched):
        await started(watched)
        (watched.desk.folder / "1.md").unlink()
        watched.meanwhile.append(lambda: watched.desk.write("1.md", BROWN))
        watched.events.touch("1.md")
        saved = await watched.hear(SaveReport)
        (document,) = saved.learned.documents
        assert (document.gone, document.passages_changed) == (False, 1)
    jobs = await watched.desk.library.queue.jobs(limit=99)
    assert "forget" not in {job.order.kind for job in jobs}


async def test_a_deleted_file_is_forgotten(watched: Watched) -> None:
    async with begun(watched):
        await started(watched)
        (watched.desk.folder / "1.md").unlink()
        watched.events.touch("1.md")
        saved = await watched.hear(SaveReport)
        (document,) = saved.learned.documents
        assert document.gone
        assert [shift.before for shift in saved.learned.facts_gone] != []


async def test_a_folder_that_is_gone_is_waited_for_and_nothing_is_forgotten(
    watched: Watched,
) -> None:
    folder = watched.desk.folder
    away = folder.with_name("away")
    async with begun(watched):
        await started(watched)
        before = await watched.desk.told()
        folder.rename(away)
        watched.events.touch()
        assert "folder is missing" in (await watched.hear(ManuscriptAway)).what
        assert await watched.desk.told() == before
        (away / "2.md").write_text("# Two\n\nThe toad.\n", encoding="utf-8")
        away.rename(folder)
        saved = await watched.hear(SaveReport)
        assert [one.document for one in saved.learned.documents] == ["2.md"]
        await watched.hear(ManuscriptReturn)
        watched.desk.write("1.md", BROWN)
        watched.events.touch()
        assert (await watched.hear(SaveReport)).learned.facts_changed
    assert watched.events.asked == 2


async def test_a_folder_that_another_takes_the_place_of_is_watched_anew(
    watched: Watched,
) -> None:
    async with begun(watched):
        await started(watched)
        watched.events.tell(FolderLost(watched.desk.folder))
        assert str(watched.desk.folder) in (await watched.hear(ManuscriptAway)).what
        await watched.hear(ManuscriptReturn)
        watched.desk.write("1.md", BROWN)
        watched.events.touch()
        assert (await watched.hear(SaveReport)).learned.facts_changed
    assert watched.events.asked == 2


async def test_a_folder_that_is_suddenly_empty_is_not_forgotten(
    watched: Watched,
) -> None:
    async with begun(watched):
        await started(watched)
        before = await watched.desk.told()
        kept = watched.desk.folder.with_name("kept")
        shutil.copytree(watched.desk.folder, kept)
        for path in watched.desk.folder.iterdir():
            path.unlink()
        watched.events.touch()
        assert "folder is empty" in (await watched.hear(ManuscriptAway)).what
        assert await watched.desk.told() == before
        shutil.copytree(kept, watched.desk.folder, dirs_exist_ok=True)
        await watched.hear(ManuscriptReturn)


async def test_one_look_at_an_empty_folder_is_an_error(watched: Watched) -> None:
    await watched.service().run(watched.say, once=True)
    for path in watched.desk.folder.iterdir():
        path.unlink()
    with pytest.raises(NotFound):
        await watched.service().run(watched.say, once=True)
    assert await watched.desk.told()


async def test_a_file_that_cannot_be_read_is_told_once(watched: Watched) -> None:
    watched.desk.write("bad.docx", "no zip at all")
    watched.pace = WatchIntervals(debounce=0.001, sweep=0.02)
    async with begun(watched):
        first = await watched.hear(SaveReport)
        assert [problem.document for problem in first.problems] == ["bad.docx"]
        await watched.hear(WatchStart)
        watched.desk.write("1.md", BROWN)
        assert (await watched.hear(SaveReport)).problems == ()


async def test_a_conflict_copy_is_told_once_and_not_read(watched: Watched) -> None:
    async with begun(watched):
        await started(watched)
        watched.desk.write("2 (1).md", GREY)  # no copy: another text
        watched.desk.write("1 (1).md", GREY)
        watched.events.touch("1 (1).md")
        told = await watched.hear(SaveReport)
        assert [one.document for one in told.learned.documents] == ["2 (1).md"]
        assert told.remarks == (
            "1 (1).md was skipped: it looks like a copy of 1.md, made by a sync program or by hand; merge what differs"
            " and delete the copy.",
        )
        watched.desk.write("2 2.md", (watched.desk.folder / "2.md").read_text())
        watched.events.touch("2 2.md")
        alone = await watched.hear(SaveReport)
        assert alone.learned.documents == ()
        assert alone.remarks[0].startswith("1 (1).md and 1 more were skipped")
        watched.desk.write("3.md", BROWN)
        watched.events.touch("3.md")
        assert (await watched.hear(SaveReport)).remarks == ()


async def test_conflict_markers_are_told_and_the_last_reading_stays(
    watched: Watched,
) -> None:
    async with begun(watched):
        await started(watched)
        before = await watched.desk.told()
        watched.desk.write("1.md", f"{GREY}\n<<<<<<< a\nx\n=======\ny\n>>>>>>> b\n")
        watched.events.touch("1.md")
        (problem,) = (await watched.hear(SaveReport)).problems
        assert problem.message == "1.md has git conflict markers (line 5)"
        assert await watched.desk.told() == before


async def test_polling_is_told_once(watched: Watched) -> None:
    async with begun(watched):
        await started(watched)
        watched.events.tell(
            PollingStarted("it is far away"), PollingStarted("it is far away")
        )
        assert (await watched.hear(PollingFallback)).why == "it is far away"
        watched.desk.write("1.md", BROWN)
        watched.events.touch()
        await watched.hear(SaveReport)


async def test_a_broken_decision_is_told_and_the_watch_goes_on(
    watched: Watched,
) -> None:
    canon = watched.desk.folder / "lrwr.canon.toml"
    async with begun(watched):
        await started(watched)
        canon.write_text("no = [", encoding="utf-8")
        watched.desk.write("1.md", BROWN)
        watched.events.touch()
        assert "lrwr.canon.toml" in (await watched.hear(WatchFailure)).message
        canon.unlink()
        watched.desk.write("1.md", GREY)
        watched.events.touch()
        assert (await watched.hear(SaveReport)).learned


async def test_another_library_in_the_place_of_ours_ends_the_watch(
    watched: Watched,
) -> None:
    watched.same = False
    with pytest.raises(StoreProblem, match="deleted or replaced"):
        await watched.service().run(watched.say)


TRAITS = {"sang": (FactAbout.CHARACTER, "personality_trait", "musical")}


async def test_rules_alone_read_where_a_model_is_not_to_be_asked(
    watched: Watched,
) -> None:
    analyst = watched.desk.analyst = ScriptedAnalyst(TRAITS)
    watched.pace = WatchIntervals(debounce=0.001, sweep=0.02)
    async with begun(watched):
        first = await started(watched)
        assert (first.unread, first.model, first.remarks) == (True, "", ())
        watched.desk.write("1.md", BROWN)
        assert (await watched.hear(SaveReport)).unread
    assert analyst.calls == 0
    await watched.desk.ingest()
    assert analyst.calls > 0


async def test_a_quiet_time_lets_a_model_read_what_it_has_not_read(
    watched: Watched,
) -> None:
    analyst = watched.desk.analyst = ScriptedAnalyst(TRAITS)
    watched.pace = WatchIntervals(debounce=0.001, sweep=3600, idle=0.01)
    async with begun(watched):
        await started(watched)
        read = await watched.hear(SaveReport)
        assert (read.cause, read.model) == (WatchCause.IDLE, "scripted")
        assert read.usage.calls == analyst.calls > 0
        new = {shift.after for shift in read.learned.facts_new}
        assert "musical" in new


async def test_a_save_makes_no_more_calls_than_it_may(watched: Watched) -> None:
    analyst = watched.desk.analyst = ScriptedAnalyst(TRAITS)
    watched.asking, watched.calls = "on-save", 1
    async with begun(watched):
        first = await started(watched)
        assert first.usage.calls == analyst.calls == 1
        assert "calls is reached: 1." in first.remarks[0]
        watched.desk.write("1.md", BROWN)
        watched.events.touch()
        second = await watched.hear(SaveReport)
        assert (second.usage.calls, second.unread, second.remarks) == (1, True, ())
    assert analyst.calls == 2


async def test_many_missing_files_are_told_once_and_nothing_is_forgotten(
    watched: Watched,
) -> None:
    part = [f"part/{number}.md" for number in range(1, 4)]
    for name in part:
        watched.desk.write(name, f"# Part {name}\n\nThe bell at {name} rang.\n")
    async with begun(watched):
        await started(watched)
        before = await watched.desk.told()
        (watched.desk.folder / "part").rename(watched.desk.folder.with_name("away"))
        watched.events.touch("part")
        lost = await watched.hear(SaveReport)
        assert (lost.missing, lost.learned.documents) == (tuple(part), ())
        assert "3 documents are missing from part" in lost.remarks[0]
        assert await watched.desk.told() == before
        watched.desk.write("1.md", BROWN)
        watched.events.touch("1.md")
        saved = await watched.hear(SaveReport)
        assert (saved.missing, saved.remarks) == (tuple(part), ())
        assert [one.document for one in saved.learned.documents] == ["1.md"]
        watched.desk.folder.with_name("away").rename(watched.desk.folder / "part")
        watched.desk.write("1.md", GREY)
        watched.events.touch("1.md")
        await watched.hear(ManuscriptReturn)
        assert (await watched.hear(SaveReport)).missing == ()
    jobs = await watched.desk.library.queue.jobs(limit=99)
    assert "forget" not in {job.order.kind for job in jobs}
