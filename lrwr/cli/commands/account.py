"""`lrwr login`, `logout_command` and `whoami_command`: an account in a Supabase project of yours."""

import os
import sys
from getpass import getpass
from typing import Annotated

import typer

from lrwr.cli.runtime.async_runner import run_async
from lrwr.cli.runtime.options import JsonOption
from lrwr.cli.runtime.output import Output
from lrwr.cli.runtime.session import start_session
from lrwr.core.adapters.auth.supabase import SupabaseSignIn, create_supabase_sign_in
from lrwr.core.model.errors import ExitCode, ServiceUnavailable, SettingsProblem

LOGIN_EPILOG = (
    "Examples: lrwr login nell@example.org · pass show lrwr | lrwr login"
    " nell@example.org"
)
LOGOUT_EPILOG = "Example: lrwr logout"
WHOAMI_EPILOG = "Examples: lrwr whoami · lrwr whoami --json"

WHAT_NEXT = (
    "Nothing of your book goes there by that. To take a library there: lrwr push. To"
    " bring one here: lrwr pull."
)

_LONGEST = 10_000
"""Characters of a line that is read."""


app = typer.Typer()


@app.command("login", epilog=LOGIN_EPILOG)
def login_command(
    context: typer.Context,
    email: Annotated[
        str | None, typer.Argument(metavar="EMAIL", help="Asked for where not given.")
    ] = None,
) -> None:
    """Sign in to your Supabase project. The password is asked for, or read from stdin.

    Nothing of your book goes there by that: see `lrwr push`.
    """
    sign_in, output = _create_sign_in(context)
    address = email or _prompt_address()
    password = _prompt_password(address)
    output.story(f"Your email address and password go to {sign_in.project.host}.")
    account = run_async(sign_in.auth.sign_in(address, password))
    output.answer(f"Signed in as {account.email} at {sign_in.project.host}.")
    output.story(_describe_session_storage(sign_in))
    output.story(WHAT_NEXT)


@app.command("logout", epilog=LOGOUT_EPILOG)
def logout_command(context: typer.Context) -> None:
    """Sign out of your Supabase project, and forget the session here."""
    sign_in, output = _create_sign_in(context)
    try:
        was_signed_in = run_async(sign_in.auth.sign_out())
    except ServiceUnavailable as error:
        if sign_in.place() != "nowhere":
            raise
        output.answer("The session is forgotten here.")
        output.warn(f"{error}: there it ends by itself, later.")
        return
    outcome = "Signed out of" if was_signed_in else "Nobody was signed in at"
    output.answer(f"{outcome} {sign_in.project.host}.")


@app.command("whoami", epilog=WHOAMI_EPILOG)
def whoami_command(context: typer.Context, as_json: JsonOption = False) -> None:
    """Say who is signed in to your Supabase project, as it says. 1: nobody is."""
    sign_in, output = _create_sign_in(context)
    account = run_async(sign_in.auth.account())
    if as_json:
        output.json(
            {
                "signed_in": account is not None,
                "email": account.email if account else None,
                "account": account.id if account else None,
                "project": sign_in.project.url,
                "kept_in": sign_in.place(),
            }
        )
    elif account is None:
        output.answer(f"Nobody is signed in at {sign_in.project.host}.")
        output.story("To sign in: lrwr login")
    else:
        output.answer(f"{account.email} at {sign_in.project.host}")
        output.story(_describe_session_storage(sign_in))
    if account is None:
        raise typer.Exit(int(ExitCode.FAILED))


def _create_sign_in(context: typer.Context) -> tuple[SupabaseSignIn, Output]:
    settings, output = start_session(context)
    return create_supabase_sign_in(settings, os.environ), output


def _describe_session_storage(sign_in: SupabaseSignIn) -> str:
    place = sign_in.place()
    location = str(sign_in.file) if place == "file" else f"the system's {place}"
    return f"The session is kept in {location}; the password nowhere."


def _prompt_address() -> str:
    if not sys.stdin.isatty():
        raise SettingsProblem(
            "It is not said who signs in",
            hint="Name the address: lrwr login EMAIL, and the password on stdin.",
        )
    typer.echo("Email address: ", nl=False, err=True)
    return sys.stdin.readline(_LONGEST).strip()


def _prompt_password(address: str) -> str:
    if not sys.stdin.isatty():
        return sys.stdin.readline(_LONGEST).rstrip("\r\n")

    return getpass(f"Password of {address} (not shown): ", stream=sys.stderr)
