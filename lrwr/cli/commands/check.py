"""`lrwr check`: contradictions that rules find, or a language model with `--model`."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

import typer

from lrwr.app.container import open_workspace
from lrwr.app.continuity import (
    CheckRequest,
    create_pair_judge,
    find_known_contradictions,
    load_check_scope,
)
from lrwr.app.egress import create_price_lookup
from lrwr.app.history import describe_new_findings, log_findings, parse_since
from lrwr.app.pending_changes import count_pending
from lrwr.app.presenters.contradictions import (
    POSSIBLE_NOTE,
    contradiction_as_json,
    describe_no_contradictions,
    describe_no_new_contradictions,
    render_contradictions,
)
from lrwr.app.presenters.text import format_count, format_tokens_and_price
from lrwr.cli.commands.canon import canon_undo_command, make_decision
from lrwr.cli.runtime.event_loop import run_async
from lrwr.cli.runtime.groups import NamedGroup
from lrwr.cli.runtime.options import AsOfOption, JsonOption
from lrwr.cli.runtime.output import Output, start_session
from lrwr.cli.runtime.services import (
    MODEL_SERVICES,
    announce_first_use,
    open_story_services,
    prompt_for_consent,
)
from lrwr.core.bible.projection import StoryKnowledge
from lrwr.core.canon.decision import SlipIntended
from lrwr.core.continuity.contradictions import (
    UNCHECKED_TOPICS,
    find_contradiction_by_id,
)
from lrwr.core.continuity.finder import ComparedFacts
from lrwr.core.continuity.judge import PairJudge, PairJudgeEstimate, PairJudgeResult
from lrwr.core.continuity.statements import Contradiction
from lrwr.core.continuity.verdicts import (
    VerifiedJudgements,
    verify_judgements,
)
from lrwr.core.model.errors import ExitCode, SettingsProblem
from lrwr.core.model.language_model import Usage
from lrwr.core.settings.library import resolve_library
from lrwr.core.settings.model import Settings
from lrwr.pipeline.changes import describe_conflicted_documents

EPILOG = (
    "Examples: lrwr check · lrwr check chapters/06-fog.md · lrwr check --as-of ch12 ·"
    " lrwr check --since yesterday · lrwr check --model --dry-run ·"
    ' lrwr check intend bdfk --because "she lies about it" · lrwr check undo'
)
_NO_PAIRS = (
    "Nothing for the language model to judge: no statement in the text could be paired"
    " with one that you confirmed or wrote in a note."
)
INTEND_EPILOG = (
    'Example: lrwr check intend bdfk --because "she lies about it". To undo it:'
    " lrwr check undo"
)

_PathsArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[PATH]…", help="Show only contradictions that involve these files."
    ),
]
_SinceOption = Annotated[
    str | None,
    typer.Option(
        metavar="DAY",
        help="Show only those first reported since then: today, yesterday, "
        '"3 days ago", 2026-11-20.',
    ),
]

app = typer.Typer(
    name="check", cls=NamedGroup, invoke_without_command=True, epilog=EPILOG
)


@dataclass(frozen=True, slots=True)
class ModelCheckResult:
    """The contradictions that rules found (`ruled`) and that a language model found.

    `verdict` has the model's findings that were verified in the text, and the numbers
    of its other judgements. `session` has the model's usage and the number of pairs of
    statements that were not judged. `model` is its name.
    """

    ruled: tuple[Contradiction, ...]
    verdict: VerifiedJudgements
    session: PairJudgeResult
    model: str

    @property
    def found(self) -> tuple[Contradiction, ...]:
        """All contradictions: those of the rules, then those of the language model."""
        return (*self.ruled, *self.verdict.found)


@app.callback()
def check_command(
    context: typer.Context,
    paths: _PathsArgument = None,
    as_of: AsOfOption = None,
    every: Annotated[
        bool, typer.Option("--all", help="Show intended contradictions too.")
    ] = False,
    since: _SinceOption = None,
    model: Annotated[
        bool,
        typer.Option(
            "--model", help="Also ask a language model about what rules cannot check."
        ),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="With --model: show what it would cost.")
    ] = False,
    budget: Annotated[
        float | None,
        typer.Option(min=0, metavar="USD", help="With --model: the cost limit."),
    ] = None,
    as_json: JsonOption = False,  # noqa: ARG001 - `start_session` reads it
) -> None:
    """List contradictions with your notes, decisions and earlier text.

    The exit code is 9 if there is one that you did not mark as intended; those marked
    “possible” do not count.
    """
    if context.invoked_subcommand is not None:
        return

    if (dry_run or budget is not None) and not model:
        raise SettingsProblem(
            "`--dry-run` and `--budget` need `--model`", hint="Add `--model`."
        )
    settings, output = start_session(context, {"model.budget": budget})
    day = None if since is None else parse_since(since, datetime.now().astimezone())
    request = CheckRequest(paths or (), as_of, day)
    if dry_run:
        estimate, name = run_async(estimate_model_check(settings, output, request))
        _show_estimate(estimate, name, settings, output)
        return
    find = _check_with_model if model else _check_by_rules
    findings = find(settings, output, request, every=every)
    if any(not finding.intended and not finding.possible for finding in findings):
        raise typer.Exit(int(ExitCode.CONTRADICTIONS))


@app.command("intend", epilog=INTEND_EPILOG)
def check_intend_command(
    context: typer.Context,
    id_: Annotated[
        str, typer.Argument(metavar="ID", help="The id that `lrwr check` shows.")
    ],
    because: Annotated[
        str, typer.Option("--because", metavar="TEXT", help="The reason, on one line.")
    ] = "",
) -> None:
    """Mark a contradiction as intended, so that it is no longer reported."""
    settings, output = start_session(context)
    contradictions = run_async(run_rule_check(settings, output, CheckRequest()))
    contradiction = find_contradiction_by_id(id_, contradictions)
    decision = SlipIntended(
        contradiction.about,
        contradiction.attribute,
        contradiction.canon.value,
        contradiction.found.value,
        because,
    )
    run_async(make_decision(settings, output, lambda _: decision))


app.command("undo")(canon_undo_command)


def _check_by_rules(
    settings: Settings, output: Output, request: CheckRequest, *, every: bool
) -> Sequence[Contradiction]:
    all_findings, facts = run_async(_compare_facts(settings, output, request))
    findings, reported = _select_reported(settings, request, all_findings)
    nothing = describe_no_contradictions(facts)
    earlier = [finding for finding in all_findings if every or not finding.intended]
    if earlier and not findings:
        nothing = describe_no_new_contradictions(len(earlier))
    _show_findings(findings, output, reported, every=every, nothing=nothing)
    if not output.as_json:
        run_async(_warn_of_changes(settings, output))
        _print_rules_only_note(settings, output)
    return findings


def _select_reported(
    settings: Settings,
    request: CheckRequest,
    findings: Sequence[Contradiction],
    *,
    with_model: bool = False,
) -> tuple[Sequence[Contradiction], Mapping[str, float]]:
    """Log `findings`; return those that `request` asks for, and when each was first
    reported, in seconds since 1970, by id.
    """
    reported = log_findings(
        resolve_library(settings),
        findings,
        time.time(),
        is_whole=request.is_whole,
        with_model=with_model or settings.model.use != "off",
    )
    since = request.since
    if since is not None:
        findings = [f for f in findings if reported[f.id] >= since]
    return findings, reported


async def _compare_facts(
    settings: Settings, output: Output, request: CheckRequest
) -> tuple[tuple[Contradiction, ...], ComparedFacts]:
    async with open_story_services(settings, output) as workspace:
        scope = await load_check_scope(workspace, request)
        findings = await find_known_contradictions(workspace, scope)
        return findings, await scope.count_compared()


async def _warn_of_changes(settings: Settings, output: Output) -> None:
    """Print which documents differ from the text that was checked."""
    async with open_workspace(settings) as workspace:
        pending = await count_pending(workspace)
        ingested = {outline.id for outline in await workspace.passages.outlines()}
    earlier = [d for d in pending.conflicted if d in ingested]
    unread = [d for d in pending.conflicted if d not in ingested]
    for label, documents in (
        ("Only the earlier version was checked", earlier),
        ("Not checked", unread),
    ):
        if documents:
            output.answer(f"{label}: {describe_conflicted_documents(documents)}")
    if pending.unread:
        output.answer(
            f"Not checked: {format_count(pending.unread, 'document')} new or changed since"
            " the last ingest. Run `lrwr ingest`, then check again."
        )
    if pending.gone:
        output.answer(
            f"Checked although deleted: {format_count(pending.gone, 'document')} without a"
            " file. `lrwr ingest` deletes what is stored of it."
        )
    if pending.stale:
        output.answer(
            f"Checked as read earlier: {format_count(pending.stale, 'document')} with the"
            " same text, but read with other settings, such as without a language model,"
            " or by another version of lrwr. `lrwr ingest` reads them again."
        )


def _check_with_model(
    settings: Settings, output: Output, request: CheckRequest, *, every: bool
) -> Sequence[Contradiction]:
    result = run_async(run_model_check(settings, output, request))
    findings, reported = _select_reported(
        settings, request, result.found, with_model=True
    )
    _show_findings(findings, output, reported, every=every)
    print_model_check(result, settings, output)
    return findings


async def run_rule_check(
    settings: Settings, output: Output, request: CheckRequest
) -> tuple[Contradiction, ...]:
    """Return the contradictions that rules find, then those that a model found earlier.

    The latter are cached judgements; no model is called. Intended ones are included.
    `output` receives notices of the library.

    Raises:
        NotFound: Nothing has been ingested here, or a file or point does not exist.
    """
    async with open_story_services(settings, output) as workspace:
        scope = await load_check_scope(workspace, request)
        return await find_known_contradictions(workspace, scope)


async def run_model_check(
    settings: Settings, output: Output, request: CheckRequest
) -> ModelCheckResult:
    """Return the contradictions that rules find, and those that a language model finds.

    The user is asked for consent first. If the model fails, the result still has those
    of the rules.

    Raises:
        NotFound: Nothing has been ingested here, or a file or point does not exist.
        SettingsProblem: No model is configured, or its key or name is missing.
    """
    async with open_story_services(settings, output) as workspace:
        scope = await load_check_scope(workspace, request)
        prompt_for_consent(workspace, output, *MODEL_SERVICES, as_json=output.as_json)
        judge = _require_judge(create_pair_judge(workspace))
        announce_first_use(workspace, output, *MODEL_SERVICES)
        rule_findings = await scope.find_by_rules()
        session = await judge.judge(await scope.find_pairs())
        return _build_result(rule_findings, session, scope.known, judge)


async def estimate_model_check(
    settings: Settings, output: Output, request: CheckRequest
) -> tuple[PairJudgeEstimate, str]:
    """Return the estimated calls and tokens of a model check, and the model's name.

    No model is called.

    Raises:
        NotFound: Nothing has been ingested here, or a file or point does not exist.
        SettingsProblem: No model is configured, or its name is missing.
    """
    async with open_story_services(settings, output) as workspace:
        scope = await load_check_scope(workspace, request)
        judge = _require_judge(create_pair_judge(workspace, may_ask=False))
        return await judge.estimate(await scope.find_pairs()), judge.name


def print_model_check(
    result: ModelCheckResult, settings: Settings, output: Output
) -> None:
    """Print how many contradictions a language model found, and what it cost.

    Also print how many pairs of statements were not analysed, and why.
    """
    verdict, session = result.verdict, result.session
    parts = [
        f"{_count_pairs(verdict.judged)} judged",
        f"{format_count(len(verdict.found), 'contradiction')} found",
    ]
    parts += [
        f"{n:,} dropped because {reason}" for reason, n in verdict.dropped.items()
    ]
    anything = verdict.judged or session.unjudged
    output.info(f"{result.model}: {', '.join(parts)}." if anything else _NO_PAIRS)
    if session.usage.calls:
        price = _price(session.usage, result.model, settings)
        cost = format_tokens_and_price(session.usage, price, about=False)
        output.info(f"{format_count(session.usage.calls, 'call')}: {cost}.")
    if session.unjudged:
        reason = session.stopped or _explain_unjudged(session)
        output.notice_warning(
            f"{_count_pairs(session.unjudged)} not analysed. {reason}"
        )
    output.notice(
        "Not checked: dialogue, and statements that lrwr could not pair with one that"
        " you confirmed or wrote in a note."
    )


def _show_findings(
    findings: Sequence[Contradiction],
    output: Output,
    reported: Mapping[str, float],
    *,
    every: bool,
    nothing: str = "No contradictions found.",
) -> None:
    unintended = [
        contradiction for contradiction in findings if not contradiction.intended
    ]
    shown = findings if every else unintended
    if output.as_json:
        output.json(
            [
                {
                    **contradiction_as_json(finding),
                    "first_reported": reported[finding.id],
                }
                for finding in shown
            ]
        )
        return
    output.show(render_contradictions(shown, describe_new_findings(reported)))
    if any(contradiction.possible for contradiction in unintended):
        output.answer(POSSIBLE_NOTE)
    if unintended:
        output.answer(
            "Correct the text or the note and run `lrwr ingest`; or mark it as"
            f" intended: `lrwr check intend {unintended[0].id}`."
        )
    else:
        is_listed = bool(shown)  # with `--all`, the intended ones
        output.answer("No others." if is_listed else nothing)
    intended = len(findings) - len(unintended)
    if intended and not every:
        output.answer(f"{intended} more marked as intended; `--all` shows them.")


def _print_rules_only_note(settings: Settings, output: Output) -> None:
    output.answer(f"Not analysed (needs a language model): {UNCHECKED_TOPICS}.")
    next_step = (
        "`--dry-run` shows the price first"
        if settings.model.use != "off"
        else "configure one with `use` under `[model]` in `lrwr.toml`"
    )
    output.answer(
        f"`lrwr check --model` asks a language model about some of these; {next_step}."
    )


def _show_estimate(
    estimate: PairJudgeEstimate, model: str, settings: Settings, output: Output
) -> None:
    price = _price(estimate.usage, model, settings)
    if output.as_json:
        output.json(
            {
                "model": model,
                "pairs": estimate.items,
                "judged_before": estimate.kept,
                "left_for_later": estimate.beyond,
                "calls": estimate.usage.calls,
                "prompt_tokens": estimate.usage.prompt_tokens,
                "completion_tokens": estimate.usage.completion_tokens,
                "usd": price,
            }
        )
        return
    if not estimate.items:
        output.answer(_NO_PAIRS)
        return
    pairs = _count_pairs(estimate.items - estimate.kept - estimate.beyond)
    cost = format_tokens_and_price(estimate.usage, price, about=True)
    calls = format_count(estimate.usage.calls, "call")
    output.answer(f"{model} would need {calls} for {pairs}: {cost}.")
    if estimate.kept:
        output.answer(
            f"Already judged in an earlier run, at no cost: {_count_pairs(estimate.kept)}."
        )
    if estimate.beyond:
        left = _count_pairs(estimate.beyond)
        output.answer(f"Left for a later run, because of the cost limit: {left}.")


def _count_pairs(number: int) -> str:
    return format_count(number, "pair of statements", "pairs of statements")


def _explain_unjudged(session: PairJudgeResult) -> str:
    if session.unjudged < len(session.judged) and session.usage.repaired:
        return "The model's reply was not in the requested format."
    return "Run `lrwr check --model` again to continue."


def _require_judge(judge: PairJudge | None) -> PairJudge:
    if judge is None:
        raise SettingsProblem(
            "No language model is configured",
            hint="Set `use` in `[model]`, or leave out `--model` to check by rules.",
        )
    return judge


def _build_result(
    rule_findings: tuple[Contradiction, ...],
    session: PairJudgeResult,
    knowledge: StoryKnowledge,
    judge: PairJudge,
) -> ModelCheckResult:
    verified_judgements = verify_judgements(
        session.judged, knowledge, judge.name, rule_findings
    )
    return ModelCheckResult(rule_findings, verified_judgements, session, judge.name)


def _price(usage: Usage, model: str, settings: Settings) -> float | None:
    return create_price_lookup(settings)(usage, model)
