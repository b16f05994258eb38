"""The library screen: ingested documents, jobs, and changes that watching found."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical, VerticalScroll
from textual.message import Message
from textual.widgets import Footer, Input, ProgressBar, Static

from lrwr.app.ingestion import (
    check_named_targets,
    ingest_manuscript,
)
from lrwr.app.pending_changes import select_targets
from lrwr.app.presenters.ingestion import (
    describe_document_problem,
    describe_ingest_report,
)
from lrwr.app.presenters.text import format_count, sanitize_line, sanitize_text
from lrwr.core.model.errors import LrwrError
from lrwr.core.model.jobs import (
    DocumentFinished,
    IngestEvent,
    IngestPlanned,
    Job,
    JobState,
)
from lrwr.core.ports.stores import LibraryCounts
from lrwr.tui.actions.screen_keys import CLOSE_ACTION, LIBRARY_ACTIONS
from lrwr.tui.screens.dialogs import ModalSheet
from lrwr.tui.service_thread import ServiceThread

if TYPE_CHECKING:
    from lrwr.app.container import Workspace

MAX_JOBS = 100
"""Maximum number of jobs loaded."""

REFRESH_SECONDS = 2.0
"""Seconds between two updates of the screen."""


@dataclass(frozen=True, slots=True)
class LibraryOverview:
    """The state of the library of the folder `root`.

    `counts` is None if no manuscript was ingested. `folders` are those of the
    manuscript, empty if none is configured; `jobs` are the newest `MAX_JOBS`, newest
    first.
    """

    counts: "LibraryCounts | None"
    folders: tuple[Path, ...]
    jobs: tuple[Job, ...]
    root: Path


async def load_library_overview(workspace: "Workspace") -> LibraryOverview:
    """Return the library's counts, the manuscript's folders, and the newest jobs.

    Raises:
        LrwrError: The library cannot be read.
    """
    root, folders = workspace.library.root, workspace.manuscript()
    if not workspace.is_ingested:
        return LibraryOverview(None, folders, (), root)
    counts = await workspace.passages.counts(workspace.settings.pipeline)
    jobs = await workspace.jobs.jobs(limit=MAX_JOBS)
    return LibraryOverview(counts, folders, tuple(jobs), root)


class LibraryScreen(ModalSheet[bool]):
    """Shows the library and ingests changed files on request.

    `changes` are sentences about what watched saves changed, oldest first. The result
    is True if files were ingested from this screen, else False.
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
        *(action.binding for action in (*LIBRARY_ACTIONS, CLOSE_ACTION)),
    ]

    class Progressed(Message):
        """Posted for each event of an ingestion, from any thread."""

        def __init__(self, event: IngestEvent) -> None:
            super().__init__()
            self.event = event

    def __init__(
        self, services: "ServiceThread[Workspace]", changes: Sequence[str]
    ) -> None:
        super().__init__()
        self._services = services
        self._changes = changes
        self._has_ingested = False

    def compose(self) -> ComposeResult:
        """Lay out counts, progress, jobs and changes."""
        with Vertical():
            yield Static("Library", classes="title")
            with VerticalScroll():
                yield Static(markup=False, classes="text", id="counts")
                yield Input(
                    placeholder="Folder of your manuscript, then Enter", id="folder"
                )
                yield ProgressBar(show_eta=False)
                yield Static(markup=False, classes="text warning", id="error")
                yield Static(markup=False, classes="text", id="report")
                yield Static("In progress", classes="heading")
                yield Static(markup=False, classes="text", id="jobs")
                yield Static("Changes", classes="heading")
                yield Static(markup=False, classes="text", id="changes")
            yield Footer(show_command_palette=False, compact=True)

    def on_mount(self) -> None:
        """Show the library's state, and update it every `REFRESH_SECONDS`."""
        self.query_one(ProgressBar).display = False
        self._show_message()
        self.query_one("#folder").display = False
        self._show_changes()
        self._refresh()
        self.set_interval(REFRESH_SECONDS, self._refresh)

    @work(exclusive=True, group="look", exit_on_error=False)
    async def _refresh(self) -> None:
        overview = await self._services.run(load_library_overview)
        self.query_one("#counts", Static).update(
            sanitize_text(_describe_counts(overview))
        )
        self.query_one("#jobs", Static).update(
            sanitize_text(_describe_jobs(overview.jobs))
        )
        folder = self.query_one("#folder", Input)
        if not overview.folders and not folder.display:
            folder.display = True
            folder.focus()
        self._show_changes()

    def _show_changes(self) -> None:
        lines = [sanitize_line(line) for line in reversed(self._changes)]
        notices = "\n".join(lines) or (
            "No saves processed yet. /watch starts or stops watching."
        )
        self.query_one("#changes", Static).update(sanitize_text(notices))

    @on(Input.Submitted, "#folder")
    def _folder_entered(self, event: Input.Submitted) -> None:
        self._ingest(event.value.strip())

    def action_ingest(self) -> None:
        """Ingest the files that were changed, added or deleted."""
        self._ingest("")

    def action_close(self) -> None:
        """Stop a running ingestion; without one, close the screen."""
        reading = [w for w in self.workers if w.group == "read" and w.is_running]
        if reading:
            self.workers.cancel_group(self, "read")
        else:
            self.dismiss(self._has_ingested)

    @work(exclusive=True, group="read", exit_on_error=False)
    async def _ingest(self, folder: str) -> None:
        """Ingest `folder`, or the configured folders if empty, and show the report."""
        bar = self.query_one(ProgressBar)
        bar.update(total=None, progress=0)
        bar.display = True
        self._show_message()

        def report_event(event: IngestEvent) -> None:
            self.post_message(self.Progressed(event))

        try:
            report = await self._services.run(
                lambda workspace: _run_ingest(workspace, folder, report_event)
            )
            self._has_ingested = True
            self._show_message(*report)
        except LrwrError as error:
            self._show_message(f"{error}\n{error.hint}".strip(), is_error=True)
        finally:
            bar.display = False
            self._refresh()

    def _show_message(self, *lines: str, is_error: bool = False) -> None:
        text = sanitize_text("\n".join(lines))
        for part, is_used in (("#error", is_error), ("#report", not is_error)):
            shown = self.query_one(part, Static)
            shown.update(text if is_used else "")
            shown.display = is_used and bool(text)

    @on(Progressed)
    def _advance(self, message: Progressed) -> None:
        bar = self.query_one(ProgressBar)
        match message.event:
            case IngestPlanned(process, forget):
                bar.update(total=max(1, process + forget), progress=0)
            case DocumentFinished():
                bar.advance(1)
            case _:
                pass


async def _run_ingest(
    workspace: "Workspace", folder: str, report_event: Callable[[IngestEvent], None]
) -> list[str]:
    paths = _resolve_targets(workspace.library.root, folder)
    targets = await check_named_targets(workspace, select_targets(workspace, paths))
    report = await ingest_manuscript(workspace, targets, report_event)
    counts = await workspace.passages.counts(workspace.settings.pipeline)
    return [
        *describe_ingest_report(report, counts, workspace.settings),
        *(f"{describe_document_problem(p)}. {p.hint}" for p in report.problems),
        *report.remarks,
    ]


def _resolve_targets(root: Path, folder: str) -> list[Path]:
    return [root / Path(folder).expanduser()] if folder else []


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


def _describe_jobs(jobs: Sequence[Job]) -> str:
    """Return running, waiting and failed jobs as lines."""
    waiting = sum(job.state is JobState.PENDING for job in jobs)
    running = [job for job in jobs if job.state is JobState.RUNNING]
    failed = [job for job in jobs if job.state is JobState.FAILED]
    lines = [f"{job.order.document}: {job.stage}" for job in running]
    lines += [f"{format_count(waiting, 'document')} waiting"] if waiting else []
    lines += [
        f"{job.order.document}: {LrwrError(job.error, hint=job.hint).full_text}"
        for job in failed
    ]
    return "\n".join(map(sanitize_line, lines)) or "Nothing"
