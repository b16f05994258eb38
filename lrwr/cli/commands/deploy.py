"""`lrwr deploy modal`: put what reads documents at Modal."""

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
from lrwr.cli.runtime.async_runner import run_async
from lrwr.cli.runtime.output import Output
from lrwr.cli.runtime.session import start_session
from lrwr.core.adapters.modal.calls import ModalConnection
from lrwr.core.adapters.modal.factory import (
    build_modal_connection,
    build_modal_token,
    select_remote_settings,
)
from lrwr.core.model.errors import ServiceUnavailable
from lrwr.core.settings.service_access import find_key

MODAL_EPILOG = "Examples: lrwr deploy modal --dry-run · lrwr deploy modal"

DeployDryRunOption = Annotated[
    bool, typer.Option("--dry-run", help="Say what would be put there; send nothing.")
]


app = typer.Typer(
    name="deploy",
    help="Put lrwr where documents can be read elsewhere.",
    no_args_is_help=True,
)


@app.command("modal", epilog=MODAL_EPILOG)
def deploy_modal_command(
    context: typer.Context, dry_run: DeployDryRunOption = False
) -> None:
    """Put lrwr's own code at Modal, for `lrwr ingest --remote`. None of your text goes."""
    settings, output = start_session(context)
    select_remote_settings(
        settings
    )  # what could not be read there is told before anything is put there
    connection = build_modal_connection(settings)
    plan = plan_modal_deployment(settings, connection)
    _show_plan(plan, connection, output)
    if dry_run:
        output.answer("Nothing was sent.")
        return
    token = build_modal_token(partial(_find_token_id, os.environ), os.environ)
    output.story("The first time takes some minutes: Modal installs the packages.")
    page = run_async(deploy_to_modal(plan, connection, token))
    output.answer(f"Deployed as {plan.app}. {page}".rstrip())
    output.answer("Now: lrwr ingest --remote")


def _find_token_id(env: Mapping[str, str]) -> str:
    key = find_key("MODAL_TOKEN_ID", env)
    if not key:
        raise ServiceUnavailable(
            "There is no token for Modal",
            hint="Keep one with `lrwr config set-key modal`: make it at modal.com.",
        )
    return key


def _show_plan(
    plan: ModalDeployment, connection: ModalConnection, output: Output
) -> None:
    output.answer(f"At {connection.host}, the app {plan.app} with one function:")
    for line in _lines(plan):
        output.answer(line, indent=2)


def _lines(plan: ModalDeployment) -> list[str]:
    packages = format_count(len(plan.packages), "package")
    secret = (
        f"the key in your secret {plan.secret} at Modal; no key is sent from here"
        if plan.secret
        else "no key: no language model and no embedding service is asked from there"
    )
    return [
        f"{plan.function}: a file goes in, what is known of it comes out; it keeps nothing",
        f"lrwr {__version__} as it is on this machine, on Python {plan.python}, with"
        f" {packages}",
        f"{plan.cores:g} core and {plan.memory:,} MB for each container, at most"
        f" {format_count(plan.containers, 'container')} at once, at most {plan.longest // 60}"
        " minutes a document",
        f"with {secret}",
        f"Cost: about ${plan.price:.3f} for an hour of a container at work; nothing while"
        " nobody reads. To take it away: `modal app stop`.",
    ]
