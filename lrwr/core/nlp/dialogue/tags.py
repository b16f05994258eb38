"""Dialogue tags: the words before or after a quotation that name its speaker."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum

from lrwr.core.model.text import Span
from lrwr.core.nlp.dialogue.lexicon import GESTURE_VERBS, SPEECH_VERBS, SURE_VERBS
from lrwr.core.nlp.dialogue.subjects import (
    PersonMention,
    PersonMentionKind,
    TextToken,
    parse_person_mention,
    parse_possessor,
    tokenize_masked_text,
)
from lrwr.core.nlp.dialogue.turns import (
    MASKED_NAME_CHARACTER,
    UNMARKED_LEAD,
    DialoguePage,
)

_CONTINUING = (
    "continued continues added adds resumed resumes pursued proceeded repeated "
    "concluded went finished"
)
CONTINUATION_VERBS = frozenset(_CONTINUING.split())
"""Speech verbs of a speaker who continues."""
_SUBORDINATING = (
    "that who whom which when as while if because though although seeing since "
    "until till where whether how what why after before lest unless than"
)
SUBORDINATORS = frozenset(_SUBORDINATING.split())
"""Words that open a subordinate clause."""
_STANDS_BEFORE = (
    "to at of with for by from upon on toward towards beside near about behind "
    "like between into over against around round among past through under in "
    "opposite without beyond after before"
)
PREPOSITIONS = frozenset(_STANDS_BEFORE.split())
_STANDS_FOR_NAMES = "he she him her it they them i me we us you"
PRONOUNS = frozenset(_STANDS_FOR_NAMES.split())
COORDINATORS = frozenset({"and", "but", "then", "so", "yet", *",;:—–()*", "--"})
"""Words and marks between two clauses of the same rank."""
_ADDRESSES = frozenset({"told", "asked", "begged", "assured", "reminded", "answered"})
_FARTHEST_LISTENER = 8
_SENTENCE = re.compile(r"(?<=[.!?])[\"”’')*_]*\s+(?=[^\W\d_a-z]|\ue000)")


class TagStrength(IntEnum):
    """How strongly a sentence beside a quotation indicates its speaker.

    A sure one is a speech verb with its subject.
    """

    BEAT = 1
    """A person is the subject of some other action."""
    LIKELY = 2
    """A speech verb at a distance, or a verb of gesture."""
    SURE = 3
    """A speech verb and its subject, directly beside the quotation."""


@dataclass(frozen=True, slots=True)
class DialogueTag:
    """The person whom a sentence beside a quotation indicates as its speaker.

    `goes_on` means that the person spoke before and continues ("added Nell").
    `addressee` is the person spoken to, None if the tag names none.
    """

    person: PersonMention
    strength: TagStrength
    goes_on: bool = False
    addressee: PersonMention | None = None


def parse_tag_addressee(
    tokens: Sequence[TextToken], start: int, name_at: Mapping[int, str]
) -> PersonMention | None:
    """Return the person in "to Nell" or "told Nell"; None if there is none.

    `tokens[start - 1]` is the speech verb. `name_at` maps offsets in the document to
    the names masked in `tokens`.
    """
    verb = tokens[start - 1].lower() if start else ""
    if verb in _ADDRESSES:
        person_mention = parse_person_mention(tokens, start, name_at)
        if person_mention and person_mention[0].kind is PersonMentionKind.NAMED:
            return person_mention[0]
    for at in range(start, min(len(tokens) - 1, start + _FARTHEST_LISTENER)):
        if tokens[at] in {".", ";", "!", "?"}:
            return None
        if tokens[at] == "to" and tokens[at + 1] == "me":
            return PersonMention(PersonMentionKind.NARRATOR)
        if tokens[at] in {"to", "addressing"}:
            person_mention = parse_person_mention(tokens, at + 1, name_at)
            return person_mention[0] if person_mention else None
    return None


def may_start_clause(tokens: Sequence[TextToken], at: int) -> bool:
    """Return whether a clause may start with the person who is mentioned at
    `tokens[at]`.

    True at the start of the sentence and after a conjunction, a punctuation mark or an
    adverb in -ly; false after "Nell and", which joins two people.
    """
    if at == 0:
        return True
    before = tokens[at - 1].lower()
    if before == "and" and at >= 2:
        two = tokens[at - 2]
        return two[0] != MASKED_NAME_CHARACTER and two.lower() not in PRONOUNS
    return before in COORDINATORS or before in SUBORDINATORS or before.endswith("ly")


def find_first_sentence(masked: str, span: Span) -> Span:
    """Return the span of the first sentence within `span` of `masked`, the text with
    its names masked; the whole `span` if it has one sentence.
    """
    end = _SENTENCE.search(masked, span.start, span.end)
    return Span(span.start, end.start() if end else span.end)


def find_last_sentence(masked: str, span: Span) -> Span:
    """Return the span of the last sentence within `span` of `masked`, the text with its
    names masked; the whole `span` if it has one sentence.
    """
    start = span.start
    for end in _SENTENCE.finditer(masked, span.start, span.end):
        start = end.end()
    return Span(start, span.end)


_SKIPPED = frozenset({*",—–-*", "--", "and", "but", "then", "so", "thus"})
_BEHIND_VERB = "out in up on off away forth back aloud again"
_PARTICLES = frozenset(_BEHIND_VERB.split())
_NO_SPEECH = "nothing no not to of at the a it this that with"
_SAYS_NOTHING = frozenset(_NO_SPEECH.split())
_INDIRECT = frozenset({"whether", "if", "how", "what", "why", "who", "when", "where"})
"""Words after a name that is asked: "and asked Nell whether"."""
_FARTHEST_VERB = 4
_IN_LONG_SUBJECT = 28


def parse_tag_after(
    page: DialoguePage, span: Span, *, broken: bool
) -> DialogueTag | None:
    """Return the tag in the first sentence of `span`, the narration after quoted words;
    None without a tag.

    `broken` means that the quotation continues after the tag.
    """
    sentence = find_first_sentence(page.masked, span)
    tokens = tokenize_masked_text(page.masked, sentence.start, sentence.end)
    start = 0
    while start < len(tokens) and tokens[start] in _SKIPPED:
        start += 1
    if start >= len(tokens):
        return None
    tokens = tokens[start:]
    if tokens[0] == "as":  # "the monster," as Nell called him
        return None
    tag = (
        _parse_inverted_tag(tokens, page.who)
        or _parse_reply_tag(tokens, page.who)
        or _parse_subject_tag(tokens, page.who, broken=broken or _ends_open(page, span))
    )
    if tag and not broken and _introduces_next(page, span, tokens):
        return replace(tag, strength=TagStrength.BEAT)
    return tag


def _ends_open(page: DialoguePage, span: Span) -> bool:
    """Return whether the quotation before `span` ends in a comma or dash: a tag must
    follow.
    """
    words = page.text[max(0, span.start - 4) : span.start].rstrip("\"”’' *_")
    return (
        words.endswith((",", "—", "–", "--"))
        or page.text[span.start : span.start + 1] == ","
    )


def _introduces_next(
    page: DialoguePage, span: Span, tokens: Sequence[TextToken]
) -> bool:
    """Return whether a sentence after a quotation introduces the next one."""
    words = page.masked[span.start : span.end].rstrip(" *_\n")
    return words.endswith((",", ":")) and not tokens[0][0].islower()


def _parse_inverted_tag(
    tokens: Sequence[TextToken], name_at: Mapping[int, str]
) -> DialogueTag | None:
    """Parse "said Nell", "moodily answered Nell", "broke in the old man"."""
    if len(tokens) > 1 and tokens[0].endswith("ly") and tokens[1] in SPEECH_VERBS:
        tokens = tokens[1:]
    verb = tokens[0]
    is_known_verb = verb in SPEECH_VERBS or verb in GESTURE_VERBS
    if not is_known_verb and not verb.endswith("ed"):
        return None
    at = 1
    while at < len(tokens) and tokens[at] in _PARTICLES:
        at += 1
    person_mention = parse_person_mention(tokens, at, name_at, any_noun=True)
    if person_mention is None and at < len(tokens) and tokens[at].endswith("ly"):
        person_mention = parse_person_mention(tokens, at + 1, name_at, any_noun=True)
    if person_mention is None:
        return None
    person, end = person_mention
    if verb == "asked" and end < len(tokens) and tokens[end] in _INDIRECT:
        return None
    sure = is_known_verb and (
        verb in SURE_VERBS or person.kind is not PersonMentionKind.STRANGER
    )
    return DialogueTag(
        person,
        TagStrength.SURE if sure else TagStrength.LIKELY,
        verb in CONTINUATION_VERBS,
        parse_tag_addressee(tokens, end, name_at),
    )


def _parse_reply_tag(
    tokens: Sequence[TextToken], name_at: Mapping[int, str]
) -> DialogueTag | None:
    """Parse "was Nell's reply", "came from the old man's lips"."""
    if tokens[0] not in {"was", "were", "came", "is"}:
        return None
    for at in range(1, min(len(tokens), 8)):
        person = parse_possessor(tokens, at, name_at)
        if person is not None:
            return DialogueTag(person, TagStrength.SURE)
        if tokens[at] in {".", ";", ","}:
            return None
        if tokens[at] in {"from", "of"}:
            person_mention = parse_person_mention(tokens, at + 1, name_at)
            return (
                DialogueTag(person_mention[0], TagStrength.LIKELY)
                if person_mention
                else None
            )
    return None


def _parse_subject_tag(
    tokens: Sequence[TextToken], name_at: Mapping[int, str], *, broken: bool
) -> DialogueTag | None:
    """Parse "she said", "Nell, who had come in, asked", "Nell shut the door."."""
    person_mention = parse_person_mention(tokens, 0, name_at, any_noun=False)
    if person_mention is None:
        person_mention = _parse_late_subject(tokens, name_at)
    if person_mention is None:
        return None
    person, end = person_mention
    verb = _find_speech_verb(tokens, end)
    if verb is None and broken and _has_past_verb(tokens, end):
        return DialogueTag(
            person,
            TagStrength.SURE,
            addressee=parse_tag_addressee(tokens, end + 1, name_at),
        )
    if verb is None:
        return DialogueTag(person, TagStrength.BEAT)
    strength = _strength_after(tokens, end, verb, broken=broken)
    return DialogueTag(
        person,
        strength,
        tokens[verb].lower() in CONTINUATION_VERBS,
        parse_tag_addressee(tokens, verb + 1, name_at),
    )


def _parse_late_subject(
    tokens: Sequence[TextToken], name_at: Mapping[int, str]
) -> tuple[PersonMention, int] | None:
    """Parse a sentence that starts with a time or adverb: "Then Nell laughed."."""
    for at in range(1, min(4, len(tokens))):
        if tokens[at] in SUBORDINATORS or tokens[at - 1].lower() in PREPOSITIONS:
            return None
        if tokens[at][0] == MASKED_NAME_CHARACTER or tokens[at] in {"he", "she", "I"}:
            return parse_person_mention(tokens, at, name_at)
    return None


def _strength_after(
    tokens: Sequence[TextToken], end: int, verb: int, *, broken: bool
) -> TagStrength:
    """Rate a speech verb at `verb` by its distance to the subject's end."""
    nothing = verb + 1 < len(tokens) and tokens[verb + 1] in _SAYS_NOTHING
    near = verb - end <= _FARTHEST_VERB and "," not in tokens[end:verb]
    if near and (broken or (verb - end <= 1 and not nothing)):
        return TagStrength.SURE
    return TagStrength.LIKELY if near or broken else TagStrength.BEAT


def _has_past_verb(tokens: Sequence[TextToken], at: int) -> bool:
    """Return whether a past-tense verb is at `at`, optionally after an adverb."""
    if at < len(tokens) and tokens[at].endswith("ly"):
        at += 1
    return at < len(tokens) and (
        tokens[at].endswith("ed") or tokens[at] in GESTURE_VERBS
    )


def _find_speech_verb(tokens: Sequence[TextToken], start: int) -> int | None:
    """Return the index of the speech verb that follows the subject, or None."""
    for at in range(start, min(len(tokens), start + _IN_LONG_SUBJECT)):
        word = tokens[at].lower()
        if word in SPEECH_VERBS:
            return at
        if word in {".", "!", "?", ";"}:
            return None
    return None


# The sentence leads to the quotation: it ends with a colon, comma, dash or "that"
_LEADS_TO_QUOTATION = re.compile(
    r"(?:[:,—–-]|\b(?:that|said|was)|\b(?:interposed|interrupted|resumed|burst out|"
    r"broke in|began again|spoke again)\b[^.!?\n]{0,40}\.|"
    rf"{UNMARKED_LEAD})[\s*_(]*$"
)
_INFINITE = (
    "saying whispering exclaiming adding crying asking replying answering observing "
    "remarking murmuring muttering whisper exclaim add cry ask reply answer observe "
    "remark murmur mutter call shout"
)
_INFINITE_VERBS = frozenset(_INFINITE.split())
"""Forms such as in "she heard Nell whisper," and "Nell left, saying,"."""
_MAX_TAIL_TOKENS = 14
_HELPING = (
    "had has would could did at last only then thus never always immediately "
    "again also once first just now even still soon to"
)
_AUXILIARIES = frozenset(_HELPING.split())
_BEFORE_INVERTED = frozenset({*",;:—–", "--", "and", "thus", "so", "then", "but"})


def parse_tag_before(page: DialoguePage, span: Span) -> DialogueTag | None:
    """Return the tag in the last sentence of `span`, the narration before quoted words;
    None without a tag.
    """
    sentence = find_last_sentence(page.masked, _after_quotation(page.text, span))
    words = page.masked[sentence.start : sentence.end]
    if not words.strip(" \t\n>*_"):
        return None
    tokens = tokenize_masked_text(page.masked, sentence.start, sentence.end)
    verb = _find_last_speech_verb(tokens) if _LEADS_TO_QUOTATION.search(words) else None
    if verb is None:
        return _parse_verbless_tag(tokens, page.who, words)
    subject = _parse_inverted_subject(tokens, verb, page.who) or _find_verb_subject(
        tokens, verb, page.who
    )
    if subject is None:
        return None
    return DialogueTag(
        subject[0],
        subject[1],
        tokens[verb].lower() in CONTINUATION_VERBS,
        parse_tag_addressee(tokens, verb + 1, page.who),
    )


def _after_quotation(text: str, span: Span) -> Span:
    """Return the part of `span` after the last quotation in it: its names speak there,
    not in the words before the next quotation.
    """
    last = max(text.rfind(mark, span.start, span.end) for mark in '"”')
    rest = Span(last + 1, span.end) if last >= 0 else span
    return rest if text[rest.start : rest.end].strip() else span


def _parse_verbless_tag(
    tokens: Sequence[TextToken], name_at: Mapping[int, str], words: str
) -> DialogueTag | None:
    """Parse "Nell’s answer was,", "Nell turned to him:", "Nell looked up."."""
    for at in range(len(tokens) - 1, max(-1, len(tokens) - 10), -1):
        person = parse_possessor(tokens, at, name_at)
        if person is not None:
            return DialogueTag(
                person, TagStrength.SURE if len(tokens) - at < 8 else TagStrength.LIKELY
            )
    subject = _find_clause_subject(tokens, len(tokens), name_at)
    if subject is None:
        return None
    colon = words.rstrip(" *_").endswith(":")
    return DialogueTag(subject, TagStrength.LIKELY if colon else TagStrength.BEAT)


def _parse_inverted_subject(
    tokens: Sequence[TextToken], verb: int, name_at: Mapping[int, str]
) -> tuple[PersonMention, TagStrength] | None:
    """Parse "…, and thus spoke Nell:"."""
    person_mention = parse_person_mention(tokens, verb + 1, name_at)
    if person_mention is None or not _ends_clause(tokens, person_mention[1]):
        return None
    if verb and tokens[verb - 1].lower() not in _BEFORE_INVERTED:
        return None
    return person_mention[0], TagStrength.SURE


def _find_verb_subject(
    tokens: Sequence[TextToken], verb: int, name_at: Mapping[int, str]
) -> tuple[PersonMention, TagStrength] | None:
    """Return the subject of the speech verb at `verb`, or None.

    It is directly before the verb ("that Nell added"), before an insertion between
    commas ("Nell, who had come in, asked"), or at the start of the clause.
    """
    last = verb
    while last > 0 and _helps_verb(tokens[last - 1]):
        last -= 1
    comma = last > 0 and tokens[last - 1] == ","
    for person, start, after in reversed(_find_persons(tokens, last, name_at)):
        if after == last:
            return person, TagStrength.SURE
        aside = after < len(tokens) and tokens[after] == ","
        relative = "who" in tokens[after : after + 2]
        if relative or (comma and aside and may_start_clause(tokens, start)):
            return person, TagStrength.SURE if len(
                tokens
            ) - verb <= _MAX_TAIL_TOKENS else TagStrength.LIKELY
    subject = _find_clause_subject(tokens, verb, name_at)
    return (subject, TagStrength.LIKELY) if subject else None


def _helps_verb(token: TextToken) -> bool:
    word = token.lower()
    return word in _AUXILIARIES or word.endswith("ly") or word in SPEECH_VERBS


def _find_persons(
    tokens: Sequence[TextToken], end: int, name_at: Mapping[int, str]
) -> list[tuple[PersonMention, int, int]]:
    """Return every person before `end`, each with its start and end index."""
    persons = []
    at = 0
    while at < end:
        person_mention = parse_person_mention(tokens, at, name_at)
        if person_mention is None:
            at += 1
            continue
        persons.append((person_mention[0], at, person_mention[1]))
        at = max(person_mention[1], at + 1)
    return persons


def _ends_clause(tokens: Sequence[TextToken], at: int) -> bool:
    return at >= len(tokens) or tokens[at] in {",", ":", "—", "--", "–", "-"}


def _find_last_speech_verb(tokens: Sequence[TextToken]) -> int | None:
    for at in range(len(tokens) - 1, -1, -1):
        if tokens[at].lower() in SPEECH_VERBS or tokens[at] in _INFINITE_VERBS:
            return at
    return None


def _find_clause_subject(
    tokens: Sequence[TextToken], end: int, name_at: Mapping[int, str]
) -> PersonMention | None:
    """Return the subject of the last main clause before `end`, or None.

    A name after a preposition, a verb or a subordinator is no subject, nor is an
    apposition ("Nell, the miller's daughter").
    """
    subject: PersonMention | None = None
    found_end = -2
    for person, start, after in _find_persons(tokens, end, name_at):
        if _is_subject(tokens, start, found_end):
            subject, found_end = person, after
    return subject


_AFTER_CLAUSE = frozenset({";", "and", "but", "then", "so", ":", "—", "--"})


def _is_subject(tokens: Sequence[TextToken], at: int, found_end: int) -> bool:
    if at == 0:
        return True
    before = tokens[at - 1].lower()
    if before == "," and found_end == at - 1:
        return False
    if before == "when" and at >= 2 and tokens[at - 2] == ",":
        return True  # "Nell came, when Hob said"
    if before == "and" and at >= 2:
        return found_end != at - 1 and may_start_clause(tokens, at)
    if before in COORDINATORS:
        return found_end < 0 or before in _AFTER_CLAUSE
    return before.endswith("ly") or (
        found_end < 0
        and at <= 3
        and before not in SUBORDINATORS
        and before not in PREPOSITIONS
    )
