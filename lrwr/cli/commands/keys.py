"""`lrwr config set-key`, `unset-key` and `config_keys_command`: shown as set or not, never as they are."""

import os
import sys
from getpass import getpass
from typing import Annotated

import typer

from lrwr.cli.runtime.output import Output
from lrwr.core.model.errors import SettingsProblem
from lrwr.core.settings.service_access import (
    delete_key,
    list_key_states,
    list_key_variables,
    store_key,
)

NAMES = "openai, cohere, tavily, supabase, qdrant, modal or langsmith"
SET_EXAMPLES = "Examples: lrwr config set-key openai · pass show openai | lrwr config set-key openai"
UNSET_EXAMPLES = "Example: lrwr config unset-key openai"
KEYS_EXAMPLES = "Examples: lrwr config keys · lrwr config keys --json"

KeysNameArgument = Annotated[str, typer.Argument(metavar="NAME", help=NAMES)]

app = typer.Typer()


@app.command("keys", epilog=KEYS_EXAMPLES)
def config_keys_command(
    context: typer.Context,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show which keys are set, and where: the environment or the keyring."""
    output = _output(context)
    states = list_key_states(os.environ)
    if as_json:
        output.json(states)
        return
    rows = [[state.name, str(state.place), state.variable] for state in states]
    output.table(["Service", "Key", "Variable"], rows)
    output.story("A key turns nothing on: only a setting does.")


@app.command("set-key", epilog=SET_EXAMPLES)
def config_set_key_command(
    context: typer.Context,
    name: KeysNameArgument,
    words: Annotated[list[str] | None, typer.Argument(hidden=True)] = None,
) -> None:
    """Keep a service's key in the system's keyring. It is asked for, and never shown.

    A key that is there turns nothing on: only a setting does.
    """
    if words:  # it would be said back as a word that is not understood
        raise SettingsProblem(
            "A key is asked for, and is no part of the command: shells keep those",
            hint="Run `lrwr config set-key NAME` alone, and"
            " take the other command out of your shell's history.",
        )
    output = _output(context)
    keys = {variable: _prompt_key(variable) for variable in list_key_variables(name)}
    for variable, key in keys.items():
        store_key(variable, key)
        output.answer(f"{variable} is in the keyring.")
        if os.environ.get(variable):
            output.warn(f"The environment sets {variable} too, and it wins.")


@app.command("unset-key", epilog=UNSET_EXAMPLES)
def config_unset_key_command(context: typer.Context, name: KeysNameArgument) -> None:
    """Take a service's key out of the system's keyring."""
    output = _output(context)
    for variable in list_key_variables(name):
        is_deleted = delete_key(variable)
        outcome = "is no longer" if is_deleted else "was not"
        output.answer(f"{variable} {outcome} in the keyring.")
        if os.environ.get(variable):
            output.warn(f"The environment still sets {variable}.")


def _prompt_key(variable: str) -> str:
    if not sys.stdin.isatty():
        return sys.stdin.readline(10_000)

    return getpass(f"{variable} (not shown): ", stream=sys.stderr)


def _output(context: typer.Context) -> Output:
    flags = context.find_object(dict) or {}
    return Output(color=flags.get("output.color") or "auto")
