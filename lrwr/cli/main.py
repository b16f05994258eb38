"""The command line: the table of commands, and what runs one."""

import sys
from collections.abc import Mapping
from typing import Annotated, ClassVar

import typer

from lrwr import __version__
from lrwr.cli.runtime.groups import CommandEntry, LazyGroup, build_command
from lrwr.core.model.errors import ExitCode

COMMANDS: Mapping[str, CommandEntry] = {
    "ingest": CommandEntry(
        "Read the manuscript. Only what changed since the last time costs anything.",
        "lrwr.cli.commands.ingest",
    ),
    "watch": CommandEntry(
        "Keep up with the manuscript while you write, until you stop it with Ctrl-C.",
        "lrwr.cli.commands.watch",
    ),
    "diff": CommandEntry(
        "Say what the story gained, changed and lost, and which later scenes touch it.",
        "lrwr.cli.commands.diff",
    ),
    "search": CommandEntry(
        "Find passages by their words and by what they mean.",
        "lrwr.cli.commands.search",
    ),
    "ask": CommandEntry(
        "Answer from the manuscript, each claim with its place; the turn is kept.",
        "lrwr.cli.commands.ask",
    ),
    "chat": CommandEntry(
        "Open the writing room: ask, read, follow each answer to the text.",
        "lrwr.cli.commands.chat",
    ),
    "status": CommandEntry(
        "Say what the library holds and what waits to be read.",
        "lrwr.cli.commands.status",
    ),
    "jobs": CommandEntry(
        "List the work on documents, newest first.",
        "lrwr.cli.commands.jobs",
    ),
    "init": CommandEntry(
        "Write an lrwr.toml that explains every setting and changes none.",
        "lrwr.cli.commands.init",
    ),
    "doctor": CommandEntry(
        "Say how every part of lrwr is, and what to do about it. Changes nothing.",
        "lrwr.cli.commands.doctor",
    ),
    "repair": CommandEntry(
        "Make anew what can be made anew. Your manuscript is never touched.",
        "lrwr.cli.commands.doctor",
    ),
    "backup": CommandEntry(
        "Write what lrwr knows, your settings and your decisions into one file.",
        "lrwr.cli.commands.backup",
    ),
    "restore": CommandEntry(
        "Bring a library back from a backup, after checking every file in it.",
        "lrwr.cli.commands.backup",
    ),
    "push": CommandEntry(
        "Take this library to your Supabase project: what is not there yet.",
        "lrwr.cli.commands.transfer",
    ),
    "pull": CommandEntry(
        "Bring a library here from your Supabase project: what is not here yet.",
        "lrwr.cli.commands.transfer",
    ),
    "forget": CommandEntry(
        "Remove what lrwr keeps of this library, here and on the servers that are set.",
        "lrwr.cli.commands.forget",
    ),
    "world": CommandEntry(
        "List the things of the world, or show one: every claim with its place.",
        "lrwr.cli.commands.bible",
    ),
    "timeline": CommandEntry(
        "Tell what happens, in story order, each line with its place.",
        "lrwr.cli.commands.bible",
    ),
    "relations": CommandEntry(
        "Tell who is what to whom, as the text has it, each with its place.",
        "lrwr.cli.commands.bible",
    ),
    "quotes": CommandEntry(
        "List what is said, verbatim: who says it, how sure that is, and where.",
        "lrwr.cli.commands.bible",
    ),
    "recap": CommandEntry(
        "Tell the story so far, scene by scene: in short, or in its key sentences.",
        "lrwr.cli.commands.bible",
    ),
    "login": CommandEntry(
        "Sign in to your Supabase project. The password is asked for, or read from stdin.",
        "lrwr.cli.commands.account",
    ),
    "logout": CommandEntry(
        "Sign out of your Supabase project, and forget the session here.",
        "lrwr.cli.commands.account",
    ),
    "whoami": CommandEntry(
        "Say who is signed in to your Supabase project, as it says. 1: nobody is.",
        "lrwr.cli.commands.account",
    ),
    "deploy": CommandEntry(
        "Put lrwr where documents can be read elsewhere.",
        "lrwr.cli.commands.deploy",
    ),
    "eval": CommandEntry(
        "Compare the two pipelines on questions with known answers.",
        "lrwr.cli.commands.eval",
    ),
    "config": CommandEntry(
        "See what is set, and where; keep keys.",
        "lrwr.cli.commands.config",
    ),
    "canon": CommandEntry(
        "Show what you have decided, or decide: every guess gives way to it.",
        "lrwr.cli.commands.canon",
    ),
    "characters": CommandEntry(
        "List who is in the story, or show one character: every claim with its place.",
        "lrwr.cli.commands.characters",
    ),
    "gaps": CommandEntry(
        "List what the text leaves open; answer it, or leave it so on purpose.",
        "lrwr.cli.commands.gaps",
    ),
    "check": CommandEntry(
        "Say what contradicts your notes, your answers, and what was told before.",
        "lrwr.cli.commands.check",
    ),
    "export": CommandEntry(
        "Write what lrwr knows into a file of yours.",
        "lrwr.cli.commands.export",
    ),
    "threads": CommandEntry(
        "List your conversations, the newest first, or do something with one.",
        "lrwr.cli.commands.threads",
    ),
    "privacy": CommandEntry(
        "Say what may leave this machine, and what left it: when, to whom, how much.",
        "lrwr.cli.commands.privacy",
    ),
}
"""Commands and sub-groups in the order in which `lrwr --help` lists them."""


class MainGroup(LazyGroup):
    """The commands of `lrwr`."""

    entries: ClassVar[Mapping[str, CommandEntry]] = COMMANDS


app = typer.Typer(
    name="lrwr",
    cls=MainGroup,
    help="The Little Red Writing Room: reads your manuscript, and answers from it.",
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Start with: lrwr ingest FOLDER, then lrwr ask 'who is …?'",
)


def _print_version(is_requested: bool) -> None:
    if is_requested:
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
        home = build_command("home", "lrwr.cli.commands.home")
        assert home.callback is not None
        context.invoke(home.callback)


def run() -> None:
    """Run the command; turn every failure into a message and an exit code."""
    try:
        app()
    except KeyboardInterrupt:
        _print_stopped()
        sys.exit(int(ExitCode.INTERRUPTED))
    except SystemExit as end:  # what typer makes of Ctrl-C inside a command
        if end.code == ExitCode.INTERRUPTED:
            _print_stopped()
        raise
    except Exception as error:  # noqa: BLE001 - a traceback tells a writer nothing
        from lrwr.cli.runtime.crash_report import print_failure  # where one fails alone

        sys.exit(int(print_failure(error)))


def _print_stopped() -> None:
    typer.echo("\nlrwr: stopped; what was done so far is kept", err=True)
