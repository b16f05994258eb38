"""`lrwr deploy`: deploy the document worker to Modal."""

import os
from collections.abc import Mapping
from functools import partial
from typing import Annotated

import typer

from lrwr import __version__
from lrwr.app.modal_worker import (
    ModalDeployment,
    deploy_to_modal,
    plan_modal_deployment,
)
from lrwr.app.presenters.text import format_count
from lrwr.cli.runtime.event_loop import run_async
from lrwr.cli.runtime.output import Output, start_session
from lrwr.core.adapters.modal.calls import ModalConnection
from lrwr.core.adapters.modal.factory import (
    build_modal_connection,
    build_modal_token,
    select_remote_settings,
)
from lrwr.core.model.errors import ServiceUnavailable
from lrwr.core.settings.consent import ConsentStore, find_address_problem
from lrwr.core.settings.library import get_consent_folder, resolve_library
from lrwr.core.settings.service_access import find_key

MODAL_EPILOG = "Examples: lrwr deploy modal --dry-run · lrwr deploy modal"

DeployDryRunOption = Annotated[
    bool, typer.Option("--dry-run", help="Show what would be deployed; send nothing.")
]


app = typer.Typer(
    name="deploy",
    help="Deploy lrwr to Modal, to process documents there.",
    no_args_is_help=True,
)


@app.command("modal", epilog=MODAL_EPILOG)
def deploy_modal_command(
    context: typer.Context, dry_run: DeployDryRunOption = False
) -> None:
    """Deploy lrwr's code to Modal, for `lrwr ingest --remote`. No manuscript text is sent."""
    settings, output = start_session(context)
    select_remote_settings(settings)  # raises before anything is sent
    connection = build_modal_connection(settings)
    plan = plan_modal_deployment(settings, connection)
    _show_plan(plan, connection, output)
    if dry_run:
        output.answer("Nothing was sent.")
        return
    consents = ConsentStore(get_consent_folder())
    library = resolve_library(settings)
    refusal = find_address_problem(settings, library, "modal", consents)
    if refusal is not None:
        raise refusal
    token = build_modal_token(partial(_find_token_id, os.environ), os.environ)
    output.info(
        "The first deployment takes some minutes, because Modal installs the packages."
    )
    page = run_async(deploy_to_modal(plan, connection, token))
    output.answer(f"Deployed as {plan.app}. {page}".rstrip())
    output.answer("Next, run `lrwr ingest --remote`.")


def _find_token_id(env: Mapping[str, str]) -> str:
    key = find_key("MODAL_TOKEN_ID", env)
    if not key:
        raise ServiceUnavailable(
            "The Modal token is missing",
            hint="Create a token at modal.com and run `lrwr config set-key modal`.",
        )
    return key


def _show_plan(
    plan: ModalDeployment, connection: ModalConnection, output: Output
) -> None:
    output.answer(f"App {plan.app} at {connection.host}, with one function:")
    for line in _lines(plan):
        output.answer(line, indent=2)


def _lines(plan: ModalDeployment) -> list[str]:
    packages = format_count(len(plan.packages), "package")
    secret = (
        f"API key from your Modal secret {plan.secret}; no key is sent from here"
        if plan.secret
        else "No API key: it uses no language model and no embedding service"
    )
    return [
        f"{plan.function}: receives a file, returns the analysis, and stores nothing",
        f"lrwr {__version__} from this machine, Python {plan.python}, {packages}",
        f"{format_count(plan.containers, 'container')} at most, each with {plan.cores:g} core"
        f" and {plan.memory:,} MB, at most {plan.longest // 60} minutes per document",
        secret,
        f"Cost: about ${plan.price:.3f} per hour of a working container, nothing when idle."
        " To remove it: `modal app stop`",
    ]
