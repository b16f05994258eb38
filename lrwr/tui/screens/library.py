"""What was read, what work there is, and what the last saves brought."""

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

from lrwr.app.ingestion import ingest_manuscript
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
from lrwr.tui.actions.table import CLOSE_ACTION, LIBRARY_ACTIONS
from lrwr.tui.screens.dialogs import ModalSheet
from lrwr.tui.service_thread import ServiceThread

if TYPE_CHECKING:
    from lrwr.app.container import Workspace

SHOWN = 100
"""Jobs that are looked at."""

EVERY = 2.0
"""Seconds between two looks at the jobs."""


@dataclass(frozen=True, slots=True)
class LibraryOverview:
    """How the library stands; `counts` is None where nothing was read."""

    counts: "LibraryCounts | None"
    folders: tuple[Path, ...]
    jobs: tuple[Job, ...]
    root: Path


async def load_library_overview(workspace: "Workspace") -> LibraryOverview:
    """Return how the library stands."""
    root, folders = workspace.library.root, workspace.manuscript()
    if not workspace.is_ingested:
        return LibraryOverview(None, folders, (), root)
    counts = await workspace.passages.counts(workspace.settings.pipeline)
    jobs = await workspace.jobs.jobs(limit=SHOWN)
    return LibraryOverview(counts, folders, tuple(jobs), root)


class LibraryScreen(ModalSheet[bool]):
    """Shows the library; comes to whether anything was read from here."""

    DEFAULT_CSS: ClassVar[str] = """
    LibraryScreen {
        & > Vertical { max-width: 110; }
        .told { height: auto; margin-top: 1; }
        .head { text-style: bold; color: $secondary; margin-top: 1; }
        #jobs, #learned { margin-top: 0; }
        .bad { color: $text-warning; }
        Input { height: 3; margin-top: 1; }
        ProgressBar { margin-top: 1; height: 1; }
        VerticalScroll { height: 1fr; margin-bottom: 1; scrollbar-size-vertical: 1; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        *(action.binding for action in (*LIBRARY_ACTIONS, CLOSE_ACTION)),
    ]

    class Seen(Message):
        """Something happened while the manuscript is read. May be sent by any thread."""

        def __init__(self, event: IngestEvent) -> None:
            super().__init__()
            self.event = event

    def __init__(
        self, stage: "ServiceThread[Workspace]", learned: Sequence[str]
    ) -> None:
        super().__init__()
        self._services = stage
        self._learned = learned
        self._changed = False

    def compose(self) -> ComposeResult:
        """Lay out what is known, what works, and what came of saves."""
        with Vertical():
            yield Static("The library", classes="title")
            with VerticalScroll():
                yield Static(markup=False, classes="told", id="counts")
                yield Input(placeholder="The folder of your manuscript", id="folder")
                yield ProgressBar(show_eta=False)
                yield Static(markup=False, classes="told bad", id="trouble")
                yield Static(markup=False, classes="told", id="report")
                yield Static("Work", classes="head")
                yield Static(markup=False, classes="told", id="jobs")
                yield Static("What saves brought", classes="head")
                yield Static(markup=False, classes="told", id="learned")
            yield Footer(show_command_palette=False, compact=True)

    def on_mount(self) -> None:
        """Look, and go on looking."""
        self.query_one(ProgressBar).display = False
        self._show_message()
        self.query_one("#folder").display = False
        self._show_learned()
        self._look()
        self.set_interval(EVERY, self._look)

    @work(exclusive=True, group="look", exit_on_error=False)
    async def _look(self) -> None:
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
        self._show_learned()

    def _show_learned(self) -> None:
        lines = [sanitize_line(line) for line in reversed(self._learned)]
        notices = "\n".join(lines) or "Nothing yet: /watch reads each save."
        self.query_one("#learned", Static).update(sanitize_text(notices))

    @on(Input.Submitted, "#folder")
    def _named(self, event: Input.Submitted) -> None:
        self._read(event.value.strip())

    def action_read(self) -> None:
        """Read what changed."""
        self._read("")

    def action_leave(self) -> None:
        """Stop reading if that is under way, else go back."""
        reading = [w for w in self.workers if w.group == "read" and w.is_running]
        if reading:
            self.workers.cancel_group(self, "read")
        else:
            self.dismiss(self._changed)

    @work(exclusive=True, group="read", exit_on_error=False)
    async def _read(self, folder: str) -> None:
        """Read the manuscript, and say what came of it."""
        bar = self.query_one(ProgressBar)
        bar.update(total=None, progress=0)
        bar.display = True
        self._show_message()

        def seen(event: IngestEvent) -> None:
            self.post_message(self.Seen(event))

        try:
            report = await self._services.run(
                lambda workspace: _ingest(workspace, folder, seen)
            )
            self._changed = True
            self._show_message(*report)
        except LrwrError as error:
            self._show_message(f"{error}\n{error.hint}".strip(), bad=True)
        finally:
            bar.display = False
            self._look()

    def _show_message(self, *lines: str, bad: bool = False) -> None:
        text = sanitize_text("\n".join(lines))
        for part, is_used in (("#trouble", bad), ("#report", not bad)):
            shown = self.query_one(part, Static)
            shown.update(text if is_used else "")
            shown.display = is_used and bool(text)

    @on(Seen)
    def _advance(self, message: Seen) -> None:
        bar = self.query_one(ProgressBar)
        match message.event:
            case IngestPlanned(process, forget):
                bar.update(total=max(1, process + forget), progress=0)
            case DocumentFinished():
                bar.advance(1)
            case _:
                pass


async def _ingest(
    workspace: "Workspace", folder: str, report_event: Callable[[IngestEvent], None]
) -> list[str]:
    report = await ingest_manuscript(
        workspace, _resolve_targets(workspace.library.root, folder), report_event
    )
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
        begin = f"r reads {where}." if where else "Where is your manuscript?"
        return f"Nothing has been read here yet. {begin}"
    counts = overview.counts
    return (
        f"{format_count(counts.documents, 'document')}, {format_count(counts.words, 'word')},"
        f" {format_count(counts.chunks, 'passage')}\n{where}"
    )


def _display_path(folder: Path, root: Path) -> str:
    """Return a folder as the writer knows it, from where the library is."""
    if not folder.is_relative_to(root):
        return str(folder)
    inside = folder.relative_to(root).as_posix()
    return "all of this folder" if inside == "." else inside


def _describe_jobs(jobs: Sequence[Job]) -> str:
    """Tell what waits, what is being done, and what failed."""
    waiting = sum(job.state is JobState.PENDING for job in jobs)
    running = [job for job in jobs if job.state is JobState.RUNNING]
    failed = [job for job in jobs if job.state is JobState.FAILED]
    lines = [f"{job.order.document}: {job.stage}" for job in running]
    lines += [f"{format_count(waiting, 'document')} to read"] if waiting else []
    lines += [f"{job.order.document}: {job.error} {job.hint}" for job in failed]
    return "\n".join(map(sanitize_line, lines)) or "Nothing is being done."
