"""Two kinds of command groups: one imports commands on demand, one also accepts
names.
"""

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup


@dataclass(frozen=True, slots=True)
class CommandEntry:
    """One command or sub-group of a `LazyGroup`.

    `summary` is the first paragraph of its help, `panel` the heading under which
    `lrwr --help` lists it. `module` has a `typer.Typer` in `app`, which registers the
    command or is the sub-group itself.
    """

    summary: str
    module: str
    panel: str = "Commands"


class LazyGroup(TyperGroup):
    """A group that imports the module of a command only when the command is called.

    `--help`, completion and suggestions need only `entries`: until it is called, each
    command is represented by its name, summary and panel.
    """

    entries: ClassVar[Mapping[str, CommandEntry]]

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        for name, entry in self.entries.items():
            self.add_command(
                TyperCommand(name, help=entry.summary, rich_help_panel=entry.panel)
            )

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command name, the imported command and the remaining arguments."""
        name, _, rest = super().resolve_command(ctx, args)
        return name, None if name is None else self.load_command(name), rest

    def load_command(self, name: str) -> TyperCommand | TyperGroup:
        """Import and return the command or sub-group called `name`.

        Raises:
            KeyError: There is no such command.
        """
        return build_command(name, self.entries[name].module)


def build_command(name: str, module: str) -> TyperCommand | TyperGroup:
    """Import `module` and return what its `app` registers as `name`.

    Returns `app` itself, as a group, if it registers nothing of that name.
    """
    app: typer.Typer = import_module(module).app
    group = typer.main.get_group(app)
    command = group.commands.get(name, group)
    assert isinstance(command, TyperCommand | TyperGroup)
    _simplify_help(command)
    return command


class NamedGroup(TyperGroup):
    """A group whose first word is either one of its commands or a name to show.

    Commands take precedence and are case-sensitive: `merge` is a command, `Merge` a name.
    """

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        """Pass all words to the command that the first one names, if any.

        Otherwise parse them as options and arguments of the group itself.
        """
        if args and args[0] in self.commands:
            super().parse_args(ctx, [])
            ctx._protected_args, ctx.args = args[:1], args[1:]
            return ctx.args
        ctx.allow_interspersed_args, ctx.allow_extra_args = True, False
        return super().parse_args(ctx, args)

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters; for the usage line of a sub-command, only options.

        Typer asks a group with the context of its sub-command. A name cannot precede
        the sub-command, so the usage line must not show one.
        """
        parameters = super().get_params(ctx)
        if ctx.command is self:
            return parameters
        return [p for p in parameters if p.param_type_name != "argument"]


def _simplify_help(command: Any) -> None:
    """Fill the lines of the help of `command` and its sub-commands, and show arguments
    without braces and types.
    """
    # Typer prints the line breaks of a docstring; paragraphs should fill the terminal.
    if command.help:
        paragraphs = command.help.split("\n\n")
        command.help = "\n\n".join(" ".join(text.split()) for text in paragraphs)
    for parameter in command.params:
        if parameter.param_type_name == "argument" and parameter.metavar:
            parameter.get_usage_pieces = partial(_describe_usage, parameter)
            parameter.type = copy(parameter.type)  # Typer shares one for all strings
            parameter.type.get_metavar = _hide_type
    for inner in getattr(command, "commands", {}).values():
        _simplify_help(inner)


def _describe_usage(argument: Any, context: Any) -> list[str]:
    """Return an argument for the usage line: `NAME`, where Typer prints `{NAME}`."""
    return [argument.make_metavar(context, usage=True).strip("{}")]


def _hide_type(**_: Any) -> str:
    """Return what the help shows as the type of an argument: nothing, for `<str>`."""
    return ""
