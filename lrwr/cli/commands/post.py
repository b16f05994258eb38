"""`lrwr post`: texts about the story, such as newsletters, checked against it."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from lrwr.app.posts import CheckedDraft, check_draft, load_story, read_draft
from lrwr.app.presenters.posts import checked_draft_as_json, render_checked_draft
from lrwr.cli.runtime.options import AsOfOption, JsonOption
from lrwr.cli.runtime.output import Output, start_session
from lrwr.cli.runtime.question_file import read_input_bytes
from lrwr.cli.runtime.services import open_search_services, run_async
from lrwr.core.model.errors import ExitCode, SettingsProblem
from lrwr.core.settings.model import Settings

EPILOG = (
    "Examples: lrwr post check newsletter.md · lrwr post check blurb.md --as-of ch3 ·"
    " pbpaste | lrwr post check - · lrwr post check thread.md --json"
)

app = typer.Typer(
    name="post",
    no_args_is_help=True,
    help="Check a newsletter, blurb or other text about the story.",
)


@app.command("check", epilog=EPILOG)
def post_check_command(
    context: typer.Context,
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="Your draft; - reads standard input.")
    ],
    as_of: AsOfOption = None,
    whole: Annotated[
        bool, typer.Option("--whole", help="Use the whole story (the default).")
    ] = False,
    every: Annotated[
        bool, typer.Option("--all", help="Show sentences with nothing to check too.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Compare each sentence of your draft with your manuscript and notes.

    Shows which sentences are quoted, in which a detail differs, which passage is
    closest, and with --as-of what is told only later. Your file is not changed. The exit
    code is 11 if a sentence needs you.
    """
    settings, output = start_session(context)
    if whole and as_of:
        raise SettingsProblem(
            "`--whole` and `--as-of` cannot be combined", hint="Leave out one of them."
        )
    name, content = _read(file)
    text = read_draft(content, name)
    draft = run_async(
        _check(settings, output, name, text, as_of or "", every=every, as_json=as_json)
    )
    if draft.needs_author:
        raise typer.Exit(int(ExitCode.UNSUPPORTED))


def _read(file: str) -> tuple[str, bytes]:
    """Return the name of a draft and its bytes; "-" is standard input."""
    if file == "-":
        return "standard input", sys.stdin.buffer.read()
    return file, read_input_bytes(Path(file))


async def _check(
    settings: Settings,
    output: Output,
    name: str,
    text: str,
    as_of: str,
    *,
    every: bool,
    as_json: bool,
) -> CheckedDraft:
    async with open_search_services(settings, output, as_json=as_json) as workspace:
        story = await load_story(workspace, as_of)
        with output.progress("Checking", None) as advance:
            draft = await check_draft(workspace, text, story, lambda: advance(1))
        texts = await workspace.passages.texts(draft.documents)
        if as_json:
            output.json(checked_draft_as_json(draft, name, texts))
            return draft
        with output.paged():
            output.show(render_checked_draft(draft, name, texts, every=every))
        return draft
