import pytest

from lrwr.core.adapters.storage.supabase.replica import (
    FRESH_SECONDS,
    UNREACHABLE_PAUSE,
    ReplicaRefresher,
)
from lrwr.core.model.errors import LrwrError, ServiceUnavailable
from tests.fakes.records import Clock


class Replica:
    """Counts how often it catches up."""

    def __init__(self) -> None:
        self.looks = 0
        self.error: LrwrError | None = None

    async def catch_up(self) -> int:
        self.looks += 1
        if self.error is not None:
            raise self.error
        return 0


async def test_a_replica_catches_up_at_most_every_few_seconds() -> None:
    replica, clock = Replica(), Clock()
    refresh = ReplicaRefresher(replica.catch_up, pytest.fail, clock=clock)
    for _ in range(3):
        await refresh()
        await refresh()
        clock.time += FRESH_SECONDS
    assert replica.looks == 3


async def test_a_project_that_did_not_answer_is_asked_again_after_a_minute() -> None:
    replica, clock, notices = Replica(), Clock(), list[str]()
    replica.error = ServiceUnavailable("It is gone", hint="Wait.")
    refresh = ReplicaRefresher(replica.catch_up, notices.append, clock=clock)
    await refresh()
    clock.time += UNREACHABLE_PAUSE - 1
    await refresh()
    assert (replica.looks, len(notices)) == (1, 1)
    clock.time += 1
    await refresh()
    assert (replica.looks, len(notices)) == (2, 1)
