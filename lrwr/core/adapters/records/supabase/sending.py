"""Sending a document's record with all vectors that it needs."""

import json
import sqlite3
from collections.abc import Collection, Mapping

from lrwr.core.adapters.records.sqlite.database import Database
from lrwr.core.adapters.records.sqlite.drafts import Draft, Embedding
from lrwr.core.adapters.records.supabase.bodies import record_of
from lrwr.core.adapters.records.supabase.following import VECTORS_AT_ONCE, batches
from lrwr.core.adapters.records.supabase.records import Put, SupabaseRecords
from lrwr.core.model.errors import StoreProblem
from lrwr.core.model.jobs import Claim

_TRIES = 3
"""Vectors that nobody uses may be swept while a record is on its way."""

_VECTORS = """
select space, text_hash, vector from embedding
where space = ? and text_hash in (select value from json_each(?))
"""


async def put_with_vectors(
    database: Database,
    records: SupabaseRecords,
    draft: Draft,
    known: Mapping[str, bytes] | None = None,
    claim: Claim | None = None,
    if_digest: str | None = None,
) -> tuple[Put, Draft]:
    """Put a document's record, after those of its vectors that the project lacks.

    Vectors are those `known`, by hash of their text, else those in the file. A text
    with neither counts as never embedded. With `if_digest` it takes the place of that
    record alone. Returns what became of it, and the draft as it was sent.

    Raises:
        LrwrError: The project cannot be asked, or refuses.
    """
    vectors = dict(known or {})
    others = sorted(draft.texts - vectors.keys())
    here = await database.read(lambda one: _stored(one, draft.space, others))
    draft = draft.embedded({*vectors, *(text for _, text, _ in here)})
    vectors |= {text: vector for _, text, vector in here}
    wanted = sorted(draft.texts)
    lacking = await records.missing(draft.space, wanted) if wanted else []
    for _ in range(_TRIES):
        for some in batches(lacking, VECTORS_AT_ONCE):
            await records.put_vectors(draft.space, {one: vectors[one] for one in some})
        put = await records.put(record_of(draft), claim=claim, if_digest=if_digest)
        if not put.missing:
            return put, draft
        lacking = list(put.missing)
    raise StoreProblem(
        f"The project loses the vectors of {draft.id} as soon as it has them",
        hint="Run the command again; if that does not help, tell the makers of lrwr.",
    )


def _stored(
    connection: sqlite3.Connection, space: str, texts: Collection[str]
) -> list[Embedding]:
    asked = (space, json.dumps(list(texts)))
    return connection.execute(_VECTORS, asked).fetchall()
