"""The command line: the list of all commands, and the entry point `run`."""

import gc
import os
import sys
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from itertools import takewhile
from typing import Annotated, Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup

from lrwr import __version__
from lrwr.core.model.errors import ExitCode

_PANELS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "Write": {
        "ingest": (
            "Read your manuscript. Later runs process only what changed.",
            "ingest",
        ),
        "ask": ("Answer a question from your text, with citations.", "ask"),
        "search": ("Find passages by their words and by their meaning.", "search"),
        "chat": (
            "Open the chat: ask questions, read answers, and open the passages they cite.",
            "chat",
        ),
        "watch": (
            "Process every save while you write, until you press Ctrl-C.",
            "watch",
        ),
        "threads": (
            "List your saved conversations, called threads, or use one.",
            "threads",
        ),
        "open": (
            "Open your editor at a citation, a mention of a character or an open question.",
            "open",
        ),
        "draft": (
            "Plan scenes on a board, and check and accept drafts of them.",
            "draft",
        ),
    },
    "Story": {
        "characters": (
            "List the characters with their last scene, or show one with all facts and sources.",
            "bible",
        ),
        "world": (
            "List the elements of the story world, or show one.",
            "bible",
        ),
        "relations": (
            "List relationships of characters, stated or derived, with locations.",
            "bible",
        ),
        "timeline": ("List what happens, in story order, with locations.", "bible"),
        "quotes": (
            "List quoted dialogue with speaker, confidence and location.",
            "bible",
        ),
        "recap": ("Summarise the story so far, scene by scene.", "bible"),
        "graph": (
            "Show what is connected with a character or place, or export the graph.",
            "graph",
        ),
        "export": ("Export the story bible to a file.", "export"),
    },
    "Check": {
        "check": (
            "List contradictions with your notes, decisions and earlier text.",
            "check",
        ),
        "diff": (
            "Show what changed in the story since the last ingest.",
            "diff",
        ),
        "post": (
            "Check or draft a newsletter, blurb or other text about the story.",
            "post",
        ),
    },
    "Decide": {
        "gaps": (
            "List open questions: what the text leaves undefined.",
            "bible",
        ),
        "canon": (
            "Show or record your decisions. They override lrwr's guesses.",
            "canon",
        ),
    },
    "Read": {
        "read": (
            "Read an e-book, page by page; its position is remembered.",
            "read",
        ),
        "books": ("List the e-books that you read, or add and remove them.", "books"),
        "annotations": (
            "Mark and comment e-books; place beta readers' notes in the manuscript.",
            "annotations",
        ),
    },
    "Library": {
        "status": (
            "Show what the library holds and what has changed.",
            "status",
        ),
        "jobs": ("List recent processing jobs, newest first.", "status"),
        "init": (
            "Create an lrwr.toml that explains every setting.",
            "config",
        ),
        "config": ("Show settings and where they are set; store API keys.", "config"),
        "doctor": ("Check every part and suggest fixes. Changes nothing.", "doctor"),
        "repair": (
            "Rebuild indexes, and recover threads from a damaged database.",
            "doctor",
        ),
        "backup": (
            "Save the library, your settings and your decisions to one file.",
            "backup",
        ),
        "restore": (
            "Restore a library from a backup file, or threads from the automatic backups.",
            "backup",
        ),
        "forget": (
            "Delete what lrwr stores about this manuscript.",
            "forget",
        ),
        "eval": (
            "Compare the two pipelines on questions with known answers.",
            "eval",
        ),
    },
    "Services": {
        "privacy": (
            "Show which services may receive data, and what was sent.",
            "privacy",
        ),
        "login": ("Sign in to your Supabase project.", "account"),
        "logout": (
            "Sign out of your Supabase project.",
            "account",
        ),
        "whoami": (
            "Show the signed-in Supabase account (exit code 1 if none).",
            "account",
        ),
        "push": ("Upload this library to your Supabase project.", "transfer"),
        "pull": ("Download a library from your Supabase project.", "transfer"),
        "deploy": (
            "Deploy lrwr to Modal, to process documents there.",
            "deploy",
        ),
    },
}
"""Summary and module in `lrwr.cli.commands` of each command, by panel of `lrwr --help`."""


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


_YOUNG_OBJECTS = 20_000
"""New objects after which Python looks for unused cycles. A library has 100,000 of rows,
none of them in a cycle; at Python's threshold of 700, looking takes a sixth of the time
of reading them.
"""


def build_command(name: str, module: str) -> TyperCommand | TyperGroup:
    """Import `module` and return what its `app` registers as `name`.

    Returns `app` itself, as a group, if it registers nothing of that name.
    """
    app: typer.Typer = _import_uncollected(module).app
    group = typer.main.get_group(app)
    command = group.commands.get(name, group)
    assert isinstance(command, TyperCommand | TyperGroup)
    _simplify_help(command)
    return command


def _import_uncollected(module: str) -> Any:
    """Import `module` without garbage collection, which would find nothing to free."""
    gc.disable()
    try:
        return import_module(module)
    finally:
        gc.freeze()
        gc.enable()
        gc.set_threshold(_YOUNG_OBJECTS)


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


COMMANDS: Mapping[str, CommandEntry] = {
    name: CommandEntry(summary, f"lrwr.cli.commands.{module}", panel)
    for panel, commands in _PANELS.items()
    for name, (summary, module) in commands.items()
}
"""Commands and sub-groups by name, in the order of `lrwr --help`."""


class MainGroup(LazyGroup):
    """The group of all `lrwr` commands, which are listed in `COMMANDS`."""

    entries: ClassVar[Mapping[str, CommandEntry]] = COMMANDS


app = typer.Typer(
    name="lrwr",
    cls=MainGroup,
    help="The Little Red Writing Room: reads your manuscript and answers questions from it.",
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog='Start with: lrwr ingest FOLDER, then lrwr ask "Who is …?"',
)


def _print_version(is_requested: bool) -> None:
    if is_requested:
        typer.echo(f"lrwr {__version__}")
        raise typer.Exit


@app.callback()
def main(
    context: typer.Context,
    version: Annotated[  # noqa: ARG001 - its callback prints and exits
        bool,
        typer.Option(
            "--version",
            callback=_print_version,
            is_eager=True,
            help="Print the version and exit.",
        ),
    ] = False,
    color: Annotated[
        str | None,
        typer.Option(help="Use colours: auto, always or never.", metavar="WHEN"),
    ] = None,
    no_pager: Annotated[
        bool,
        typer.Option(
            "--no-pager",
            help="Print long output at once, not in PAGER; LRWR_OUTPUT_PAGER=false and"
            " PAGER=cat do the same.",
        ),
    ] = False,
) -> None:
    """The Little Red Writing Room: reads your manuscript and answers questions from it."""
    context.obj = {"output.color": color, "output.pager": False if no_pager else None}
    if context.invoked_subcommand is None:
        # Imported by name, as other commands are, to keep `lrwr --help` fast.
        status = _import_uncollected("lrwr.cli.commands.status")
        status.show_overview(context)


def run() -> None:
    """Run `lrwr` with `sys.argv`; exit with a message and an exit code on failure.

    With `--json` among the arguments, a failure is printed as JSON on stdout instead.
    """
    # Threads of NumPy's matrix library wait by spinning: on small matrices, which are
    # all that lrwr multiplies, they take more time than they save.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    json_format = _json_error_format(sys.argv[1:])
    try:
        # With standalone mode off, Typer raises usage errors instead of printing them.
        sys.exit(app(standalone_mode=False) or 0)
    except (Exception, KeyboardInterrupt, SystemExit) as error:
        # Typer turns Ctrl-C inside a command into an exit with code 130.
        if isinstance(error, SystemExit) and error.code != ExitCode.INTERRUPTED:
            raise
        # Imported here because only a failed command needs it.
        from lrwr.cli.runtime.failures import print_failure

        sys.exit(int(print_failure(error, json_format=json_format)))


def _json_error_format(arguments: Sequence[str]) -> str:
    """Return how a failure is printed on stdout: "indented", "line" or not at all ("").

    It is decided from the raw arguments because parsing them may be what fails.
    """
    options = takewhile(lambda argument: argument != "--", arguments)
    if "--json" not in options:
        return ""
    prints_lines = "watch" in arguments[:3] or "--batch" in arguments
    return "line" if prints_lines else "indented"
