"""`lrwr login`, `lrwr logout` and `lrwr whoami`: the account in a Supabase project."""

import os
import sys
from getpass import getpass
from typing import Annotated

import typer

from lrwr.cli.runtime.event_loop import run_async
from lrwr.cli.runtime.options import JsonOption
from lrwr.cli.runtime.output import Output, start_session
from lrwr.core.adapters.auth.supabase import SupabaseSignIn, create_supabase_sign_in
from lrwr.core.model.errors import ExitCode, ServiceUnavailable, SettingsProblem
from lrwr.core.settings.consent import ConsentStore, find_address_problem
from lrwr.core.settings.library import get_consent_folder, resolve_library

LOGIN_EPILOG = (
    "Examples: lrwr login nell@example.org · pass show lrwr | lrwr login"
    " nell@example.org"
)
LOGOUT_EPILOG = "Example: lrwr logout"
WHOAMI_EPILOG = "Examples: lrwr whoami · lrwr whoami --json"

NEXT_STEPS = (
    "Signing in sends no manuscript text. To upload a library, run `lrwr push`; to"
    " download one, run `lrwr pull`."
)

_LONGEST = 10_000
"""Maximum number of characters read of a typed line."""


app = typer.Typer()


@app.command("login", epilog=LOGIN_EPILOG)
def login_command(
    context: typer.Context,
    email: Annotated[
        str | None,
        typer.Argument(
            metavar="EMAIL", help="The email address; asked for if left out."
        ),
    ] = None,
) -> None:
    """Sign in to your Supabase project.

    The password is read from a hidden prompt, or from standard input. Signing in sends
    no manuscript text; `lrwr push` does.
    """
    sign_in, output = _create_sign_in(context)
    address = email or _prompt_address()
    password = _prompt_password(address)
    output.info(f"Sending your email address and password to {sign_in.project.host}.")
    account = run_async(sign_in.auth.sign_in(address, password))
    output.answer(f"Signed in as {account.email} at {sign_in.project.host}.")
    output.info(_describe_session_storage(sign_in))
    output.info(NEXT_STEPS)


@app.command("logout", epilog=LOGOUT_EPILOG)
def logout_command(context: typer.Context) -> None:
    """Sign out of your Supabase project.

    The session stored on this machine is deleted.
    """
    sign_in, output = _create_sign_in(context)
    try:
        was_signed_in = run_async(sign_in.auth.sign_out())
    except ServiceUnavailable as error:
        if sign_in.place() != "nowhere":
            raise
        output.answer("Deleted the session stored here.")
        output.notice_warning(
            f"{error.full_text} The session on the server expires by itself."
        )
        return
    outcome = "Signed out of" if was_signed_in else "No account was signed in at"
    output.answer(f"{outcome} {sign_in.project.host}.")


@app.command("whoami", epilog=WHOAMI_EPILOG)
def whoami_command(context: typer.Context, as_json: JsonOption = False) -> None:
    """Show the signed-in Supabase account (exit code 1 if none)."""
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
        output.answer(f"Not signed in to {sign_in.project.host}.")
        output.info("To sign in, run `lrwr login`.")
    else:
        output.answer(f"{account.email} at {sign_in.project.host}")
        output.info(_describe_session_storage(sign_in))
    if account is None:
        raise typer.Exit(int(ExitCode.FAILED))


def _create_sign_in(context: typer.Context) -> tuple[SupabaseSignIn, Output]:
    settings, output = start_session(context)
    consents = ConsentStore(get_consent_folder())
    library = resolve_library(settings)
    refusal = find_address_problem(settings, library, "supabase", consents)
    if refusal is not None:
        raise refusal
    return create_supabase_sign_in(settings, os.environ), output


def _describe_session_storage(sign_in: SupabaseSignIn) -> str:
    place = sign_in.place()
    location = str(sign_in.file) if place == "file" else f"the system's {place}"
    return f"The session is stored in {location}; the password is not stored."


def _prompt_address() -> str:
    if not sys.stdin.isatty():
        raise SettingsProblem(
            "The email address is missing",
            hint="Run `lrwr login EMAIL` with the password on standard input.",
        )
    typer.echo("Email address: ", nl=False, err=True)
    return sys.stdin.readline(_LONGEST).strip()


def _prompt_password(address: str) -> str:
    if not sys.stdin.isatty():
        return sys.stdin.readline(_LONGEST).rstrip("\r\n")

    return getpass(f"Password of {address} (not shown): ", stream=sys.stderr)
