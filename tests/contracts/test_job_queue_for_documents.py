from lrwr.core.model.choices import Pipeline
from lrwr.core.model.jobs import JobClaim, JobKind, JobOrder
from tests.fakes.libraries import Library
from tests.fakes.records import ONE, TWO

LEASE = 60.0


async def take(library: Library, *documents: str) -> JobClaim | None:
    wanted = {document for document in (ONE, TWO) if document in documents}
    return await library.queue.claim("w", lease=LEASE, documents=wanted)


async def order_both(library: Library) -> None:
    orders = [JobOrder(JobKind.PROCESS, d, Pipeline.NAIVE) for d in (ONE, TWO)]
    await library.queue.enqueue(orders)


async def test_a_worker_takes_only_what_it_asks_for(library: Library) -> None:
    await order_both(library)
    assert await take(library) is None
    claim = await take(library, TWO)
    assert claim is not None
    assert claim.order.document == TWO
    assert await take(library, TWO) is None
    claim = await take(library, ONE, TWO)
    assert claim is not None
    assert claim.order.document == ONE


async def test_what_another_left_is_taken_only_by_who_asks_for_it(
    library: Library,
) -> None:
    await order_both(library)
    assert await take(library, ONE) is not None
    library.clock.time += LEASE + 1
    claim = await take(library, TWO)
    assert claim is not None
    assert claim.order.document == TWO
    again = await take(library, ONE, TWO)
    assert again is not None
    assert (again.order.document, again.attempt) == (ONE, 2)


async def test_a_worker_takes_jobs_of_its_own_pipeline(library: Library) -> None:
    await order_both(library)
    taken = library.queue.claim("w", lease=LEASE, pipeline=Pipeline.AGENTIC)
    assert await taken is None
    claim = await library.queue.claim("w", lease=LEASE, pipeline=Pipeline.NAIVE)
    assert claim is not None
