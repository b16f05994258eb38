"""Processing on other machines: reuse of local results, and storage of source files."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from lrwr.core.model.chunks import Knowledge, TextHash
from lrwr.core.model.documents import Document, DocumentId
from lrwr.core.model.language_model import Usage
from lrwr.core.ports.jobs import (
    JobProgressCallback,
    JobResult,
    JobRunner,
    ModelAnswers,
    ModelWork,
    RemoteJobHost,
    ReusableResults,
)
from lrwr.core.ports.stores import AnalysisStore, FileStore
from lrwr.pipeline.analysis import ModelBudget
from lrwr.pipeline.recipes import AgenticRecipe, Recipe, RecipeTools

MODEL_RUNS_REMOTELY = "The language model runs on another machine."
"""Reason for which the local model budget is stopped."""


def create_remote_input(
    recipe: Recipe, tools: RecipeTools, store: AnalysisStore
) -> RemoteJobHost:
    """Return the local side of a recipe that runs on another machine.

    The recipe's own model budget is stopped, so that it makes no calls here; a copy of
    it, with what was spent so far, limits the remote calls.
    """
    if not isinstance(recipe, AgenticRecipe):
        return NaiveRemoteInput(recipe, tools)
    remote_budget = None
    if recipe.reading is not None:
        remote_budget = replace(recipe.reading.budget)
        recipe.reading.budget.stop(MODEL_RUNS_REMOTELY)
    return AgenticRemoteInput(recipe, tools, store, remote_budget)


class NaiveRemoteInput:
    """Implements `RemoteJobHost` for pipeline a: only vectors can be reused."""

    def __init__(self, recipe: Recipe, tools: RecipeTools) -> None:
        self._recipe = recipe
        self._tools = tools

    async def known(self, document: Document) -> ReusableResults:
        """Return the hashes of the document's chunks that have a stored vector.

        Empty without an embedding model.
        """
        if self._tools.embedder is None:
            return ReusableResults()
        drafted = await self._recipe.draft(document, self._tools)
        texts = {chunk.text_hash for chunk in drafted.chunks}
        return ReusableResults(
            texts=frozenset(await self._tools.known(drafted.space, texts))
        )

    async def embedded(self, space: str, texts: set[TextHash]) -> set[TextHash]:
        """Return those of the hashes `texts` that have a stored vector in the embedding
        `space`.
        """
        return await self._tools.known(space, texts)

    async def wanted(self, knowledge: Knowledge) -> ModelWork | None:
        """Return None: pipeline a uses no language model."""
        del knowledge
        return None

    async def completed(
        self,
        knowledge: Knowledge,
        work: ModelWork | None,
        answers: ModelAnswers | None,
    ) -> Knowledge:
        """Return the knowledge unchanged: pipeline a uses no language model."""
        del work, answers
        return knowledge


class AgenticRemoteInput:
    """Implements `RemoteJobHost` for pipeline b.

    The budget of `recipe` must be stopped so that it makes no calls itself.
    `remote_budget` limits the remote calls; None if no language model is configured.
    """

    def __init__(
        self,
        recipe: AgenticRecipe,
        tools: RecipeTools,
        store: AnalysisStore,
        remote_budget: ModelBudget | None,
    ) -> None:
        self._recipe = recipe
        self._tools = tools
        self._store = store
        self._remote_budget = remote_budget

    async def known(self, document: Document) -> ReusableResults:
        """Return the stored distances between sentences of the document, and the hashes
        of its chunks that have a stored vector.

        Both are empty without an embedding model, and for a document without stored
        distances, such as a new one.
        """
        space = self._tools.space
        seams = await self._store.seams(document.id, space) if space else {}
        if not seams:
            return ReusableResults()
        drafted = await self._recipe.draft(document, self._tools)
        texts = {chunk.text_hash for chunk in drafted.chunks}
        return ReusableResults(seams, frozenset(await self._tools.known(space, texts)))

    async def embedded(self, space: str, texts: set[TextHash]) -> set[TextHash]:
        """Return those of the hashes `texts` that have a stored vector in the embedding
        `space`.
        """
        return await self._tools.known(space, texts)

    async def wanted(self, knowledge: Knowledge) -> ModelWork | None:
        """Return the language model calls that the document needs, and reserve their
        price.

        None if all replies are stored, the budget does not allow the calls, or no model
        is configured.
        """
        if self._remote_budget is None:
            return None
        usage = await self._recipe.estimate(knowledge)
        if not usage.calls:
            return None
        reserved = self._remote_budget.reserve(usage)
        if reserved is None:
            return None
        excerpts = await self._recipe.cached_keys(knowledge)
        cast = await self._recipe.load_cast(knowledge)
        return ModelWork(excerpts, usage.cached, reserved, cast)

    async def completed(
        self,
        knowledge: Knowledge,
        model_work: ModelWork | None,
        answers: ModelAnswers | None,
    ) -> Knowledge:
        """Store language model replies and return the knowledge with all its facts.

        `model_work` is the result of `wanted`, whose reserved budget is settled.
        `answers` is None if no calls were made.

        Raises:
            StoreProblem: The replies cannot be stored.
        """
        if self._remote_budget is None:
            return knowledge
        if model_work is not None:
            spent = answers.usage if answers else Usage()
            self._remote_budget.settle(model_work.reserved, spent)
        for replies in answers.replies if answers else ():
            await self._store.save_replies(replies.said, replies.usage)
        if answers is not None and answers.unfinished:
            self._remote_budget.stop(answers.unfinished)
        # The recipe's own budget is stopped, so this uses stored replies only.
        knowledge = await self._recipe.add_model_facts(knowledge)
        if model_work is None or answers is None:
            return replace(
                knowledge,
                unfinished=knowledge.unfinished and self._remote_budget.stopped,
            )
        usage = answers.usage + Usage(cached=model_work.cached)
        return replace(knowledge, usage=usage, unfinished=answers.unfinished)


@dataclass(frozen=True, slots=True)
class ArchivingRunner:
    """Implements `JobRunner`: processes with `runner` and stores each file in `files`.

    A result is returned only after its file is stored, so that other machines that use
    the library find every file that it names.
    """

    runner: JobRunner
    files: FileStore

    @property
    def places(self) -> int:
        """Maximum number of documents processed concurrently."""
        return self.runner.places

    async def run(
        self, document: DocumentId, content: bytes, report: JobProgressCallback
    ) -> JobResult:
        """Process the document, store its bytes `content`, and return the result.

        Raises:
            LrwrError: The file cannot be stored, or `runner` failed.
        """
        read = await self.runner.run(document, content, report)
        await self.files.put(content)
        return read

    async def stored(self, document: DocumentId) -> None:
        """Notify `runner` that the result of the document has been stored."""
        await self.runner.stored(document)

    async def aclose(self) -> None:
        """Close `runner`. `files` is closed by its owner."""
        await self.runner.aclose()


@dataclass(frozen=True, slots=True)
class DecidedRunner:
    """Implements `JobRunner`: processes documents with `remote`, but with `local` those
    for which `find_decision` returns something, because another machine does not know
    the user's decisions.
    """

    local: JobRunner
    remote: JobRunner
    find_decision: Callable[[DocumentId], str | None]

    @property
    def places(self) -> int:
        """Maximum number of documents processed concurrently."""
        return self.remote.places

    async def run(
        self, document: DocumentId, content: bytes, report: JobProgressCallback
    ) -> JobResult:
        """Process the document with one of the runners, and return the result.

        Raises:
            LrwrError: That runner failed.
        """
        runner = self.local if self.find_decision(document) else self.remote
        return await runner.run(document, content, report)

    async def stored(self, document: DocumentId) -> None:
        """Notify both runners that the result of the document has been stored."""
        await self.local.stored(document)
        await self.remote.stored(document)

    async def aclose(self) -> None:
        """Close both runners."""
        await self.local.aclose()
        await self.remote.aclose()
