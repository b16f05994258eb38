"""What the library holds of single documents."""

import sqlite3
from collections.abc import Collection, Mapping

from lrwr.core.adapters.records.sqlite.database import Database
from lrwr.core.adapters.records.sqlite.readings import fact_of
from lrwr.core.model.chunks import Pipeline
from lrwr.core.model.documents import DocumentId
from lrwr.core.ports.holding_store import Held, HeldFact

_TEXT = """
select d.text from document d join processed p on p.document_id = d.id
where d.id = ? and p.pipeline = ?
"""

_PASSAGES = (
    "select text from chunk where document_id = ? and pipeline = ? order by ordinal"
)

_FACTS = """
select about, subject, field, value, keeper, certainty, reach, spans, details
from fact where document_id = ? and about not in ('passage', 'scene')
order by char_start, n
"""

_PEOPLE = "select distinct character from first_seen where document_id = ?"


class SqliteHoldingStore:
    """Keeps the `HoldingStore` port."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def held(
        self, documents: Collection[DocumentId], pipeline: Pipeline
    ) -> Mapping[DocumentId, Held]:
        """Return what a pipeline knows of these documents."""

        def read(connection: sqlite3.Connection) -> dict[DocumentId, Held]:
            found = {one: _held(connection, one, pipeline) for one in documents}
            return {one: held for one, held in found.items() if held is not None}

        return await self._database.read(read)


def _held(
    connection: sqlite3.Connection, document: DocumentId, pipeline: Pipeline
) -> Held | None:
    row = connection.execute(_TEXT, (document, pipeline.value)).fetchone()
    if row is None:
        return None
    passages = connection.execute(_PASSAGES, (document, pipeline.value))
    texts = tuple(text for (text,) in passages)
    if pipeline is Pipeline.NAIVE:
        return Held(texts)
    facts = (fact_of(tuple(row)) for row in connection.execute(_FACTS, (document,)))
    return Held(
        passages=texts,
        facts=tuple(
            HeldFact(fact, " ".join(row[0][s.start : s.end] for s in fact.spans[:1]))
            for fact in facts
        ),
        people=frozenset(who for (who,) in connection.execute(_PEOPLE, (document,))),
    )
