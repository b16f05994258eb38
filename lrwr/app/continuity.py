"""Contradictions of the canon, found by rules and judged by a language model."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lrwr.app.container import Workspace
from lrwr.app.judge_parts import create_judge_parts
from lrwr.core.bible.projection import StoryKnowledge
from lrwr.core.canon.model import normalize_canon_path
from lrwr.core.canon.resolver import resolve_document
from lrwr.core.continuity.contradictions import (
    find_contradictions,
)
from lrwr.core.continuity.finder import ComparedFacts, count_compared_facts
from lrwr.core.continuity.judge import PairJudge
from lrwr.core.continuity.pair_selection import find_statement_pairs
from lrwr.core.continuity.statements import Contradiction
from lrwr.core.continuity.verdicts import verify_judgements
from lrwr.core.model.documents import DocumentId, Horizon
from lrwr.core.model.errors import SettingsProblem
from lrwr.core.settings.chat_models import ModelRole

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
    parts = create_judge_parts(
        workspace, ModelRole.ANALYST, may_ask=may_ask, calls=calls
    )
    return PairJudge(parts.chat, parts.store, parts.budget) if parts else None


@dataclass(frozen=True, slots=True)
class CheckRequest:
    """What `lrwr check` should check and show.

    Only contradictions in the files `paths` are reported, if there are any paths; and
    only the story up to the point `as_of` is used. Of these, only those first reported
    at `since` or later are shown, in seconds since 1970; all if it is None.
    """

    paths: Sequence[str] = ()
    as_of: str | None = None
    since: float | None = None

    @property
    def is_whole(self) -> bool:
        """Whether the whole story is checked."""
        return not self.paths and self.as_of is None


@dataclass(frozen=True, slots=True)
class CheckScope:
    """The story data (`known`) to check, up to `horizon` and in `documents`.

    None as `horizon` or `documents` means no limit.
    """

    known: StoryKnowledge
    horizon: Horizon | None = None
    documents: tuple[DocumentId, ...] | None = None

    async def find_by_rules(self) -> tuple[Contradiction, ...]:
        """Return the contradictions that rules find, ordered by the contradicting text.

        Those that the user marked as intended are included, and those of which rules
        are not sure. They are computed in a worker thread.
        """
        return await asyncio.to_thread(
            find_contradictions,
            self.known,
            self.horizon,
            self.documents,
            with_possible=True,
        )

    async def count_compared(self) -> ComparedFacts:
        """Return how many facts rules compare, in a worker thread; all documents count."""
        return await asyncio.to_thread(count_compared_facts, self.known, self.horizon)

    async def find_pairs(self) -> "tuple[StatementPair, ...]":
        """Return the pairs of statements that only a language model can compare.

        Pairs with a note or a decision come first. They are collected in a worker
        thread.
        """
        return await asyncio.to_thread(
            find_statement_pairs, self.known, self.horizon, self.documents
        )


async def find_known_contradictions(
    workspace: Workspace, scope: CheckScope
) -> tuple[Contradiction, ...]:
    """Return the contradictions that rules find, then those that a model found earlier.

    The latter are cached judgements; no model is called. Intended ones are included.
    """
    rule_findings, judge = await scope.find_by_rules(), None
    with suppress(SettingsProblem):  # without a model, the rules are enough
        judge = create_pair_judge(workspace, may_ask=False)
    if judge is None:
        return rule_findings
    pairs = await scope.find_pairs()
    cached = await judge.stored_judgements(pairs)
    judged = [(pair, cached[pair]) for pair in pairs if pair in cached]
    verified = verify_judgements(judged, scope.known, judge.name, rule_findings)
    return (*rule_findings, *verified.found)


async def load_scope(workspace: Workspace, as_of: str = "") -> CheckScope:
    """Return the story data up to the horizon `as_of`, such as "ch3"; all if empty.

    Raises:
        NotFound: Nothing was ingested here, or the horizon does not exist.
    """
    service = workspace.bible()
    horizon = await service.horizon(as_of) if as_of else None
    return CheckScope(await service.knowledge(horizon), horizon)


async def load_check_scope(workspace: Workspace, request: CheckRequest) -> CheckScope:
    """Return the story data to check, limited to the files and the point of `request`.

    Raises:
        NotFound: A file or the point does not exist.
    """
    service = workspace.bible()
    horizon = None if request.as_of is None else await service.horizon(request.as_of)
    knowledge = await service.knowledge(horizon)
    spelled = {
        normalize_canon_path(outline): outline for outline in knowledge.order.outlines
    }
    root, current_folder = workspace.library.root, Path.cwd()
    document_ids = (
        resolve_document(
            path,
            document_ids=list(spelled),
            root=root,
            working_directory=current_folder,
        )
        for path in request.paths
    )
    documents = tuple(
        spelled.get(document_id, document_id) for document_id in document_ids
    )
    return CheckScope(knowledge, horizon, documents or None)


async def list_findings(workspace: Workspace) -> tuple[Contradiction, ...]:
    """Return what `lrwr check` reports about the whole story.

    Contradictions that the user marked as intended are included. No language model is
    asked.

    Raises:
        NotFound: Nothing was ingested here.
    """
    scope = await load_scope(workspace, "")
    return await find_known_contradictions(workspace, scope)
