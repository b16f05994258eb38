"""A command's module is imported when the command is called, not before."""

import subprocess
import sys
from importlib import import_module

import pytest

from lrwr.cli.main import COMMANDS, MainGroup

LOADED = """
import sys
from typer.testing import CliRunner
from lrwr.cli.main import app
CliRunner().invoke(app, {words!r}, env={env!r})
print(*(name for name in sys.modules if name.startswith("lrwr.cli.commands.")))
"""


def command_modules_loaded_by(words: list[str], env: dict[str, str]) -> set[str]:
    code = LOADED.format(words=words, env=env)
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    return {name.rpartition(".")[2] for name in done.stdout.split()}


@pytest.mark.parametrize(
    ("words", "env"),
    [
        (["--help"], {}),
        (["--version"], {}),
        (["serch", "tide"], {}),
        ([], {"_LRWR_COMPLETE": "complete_zsh", "_TYPER_COMPLETE_ARGS": "lrwr s"}),
    ],
    ids=["help", "version", "a mistyped name", "completion of a name"],
)
def test_no_command_is_imported_where_none_is_called(
    words: list[str], env: dict[str, str]
) -> None:
    assert command_modules_loaded_by(words, env) == set()


def test_only_the_command_that_is_called_is_imported() -> None:
    assert command_modules_loaded_by(["search", "--help"], {}) == {"search"}


@pytest.mark.parametrize("name", COMMANDS)
def test_the_summary_in_the_table_is_the_first_paragraph_of_the_help(name: str) -> None:
    command = MainGroup(name="lrwr").load_command(name)
    assert command.name == name
    assert COMMANDS[name].summary == (command.help or "").split("\n\n")[0]


def test_every_command_of_a_module_is_in_the_table() -> None:
    modules = {entry.module for entry in COMMANDS.values()}
    for module in modules:
        app = import_module(module).app
        names = {
            one.name
            for one in (*app.registered_commands, *app.registered_groups)
            if isinstance(one.name, str)
        }
        listed = {name for name, entry in COMMANDS.items() if entry.module == module}
        assert listed in (names, {app.info.name})
