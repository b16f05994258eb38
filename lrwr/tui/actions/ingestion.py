"""Actions that ingest the manuscript in the background, and stop that."""

from contextlib import AsyncExitStack
from dataclasses import replace

from lrwr.app.presenters.text import sanitize_text
from lrwr.core.model.jobs import DocumentFinished, IngestEvent, IngestPlanned
from lrwr.tui.queries.library import ingest_folder
from lrwr.tui.room import IngestStatus, RoomScreen
from lrwr.tui.screens.library import LibraryScreen
from lrwr.tui.widgets.split_view import SplitView
from lrwr.tui.widgets.status import StatusLine
from lrwr.tui.widgets.transcript import Transcript

INGEST_GROUP = "ingest"
"""The worker group of the ingestion in the background."""

CONTINUE_HINT = "To go on, press r in the library (Ctrl+L)."

FIRST_NOTICE = (
    "Your manuscript is being read; the line below the prompt shows how far.",
    "You can ask already: answers use what has been read so far. Ctrl+C twice stops"
    " reading, and what has been read stays.",
)
"""What an empty thread shows while the manuscript is read."""


async def start_ingestion(screen: RoomScreen, words: str) -> None:
    """Ingest the folder `words` in the background, or the known folders if it is empty.

    Progress and result are in `screen.ingestion`. If an ingestion runs already, a
    notification says so.
    """
    if screen.ingestion.is_running:
        screen.notify(
            f"Already reading: {screen.ingestion.progress}. Ctrl+C twice stops it.",
            markup=False,
        )
        return
    screen.ingestion = IngestStatus(is_running=True)
    if not screen.query_one(Transcript).views:
        await screen.query_one(SplitView).show_notice(FIRST_NOTICE)
    screen.run_worker(
        _ingest(screen, words.strip()), group=INGEST_GROUP, exit_on_error=False
    )


async def stop_ingestion(screen: RoomScreen, words: str) -> None:
    """Stop the ingestion in the background; `words` is ignored.

    What was read so far stays in the library.
    """
    del words
    screen.workers.cancel_group(screen, INGEST_GROUP)


async def _ingest(screen: RoomScreen, folder: str) -> None:
    """Ingest a folder, and show the result; the worker may be cancelled."""

    def report_event(event: IngestEvent) -> None:
        screen.call_later(_show_progress, screen, event)  # from the service thread

    services = screen.room.service_thread
    async with AsyncExitStack() as stack:
        stack.callback(_end, screen)
        try:
            lines = await services.run(
                lambda workspace: ingest_folder(workspace, folder, report_event)
            )
            screen.ingestion = replace(screen.ingestion, lines=tuple(lines))
        except Exception as error:  # noqa: BLE001 - a traceback tells a writer nothing
            problem = screen.room.describe_error(error)
            lines = [line for line in (str(problem), problem.hint) if line]
            screen.ingestion = IngestStatus(True, lines=tuple(lines), is_error=True)


def _show_progress(screen: RoomScreen, event: IngestEvent) -> None:
    status = screen.ingestion
    if not status.is_running:
        return
    match event:
        case IngestPlanned(process, forget):
            screen.ingestion = replace(status, total=process + forget)
        case DocumentFinished(words=words):
            screen.ingestion = replace(
                status, finished=status.finished + 1, words=status.words + words
            )
        case _:
            pass


def _end(screen: RoomScreen) -> None:
    """Show the result, or what is stored of a stopped ingestion; load the library."""
    status = screen.ingestion
    lines = status.lines or (f"Stopped reading. {status.stored} {CONTINUE_HINT}",)
    screen.ingestion = replace(status, is_running=False, lines=lines)
    screen.library_version += 1
    if not screen.is_attached:
        return  # the room is closing
    screen.query_one(StatusLine).update_fields(index="")
    if not isinstance(screen.app.screen, LibraryScreen):  # which shows the same lines
        screen.notify(
            sanitize_text("\n".join(lines if status.is_error else lines[:1])),
            markup=False,
            severity="error" if status.is_error else "information",
        )
    screen.load()
