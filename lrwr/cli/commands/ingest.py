"""`lrwr ingest`: read the manuscript, and bring the library up to date."""

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from lrwr.app.ingestion import Bounds
    from lrwr.cli.runtime.output import Advance, Output
    from lrwr.core.model.events import IngestEvent
    from lrwr.core.ports.record_store import LibraryCounts
    from lrwr.core.settings.model import Settings
    from lrwr.pipeline.report import IngestReport

EPILOG = (
    "Examples: lrwr ingest ./manuscript · lrwr ingest (again, the same folders) ·"
    " lrwr ingest --dry-run --json"
)


Paths = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="[FOLDER|FILE]...",
        help="Folders or files of .md, .docx and .txt; those of last time if left out.",
    ),
]
PipelineName = Annotated[
    str | None, typer.Option("--pipeline", metavar="a|b", help="The recipe: a or b.")
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Say what would be done; write nothing.")
]
Verify = Annotated[
    bool,
    typer.Option("--verify", help="Read every file, even those that seem unchanged."),
]
Budget = Annotated[
    float | None,
    typer.Option(
        min=0, metavar="USD", help="What a language model may cost in this run."
    ),
]
Remote = Annotated[
    bool,
    typer.Option(
        "--remote", help="Have documents read in containers at Modal, in this run."
    ),
]
ForgetMissing = Annotated[
    bool,
    typer.Option(
        "--forget-missing",
        help="Forget also what another machine read and has no file on this one.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")]


def ingest(
    context: typer.Context,
    paths: Paths = None,
    pipeline: PipelineName = None,
    dry_run: DryRun = False,
    verify: Verify = False,
    budget: Budget = None,
    remote: Remote = False,
    forget_missing: ForgetMissing = False,
    as_json: Json = False,
) -> None:
    """Read the manuscript. Only what changed since the last time costs anything."""
    from lrwr.app.ingestion import Bounds
    from lrwr.cli.runtime.async_runner import run_async
    from lrwr.cli.runtime.session import begin
    from lrwr.core.model.errors import ExitCode

    runner = "modal" if remote else None
    flags = {"pipeline": pipeline, "model.budget": budget, "ingest.runner": runner}
    settings, output = begin(context, flags)
    with _lent(settings, dry_run=dry_run) as lent:
        work = _ingest(
            lent,
            output,
            paths or [],
            Bounds(elsewhere=True, missing_too=forget_missing),
            dry_run=dry_run,
            verify=verify,
            as_json=as_json,
        )
        report = run_async(work)
    if report.away is not None:
        raise report.away
    if report.problems:
        raise typer.Exit(int(ExitCode.PARTIAL))


@contextmanager
def _lent(settings: "Settings", *, dry_run: bool) -> "Iterator[Settings]":
    """Lend out settings whose library may be made: a passing one for a first dry run."""
    from dataclasses import replace
    from tempfile import TemporaryDirectory

    from lrwr.core.settings.library import library_of

    library = library_of(settings)
    if not dry_run or library.database.exists() or library.memory.exists():
        yield settings
        return
    with TemporaryDirectory(prefix="lrwr-") as folder:
        records = replace(settings.records, keeper="embedded")
        yield replace(settings, state_dir=folder, records=records)


async def _ingest(
    settings: "Settings",
    output: "Output",
    paths: "Sequence[Path]",
    bounds: "Bounds",
    *,
    dry_run: bool,
    verify: bool,
    as_json: bool,
) -> "IngestReport":
    import time

    from lrwr.app.container import open_services
    from lrwr.cli.runtime.consent import READING, ask_leave, tell_first_use
    from lrwr.core.settings.library import remember
    from lrwr.core.settings.targets import targets_of
    from lrwr.core.settings.unsafe_folders import sync_warning

    began = time.monotonic()
    async with open_services(settings, say=output.story) as services:
        targets = targets_of(paths or services.manuscript())
        warning = sync_warning(services.library.state_dir)
        if warning and not services.library.database.exists():
            output.warn(warning)
        asked = [] if dry_run else [*READING, "modal"]
        if settings.pipeline == "b" and not dry_run:
            asked.append("openai")
        ask_leave(services, output, *asked, as_json=as_json)
        service = services.processing(targets, asking=not dry_run, bounds=bounds)
        tell_first_use(services, output, *asked)
        if paths and not dry_run and not settings.manuscript.folders:
            remember(services.library, targets)  # first: the work may be cut short
        with output.progress("Reading the manuscript", None) as advance:
            report = await service.process(
                watcher(advance, output), dry_run=dry_run, verify=verify
            )
        counts = None
        if services.library.database.exists():
            counts = await services.passages.counts(settings.pipeline)
        seconds = time.monotonic() - began
        _show(report, counts, settings, output, seconds, as_json=as_json)
    return report


def watcher(advance: "Advance", output: "Output") -> "Callable[[IngestEvent], None]":
    """Return what moves a bar on while documents are read."""
    from lrwr.app.presenters.text import count
    from lrwr.core.model.events import Finished, Planned, Waiting

    waits = False

    def watch(event: "IngestEvent") -> None:
        nonlocal waits
        if isinstance(event, Planned):
            advance(0, total=event.process + event.forget)
        elif isinstance(event, Finished):
            advance(1)
        elif isinstance(event, Waiting) and not waits:
            waits = True
            held = count(event.documents, "document")
            output.story(f"Waiting for another run of lrwr, which is at {held}.")

    return watch


def _show(
    report: "IngestReport",
    counts: "LibraryCounts | None",
    settings: "Settings",
    output: "Output",
    seconds: float,
    *,
    as_json: bool,
) -> None:
    from lrwr.app.presenters.ingestion import in_words, problem_in_words
    from lrwr.app.presenters.text import one_line
    from lrwr.cli.presenters.ingestion import as_json as summary

    for remark in report.remarks:
        output.warn(one_line(remark))
    for problem in report.problems:
        output.warn(one_line(problem_in_words(problem)))
        if problem.hint:
            output.story(f"  hint: {problem.hint}")
    if as_json:
        output.json(summary(report, counts, settings, seconds))
        return
    for skipped in report.skipped:
        output.story(f"skipped {one_line(skipped.path)}: {skipped.reason}")
    for line in in_words(report, counts, settings):
        output.answer(line)
    output.answer(f"Done in {seconds:.1f} s.")
    is_first = bool(counts and report.processed == counts.documents)
    if is_first and output.interactive and not report.dry_run:
        output.story('Now ask it something: lrwr ask "Who …?"')
