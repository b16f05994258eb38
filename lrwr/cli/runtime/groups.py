"""A command group whose first word may be a name instead of a command."""

from typing import Any

import typer
from typer.core import TyperGroup


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
