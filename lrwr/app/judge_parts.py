"""Language models that judge in batches: the model, the cache and the budget of a run."""

from dataclasses import dataclass

from lrwr.app.container import Workspace
from lrwr.app.egress import create_chat_model, create_price_lookup, describe_refusal
from lrwr.core.ports.models import ChatModel
from lrwr.core.ports.stores import AnalysisStore
from lrwr.core.settings.chat_models import ModelRole
from lrwr.pipeline.analysis import ModelBudget


@dataclass(frozen=True, slots=True)
class JudgeParts:
    """What a judge needs: the language model, the cache of its replies, its budget."""

    chat: ChatModel
    store: AnalysisStore
    budget: ModelBudget


def create_judge_parts(
    workspace: Workspace, role: ModelRole, *, may_ask: bool = True, calls: int = 0
) -> JudgeParts | None:
    """Return the parts of a judge with the model for `role`; None if no language model
    is configured.

    Without consent, or with `may_ask` False, the budget allows no call, so that only
    cached judgements are returned. `calls` limits the requests to the model, 0 means no
    limit; `model.budget` limits the cost.

    Raises:
        SettingsProblem: The configured language model has no key or no name, or
            `model.prices` cannot be parsed.
    """
    settings = workspace.settings
    access = workspace.egress.model_access(may_ask=may_ask)
    chat = create_chat_model(settings, role, access)
    if chat is None:
        return None
    price, name = create_price_lookup(settings), chat.name
    budget = ModelBudget(
        lambda usage: price(usage, name), settings.model.budget, most_calls=calls
    )
    if access.refusal is not None:
        budget.stop(describe_refusal(access.refusal))
    return JudgeParts(chat, workspace.stores.analysis, budget)
