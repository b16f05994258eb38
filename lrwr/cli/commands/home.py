"""`lrwr` alone: where you are, and what to do next."""

import typer

from lrwr.app.presenters.text import LinePiece, StyledText
from lrwr.cli.commands.status import collect_status, print_status
from lrwr.cli.runtime.async_runner import run_async
from lrwr.cli.runtime.output import Output
from lrwr.cli.runtime.session import start_session
from lrwr.core.settings.library import resolve_library

app = typer.Typer()


@app.command("home")
def home_command(context: typer.Context) -> None:
    """Say where you are, and what to do next."""
    settings, output = start_session(context)
    library = resolve_library(settings)
    if not library.database.exists():
        output.answer(f"There is no library in {library.root} yet.")
        _offer(
            output,
            ("lrwr ingest FOLDER", "read your manuscript: .md, .docx and .txt"),
            ("lrwr init", "first write an lrwr.toml that explains the settings"),
            ("lrwr --help", "every command"),
        )
        return
    facts = run_async(collect_status(settings, output.story))
    print_status(facts, output)
    has_changes = facts["changed"] or facts["gone"]
    ingest_step = [("lrwr ingest", "read what is new")] if has_changes else []
    _offer(
        output,
        *ingest_step,
        ('lrwr ask "…"', "the sentences that answer, each with its place"),
        ('lrwr search "…"', "passages by words and by meaning"),
        ("lrwr --help", "every command"),
    )


def _offer(output: Output, *steps: tuple[str, str]) -> None:
    output.answer()
    command_width = max(len(command) for command, _ in steps)
    fits_on_line = (
        4 + command_width + max(len(meaning) for _, meaning in steps) <= output.width
    )
    for command, meaning in steps:
        command_text = StyledText(
            command.ljust(command_width) if fits_on_line else command, "strong"
        )
        line: list[LinePiece] = [command_text, f"  {meaning}" if fits_on_line else ""]
        output.answer(*line, indent=2)
        if not fits_on_line:
            output.answer(meaning, indent=6)
