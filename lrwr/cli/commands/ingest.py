"""`lrwr ingest`: process the manuscript and update the library."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from lrwr.app.container import Workspace, open_workspace
from lrwr.app.ingestion import (
    IngestLimits,
    check_named_targets,
    find_deletions,
    ingest_manuscript,
)
from lrwr.app.maintenance.automatic_backup import (
    describe_known_damage,
    describe_lost_threads,
)
from lrwr.app.maintenance.damage import discard_damage
from lrwr.app.pending_changes import (
    IngestTargets,
    load_identical_documents,
    select_targets,
)
from lrwr.app.presenters.ingestion import (
    describe_document_problem,
    describe_ingest_report,
    ingest_report_as_json,
)
from lrwr.app.presenters.text import StyledText, sanitize_line
from lrwr.cli.runtime.event_loop import run_async
from lrwr.cli.runtime.options import JsonOption
from lrwr.cli.runtime.output import Output, error_as_json, start_session
from lrwr.cli.runtime.services import (
    INGEST_SERVICES,
    MODEL_SERVICES,
    announce_first_use,
    ask_yes_no,
    can_prompt,
    create_progress_listener,
    prompt_for_consent,
)
from lrwr.core.model.errors import ExitCode, SettingsProblem
from lrwr.core.ports.stores import LibraryCounts
from lrwr.core.settings.drives import describe_unsafe_folder
from lrwr.core.settings.library import (
    Library,
    prepare_state_dir,
    resolve_library,
)
from lrwr.core.settings.model import Settings
from lrwr.pipeline.changes import LEAST_MISSING, SHOWN
from lrwr.pipeline.report import IngestReport
from lrwr.pipeline.scan import describe_identical_documents, describe_shared_positions

EPILOG = (
    "Examples: lrwr ingest ./manuscript · lrwr ingest (again, the same folders) ·"
    " lrwr ingest --dry-run --json · lrwr ingest --forget-missing (after deleting many"
    " files; in scripts with --yes)"
)


IngestPathsArgument = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="[FOLDER|FILE]...",
        help="Folders or .md, .docx and .txt files; those of the last ingest if left out.",
    ),
]
IngestPipelineNameOption = Annotated[
    str | None,
    typer.Option(
        "--pipeline",
        metavar="a|b",
        help="a: fixed-size passages; b (default): semantic passages and story data.",
    ),
]
IngestDryRunOption = Annotated[
    bool, typer.Option("--dry-run", help="Show what would be done; write nothing.")
]
VerifyOption = Annotated[
    bool,
    typer.Option(
        "--verify",
        help="Read every file, even if its time and size are unchanged, and store again"
        " what is damaged in the library.",
    ),
]
IngestBudgetOption = Annotated[
    float | None,
    typer.Option(
        min=0, metavar="USD", help="The cost limit of the language model in this run."
    ),
]
RemoteOption = Annotated[
    bool,
    typer.Option(
        "--remote", help="Process documents at Modal in this run; see `lrwr deploy`."
    ),
]
ForgetMissingOption = Annotated[
    bool,
    typer.Option(
        "--forget-missing",
        help="Remove all documents without a file from the library: also many at once, a"
        " whole folder, and those that only another machine has.",
    ),
]


YesOption = Annotated[
    bool,
    typer.Option(
        "--yes", help="With `--forget-missing`: do not ask before many are deleted."
    ),
]


app = typer.Typer()


@app.command("ingest", epilog=EPILOG)
def ingest_command(
    context: typer.Context,
    paths: IngestPathsArgument = None,
    pipeline: IngestPipelineNameOption = None,
    dry_run: IngestDryRunOption = False,
    verify: VerifyOption = False,
    budget: IngestBudgetOption = None,
    remote: RemoteOption = False,
    forget_missing: ForgetMissingOption = False,
    yes: YesOption = False,
    as_json: JsonOption = False,
) -> None:
    """Read your manuscript. Later runs process only what changed."""
    runner = "modal" if remote else None
    flags = {"pipeline": pipeline, "model.budget": budget, "ingest.runner": runner}
    settings, output = start_session(context, flags)
    with _writable_settings(settings, dry_run=dry_run) as writable:
        work = _ingest(
            writable,
            output,
            paths or [],
            IngestLimits(run_remotely=True, forget_missing=forget_missing),
            dry_run=dry_run,
            verify=verify,
            confirm=forget_missing and not (yes or dry_run),
            as_json=as_json,
        )
        report = run_async(work)
    if report.away is not None:
        if not as_json:  # else it is part of the JSON object
            output.error(report.away)
        raise typer.Exit(int(report.away.exit_code))
    if report.problems or report.missing:
        raise typer.Exit(int(ExitCode.PARTIAL))
    if report.has_silent_model:
        raise typer.Exit(int(ExitCode.SERVICE))


async def _confirm_deletion(
    workspace: Workspace, targets: IngestTargets, output: Output, *, as_json: bool
) -> None:
    """Ask on a terminal whether many documents without a file are to be deleted.

    Raises:
        Abort: The answer is no.
        SettingsProblem: There is no terminal, or `as_json`: nothing can be asked.
    """
    documents = await find_deletions(workspace, targets)
    if len(documents) < LEAST_MISSING:
        return
    count, names = len(documents), ", ".join(documents[:SHOWN])
    more = f" and {count - SHOWN:,} more" if count > SHOWN else ""
    if as_json or not can_prompt():
        raise SettingsProblem(
            f"{count:,} documents have no file: {names}{more}. Nothing was deleted,"
            " because nobody can be asked here",
            hint="Run `lrwr ingest --forget-missing --yes` to delete them.",
        )
    sentence = (
        f"{count:,} documents have no file: {names}{more}. They will be deleted from the"
        " library; your threads and decisions are kept."
    )
    output.info(sanitize_line(sentence))
    if not ask_yes_no(output, "Delete them from the library? [y/N]"):
        raise typer.Abort


@contextmanager
def _writable_settings(settings: Settings, *, dry_run: bool) -> Iterator[Settings]:
    """Yield settings for the run; a first dry run gets a temporary library folder."""
    library = resolve_library(settings)
    if not dry_run or library.database.exists() or library.memory.exists():
        yield settings
        return
    with TemporaryDirectory(prefix="lrwr-") as folder:
        records = replace(settings.records, keeper="embedded")
        yield replace(settings, state_dir=folder, records=records)


async def _ingest(
    settings: Settings,
    output: Output,
    paths: Sequence[Path],
    limits: IngestLimits,
    *,
    dry_run: bool,
    verify: bool,
    confirm: bool,
    as_json: bool,
) -> IngestReport:
    began = time.monotonic()
    async with open_workspace(settings, say=output.info) as workspace:
        targets = select_targets(workspace, paths, forget_missing=limits.forget_missing)
        targets = await check_named_targets(workspace, targets)
        if confirm and workspace.is_ingested:
            await _confirm_deletion(workspace, targets, output, as_json=as_json)
        _warn_of_unsafe_folder(workspace.library, output)
        services = [] if dry_run else [*INGEST_SERVICES, "modal"]
        if settings.pipeline == "b" and not dry_run:
            services.extend(MODEL_SERVICES)
        prompt_for_consent(workspace, output, *services, as_json=as_json)
        if services:  # that a service was announced is recorded for this state folder
            prepare_state_dir(workspace.library)
        announce_first_use(workspace, output, *services)
        if verify and not dry_run and workspace.is_ingested:
            _discard_damage(workspace, output)
        _announce_lost_threads(workspace.library, output)
        # Before anything is written: that could overwrite rows that `repair` can read.
        known_damage = describe_known_damage(workspace.library, time.time())
        with output.progress("Reading the manuscript", None) as advance:
            report = await ingest_manuscript(
                workspace,
                targets,
                create_progress_listener(advance, output),
                limits,
                dry_run=dry_run,
                verify=verify,
            )
        counts = await _count_and_remark(workspace, report, known_damage)
        seconds = time.monotonic() - began
        if not as_json and not (report.found or report.forgotten):
            _print_nothing_found(targets.existing, output)
        _show(report, counts, settings, output, seconds, as_json=as_json)
    return report


async def _count_and_remark(
    workspace: Workspace, report: IngestReport, known_damage: str
) -> LibraryCounts | None:
    """Return the counts of the library, None without one; remark in `report` on
    documents with the same position, and on damage that was known before or met since.
    """
    if not workspace.library.database.exists():
        return None
    outlines = await workspace.passages.outlines()
    if alike := describe_identical_documents(
        await load_identical_documents(workspace, outlines)
    ):
        report.remarks.append(alike)
    if shared := describe_shared_positions(outlines, workspace.canon_file.load()):
        report.remarks.append(shared)
    if damage := known_damage or describe_known_damage(workspace.library):
        report.remarks.append(damage)
    return await workspace.passages.counts(workspace.settings.pipeline)


def _warn_of_unsafe_folder(library: Library, output: Output) -> None:
    warning = describe_unsafe_folder(library.state_dir)
    if warning and not library.database.exists():
        output.warn(warning)


def _discard_damage(workspace: Workspace, output: Output) -> None:
    space = workspace.embedders.states_space
    for sentence in discard_damage(workspace.library, space):
        output.info(sentence)


def _announce_lost_threads(library: Library, output: Output) -> None:
    lost = "" if library.database.exists() else describe_lost_threads(library)
    if lost:
        output.info(lost)


def _print_nothing_found(targets: Sequence[Path], output: Output) -> None:
    names = " and ".join(map(str, targets)) or "the manuscript"
    output.answer(f"No .md, .docx or .txt files found in {names}.")
    hint = "Run `lrwr ingest FOLDER` with the folder of your chapters."
    output.answer(StyledText("hint: ", "strong"), hint, indent=2)


def _show(
    report: IngestReport,
    counts: LibraryCounts | None,
    settings: Settings,
    output: Output,
    seconds: float,
    *,
    as_json: bool,
) -> None:
    if as_json:
        answer = ingest_report_as_json(report, counts, settings, seconds)
        # Documents that wait for an unreachable service are a failure, but the report of
        # the others is needed too: one object has both.
        output.json({**answer, **(error_as_json(report.away) if report.away else {})})
        return
    for remark in report.remarks:
        output.notice_warning(sanitize_line(remark))
    for problem in report.problems:
        message = sanitize_line(describe_document_problem(problem))
        output.notice_warning(message, problem.hint)
    for skipped in report.skipped:
        output.answer(sanitize_line(f"Skipped {skipped.path}: {skipped.reason}"))
    if not (report.found or report.forgotten or report.missing):
        return
    for line in describe_ingest_report(report, counts, settings):
        output.answer(line)
    output.answer(f"Done in {seconds:.1f} s.")
    is_first = bool(counts and report.processed == counts.documents)
    if is_first and output.interactive and not report.dry_run:
        output.info('Next, ask a question: lrwr ask "Who …?"')
