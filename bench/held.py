"""Reads the content of a library's tables, to compare it with another library's."""

import sqlite3
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

SHOWN = 300
"""Characters of a row that differs."""

KEPT = {
    "documents": "select id, type, title, words, text, chapters from document",
    "read": "select document_id, pipeline, content, recipe from processed",
    "chunks": "select id, document_id, ordinal, char_start, char_end, line_first,"
    " line_last, chapter, scene, kind, tokens, space, text_hash, lead, heading, text"
    " from chunk",
    "vectors": "select c.id, hex(e.vector) from chunk c join embedding e"
    " on e.space = c.space and e.text_hash = c.text_hash",
    "words": "select c.id, f.term, f.col, f.offset from chunk c join temp.terms f"
    " on f.doc = c.n",
}

KEPT_OF_STORY = {
    "names": "select id, names from chunk",
    "distances": "select document_id, space, key, distance from seam",
    "readings": "select document_id, evidence, noted from reading",
    "facts": "select document_id, about, subject, field, value, keeper, certainty,"
    " char_start, reach, spans, details from fact",
    "words of facts": "select f.document_id, f.field, f.char_start, t.term, t.col"
    " from fact f join temp.fact_terms t on t.doc = f.n",
    "cast": 'select "cast" from story',
    "woven": "select document_id, revision from woven",
    "quotations": "select document_id, spans, speaker, certainty, cue, addressee,"
    " addressee_certainty, mentions from quotation",
    "appearances": "select chunk_id, character, role, count from appearance",
    "first mentions": "select document_id, character, alias, char_start, char_end,"
    " mentions from first_seen",
}
"""What pipeline b keeps besides."""


def read_holdings(database: Path, pipeline: str) -> dict[str, list[tuple[object, ...]]]:
    """Return the rows of a library to compare, sorted, by the name of the comparison.

    `database` is its SQLite file. `pipeline` is `a` or `b`; the story data is included
    for `b` only.
    """
    wanted = KEPT if pipeline == "a" else {**KEPT, **KEPT_OF_STORY}
    tables = {"terms": f"chunk_fts_{pipeline}", "fact_terms": "fact_fts"}
    with sqlite3.connect(database) as connection:
        for name, table in tables.items():
            connection.execute(
                f"create virtual table temp.{name} using"
                f" fts5vocab('main', '{table}', 'instance')"
            )
        found = {name: sorted(connection.execute(sql)) for name, sql in wanted.items()}
    connection.close()
    return found


def find_differences(one: Sequence[object], other: Sequence[object]) -> list[str]:
    """Return at most three rows that only `one` has, and three that only `other` has.

    Rows are compared by their `repr`, which is the result, cut after `SHOWN`
    characters. The former start with "- ", the latter with "+ ".
    """
    left, right = Counter(map(repr, one)), Counter(map(repr, other))
    only = [f"- {row[:SHOWN]}" for row in sorted((left - right).elements())[:3]]
    return only + [f"+ {row[:SHOWN]}" for row in sorted((right - left).elements())[:3]]
