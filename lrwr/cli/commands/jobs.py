"""`lrwr jobs`: what was worked on, what is, and what failed."""

from datetime import datetime
from typing import Annotated

import typer

from lrwr.app.container import open_workspace
from lrwr.app.presenters.text import LinePiece
from lrwr.cli.runtime.async_runner import run_async
from lrwr.cli.runtime.options import parse_choice
from lrwr.cli.runtime.output import Output
from lrwr.cli.runtime.session import start_session
from lrwr.core.model.jobs import Job, JobState
from lrwr.core.settings.model import Settings

app = typer.Typer()


@app.command("jobs")
def jobs_command(
    context: typer.Context,
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=1, max=2000, help="How many.")
    ] = 20,
    state: Annotated[
        str | None,
        typer.Option(
            "--state",
            help="Only those that are pending, running, complete or failed.",
            metavar="STATE",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the work on documents, newest first."""
    settings, output = start_session(context)
    run_async(_jobs(settings, output, limit, state, as_json=as_json))


async def _jobs(
    settings: Settings,
    output: Output,
    limit: int,
    state: str | None,
    *,
    as_json: bool,
) -> None:
    job_state = parse_choice(JobState, state, "--state") if state else None
    async with open_workspace(settings, say=output.story) as workspace:
        workspace.require_library()
        jobs = await workspace.jobs.jobs(limit=limit, state=job_state)
    if as_json:
        output.json([_plain(job) for job in jobs])
        return
    if not jobs:
        output.story("No jobs.")
        return
    headings = ["Job", "State", "Work", "Document", "When", "Tries"]
    with output.paged():
        output.table(headings, [_row(job) for job in jobs], right={"Job", "Tries"})
    for job in jobs:
        if job.error:
            output.story(f"job {job.id}: {job.error} {job.hint}")


def _row(job: Job) -> list[LinePiece]:
    updated_at = datetime.fromtimestamp(job.updated).strftime("%Y-%m-%d %H:%M:%S")
    state = f"{job.state}: {job.stage}" if job.stage else str(job.state)
    kind, document = str(job.order.kind), str(job.order.document)
    return [str(job.id), state, kind, document, updated_at, str(job.attempts)]


def _plain(job: Job) -> dict[str, object]:
    return {
        "id": job.id,
        "state": job.state,
        "stage": job.stage,
        "kind": job.order.kind,
        "document": job.order.document,
        "pipeline": job.order.pipeline,
        "attempts": job.attempts,
        "error": job.error,
        "hint": job.hint,
        "created": job.created,
        "updated": job.updated,
    }
