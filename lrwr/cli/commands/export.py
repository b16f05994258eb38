"""`lrwr export`: the story bible as Markdown, Word or JSON."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from lrwr.app.presenters.story_json import bible_as_json
from lrwr.app.presenters.text import format_horizon, sanitize_text
from lrwr.cli.commands.bible import load_bible
from lrwr.cli.runtime.event_loop import run_async
from lrwr.cli.runtime.options import AsOfOption, JsonOption
from lrwr.cli.runtime.output import start_session
from lrwr.core.adapters.document_renderer import (
    render_blocks_as_docx,
    render_blocks_as_markdown,
)
from lrwr.core.bible.export import build_bible_blocks
from lrwr.core.bible.values import Bible
from lrwr.core.model.documents import Block
from lrwr.core.settings.files import check_output_file, write_output_file

EPILOG = (
    "Examples: lrwr export bible --to ../bible.docx · lrwr export bible --as-of ch4 --to"
    " ../so-far.md · lrwr export bible --json"
)

_ENDINGS = (".md", ".docx")


app = typer.Typer(
    name="export",
    help="Export the story bible to a file.",
    no_args_is_help=True,
)


@app.command("bible", epilog=EPILOG)
def export_bible_command(
    context: typer.Context,
    to: Annotated[
        Path | None,
        typer.Option(
            "--to",
            metavar="FILE.md|.docx",
            help="The file to write; without it, Markdown is printed.",
        ),
    ] = None,
    as_of: AsOfOption = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace an existing file.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Export characters, world, relationships, timeline, scenes and open questions."""
    settings, output = start_session(context)
    if to is not None:
        check_output_file(to, settings, _ENDINGS, force=force)
    bible = run_async(load_bible(settings, output, as_of))
    if to is not None:
        write_output_file(to, _content(to, _blocks(bible, as_of)), force=force)
        output.answer(str(to))
    elif as_json:
        output.json(bible_as_json(bible, as_of))
    else:
        with output.paged():
            output.answer(render_blocks_as_markdown(_blocks(bible, as_of)).rstrip("\n"))


def _blocks(bible: Bible, as_of: str | None) -> list[Block]:
    title = (
        "Story bible"
        if as_of is None
        else f"Story bible, up to {format_horizon(as_of)}"
    )
    return [
        replace(
            block,
            text=sanitize_text(block.text),
            lead=sanitize_text(block.lead),
            place=sanitize_text(block.place),
        )
        for block in build_bible_blocks(bible, title=title)
    ]


def _content(file: Path, blocks: list[Block]) -> bytes:
    if file.suffix.lower() == ".docx":
        return render_blocks_as_docx(blocks)

    return render_blocks_as_markdown(blocks).encode()
