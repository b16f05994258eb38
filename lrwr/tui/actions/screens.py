"""Actions that open other screens, and the action that watches the manuscript."""

from contextlib import aclosing

from lrwr.app.presenters.text import sanitize_text
from lrwr.app.presenters.threads import format_thread_title
from lrwr.app.presenters.watch import describe_watch_event
from lrwr.app.watch import stream_saves
from lrwr.core.continuity.statements import NewContradictions
from lrwr.core.model.errors import NotFound
from lrwr.core.model.turns import ThreadId
from lrwr.pipeline.watch.events import SaveReport, WatchEvent
from lrwr.tui.queries.reader import locate_cited_position
from lrwr.tui.queries.threads import load_threads
from lrwr.tui.room import RoomScreen
from lrwr.tui.screens.check import CheckScreen
from lrwr.tui.screens.diff import DiffScreen
from lrwr.tui.screens.drafts import DraftsScreen, PostsScreen
from lrwr.tui.screens.gaps import GapsScreen
from lrwr.tui.screens.help import HelpScreen, create_palette, find_active_sections
from lrwr.tui.screens.library import LibraryScreen
from lrwr.tui.screens.name_review import NameReviewScreen
from lrwr.tui.screens.people import PeopleScreen
from lrwr.tui.screens.reader import ReaderScreen
from lrwr.tui.screens.search import SearchScreen
from lrwr.tui.screens.settings import SettingsScreen
from lrwr.tui.screens.story import (
    QuotesScreen,
    RecapScreen,
    RelationsScreen,
    TimelineScreen,
    WorldScreen,
)
from lrwr.tui.widgets.source_views import SourceView
from lrwr.tui.widgets.split_view import SplitView
from lrwr.tui.widgets.status import StatusLine


async def show_help(screen: RoomScreen, words: str) -> None:
    """Show all keys and commands, filtered by `words`, first those of the present
    screen.
    """
    above = screen.app.screen
    first = () if above is screen else find_active_sections(above)
    await screen.app.push_screen_wait(HelpScreen(screen.room.keymap, words, first))


async def open_palette(screen: RoomScreen, words: str) -> None:
    """Open the command palette; `words` is ignored."""
    del words
    screen.app.push_screen(create_palette())


async def open_library_screen(screen: RoomScreen, words: str) -> None:
    """Show the library screen; `words` is ignored."""
    del words
    await screen.app.push_screen_wait(LibraryScreen(screen))


async def open_settings_screen(screen: RoomScreen, words: str) -> None:
    """Show all settings with their values, filtered by `words`."""
    await screen.app.push_screen_wait(
        SettingsScreen(screen.room.settings, words.strip())
    )


async def open_people_screen(screen: RoomScreen, words: str) -> None:
    """Show the profiles of all characters, filtered by `words`."""
    await screen.app.push_screen_wait(PeopleScreen(screen, words.strip()))


async def open_world_screen(screen: RoomScreen, words: str) -> None:
    """Show settings, objects and rules of the world, filtered by `words`."""
    await screen.app.push_screen_wait(WorldScreen(screen, words.strip()))


async def open_timeline_screen(screen: RoomScreen, words: str) -> None:
    """Show the events of the story in story order, filtered by `words`."""
    await screen.app.push_screen_wait(TimelineScreen(screen, words.strip()))


async def open_gaps_screen(screen: RoomScreen, words: str) -> None:
    """Show the open questions, so that the user can answer them; `words` is ignored."""
    del words
    await screen.app.push_screen_wait(GapsScreen(screen))


async def open_search_screen(screen: RoomScreen, words: str) -> None:
    """Search passages as the user types, beginning with `words`."""
    await screen.app.push_screen_wait(SearchScreen(screen, words.strip()))


async def open_relations_screen(screen: RoomScreen, words: str) -> None:
    """Show the relationships of characters, filtered by `words`."""
    await screen.app.push_screen_wait(RelationsScreen(screen, words.strip()))


async def open_quotes_screen(screen: RoomScreen, words: str) -> None:
    """Show quoted dialogue with its speakers, filtered by `words`."""
    await screen.app.push_screen_wait(QuotesScreen(screen, words.strip()))


async def open_recap_screen(screen: RoomScreen, words: str) -> None:
    """Show the scenes of the story with summaries, filtered by `words`."""
    await screen.app.push_screen_wait(RecapScreen(screen, words.strip()))


async def open_check_screen(screen: RoomScreen, words: str) -> None:
    """Show contradictions with both passages, those since a day or in a file if `words` name one."""
    await screen.app.push_screen_wait(CheckScreen(screen, words.strip()))


async def open_diff_screen(screen: RoomScreen, words: str) -> None:
    """Show what changed since the last ingest, or since the state `words` names."""
    await screen.app.push_screen_wait(DiffScreen(screen, words))


async def open_posts_screen(screen: RoomScreen, words: str) -> None:
    """Show the drafts of texts about the story with their check; `words` is ignored."""
    del words
    await screen.app.push_screen_wait(PostsScreen(screen))


async def open_drafts_screen(screen: RoomScreen, words: str) -> None:
    """Show the board of scenes with their drafts; `words` is ignored."""
    del words
    await screen.app.push_screen_wait(DraftsScreen(screen))


async def open_name_review_screen(screen: RoomScreen, words: str) -> None:
    """Show names that may be one character, or two; `words` is ignored."""
    del words
    await screen.app.push_screen_wait(NameReviewScreen(screen))


async def open_reader(screen: RoomScreen, words: str) -> None:
    """Show the manuscript in the reader.

    `words` is where to begin, such as "ch3:s2" or "chapters/03.md:15"; if empty, where
    the reader was closed last.
    """
    await screen.app.push_screen_wait(ReaderScreen(screen, words.strip()))


async def read_cited_passage(screen: RoomScreen, words: str) -> None:
    """Show the selected passage in the reader; `words` is ignored.

    Raises:
        NotFound: No passage is selected.
    """
    del words
    chosen = screen.query_one(SplitView).sources.chosen
    if not isinstance(chosen, SourceView):
        raise NotFound(
            "No passage is selected",
            hint="Press Alt+1 or click [1] to select the first.",
        )
    citation = chosen.citation
    position = await screen.room.service_thread.run(
        lambda workspace: locate_cited_position(workspace, citation)
    )
    await screen.app.push_screen_wait(ReaderScreen(screen, position))


WATCH_GROUP = "watch"
"""The worker group of the watcher, which runs until it is stopped."""
NOTICE_SECONDS = 8.0
"""Seconds for which the notification about a save is shown."""


async def toggle_watch(screen: RoomScreen, words: str) -> None:
    """Start or stop watching the manuscript for saves, each of which is then ingested.

    `words` "on" only starts and "off" only stops; anything else toggles. Errors while
    watching are shown as notifications.
    """
    requested = {"on": True, "off": False}.get(words.strip().lower())
    watching = any(w.group == WATCH_GROUP and w.is_running for w in screen.workers)
    if watching and not requested:
        screen.workers.cancel_group(screen, WATCH_GROUP)
        screen.query_one(StatusLine).update_fields(index="")
        screen.notify("Stopped watching. Saved files are no longer read.")
    elif not watching and requested is not False:
        screen.run_worker(_watch(screen), group=WATCH_GROUP, exit_on_error=False)


async def _watch(screen: RoomScreen) -> None:
    """Show what each save changes, until the worker is cancelled."""
    status = screen.query_one(StatusLine)
    status.update_fields(index="reading changed files…")
    watcher = screen.room.service_thread.stream(stream_saves)
    try:
        async with aclosing(watcher) as events:
            async for event in events:
                await _show_event(screen, event)
    except Exception as error:  # noqa: BLE001 - a traceback tells a writer nothing
        screen.show_error(error)
        status.update_fields(index="")


async def _show_event(
    screen: RoomScreen, event: WatchEvent | NewContradictions
) -> None:
    """Show an event as a notification and in the status line; skip empty texts."""
    titles: dict[ThreadId, str] = {}
    if isinstance(event, SaveReport) and event.unsettled.threads:
        threads = await screen.room.service_thread.run(load_threads)
        titles = {thread.id: format_thread_title(thread) for thread in threads}
    line, short = describe_watch_event(event, titles)
    if line:
        screen.ingest_notices.append(line)
        screen.notify(sanitize_text(line), markup=False, timeout=NOTICE_SECONDS)
        screen.query_one(SplitView).sources.reload_contexts()
    if isinstance(event, SaveReport):
        screen.library_version += 1
    status = screen.query_one(StatusLine)
    if short and isinstance(event, SaveReport):
        status.mark_fresh(short)
    elif short:
        status.update_fields(index=short)
