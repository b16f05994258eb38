"""`lrwr threads`: list, show, search, export, rename and delete saved conversations."""

import asyncio
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from lrwr.app.container import Workspace, open_workspace
from lrwr.app.maintenance.automatic_backup import (
    describe_lost_threads,
    list_lost_threads,
)
from lrwr.app.maintenance.damage import describe_lost_thread
from lrwr.app.presenters.text import StyledText, format_count
from lrwr.app.presenters.threads import (
    find_thread,
    format_thread_title,
    get_citation_places,
    list_threads,
    render_thread_matches,
    render_thread_turns,
    thread_as_json,
    turn_as_json,
)
from lrwr.app.threads import delete_thread, render_thread
from lrwr.cli.runtime.event_loop import run_async
from lrwr.cli.runtime.options import JsonOption, declare_limit
from lrwr.cli.runtime.output import Output, start_session
from lrwr.cli.runtime.services import select_text, warn_of_outdated_files
from lrwr.core.adapters.storage.sqlite.checksums import mark_damaged
from lrwr.core.adapters.storage.sqlite.verification import find_damaged_threads
from lrwr.core.model.errors import SettingsProblem
from lrwr.core.model.text import extract_content_words
from lrwr.core.model.turns import Thread, Turn, TurnId
from lrwr.core.ports.threads import ThreadStore
from lrwr.core.retrieval.anchors import AnchoredCitation
from lrwr.core.retrieval.freshness import FreshnessService
from lrwr.core.settings.files import check_output_file, write_output_file
from lrwr.core.settings.library import KEPT_DAYS
from lrwr.core.settings.model import Settings

CitationPlaces = Mapping[TurnId, Sequence[AnchoredCitation]]

EPILOG = (
    "Examples: lrwr threads · lrwr threads show 1 · lrwr threads search lantern ·"
    " lrwr threads export 1 --to ../talk.md ·"
    " lrwr threads --book alice. Name a thread by its id, or by words of its title;"
    " 1 is the newest, 2 the one before."
)
SHOW_EPILOG = (
    'Examples: lrwr threads show 1 · lrwr threads show 7f3a · lrwr threads show "Tides"'
)
RENAME_EPILOG = 'Example: lrwr threads rename 1 "What Nell knows"'
SEARCH_EPILOG = "Examples: lrwr threads search lantern · lrwr threads search eels -n 3"
EXPORT_EPILOG = (
    "Examples: lrwr threads export 1 --to ../talk.md · lrwr threads export Tides"
)
DELETE_EPILOG = "Example: lrwr threads delete 2. To restore it: lrwr threads undo"
UNDO_EPILOG = "Example: lrwr threads undo"


ResultT = TypeVar("ResultT")

ThreadsBookOption = Annotated[
    str | None,
    typer.Option(
        "--book",
        metavar="BOOK",
        help="Use the threads about an e-book of `lrwr books`.",
    ),
]

ThreadsThreadNameArgument = Annotated[
    str,
    typer.Argument(
        metavar="THREAD",
        help="Id, or words of the title; 1 is the newest thread.",
    ),
]


app = typer.Typer(name="threads", invoke_without_command=True, epilog=EPILOG)


@app.callback()
def threads_command(
    context: typer.Context,
    book: ThreadsBookOption = None,
    as_json: JsonOption = False,
) -> None:
    """List your saved conversations, called threads, or use one.

    Threads are listed newest first. Those about an e-book are stored with it: --book.
    """
    if context.invoked_subcommand is not None:
        return

    output, (threads, lost) = _with_services(context, book, _list)
    if as_json:
        output.json([thread_as_json(thread) for thread in threads])
    elif not threads:
        output.answer("There are no threads yet.")
        if lost:
            output.info(lost)
    else:
        with output.paged():
            output.show(list_threads(threads))


@app.command("show", epilog=SHOW_EPILOG)
def threads_show_command(
    context: typer.Context,
    thread: ThreadsThreadNameArgument,
    book: ThreadsBookOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show a thread: questions, answers, and the current state of their citations."""
    output, (found_thread, turns, places, changes) = _with_services(
        context, book, lambda s: _read(s, thread)
    )
    if as_json:
        conversation = [
            turn_as_json(turn, get_citation_places(turn, places)) for turn in turns
        ]
        output.json(
            {
                **thread_as_json(found_thread),
                "warned": bool(changes),
                "remarks": changes,
                "conversation": conversation,
            }
        )
        return
    with output.paged():
        output.show(render_thread_turns(found_thread, turns, places))


@app.command("rename", epilog=RENAME_EPILOG)
def threads_rename_command(
    context: typer.Context,
    thread: ThreadsThreadNameArgument,
    title: Annotated[str, typer.Argument(metavar="TITLE", help="The new title.")],
    book: ThreadsBookOption = None,
) -> None:
    """Change the title of a thread."""
    if not title.strip():
        raise SettingsProblem(
            "The title is empty", hint='Try `lrwr threads rename 1 "What Nell knows"`.'
        )

    async def rename(store: ThreadStore) -> Thread:
        found_thread = await _find(store, thread)
        await store.rename(found_thread.id, title.strip())
        return found_thread

    output, found_thread = _with_store(context, book, rename)
    new = format_thread_title(replace(found_thread, title=title))
    output.answer(f"Renamed “{format_thread_title(found_thread)}” to “{new}”.")


@app.command("search", epilog=SEARCH_EPILOG)
def threads_search_command(
    context: typer.Context,
    words: Annotated[
        list[str], typer.Argument(metavar="WORDS", help="The words to search for.")
    ],
    limit: Annotated[
        int,
        declare_limit("turns", most=1000),
    ] = 10,
    book: ThreadsBookOption = None,
    as_json: JsonOption = False,
) -> None:
    """Search questions and answers for any of the words, best match first."""
    content_words = extract_content_words(" ".join(words))
    if not content_words:
        raise SettingsProblem(
            "No search words", hint="Try `lrwr threads search lantern`."
        )
    output, matches = _with_store(
        context, book, lambda s: s.search(content_words, limit=limit)
    )
    if as_json:
        output.json(
            [
                {
                    "thread": thread_as_json(thread),
                    "turn": turn_as_json(turn),
                }
                for thread, turn in matches
            ]
        )
    elif not matches:
        output.answer("No thread contains any of these words.")
    else:
        with output.paged():
            output.show(render_thread_matches(matches, content_words))


@app.command("export", epilog=EXPORT_EPILOG)
def threads_export_command(
    context: typer.Context,
    thread: ThreadsThreadNameArgument,
    to: Annotated[
        Path | None,
        typer.Option(
            "--to",
            metavar="FILE.md",
            help="The file to write, outside of the manuscript; printed if left out.",
        ),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace an existing file.")
    ] = False,
    book: ThreadsBookOption = None,
) -> None:
    """Export a thread as Markdown, with its citations."""

    def check(settings: Settings) -> None:
        if to is not None:
            check_output_file(to, settings, [".md"], force=force)

    async def render(workspace: Workspace) -> str:
        found_thread = await _find(workspace.threads, thread)
        return await render_thread(workspace, found_thread.id)

    output, text = _with_services(context, book, render, check)
    if to is None:
        with output.paged():
            output.answer(text.rstrip("\n"))
        return
    write_output_file(to, text.encode(), force=force)
    output.answer(str(to))


@app.command("delete", epilog=DELETE_EPILOG)
def threads_delete_command(
    context: typer.Context,
    thread: ThreadsThreadNameArgument,
    book: ThreadsBookOption = None,
) -> None:
    """Delete a thread. It can be restored for 30 days with `lrwr threads undo`."""
    now = time.time()

    async def delete(workspace: Workspace) -> tuple[Thread, int]:
        found_thread = await _find(workspace.threads, thread)
        return found_thread, await delete_thread(workspace, found_thread.id, now)

    output, (found_thread, purged) = _with_services(context, book, delete)
    output.answer(
        f"Deleted “{format_thread_title(found_thread)}”.",
        StyledText(" To restore it: `lrwr threads undo`.", "faint"),
    )
    if purged:
        output.info(
            f"Also removed {format_count(purged, 'thread')} deleted more than {KEPT_DAYS} days"
            " ago."
        )


@app.command("undo", epilog=UNDO_EPILOG)
def threads_undo_command(
    context: typer.Context, book: ThreadsBookOption = None
) -> None:
    """Restore the thread that was deleted last."""
    output, restored = _with_store(context, book, lambda store: store.restore())
    if restored is None:
        output.answer("There is no deleted thread to restore.")
        return
    output.answer(f"Restored “{format_thread_title(restored)}”.")


def _with_store(
    context: typer.Context,
    book: str | None,
    work: Callable[[ThreadStore], Coroutine[Any, Any, ResultT]],
) -> tuple[Output, ResultT]:
    return _with_services(context, book, lambda workspace: work(workspace.threads))


def _with_services(
    context: typer.Context,
    book: str | None,
    work: Callable[[Workspace], Coroutine[Any, Any, ResultT]],
    check: Callable[[Settings], None] | None = None,
) -> tuple[Output, ResultT]:
    """Check the settings with `check`, then open the workspace, that of an e-book with
    `book`, and run `work` in it.
    """
    settings, output = start_session(context)
    # `--book` may also stand before the name of the subcommand.
    before = context.parent.params.get("book") if context.parent else None
    settings, _ = select_text(settings, output, book or before, None, whole=False)
    if check is not None:
        check(settings)

    async def run() -> ResultT:
        async with open_workspace(settings, say=output.info) as workspace:
            return await work(workspace)

    return output, run_async(run())


async def _list(workspace: Workspace) -> tuple[list[Thread], str]:
    """Return all threads, also with damaged answers marked as damaged; if there are
    none, also a sentence on those in a backup.
    """
    threads = await workspace.threads.threads()
    if threads and workspace.library.database.exists():
        find = find_damaged_threads
        damaged = await asyncio.to_thread(find, workspace.library.database)
        threads = [
            replace(thread, is_damaged=thread.is_damaged or thread.id in damaged)
            for thread in threads
        ]
    return threads, "" if threads else describe_lost_threads(workspace.library)


async def _find(store: ThreadStore, thread: str) -> Thread:
    return find_thread(thread, await store.threads())


async def _read(
    workspace: Workspace, thread: str
) -> tuple[Thread, list[Turn], CitationPlaces, list[str]]:
    """Return a thread, its turns, where the words cited are now, and a warning if they
    are in files that have changed since.
    """
    found_thread = await _find(workspace.threads, thread)
    turns = await workspace.threads.turns(found_thread.id)
    places = await FreshnessService(workspace.passages).anchor_turns(turns)
    # Where the words are now: the file that was cited may have been renamed since.
    current = [place.now for turn_places in places.values() for place in turn_places]
    documents = {now.document for now in current if now is not None}
    changes = await warn_of_outdated_files(workspace, documents, workspace.notify)
    if found_thread.is_damaged or any(turn.is_damaged for turn in turns):
        mark_damaged(workspace.library.database)
        lost = list_lost_threads(workspace.library, [found_thread.id])
        if lost and workspace.notify is not None:
            workspace.notify(describe_lost_thread(found_thread.id, found_thread.title))
    return found_thread, turns, places, changes
