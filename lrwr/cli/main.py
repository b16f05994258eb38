"""The command line: every command by name. Nothing heavy is imported here."""

import sys
from typing import Annotated

import typer

from lrwr import __version__
from lrwr.cli.commands import ask, config, home, ingest, init, jobs, search, status
from lrwr.core.model.errors import ExitCode, LrwrError

app = typer.Typer(
    name="lrwr",
    help="The Little Red Writing Room: reads your manuscript, and answers from it.",
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Start with: lrwr ingest FOLDER, then lrwr ask 'who is …?'",
)
settings_app = typer.Typer(help="See what is set, and where.", no_args_is_help=True)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"lrwr {__version__}")
        raise typer.Exit


@app.callback()
def main(
    context: typer.Context,
    version: Annotated[  # noqa: ARG001 - its callback has answered already
        bool,
        typer.Option(
            "--version",
            callback=_print_version,
            is_eager=True,
            help="Print the version and stop.",
        ),
    ] = False,
    color: Annotated[
        str | None,
        typer.Option(help="Colours: auto, always or never.", metavar="WHEN"),
    ] = None,
) -> None:
    """The Little Red Writing Room: reads your manuscript, and answers from it."""
    context.obj = {"output.color": color}
    if context.invoked_subcommand is None:
        home.home(context)


app.command("ingest", epilog=ingest.EPILOG)(ingest.ingest)
app.command("search", epilog=search.EPILOG)(search.search)
app.command("ask", epilog=ask.EPILOG)(ask.ask)
app.command("status")(status.status)
app.command("jobs")(jobs.jobs)
app.command("init")(init.init)
settings_app.command("show")(config.config_show)
settings_app.command("path")(config.config_path)
app.add_typer(settings_app, name="config")


def run() -> None:
    """Run the command; turn a known failure into a message and an exit code."""
    try:
        app()
    except LrwrError as error:
        _say(error)
        sys.exit(int(error.exit_code))
    except KeyboardInterrupt:
        typer.echo("lrwr: stopped", err=True)
        sys.exit(int(ExitCode.INTERRUPTED))


def _say(error: LrwrError) -> None:
    from lrwr.cli.output import Output

    Output().problem(error)
