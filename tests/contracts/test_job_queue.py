from lrwr.core.model.choices import Pipeline
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.jobs import JobClaim, JobKind, JobOrder, JobStage, JobState
from tests.fakes.libraries import Library
from tests.fakes.records import ONE, TWO, a_claim, seen, some_chunks, some_knowledge

LEASE = 60.0


def an_order(
    document: DocumentId = ONE,
    kind: JobKind = JobKind.PROCESS,
    pipeline: Pipeline = Pipeline.NAIVE,
) -> JobOrder:
    return JobOrder(kind, document, pipeline)


async def take(library: Library, worker: str = "w") -> JobClaim | None:
    return await library.queue.claim(worker, lease=LEASE)


async def finish(library: Library, claim: JobClaim) -> bool:
    document = claim.order.document
    knowledge = some_knowledge(some_chunks(["Text."], document=document))
    return await library.knowledge.replace(knowledge, seen(document), claim)


async def test_an_empty_queue_has_nothing_to_claim(library: Library) -> None:
    assert await take(library) is None
    assert await library.queue.jobs(limit=9) == []
    assert await library.queue.enqueue([]) == 0


async def test_the_oldest_job_is_claimed_first(library: Library) -> None:
    orders = [an_order(TWO), an_order(ONE)]
    assert await library.queue.enqueue(orders) == 2
    claims = [await take(library), await take(library), await take(library)]
    assert [claim.order if claim else None for claim in claims] == [*orders, None]


async def test_an_order_that_waits_is_not_queued_twice(library: Library) -> None:
    assert await library.queue.enqueue([an_order(), an_order()]) == 1
    assert await library.queue.enqueue([an_order(), an_order(TWO)]) == 1
    assert await library.queue.enqueue([an_order(pipeline=Pipeline.AGENTIC)]) == 1


async def test_a_newer_order_says_what_is_done_with_a_document(
    library: Library,
) -> None:
    await library.queue.enqueue([an_order()])
    assert await library.queue.enqueue([an_order(kind=JobKind.FORGET)]) == 0
    claim = await take(library)
    assert claim is not None
    assert claim.order.kind is JobKind.FORGET
    assert await take(library) is None


async def test_a_document_is_worked_on_by_one_worker_at_a_time(
    library: Library,
) -> None:
    claim = await a_claim(library.queue)
    assert await library.queue.enqueue([an_order(), an_order(TWO)]) == 2
    other = await take(library)
    assert other is not None
    assert other.order.document == TWO
    assert await take(library) is None
    assert await finish(library, claim)
    again = await take(library)
    assert again is not None
    assert again.order.document == ONE
    assert again.job != claim.job


async def test_a_job_shows_who_waits_works_and_is_done(library: Library) -> None:
    await library.queue.enqueue([an_order()])
    (job,) = await library.queue.jobs(limit=9)
    assert (job.state, job.stage, job.attempts) == (JobState.PENDING, None, 0)
    assert job.created == job.updated == library.clock.time
    library.clock.time += 1.0
    claim = await take(library)
    assert claim is not None
    assert await library.queue.renew(claim, JobStage.EMBED, lease=LEASE)
    (job,) = await library.queue.jobs(limit=9, state=JobState.RUNNING)
    assert (job.id, job.order) == (claim.job, claim.order)
    assert (job.stage, job.attempts) == (JobStage.EMBED, 1)
    assert (job.created, job.updated) == (library.clock.time - 1, library.clock.time)
    assert await finish(library, claim)
    (job,) = await library.queue.jobs(limit=9)
    assert (job.state, job.stage) == (JobState.COMPLETE, None)


async def test_jobs_are_listed_newest_first(library: Library) -> None:
    orders = [an_order(DocumentId(f"{n}.md")) for n in range(5)]
    await library.queue.enqueue(orders)
    jobs = await library.queue.jobs(limit=3)
    assert [job.order for job in jobs] == orders[:1:-1]


async def test_a_job_whose_lease_ran_out_goes_to_another(library: Library) -> None:
    claim = await a_claim(library.queue, worker="one")
    library.clock.time += LEASE - 1
    assert await take(library, "two") is None
    library.clock.time += 2
    other = await take(library, "two")
    assert other is not None
    assert (other.job, other.worker) == (claim.job, "two")
    assert not await library.queue.renew(claim, JobStage.SPLIT, lease=LEASE)
    assert not await finish(library, claim)
    assert await finish(library, other)


async def test_a_renewed_lease_lasts(library: Library) -> None:
    claim = await a_claim(library.queue)
    library.clock.time += LEASE - 1
    assert await library.queue.renew(claim, JobStage.READ, lease=LEASE)
    library.clock.time += LEASE - 1
    assert await take(library) is None
    assert await finish(library, claim)


async def test_a_job_that_was_never_finished_fails_the_fourth_time(
    library: Library,
) -> None:
    await library.queue.enqueue([an_order()])
    for _ in range(3):
        assert await take(library) is not None
        library.clock.time += LEASE + 1
    assert await take(library) is None
    (job,) = await library.queue.jobs(limit=9)
    assert (job.state, job.attempts) == (JobState.FAILED, 3)
    assert job.error
    assert job.hint


async def test_a_failed_job_keeps_what_happened_and_can_be_ordered_again(
    library: Library,
) -> None:
    claim = await a_claim(library.queue)
    await library.queue.fail(claim, "It is empty.", "Write something.")
    (job,) = await library.queue.jobs(limit=9, state=JobState.FAILED)
    assert (job.error, job.hint) == ("It is empty.", "Write something.")
    assert not await finish(library, claim)
    assert await library.queue.enqueue([an_order()]) == 1
    assert await take(library) is not None


async def test_a_lost_claim_cannot_fail_the_job(library: Library) -> None:
    claim = await a_claim(library.queue, worker="one")
    library.clock.time += LEASE + 1
    other = await take(library, "two")
    assert other is not None
    await library.queue.fail(claim, "Too late.", "")
    assert await library.queue.jobs(limit=9, state=JobState.FAILED) == []
    assert await finish(library, other)
