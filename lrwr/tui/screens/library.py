"""The library screen: ingested documents, jobs, and changes that watching found."""

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical, VerticalScroll
from textual.widgets import Input, ProgressBar, Static

from lrwr.app.presenters.text import format_count, sanitize_line, sanitize_text
from lrwr.core.model.errors import LrwrError
from lrwr.core.model.jobs import STOPPED_ERROR, Job, JobState
from lrwr.tui.actions.screen_keys import CLOSE_ACTION, HELP_ACTION, LIBRARY_ACTIONS
from lrwr.tui.key_queue import LoadingScreen
from lrwr.tui.queries.library import (
    LibraryOverview,
    complete_folder,
    load_library_overview,
)
from lrwr.tui.room import IngestStatus, RoomScreen
from lrwr.tui.screens.dialogs import ModalSheet
from lrwr.tui.widgets.status import KeyFooter

REFRESH_SECONDS = 2.0
"""Seconds between two updates of the screen."""

FOLDER_HINT = (
    "Folder of your manuscript, then Enter (a dot is this folder; Tab completes)"
)
BACKGROUND_HINT = "Reading goes on when you close this; Ctrl+C twice stops it."


class LibraryScreen(ModalSheet[None], LoadingScreen[None]):
    """Shows the library and the ingestion in the background, and starts one.

    `room` is the chat screen below, in whose background the ingestion runs: closing
    this screen does not stop it.
    """

    DEFAULT_CSS: ClassVar[str] = """
    LibraryScreen {
        & > Vertical { max-width: 110; }
        .text { height: auto; margin-top: 1; }
        .heading { text-style: bold; color: $secondary; margin-top: 1; }
        #jobs, #changes { margin-top: 0; }
        .warning { color: $text-warning; }
        Input { height: 3; margin-top: 1; }
        ProgressBar { margin-top: 1; height: 1; }
        VerticalScroll { height: 1fr; margin-bottom: 1; scrollbar-size-vertical: 1; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        *(action.binding for action in (*LIBRARY_ACTIONS, HELP_ACTION, CLOSE_ACTION)),
    ]

    def __init__(self, room: RoomScreen) -> None:
        super().__init__()
        self._room = room
        self._root = Path()

    def compose(self) -> ComposeResult:
        """Lay out counts, progress, jobs and changes."""
        with Vertical():
            yield Static("Library", classes="title")
            with VerticalScroll():
                yield Static(markup=False, classes="text", id="counts")
                yield Input(placeholder=FOLDER_HINT, select_on_focus=False, id="folder")
                yield ProgressBar(show_eta=False)
                yield Static(markup=False, classes="text", id="progress")
                yield Static(markup=False, classes="text warning", id="error")
                yield Static(markup=False, classes="text", id="report")
                yield Static("In progress", classes="heading")
                yield Static(markup=False, classes="text", id="jobs")
                yield Static("Changes", classes="heading")
                yield Static(markup=False, classes="text", id="changes")
            yield KeyFooter()

    def on_mount(self) -> None:
        """Show the library's state, and update it every `REFRESH_SECONDS`."""
        self.query_one("#folder").display = False
        self._show_changes()
        self.watch(self._room, "ingestion", self._show_ingestion)
        self.set_interval(REFRESH_SECONDS, self._refresh)

    @work(exclusive=True, group="look", exit_on_error=False)
    async def _refresh(self) -> None:
        services = self._room.room.service_thread
        try:
            overview = await services.run(load_library_overview)
        except LrwrError as error:
            self._show_text("#error", error.full_text)
            self.is_loading = False
            return
        self.query_one("#counts", Static).update(
            sanitize_text(_describe_counts(overview))
        )
        self.query_one("#jobs", Static).update(
            sanitize_text(
                _describe_jobs(
                    overview.jobs, is_reading=self._room.ingestion.is_running
                )
            )
        )
        folder = self.query_one("#folder", Input)
        was_asked, folder.display = folder.display, not overview.folders
        if folder.display and not was_asked:
            self.set_focus(folder)  # at once: keys that wait are meant for it
        self._root = overview.root
        self.is_loading = False
        self._show_changes()

    def _show_changes(self) -> None:
        lines = [sanitize_line(line) for line in reversed(self._room.ingest_notices)]
        notices = "\n".join(lines) or (
            "No saves processed yet. /watch starts or stops watching."
        )
        self.query_one("#changes", Static).update(sanitize_text(notices))

    @on(Input.Submitted, "#folder")
    def _folder_entered(self, event: Input.Submitted) -> None:
        if folder := event.value.strip():
            self._room.action_do("ingest", folder)
        else:
            self.notify("Type a folder, or a dot for this one, then Enter.")

    def action_ingest(self) -> None:
        """Ingest the files that were changed, added or deleted, in the background."""
        self._room.action_do("ingest")

    def action_complete(self) -> None:
        """Complete the path in the folder field; elsewhere, move the focus."""
        folder = self.query_one("#folder", Input)
        if self.focused is not folder:
            self.focus_next()
            return
        folder.value = complete_folder(self._root, folder.value)
        folder.cursor_position = len(folder.value)

    def action_close(self) -> None:
        """Close the screen; a running ingestion goes on."""
        self.dismiss(None)

    def _show_ingestion(self, status: IngestStatus) -> None:
        """Show progress, and the report or error of the last ingestion."""
        bar = self.query_one(ProgressBar)
        bar.display = status.is_running
        bar.update(total=status.total or None, progress=status.finished)
        progress = f"Reading: {status.progress}. {BACKGROUND_HINT}"
        self._show_text("#progress", progress if status.is_running else "")
        report = "" if status.is_running else "\n".join(status.lines)
        self._show_text("#error", report if status.is_error else "")
        self._show_text("#report", "" if status.is_error else report)
        if not status.is_running or status.total is None:
            self._refresh()

    def _show_text(self, part: str, text: str) -> None:
        shown = self.query_one(part, Static)
        shown.update(sanitize_text(text))
        shown.display = bool(text)


def _describe_counts(overview: LibraryOverview) -> str:
    where = ", ".join(
        _display_path(folder, overview.root) for folder in overview.folders
    )
    if overview.counts is None:
        next_step = (
            f"Press r to read {where}."
            if where
            else "Enter the folder of your manuscript."
        )
        return f"No manuscript has been read yet. {next_step}"
    counts = overview.counts
    return (
        f"{format_count(counts.documents, 'document')}, {format_count(counts.words, 'word')},"
        f" {format_count(counts.chunks, 'passage')}\nManuscript: {where}"
    )


def _display_path(folder: Path, root: Path) -> str:
    """Return a folder relative to the library's folder where possible."""
    if not folder.is_relative_to(root):
        return str(folder)
    inside = folder.relative_to(root).as_posix()
    return "this folder" if inside == "." else inside


def _describe_jobs(jobs: Sequence[Job], *, is_reading: bool) -> str:
    """Return running, waiting and failed jobs as lines.

    `is_reading` is whether this process works on them.
    """
    waiting = sum(job.state is JobState.PENDING for job in jobs)
    running = [job for job in jobs if job.state is JobState.RUNNING]
    failed = [
        job
        for job in jobs
        if job.state is JobState.FAILED and job.error != STOPPED_ERROR
    ]
    lines = [f"{job.order.document}: {job.stage}" for job in running]
    if waiting and (is_reading or running):
        lines.append(f"{format_count(waiting, 'document')} waiting")
    elif waiting:
        lines.append("Nothing; reading was stopped. Press r to go on.")
    lines += [
        f"{job.order.document}: {LrwrError(job.error, hint=job.hint).full_text}"
        for job in failed
    ]
    return "\n".join(map(sanitize_line, lines)) or "Nothing"
