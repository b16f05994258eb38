"""Tags before the words: Nell said, "…"; Nell, who had come in, asked: "…"."""

import re
from collections.abc import Mapping, Sequence

from lrwr.core.model.text import Span
from lrwr.core.nlp.dialogue.lexicon import SPEECH_VERBS
from lrwr.core.nlp.dialogue.subjects import (
    Person,
    Token,
    read_owner,
    read_person,
    read_tokens,
)
from lrwr.core.nlp.dialogue.tag_patterns import (
    GOES_ON,
    LINKS,
    PREPOSITIONS,
    UNDER,
    Strength,
    Tag,
    last_sentence,
    may_lead,
    spoken_to,
)
from lrwr.core.nlp.dialogue.turns import Page

_HANDS_OVER = re.compile(r"(?:[:,—–-]|\b(?:that|said|was))[\s*_(]*$")
_TAIL = 14
_HELPING = (
    "had has would could did at last only then thus never always immediately "
    "again also once first just now even still soon to"
)
_AUXILIARY = frozenset(_HELPING.split())
_BEFORE_INVERTED = frozenset({*",;:—–", "--", "and", "thus", "so", "then", "but"})


def tag_before(page: Page, span: Span) -> Tag | None:
    """Read the sentence that leads up to the words."""
    sentence = last_sentence(page.masked, span)
    words = page.masked[sentence.start : sentence.end]
    if not words.strip(" \t\n>*_"):
        return None
    tokens = read_tokens(page.masked, sentence.start, sentence.end)
    verb = _last_verb(tokens) if _HANDS_OVER.search(words) else None
    if verb is None:
        return _without_verb(tokens, page.who, words)
    found = _inverted(tokens, verb, page.who) or _verb_subject(tokens, verb, page.who)
    if found is None:
        return None
    return Tag(
        found[0],
        found[1],
        tokens[verb].lower() in GOES_ON,
        spoken_to(tokens, verb + 1, page.who),
    )


def _without_verb(
    tokens: Sequence[Token], who: Mapping[int, str], words: str
) -> Tag | None:
    """Read "Nell’s answer was,", "Nell turned to him:", "Nell looked up."."""
    for at in range(len(tokens) - 1, max(-1, len(tokens) - 10), -1):
        person = read_owner(tokens, at, who)
        if person is not None:
            return Tag(
                person, Strength.SURE if len(tokens) - at < 8 else Strength.LIKELY
            )
    subject = _subject(tokens, len(tokens), who)
    if subject is None:
        return None
    colon = words.rstrip(" *_").endswith(":")
    return Tag(subject, Strength.LIKELY if colon else Strength.BEAT)


def _inverted(
    tokens: Sequence[Token], verb: int, who: Mapping[int, str]
) -> tuple[Person, Strength] | None:
    """Read "…, and thus spoke Nell:"."""
    read = read_person(tokens, verb + 1, who)
    if read is None or not _ends_clause(tokens, read[1]):
        return None
    if verb and tokens[verb - 1].lower() not in _BEFORE_INVERTED:
        return None
    return read[0], Strength.SURE


def _verb_subject(
    tokens: Sequence[Token], verb: int, who: Mapping[int, str]
) -> tuple[Person, Strength] | None:
    """Find the subject of the verb of speech at `verb`.

    It stands right before the verb ("that Nell added"), or before what is set between
    commas ("Nell, who had come in, asked"), or leads the clause.
    """
    last = verb
    while last > 0 and _helps_verb(tokens[last - 1]):
        last -= 1
    comma = last > 0 and tokens[last - 1] == ","
    for person, start, after in reversed(_persons(tokens, last, who)):
        if after == last:
            return person, Strength.SURE
        aside = after < len(tokens) and tokens[after] == ","
        relative = "who" in tokens[after : after + 2]
        if relative or (comma and aside and may_lead(tokens, start)):
            return person, Strength.SURE if len(
                tokens
            ) - verb <= _TAIL else Strength.LIKELY
    subject = _subject(tokens, verb, who)
    return (subject, Strength.LIKELY) if subject else None


def _helps_verb(token: Token) -> bool:
    word = token.lower()
    return word in _AUXILIARY or word.endswith("ly") or word in SPEECH_VERBS


def _persons(
    tokens: Sequence[Token], end: int, who: Mapping[int, str]
) -> list[tuple[Person, int, int]]:
    """Return every person before `end`, with where they begin and end."""
    found = []
    at = 0
    while at < end:
        read = read_person(tokens, at, who)
        if read is None:
            at += 1
            continue
        found.append((read[0], at, read[1]))
        at = max(read[1], at + 1)
    return found


def _ends_clause(tokens: Sequence[Token], at: int) -> bool:
    return at >= len(tokens) or tokens[at] in {",", ":", "—", "--", "–", "-"}


def _last_verb(tokens: Sequence[Token]) -> int | None:
    for at in range(len(tokens) - 1, -1, -1):
        if tokens[at].lower() in SPEECH_VERBS:
            return at
    return None


def _subject(
    tokens: Sequence[Token], end: int, who: Mapping[int, str]
) -> Person | None:
    """Find the subject of the last main clause before `end`.

    A name behind a preposition, a verb or a word like "that" is no subject; nor is one
    that stands between commas right behind another: Nell, the miller's daughter.
    """
    found: Person | None = None
    found_end = -2
    for person, start, after in _persons(tokens, end, who):
        if _is_subject(tokens, start, found_end):
            found, found_end = person, after
    return found


def _is_subject(tokens: Sequence[Token], at: int, found_end: int) -> bool:
    if at == 0:
        return True
    before = tokens[at - 1].lower()
    if before == "," and found_end == at - 1:
        return False
    if before == "and" and at >= 2:
        return found_end != at - 1 and may_lead(tokens, at)
    if before in LINKS:
        return found_end < 0 or before in {
            ";",
            "and",
            "but",
            "then",
            "so",
            ":",
            "—",
            "--",
        }
    return before.endswith("ly") or (
        found_end < 0 and at <= 3 and before not in UNDER and before not in PREPOSITIONS
    )
