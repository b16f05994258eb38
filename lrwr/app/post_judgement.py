"""Lets a language model judge the statements of checked drafts."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from lrwr.app.container import Workspace
from lrwr.app.judge_parts import create_judge_parts
from lrwr.app.posts import CheckedDraft
from lrwr.core.batch_judge import BatchJudgeEstimate
from lrwr.core.evidence.judge import (
    ClaimJudge,
    ClaimJudgement,
    EvidenceClaim,
    Verdict,
    share_passages,
    verify_judgement,
)
from lrwr.core.evidence.results import (
    CheckedStatement,
    ClosestPassage,
    StatementResult,
    withdraw_differences,
)
from lrwr.core.model.language_model import Usage
from lrwr.core.settings.chat_models import ModelRole

AGAIN_PASSAGES = 2
"""Passages of the first round that the second has, too: two together may decide."""


@dataclass(frozen=True, slots=True)
class DraftJudgement:
    """A draft whose statements a language model `model` judged, as far as it did.

    `usage` is that of the run. `unjudged` statements got no verdict: the budget or the
    model stopped the run, for the reason `stopped`, or a reply was unusable. Of
    `unverified` verdicts the quotation is in no passage; they are dropped.
    """

    draft: CheckedDraft
    model: str
    usage: Usage
    unjudged: int = 0
    unverified: int = 0
    stopped: str = ""


def create_claim_judge(
    workspace: Workspace, *, may_ask: bool = True
) -> ClaimJudge | None:
    """Return the judge of statements; None if no language model is configured.

    Without consent, or with `may_ask` False, it returns cached verdicts only.

    Raises:
        SettingsProblem: The configured language model has no key or no name.
    """
    parts = create_judge_parts(workspace, ModelRole.CHECKER, may_ask=may_ask)
    return ClaimJudge(parts.chat, parts.store, parts.budget) if parts else None


FindMorePassages: TypeAlias = Callable[
    [CheckedStatement], Awaitable[tuple[ClosestPassage, ...]]
]
"""Returns further passages for a statement, best first."""


async def judge_draft(
    judge: ClaimJudge,
    draft: CheckedDraft,
    find_more: FindMorePassages | None = None,
) -> DraftJudgement:
    """Let `judge` say which statements of `draft` the passages support or contradict.

    A passage of a statement around it may decide, too. With `find_more`, statements of
    which the passages say nothing are judged once more with further passages.

    Raises:
        StoreProblem: The library cannot be read.
    """
    first = await _judge_once(judge, draft)
    if find_more is None or first.stopped:
        return first
    again: dict[CheckedStatement, CheckedStatement] = {}
    for checked in filter(_is_absent, first.draft.statements):
        if more := await find_more(checked):
            passages = (*checked.passages[:AGAIN_PASSAGES], *more)
            again[checked] = replace(checked, judgement=None, passages=passages)
    if not again:
        return first
    second = await _judge_once(judge, CheckedDraft(tuple(again.values())))
    decided = dict(zip(again, second.draft.statements, strict=True))
    statements = (
        _add_decision(checked, decided[checked]) if checked in decided else checked
        for checked in first.draft.statements
    )
    return replace(
        first,
        draft=replace(first.draft, statements=tuple(statements)),
        usage=first.usage + second.usage,
        stopped=second.stopped,
    )


def _is_absent(checked: CheckedStatement) -> bool:
    judgement = checked.judgement
    return judgement is not None and judgement.verdict is Verdict.ABSENT


def _add_decision(
    checked: CheckedStatement, again: CheckedStatement
) -> CheckedStatement:
    """Return a statement with the judgement that further passages gave it, if any."""
    judgement = again.judgement
    if judgement is None or judgement.passage is None:
        return checked
    deciding = again.passages[judgement.passage]
    passages = tuple(dict.fromkeys((*checked.passages, deciding)))
    judgement = replace(judgement, passage=passages.index(deciding))
    return withdraw_differences(
        replace(checked, judgement=judgement, passages=passages)
    )


async def estimate_judgement(
    judge: ClaimJudge, draft: CheckedDraft
) -> BatchJudgeEstimate:
    """Return what the first round of `judge_draft` takes; no request is sent.

    Raises:
        StoreProblem: The library cannot be read.
    """
    return await judge.estimate(list(_share_claims(draft).values()))


def _share_claims(draft: CheckedDraft) -> dict[EvidenceClaim, EvidenceClaim]:
    """Return the claims of a draft, each with those passages that are sent with it."""
    all_claims = [claim for checked in draft.statements if (claim := checked.claim)]
    claims = list(dict.fromkeys(all_claims))
    return dict(zip(claims, share_passages(claims), strict=True))


async def _judge_once(judge: ClaimJudge, draft: CheckedDraft) -> DraftJudgement:
    shared = _share_claims(draft)
    session = await judge.judge(list(shared.values()))
    verified = {
        claim: judgement
        for claim, raw in session.judged
        if (judgement := verify_judgement(claim, raw)) is not None
    }
    closest = {
        c.passage.chunk.text: replace(c, share=0.0)
        for checked in draft.statements
        for c in checked.passages
    }
    statements = (
        _add_judgement(checked, shared[claim], verified.get(shared[claim]), closest)
        if claim
        else checked
        for checked in draft.statements
        for claim in (checked.claim,)
    )
    return DraftJudgement(
        replace(draft, statements=tuple(statements)),
        judge.name,
        session.usage,
        session.unjudged,
        len(session.judged) - len(verified),
        session.stopped,
    )


def _add_judgement(
    checked: CheckedStatement,
    claim: EvidenceClaim,
    judgement: ClaimJudgement | None,
    closest: Mapping[str, ClosestPassage],
) -> CheckedStatement:
    """Return a statement with its judgement; a passage of another statement that decides
    becomes its last.
    """
    if judgement is None:
        if checked.result is StatementResult.CLOSEST:
            return replace(checked, result=StatementResult.NOT_EVALUATED)
        return replace(checked, judgement=None)
    if judgement.passage is not None and judgement.passage >= len(checked.passages):
        deciding = closest[claim.texts[judgement.passage]]
        judgement = replace(judgement, passage=len(checked.passages))
        checked = replace(checked, passages=(*checked.passages, deciding))
    return withdraw_differences(replace(checked, judgement=judgement))
