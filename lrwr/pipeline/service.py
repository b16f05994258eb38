"""Ingestion: the only code that stores knowledge, and the local job runner."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256

from lrwr.core.model.choices import Pipeline
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.errors import LrwrError, NotFound, ServiceUnavailable
from lrwr.core.model.jobs import (
    STOPPED_ERROR,
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
from lrwr.core.ports.sources import DocumentParser, ManuscriptSource, SkippedFile
from lrwr.core.ports.stores import DocumentVersion, KnowledgeStore
from lrwr.pipeline.changes import (
    MOST_JOBS,
    DecisionOf,
    DocumentChanges,
    ManuscriptScan,
    add_decision,
    describe_missing_documents,
    find_failed,
    plan_ingestion,
    withhold_vanished,
)
from lrwr.pipeline.recipes import Recipe, RecipeTools
from lrwr.pipeline.report import (
    EmitIngestEvent,
    IngestProgress,
    IngestReport,
    describe_scan,
    estimate_ingestion,
    wrap_unexpected_error,
)
from lrwr.pipeline.scan import UNFINISHED, ManuscriptScanner
from lrwr.pipeline.speaker_attribution import AttributionSummary, StoryAttributor

WORKERS = 3
"""Documents processed concurrently: one is parsed or stored while others are embedded."""
LEASE = 10.0
"""Seconds without renewal after which another worker may take a job."""
BEAT = 3.0
"""Seconds between two renewals of a lease."""
PAUSE = 0.25
"""Seconds between two checks of jobs that another process holds."""
INGEST_AGAIN = "Run `lrwr ingest` again."


@dataclass(frozen=True, slots=True)
class _DocumentStatus:
    """The documents that have a file (`existing`), and those in the library
    (`stored`).
    """

    existing: frozenset[DocumentId]
    stored: frozenset[DocumentId]


@dataclass(frozen=True, slots=True)
class LocalRunner:
    """Implements `JobRunner`: parses and processes documents in this process."""

    parse: DocumentParser
    recipe: Recipe
    tools: RecipeTools

    @property
    def places(self) -> int:
        """Maximum number of documents processed concurrently."""
        return WORKERS

    async def run(
        self, document: DocumentId, content: bytes, report: JobProgressCallback
    ) -> JobResult:
        """Return the knowledge extracted from a document with this file content.

        `report` receives the progress. If the embedding model does not answer, the
        result has no vectors, and `words_only` is the error.

        Raises:
            UnreadableDocument: The content does not match the file extension.
        """
        parsed = await asyncio.to_thread(self.parse, document, content)
        await report(StageStarted(document, JobStage.SPLIT))
        try:
            return JobResult(await self.recipe.learn(parsed, self.tools, report))
        except ServiceUnavailable as error:
            return JobResult(await self.recipe.draft(parsed, self.tools), error)

    async def stored(self, document: DocumentId) -> None:
        """Do nothing: this runner does not wait for storage."""
        del document

    async def aclose(self) -> None:
        """Do nothing: no resources are open."""


def build_recipe_name(parse: DocumentParser, recipe: Recipe, tools: RecipeTools) -> str:
    """Return a text that changes with anything besides a document that affects its
    knowledge: parser, splitter, rules and models.
    """
    return f"{parse.revision()}/{recipe.name(tools.embedder)}"


Pause = Callable[[], Awaitable[None]]


class DocumentProcessingService:
    """Updates the library to the present state of the manuscript.

    Work is queued as jobs that any process on the same library may take, so the next
    run continues an interrupted one. `worker` identifies this process to the queue.

    Args:
        pause: Waits between two checks of jobs held by another process.
        complete: Process documents that an earlier run left unfinished.
        forget_missing: Delete all documents without a file: also many at once, and
            those that never had one on this machine.
        runner: Processes documents; this process by default.
        decision_of: Returns what the user decided on how `parse` reads a document.
        is_note: Says which documents are processed first, because a language model that
            reads the story should know their names.
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
        attributor: StoryAttributor | None = None,
        pause: Pause | None = None,
        complete: bool = True,
        forget_missing: bool = False,
        runner: JobRunner | None = None,
        decision_of: DecisionOf | None = None,
        is_note: Callable[[DocumentId], bool] | None = None,
    ) -> None:
        self._source, self._parse = source, parse
        self._recipe, self._tools = recipe, tools
        self._store, self._jobs, self._worker = store, jobs, worker
        self._attributor = attributor
        self._pause = pause or partial(asyncio.sleep, PAUSE)
        self._forget_missing = forget_missing
        self._runner = runner or LocalRunner(parse, recipe, tools)
        self._decision_of = decision_of
        self._is_note = is_note
        self._last_scan: ManuscriptScan | None = None
        self._name = partial(build_recipe_name, parse, recipe, tools)
        self._reading = source, decision_of
        self._find_failed = partial(find_failed, jobs, recipe.pipeline)
        self._scanner = ManuscriptScanner(
            source,
            store,
            recipe.pipeline,
            self._name,
            complete=complete,
            forget_missing=forget_missing,
            decision_of=decision_of,
        )

    @property
    def skipped_files(self) -> tuple[SkippedFile, ...]:
        """The skipped files of the last scan."""
        return self._scanner.skipped_files

    async def process(
        self, emit: EmitIngestEvent, *, dry_run: bool = False, verify: bool = False
    ) -> IngestReport:
        """Run `read` and, unless `dry_run`, `attribute_speakers`; return the report.

        With `verify`, every file is read. Raises what these two methods raise:
        `NotFound`, `SettingsProblem` and `StoreProblem`.
        """
        if self._attributor is not None and not (dry_run or verify):
            changes = self._last_scan.changes if self._last_scan else await self.scan()
            if changes.changed or changes.stale:
                await self._attributor.recall_cast()
        report = await self.read(emit, dry_run=dry_run, verify=verify)
        if not dry_run:
            report.attribution = await self.attribute_speakers()
        return report

    async def read(
        self, emit: EmitIngestEvent, *, dry_run: bool = False, verify: bool = False
    ) -> IngestReport:
        """Process new and changed documents and delete missing ones.

        Many missing documents are not deleted but listed in the report's `missing`.
        Afterwards all documents are searchable; speakers are not attributed yet. A
        document that cannot be read is reported and its stored version remains. Waits
        for documents that another process works on. Uses the result of an earlier
        `scan`, once.

        Args:
            dry_run: Report what would be done; write nothing.
            verify: Read every file, even if its revision is unchanged.

        Raises:
            NotFound: The manuscript folder does not exist.
            StoreProblem: The library cannot be read or written.
        """
        scan, self._last_scan = self._last_scan, None
        if scan is None or verify:
            scan = await self._scanner.scan(verify=verify)
        plan = await plan_ingestion(scan, self._scanner.recipes(), *self._reading)
        gone = scan.changes.gone
        unchanged = {*scan.changes.unchanged, *plan.touched}
        failed = [] if dry_run else await self._find_failed(unchanged)
        report = IngestReport(
            dry_run=dry_run,
            found=len(scan.listing.found),
            unchanged=len(unchanged) - len(failed),
            model=self._recipe.model,
            renamed=dict(plan.renamed),
            skipped=scan.listing.skipped,
            missing=scan.changes.missing,
            remarks=describe_scan(scan),
        )
        if plan.moved and not dry_run:
            await self._store.touch(self._recipe.pipeline, plan.moved)
        documents = [*plan.documents, *failed]
        if self._is_note is not None:
            documents.sort(key=self._is_note, reverse=True)
        emit(IngestPlanned(len(documents), len(gone)))
        if dry_run:
            source, parse, tools = self._source, self._parse, self._tools
            recipe = self._recipe
            await estimate_ingestion(documents, source, parse, recipe, tools, report)
            report.forgotten = len(gone)
            report.deleted = sorted({*gone} - {*plan.renamed.values()})
        else:
            await self._run_jobs(documents, scan, IngestProgress(report, emit))
        if report.missing:
            report.remarks.append(describe_missing_documents(report.missing))
        report.remarks.sort()
        report.problems.sort(key=lambda problem: problem.document)
        return report

    async def attribute_speakers(
        self, *, recalls: bool = False
    ) -> AttributionSummary | None:
        """Update the cast and attribute speakers in all documents whose inputs changed;
        with `recalls`, read the cast if nothing changed, for later calls.

        Returns None without an attributor. Documents stored during this call are
        handled by the next one, in any process.

        Raises:
            SettingsProblem: The canon file is invalid.
            StoreProblem: The library cannot be read or written.
        """
        if self._attributor is None:
            return None
        return await self._attributor.attribute_all(recalls=recalls)

    async def scan(self) -> DocumentChanges:
        """Compare the list of the manuscript's files with the library; reads no file.

        The next call of `read` uses the result instead of scanning again.
        `skipped_files` are the skipped files afterwards.

        Raises:
            NotFound: The manuscript folder does not exist.
            StoreProblem: The library cannot be read.
        """
        self._last_scan = await self._scanner.scan()
        return self._last_scan.changes

    async def _run_jobs(
        self,
        plan: Sequence[DocumentId],
        scan: ManuscriptScan,
        progress: IngestProgress,
    ) -> None:
        pipeline, gone = self._recipe.pipeline, scan.changes.gone
        orders = [JobOrder(JobKind.PROCESS, document, pipeline) for document in plan]
        orders += [JobOrder(JobKind.FORGET, document, pipeline) for document in gone]
        await self._finish_jobs(orders, scan, progress)
        vanished = sorted(progress.vanished)
        if not self._forget_missing and withhold_vanished(vanished, scan):
            progress.record_missing()
        elif vanished:
            forget = [JobOrder(JobKind.FORGET, name, pipeline) for name in vanished]
            await self._finish_jobs(forget, scan, progress)

    async def _finish_jobs(
        self,
        orders: Sequence[JobOrder],
        scan: ManuscriptScan,
        progress: IngestProgress,
    ) -> None:
        """Queue jobs, and run them and unfinished ones until none is left."""
        if orders:
            await self._jobs.enqueue(orders)
        status = _DocumentStatus(
            frozenset(file.id for file in scan.listing.found) - progress.vanished,
            frozenset(version.id for version in scan.seen),
        )
        unfinished = partial(
            _find_unfinished,
            self._jobs,
            self._recipe.pipeline,
            covers=self._source.covers,
        )
        ordered = {order.document for order in orders}
        while documents := await unfinished(ordered):
            async with asyncio.TaskGroup() as group:
                for number in range(self._runner.places):
                    name = f"{self._worker}/{number}"
                    group.create_task(
                        self._run_worker(name, documents, status, progress)
                    )
            if document_ids := await unfinished(documents):
                progress.emit(DocumentsPending(len(document_ids)))
                await self._pause()

    async def _run_worker(
        self,
        worker: str,
        documents: Collection[DocumentId],
        status: "_DocumentStatus",
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
                await self._run_job(claim, status, progress)
            except ServiceUnavailable as error:
                await self._jobs.fail(claim, str(error), error.hint)
                if not isinstance(error, RunnerUnavailable):
                    raise
                progress.record_waiting(claim.order.document, error)
            except LrwrError as error:
                await self._jobs.fail(claim, str(error), error.hint)
                progress.record_failure(claim.order.document, error)
            except asyncio.CancelledError:
                await self._jobs.fail(claim, STOPPED_ERROR, INGEST_AGAIN)
                raise
            except Exception as error:  # noqa: BLE001 - one bad file must not stop the others
                fault = wrap_unexpected_error(claim.order.document, error)
                await self._jobs.fail(claim, str(fault), fault.hint)
                progress.record_failure(claim.order.document, fault)

    async def _run_job(
        self,
        claim: JobClaim,
        status: "_DocumentStatus",
        progress: IngestProgress,
    ) -> None:
        is_gone = claim.order.document not in status.existing
        if claim.order.kind is JobKind.FORGET and is_gone:
            await _delete(self._store, claim, progress)
            return
        heartbeat = _ClaimHeartbeat(self._jobs, claim)
        beating = asyncio.create_task(heartbeat.beat())
        try:
            await self._process(claim, heartbeat, progress)
        except NotFound as error:
            if claim.order.document not in status.stored:
                await _delete(self._store, claim, progress)
                return
            await self._jobs.fail(claim, str(error), error.hint)
            progress.vanished.add(claim.order.document)
        finally:
            beating.cancel()

    async def _process(
        self, claim: JobClaim, heartbeat: "_ClaimHeartbeat", progress: IngestProgress
    ) -> None:
        document = claim.order.document

        async def report(event: StageStarted | ChunksEmbedded) -> None:
            progress.emit(event)
            await heartbeat.enter(
                event.stage if isinstance(event, StageStarted) else JobStage.EMBED
            )

        await report(StageStarted(document, JobStage.READ))
        content, revision = await self._source.read(document)
        recipe = add_decision(self._name(), document, self._decision_of)
        digest = sha256(content).hexdigest()
        version = DocumentVersion(document, revision, digest, recipe)
        if await self._store.touch(self._recipe.pipeline, [version], claim):
            progress.count_unchanged(
                document
            )  # another process has ingested it meanwhile
            return
        read = await self._runner.run(document, content, report)
        knowledge = read.knowledge
        if read.words_only is not None:
            progress.remark_without_vectors(read.words_only)
        if knowledge.unfinished:
            progress.remark_not_analysed(knowledge.unfinished)
        if knowledge.unfinished or read.words_only is not None:
            recipe = f"{self._name()}/{UNFINISHED}"
            recipe = add_decision(recipe, document, self._decision_of)
            version = replace(version, recipe=recipe)
        await report(StageStarted(document, JobStage.STORE))
        if await self._store.replace(knowledge, version, claim):
            progress.count_processed(read.counted)
        await self._runner.stored(document)


async def _find_unfinished(
    jobs: JobQueue,
    pipeline: Pipeline,
    documents: Collection[DocumentId],
    covers: Callable[[DocumentId], bool],
) -> set[DocumentId]:
    """Return `documents`, and others covered by the source, that have unfinished jobs."""
    return {
        job.order.document
        for state in (JobState.PENDING, JobState.RUNNING)
        for job in await jobs.jobs(limit=MOST_JOBS, state=state)
        if job.order.pipeline == pipeline
        and (job.order.document in documents or covers(job.order.document))
    }


async def _delete(
    store: KnowledgeStore, claim: JobClaim, progress: IngestProgress
) -> None:
    if await store.forget(claim.order.document, claim):
        progress.count_deleted(claim.order.document)


class _ClaimHeartbeat:
    """Renews the lease of a claimed job while its worker runs."""

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
            with suppress(LrwrError):  # the job itself reports store errors
                await self.enter(self._stage)
