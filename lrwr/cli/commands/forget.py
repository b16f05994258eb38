"""`lrwr forget`: what lrwr keeps of a library goes, and the manuscript stays."""

import os
import sys
from typing import Annotated
from unicodedata import normalize

import typer

from lrwr.app.maintenance.deletion import (
    DeletionPlan,
    delete_local_library,
    plan_deletion,
)
from lrwr.cli.presenters import deletion
from lrwr.cli.runtime.async_runner import run_async
from lrwr.cli.runtime.options import JsonOption
from lrwr.cli.runtime.output import Output
from lrwr.cli.runtime.session import start_session
from lrwr.core.model.errors import ExitCode, SettingsProblem

EPILOG = (
    "Examples: lrwr forget --dry-run · lrwr forget · lrwr forget --here --yes. Exit"
    " code 0: all is gone; 7: something is left, and it is said what."
)

_LONGEST = 10_000
"""Characters of a line that is read."""


app = typer.Typer()


@app.command("forget", epilog=EPILOG)
def forget_command(
    context: typer.Context,
    everywhere: Annotated[
        bool,
        typer.Option(
            "--everywhere/--here",
            help="On your servers too, or on this machine alone.",
        ),
    ] = True,
    yes: Annotated[
        bool, typer.Option("--yes", help="Do not ask whether it is meant.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would go; ask no server.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Remove what lrwr keeps of this library, here and on the servers that are set.

    Your manuscript, lrwr.toml and lrwr.canon.toml are never touched. Conversations
    cannot be had back: `lrwr backup` keeps them.
    """
    settings, output = start_session(context)
    plan = plan_deletion(settings, everywhere=everywhere)
    if dry_run and as_json:
        output.json({"dry_run": True, **deletion.deletion_plan_as_json(plan)})
        return
    deletion.show_deletion_plan(plan, output, to_stderr=as_json)
    if dry_run:
        return
    _confirm(plan, output, yes=yes)
    result = run_async(delete_local_library(plan, settings, os.environ, output.story))
    if as_json:
        output.json(
            {"dry_run": False, **deletion.deletion_result_as_json(plan, result)}
        )
    else:
        deletion.show_deletion_result(plan, result, output)
    if result.left:
        raise typer.Exit(int(ExitCode.PARTIAL))


def _confirm(plan: DeletionPlan, output: Output, *, yes: bool) -> None:
    """Make sure that the writer means it.

    Raises:
        SettingsProblem: They do not, or did not say so.
    """
    if yes and plan.unsafe:
        raise SettingsProblem(
            f"{plan.unsafe}: --yes does not count there, and nothing was removed",
            hint=f"If it is yours: LRWR_STATE_DIR={plan.library.state_dir} lrwr forget",
        )
    if yes:
        return
    name = plan.library.root.name or str(plan.library.root)
    output.story(f"To go on, type the name of the folder, {name}:")
    typed_name = sys.stdin.readline(_LONGEST).strip()
    if normalize("NFC", typed_name) != normalize("NFC", name):
        raise SettingsProblem(
            "That is not the name of the folder: nothing was removed",
            hint=f"Type {name}, or use --yes.",
        )
