"""Other processes of one library in Supabase.

Run as `python -m tests.fakes.hosted_workers`; the first line on stdin says where, as
JSON, the second is the sign to go. Each says on stdout which jobs it finished.
"""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from lrwr.core.adapters.auth.project import SupabaseConnection
from lrwr.core.adapters.storage.supabase.job_queue import SupabaseJobQueue
from lrwr.core.adapters.storage.supabase.rpc import SupabaseRpc

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Place:
    """One library, and what proves who asks."""

    url: str
    key: str
    token: str
    library: str


@contextmanager
def claiming(place: Place, count: int) -> "Iterator[list[subprocess.Popen[str]]]":
    """Run processes that claim jobs once they are told to; what is left is ended."""
    started = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.fakes.hosted_workers"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(count)
    ]
    try:
        for process in started:
            assert process.stdin is not None
            process.stdin.write(json.dumps(asdict(place)) + "\n")
            process.stdin.flush()
        yield started
    finally:
        for process in started:
            process.kill()
            process.communicate()


def say(word: object) -> None:
    """Write a line that the other process reads at once."""
    sys.stdout.write(f"{word}\n")
    sys.stdout.flush()


async def claim_jobs(place: Place) -> None:
    """Claim and finish jobs until none is left."""

    async def token() -> str:
        return place.token

    hosted = SupabaseRpc(SupabaseConnection(place.url, place.key, own=True), token)
    queue = SupabaseJobQueue(hosted, place.library)
    await queue.jobs(limit=1)  # everything is imported and connected
    say("ready")
    sys.stdin.readline()
    while claim := await queue.claim(f"w/{os.getpid()}", lease=60.0):
        assert await queue.complete(claim)
        say(claim.job)
    await hosted.aclose()


if __name__ == "__main__":
    asyncio.run(claim_jobs(Place(**json.loads(sys.stdin.readline()))))
