"""What tags are made of: the words beside a quotation that tell who speaks."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum

from lrwr.core.model.text import Span
from lrwr.core.nlp.dialogue.subjects import (
    PersonMention,
    PersonMentionKind,
    TextToken,
    parse_person_mention,
)
from lrwr.core.nlp.dialogue.turns import MASKED_NAME_CHARACTER

_CONTINUING = (
    "continued continues added adds resumed resumes pursued proceeded repeated "
    "concluded went finished"
)
CONTINUATION_VERBS = frozenset(_CONTINUING.split())
"""Verbs of one who has spoken already."""
_SUBORDINATING = (
    "that who whom which when as while if because though although seeing since "
    "until till where whether how what why after before lest unless than"
)
SUBORDINATORS = frozenset(_SUBORDINATING.split())
"""Words that open a clause under another."""
_STANDS_BEFORE = (
    "to at of with for by from upon on toward towards beside near about behind "
    "like between into over against around round among past through under in "
    "opposite without beyond after before"
)
PREPOSITIONS = frozenset(_STANDS_BEFORE.split())
_STANDS_FOR_NAMES = "he she him her it they them i me we us you"
PRONOUNS = frozenset(_STANDS_FOR_NAMES.split())
COORDINATORS = frozenset({"and", "but", "then", "so", "yet", *",;:—–()*", "--"})
"""What may stand between two clauses of the same rank."""
_ADDRESSES = frozenset({"told", "asked", "begged", "assured", "reminded", "answered"})
_FARTHEST_LISTENER = 8
_SENTENCE = re.compile(r"(?<=[.!?])[\"”’')*_]*\s+(?=[^\W\d_a-z]|\ue000)")


class TagStrength(IntEnum):
    """How much a sentence beside a quotation tells of its speaker."""

    BEAT = 1
    """Somebody does something."""
    LIKELY = 2
    """A verb of speech farther off, or a gesture for one."""
    SURE = 3
    """A verb of speech and its subject, against the quotation."""


@dataclass(frozen=True, slots=True)
class DialogueTag:
    """What a sentence says of the speaker, and of the one spoken to."""

    person: PersonMention
    strength: TagStrength
    goes_on: bool = False
    addressee: PersonMention | None = None


def parse_tag_addressee(
    tokens: Sequence[TextToken], start: int, who: Mapping[int, str]
) -> PersonMention | None:
    """Read "to Nell", "told him"."""
    verb = tokens[start - 1].lower() if start else ""
    if verb in _ADDRESSES:
        read = parse_person_mention(tokens, start, who)
        if read and read[0].kind is PersonMentionKind.NAMED:
            return read[0]
    for at in range(start, min(len(tokens) - 1, start + _FARTHEST_LISTENER)):
        if tokens[at] in {".", ";", "!", "?"}:
            return None
        if tokens[at] in {"to", "addressing"}:
            read = parse_person_mention(tokens, at + 1, who)
            return read[0] if read else None
    return None


def may_start_clause(tokens: Sequence[TextToken], at: int) -> bool:
    """Say whether a person at `at` may begin a clause."""
    if at == 0:
        return True
    before = tokens[at - 1].lower()
    if before == "and" and at >= 2:
        two = tokens[at - 2]
        return two[0] != MASKED_NAME_CHARACTER and two.lower() not in PRONOUNS
    return before in COORDINATORS or before in SUBORDINATORS or before.endswith("ly")


def find_first_sentence(masked: str, span: Span) -> Span:
    """Return the first sentence of a stretch of a page's masked text."""
    end = _SENTENCE.search(masked, span.start, span.end)
    return Span(span.start, end.start() if end else span.end)


def find_last_sentence(masked: str, span: Span) -> Span:
    """Return the last sentence of a stretch of a page's masked text."""
    start = span.start
    for end in _SENTENCE.finditer(masked, span.start, span.end):
        start = end.end()
    return Span(start, span.end)
