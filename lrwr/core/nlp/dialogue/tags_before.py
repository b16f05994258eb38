"""Tags before the words: Nell said, "…"; Nell, who had come in, asked: "…"."""

import re
from collections.abc import Mapping, Sequence

from lrwr.core.model.text import Span
from lrwr.core.nlp.dialogue.lexicon import SPEECH_VERBS
from lrwr.core.nlp.dialogue.subjects import (
    PersonMention,
    TextToken,
    parse_person_mention,
    parse_possessor,
    tokenize_masked_text,
)
from lrwr.core.nlp.dialogue.tag_patterns import (
    CONTINUATION_VERBS,
    COORDINATORS,
    PREPOSITIONS,
    SUBORDINATORS,
    DialogueTag,
    TagStrength,
    find_last_sentence,
    may_start_clause,
    parse_tag_addressee,
)
from lrwr.core.nlp.dialogue.turns import DialoguePage

_HANDS_OVER = re.compile(r"(?:[:,—–-]|\b(?:that|said|was))[\s*_(]*$")
_TAIL = 14
_HELPING = (
    "had has would could did at last only then thus never always immediately "
    "again also once first just now even still soon to"
)
_AUXILIARY = frozenset(_HELPING.split())
_BEFORE_INVERTED = frozenset({*",;:—–", "--", "and", "thus", "so", "then", "but"})


def parse_tag_before(page: DialoguePage, span: Span) -> DialogueTag | None:
    """Read the sentence that leads up to the words."""
    sentence = find_last_sentence(page.masked, span)
    words = page.masked[sentence.start : sentence.end]
    if not words.strip(" \t\n>*_"):
        return None
    tokens = tokenize_masked_text(page.masked, sentence.start, sentence.end)
    verb = _last_verb(tokens) if _HANDS_OVER.search(words) else None
    if verb is None:
        return _without_verb(tokens, page.who, words)
    found = _inverted(tokens, verb, page.who) or _verb_subject(tokens, verb, page.who)
    if found is None:
        return None
    return DialogueTag(
        found[0],
        found[1],
        tokens[verb].lower() in CONTINUATION_VERBS,
        parse_tag_addressee(tokens, verb + 1, page.who),
    )


def _without_verb(
    tokens: Sequence[TextToken], who: Mapping[int, str], words: str
) -> DialogueTag | None:
    """Read "Nell’s answer was,", "Nell turned to him:", "Nell looked up."."""
    for at in range(len(tokens) - 1, max(-1, len(tokens) - 10), -1):
        person = parse_possessor(tokens, at, who)
        if person is not None:
            return DialogueTag(
                person, TagStrength.SURE if len(tokens) - at < 8 else TagStrength.LIKELY
            )
    subject = _subject(tokens, len(tokens), who)
    if subject is None:
        return None
    colon = words.rstrip(" *_").endswith(":")
    return DialogueTag(subject, TagStrength.LIKELY if colon else TagStrength.BEAT)


def _inverted(
    tokens: Sequence[TextToken], verb: int, who: Mapping[int, str]
) -> tuple[PersonMention, TagStrength] | None:
    """Read "…, and thus spoke Nell:"."""
    read = parse_person_mention(tokens, verb + 1, who)
    if read is None or not _ends_clause(tokens, read[1]):
        return None
    if verb and tokens[verb - 1].lower() not in _BEFORE_INVERTED:
        return None
    return read[0], TagStrength.SURE


def _verb_subject(
    tokens: Sequence[TextToken], verb: int, who: Mapping[int, str]
) -> tuple[PersonMention, TagStrength] | None:
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
            return person, TagStrength.SURE
        aside = after < len(tokens) and tokens[after] == ","
        relative = "who" in tokens[after : after + 2]
        if relative or (comma and aside and may_start_clause(tokens, start)):
            return person, TagStrength.SURE if len(
                tokens
            ) - verb <= _TAIL else TagStrength.LIKELY
    subject = _subject(tokens, verb, who)
    return (subject, TagStrength.LIKELY) if subject else None


def _helps_verb(token: TextToken) -> bool:
    word = token.lower()
    return word in _AUXILIARY or word.endswith("ly") or word in SPEECH_VERBS


def _persons(
    tokens: Sequence[TextToken], end: int, who: Mapping[int, str]
) -> list[tuple[PersonMention, int, int]]:
    """Return every person before `end`, with where they begin and end."""
    found = []
    at = 0
    while at < end:
        read = parse_person_mention(tokens, at, who)
        if read is None:
            at += 1
            continue
        found.append((read[0], at, read[1]))
        at = max(read[1], at + 1)
    return found


def _ends_clause(tokens: Sequence[TextToken], at: int) -> bool:
    return at >= len(tokens) or tokens[at] in {",", ":", "—", "--", "–", "-"}


def _last_verb(tokens: Sequence[TextToken]) -> int | None:
    for at in range(len(tokens) - 1, -1, -1):
        if tokens[at].lower() in SPEECH_VERBS:
            return at
    return None


def _subject(
    tokens: Sequence[TextToken], end: int, who: Mapping[int, str]
) -> PersonMention | None:
    """Find the subject of the last main clause before `end`.

    A name behind a preposition, a verb or a word like "that" is no subject; nor is one
    that stands between commas right behind another: Nell, the miller's daughter.
    """
    found: PersonMention | None = None
    found_end = -2
    for person, start, after in _persons(tokens, end, who):
        if _is_subject(tokens, start, found_end):
            found, found_end = person, after
    return found


def _is_subject(tokens: Sequence[TextToken], at: int, found_end: int) -> bool:
    if at == 0:
        return True
    before = tokens[at - 1].lower()
    if before == "," and found_end == at - 1:
        return False
    if before == "and" and at >= 2:
        return found_end != at - 1 and may_start_clause(tokens, at)
    if before in COORDINATORS:
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
        found_end < 0
        and at <= 3
        and before not in SUBORDINATORS
        and before not in PREPOSITIONS
    )
