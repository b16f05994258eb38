"""What stays on this machine when documents are read elsewhere."""

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

MODEL_RUNS_REMOTELY = "The language model is asked elsewhere."
"""Why the reading on this machine asks nobody."""


def create_remote_input(
    recipe: Recipe, tools: RecipeTools, store: AnalysisStore
) -> RemoteJobHost:
    """Return what this machine does of a recipe that is followed elsewhere.

    A language model of the recipe's is not asked here from now on: what its meter would
    have let it spend may be spent there.
    """
    if not isinstance(recipe, AgenticRecipe):
        return NaiveRemoteInput(recipe, tools)
    purse = None
    if recipe.reading is not None:
        purse = replace(recipe.reading.meter)
        recipe.reading.meter.stop(MODEL_RUNS_REMOTELY)
    return AgenticRemoteInput(recipe, tools, store, purse)


class NaiveRemoteInput:
    """Keeps the Share port for pipeline a: only vectors can be known."""

    def __init__(self, recipe: Recipe, tools: RecipeTools) -> None:
        self._recipe = recipe
        self._tools = tools

    async def known(self, document: Document) -> ReusableResults:
        """Return which of its passages are embedded."""
        if self._tools.embedder is None:
            return ReusableResults()
        drafted = await self._recipe.draft(document, self._tools)
        texts = {chunk.text_hash for chunk in drafted.chunks}
        return ReusableResults(
            texts=frozenset(await self._tools.known(drafted.space, texts))
        )

    async def embedded(self, space: str, texts: set[TextHash]) -> set[TextHash]:
        """Return which of `texts` are embedded in `space` already."""
        return await self._tools.known(space, texts)

    async def wanted(self, knowledge: Knowledge) -> ModelWork | None:
        """Return None: no model is asked."""
        del knowledge
        return None

    async def completed(
        self,
        knowledge: Knowledge,
        work: ModelWork | None,
        answers: ModelAnswers | None,
    ) -> Knowledge:
        """Return the knowledge as it is."""
        del work, answers
        return knowledge


class AgenticRemoteInput:
    """Keeps the Share port for pipeline b.

    `recipe` must ask nobody: its meter is stopped. `purse` bounds what a model may be
    asked elsewhere, None where none is set.
    """

    def __init__(
        self,
        recipe: AgenticRecipe,
        tools: RecipeTools,
        store: AnalysisStore,
        purse: ModelBudget | None,
    ) -> None:
        self._recipe = recipe
        self._tools = tools
        self._store = store
        self._purse = purse

    async def known(self, document: Document) -> ReusableResults:
        """Return the distances that are known, and which passages are embedded.

        Of a document that is new nothing is: then it is not even cut.
        """
        space = self._tools.space
        seams = await self._store.seams(document.id, space) if space else {}
        if not seams:
            return ReusableResults()
        drafted = await self._recipe.draft(document, self._tools)
        texts = {chunk.text_hash for chunk in drafted.chunks}
        return ReusableResults(seams, frozenset(await self._tools.known(space, texts)))

    async def embedded(self, space: str, texts: set[TextHash]) -> set[TextHash]:
        """Return which of `texts` are embedded in `space` already."""
        return await self._tools.known(space, texts)

    async def wanted(self, knowledge: Knowledge) -> ModelWork | None:
        """Return the work for the model, and reserve its price in the budget.

        None if all replies are stored, or the budget is spent.
        """
        if self._purse is None:
            return None
        usage = await self._recipe.estimate(knowledge)
        if not usage.calls:
            return None
        reserved = self._purse.reserve(usage)
        if reserved is None:
            return None
        excerpts = await self._recipe.kept(knowledge)
        return ModelWork(excerpts, usage.cached, reserved)

    async def completed(
        self,
        knowledge: Knowledge,
        model_work: ModelWork | None,
        answers: ModelAnswers | None,
    ) -> Knowledge:
        """Keep the model's replies, and return the knowledge with all that it said.

        Raises:
            StoreProblem: They cannot be kept.
        """
        if self._purse is None:
            return knowledge
        if model_work is not None:
            spent = answers.usage if answers else Usage()
            self._purse.settle(model_work.reserved, spent)
        for replies in answers.replies if answers else ():
            await self._store.keep_replies(replies.said, replies.usage)
        if answers is not None and answers.unfinished:
            self._purse.stop(answers.unfinished)
        knowledge = await self._recipe.read_closely(
            knowledge
        )  # what is kept, and no more
        if model_work is None or answers is None:
            return replace(
                knowledge, unfinished=knowledge.unfinished and self._purse.stopped
            )
        usage = answers.usage + Usage(cached=model_work.cached)
        return replace(knowledge, usage=usage, unfinished=answers.unfinished)


@dataclass(frozen=True, slots=True)
class ArchivingRunner:
    """Keeps the JobRunner port: has `files` keep each file, and `runner` read it.

    What is known of a file is told only when the file itself is kept: whoever follows
    the library elsewhere finds every file that it names.
    """

    runner: JobRunner
    files: FileStore

    @property
    def places(self) -> int:
        """Return how many documents may be in work at once."""
        return self.runner.places

    async def run(
        self, document: DocumentId, content: bytes, report: JobProgressCallback
    ) -> JobResult:
        """Keep a file's bytes, and return the knowledge of them.

        Raises:
            LrwrError: The file cannot be kept; else as `runner` does.
        """
        read = await self.runner.run(document, content, report)
        await self.files.put(content)
        return read

    async def stored(self, document: DocumentId) -> None:
        """Say that what was returned of a document is kept."""
        await self.runner.stored(document)

    async def aclose(self) -> None:
        """Let go of connections; who opened `files` closes them."""
        await self.runner.aclose()
