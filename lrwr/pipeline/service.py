"""DocumentProcessingService, the only writer of knowledge, and the local job runner."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256

from lrwr.core.model.documents import DocumentId
from lrwr.core.model.errors import LrwrError, NotFound, ServiceUnavailable
from lrwr.core.model.jobs import (
    ChunksEmbedded,
    DocumentsPending,
    IngestPlanned,
    JobClaim,
    JobKind,
    JobOrder,
    JobStage,
    JobState,
    StageStarted,
)
from lrwr.core.ports.jobs import (
    JobProgressCallback,
    JobQueue,
    JobResult,
    JobRunner,
    RunnerUnavailable,
)
from lrwr.core.ports.sources import DocumentParser, ManuscriptSource, SourceListing
from lrwr.core.ports.stores import DocumentVersion, KnowledgeStore
from lrwr.pipeline.changes import (
    DocumentChanges,
    ManuscriptScan,
    detect_changes,
    plan_ingestion,
)
from lrwr.pipeline.recipes import Recipe, RecipeTools
from lrwr.pipeline.report import (
    EmitIngestEvent,
    IngestProgress,
    IngestReport,
    count_knowledge,
    describe_files_of_other_machines,
    problem_from_error,
    wrap_unexpected_error,
)
from lrwr.pipeline.speaker_attribution import AttributionSummary, StoryAttributor


async def estimate_ingestion(
    documents: Sequence[DocumentId],
    source: ManuscriptSource,
    parse: DocumentParser,
    recipe: Recipe,
    tools: RecipeTools,
    report: IngestReport,
) -> None:
    """Add to `report` the cost of ingesting `documents`, and those that cannot be read."""
    for document in documents:
        try:
            content, _ = await source.read(document)
            parsed = await asyncio.to_thread(parse, document, content)
        except LrwrError as error:
            report.problems.append(problem_from_error(document, error))
            continue
        knowledge = await recipe.draft(parsed, tools)
        report.usage += await recipe.estimate(knowledge)
        texts = {chunk.text_hash for chunk in knowledge.chunks}
        stored_hashes = texts
        if tools.embedder is not None:
            stored_hashes = await tools.known(knowledge.space, texts)
        count_knowledge(report, knowledge, stored_hashes)


WORKERS = 3
"""Documents in work at once: one is read or stored while others are embedded."""
LEASE = 10.0
"""Seconds a worker may be silent before its job is given to another."""
BEAT = 3.0
"""Seconds between two signs of life."""
PAUSE = 0.25
"""Seconds between two looks at jobs that another run holds."""
UNFINISHED = "unfinished"
"""Ends the recipe's name of a document that must be completed by the next run."""
INGEST_AGAIN = "Run `lrwr ingest` again."
MOST_OPEN = 100_000
"""Jobs that are looked at when asking what is not done yet."""


@dataclass(frozen=True, slots=True)
class LocalRunner:
    """Keeps the JobRunner port: parses and learns on this machine."""

    parse: DocumentParser
    recipe: Recipe
    tools: RecipeTools

    @property
    def places(self) -> int:
        """Return how many documents may be in work at once."""
        return WORKERS

    async def run(
        self, document: DocumentId, content: bytes, report: JobProgressCallback
    ) -> JobResult:
        """Return the knowledge of a file's bytes.

        Raises:
            UnreadableDocument: The bytes are not what the ending says.
        """
        parsed = await asyncio.to_thread(self.parse, document, content)
        await report(StageStarted(document, JobStage.SPLIT))
        try:
            return JobResult(await self.recipe.learn(parsed, self.tools, report))
        except ServiceUnavailable as error:
            return JobResult(await self.recipe.draft(parsed, self.tools), error)

    async def stored(self, document: DocumentId) -> None:
        """Nothing was kept for it."""
        del document

    async def aclose(self) -> None:
        """Nothing is held open."""


def build_recipe_name(parse: DocumentParser, recipe: Recipe, tools: RecipeTools) -> str:
    """Name everything that knowledge depends on besides the document."""
    return f"{parse.revision()}/{recipe.name(tools.embedder)}"


Pause = Callable[[], Awaitable[None]]


class DocumentProcessingService:
    """Brings the library up to date with the manuscript.

    Work is queued as jobs, and any process over the same files may take a job up: what
    one that died had queued is done by the next. `pause` waits between two looks at
    others' jobs. Unless `complete`, what is unfinished stays so until its file changes.
    Unless `missing_too`, what was never a file of this machine is not forgotten by it.
    `runner` reads documents; by default this process does.
    """

    def __init__(
        self,
        *,
        source: ManuscriptSource,
        parse: DocumentParser,
        recipe: Recipe,
        tools: RecipeTools,
        store: KnowledgeStore,
        jobs: JobQueue,
        worker: str,
        weaver: StoryAttributor | None = None,
        pause: Pause | None = None,
        complete: bool = True,
        missing_too: bool = False,
        runner: JobRunner | None = None,
    ) -> None:
        self._source, self._parse = source, parse
        self._recipe, self._tools = recipe, tools
        self._store, self._jobs, self._worker = store, jobs, worker
        self._weaver, self._complete = weaver, complete
        self._pause = pause or partial(asyncio.sleep, PAUSE)
        self._missing_too = missing_too
        self._runner = runner or LocalRunner(parse, recipe, tools)
        self._looked: ManuscriptScan | None = None
        self._name = partial(build_recipe_name, parse, recipe, tools)

    async def process(
        self, emit: EmitIngestEvent, *, dry_run: bool = False, verify: bool = False
    ) -> IngestReport:
        """Bring the library up to date, and say what was done: see `read`, `weave`.

        Raises:
            NotFound: The manuscript is not where it was said to be.
            StoreProblem: The library cannot be read or written.
        """
        report = await self.read(emit, dry_run=dry_run, verify=verify)
        if not dry_run:
            report.woven = await self.weave()
        return report

    async def read(
        self, emit: EmitIngestEvent, *, dry_run: bool = False, verify: bool = False
    ) -> IngestReport:
        """Read what is new or changed, and forget what is gone: all can be searched.

        `dry_run` writes nothing. `verify` reads every file, even those that seem
        unchanged. A document that cannot be read is reported and left as it was. One
        that another process works on is waited for. What a `look` found is read once
        without looking again. Nothing is woven yet.

        Raises:
            NotFound: The manuscript is not where it was said to be.
            StoreProblem: The library cannot be read or written.
        """
        looked, self._looked = self._looked, None
        if looked is None or verify:
            looked = await self._look(verify=verify)
        todo = await plan_ingestion(looked, self._name(), self._source)
        listing, gone = looked.listing, looked.changes.gone
        report = IngestReport(
            dry_run=dry_run,
            found=len(listing.found),
            unchanged=len(looked.changes.unchanged) + todo.touched,
            model=self._recipe.model,
            renamed=dict(todo.renamed),
            skipped=listing.skipped,
        )
        if looked.changes.never_here:
            report.remarks.append(
                describe_files_of_other_machines(looked.changes.never_here)
            )
        if todo.moved and not dry_run:
            await self._store.touch(self._recipe.pipeline, todo.moved)
        emit(IngestPlanned(len(todo.documents), len(gone), report.unchanged))
        if dry_run:
            source, parse, tools = self._source, self._parse, self._tools
            documents, recipe = todo.documents, self._recipe
            await estimate_ingestion(documents, source, parse, recipe, tools, report)
            report.forgotten = len(gone)
        else:
            await self._work(
                todo.documents, gone, listing, IngestProgress(report, emit)
            )
            report.remarks.sort()
            report.problems.sort(key=lambda problem: problem.document)
        return report

    async def weave(self) -> AttributionSummary | None:
        """Weave the cast into all that was read; None where nothing is woven.

        Whatever is read meanwhile is woven by the next call, in any process.

        Raises:
            SettingsProblem: The file of the writer's decisions is broken.
            StoreProblem: The library cannot be read or written.
        """
        return None if self._weaver is None else await self._weaver.weave()

    async def look(self) -> DocumentChanges:
        """Compare the manuscript with the library, reading no file.

        Raises:
            NotFound: The manuscript is not where it was said to be.
            StoreProblem: The library cannot be read.
        """
        self._looked = await self._look(verify=False)
        return self._looked.changes

    async def _look(self, *, verify: bool) -> ManuscriptScan:
        listing = await self._source.list()
        stored_versions = await self._store.seen(self._recipe.pipeline)
        changes = detect_changes(
            stored_versions,
            listing.found,
            recipe=self._name(),
            covers=self._source.covers,
            verify=verify,
            missing_too=self._missing_too,
            content_with="" if self._complete else f"{self._name()}/{UNFINISHED}",
        )
        return ManuscriptScan(listing, stored_versions, changes)

    async def _work(
        self,
        todo: Sequence[DocumentId],
        gone: Sequence[DocumentId],
        listing: SourceListing,
        progress: IngestProgress,
    ) -> None:
        pipeline = self._recipe.pipeline
        orders = [JobOrder(JobKind.PROCESS, document, pipeline) for document in todo]
        orders += [JobOrder(JobKind.FORGET, document, pipeline) for document in gone]
        if orders:
            await self._jobs.enqueue(orders)
        ids = frozenset(file.id for file in listing.found)
        while documents := await self._open({*todo, *gone}):
            async with asyncio.TaskGroup() as group:
                for number in range(self._runner.places):
                    name = f"{self._worker}/{number}"
                    group.create_task(self._work_jobs(name, documents, ids, progress))
            if document_ids := await self._open(documents):
                progress.emit(DocumentsPending(len(document_ids)))
                await self._pause()

    async def _open(self, document_ids: Collection[DocumentId]) -> set[DocumentId]:
        """Return which documents under this source have work that is not done."""
        return {
            job.order.document
            for state in (JobState.PENDING, JobState.RUNNING)
            for job in await self._jobs.jobs(limit=MOST_OPEN, state=state)
            if job.order.pipeline == self._recipe.pipeline
            and (
                job.order.document in document_ids
                or self._source.covers(job.order.document)
            )
        }

    async def _work_jobs(
        self,
        worker: str,
        documents: Collection[DocumentId],
        document_ids: Collection[DocumentId],
        progress: IngestProgress,
    ) -> None:
        claimed = partial(
            self._jobs.claim,
            worker,
            lease=LEASE,
            documents=documents,
            pipeline=self._recipe.pipeline,
        )
        while (claim := await claimed()) is not None:
            try:
                await self._do(claim, document_ids, progress)
            except ServiceUnavailable as error:
                await self._jobs.fail(claim, str(error), error.hint)
                if not isinstance(error, RunnerUnavailable):
                    raise
                progress.away(claim.order.document, error)
            except LrwrError as error:
                await self._jobs.fail(claim, str(error), error.hint)
                progress.failed(claim.order.document, error)
            except asyncio.CancelledError:
                await self._jobs.fail(claim, "It was stopped.", INGEST_AGAIN)
                raise
            except Exception as error:  # noqa: BLE001 - the other files count
                fault = wrap_unexpected_error(claim.order.document, error)
                await self._jobs.fail(claim, str(fault), fault.hint)
                progress.failed(claim.order.document, fault)

    async def _do(
        self,
        claim: JobClaim,
        document_ids: Collection[DocumentId],
        progress: IngestProgress,
    ) -> None:
        is_gone = claim.order.document not in document_ids
        if claim.order.kind is JobKind.FORGET and is_gone:
            await _forget(self._store, claim, progress)
            return
        hold = _ClaimHeartbeat(self._jobs, claim)
        beating = asyncio.create_task(hold.beat())
        try:
            await self._learn(claim, hold, progress)
        except NotFound:
            await _forget(self._store, claim, progress)
        finally:
            beating.cancel()

    async def _learn(
        self, claim: JobClaim, hold: "_ClaimHeartbeat", progress: IngestProgress
    ) -> None:
        document = claim.order.document

        async def report(event: StageStarted | ChunksEmbedded) -> None:
            progress.emit(event)
            await hold.enter(
                event.stage if isinstance(event, StageStarted) else JobStage.EMBED
            )

        await report(StageStarted(document, JobStage.READ))
        content, revision = await self._source.read(document)
        version = DocumentVersion(
            document, revision, sha256(content).hexdigest(), self._name()
        )
        if await self._store.touch(self._recipe.pipeline, [version], claim):
            progress.stood(document)  # another run has read it meanwhile
            return
        read = await self._runner.run(document, content, report)
        knowledge = read.knowledge
        if read.words_only is not None:
            progress.words_only(read.words_only)
        if knowledge.unfinished:
            progress.unread(knowledge.unfinished)
        if knowledge.unfinished or read.words_only is not None:
            version = replace(version, recipe=f"{version.recipe}/{UNFINISHED}")
        await report(StageStarted(document, JobStage.STORE))
        if await self._store.replace(knowledge, version, claim):
            progress.learned(read.counted)
        await self._runner.stored(document)


async def _forget(
    store: KnowledgeStore, claim: JobClaim, progress: IngestProgress
) -> None:
    if await store.forget(claim.order.document, claim):
        progress.forgot(claim.order.document)


class _ClaimHeartbeat:
    """Keeps a claim alive while its worker works, however long a step takes."""

    def __init__(self, jobs: JobQueue, claim: JobClaim) -> None:
        self._jobs = jobs
        self._claim = claim
        self._stage = JobStage.READ

    async def enter(self, stage: JobStage) -> None:
        self._stage = stage
        await self._jobs.renew(self._claim, stage, lease=LEASE)

    async def beat(self) -> None:
        while True:
            await asyncio.sleep(BEAT)
            with suppress(LrwrError):  # the work itself will meet what is wrong
                await self.enter(self._stage)
