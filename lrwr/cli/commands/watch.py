"""`lrwr watch`: keep what is known true while the manuscript is written."""

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
from lrwr.app.continuity import ContradictionMonitor
from lrwr.app.presenters.text import format_count, sanitize_line
from lrwr.app.presenters.watch import (
    describe_save,
    describe_save_problems,
    list_changed_documents,
)
from lrwr.app.watch import (
    AnswerFreshnessMonitor,
    create_watch_service,
    is_model_used_by_watch,
)
from lrwr.cli.presenters import contradictions
from lrwr.cli.presenters.ingestion import create_progress_listener
from lrwr.cli.presenters.watch import watch_event_as_json
from lrwr.cli.runtime.async_runner import run_async
from lrwr.cli.runtime.output import Output
from lrwr.cli.runtime.services import (
    INGEST_SERVICES,
    announce_first_use,
    prompt_for_consent,
)
from lrwr.cli.runtime.session import start_session
from lrwr.core.model.errors import ExitCode, SettingsProblem
from lrwr.core.settings.library import (
    describe_unsafe_folder,
    resolve_targets,
    store_ingested_paths,
)
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
        help="What to watch; what was ingested last time if left out.",
    ),
]
ExecOption = Annotated[
    str | None,
    typer.Option(
        "--exec",
        metavar="COMMAND",
        help="Run this after each save that changed something; the files follow it.",
    ),
]
OnceOption = Annotated[
    bool, typer.Option("--once", help="Look once, say what changed, and end.")
]
WatchJsonOption = Annotated[
    bool, typer.Option("--json", help="Print a line of JSON an event.")
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
    """Keep up with the manuscript while you write, until you stop it with Ctrl-C."""
    settings, output = start_session(context)
    words = _split(command)
    work = _watch(settings, output, paths or [], words, once=once, as_json=as_json)
    if run_async(work):
        raise typer.Exit(int(ExitCode.PARTIAL))


def _split(command: str | None) -> list[str]:
    """Return the words of a command as a shell would part them, and no more."""
    try:
        words = shlex.split(command or "")
    except ValueError as error:
        raise SettingsProblem(
            f"--exec cannot be read: {error}", hint="Close every quote in it."
        ) from error
    if command is not None and not words:
        raise SettingsProblem("--exec names no command", hint="Name one, or leave it.")
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
    """Watch; return whether a first and only look met files that cannot be read."""
    async with open_workspace(settings, say=output.story) as workspace:
        targets = resolve_targets(paths or workspace.manuscript())
        _warn_of_sync(workspace, output)
        names = (
            ["openai"]
            if settings.pipeline == "b" and is_model_used_by_watch(settings)
            else []
        )
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
            if not once:
                guarded = _guard_printer(workspace, show, output, as_json=as_json)
                await service.run(await guarded)
            return any(isinstance(save, SaveReport) and save.problems for save in sweep)

        if once:
            return await work()
        await _until_stopped(work())
        output.story("Stopped watching; what was done is kept.")
        return False


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
    """Bring the library up to date; return what is to be said when that is done."""
    await freshness_monitor.record_baseline()
    watch_events: list[WatchEvent] = []

    async def note(event: WatchEvent) -> None:
        watch_events.append(event)

    await service.run(note, once=True)
    return watch_events


async def _until_stopped(work: Coroutine[object, object, object]) -> None:
    """Do `work` until it is stopped by Ctrl-C or SIGTERM: that is its good end."""
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
            _say(event, workspace, output)
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
    """Return what shows an event, and then what in it contradicts what stood before."""
    guard = ContradictionMonitor(workspace, output.warn)
    if standing := await guard.find_new():
        count_text = format_count(len(standing), "contradiction")
        output.story(f"{count_text} known already: `lrwr check` shows them.")

    async def told(event: WatchEvent) -> None:
        await show(event)
        if not isinstance(event, SaveReport) or not event.learned.changed:
            return
        new_contradictions = await guard.find_new(event.usage.calls)
        if not as_json:
            contradictions.show_contradictions(new_contradictions, output)
            return
        for contradiction in new_contradictions:
            output.json_line(
                {
                    "event": "contradiction",
                    **contradictions.contradiction_as_json(contradiction),
                }
            )

    return told


def _say(event: WatchEvent, workspace: Workspace, output: Output) -> None:
    match event:
        case WatchStart(documents):
            output.story(
                f"Watching {format_count(documents, 'document')}; Ctrl-C stops."
            )
            _say_model(workspace, output)
        case SaveReport():
            _say_saved(event, output)
        case ManuscriptAway(what):
            output.warn(f"{what}. Nothing is forgotten; waiting for its return.")
        case ManuscriptReturn():
            output.story("It is there again.")
        case PollingFallback(why):
            output.warn(f"{why}: files are looked at every two seconds instead.")
        case WatchFailure(message, hint):
            output.warn(message)
            if hint:
                output.story(f"  hint: {hint}")


def _say_model(workspace: Workspace, output: Output) -> None:
    watch = workspace.settings.watch
    if workspace.settings.model.use == "off" or workspace.settings.pipeline != "b":
        return
    model_usage = {
        "manual": "is not asked; `lrwr ingest` has it read what changed.",
        "idle": f"reads once nothing has changed for {watch.idle} seconds, with at"
        f" most {watch.calls} calls.",
        "on-save": f"reads each save, with at most {watch.calls} calls; `lrwr ingest`"
        " has it read the rest.",
    }
    output.story(f"The language model {model_usage[watch.model]}")


def _say_saved(report: SaveReport, output: Output) -> None:
    for remark in report.remarks:
        output.warn(sanitize_line(remark))
    for problem, hint in describe_save_problems(report):
        output.warn(problem)
        if hint:
            output.story(f"  hint: {hint}")
    if report.learned.documents:
        output.answer(describe_save(report))


async def _run_hook(
    hook: Sequence[str], report: SaveReport, root: Path, output: Output
) -> None:
    """Run the writer's own command; what it prints goes beside the answer.

    File names are arguments of their own and never words of a shell's. One that begins
    with a dash could pass for an option, and gets its folder before it.
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
        output.warn(f"--exec: {hook[0]} cannot be run: {error.strerror or error}")
        return
    try:
        code = await process.wait()
    except asyncio.CancelledError:
        process.terminate()
        await process.wait()
        raise
    if code:
        output.warn(f"--exec: {hook[0]} ended with code {code}.")
