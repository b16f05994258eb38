"""A command that shows what is named, and has commands below it."""

import typer
from typer.core import TyperGroup


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
