"""Contradictions of the canon: in the whole text, and new ones after each save."""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from lrwr.app.container import Workspace
from lrwr.app.egress import create_chat_model, create_price_lookup, describe_refusal
from lrwr.core.adapters.chat.factory import ModelRole
from lrwr.core.bible.projection import StoryKnowledge
from lrwr.core.continuity.contradictions import find_contradictions
from lrwr.core.continuity.judge import PairJudge
from lrwr.core.continuity.pair_selection import find_statement_pairs
from lrwr.core.continuity.statements import Contradiction
from lrwr.core.continuity.verdicts import verify_judgements
from lrwr.core.model.chunks import Pipeline
from lrwr.core.model.errors import LrwrError
from lrwr.pipeline.analysis import ModelBudget

if TYPE_CHECKING:
    from lrwr.core.continuity.pairs import StatementPair


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


class ContradictionMonitor:
    """Finds the contradictions that each save introduces, except intended ones.

    If `watch.model` is "on-save", a language model also judges new pairs of statements.
    `say` receives a sentence about what could not be checked.
    """

    def __init__(self, workspace: Workspace, say: Callable[[str], None]) -> None:
        self._workspace = workspace
        self._say = say
        self._known_ids: frozenset[str] = frozenset()
        self._pairs: frozenset[StatementPair] = frozenset()

    async def find_new(
        self, calls_made: int | None = None
    ) -> tuple[Contradiction, ...]:
        """Return the unintended contradictions that did not exist at the last call.

        The first call returns all. `calls_made` is the number of requests that this
        save already made to a language model; they count towards `watch.calls`. With
        None no model is asked. Empty in pipeline a. If the library cannot be read,
        `say` is called and the result is empty.
        """
        if self._workspace.settings.pipeline is not Pipeline.AGENTIC:
            return ()
        try:
            knowledge = await self._read_story()
            rule_findings = await asyncio.to_thread(find_contradictions, knowledge)
            model_findings = await self._judge(knowledge, rule_findings, calls_made)
        except LrwrError as error:
            self._say(f"Contradictions were not checked. {error}")
            return ()
        unintended = [
            contradiction
            for contradiction in (*rule_findings, *model_findings)
            if not contradiction.intended
        ]
        new = tuple(
            contradiction
            for contradiction in unintended
            if contradiction.id not in self._known_ids
        )
        self._known_ids = frozenset(contradiction.id for contradiction in unintended)
        return new

    @property
    def _asks_model(self) -> bool:
        """Whether a language model analyses each save."""
        settings = self._workspace.settings
        return settings.model.use != "off" and settings.watch.model == "on-save"

    async def _read_story(self) -> StoryKnowledge:
        bible = self._workspace.bible()
        return await (bible.knowledge() if self._asks_model else bible.stated())

    async def _judge(
        self,
        knowledge: StoryKnowledge,
        rule_findings: tuple[Contradiction, ...],
        calls_made: int | None,
    ) -> tuple[Contradiction, ...]:
        """Return a model's findings: new ones in new pairs, cached ones in all others."""
        if not self._asks_model:
            return ()
        pairs = await asyncio.to_thread(find_statement_pairs, knowledge)
        new_pairs = [pair for pair in pairs if pair not in self._pairs]
        limit = self._workspace.settings.watch.calls
        calls = 0 if calls_made is None else max(0, limit - calls_made)
        judge = create_pair_judge(self._workspace, may_ask=calls > 0, calls=calls)
        if judge is None:
            return ()
        self._pairs = frozenset(pairs)
        if calls:
            result = await judge.judge(new_pairs)
            if result.unjudged and result.stopped:
                self._say(f"Not everything was checked. {result.stopped}")
        cached = await judge.stored_judgements(pairs)
        judged = [(pair, cached[pair]) for pair in pairs if pair in cached]
        return verify_judgements(judged, knowledge, judge.name, rule_findings).found
