"""What a language model says of pairs: asked, estimated, and shown on the command line."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from lrwr.app.container import open_workspace
from lrwr.app.continuity import create_pair_judge
from lrwr.app.egress import create_price_lookup
from lrwr.app.presenters.text import format_count, format_tokens_and_price
from lrwr.cli.presenters.contradictions import CheckRequest, load_check_scope
from lrwr.cli.runtime.output import Output
from lrwr.cli.runtime.services import announce_first_use, prompt_for_consent
from lrwr.core.bible.service import StoryKnowledge
from lrwr.core.continuity.judge import PairJudge, PairJudgeEstimate, PairJudgeResult
from lrwr.core.continuity.pairs import StatementPair
from lrwr.core.continuity.statements import Contradiction
from lrwr.core.continuity.verdicts import (
    JudgedPair,
    VerifiedJudgements,
    verify_judgements,
)
from lrwr.core.model.errors import SettingsProblem
from lrwr.core.model.language_model import Usage
from lrwr.core.settings.model import Settings


@dataclass(frozen=True, slots=True)
class ModelCheckResult:
    """What rules found, then what a model did, and how it came to that."""

    ruled: tuple[Contradiction, ...]
    verdict: VerifiedJudgements
    session: PairJudgeResult
    model: str

    @property
    def found(self) -> tuple[Contradiction, ...]:
        """Every contradiction, those of the rules first."""
        return (*self.ruled, *self.verdict.found)


async def run_model_check(
    settings: Settings, output: Output, check_request: CheckRequest, *, as_json: bool
) -> ModelCheckResult:
    """Return what rules find and what a language model does.

    A model that fails takes nothing from what rules find.

    Raises:
        NotFound: Nothing has been ingested here, or there is no such file or place.
        SettingsProblem: No model is turned on, or it has no key or no name.
    """
    async with open_workspace(settings, say=output.story) as workspace:
        scope = await load_check_scope(workspace, check_request)
        prompt_for_consent(workspace, output, "openai", as_json=as_json)
        judge = _require_judge(create_pair_judge(workspace))
        announce_first_use(workspace, output, "openai")
        rule_findings = await scope.by_rules()
        session = await judge.judge(await scope.pairs())
        return _build_result(rule_findings, session, scope.known, judge)


async def load_known_contradictions(
    settings: Settings, output: Output
) -> tuple[Contradiction, ...]:
    """Return what rules find and what a model has found before; asks nothing."""
    async with open_workspace(settings, say=output.story) as workspace:
        scope = await load_check_scope(workspace, CheckRequest())
        rule_findings, judge = await scope.by_rules(), None
        with suppress(SettingsProblem):  # rules need no model, and this no answer
            judge = create_pair_judge(workspace, may_ask=False)
        if judge is None:
            return rule_findings
        session = PairJudgeResult(
            judged=await _load_judged_pairs(judge, await scope.pairs())
        )
        return _build_result(rule_findings, session, scope.known, judge).found


async def estimate_model_check(
    settings: Settings, output: Output, check_request: CheckRequest
) -> tuple[PairJudgeEstimate, str]:
    """Return what a model would be asked, and its name; asks nothing.

    Raises:
        NotFound: Nothing has been ingested here, or there is no such file or place.
        SettingsProblem: No model is turned on, or it has no name.
    """
    async with open_workspace(settings, say=output.story) as workspace:
        scope = await load_check_scope(workspace, check_request)
        judge = _require_judge(create_pair_judge(workspace, may_ask=False))
        return await judge.estimate(await scope.pairs()), judge.name


def show_model_check_estimate(
    estimate: PairJudgeEstimate,
    model: str,
    settings: Settings,
    output: Output,
    *,
    as_json: bool,
) -> None:
    """Show what would be asked, and its price."""
    price = _price(estimate.usage, model, settings)
    if as_json:
        output.json(
            {
                "model": model,
                "pairs": estimate.pairs,
                "judged_before": estimate.kept,
                "left_for_later": estimate.beyond,
                "calls": estimate.usage.calls,
                "prompt_tokens": estimate.usage.prompt_tokens,
                "completion_tokens": estimate.usage.completion_tokens,
                "usd": price,
            }
        )
        return
    count_text = format_count(estimate.pairs - estimate.kept - estimate.beyond, "pair")
    cost = format_tokens_and_price(estimate.usage, price, about=True)
    calls = format_count(estimate.usage.calls, "question")
    output.answer(f"{model} would be asked {calls} on {count_text}: {cost}.")
    if estimate.kept:
        output.answer(
            f"{format_count(estimate.kept, 'pair')} judged before, which cost nothing."
        )
    if estimate.beyond:
        output.answer(
            f"{format_count(estimate.beyond, 'pair')} more are left for the next run."
        )


def print_model_check(
    checked: ModelCheckResult, settings: Settings, output: Output
) -> None:
    """Say what the model was asked and what it cost, and what was not evaluated."""
    verdict, session = checked.verdict, checked.session
    parts = [f"{verdict.judged:,} judged", f"{len(verdict.found):,} contradict"]
    parts += [
        f"{n:,} dropped because {reason}" for reason, n in verdict.dropped.items()
    ]
    output.story(f"{checked.model}: {', '.join(parts)}.")
    if session.usage.calls:
        price = _price(session.usage, checked.model, settings)
        cost = format_tokens_and_price(session.usage, price, about=False)
        output.story(
            f"It was asked {format_count(session.usage.calls, 'question')}: {cost}."
        )
    if session.unjudged:
        reason = session.stopped or _explain_unjudged(session)
        output.warn(
            f"Not evaluated: {format_count(session.unjudged, 'pair')}. {reason}"
        )
    output.story(
        "Not evaluated: what is only said in dialogue, and what shares neither an"
        " attribute nor its words with what you confirmed."
    )


def _explain_unjudged(session: PairJudgeResult) -> str:
    if session.unjudged < len(session.judged) and session.usage.repaired:
        return "The model's reply could not be understood."
    return "`lrwr check --model` asks about them the next time."


def _require_judge(judge: PairJudge | None) -> PairJudge:
    if judge is None:
        raise SettingsProblem(
            "No language model is turned on",
            hint="Set `use` in `[model]`, or leave out --model: rules need none.",
        )
    return judge


async def _load_judged_pairs(
    judge: PairJudge, pairs: Sequence[StatementPair]
) -> list[JudgedPair]:
    cached = await judge.kept(pairs)
    return [(pair, cached[pair]) for pair in pairs if pair in cached]


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
