"""`lrwr check`: what contradicts what the writer has confirmed."""

from typing import Annotated

import typer

from lrwr.cli.flags import AsOf, Json

EPILOG = (
    "Examples: lrwr check · lrwr check chapters/07.md · lrwr check --as-of ch12 ·"
    ' lrwr check intend bdfk --because "she lies about it" · lrwr check undo'
)
INTEND_EPILOG = (
    'Example: lrwr check intend bdfk --because "she lies about it". To take it back:'
    " lrwr check undo"
)


def check(
    context: typer.Context,
    paths: Annotated[
        list[str] | None,
        typer.Argument(metavar="[PATH]…", help="Files; only what concerns them."),
    ] = None,
    as_of: AsOf = None,
    every: Annotated[
        bool, typer.Option("--all", help="Show those marked as intended, too.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Say what contradicts your notes, your answers, and what was told before.

    It ends with exit code 9 if there is anything that you have not marked as intended.
    """
    if context.invoked_subcommand is not None:
        return
    from lrwr.cli import guarding
    from lrwr.cli.begin import begin
    from lrwr.cli.running import run_async
    from lrwr.core.model.errors import ExitCode

    settings, output = begin(context)
    found = run_async(guarding.look(settings, output, paths or [], as_of))
    slips = [one for one in found if not one.intended]
    shown = found if every else slips
    if as_json:
        output.json([guarding.as_json(one) for one in shown])
    else:
        guarding.show(shown, output)
        guarding.sum_up(slips, len(found) - len(slips), output, every=every)
    if slips:
        raise typer.Exit(int(ExitCode.CONTRADICTIONS))


def intend(
    context: typer.Context,
    id_: Annotated[str, typer.Argument(metavar="ID", help="As `lrwr check` shows it.")],
    because: Annotated[
        str, typer.Option("--because", metavar="TEXT", help="Why, in one line.")
    ] = "",
) -> None:
    """Mark a contradiction as intended, once and for good."""
    from lrwr.cli import guarding
    from lrwr.cli.begin import begin
    from lrwr.cli.decisions import decide
    from lrwr.cli.running import run_async
    from lrwr.core.canon.decision import SlipIntended
    from lrwr.core.continuity.guard import contradiction_called

    settings, output = begin(context)
    one = contradiction_called(id_, run_async(guarding.look(settings, output, [])))
    decision = SlipIntended(
        one.about, one.attribute, one.canon.value, one.found.value, because
    )
    run_async(decide(settings, output, lambda _: decision))
