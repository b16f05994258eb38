"""Creates the language model that reranks, if `rerank.model` selects it."""

from lrwr.app.egress import ExternalAccess, create_chat_model, create_price_lookup
from lrwr.core.adapters.chat.openai import UnavailableChatModel
from lrwr.core.chat.history import MeteredChatModel, QuestionBudget
from lrwr.core.model.errors import LrwrError
from lrwr.core.model.language_model import Usage
from lrwr.core.ports.stores import AnalysisStore
from lrwr.core.retrieval.model_ranker import ModelRankedFinder, ModelRanker
from lrwr.core.settings.chat_models import ModelRole, get_chat_model_name

__all__ = ["ModelRankedFinder", "PricedRanker"]


class PricedRanker(ModelRanker):
    """The ranker of one library, with the budget and the prices of its settings.

    Nothing is sent before the first search. A model that is off, lacks a key or has no
    consent raises its reason when it is asked, so that the search goes on without it.
    `store` caches its replies.
    """

    def __init__(self, egress: ExternalAccess, store: AnalysisStore) -> None:
        settings = egress.settings
        self._price = create_price_lookup(settings)
        self.budget = QuestionBudget(self._price, settings.model.budget)
        off = LrwrError(
            "`rerank.model` is model, but `model.use` is off",
            hint="Set `model.use`, or set `rerank.model` to late-interaction.",
        )
        name = get_chat_model_name(settings, ModelRole.RANKER)
        access = egress.model_access(may_ask=True, is_interactive=True)
        try:
            chat = create_chat_model(settings, ModelRole.RANKER, access)
        except LrwrError as error:
            chat = UnavailableChatModel(name, error)
        metered = MeteredChatModel(chat or UnavailableChatModel(name, off), self.budget)
        super().__init__(metered, store, timeout=settings.rerank.timeout)

    def take_cost(self) -> tuple[Usage, float | None]:
        """Return usage and price in US dollars, None if unknown, since the last call."""
        usage = self.chat.take_usage()
        return usage, self._price(usage, self.chat.name)
