"""What one writer keeps in a Supabase project, for others to try to get at."""

import json
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias
from uuid import uuid4

from lrwr.core.adapters.storage.supabase.job_queue import SupabaseJobQueue
from lrwr.core.adapters.storage.supabase.records import (
    SupabaseRecords,
    create_remote_library,
)
from lrwr.core.adapters.storage.supabase.thread_api import ModelReplyRow
from lrwr.core.model.choices import Pipeline
from lrwr.core.model.jobs import JobKind, JobOrder
from tests.fakes.hosted import Writer, asking, sign_up
from tests.fakes.hosted_records import HASH, SPACE, VECTOR, a_record, speak
from tests.fakes.records import ONE
from tests.fakes.supabase_server import SupabaseServer

Json: TypeAlias = Any

OWNED = {
    "lrwr_library": "name",
    "lrwr_thread": "title",
    "lrwr_turn": "question",
    "lrwr_job": "error",
    "lrwr_record": "writer",
    "lrwr_vector": "text_hash",
    "lrwr_reply": "finding",
}
"""The tables of writers' rows, each with a column that may say anything."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The body of the project's response."""

    status: int
    body: Json

    @property
    def refused(self) -> bool:
        """Return whether the project rejected the request."""
        return 400 <= self.status < 500

    @property
    def gave_nothing(self) -> bool:
        """Return whether the response reveals nothing."""
        return self.refused or self.body == []


@dataclass(frozen=True, slots=True)
class GuardedProject:
    """What one writer keeps, a row in each table, and another who would like it."""

    server: SupabaseServer
    owner: Writer
    other: Writer
    library: str
    file: str

    def ask(
        self,
        method: str,
        path: str,
        who: Writer | None,
        body: Json = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Ask the project itself, past lrwr; nobody is the one without an account."""
        raw = isinstance(body, bytes)
        told = body if raw or body is None else json.dumps(body).encode()
        token = {} if who is None else {"Authorization": f"Bearer {who.token}"}
        kind = "application/octet-stream" if raw else "application/json"
        request = urllib.request.Request(
            f"{self.server.url}{path}",
            data=told,
            method=method,
            headers={
                "apikey": self.server.key,
                "Content-Type": kind,
                "Prefer": "return=representation",
                **token,
                **(headers or {}),
            },
        )
        try:
            with urllib.request.urlopen(request) as came:
                return Answer(came.status, _read(came.read()))
        except urllib.error.HTTPError as error:
            with error:
                return Answer(error.code, _read(error.read()))

    def rows(self, *tables: str) -> str:
        """All that the owner has in tables, a line each, whoever asks."""
        asked = (
            "select coalesce(jsonb_agg(to_jsonb(one) order by to_jsonb(one)), '[]')"
            f" from {table} one where owner = '{self.owner.id}';\n"
            for table in tables
        )
        return self.server.postgres.run("".join(asked))


async def guarded_project(server: SupabaseServer) -> GuardedProject:
    """Make two accounts, and a row of the first one's in each table."""
    owner, other = sign_up(server), sign_up(server)
    async with asking(server, owner) as hosted:
        library = await create_remote_library(hosted, "The marsh")
        assert library is not None
        order = JobOrder(JobKind.PROCESS, ONE, Pipeline.NAIVE)
        await SupabaseJobQueue(hosted, library).enqueue([order])
        records = SupabaseRecords(hosted, library, "here")
        await speak(records.threads)
        await records.put_vectors(SPACE, {HASH: VECTOR})
        assert (await records.put(a_record("b/one.md", texts=(HASH,)))).done
        await records.put_replies([ModelReplyRow("paid", 1.0, 2, 3, '"shut"')])
    file = f"{owner.id}/{library}/{uuid4().hex}"
    return GuardedProject(server, owner, other, library, file)


def _read(body: bytes) -> Json:
    try:
        return json.loads(body)
    except ValueError:
        return body
