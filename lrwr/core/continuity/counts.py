"""How many of a thing the story says there are: rungs in a ladder, windows in a room."""

import re
from collections.abc import Iterator
from functools import lru_cache

from lrwr.core.bible.horizon import HorizonView
from lrwr.core.continuity.normalize import parse_value_number
from lrwr.core.continuity.statements import Statement
from lrwr.core.continuity.surroundings import (
    find_enclosing_sentence,
    is_asserted_in_context,
    mentions_change,
)
from lrwr.core.continuity.values import StatementSource
from lrwr.core.model.certainty import Certainty
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.facts import RULES_KEEPER, WRITER_KEEPER
from lrwr.core.model.query_terms import stem_lightly
from lrwr.core.model.text import Span
from lrwr.core.nlp.facts.appearance_words import NUMBER
from lrwr.core.nlp.text.prose import find_quoted_spans

QUANTITY_ATTRIBUTE = "number"

COUNT_CACHE_SIZE = 4_096
"""Texts of which a process remembers the counts: a watch looks at all after each save,
and all but one say what they said before."""

_FIXED = (
    "rungs|steps|stairs|windows|doors|floors|storeys|stories|rooms|towers|gates|arches|"
    "pillars|columns|bells|strings|masts|decks|panes|turrets|spires|chimneys|spokes|"
    "shelves|drawers|strands|links|rivets"
)
"""What a thing has the same number of for as long as it stands."""

_PLACE = r"(?:the|its|his|her) (?P<place>[a-z][\w-]*(?: of (?:the )?[A-Z][\w-]*(?: [A-Z][\w-]*)*)?)"
_COUNTS = (
    re.compile(
        rf"\b[Tt]here (?:were|are) (?P<number>{NUMBER}) (?:[a-z]+ )?(?P<noun>{_FIXED}) "
        rf"(?:in|on|of|to) {_PLACE}",
    ),
    re.compile(
        rf"\b[Tt]he (?P<number>{NUMBER}) (?P<noun>{_FIXED}) (?:in|of|to|on) {_PLACE}",
    ),
    re.compile(
        rf"\b[Tt]he (?P<place>[a-z][\w-]*)(?: (?:to|of|in|at) [A-Z][\w -]*?)? "
        rf"(?:had|has) (?P<number>{NUMBER}) (?:[a-z]+ )?(?P<noun>{_FIXED})\b",
    ),
)


def find_quantity_statements(sight: HorizonView) -> list[Statement]:
    """Return how many of a thing there are, by the writer and by the narrator."""
    found = [one for document in sight.texts for one in _in(document, sight)]
    return sorted(found, key=lambda one: one.rank)


def _in(document: DocumentId, sight: HorizonView) -> Iterator[Statement]:
    text = sight.texts[document].text
    hits = _hits(text)
    if not hits or not sight.opens(document):
        return
    told = sight.tells(document)
    quoted = list(find_quoted_spans(text)) if told else []
    for found in hits:
        span = Span(*found.span())
        if any(q.start < span.end and span.start < q.end for q in quoted):
            continue
        if not is_asserted_in_context(text, span) or mentions_change(text, span):
            continue
        yield _statement(document, found, sight)


@lru_cache(maxsize=COUNT_CACHE_SIZE)
def _hits(text: str) -> tuple[re.Match[str], ...]:
    hits = (found for pattern in _COUNTS for found in pattern.finditer(text))
    return tuple(sorted(hits, key=lambda one: one.start()))


def _statement(
    document: DocumentId, found: re.Match[str], sight: HorizonView
) -> Statement:
    told, span = sight.tells(document), Span(*found.span())
    whole = find_enclosing_sentence(sight.texts[document].text, span)
    noun, place = stem_lightly(found["noun"]), found["place"]
    return Statement(
        about=f"{place.partition(' of ')[0].casefold()}",
        attribute=f"{QUANTITY_ATTRIBUTE} of {noun}s",
        value=found["number"],
        source=StatementSource.TEXT if told else StatementSource.NOTE,
        certain=parse_value_number(found["number"]) is not None,
        rank=sight.key(document, span.start),
        evidence=sight.evidence(
            document,
            (whole,),
            RULES_KEEPER if told else WRITER_KEEPER,
            Certainty.VERIFIED if told else Certainty.CONFIRMED,
        ),
        span=span,
    )
