"""`lrwr post`: texts about the story, such as newsletters, checked against it."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from lrwr.app.container import Workspace
from lrwr.app.egress import create_price_lookup
from lrwr.app.post_judgement import (
    DraftJudgement,
    create_claim_judge,
    estimate_judgement,
    judge_draft,
)
from lrwr.app.posts import (
    CheckedDraft,
    check_draft,
    compare_with_files,
    create_draft_checker,
    find_pages,
    load_checked_story,
    measure_draft,
    plan_queries,
    read_draft,
)
from lrwr.app.presenters.posts import (
    checked_draft_as_json,
    render_checked_draft,
    render_part_lengths,
)
from lrwr.app.presenters.text import format_count, format_tokens_and_price
from lrwr.cli.commands import post_drafts, post_new
from lrwr.cli.runtime.event_loop import run_async
from lrwr.cli.runtime.options import (
    AsOfOption,
    JsonOption,
    check_budget,
    parse_choice,
)
from lrwr.cli.runtime.output import Output, start_session
from lrwr.cli.runtime.question_file import read_input_bytes
from lrwr.cli.runtime.services import (
    MODEL_SERVICES,
    announce_first_use,
    open_search_services,
    prompt_for_consent,
    warn_of_outdated_files,
)
from lrwr.core.evidence.limits import PartLength, Platform
from lrwr.core.evidence.results import CheckedStory
from lrwr.core.model.errors import ExitCode, SettingsProblem
from lrwr.core.model.language_model import Usage
from lrwr.core.ports.stores import DocumentText
from lrwr.core.settings.model import Settings

EPILOG = (
    "Examples: lrwr post check newsletter.md · lrwr post check blurb.md --as-of ch3 ·"
    " pbpaste | lrwr post check - · lrwr post check blurb.md --dry-run"
)

app = typer.Typer(
    name="post",
    no_args_is_help=True,
    help="Check or draft a newsletter, blurb or other text about the story.",
)
app.command("new", epilog=post_new.EPILOG)(post_new.post_new_command)
app.command("list", epilog=post_drafts.EPILOG_LIST)(post_drafts.post_list_command)
app.command("show", epilog=post_drafts.EPILOG_SHOW)(post_drafts.post_show_command)
app.command("export", epilog=post_drafts.EPILOG_EXPORT)(post_drafts.post_export_command)
app.command("undo", epilog=post_drafts.EPILOG_UNDO)(post_drafts.post_undo_command)


FileArgument = Annotated[
    str, typer.Argument(metavar="FILE", help="Your draft; - reads standard input.")
]
WholeOption = Annotated[
    bool, typer.Option("--whole", help="Use the whole story (the default).")
]
PlatformOption = Annotated[
    str | None,
    typer.Option(
        metavar="PLATFORM",
        help="Also report parts that are too long for x, bluesky or mastodon; lines of"
        " --- divide parts.",
    ),
]
ModelOption = Annotated[
    bool | None,
    typer.Option(
        "--model/--no-model",
        help="Let the language model judge each sentence; by default if one is"
        " configured.",
    ),
]
BudgetOption = Annotated[
    float | None,
    typer.Option(min=0, metavar="USD", help="The cost limit for the model."),
]
WebPagesOption = Annotated[
    bool,
    typer.Option(
        "--web",
        help="Search the web for pages on sentences outside the book; shows each query.",
    ),
]
CheckDryRunOption = Annotated[
    bool,
    typer.Option(
        "--dry-run",
        help="Show what would be sent to the language model and the web; send nothing.",
    ),
]
EveryOption = Annotated[
    bool, typer.Option("--all", help="Show sentences with nothing to check too.")
]


@app.command("check", epilog=EPILOG)
def post_check_command(
    context: typer.Context,
    file: FileArgument,
    as_of: AsOfOption = None,
    whole: WholeOption = False,
    to: PlatformOption = None,
    model: ModelOption = None,
    budget: BudgetOption = None,
    web: WebPagesOption = False,
    every: EveryOption = False,
    dry_run: CheckDryRunOption = False,
    as_json: JsonOption = False,  # noqa: ARG001 - `start_session` reads it
) -> None:
    """Compare each sentence of your draft with your manuscript and notes.

    Shows which sentences are quoted, in which a detail differs, which passage is
    closest, and with --as-of what is told only later. Your file is not changed. The exit
    code is 11 if a sentence needs you.
    """
    settings, output = start_session(context, {"model.budget": check_budget(budget)})
    if whole and as_of:
        raise SettingsProblem(
            "`--whole` and `--as-of` cannot be combined", hint="Leave out one of them."
        )
    if model and settings.model.use == "off":
        raise SettingsProblem(
            "No language model is configured",
            hint="Set `use` under `[model]` in `lrwr.toml`, or leave out `--model`.",
        )
    name, content = _read(file)
    text = read_draft(content, name)
    platform = parse_choice(Platform, to, "--to") if to else None
    lengths = measure_draft(text, platform) if platform else []
    request = _Request(
        name,
        text,
        as_of or "",
        every=every,
        judge=model is not False,
        web=post_new.check_web_use(settings, web=web),
        lengths=lengths,
    )
    if dry_run:
        run_async(_estimate(settings, output, request))
        return
    draft = run_async(_check(settings, output, request))
    if draft.needs_author or any(part.is_too_long for part in lengths):
        raise typer.Exit(int(ExitCode.UNSUPPORTED))


def _read(file: str) -> tuple[str, bytes]:
    """Return the name of a draft and its bytes; "-" is standard input."""
    if file == "-":
        return "standard input", sys.stdin.buffer.read()
    return file, read_input_bytes(Path(file))


@dataclass(frozen=True, slots=True)
class _Request:
    """The draft to check, its file name, and how."""

    name: str
    text: DocumentText
    as_of: str
    every: bool
    judge: bool
    web: bool
    lengths: Sequence[PartLength]


async def _estimate(settings: Settings, output: Output, request: _Request) -> None:
    """Show what the check would send; nothing is sent."""
    async with open_search_services(
        settings, output, as_json=output.as_json
    ) as workspace:
        story = await load_checked_story(workspace, request.as_of)
        draft = await check_draft(workspace, request.text, story)
        queries = await plan_queries(workspace, draft) if request.web else {}
        judge = create_claim_judge(workspace, may_ask=False) if request.judge else None
        estimate = await estimate_judgement(judge, draft) if judge else None
    usage = estimate.usage if estimate else Usage()
    name = judge.name if judge else ""
    cost = create_price_lookup(settings)(usage, name) if judge else None
    if output.as_json:
        output.json(
            {
                "model": name or None,
                "sentences": estimate.items if estimate else 0,
                "judged_before": estimate.kept if estimate else 0,
                "calls": usage.calls,
                "prompt_tokens": usage.prompt_tokens,
                "completion_tokens": usage.completion_tokens,
                "usd": cost,
                "queries": list(queries.values()),
            }
        )
        return
    if estimate is None:
        output.answer("No language model would be asked.")
    else:
        sentences = format_count(estimate.items - estimate.kept, "sentence")
        calls = format_count(usage.calls, "call")
        tokens = format_tokens_and_price(usage, cost, about=True)
        output.answer(f"{name} would need {calls} for {sentences}: {tokens}.")
        output.answer(
            "Sentences of which the passages say nothing are judged once more with"
            " others; that is not counted here."
        )
    for query in queries.values():
        output.answer(f"The web would be searched for “{query}”.")
    output.info("Nothing was sent.")


async def _check(settings: Settings, output: Output, request: _Request) -> CheckedDraft:
    as_json = output.as_json
    async with open_search_services(settings, output, as_json=as_json) as workspace:
        story = await load_checked_story(workspace, request.as_of)
        with output.progress("Checking", None) as advance:
            draft = await check_draft(
                workspace, request.text, story, lambda: advance(1)
            )
        if request.web:
            prompt_for_consent(workspace, output, "tavily", as_json=as_json)
            announce_first_use(workspace, output, "tavily")
            draft = await find_pages(workspace, draft, output.info)
        judged = None
        if request.judge and settings.model.use != "off":
            judged = await _judge(workspace, output, draft, story)
            draft = judged.draft
        draft, changed = await compare_with_files(workspace, draft)
        texts = await workspace.passages.texts(draft.documents)
        await warn_of_outdated_files(workspace, texts, output.warn)
        if as_json:
            output.json(
                {
                    **checked_draft_as_json(draft, request.name, texts, judged),
                    "parts": request.lengths,
                    "changed_files": changed,
                }
            )
            return draft
        with output.paged():
            output.show(
                render_checked_draft(draft, request.name, texts, every=request.every)
            )
            output.show(render_part_lengths(request.lengths))
        _show_session(settings, output, draft, judged)
        return draft


async def _judge(
    workspace: Workspace, output: Output, draft: CheckedDraft, story: CheckedStory
) -> DraftJudgement:
    prompt_for_consent(workspace, output, *MODEL_SERVICES, as_json=output.as_json)
    judge = create_claim_judge(workspace)
    assert judge is not None, "a language model is configured"
    announce_first_use(workspace, output, *MODEL_SERVICES)
    checker = create_draft_checker(workspace)
    return await judge_draft(judge, draft, lambda c: checker.find_more(c, story))


def _show_session(
    settings: Settings,
    output: Output,
    draft: CheckedDraft,
    judged: DraftJudgement | None,
) -> None:
    """Print what the language model cost and did not judge, or that there is none."""
    if judged is None:
        if any(checked.claim for checked in draft.statements):
            output.notice(
                "Not analysed (needs a language model): whether a passage supports a"
                " sentence."
            )
        return
    if judged.usage.calls:
        price = create_price_lookup(settings)(judged.usage, judged.model)
        cost = format_tokens_and_price(judged.usage, price, about=False)
        calls = format_count(judged.usage.calls, "call")
        output.info(f"{judged.model}, {calls}: {cost}.")
    left = judged.unjudged + judged.unverified
    if left:
        reason = judged.stopped or (
            "The model gave no verdict with a quotation that stands in a passage and"
            " tells of them."
        )
        output.notice_warning(
            f"{format_count(left, 'sentence')} not analysed. {reason}"
        )
