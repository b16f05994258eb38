"""Contradictions of the canon, found by rules and judged by a language model."""

import asyncio

from lrwr.app.container import Workspace
from lrwr.app.egress import create_chat_model, create_price_lookup, describe_refusal
from lrwr.core.adapters.chat.factory import ModelRole
from lrwr.core.continuity.contradictions import find_contradictions
from lrwr.core.continuity.judge import PairJudge
from lrwr.core.continuity.statements import Contradiction
from lrwr.pipeline.analysis import ModelBudget


def create_pair_judge(
    workspace: Workspace, *, may_ask: bool = True, calls: int = 0
) -> PairJudge | None:
    """Return a judge that asks a language model whether two statements contradict.

    It is for pairs that rules cannot compare. None if no language model is configured.
    Without consent, or with `may_ask` False, it returns cached judgements only. `calls`
    limits its requests to the model, 0 means no limit; `model.budget` limits the cost.

    Raises:
        SettingsProblem: The configured language model has no key or no name, or
            `model.prices` cannot be parsed.
    """
    settings = workspace.settings
    access = workspace.egress.model_access(may_ask=may_ask)
    chat = create_chat_model(settings, ModelRole.ANALYST, access)
    if chat is None:
        return None
    price, name = create_price_lookup(settings), chat.name
    meter = ModelBudget(
        lambda usage: price(usage, name), settings.model.budget, most_calls=calls
    )
    if access.refusal is not None:
        meter.stop(describe_refusal(access.refusal))
    return PairJudge(chat, workspace.stores.analysis, meter)


async def list_contradictions(workspace: Workspace) -> tuple[Contradiction, ...]:
    """Return the contradictions that rules find in the whole story.

    They are in the order of the contradicting text. Those that the user marked as
    intended are included. No language model is asked.

    Raises:
        NotFound: Nothing was ingested here.
    """
    knowledge = await workspace.bible().knowledge()
    return await asyncio.to_thread(find_contradictions, knowledge)
