"""`lrwr post list`, `show`, `export` and `undo`: the drafts in `posts/`."""

from pathlib import Path
from typing import Annotated

import typer

from lrwr.app.container import Workspace, open_workspace
from lrwr.app.post_files import PostFiles, StoredPost
from lrwr.app.posts import AnchoredPost, export_post, load_posts, reanchor_post
from lrwr.app.presenters.post_drafts import (
    build_post_table,
    describe_changed_quotations,
    post_as_json,
    render_stored_post,
    render_undo,
)
from lrwr.cli.runtime.event_loop import run_async
from lrwr.cli.runtime.options import JsonOption, parse_choice
from lrwr.cli.runtime.output import Output, start_session
from lrwr.core.evidence.drafts import CitationStyle
from lrwr.core.evidence.limits import Platform
from lrwr.core.settings.files import check_output_file, write_output_file
from lrwr.core.settings.model import Settings

EPILOG_LIST = "Examples: lrwr post list · lrwr post list --json"
EPILOG_SHOW = (
    "Examples: lrwr post show spring-letter · lrwr post show spring-letter --json"
)
EPILOG_UNDO = "Example: lrwr post undo spring-letter"
EPILOG_EXPORT = (
    "Examples: lrwr post export spring-letter --to ../letter.docx · lrwr post export"
    " marsh-thread --to x --citations remove · lrwr post export spring-letter"
)
ENDINGS = (".md", ".docx", ".txt")

PostNameArgument = Annotated[
    str, typer.Argument(metavar="NAME", help="Name of the draft; see `lrwr post list`.")
]


def post_list_command(
    context: typer.Context,
    as_json: JsonOption = False,  # noqa: ARG001 - `start_session` reads it
) -> None:
    """List the drafts in `posts/`."""
    settings, output = start_session(context)
    run_async(_list(settings, output))


async def _list(settings: Settings, output: Output) -> None:
    async with open_workspace(settings, say=output.info) as workspace:
        posts = load_posts(workspace, output.warn)
        if not posts:
            await workspace.require_text()
        if output.as_json:
            output.json([post_as_json(post) for post in posts])
        elif posts:
            output.show([build_post_table(posts, workspace.now())])
        else:
            output.answer("No drafts yet. `lrwr post new` makes one.")


def post_show_command(
    context: typer.Context,
    name: PostNameArgument,
    as_json: JsonOption = False,  # noqa: ARG001 - `start_session` reads it
) -> None:
    """Show a draft and its evidence, with the present place of each quotation."""
    settings, output = start_session(context)
    run_async(_show(settings, output, name))


async def _show(settings: Settings, output: Output, name: str) -> None:
    async with open_workspace(settings, say=output.info) as workspace:
        post = PostFiles(workspace.library).load(name)
        anchored = await _anchor(workspace, output, post)
        if output.as_json:
            output.json(post_as_json(post, anchored))
            return
        with output.paged():
            output.show(render_stored_post(post, anchored.facts))


async def _anchor(
    workspace: Workspace, output: Output, post: StoredPost
) -> AnchoredPost:
    """Return the present places of the quotations of a draft; warn if a file or the text
    at a quotation has changed.
    """
    if not workspace.is_ingested:
        return AnchoredPost()
    anchored = await reanchor_post(workspace, post)
    if note := describe_changed_quotations(anchored.facts, anchored.changed):
        output.warn(note)
    return anchored


def post_undo_command(
    context: typer.Context,
    name: PostNameArgument,
    as_json: JsonOption = False,  # noqa: ARG001 - `start_session` reads it
) -> None:
    """Go back to the version before; the present one is preserved."""
    settings, output = start_session(context)
    run_async(_undo(settings, output, name))


async def _undo(settings: Settings, output: Output, name: str) -> None:
    async with open_workspace(settings, say=output.info) as workspace:
        files = PostFiles(workspace.library)
        undone, post = files.load(name), files.undo(name)
        if output.as_json:
            output.json({**post_as_json(post), "undone": undone.text})
        else:
            output.show(render_undo(undone, post))
            folder = workspace.library.state_dir / "posts" / post.name
            output.info(f"What was undone is stored in {folder}.")


def post_export_command(
    context: typer.Context,
    name: PostNameArgument,
    to: Annotated[
        str | None,
        typer.Option(
            "--to",
            metavar="FILE|PLATFORM",
            help="A file that ends in .md, .docx or .txt, or x, bluesky or mastodon to"
            " print posts. Without it, Markdown is printed.",
        ),
    ] = None,
    citations: Annotated[
        str,
        typer.Option(
            metavar="STYLE",
            help="keep (numbers and sources), end (sources only) or remove.",
        ),
    ] = "keep",
    force: Annotated[
        bool, typer.Option("--force", help="Replace an existing file.")
    ] = False,
    as_json: JsonOption = False,  # noqa: ARG001 - `start_session` reads it
) -> None:
    """Export a draft as Markdown, Word or text, or as posts of a platform."""
    settings, output = start_session(context)
    style = parse_choice(CitationStyle, citations, "--citations")
    is_platform = to is not None and to.lower() in [*Platform]
    file = Path(to) if to and not is_platform else None
    if file is not None:
        check_output_file(file, settings, ENDINGS, force=force)
    platform = Platform(to.lower()) if to and is_platform else None
    run_async(_export(settings, output, name, file, platform, style, force=force))


async def _export(
    settings: Settings,
    output: Output,
    name: str,
    file: Path | None,
    platform: Platform | None,
    style: CitationStyle,
    *,
    force: bool,
) -> None:
    async with open_workspace(settings, say=output.info) as workspace:
        post = PostFiles(workspace.library).load(name)
        anchored = await _anchor(workspace, output, post)
    ending = file.suffix.lower() if file else ".md"
    export = export_post(post, ending, platform, style)
    if file is not None:
        write_output_file(file, export.content, force=force)
        output.answer(str(file))
    elif output.as_json:
        output.json(
            {
                "name": post.name,
                "text": export.text,
                "posts": export.posts,
                "changed_files": anchored.changed,
            }
        )
    else:
        output.answer(export.text.rstrip("\n"))
