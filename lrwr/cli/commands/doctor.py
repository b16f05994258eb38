"""`lrwr doctor` and `lrwr repair`: check the installation and the library; rebuild."""

import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from lrwr.app.maintenance.check_result import HealthFinding, is_healthy
from lrwr.app.maintenance.doctor import DoctorContext, run_doctor
from lrwr.app.maintenance.repair import recover_from_file, repair_library
from lrwr.app.presenters.text import LinePiece, StyledText, Tone
from lrwr.cli.runtime.event_loop import run_async
from lrwr.cli.runtime.options import JsonOption
from lrwr.cli.runtime.output import Output, create_output, start_session
from lrwr.core.adapters.chat.local_servers import list_local_servers
from lrwr.core.adapters.storage.supabase.records import list_supabase_migrations
from lrwr.core.model.errors import ExitCode
from lrwr.core.settings.library import resolve_library

DOCTOR_EPILOG = (
    "Examples: lrwr doctor · lrwr doctor --verify · lrwr doctor --servers · lrwr doctor"
    " --json · lrwr doctor --sql > lrwr.sql. Exit code 0: nothing is broken; 1: something is."
)
REPAIR_EPILOG = (
    "Examples: lrwr repair · lrwr repair && lrwr ingest · lrwr repair --from"
    " .lrwr/library.db.broken-20261123-154500"
)


ServersOption = Annotated[
    bool,
    typer.Option(
        "--servers",
        help="Also look for model servers on the usual ports of this machine: Ollama, LM"
        " Studio, llama-server.",
    ),
]

VerifyStoredOption = Annotated[
    bool,
    typer.Option(
        "--verify",
        help="Compare everything stored with its checksums, not only a sample.",
    ),
]

SqlOption = Annotated[
    bool,
    typer.Option(
        "--sql",
        help="Only print the SQL that sets up a Supabase project.",
    ),
]


FromOption = Annotated[
    Path | None,
    typer.Option(
        "--from",
        metavar="FILE",
        help="Only add missing data from an older database file of this library.",
    ),
]


app = typer.Typer()


@app.command("doctor", epilog=DOCTOR_EPILOG)
def doctor_command(
    context: typer.Context,
    servers: ServersOption = False,
    sql: SqlOption = False,
    verify: VerifyStoredOption = False,
    as_json: JsonOption = False,
) -> None:
    """Check every part and suggest fixes. Changes nothing.

    Contacts only services that your settings turn on and that you allowed, and sends
    them no manuscript text. With --servers, also the usual ports of this machine.
    """
    if sql:
        _print_sql()
        return
    flags = context.find_object(dict) or {}
    doctor_context = DoctorContext(
        start=Path.cwd(),
        env=os.environ,
        flags=flags,
        now=time.time(),
        servers=list_local_servers() if servers else (),
        verify=verify,
    )
    findings = run_async(run_doctor(doctor_context))
    output = create_output(context)
    if as_json:
        output.json({"healthy": is_healthy(findings), "findings": findings})
    else:
        _show(findings, output)
    if not is_healthy(findings):
        raise typer.Exit(int(ExitCode.FAILED))


def _print_sql() -> None:
    # Every script is idempotent, so all are printed, whatever the project has already.
    for script in list_supabase_migrations():
        typer.echo(f"-- {script.name}\n{script.sql}")


@app.command("repair", epilog=REPAIR_EPILOG)
def repair_command(
    context: typer.Context,
    file: FromOption = None,
    as_json: JsonOption = False,
) -> None:
    """Rebuild indexes, and recover threads from a damaged database.

    A damaged database is replaced by a new one with its readable threads, model
    replies, send log and jobs. Your manuscript is never changed.
    """
    settings, output = start_session(context)
    library = resolve_library(settings)
    if file is None:
        report = repair_library(library, now=time.time())
    else:
        report = recover_from_file(library, file, now=time.time())
    if as_json:
        output.json(report)
        return
    for step in report.steps:
        output.answer(step)
    if report.remedy:
        output.info(report.remedy)


def _show(findings: Sequence[HealthFinding], output: Output) -> None:
    tones: dict[str, Tone] = {"ok": "good", "broken": "bad", "warning": "strong"}
    rows: list[list[LinePiece]] = [
        [
            StyledText(finding.state, tones.get(finding.state, "faint")),
            finding.part,
            f"{finding.detail} {finding.remedy}".strip(),
        ]
        for finding in findings
    ]
    output.table(["State", "Part", "Details"], rows)
