"""`lrwr check`: what contradicts what the writer has confirmed."""

from collections.abc import Sequence
from typing import Annotated

import typer

from lrwr.cli.commands.canon import canon_undo_command
from lrwr.cli.presenters import contradictions, model_check
from lrwr.cli.presenters.canon import make_decision
from lrwr.cli.presenters.contradictions import CheckRequest
from lrwr.cli.runtime.async_runner import run_async
from lrwr.cli.runtime.groups import NamedGroup
from lrwr.cli.runtime.options import AsOfOption, JsonOption
from lrwr.cli.runtime.output import Output
from lrwr.cli.runtime.session import start_session
from lrwr.core.canon.decision import SlipIntended
from lrwr.core.continuity.guard import find_contradiction_by_id
from lrwr.core.continuity.statements import Contradiction
from lrwr.core.model.errors import ExitCode, SettingsProblem
from lrwr.core.settings.model import Settings

EPILOG = (
    "Examples: lrwr check · lrwr check chapters/07.md · lrwr check --as-of ch12 ·"
    " lrwr check --model --dry-run ·"
    ' lrwr check intend bdfk --because "she lies about it" · lrwr check undo'
)
INTEND_EPILOG = (
    'Example: lrwr check intend bdfk --because "she lies about it". To take it back:'
    " lrwr check undo"
)


app = typer.Typer(
    name="check", cls=NamedGroup, invoke_without_command=True, epilog=EPILOG
)


@app.callback()
def check_command(
    context: typer.Context,
    paths: Annotated[
        list[str] | None,
        typer.Argument(metavar="[PATH]…", help="Files; only what concerns them."),
    ] = None,
    as_of: AsOfOption = None,
    every: Annotated[
        bool, typer.Option("--all", help="Show those marked as intended, too.")
    ] = False,
    model: Annotated[
        bool,
        typer.Option("--model", help="Have a language model judge what rules cannot."),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="With --model: say what it would cost.")
    ] = False,
    budget: Annotated[
        float | None,
        typer.Option(min=0, metavar="USD", help="With --model: what it may cost."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Say what contradicts your notes, your answers, and what was told before.

    It ends with exit code 9 if there is anything that you have not marked as intended.
    """
    if context.invoked_subcommand is not None:
        return

    if (dry_run or budget is not None) and not model:
        raise SettingsProblem(
            "--dry-run and --budget are about a language model", hint="Add --model."
        )
    settings, output = start_session(context, {"model.budget": budget})
    check_request = CheckRequest(paths or (), as_of)
    if dry_run:
        _estimate(settings, output, check_request, as_json=as_json)
        return
    find = _with_model if model else _by_rules
    findings = find(settings, output, check_request, every=every, as_json=as_json)
    if any(not contradiction.intended for contradiction in findings):
        raise typer.Exit(int(ExitCode.CONTRADICTIONS))


def _by_rules(
    settings: Settings,
    output: Output,
    check_request: CheckRequest,
    *,
    every: bool,
    as_json: bool,
) -> Sequence[Contradiction]:
    findings = run_async(contradictions.run_rule_check(settings, output, check_request))
    _show(findings, output, every=every, as_json=as_json)
    if not as_json:
        contradictions.print_rules_only_note(settings, output)
    return findings


def _with_model(
    settings: Settings,
    output: Output,
    check_request: CheckRequest,
    *,
    every: bool,
    as_json: bool,
) -> Sequence[Contradiction]:
    result = run_async(
        model_check.run_model_check(settings, output, check_request, as_json=as_json)
    )
    _show(result.found, output, every=every, as_json=as_json)
    model_check.print_model_check(result, settings, output)
    return result.found


def _estimate(
    settings: Settings, output: Output, check_request: CheckRequest, *, as_json: bool
) -> None:
    estimate, name = run_async(
        model_check.estimate_model_check(settings, output, check_request)
    )
    model_check.show_model_check_estimate(
        estimate, name, settings, output, as_json=as_json
    )


def _show(
    findings: Sequence[Contradiction], output: Output, *, every: bool, as_json: bool
) -> None:
    unintended = [
        contradiction for contradiction in findings if not contradiction.intended
    ]
    displayed = findings if every else unintended
    if as_json:
        output.json(
            [contradictions.contradiction_as_json(listed) for listed in displayed]
        )
        return
    contradictions.show_contradictions(displayed, output)
    contradictions.print_check_summary(
        unintended, len(findings) - len(unintended), output, every=every
    )


@app.command("intend", epilog=INTEND_EPILOG)
def check_intend_command(
    context: typer.Context,
    id_: Annotated[str, typer.Argument(metavar="ID", help="As `lrwr check` shows it.")],
    because: Annotated[
        str, typer.Option("--because", metavar="TEXT", help="Why, in one line.")
    ] = "",
) -> None:
    """Mark a contradiction as intended, once and for good."""
    settings, output = start_session(context)
    every = run_async(model_check.load_known_contradictions(settings, output))
    contradiction = find_contradiction_by_id(id_, every)
    decision = SlipIntended(
        contradiction.about,
        contradiction.attribute,
        contradiction.canon.value,
        contradiction.found.value,
        because,
    )
    run_async(make_decision(settings, output, lambda _: decision))


app.command("undo")(canon_undo_command)
