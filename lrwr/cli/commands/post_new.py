"""`lrwr post new`: draft a text about the story from evidence."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from lrwr.app.container import Workspace
from lrwr.app.post_drafts import (
    PostOrder,
    draft_post,
    estimate_post,
    plan_post,
)
from lrwr.app.post_files import (
    PostEvidence,
    check_post_name,
    choose_post_name,
    read_evidence_file,
)
from lrwr.app.presenters.post_drafts import (
    drafting_as_json,
    plan_as_json,
    render_drafting,
    render_post_plan,
)
from lrwr.app.presenters.text import (
    StyledText,
    format_count,
    format_tokens_and_price,
)
from lrwr.cli.runtime.event_loop import run_async
from lrwr.cli.runtime.options import (
    AsOfOption,
    JsonOption,
    check_budget,
    parse_choice,
)
from lrwr.cli.runtime.output import Output, start_session
from lrwr.cli.runtime.services import (
    MODEL_SERVICES,
    announce_first_use,
    open_search_services,
    prompt_for_consent,
    warn_of_outdated_files,
)
from lrwr.core.evidence.kinds import KIND_RULES, PostKind, check_horizon_choice
from lrwr.core.evidence.limits import Platform
from lrwr.core.evidence.prompts import WritingRequest
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.errors import SettingsProblem
from lrwr.core.retrieval.query_words import has_search_words
from lrwr.core.settings.model import Settings

MAX_BRIEF_CHARS = 1_000
MAX_VARIANTS = 3
MAX_PARTS = 20

EPILOG = (
    'Examples: lrwr post new "How the lantern is lit" --kind newsletter --as-of ch3 ·'
    ' lrwr post new "The marsh and its mules" --kind thread --to bluesky --whole --web ·'
    ' lrwr post new "A blurb" --kind blurb --as-of ch2 --outline ·'
    ' lrwr post new "Query" --kind query-letter --dry-run'
)

BriefArgument = Annotated[
    str, typer.Argument(metavar="BRIEF", help="What the text is about, in a sentence.")
]
KindOption = Annotated[
    str,
    typer.Option("--kind", metavar="KIND", help=f"One of: {', '.join(PostKind)}."),
]
ThreadPlatformOption = Annotated[
    str | None,
    typer.Option(
        "--to",
        metavar="PLATFORM",
        help="Platform of a thread: x (the default), bluesky or mastodon.",
    ),
]
WholeStoryOption = Annotated[
    bool, typer.Option("--whole", help="The text may tell the whole story.")
]
NotesOption = Annotated[
    list[str] | None,
    typer.Option(
        "--with",
        metavar="NOTE",
        help="Use this note, too. Repeatable; needed with --as-of.",
    ),
]
WebOption = Annotated[
    bool,
    typer.Option("--web", help="Search the web for what is missing; shows each query."),
]
NameOption = Annotated[
    str | None,
    typer.Option("--name", metavar="NAME", help="Name of the draft in posts/."),
]
FromOption = Annotated[
    Path | None,
    typer.Option(
        "--from", metavar="FILE", help="Use the evidence of an earlier draft."
    ),
]
CostLimitOption = Annotated[
    float | None,
    typer.Option("--budget", metavar="USD", help="The cost limit for the model."),
]


@dataclass(frozen=True, slots=True)
class _Draft:
    """What to do with an order: draft it as `name`, or only show something of it."""

    order: PostOrder
    name: str
    force: bool = False
    plans_only: bool = False
    shows_prompt: bool = False


VariantsOption = Annotated[
    int, typer.Option(min=1, max=MAX_VARIANTS, help="Drafts to write.")
]
PartsOption = Annotated[
    int | None,
    typer.Option(min=1, max=MAX_PARTS, help="Paragraphs or posts at most."),
]
OutlineOption = Annotated[
    bool,
    typer.Option("--outline", "--no-model", help="Make an outline, without a model."),
]
ForceOption = Annotated[
    bool, typer.Option("--force", help="Replace a draft; its version is preserved.")
]
DryRunOption = Annotated[
    bool,
    typer.Option("--dry-run", help="Show what would be used; send and write nothing."),
]
PromptsOption = Annotated[
    bool,
    typer.Option("--show-prompt", help="Show the first prompts, and send nothing."),
]


def post_new_command(
    context: typer.Context,
    brief: BriefArgument,
    kind: KindOption,
    to: ThreadPlatformOption = None,
    as_of: AsOfOption = None,
    whole: WholeStoryOption = False,
    notes: NotesOption = None,
    web: WebOption = False,
    variants: VariantsOption = 1,
    parts: PartsOption = None,
    outline: OutlineOption = False,
    name: NameOption = None,
    from_file: FromOption = None,
    force: ForceOption = False,
    dry_run: DryRunOption = False,
    budget: CostLimitOption = None,
    show_prompt: PromptsOption = False,
    as_json: JsonOption = False,  # noqa: ARG001 - `start_session` reads it
) -> None:
    """Draft a text about the story from your passages and notes, each claim with its
    source.

    The draft is a file in `posts/`; your manuscript is not changed and nothing is
    published. Without a language model it is an outline with your own sentences.
    """
    settings, output = start_session(context, {"model.budget": check_budget(budget)})
    plain, post_kind = _check_brief(brief), _parse_kind(kind)
    stored = read_evidence_file(from_file) if from_file else None
    platform = _parse_platform(post_kind, to)
    order = PostOrder(
        WritingRequest(plain, post_kind, platform, variants, parts or 0),
        _choose_horizon(post_kind, as_of or "", stored, whole=whole),
        tuple(notes or ()),
        uses_web=check_web_use(settings, web=web),
        uses_model=not outline,
        stored=stored.pack if stored else None,
    )
    draft_name = check_post_name(name) if name else choose_post_name(brief)
    draft = _Draft(order, draft_name, force, dry_run, show_prompt)
    run_async(_run(settings, output, draft))


def _parse_kind(kind: str) -> PostKind:
    plain = "-".join(kind.lower().replace("'", "").replace("’", "").split())
    return parse_choice(PostKind, plain.replace("_", "-"), "--kind")


def _check_brief(brief: str) -> str:
    """Return the brief on one line."""
    if len(brief) > MAX_BRIEF_CHARS:
        raise SettingsProblem(
            f"The brief has {len(brief):,} characters; the limit is {MAX_BRIEF_CHARS:,}",
            hint="Say in a few sentences what the text is about.",
        )
    if not has_search_words(brief):
        raise SettingsProblem(
            f"“{brief.strip()}” does not say what the text is about",
            hint='Try `lrwr post new "How the lantern is lit" --kind newsletter`.',
        )
    return " ".join(brief.split())


def _parse_platform(kind: PostKind, to: str | None) -> Platform | None:
    if not KIND_RULES[kind].is_thread:
        if to is not None:
            raise SettingsProblem(
                f"`--to` is for threads; {KIND_RULES[kind].name_with_article} has no limit",
                hint="Leave it out; `lrwr post export NAME --to x` divides any draft.",
            )
        return None
    return parse_choice(Platform, to, "--to") if to else Platform.X


def _choose_horizon(
    kind: PostKind, as_of: str, stored: PostEvidence | None, *, whole: bool
) -> str:
    """Return the horizon as typed; that of the evidence of an earlier draft holds."""
    if stored is None or not stored.as_of:
        check_horizon_choice(kind, as_of, whole=whole)
        if stored is not None and as_of:
            raise SettingsProblem(
                "The evidence of that draft is about the whole story",
                hint="Leave out `--from`, or use `--whole`.",
            )
        return as_of
    if whole or (as_of and as_of != stored.as_of):
        raise SettingsProblem(
            f"The evidence of that draft ends at {stored.as_of}",
            hint=f"Leave out `--from`, or use `--as-of {stored.as_of}`.",
        )
    return stored.as_of


def check_web_use(settings: Settings, *, web: bool) -> bool:
    """Return `web`, whether the web may be searched.

    Raises:
        SettingsProblem: It may, but no web search is configured.
    """
    if web and settings.web.use == "off":
        raise SettingsProblem(
            "Web search is off", hint="Set `use` under `[web]` in `lrwr.toml`."
        )
    return web


async def _run(settings: Settings, output: Output, draft: _Draft) -> None:
    async with open_search_services(
        settings, output, as_json=output.as_json
    ) as workspace:
        if draft.plans_only or draft.shows_prompt:
            await _show_plan(workspace, output, draft)
            return
        services = _list_services(settings, draft.order)
        prompt_for_consent(workspace, output, *services, as_json=output.as_json)
        announce_first_use(workspace, output, *services)
        drafting = await draft_post(
            workspace, draft.order, draft.name, force=draft.force, emit=output.info
        )
        sources = (fact.source for fact in drafting.result.pack.facts)
        documents = {DocumentId(s.document) for s in sources if s.is_own}
        await warn_of_outdated_files(workspace, documents, output.warn)
        if output.as_json:
            output.json(drafting_as_json(drafting))
            return
        output.show(render_drafting(drafting))
        for remark in drafting.result.remarks:
            output.notice_warning(remark)
        if drafting.usage.calls:
            calls = format_count(drafting.usage.calls, "call")
            cost = format_tokens_and_price(drafting.usage, drafting.cost, about=False)
            output.info(f"{drafting.model}, {calls}: {cost}.")
        elif settings.model.use == "off" and draft.order.uses_model:
            output.info("No language model is configured: this is an outline.")


def _list_services(settings: Settings, order: PostOrder) -> Sequence[str]:
    services: tuple[str, ...] = ()
    if order.uses_model and settings.model.use != "off":
        services += MODEL_SERVICES
    return (*services, "tavily") if order.uses_web else services


async def _show_plan(workspace: Workspace, output: Output, draft: _Draft) -> None:
    plan = await plan_post(workspace, draft.order)
    estimate = None
    if not draft.shows_prompt:
        estimate = estimate_post(workspace, draft.order, plan)
    if output.as_json:
        value = plan_as_json(plan, estimate)
        if draft.shows_prompt:
            value["prompts"] = [
                {
                    "purpose": purpose,
                    "messages": [{"role": m.role, "text": m.text} for m in messages],
                }
                for purpose, messages in plan.prompts
            ]
        output.json(value)
        return
    if not draft.shows_prompt:
        output.show(render_post_plan(plan, estimate))
        return
    for purpose, messages in plan.prompts:
        output.answer(StyledText(f"For {purpose}:", "strong"))
        for message in messages:
            output.answer(StyledText(f"{message.role}:", "strong"))
            output.answer(message.text)
            output.answer()
