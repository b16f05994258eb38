"""Names of the speakers, addressees and narrators whom relation cues and events leave
out.
"""

import json
import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from lrwr.core.adapters.storage.sqlite.checksums import fits_sql
from lrwr.core.adapters.storage.sqlite.database import SqliteDatabase
from lrwr.core.adapters.storage.sqlite.story_rows import spans_from_json
from lrwr.core.model.facts import (
    CUE_PARTIES,
    Certainty,
    CueParty,
    Fact,
    FactAbout,
    LifeEventKind,
)
from lrwr.core.ports.story_stores import DocumentFact

# The quotation of a cue is the last that begins at or before it, unless it ends first;
# that of an event, which is a sentence, may begin anywhere in it.
_CUE_QUOTATIONS = f"""
select {fits_sql("quotation", "q")}, f.document_id, f.char_start, q.spans, q.speaker,
  q.certainty, q.addressee, q.addressee_certainty
from fact f join quotation q on q.n = (
  select n from quotation
  where document_id = f.document_id and char_start <= case f.about
    when 'event' then json_extract(f.spans, '$[0][1]') - 1 else f.char_start end
  order by char_start desc, n desc limit 1
)
where (f.about = 'relation_cue' or f.about = 'event' and f.details like '%"(%)"%')
  and f.document_id in (select value from json_each(?))
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
    relation cues and events; see `StoryStore.facts`.

    Raises:
        StoreProblem: The library cannot be read.
    """
    cued = {str(f.document) for f in facts if has_parties(f)}
    narrated = {str(f.document) for f in facts if f.fact.subject == CueParty.NARRATOR}

    def read(connection: sqlite3.Connection) -> list[DocumentFact]:
        quotations = connection.execute(_CUE_QUOTATIONS, (json.dumps(sorted(cued)),))
        rows = database.decode_rows(quotations, tuple)
        narrators = connection.execute(_NARRATORS, (json.dumps(sorted(narrated)),))
        return _name_all(facts, rows, database.decode_rows(narrators, tuple))

    return await database.read(read)


def has_parties(document_fact: DocumentFact) -> bool:
    """Return whether a fact leaves out somebody whom attribution may know."""
    return bool(_list_parties(document_fact.fact))


def _list_parties(fact: Fact) -> frozenset[str]:
    if fact.about is FactAbout.EVENT:
        return CUE_PARTIES.intersection(fact.all_details("involved"))
    if fact.about is FactAbout.RELATION_CUE:
        return CUE_PARTIES & {fact.subject, fact.detail("target")}
    return frozenset()


def _name_all(
    facts: Sequence[DocumentFact],
    quotations: Iterable[Sequence[Any]],
    narrators: Iterable[tuple[str, str]],
) -> list[DocumentFact]:
    """Return `facts` with names in place of the speakers, addressees and narrators in
    relation cues and events.

    `quotations` are rows of a document, the offset of a cue, and the spans, speaker and
    addressee, each of the two with its certainty, of the quotation there. `narrators`
    are pairs of a document and a name; of several in one document none is used. A cue
    is verified if everybody in it is. An event names nobody who is unknown; who tells
    of an event of their own, or confesses, is named only by a tag.
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
    used = _list_parties(fact)
    if not used:
        return document_fact
    names = dict(parties.get((document, fact.spans[0].start), {}))
    if len(tellers.get(document, ())) == 1:
        names[CueParty.NARRATOR] = (next(iter(tellers[document])), Certainty.VERIFIED)
    is_delicate = bool(fact.detail("told")) or (
        fact.detail("kind") == LifeEventKind.CONFESSED
    )
    named = {
        party: name
        for party, (name, certainty) in names.items()
        if name and (certainty == Certainty.VERIFIED or not is_delicate)
    }
    is_sure = all(names.get(party, ("", ""))[1] == Certainty.VERIFIED for party in used)
    details = tuple(
        (key, named.get(value, value) if key in ("target", "involved") else value)
        for key, value in fact.details
        if key != "involved" or value not in CUE_PARTIES or value in named
    )
    details += tuple(("party", party) for party in sorted(used))
    return DocumentFact(
        document,
        replace(
            fact,
            subject=named.get(fact.subject, fact.subject),
            details=details,
            certainty=_rate_certainty(fact, is_sure),
        ),
    )


def _rate_certainty(fact: Fact, is_sure: bool) -> Certainty:
    """Return how certain a cue is; that of an event does not depend on who speaks."""
    if fact.about is FactAbout.EVENT:
        return fact.certainty
    return Certainty.VERIFIED if is_sure else Certainty.PROBABLE
