"""Names of the speakers, addressees and narrators whom relation cues leave out."""

import json
import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from lrwr.core.adapters.storage.sqlite.checksums import fits_sql
from lrwr.core.adapters.storage.sqlite.database import SqliteDatabase
from lrwr.core.adapters.storage.sqlite.story_rows import spans_from_json
from lrwr.core.model.facts import CUE_PARTIES, Certainty, CueParty, FactAbout
from lrwr.core.ports.story_stores import DocumentFact

# The quotation of a cue is the last that begins at or before it, unless it ends first.
_CUE_QUOTATIONS = f"""
select {fits_sql("quotation", "q")}, f.document_id, f.char_start, q.spans, q.speaker,
  q.certainty, q.addressee, q.addressee_certainty
from fact f join quotation q on q.n = (
  select n from quotation
  where document_id = f.document_id and char_start <= f.char_start
  order by char_start desc, n desc limit 1
)
where f.about = 'relation_cue' and f.document_id in (select value from json_each(?))
"""
_NARRATORS = f"""
select {fits_sql("quotation")}, document_id, speaker from quotation
where document_id in (select value from json_each(?))
  and cue = 'narrator' and speaker <> ''
"""


async def load_cue_parties(
    database: SqliteDatabase, facts: Sequence[DocumentFact]
) -> list[DocumentFact]:
    """Return `facts` with names in place of the speakers, addressees and narrators in
    relation cues; see `StoryStore.facts`.

    Raises:
        StoreProblem: The library cannot be read.
    """
    cues = [f for f in facts if f.fact.about is FactAbout.RELATION_CUE]
    cued = {str(f.document) for f in cues}
    narrated = {str(f.document) for f in facts if f.fact.subject == CueParty.NARRATOR}

    def read(connection: sqlite3.Connection) -> list[DocumentFact]:
        quotations = connection.execute(_CUE_QUOTATIONS, (json.dumps(sorted(cued)),))
        rows = database.decode_rows(quotations, tuple)
        narrators = connection.execute(_NARRATORS, (json.dumps(sorted(narrated)),))
        return _name_all(facts, rows, database.decode_rows(narrators, tuple))

    return await database.read(read)


def _name_all(
    facts: Sequence[DocumentFact],
    quotations: Iterable[Sequence[Any]],
    narrators: Iterable[tuple[str, str]],
) -> list[DocumentFact]:
    """Return `facts` with names in place of the speakers, addressees and narrators in
    relation cues.

    `quotations` are rows of a document, the offset of a cue, and the spans, speaker and
    addressee, each of the two with its certainty, of the quotation there. `narrators`
    are pairs of a document and a name; of several in one document none is used. A cue
    is verified if everybody in it is.
    """
    parties: dict[tuple[str, int], Mapping[str, tuple[str, str]]] = {}
    for document, start, spans, speaker, certainty, addressee, heard in quotations:
        if spans_from_json(spans)[-1].end >= start:
            parties[document, start] = {
                CueParty.SPEAKER: (speaker, certainty),
                CueParty.ADDRESSEE: (addressee, heard),
            }
    tellers: dict[str, set[str]] = {}
    for document, name in narrators:
        tellers.setdefault(document, set()).add(name)
    return [_name_parties(fact, parties, tellers) for fact in facts]


def _name_parties(
    document_fact: DocumentFact,
    parties: Mapping[tuple[str, int], Mapping[str, tuple[str, str]]],
    tellers: Mapping[str, Collection[str]],
) -> DocumentFact:
    document, fact = document_fact.document, document_fact.fact
    used = {fact.subject, fact.detail("target")} & CUE_PARTIES
    if fact.about is not FactAbout.RELATION_CUE or not used:
        return document_fact
    names = dict(parties.get((document, fact.spans[0].start), {}))
    if len(tellers.get(document, ())) == 1:
        names[CueParty.NARRATOR] = (next(iter(tellers[document])), Certainty.VERIFIED)
    named = {party: name for party, (name, _) in names.items() if name}
    is_sure = all(names.get(party, ("", ""))[1] == Certainty.VERIFIED for party in used)
    details = tuple(
        (key, named.get(value, value) if key == "target" else value)
        for key, value in fact.details
    )
    details += tuple(("party", party) for party in sorted(used))
    return DocumentFact(
        document,
        replace(
            fact,
            subject=named.get(fact.subject, fact.subject),
            details=details,
            certainty=Certainty.VERIFIED if is_sure else Certainty.PROBABLE,
        ),
    )
