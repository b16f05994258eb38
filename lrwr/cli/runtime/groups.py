"""Command groups: one that loads its commands when they are called, one that takes names."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup


@dataclass(frozen=True, slots=True)
class CommandEntry:
    """One command or sub-group of a `LazyGroup`.

    `summary` is the first paragraph of its help. `module` has its `typer.Typer`
    application in `app`, which is the sub-group itself or registers the command.
    """

    summary: str
    module: str


class LazyGroup(TyperGroup):
    """A group that imports the module of a command only when the command is called.

    `--help`, completion of a command's name and suggestions for a mistyped one need no
    more than `entries`: `commands` holds a stand-in with name and summary for each.
    """

    entries: ClassVar[Mapping[str, CommandEntry]]

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        for name, entry in self.entries.items():
            self.add_command(TyperCommand(name, help=entry.summary))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the name, the loaded command and the arguments that are left."""
        name, _, rest = super().resolve_command(ctx, args)
        return name, None if name is None else self.load_command(name), rest

    def load_command(self, name: str) -> TyperCommand | TyperGroup:
        """Import and build the command or sub-group `name`.

        Raises:
            KeyError: There is no such command.
        """
        return build_command(name, self.entries[name].module)


def build_command(name: str, module: str) -> TyperCommand | TyperGroup:
    """Import `module` and build the command that its `app` registers as `name`.

    Where it registers none of that name, `app` itself is the sub-group.
    """
    app: typer.Typer = import_module(module).app
    group = typer.main.get_group(app)
    command = group.commands.get(name, group)
    assert isinstance(command, TyperCommand | TyperGroup)
    _join_help_lines(command)
    return command


class NamedGroup(TyperGroup):
    """A group whose first word is a command of it, or a name to show.

    Names are looked for among the commands first, as they are written: `merge` is a
    command, `Merge` a name.
    """

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        """Leave everything to the command that is named; else take it all."""
        if args and args[0] in self.commands:
            super().parse_args(ctx, [])
            ctx._protected_args, ctx.args = args[:1], args[1:]
            return ctx.args
        ctx.allow_interspersed_args, ctx.allow_extra_args = True, False
        return super().parse_args(ctx, args)


def _join_help_lines(command: Any) -> None:
    """Join the lines of each help paragraph: Typer ends lines where a docstring does."""
    if command.help:
        paragraphs = command.help.split("\n\n")
        command.help = "\n\n".join(" ".join(text.split()) for text in paragraphs)
    for inner in getattr(command, "commands", {}).values():
        _join_help_lines(inner)
