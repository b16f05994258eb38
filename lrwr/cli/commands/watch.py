"""`lrwr watch`: process each save; report changes, contradictions and outdated
answers.
"""

import asyncio
import os
import shlex
import signal
import sys
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from lrwr.app.container import Workspace, open_workspace
from lrwr.app.presenters.contradictions import (
    contradiction_as_json,
    render_contradictions,
)
from lrwr.app.presenters.text import format_count, sanitize_line
from lrwr.app.presenters.watch import (
    describe_save,
    describe_save_problems,
    list_changed_documents,
    watch_event_as_json,
)
from lrwr.app.watch import (
    AnswerFreshnessMonitor,
    ContradictionMonitor,
    create_watch_service,
    is_model_used_by_watch,
)
from lrwr.cli.runtime.event_loop import run_async
from lrwr.cli.runtime.output import Output, start_session
from lrwr.cli.runtime.services import (
    INGEST_SERVICES,
    MODEL_SERVICES,
    announce_first_use,
    create_progress_listener,
    prompt_for_consent,
)
from lrwr.core.model.errors import ExitCode, SettingsProblem
from lrwr.core.settings.drives import describe_unsafe_folder
from lrwr.core.settings.library import resolve_targets, store_ingested_paths
from lrwr.core.settings.model import Settings
from lrwr.pipeline.watch.events import (
    ManuscriptAway,
    ManuscriptReturn,
    PollingFallback,
    SaveReport,
    WatchEvent,
    WatchFailure,
    WatchStart,
)
from lrwr.pipeline.watch.service import WatchService

EPILOG = (
    "Examples: lrwr watch · lrwr watch ./manuscript · lrwr watch --json ·"
    " lrwr watch --exec 'make bible'"
)

WatchPathsArgument = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="[FOLDER|FILE]...",
        help="What to watch; the folders of the last ingest if left out.",
    ),
]
ExecOption = Annotated[
    str | None,
    typer.Option(
        "--exec",
        metavar="COMMAND",
        help="Run COMMAND after each save that changed something, with the changed files as"
        " arguments.",
    ),
]
OnceOption = Annotated[
    bool, typer.Option("--once", help="Process what changed, print it and exit.")
]
WatchJsonOption = Annotated[
    bool, typer.Option("--json", help="Print one line of JSON for each event.")
]


app = typer.Typer()


@app.command("watch", epilog=EPILOG)
def watch_command(
    context: typer.Context,
    paths: WatchPathsArgument = None,
    command: ExecOption = None,
    once: OnceOption = False,
    as_json: WatchJsonOption = False,
) -> None:
    """Process every save while you write, until you press Ctrl-C."""
    settings, output = start_session(context)
    words = _split(command)
    work = _watch(settings, output, paths or [], words, once=once, as_json=as_json)
    if run_async(work):
        raise typer.Exit(int(ExitCode.PARTIAL))


def _split(command: str | None) -> list[str]:
    # Shell quoting only: pipes, variables and redirections are not interpreted.
    try:
        words = shlex.split(command or "")
    except ValueError as error:
        raise SettingsProblem(
            f"The command of `--exec` is invalid: {error}", hint="Close all quotes."
        ) from error
    if command is not None and not words:
        raise SettingsProblem(
            "The command of `--exec` is empty", hint="Name a command, or leave it out."
        )
    return words


async def _watch(
    settings: Settings,
    output: Output,
    paths: Sequence[Path],
    hook: Sequence[str],
    *,
    once: bool,
    as_json: bool,
) -> bool:
    """Watch until stopped; with `once`, return whether a file could not be processed or
    is missing.
    """
    async with open_workspace(settings, say=output.info) as workspace:
        folders = workspace.manuscript(named=bool(paths))
        targets = resolve_targets(paths or folders, folders)
        _warn_of_sync(workspace, output)
        uses_model = settings.pipeline == "b" and is_model_used_by_watch(settings)
        names = MODEL_SERVICES if uses_model else ()
        prompt_for_consent(workspace, output, *INGEST_SERVICES, *names, as_json=as_json)
        freshness = _create_freshness_monitor(workspace, output)
        show = _create_event_printer(
            workspace, output, hook, freshness, as_json=as_json
        )
        announce_first_use(workspace, output, *INGEST_SERVICES, *names)
        if paths and not settings.manuscript.folders:
            store_ingested_paths(workspace.library, targets)

        async def work() -> bool:
            with output.progress("Reading the manuscript", None) as advance:
                progress = create_progress_listener(advance, output)
                service = create_watch_service(workspace, targets, progress=progress)
                sweep = await _first_sweep(service, freshness)
            for event in sweep:
                await show(event)
            if once and not sweep and not as_json:
                output.answer("Nothing changed.")
            if not once:
                guarded = _guard_printer(workspace, show, output, as_json=as_json)
                await service.run(await guarded)
            return any(map(_is_partial, sweep))

        if once:
            return await work()
        await _until_stopped(work())
        output.info(
            "Stopped. The library is up to date with the saves processed so far."
        )
        return False


def _is_partial(event: WatchEvent) -> bool:
    """Return whether a file could not be processed in a save, or is missing."""
    return isinstance(event, SaveReport) and bool(event.problems or event.missing)


def _warn_of_sync(workspace: Workspace, output: Output) -> None:
    warning = describe_unsafe_folder(workspace.library.state_dir)
    if warning and not workspace.library.database.exists():
        output.warn(warning)


def _create_freshness_monitor(
    workspace: Workspace, output: Output
) -> AnswerFreshnessMonitor:
    return AnswerFreshnessMonitor(workspace, output.warn)


async def _first_sweep(
    service: WatchService, freshness_monitor: AnswerFreshnessMonitor
) -> list[WatchEvent]:
    """Process what changed before the start; return the events to print afterwards."""
    await freshness_monitor.record_baseline()
    watch_events: list[WatchEvent] = []

    async def note(event: WatchEvent) -> None:
        watch_events.append(event)

    await service.run(note, once=True)
    return watch_events


async def _until_stopped(work: Coroutine[object, object, object]) -> None:
    """Run `work` until Ctrl-C or SIGTERM, which end it normally."""
    task = asyncio.ensure_future(work)
    stopped = False

    def stop() -> None:
        nonlocal stopped
        stopped = True
        task.cancel()

    loop = asyncio.get_running_loop()
    for name in (signal.SIGINT, signal.SIGTERM):
        with suppress(NotImplementedError):  # Windows: Ctrl-C cancels all of it
            loop.add_signal_handler(name, stop)
    try:
        await task
    except asyncio.CancelledError:
        if not stopped:
            raise


def _create_event_printer(
    workspace: Workspace,
    output: Output,
    hook: Sequence[str],
    freshness_monitor: AnswerFreshnessMonitor,
    *,
    as_json: bool,
) -> Callable[[WatchEvent], Awaitable[None]]:
    async def show(event: WatchEvent) -> None:
        event = await freshness_monitor.add_affected_answers(event)
        if as_json:
            output.json_line(watch_event_as_json(event))
        else:
            _print_event(event, workspace, output)
        if isinstance(event, SaveReport) and event.learned.changed and hook:
            await _run_hook(hook, event, workspace.library.root, output)

    return show


async def _guard_printer(
    workspace: Workspace,
    show: Callable[[WatchEvent], Awaitable[None]],
    output: Output,
    *,
    as_json: bool,
) -> Callable[[WatchEvent], Awaitable[None]]:
    """Return a printer of events that also prints the contradictions of each save."""
    guard = ContradictionMonitor(workspace, output.warn)
    earlier = await guard.find_new()

    async def show_guarded(event: WatchEvent) -> None:
        await show(event)
        if isinstance(event, WatchStart) and earlier:
            count_text = format_count(len(earlier), "contradiction")
            output.info(f"{count_text} found earlier; `lrwr check` lists them.")
        if not isinstance(event, SaveReport) or not event.learned.changed:
            return
        new_contradictions = await guard.find_new(event.usage.calls)
        if not as_json:
            output.show(render_contradictions(new_contradictions))
            return
        for contradiction in new_contradictions:
            output.json_line(
                {
                    "event": "contradiction",
                    **contradiction_as_json(contradiction),
                }
            )

    return show_guarded


def _print_event(event: WatchEvent, workspace: Workspace, output: Output) -> None:
    match event:
        case WatchStart(documents):
            output.info(
                f"Watching {format_count(documents, 'document')}. Press Ctrl-C to stop."
            )
            _print_model_use(workspace, output)
        case SaveReport():
            _print_save(event, output)
        case ManuscriptAway(what):
            output.warn(f"{what}. The library is unchanged; waiting for the files.")
        case ManuscriptReturn():
            output.info("The manuscript is available again.")
        case PollingFallback(why):
            output.warn(f"{why}. Files are checked every two seconds instead.")
        case WatchFailure(message, hint):
            output.warn(message)
            if hint:
                output.info(f"  hint: {hint}")


def _print_model_use(workspace: Workspace, output: Output) -> None:
    watch = workspace.settings.watch
    if workspace.settings.model.use == "off" or workspace.settings.pipeline != "b":
        return
    model_usage = {
        "manual": "is not used; run `lrwr ingest` to use it.",
        "idle": f"is used when nothing has changed for {watch.idle} seconds, with at"
        f" most {format_count(watch.calls, 'call')}.",
        "on-save": f"is used for each save, with at most"
        f" {format_count(watch.calls, 'call')}; `lrwr ingest` does the rest.",
    }
    output.info(f"The language model {model_usage[watch.model]}")


def _print_save(report: SaveReport, output: Output) -> None:
    for remark in report.remarks:
        output.notice_warning(sanitize_line(remark))
    for problem, hint in describe_save_problems(report):
        output.notice_warning(problem, hint)
    if report.learned.documents:
        output.answer(describe_save(report))


async def _run_hook(
    hook: Sequence[str], report: SaveReport, root: Path, output: Output
) -> None:
    """Run the command of `--exec` with the changed files as arguments.

    Its stdout goes to stderr. There is no shell. A name that begins with a dash gets
    "./" in front, so that it cannot pass for an option.
    """
    names = list_changed_documents(report.learned)
    if not names:
        return
    files = [f"./{name}" if name.startswith("-") else name for name in names]
    try:
        process = await asyncio.create_subprocess_exec(
            *hook,
            *files,
            cwd=root,
            env={**os.environ, "LRWR_CHANGED": "\n".join(names)},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=sys.stderr.fileno(),
        )
    except OSError as error:
        output.warn(f"Cannot run {hook[0]} (`--exec`): {error.strerror or error}.")
        return
    try:
        code = await process.wait()
    except asyncio.CancelledError:
        process.terminate()
        await process.wait()
        raise
    if code:
        output.warn(f"{hook[0]} (`--exec`) exited with code {code}.")
